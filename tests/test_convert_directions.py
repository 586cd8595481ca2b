"""Formats that list both directions of an edge: the second one is no duplicate, and a graph whose
arcs have no partner is said to be directed."""

from __future__ import annotations

from pathlib import Path

import pytest

from emdiam.graph.convert import ConvertOptions, convert

BOTH = "p sp 3 4\na 1 2 5\na 2 1 5\na 2 3 1\na 3 2 1\n"
ONE_WAY = "p sp 3 2\na 1 2 5\na 2 3 1\n"
TWICE = "p sp 3 6\na 1 2 5\na 2 1 5\na 2 3 1\na 3 2 1\na 1 2 7\na 2 1 7\n"


@pytest.mark.parametrize(
    ("text", "directed", "duplicates"), [(BOTH, False, 0), (ONE_WAY, True, 0), (TWICE, False, 2)]
)
def test_dimacs(tmp_path: Path, text: str, directed: bool, duplicates: int) -> None:
    (tmp_path / "g.gr").write_text(text)
    report = convert([tmp_path / "g.gr"], tmp_path / "g.zarr", options=ConvertOptions(memory_bytes=4 << 30))
    assert report.record.n_edges == 2
    assert report.record.directed_input == directed
    assert report.record.duplicates_dropped == duplicates
