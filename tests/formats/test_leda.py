"""LEDA graphs: what the header says, and lines that are none of the format."""

from __future__ import annotations

from pathlib import Path

import pytest

import emdiam
from emdiam.errors import InputError
from tests.formats.writers.reading import read_back
from tests.formats.writers.writer import Held

HEADER = "LEDA.GRAPH\n# a comment\nstring\nint\n-1\n3\n|{p}|\n|{q}|\n|{}|\n"


def written(folder: Path, text: str) -> Path:
    (folder / "g.gw").write_text(text)
    return folder / "g.gw"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_vertices_edges_directions_and_weights(tmp_path: Path, end: str):
    path = written(tmp_path, (HEADER + "2\n1 2 0 |{7}|\n\n2 1 1 |{5}|\n").replace("\n", end))
    assert read_back(path, {}, tmp_path) == Held(frozenset("123"), {("1", "2"): None})
    arcs = {("1", "2"): 7, ("2", "1"): 5}
    assert read_back(path, {"weights": True, "directed": True}, tmp_path) == Held(frozenset("123"), arcs)
    both = written(tmp_path, (HEADER + "1\n1 2 0 |{7}|\n").replace("-1", "-2"))
    with pytest.raises(InputError, match="no directions"):
        read_back(both, {"directed": True}, tmp_path)
    assert read_back(both, {"weights": True}, tmp_path).edges == {("1", "2"): 7}


@pytest.mark.parametrize(("text", "what", "line"), [
    ("LEDA.GRAPH\nstring\nint\n3\n", "no LEDA header", None), (HEADER, "the number of edges is to come", 9),
    (HEADER + "two\n", "the number of edges is missing", 10), (HEADER + "1\n", "an edge is to come", 10),
    (HEADER + "1\n1 2\n", "an edge is written as", 11), (HEADER + "1\n1 4 0 |{7}|\n", "outside 1..3", 11),
    (HEADER[:-6], "where a vertex is to come", 8),
])
def test_other_lines_are_refused(tmp_path: Path, text: str, what: str, line: int | None):
    with pytest.raises(InputError, match=what) as error:
        emdiam.convert(written(tmp_path, text), tmp_path / "g.zarr")
    assert error.value.line == line and error.value.remedy


def test_labels_that_are_no_numbers_are_no_weights(tmp_path: Path):
    path = written(tmp_path, HEADER.replace("int", "string") + "1\n1 2 0 |{a b}|\n")
    with pytest.raises(InputError, match="labels of its edges are string"):
        emdiam.convert(path, tmp_path / "g.zarr", weights=True)
    assert emdiam.convert(path, tmp_path / "g.zarr").record.values_dropped == {"labels of edges": 1}
