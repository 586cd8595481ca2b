"""Every stage of the external sort is seen at work, and the store's bytes never depend on any."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from emdiam.conversion.convert import ConvertOptions, ConvertReport, write_graph
from emdiam.errors import BudgetError, EmdiamError, InputError
from emdiam.formats.source import SourceInfo
from emdiam.progress import Event
from emdiam.sorting.plan import SortPlan
from tests.conftest import ROOT
from tests.helpers.convert_twin import TINY, ListSource, Pairs, convert_pairs

pytestmark = pytest.mark.thin(4, sampled=("ids",))


# Sizes between those of TINY and real ones: dozens of runs from 30,000 arcs.
SMALL = SortPlan(
    batch_bytes=1 << 12, run_keys=1 << 10, least_run_keys=1 << 10, n_buffers=3, block_keys=16,
    merge_keys=1 << 10, merge_keys_alone=1 << 10, presence_ids=1 << 20, table_ids=500, join_ids=512,
    string_bytes=4096, string_block_bytes=512,
)


def random_pairs(n_ids: int, n_pairs: int, seed: int = 1) -> Pairs:
    return np.random.default_rng(seed).integers(0, n_ids, (n_pairs, 2)).tolist()


def digest(pairs: Pairs, folder: Path, options: ConvertOptions, **about: object) -> str:
    source = ListSource(pairs, SourceInfo(**about))  # type: ignore[arg-type]
    report = write_graph(source, folder / "g.zarr", options=replace(options, scratch=folder, force=True))
    return report.record.chunk_digest


def test_runs_on_disk_and_extra_merge_passes(tmp_path: Path) -> None:
    sort = convert_pairs(random_pairs(300, 400), tmp_path).sort
    assert sort.disk_runs == sort.runs > 40 and sort.merge_passes >= 4


def test_few_edges_never_touch_the_disk(tmp_path: Path) -> None:
    report = convert_pairs(random_pairs(300, 400), tmp_path, SortPlan())
    assert (report.scratch_bytes, report.sort.disk_runs, report.sort.runs) == (0, 0, 1)


def test_several_runs_in_ram(tmp_path: Path) -> None:
    plan = replace(SMALL, n_buffers=40, merge_keys=1 << 12)
    report = convert_pairs(random_pairs(900, 3000), tmp_path, plan)
    assert (report.scratch_bytes, report.sort.disk_runs) == (0, 0) and report.sort.runs > 3


@pytest.mark.parametrize("n", [1025, 2000, 1 << 16])
def test_keys_too_narrow_for_two_ids_need_partitions(tmp_path: Path, n: int) -> None:
    pairs = [*random_pairs(n, 300), (0, n - 1), (n - 1, n - 2), (1023, 1024)]
    report = convert_pairs(pairs, tmp_path, replace(TINY, key_bits=20), n_vertices=n)
    assert report.sort.partitions == 1 << (2 * (n - 1).bit_length() + 1 - 20)


def test_more_vertices_than_partitions_can_serve_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"too many.*at most 2\^16"):
        convert_pairs([(0, 1)], tmp_path, replace(TINY, key_bits=20), n_vertices=(1 << 16) + 1)


def test_partitions_of_relabelled_ids(tmp_path: Path) -> None:
    pairs = [(a << 40, b << 40) for a, b in random_pairs(3000, 2500)]
    report = convert_pairs(pairs, tmp_path, replace(SMALL, key_bits=20, table_ids=400))
    assert report.sort.partitions == 32 and report.sort.table_pieces == 7


def test_a_large_id_at_the_end_moves_everything_to_the_table(tmp_path: Path) -> None:
    pairs = [*random_pairs(200, 300), (5, 5), (900, 900), (3, 1 << 50)]
    report = convert_pairs(pairs, tmp_path)
    assert report.sort.table_pieces > 60 and report.record.id_kind == "int"


@pytest.mark.parametrize("rewindable", [True, False])
def test_strings_with_one_hash_are_told_apart(tmp_path: Path, rewindable: bool) -> None:
    # 9 strings and 64 hashes: some salts collide, one of the first 16 does not.
    pairs = [(f"v{a}", f"v{b}") for a, b in random_pairs(9, 40)]
    source = ListSource(pairs, SourceInfo(id_kind="string"), rewindable=rewindable)
    plan = replace(TINY, hash_bits=6)
    report = write_graph(source, tmp_path / "g.zarr", options=ConvertOptions(plan=plan, scratch=tmp_path))
    plain = convert_pairs(pairs, tmp_path, id_kind="string")
    assert source.times_read > 1 or not rewindable
    assert report.record.chunk_digest == plain.record.chunk_digest
    assert (report.pairs_read, report.record.duplicates_dropped) == (40, plain.record.duplicates_dropped)
    assert report.first_pairs == tuple(pairs[:5])


def test_strings_that_always_share_a_hash_end_in_an_error(tmp_path: Path) -> None:
    source = ListSource([("a", "b"), ("c", "d"), ("e", "f")], SourceInfo(id_kind="string"))
    with pytest.raises(EmdiamError, match="same hash"):
        write_graph(source, tmp_path / "g.zarr",
                    options=ConvertOptions(plan=replace(TINY, hash_bits=1), scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ids", ["declared", "compact", "wide", "strings"])
def test_bytes_depend_on_nothing_but_the_edges(tmp_path: Path, ids: str) -> None:
    pairs = random_pairs(2000, 3000)
    about: dict[str, object] = {"n_vertices": 2400} if ids == "declared" else {}
    if ids == "wide":
        pairs = [(a << 40 | 7, b << 40 | 7) for a, b in pairs]
    if ids == "strings":
        pairs, about = [(f"v{a}", f"v{b}") for a, b in pairs], {"id_kind": "string"}
    want = digest(pairs, tmp_path, ConvertOptions(), **about)
    multi_pass = replace(SMALL, merge_keys_alone=150, table_ids=77)
    for plan, threads in ((SMALL, 2), (SMALL, 1), (multi_pass, 5), (replace(SMALL, batch_bytes=1 << 17), 2)):
        assert digest(pairs, tmp_path, ConvertOptions(plan=plan, threads=threads), **about) == want
    backwards = [(b, a) for a, b in reversed(pairs)]
    assert digest(backwards, tmp_path, ConvertOptions(plan=SMALL), **about) == want


def test_duplicates_do_not_depend_on_runs(tmp_path: Path) -> None:
    pairs = random_pairs(40, 3000)
    reports = [convert_pairs(pairs, tmp_path, plan) for plan in (TINY, SMALL, SortPlan())]
    assert len({report.record.duplicates_dropped for report in reports}) == 1


def test_a_budget_too_small_is_refused_with_the_smallest_that_does(tmp_path: Path) -> None:
    pairs, target = random_pairs(100, 200), tmp_path / "g.zarr"
    with pytest.raises(BudgetError, match="cannot do: .* are taken") as refused:
        write_graph(ListSource(pairs, SourceInfo()), target, options=ConvertOptions(memory_bytes=50 << 20))
    assert list(tmp_path.iterdir()) == []
    enough = int(str(refused.value).rsplit("--memory ", 1)[1].split("MiB")[0]) + 8
    report = write_graph(ListSource(pairs, SourceInfo()), target,
                         options=ConvertOptions(memory_bytes=enough << 20))
    assert report.planned_rss_bytes <= report.memory_limit_bytes == enough << 20


def test_progress_names_every_phase_and_ends_it(tmp_path: Path) -> None:
    events: list[Event] = []
    pairs = [(a << 40, b << 40) for a, b in random_pairs(500, 600)]
    source = ListSource(pairs, SourceInfo(n_entries=600))
    report = write_graph(source, tmp_path / "g.zarr",
                         options=ConvertOptions(plan=SMALL, scratch=tmp_path, progress=events.append))
    assert {event.phase for event in events} == {"read", "sort", "relabel", "merge", "write"}
    assert {event.phase for event in events if event.finished} == set(report.seconds)
    read = [event for event in events if event.phase == "read"]
    assert (read[-1].done, read[-1].total, read[-1].unit, read[-1].finished) == (600, 600, "edges", True)


PEAK = """
import sys
from pathlib import Path
from emdiam.conversion.convert import ConvertOptions, convert, write_graph
from emdiam.generators import make_source
target, memory, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
options = ConvertOptions(memory_bytes=memory, force=True)
if what.isdigit():
    source = make_source("rmat", vertices=1 << int(what), seed=1, parameters={"edge_factor": 16})
    report = write_graph(source, target, options=options)
