"""Every real graph converts as it is, through runs on disk, to the counts of the data's index."""

from __future__ import annotations

from pathlib import Path

import pytest

from emdiam.conversion.convert import ConvertOptions, ConvertReport, convert
from emdiam.sorting.plan import SortPlan
from tests.conftest import ROOT

INDEX = ROOT.parent / "shared" / "data" / "INDEX.md"
LARGE = "git-objects-git.parquet"
# Runs of 64 Ki keys, so that all but the smallest files are spilled.
PLAN = SortPlan(
    run_keys=1 << 16, least_run_keys=1 << 16, block_keys=1 << 9, merge_keys=1 << 17, merge_keys_alone=1 << 17
)


def expected() -> dict[str, tuple[int, int]]:
    """(vertices with an edge, edges) of every file of the index; empty where there is none."""
    found = {}
    for line in INDEX.read_text(encoding="utf-8").splitlines() if INDEX.is_file() else []:
        cells = [cell.strip(" *").replace(",", "") for cell in line.strip("|").split("|")]
        if len(cells) > 5 and all(cells[at].isdigit() for at in (2, 3, 4)):
            found[cells[0]] = (int(cells[2]) - int(cells[3]), int(cells[4]))
    return found


EXPECTED = expected()
pytestmark = pytest.mark.skipif(not EXPECTED, reason="the folder of real graphs (../shared/data) is absent")


def convert_file(name: str, folder: Path) -> ConvertReport:
    options = ConvertOptions(plan=PLAN, scratch=folder)
    return convert([INDEX.parent / name], folder / "g.zarr", options=options)


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != LARGE])
def test_counts_of_real_graphs(tmp_path: Path, name: str) -> None:
    report = convert_file(name, tmp_path)
    assert (report.record.n_vertices, report.record.n_edges) == EXPECTED[name]
    assert (report.sort.disk_runs > 3) == (2 * report.pairs_read > 3 << 16)


@pytest.mark.slow
def test_counts_of_the_large_graph(tmp_path: Path) -> None:
    record = convert_file(LARGE, tmp_path).record
    assert (record.n_vertices, record.n_edges, record.duplicates_dropped) == (*EXPECTED[LARGE], 0)


def test_the_index_lists_all_graphs() -> None:
    assert len(EXPECTED) == 18
