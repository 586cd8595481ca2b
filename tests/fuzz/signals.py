"""python -m tests.fuzz signals [--count N] [--seed S] [--first K] [--jobs J]: signals at random moments.

Every attack starts a command, sends it (or its whole process group, as a terminal does) SIGINT, SIGTERM, SIGHUP,
SIGPIPE or SIGKILL at a moment within the time that it takes when undisturbed, and one in eight a second signal. Then
it must end by itself, print no traceback, leave with a code that the contract has, and leave nothing that opens as
good though it is unfinished. An attack is told by seed and number.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from emdiam.certificates.documents import read_certificate
from emdiam.errors import InputError, StoreError
from emdiam.paths.pairs.matrix import open_matrix
from emdiam.store.check import check_store
from emdiam.store.store import open_store
from tests.conftest import ROOT

# Seconds in which a command that was sent a signal has to end, on a machine that others use too.
PATIENCE = 120.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGKILL)
WEIGHTS = (8, 8, 2, 1, 3)
NEVER = ("Traceback", "Exception ignored", "fault of emdiam", "Fatal Python")
_JOBS = """
[[job]]
name = "made"
command = "generate"
class = "erdos-renyi"
store = "new.zarr"
options = { vertices = 4096 }
[[job]]
name = "answer"
command = "exact"
store = "new.zarr"
options = { certificate = "cert.json", path = "path.txt" }
"""
# The files that commands write in the folder of an attack.
STORE, CERTIFICATE, PATH, PAGE, MATRIX = "new.zarr", "cert.json", "path.txt", "report.html", "distances.zarr"


@dataclass(frozen=True)
class Case:
    """A command. words : of the command line; the inputs are in ../base. seconds : in which signals are sent; None:
    as long as it takes undisturbed. caches : with a folder of its own for compiled kernels, so that it compiles."""

    words: str
    seconds: float | None = None
    caches: bool = False


CASES = (
    Case(f"convert ../base/edges.txt {STORE}"),
    Case(f"convert ../base/edges.txt {STORE} --order bfs"),
    Case(f"convert ../base/edges.txt {STORE} --checkpoint ck --checkpoint-every 100ms"),
    Case(f"generate rmat {STORE} --vertices 2^17"),
    Case(f"reorder ../base/er.zarr {STORE} --order cluster"),
    Case(f"reorder ../base/er.zarr {STORE} --order degree --checkpoint ck"),
    Case(f"apply ../base/er.zarr {STORE} --add ../base/edges.txt --json"),
    Case(f"exact ../base/er.zarr --json --certificate {CERTIFICATE} --path {PATH}"),
    Case("exact ../base/torus.zarr --json --method fdiam --arena 256KiB"),
    Case("exact ../base/torus.zarr --json --method bounding --batch 64 --checkpoint ck --checkpoint-every 200ms"),
    Case("exact ../base/torus.zarr --json --method fdiam", caches=True, seconds=25),
    Case("exact ../base/torus.zarr --json --method fdiam --workers 2", seconds=12),
    Case(f"ecc ../base/torus.zarr --json --out {PATH}.parquet"),
    Case(f"distances ../base/torus.zarr --json --sample 300 --out {PATH}.parquet"),
    Case(f"sssp ../base/torus.zarr --json --source 0 --out {PATH}.parquet"),
    Case(f"apsp ../base/torus.zarr --json --out {MATRIX}"),
    Case("approx ../base/er.zarr --json --masters 2^10"),
    Case("approx ../base/torus.zarr --json --method spanning"),
    Case("approx ../base/torus.zarr --json --method sweep --iterations 40"),
    Case("verify ../base/cert.json ../base/er.zarr --json"),
    Case("tradeoff ../base/er.zarr --out out --methods sweep,clusters --masters 2^9 --no-plots --json"),
    Case("batch jobs.toml --json"),
    Case(f"report ../base/result.json -o {PAGE}"),
    Case("plan ../base/er.zarr --json"),
    Case("info ../base/er.zarr --check --json"),
    Case("warmup --json", caches=True, seconds=25),
)


@dataclass(frozen=True)
class Base:
    """The inputs in `folder`/base, and what the commands make of them. seconds : of every case, undisturbed. digests :
    of the graphs that a store may hold when it is there (None: it was made by a job). lines : of the path."""

    folder: Path
    seconds: tuple[float, ...]
    graphs: frozenset[tuple[int, int]]
    lines: int


def emdiam(*words: str, folder: Path) -> str:
    """Run a command that has to answer; what it printed."""
    return subprocess.run([sys.executable, "-m", "emdiam", *words], cwd=folder, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(), timeout=600).stdout


def environment() -> dict[str, str]:
    """Of a command, in which this package is found."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def make_base(folder: Path) -> Base:
    """The inputs, and every case run undisturbed (but those with a time of their own)."""
    base = folder / "base"
    base.mkdir()
    chance = random.Random(1)
    with open(base / "edges.txt", "w") as file:
        file.writelines(f"{chance.randrange(40_000)} {chance.randrange(40_000)}\n" for _ in range(300_000))
    emdiam("generate", "erdos-renyi", "er.zarr", "--vertices", "30000", "--average-degree", "6", folder=base)
    emdiam("generate", "torus", "torus.zarr", "--sides", "60x60", folder=base)
    (base / "result.json").write_text(emdiam("exact", "er.zarr", "--json", "--certificate", "cert.json", "--path",
                                             "path.txt", folder=base))
    seconds, graphs = [], set()
    for number, case in enumerate(CASES):
        place = work_folder(folder, f"whole-{number}")
        began = time.monotonic()
        if case.seconds is None:
            emdiam(*case.words.split(), folder=place)
            if (place / STORE).exists():
                with open_store(place / STORE) as store:
                    graphs.add((store.n_vertices, store.n_arcs))
        seconds.append(case.seconds or time.monotonic() - began)
    lines = len((base / "path.txt").read_text().splitlines())
    return Base(folder, tuple(seconds), frozenset(graphs), lines)


