"""Whatever stops a conversion: a clear error, joined threads, no scratch, nothing that opens."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from emdiam.conversion.convert import ConvertOptions, ConvertReport, write_graph
from emdiam.errors import BudgetError, InputError, StoreError
from emdiam.formats.source import EdgeBatch, SourceInfo
from emdiam.progress import Event
from emdiam.sorting import scratch as scratch_module
from emdiam.sorting.plan import SortPlan
from emdiam.store.store import open_store
from tests.conftest import ROOT
from tests.conversion.test_stages import SMALL, random_pairs
from tests.helpers.convert_twin import TINY, ListSource, rows_of
from tests.helpers.open_files import open_files
from tests.helpers.waiting import PATIENCE

INPUTS = {
    "declared": (random_pairs(200, 300), SourceInfo(n_vertices=200)),
    "compact": (random_pairs(200, 300), SourceInfo()),
    "wide": ([(a << 40, b) for a, b in random_pairs(200, 300)], SourceInfo()),
    "strings": ([(f"v{a}", f"v{b}") for a, b in random_pairs(200, 300)], SourceInfo(id_kind="string")),
    "partitions": (random_pairs(200, 300), SourceInfo(n_vertices=2000)),
}


@pytest.fixture(params=list(INPUTS))
def source(request: pytest.FixtureRequest) -> ListSource:
    return ListSource(*INPUTS[request.param])


@pytest.fixture(scope="module")
def libraries_at_work(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One conversion, so that the threads and files that zarr keeps for good are there."""
    attempt(ListSource([(0, 1)], SourceInfo()), tmp_path_factory.mktemp("first"))


@pytest.fixture
def nothing_left(libraries_at_work: None, tmp_path: Path) -> Iterator[None]:
    """Afterwards: an empty folder, no thread and no open file more than before."""
    threads, files = threading.active_count(), open_files()
    yield
    assert list(tmp_path.iterdir()) == []
    assert threading.active_count() == threads
    assert not open_files() - files


def attempt(
    source: ListSource, folder: Path, progress: Callable[[Event], None] | None = None
) -> ConvertReport:
    plan = replace(SMALL, key_bits=20) if source.info().n_vertices == 2000 else SMALL
    return write_graph(source, folder / "g.zarr",
                       options=ConvertOptions(plan=plan, scratch=folder, progress=progress))


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("phase", ["read", "sort", "relabel", "merge", "write"])
def test_ctrl_c_in_any_phase(source: ListSource, tmp_path: Path, phase: str) -> None:
    def interrupt(event: Event) -> None:
        if event.phase == phase:
            raise KeyboardInterrupt

    if phase == "relabel" and source.info().id_kind == "int" and max(map(max, source.pairs)) < 1 << 20:
        phase = "merge"
    with pytest.raises(KeyboardInterrupt):
        attempt(source, tmp_path, interrupt)


@pytest.mark.usefixtures("nothing_left")
def test_a_source_that_fails_midway(source: ListSource, tmp_path: Path) -> None:
    class Broken(ListSource):
        def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
            yield from super().batches(64)
            raise InputError("cut short", path=self.name)

    with pytest.raises(InputError, match="cut short"):
        attempt(Broken(source.pairs, source.info()), tmp_path)


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("nth", [1, 4, 9])
def test_a_full_disk_while_sorting(
    source: ListSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    calls = iter(range(1, 10**6))
    write = os.pwrite

    def full(handle: int, data: bytes, offset: int) -> int:
        if next(calls) >= nth:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data, offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(BudgetError, match="no room left for scratch files.*free.*make room"):
        write_graph(source, tmp_path / "g.zarr", options=ConvertOptions(plan=TINY, scratch=tmp_path))


def test_an_existing_target_stays_as_it_is(tmp_path: Path) -> None:
    attempt(ListSource([(0, 1)], SourceInfo()), tmp_path)
    before = rows_of(tmp_path / "g.zarr")
    with pytest.raises(InputError, match="exists.*--force"):
        attempt(ListSource([(0, 2)], SourceInfo()), tmp_path)
    assert rows_of(tmp_path / "g.zarr") == before


def test_a_failed_force_keeps_the_old_store(tmp_path: Path) -> None:
    attempt(ListSource([(0, 1)], SourceInfo()), tmp_path)
    before = rows_of(tmp_path / "g.zarr")
    with pytest.raises(InputError, match="negative"):
        write_graph(ListSource([(0, -1)], SourceInfo()), tmp_path / "g.zarr",
                    options=ConvertOptions(plan=TINY, scratch=tmp_path, force=True))
    assert rows_of(tmp_path / "g.zarr") == before
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


def test_a_scratch_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="scratch folder does not exist"):
        write_graph(ListSource([(0, 1)], SourceInfo()), tmp_path / "g.zarr",
                    options=ConvertOptions(scratch=tmp_path / "none"))


@pytest.mark.usefixtures("nothing_left")
def test_more_edges_than_the_disk_can_hold_are_refused_at_once(tmp_path: Path) -> None:
    source = ListSource([(0, 1)], SourceInfo(n_entries=10**16))
    with pytest.raises(BudgetError, match=r"TiB are needed for scratch files and the store, .* are free"):
        attempt(source, tmp_path)
    assert source.times_read == 0


