"""Parts of inputs that were left unsaid: a tag within a weight, and vertices that a list does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

import emdiam
from emdiam.conversion.convert import ConvertOptions, convert
from emdiam.errors import InputError

GRAPHML = """<graphml><key id="w" for="edge" attr.name="weight"/><graph edgedefault="undirected">
<node id="a"/><node id="b"/><edge source="a" target="b"><data key="w">{}</data></edge></graph></graphml>"""


def test_a_tag_within_a_weight_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(GRAPHML.format("<x>1</x>2"))
    with pytest.raises(InputError, match="a tag x is within a weight"):
        emdiam.diameter(path, weighted=True)
    path.write_text(GRAPHML.format("<!-- 1 -->2"))
    assert emdiam.diameter(path, weighted=True).diameter == 2


def test_vertices_that_a_list_does_not_have_are_said(tmp_path: Path) -> None:
    edges, vertices = tmp_path / "g.txt", tmp_path / "v.txt"
    edges.write_text("1 2\n2 3\n3 4\n")
    vertices.write_text("1\n2\n3\n7\n")
    report = convert([edges], tmp_path / "a.zarr", options=ConvertOptions(vertices=vertices))
    assert "edges end at 1 vertex that the list of vertices does not have" in report.notes
    assert report.record.n_vertices == 5
    vertices.write_text("1\n2\n3\n4\n7\n")
    report = convert([edges], tmp_path / "b.zarr", options=ConvertOptions(vertices=vertices))
    assert not any("does not have" in note for note in report.notes) and report.record.n_vertices == 5
