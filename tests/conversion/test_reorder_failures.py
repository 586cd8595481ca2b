"""Whatever stops a reordering: a clear error, joined threads, no scratch, nothing that opens; and
the memory it is given is what it takes."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import emdiam
from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.ordered import convert_ordered
from emdiam.conversion.reorder import reorder
from emdiam.errors import BudgetError, InputError, StoreError
from emdiam.progress import Event
from emdiam.store.check import check_store
from emdiam.store.layout import StoreRecord
from emdiam.store.place import claim
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter
from tests.conftest import ROOT
from tests.helpers.convert_twin import TINY, rows_of
from tests.helpers.damage import some_graph
from tests.helpers.open_files import open_files
from tests.helpers.stores import write_store
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.thin(4)

PHASES = ("order", "ids", "read", "sort", "merge", "write")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a natural store `g`, an edge list `e.txt`, and threads that zarr keeps for good."""
    folder = tmp_path_factory.mktemp("source")
    write_store(folder / "g", some_graph())
    (folder / "e.txt").write_text("".join(f"v{v} v{w}\n" for v, row in enumerate(some_graph()) for w in row))
    for order in ("degree", "bfs"):
        attempt(folder / "g", folder / order, order)
    return folder


def thread_names() -> list[str]:
    """Of all threads but those of zarr's own pool, which grows when it likes."""
    return sorted(thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio_"))


@pytest.fixture
def nothing_left(source: Path, tmp_path: Path) -> Iterator[None]:
    """Afterwards: an empty folder, no thread and no open file more than before."""
    threads, files = thread_names(), open_files()
    yield
    assert list(tmp_path.iterdir()) == []
    assert thread_names() == threads
    assert not open_files() - files


def attempt(
    store: Path, target: Path, order: str, progress: Callable[[Event], None] | None = None, tiny: bool = True
) -> None:
    reorder(store, target, order, options=ConvertOptions(
        plan=TINY if tiny else None, scratch=target.parent, progress=progress, memory_bytes=4 << 30, chunk_ids=64))


def stop_in(phase: str) -> Callable[[Event], None]:
    def interrupt(event: Event) -> None:
        if event.phase == phase:
            raise KeyboardInterrupt

    return interrupt


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("phase", [*PHASES, "load"])
def test_ctrl_c_in_any_phase(source: Path, tmp_path: Path, phase: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        attempt(source / "g", tmp_path / "new", "bfs", stop_in(phase))


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("phase", ["relabel", *PHASES])
def test_ctrl_c_in_any_phase_of_a_conversion(source: Path, tmp_path: Path, phase: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        convert_ordered([source / "e.txt"], tmp_path / "new", "degree", options=ConvertOptions(
            memory_bytes=4 << 30, progress=stop_in(phase)))


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("nth", [1, 20])
def test_a_full_disk(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int) -> None:
    calls = iter(range(1, 10**6))
    write = os.pwrite

    def full(handle: int, data: bytes, offset: int) -> int:
        if next(calls) >= nth:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data, offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(BudgetError, match="no room left for scratch files.*free.*make room"):
        attempt(source / "g", tmp_path / "new", "degree")


def test_a_failed_force_keeps_the_old_store(source: Path, tmp_path: Path) -> None:
    shutil.copytree(source / "g", tmp_path / "new")
    before = rows_of(tmp_path / "new")
    options = ConvertOptions(force=True, progress=stop_in("write"), memory_bytes=4 << 30)
    with pytest.raises(KeyboardInterrupt):
        reorder(source / "bfs", tmp_path / "new", "degree", options=options)
    with pytest.raises(KeyboardInterrupt):
        convert_ordered([source / "e.txt"], tmp_path / "new", "degree", options=options)
    assert rows_of(tmp_path / "new") == before
    reorder(source / "bfs", tmp_path / "new", "degree", options=replace(options, progress=None))
    assert rows_of(tmp_path / "new") == rows_of(source / "degree")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


# -- what is beside the target while a conversion goes on ---------------------------------------------
def test_what_a_killed_conversion_leaves_is_removed(source: Path, tmp_path: Path) -> None:
    left = tmp_path / "new.natural.partial"
    shutil.copytree(source / "g", left / "store")
    with pytest.raises(StoreError):
        open_store(left)
    emdiam.convert(source / "e.txt", tmp_path / "new", order="degree")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("what", ["a file", "a folder", "a link", "at work"])
def test_what_is_in_the_way_stays(source: Path, tmp_path: Path, what: str) -> None:
    place = tmp_path / "new.natural.partial"
    handle = None
    if what == "a file":
        place.write_text("mine")
    elif what == "a link":
        place.symlink_to(source)
    else:
        place.mkdir()
        (place / "store").mkdir()
        if what == "a folder":
            (place / "mine").write_text("mine")
        else:
            handle = claim(place)
    with pytest.raises(InputError, match="in the way|another conversion"):
        emdiam.convert(source / "e.txt", tmp_path / "new", order="degree")
    assert [path.name for path in tmp_path.iterdir()] == [place.name]
    assert (source / "g").exists() and (what != "a folder" or (place / "mine").read_text() == "mine")
    if handle is not None:
        os.close(handle)


CHILD = """
import sys
from pathlib import Path
import emdiam
from emdiam.progress import Event
print("started", flush=True)
what, source, target = sys.argv[1:]
if what == "reorder":
    emdiam.reorder(source, target, "bfs", codec="none")
else:
    emdiam.convert(source, target, order="bfs", codec="none")
"""


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A store and an edge list that take a moment."""
    folder = tmp_path_factory.mktemp("larger")
    rng = random.Random(4)
    pairs = [(rng.randrange(20_000), rng.randrange(20_000)) for _ in range(60_000)]
    (folder / "e.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs))
    emdiam.convert(folder / "e.txt", folder / "g", chunk=64)
    return {"reorder": folder / "g", "convert": folder / "e.txt"}


def child(what: str, source: Path, target: Path) -> subprocess.Popen[str]:
    running = subprocess.Popen([sys.executable, "-c", CHILD, what, str(source), str(target)], cwd=ROOT, text=True,
                               stdout=subprocess.PIPE)
    assert running.stdout is not None and running.stdout.readline() == "started\n"
    return running


def digest(path: Path) -> str:
    """Of the store, all of it read."""
    with open_store(path) as store:
        check_store(store)
        return store.digest


def kill_at_random_moments(folder: Path, what: str, source: Path, times: int) -> None:
    target, allowed = folder / "g", {"g", "g.partial", "g.natural.partial"}
    running = child(what, source, target)
    began = time.perf_counter()
    assert running.wait(PATIENCE) == 0
    whole = time.perf_counter() - began
    want = digest(target)
    chance = random.Random(times)
    for _ in range(times):
        shutil.rmtree(target)
        running = child(what, source, target)
        time.sleep(chance.uniform(0, whole))
        running.kill()
        running.communicate(timeout=PATIENCE)
        left = {path.name for path in folder.iterdir()}
        assert left <= allowed
        for name in left - {"g"}:
            with pytest.raises(StoreError):
                open_store(folder / name)
        if not target.exists():
            assert child(what, source, target).wait(PATIENCE) == 0
        assert digest(target) == want
        assert [path.name for path in folder.iterdir()] == ["g"]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["reorder", "convert"])
def test_kill_at_a_random_moment(larger: dict[str, Path], tmp_path: Path, what: str) -> None:
    kill_at_random_moments(tmp_path, what, larger[what], 1)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["reorder", "convert"])
def test_kill_at_many_random_moments(larger: dict[str, Path], tmp_path: Path, what: str) -> None:
    kill_at_random_moments(tmp_path, what, larger[what], 15)


# -- memory -----------------------------------------------------------------------------------------
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("order", ["natural", "degree", "bfs"])
def test_too_small_a_budget_is_refused_with_the_numbers(source: Path, tmp_path: Path, order: str) -> None:
    with pytest.raises(BudgetError, match=r"MiB.*give (at least )?memory=\"\d+MiB"):
        emdiam.reorder(source / "g", tmp_path / "new", order, memory="20MiB")


def test_more_vertices_need_more(tmp_path: Path) -> None:
    """A graph of four million vertices, without an edge but one, does not fit where a small one does."""
    n = 1 << 22
    writer = StoreWriter(tmp_path / "g", n_vertices=n)
    writer.append_degrees(np.bincount([0, n - 1]))
    writer.append_neighbours(np.array([n - 1, 0], np.uint32))
    writer.finish(StoreRecord())
    for order, bytes_a_vertex in (("degree", 4), ("bfs", 16)):
        with pytest.raises(BudgetError) as refused:
            emdiam.reorder(tmp_path / "g", tmp_path / "new", order, memory="60MiB")
        found = re.search(r"memory=\"(\d+)MiB", str(refused.value))
        assert found is not None
        least = int(found.group(1)) << 20
        assert least > bytes_a_vertex * n + (60 << 20)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "emdiam", *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["degree", "bfs", "cluster"])
@pytest.mark.parametrize("kind", ["kronecker", "regular"])
def test_the_peak_stays_below_the_smallest_budget(tmp_path: Path, order: str, kind: str) -> None:
    """Graphs of 2^20 vertices; with edge factor 8 the sort goes to disk."""
    sizes = ["--edge-factor", "8"] if kind == "kronecker" else ["--degree", "3"]
    store = tmp_path / "g"
    assert run("generate", kind, store, "--vertices", "2^20", *sizes, "--seed", "1", "--quiet").returncode == 0
    roomy = json.loads(run("reorder", store, tmp_path / "roomy", "--order", order, "--json", "--quiet").stdout)
    refused = run("reorder", store, tmp_path / "new", "--order", order, "--memory", "50MiB", "--quiet")
    for _ in range(3):  # what is named may be for the first step alone
        found = re.search(r"give (?:at least )?--memory (\d+)MiB", refused.stderr)
        if refused.returncode == 0 or found is None:
            break
        least = int(found.group(1))
        refused = run("reorder", store, tmp_path / "new", "--order", order, "--memory", f"{least}MiB", "--json",
                      "--quiet")
    assert refused.returncode == 0, refused.stderr
    report = json.loads(refused.stdout)
    assert report["peak_rss_bytes"] <= report["planned_rss_bytes"] <= least << 20
    assert report["record"] == roomy["record"]