class TestMemoryFileSystems:
    """RAM is no scratch space unless the user says so."""

    @pytest.fixture(autouse=True)
    def in_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scratch_module, "file_system", lambda folder: "tmpfs")

    def test_refused_by_default(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="memory file system.*--scratch"):
            write_graph(ListSource(*INPUTS["compact"]), tmp_path / "g.zarr",
                        options=ConvertOptions(plan=TINY))
        assert list(tmp_path.iterdir()) == []

    def test_no_matter_where_nothing_is_spilled(self, tmp_path: Path) -> None:
        write_graph(ListSource([(0, 1)], SourceInfo()), tmp_path / "g.zarr", options=ConvertOptions())
        assert (tmp_path / "g.zarr").is_dir()

    def test_used_and_said_where_named(self, tmp_path: Path) -> None:
        report = attempt(ListSource(*INPUTS["compact"]), tmp_path)
        assert not any("of RAM outside" in note for note in report.notes)
        (tmp_path / "g.zarr").rename(tmp_path / "old")
        report = write_graph(ListSource(*INPUTS["compact"]), tmp_path / "g.zarr",
                             options=ConvertOptions(plan=TINY, scratch=tmp_path))
        assert any("of RAM outside the memory budget" in note for note in report.notes)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    made = subprocess.run(command, capture_output=True)
    if made.returncode:
        pytest.skip("mounting a small file system is not permitted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_really_full_scratch_disk(small_disk: Path, tmp_path: Path) -> None:
    source = ListSource(random_pairs(1 << 20, 300_000), SourceInfo())
    plan = SortPlan(run_keys=1 << 14, least_run_keys=1 << 14)
    options = ConvertOptions(plan=plan, scratch=small_disk)
    with pytest.raises(BudgetError, match="no room left for scratch files"):
        write_graph(source, tmp_path / "g.zarr", options=options)
    assert os.listdir(small_disk) == [] and os.listdir(tmp_path) == ["disk"]


def test_a_really_full_target_disk(small_disk: Path, tmp_path: Path) -> None:
    source = ListSource(random_pairs(1 << 20, 300_000), SourceInfo())
    with pytest.raises(BudgetError, match="no room left for the store"):
        write_graph(source, small_disk / "g.zarr", options=ConvertOptions(scratch=tmp_path))
    assert os.listdir(small_disk) == []


CHILD = """
import resource, sys
from dataclasses import replace
from pathlib import Path
from emdiam.errors import BudgetError
from emdiam.conversion.convert import ConvertOptions, write_graph
from tests.helpers.convert_twin import ListSource
from tests.conversion.test_stages import SMALL, random_pairs
from emdiam.formats.source import SourceInfo
target, limit, spills = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "True"
source = ListSource(random_pairs(20_000, 60_000), SourceInfo(), per_batch=500)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
print("started", flush=True)
try:
    plan = replace(SMALL, block_keys=256, merge_keys_alone=1 << 17) if spills else None
    write_graph(source, target, options=ConvertOptions(plan=plan, scratch=target.parent, codec="none"))
except BudgetError as error:
    print(error)
"""


def child(target: Path, limit: int = 0, spills: bool = True) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", CHILD, str(target), str(limit), str(spills)], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE)


@pytest.mark.parametrize(("limit", "what"), [(50_000, "scratch files"), (420_000, "the store")])
def test_a_limit_on_the_size_of_files(tmp_path: Path, limit: int, what: str) -> None:
    """How threads share scratch files out is theirs, so the limit that is for the store meets none of them."""
    said, _ = child(tmp_path / "g.zarr", limit, spills=what == "scratch files").communicate(timeout=PATIENCE)
    assert f"no room left for {what} (File too large" in said
    assert list(tmp_path.iterdir()) == []


def kill_at_random_moments(folder: Path, times: int) -> None:
    target = folder / "g.zarr"
    began = time.perf_counter()
    running = child(target)
    assert running.stdout is not None and running.stdout.readline() == "started\n"
    lead = time.perf_counter() - began
    assert running.wait(PATIENCE) == 0
    whole = time.perf_counter() - began - lead
    want = rows_of(target)
    chance = random.Random(times)
    for _ in range(times):
        shutil.rmtree(target)
        running = child(target)
        assert running.stdout is not None and running.stdout.readline() == "started\n"
        time.sleep(chance.uniform(0, whole))
        running.kill()
        running.communicate(timeout=PATIENCE)
        assert {path.name for path in folder.iterdir()} <= {"g.zarr", "g.zarr.partial"}
        if (folder / "g.zarr.partial").exists():
            with pytest.raises(StoreError):
                open_store(str(folder / "g.zarr.partial"))
        if not target.exists():
            assert child(target).wait(PATIENCE) == 0
        assert rows_of(target) == want
        assert [path.name for path in folder.iterdir()] == ["g.zarr"]


def test_kill_at_a_few_random_moments(tmp_path: Path) -> None:
    kill_at_random_moments(tmp_path, 2)


@pytest.mark.slow
def test_kill_at_thirty_random_moments(tmp_path: Path) -> None:
    kill_at_random_moments(tmp_path, 30)
