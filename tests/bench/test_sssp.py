"""The benchmark of shortest paths: its section, and what it compares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import sssp
from bench.cache import Cache
from tests.helpers.bench_setting import quick_setting


@pytest.mark.parametrize("peers", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_section_measures_shortest_paths(tmp_path: Path, peers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GAPBS_SSSP", raising=False)
    setting = quick_setting(Cache(tmp_path, tmp_path), "quick-grid-40x50", threads=1, peers=peers)
    (row,) = sssp.run(setting)
    assert row["wrong"] == [] and row["gapbs"] is None and ("scipy" in row["speedups"]) == peers
    assert row["streamed"]["largest_distance"] == row["in_ram"]["largest_distance"] > 88
    header, (cells,) = sssp.table([row])
    assert len(header) == len(cells)


def test_other_distances_are_wrong() -> None:
    none = np.iinfo(np.uint64).max
    expected = np.array([0, 3, none], np.uint64)
    assert sssp._equal(np.array([0, 3, np.inf]), expected)
    assert not sssp._equal(np.array([0, 4, np.inf]), expected)
    assert not sssp._equal(np.array([0, 3, 7.0]), expected)