def work_folder(folder: Path, name: str) -> Path:
    """An empty folder with the jobs file."""
    place = folder / name
    place.mkdir()
    (place / "jobs.toml").write_text(_JOBS)
    return place


def attack(base: Base, seed: int, number: int) -> tuple[str, list[str]]:
    """(what was done, what is wrong with how it ended)."""
    chance = random.Random(f"{seed} {number}")
    at = number % len(CASES)
    case, moment = CASES[at], chance.random() * base.seconds[at]
    first = chance.choices(SIGNALS, WEIGHTS)[0]
    second = chance.choice(SIGNALS[:2]) if chance.random() < 0.125 else None
    group = chance.random() < 0.5
    place = work_folder(base.folder, f"attack-{number}")
    caches = {"NUMBA_CACHE_DIR": str(place / "caches")} if case.caches else {}
    told = f"{case.words}: {first.name}{' to its group' if group else ''} at {moment:.2f} s"
    with open(place / "out", "wb") as out, open(place / "err", "wb") as err:
        process = subprocess.Popen([sys.executable, "-m", "emdiam", *case.words.split()], cwd=place, stdout=out,
                                   stderr=err, stdin=subprocess.DEVNULL, start_new_session=True,
                                   env={**environment(), **caches})
    try:
        code = ended(process, moment)
        for one, wait in ((first, PATIENCE if second is None else 0.5), (second, PATIENCE)):
            if code is None and one is not None:
                (os.killpg if group else os.kill)(process.pid, one)
                code = ended(process, wait)
        # SIGPIPE is ignored by Python: it goes on to its end, which may be far, and is then stopped.
        if code is None and first == signal.SIGPIPE:
            process.terminate()
            code = ended(process, PATIENCE)
        faults = ["it does not end"] if code is None else judged(base, case, place, code)
        asked_once = first in SIGNALS[:2] and second is None and not group
        if asked_once and code is not None and "--checkpoint" not in case.words:
            faults += leftovers(place)
    finally:
        end_group(process)
    if not faults:
        shutil.rmtree(place, ignore_errors=True)
    return f"{told}{'' if second is None else f', then {second.name}'}, code {code}", faults


def ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit code, if it ends within so many seconds."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End it and all that it has left in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def judged(base: Base, case: Case, place: Path, code: int) -> list[str]:
    """What is wrong with what a command has said and left."""
    if too_early((place / "err").read_text()):
        return unfinished(base, place)
    faults = [f"{file.name} has {word!r}: ...{text[-1500:]}" for file in (place / "err", place / "out",
                                                                         *place.rglob("log.txt"))
              for text in [file.read_text(errors="replace")] for word in NEVER if word in text]
    if not (code < 0 or code in (0, 2, 3, 128 + signal.SIGINT, 128 + signal.SIGTERM)):
        faults.append(f"it left with {code}: {(place / 'err').read_text()[-500:]}")
    out = (place / "out").read_text()
    if "--json" in case.words and out and code >= 0:
        try:
            for line in out.splitlines():
                json.loads(line)
        except ValueError as error:
            faults.append(f"its answer is not JSON ({error}): {out[-300:]}")
    return faults + unfinished(base, place)


def too_early(text: str) -> bool:
    """Whether Python itself was interrupted in its first hundredths of a second, before anything of this package."""
    return ("init_import_site" in text or "<frozen runpy>" in text) and str(ROOT / "emdiam") not in text


def unfinished(base: Base, place: Path) -> list[str]:
    """Files that look whole and are not."""
    faults = []
    for path in (place / STORE, *place.glob("*.partial")):
        try:
            with open_store(path) as store:
                check_store(store)
                if path.name != STORE or (store.n_vertices, store.n_arcs) not in base.graphs:
                    faults.append(f"{path.name} opens with {store.n_vertices} vertices and {store.n_arcs} arcs")
        except StoreError as error:
            if path.name == STORE and path.exists():
                faults.append(f"a store is there and damaged: {error}")
    if (place / MATRIX).exists():
        try:
            matrix = open_matrix(place / MATRIX)
            if np.asarray(matrix.distances[...]).max() != matrix.record.largest_distance:
                faults.append("the matrix of distances is cut")
        except (StoreError, ValueError) as error:
            faults.append(f"a matrix of distances is there and damaged: {error}")
    if (place / CERTIFICATE).exists():
        try:
            read_certificate(place / CERTIFICATE)
        except InputError as error:
            faults.append(str(error))
    path = place / PATH
    if path.exists() and not (place / "jobs.out").exists() and len(path.read_text().splitlines()) != base.lines:
        faults.append("the file of the path is cut")
    if (place / PAGE).exists() and not (place / PAGE).read_text().rstrip().endswith("</html>"):
        faults.append("the page is cut")
    for table in (*place.rglob("tradeoff.json"), *place.glob("out/cells/*.json")):
        try:
            json.loads(table.read_text())
        except ValueError as error:
            faults.append(f"{table.name} is cut ({error})")
    return faults


def leftovers(place: Path) -> list[str]:
    """Temporary files that a command which was asked to stop, once, has left."""
    return [f"{path.name} is left" for path in place.rglob("*") if path.name.endswith((".partial", ".scratch"))
            and "ck" not in path.parts and "jobs.out" not in path.parts]


@contextmanager
def heard_by_children() -> Iterator[None]:
    """Signals that are ignored here (`nohup`, a job in the background) would be ignored by what is started, too; with
    a handler in their place they are not."""
    ignored = [one for one in SIGNALS[:3] if signal.getsignal(one) is signal.SIG_IGN]
    for one in ignored:
        signal.signal(one, lambda *_: None)
    try:
        yield
    finally:
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)


def campaign(count: int, seed: int, first: int, jobs: int) -> int:
    """Run the attacks first..first+count-1, `jobs` at a time; prints, and returns the number of faulty ones."""
    counts: Counter[str] = Counter()
    with heard_by_children(), tempfile.TemporaryDirectory(prefix="emdiam-fuzz-") as name:
        base = make_base(Path(name))
        with ThreadPoolExecutor(jobs) as pool:
            attacks = range(first, first + count)
            for number, (told, faults) in zip(attacks, pool.map(lambda n: attack(base, seed, n), attacks), strict=True):
                counts["faulty" if faults else "good"] += 1
                counts["code " + told.rsplit(" ", 1)[-1]] += 1
                if faults:
                    print(f"signals --seed {seed} --first {number} --count 1: {told}\n  " + "\n  ".join(faults),
                          flush=True)
    print("signals: " + ", ".join(f"{value} {word}" for word, value in sorted(counts.items())))
    return counts["faulty"]

