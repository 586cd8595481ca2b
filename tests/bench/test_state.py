"""Vertex state that is measured: the figure, and (slow) that a BFS of a small graph keeps to its plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.memory.state import SUBJECTS, bytes_a_vertex, measure


def test_a_figure_is_what_a_larger_graph_takes_more() -> None:
    assert bytes_a_vertex([150 << 20, 151 << 20], 100 << 20, 24) == [3.12, 3.19]


@pytest.mark.slow
def test_every_subject_is_measured(tmp_path: Path) -> None:
    rows = measure(tmp_path, [19], 1)
    assert [row["what"] for row in rows] == list(SUBJECTS)
    for row in rows:
        told = row["2^19"]
        assert told["peak_bytes"][0] <= told["planned_bytes"][0] and len(told["bytes_a_vertex"]) == 1
