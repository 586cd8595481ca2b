"""Places that fail: full and read-only file systems, odd names, two processes on one target, little
memory, a cut network.

What needs namespaces or groups of control is skipped, with the reason, where they are not permitted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import pytest

import emdiam as package
from emdiam.certificates.documents import read_certificate
from emdiam.errors import InputError
from emdiam.generators import generate
from emdiam.store.check import check_store
from emdiam.store.store import open_store
from tests.conftest import ROOT, Run
from tests.helpers import naive
from tests.helpers.stores import odd_graphs, write_store
from tests.helpers.waiting import PATIENCE

MEMORY = 4 << 30
ODD_NAMES = ["two\nlines", "\x1b[31mred", "a 'b' \"c\" $d;e", "-dash", "ü" * 30, os.fsdecode(b"not\xffutf")]
# The longest name that leaves room for .partial.
LONG = "n" * (255 - len(".partial"))


@pytest.mark.parametrize("name", [*ODD_NAMES, LONG], ids=ascii)
def test_odd_names(tmp_path: Path, name: str):
    """Of inputs, stores, certificates, paths and checkpoints."""
    folder = tmp_path / name
    folder.mkdir()
    edges, store, proof = folder / name[:200], folder / f"g{name[1:]}", folder / f"c{name[1:]}"
    path = folder / f"p{name[1:]}"
    edges.write_text("1 2\n2 3\n3 4\n")
    package.convert(edges, store, memory=MEMORY, threads=1)
    result = package.exact(store, memory=MEMORY, certificate=proof, path=path, threads=1,
                           checkpoint=folder / f"k{name[1:]}")
    assert result.diameter == 3 and len(path.read_text().splitlines()) == 4
    assert package.verify(proof, store, memory=MEMORY).verified and read_certificate(proof)
    with pytest.raises(InputError) as refusal:
        package.convert(edges, store, memory=MEMORY)
    assert str(refusal.value).isprintable()
    assert not [one.name for one in folder.iterdir() if one.name.endswith(".partial")]


@pytest.mark.parametrize("length", [248, 255, 256, 5000])
def test_names_that_are_too_long(tmp_path: Path, length: int):
    """Before anything is read."""
    for write in (lambda path: package.convert(tmp_path / "no.txt", path),
                  lambda path: package.generate("path", path, vertices=9)):
        with pytest.raises(InputError, match="File name too long"):
            write(tmp_path / ("n" * length))
    assert list(tmp_path.iterdir()) == []


def refused_by(run: subprocess.CompletedProcess[str]) -> str:
    """The sentence of a command that refused."""
    assert run.returncode == 2 and "Traceback" not in run.stderr, run.stderr
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("emdiam: "), run.stderr
    return last


def mounted(script: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a script of the shell as root of a user and mount namespace of its own."""
    return subprocess.run(["unshare", "-rm", "sh", "-euc", script, "sh", *map(str, words)], text=True,
                          capture_output=True, timeout=PATIENCE, cwd=ROOT)


def no_mounts() -> str | None:
    """Why nothing can be mounted here; None if it can."""
    if shutil.which("unshare") is None:
        return "there is no unshare command"
    tried = mounted('mount -t tmpfs -o size=64k emdiam "$1"', "/mnt")
    return None if tried.returncode == 0 else f"mounts are not permitted ({tried.stderr.strip()})"


_NO_MOUNTS = no_mounts()
needs_mounts = pytest.mark.skipif(_NO_MOUNTS is not None, reason=str(_NO_MOUNTS))
_FULL = """
mount -t tmpfs -o size="$1" emdiam "$2"
code=0
"$3" -m emdiam convert "$4" "$2/g.zarr" --memory 1GiB --scratch "$2" --quiet || code=$?
ls -A "$2"
mount -o remount,size=64m "$2"
"$3" -m emdiam convert "$4" "$2/g.zarr" --memory 1GiB --scratch "$2" --quiet --force > "$2/said"
"$3" -m emdiam exact "$2/g.zarr" --memory 1GiB --json
exit $code
"""


@needs_mounts
@pytest.mark.slow
@pytest.mark.parametrize("size", ["8k", "48k", "120k"])
def test_a_full_disk(tmp_path: Path, size: str):
    """One sentence, nothing left; and well once there is room."""
    edges = tmp_path / "edges.txt"
    graph = nx.random_regular_graph(3, 20_000, seed=1)
    edges.write_text("".join(f"{v} {w}\n" for v, w in graph.edges))
    (tmp_path / "disk").mkdir()
    run = mounted(_FULL, size, tmp_path / "disk", sys.executable, edges)
    assert run.returncode == 2 and "Traceback" not in run.stderr, run.stderr
    sentences = [line for line in run.stderr.splitlines() if line.startswith("emdiam: ") and "compiling" not in line]
    assert len(sentences) == 1 and str(tmp_path / "disk") in sentences[0], run.stderr
    before, _, answer = run.stdout.partition("{")
    assert before.strip() == "", "the full disk has leftovers"
    assert json.loads("{" + answer)["n_vertices"] == 20_000


_READ_ONLY = """
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
cd "$1"
shift
exec "$@"
"""