else:
    report = convert([what], target, options=options)
print(report.peak_rss_bytes, report.record.chunk_digest, report.record.n_edges)
"""


def peak_and_digest(target: Path, memory: int, what: str) -> tuple[int, str, int]:
    done = subprocess.run([sys.executable, "-c", PEAK, str(target), str(memory), what], text=True, check=True,
                          capture_output=True, cwd=ROOT, env={**os.environ, "MALLOC_ARENA_MAX": "2"})
    peak, digest, edges = done.stdout.split()
    return int(peak), digest, int(edges)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "memory_mib"), [("20", 256), ("22", 320), ("24", 768)])
def test_peak_memory_of_generated_graphs(tmp_path: Path, scale: str, memory_mib: int) -> None:
    peak, small, edges = peak_and_digest(tmp_path / "g.zarr", memory_mib << 20, scale)
    assert peak <= memory_mib << 20 and edges > 14 << int(scale)
    assert peak_and_digest(tmp_path / "g.zarr", 8 << 30, scale)[1] == small


@pytest.mark.slow
@pytest.mark.parametrize("memory_mib", [288, 512])
def test_peak_memory_of_58_million_edges(tmp_path: Path, data_folder: Path, memory_mib: int) -> None:
    file = str(data_folder / "git-objects-git.parquet")
    peak, small, edges = peak_and_digest(tmp_path / "g.zarr", memory_mib << 20, file)
    assert peak <= memory_mib << 20 and edges == 58_096_801
    assert peak_and_digest(tmp_path / "g.zarr", 8 << 30, file)[1] == small


def report_of(pairs: Pairs, folder: Path, **options: object) -> ConvertReport:
    return write_graph(ListSource(pairs, SourceInfo()), folder / "g.zarr",
                       options=ConvertOptions(scratch=folder, **options))  # type: ignore[arg-type]


def test_the_plan_of_a_budget_adds_up(tmp_path: Path) -> None:
    report = report_of(random_pairs(100, 200), tmp_path, memory_bytes=4 << 30)
    assert 0 < report.peak_rss_bytes and report.planned_rss_bytes <= 4 << 30