@needs_mounts
@pytest.mark.thin(3)
@pytest.mark.parametrize(("words", "code"), [
    ("exact g.zarr --json", 0), ("verify c.json g.zarr --json", 0), ("info g.zarr --check --json", 0),
    ("convert e.txt new.zarr", 2), ("reorder g.zarr new.zarr --order bfs", 2), ("exact g.zarr --certificate p", 2),
    ("exact g.zarr --checkpoint k", 2), ("generate path new.zarr --vertices 9", 2), ("batch jobs.toml", 2),
    ("ecc g.zarr --out t.parquet", 2),
])
def test_a_read_only_file_system(tmp_path: Path, emdiam: Run, words: str, code: int):
    write_store(tmp_path / "g.zarr", odd_graphs()["grid"])
    (tmp_path / "e.txt").write_text("1 2\n")
    (tmp_path / "jobs.toml").write_text('[[job]]\nname = "a"\ncommand = "exact"\nstore = "g.zarr"\n')
    package.exact(tmp_path / "g.zarr", memory=MEMORY, certificate=tmp_path / "c.json")
    before = sorted(path.name for path in tmp_path.iterdir())
    run = mounted(_READ_ONLY, tmp_path, "env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "emdiam", *words.split())
    assert run.returncode == code, run.stderr
    if code:
        assert "Read-only file system" in refused_by(run)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize("force", [True, False])
def test_two_processes_on_one_target(tmp_path: Path, emdiam: Run, force: bool):
    """One writes, the other is refused; or, with --force, each is whole when it is there. Five times at once."""
    files = []
    for number, n in enumerate((3000, 4000)):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text("".join(f"{v} {v + 1}\n" for v in range(n)))
    words = ["g.zarr", "--memory", "1GiB", "--quiet", *(["--force"] if force else [])]

    def convert(file: Path, wait: float) -> subprocess.CompletedProcess[str]:
        time.sleep(wait)
        return emdiam("convert", file, *words)

    for turn in range(5):
        with ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(convert, files, (0, 0.03 * turn)))
        good = [end for end in ends if end.returncode == 0]
        for end in ends:
            assert end.returncode == 0 or "another conversion is writing" in refused_by(end) or "the target exists" in (
                refused_by(end)), end.stderr
        assert len(good) >= 1 if force else len(good) == 1
        with open_store(tmp_path / "g.zarr") as store:
            check_store(store)
            assert store.n_vertices in (3001, 4001)
        assert [path.name for path in tmp_path.iterdir() if path.name not in ("0.txt", "1.txt")] == ["g.zarr"]
        if not force:
            shutil.rmtree(tmp_path / "g.zarr")


@contextmanager
def memory_group(limit: int) -> Iterator[Path]:
    """A memory control group below that of this process, with a limit. Skips where that is not permitted."""
    lines = [line.split(":") for line in Path("/proc/self/cgroup").read_text().split()]
    first = next((path for _, kinds, path in lines if kinds == "memory"), None)
    root = Path("/sys/fs/cgroup/memory") if first is not None else Path("/sys/fs/cgroup")
    own = first if first is not None else next((path for _, kinds, path in lines if kinds == ""), "/")
    group = root / own.strip("/") / f"emdiam-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"groups of control are not permitted ({error.strerror})")
    try:
        (group / ("memory.limit_in_bytes" if first is not None else "memory.max")).write_text(str(limit))
        yield group
    except OSError as error:
        pytest.skip(f"a group of control takes no limit ({error.strerror})")
    finally:
        for _ in range(100):
            try:
                group.rmdir()
                break
            except OSError:  # its processes are just ending
                time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["convert edges.txt new.zarr", "exact g.zarr", "approx g.zarr",
                                   "exact g.zarr --method fdiam", "reorder g.zarr new.zarr --order cluster"])
def test_a_memory_limit_is_the_budget(tmp_path: Path, words: str):
    """Without --memory, in a group of 512 MiB: it plans for that, ends well, and nothing is killed."""
    generate("rmat", tmp_path / "g.zarr", vertices=1 << 18)
    (tmp_path / "edges.txt").write_text("".join(f"{v * 7919 % 400_009} {v * 104_729 % 400_009}\n"
                                                for v in range(1_500_000)))
    with memory_group(512 << 20) as group:
        run = subprocess.run(["sh", "-euc", 'echo $$ > "$0/cgroup.procs"; shift; exec "$@"', str(group), "-",
                              sys.executable, "-m", "emdiam", *words.split(), "--json"], cwd=tmp_path, text=True,
                             capture_output=True, timeout=PATIENCE * 4, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["peak_rss_bytes"] <= 512 << 20


_CUT = """
ip link set lo up
"$@" &
work=$!
sleep "$PAUSE"
ip link set lo down
sleep "$CUT"
ip link set lo up
wait $work
"""


def no_network() -> str | None:
    """Why there is no network of our own here; None if there is."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "there is no unshare or no ip command"
    tried = subprocess.run(["unshare", "-rn", "ip", "link", "set", "lo", "up"], capture_output=True, text=True)
    return None if tried.returncode == 0 else f"network namespaces are not permitted ({tried.stderr.strip()})"


@pytest.mark.slow
@pytest.mark.skipif(no_network() is not None, reason=str(no_network()))
@pytest.mark.parametrize(("pause", "cut"), [(4, 3), (7, 3), (6, 20)])
def test_the_network_of_workers_is_cut_and_healed(tmp_path: Path, pause: int, cut: int):
    """The answer is right, or one sentence says what was lost; it ends."""
    graph = odd_graphs()["torus"]
    write_store(tmp_path / "g.zarr", graph)
    command = [sys.executable, "-m", "emdiam", "exact", "g.zarr", "--workers", "2", "--method", "bounding", "--json"]
    run = subprocess.run(["unshare", "-rn", "sh", "-euc", _CUT, "sh", *command], cwd=tmp_path, text=True,
                         capture_output=True, timeout=600, env={**os.environ, "PYTHONPATH": str(ROOT),
                                                                "PAUSE": str(pause), "CUT": str(cut)})
    assert "Traceback" not in run.stderr and "fault of emdiam" not in run.stderr, run.stderr
    if run.returncode == 0:
        assert json.loads(run.stdout)["diameter"] == naive.diameters(graph)[1]
    else:
        refused_by(run)
