"""Formats of other programs: GraphML, GEXF, Pajek, DL, N-Triples, GML, DOT, JSON, graph6, each with names, isolated
vertices, loops, parallel edges, weights and directions as it has them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import emdiam
from emdiam.errors import BudgetError, InputError
from emdiam.formats import open_source
from emdiam.formats.weights import WeightChoice
from tests.helpers.formats_naive import fault_of, read_pairs, weight_ends

GRAPHML = b"""<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d1" for="edge" attr.name="weight" attr.type="double"><default>7</default></key>
<key id="d2" for="edge" attr.name="km" attr.type="int"/>
<graph edgedefault="undirected">
<node id="a"/><node id="b"/><node id="&lt;c&gt;">
<desc>a &amp; b</desc></node><node id="d"/>
<edge source="a" target="b"><data key="d1">2.5</data><data key="d2">3</data></edge>
<edge source="b" target="&lt;c&gt;" directed="true"><data key="d2">4</data></edge></graph></graphml>"""
GEXF = b"""<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="directed"><attributes class="edge">
<attribute id="0" title="km" type="float"/></attributes><nodes><node id="a"/><node id="b"><nodes>
<node id="c"/></nodes></node>
<node id="d"/></nodes><edges>
<edge source="a" target="b" weight="2.5"><attvalues><attvalue for="0" value="3"/></attvalues>
</edge><edge source="b" target="c" type="undirected"><attvalues><attvalue for="0" value="4"/></attvalues></edge></edges>
</graph></gexf>"""
PAJEK = b'*Network x\n*Vertices 4\n1 "a b" 0.1 0.2\n2 b\n*Edges\n1 2 2.5\n*Arcs :1 "r"\n2 3\n'
DL = b"DL n = 4, format = edgelist1\nlabels:\na,b,c,d\ndata:\n1 2 2.5\n2 3\n"
TRIPLES = b'# c\n<a> <p> <b> .\n<b> <p> "x > <y>"@en .\n<b> <p> _:c .\n<b> <p> <a> <g> .\n'
GML = b"""Creator "x"
graph [ directed 0
 node [ id 1 label "a" ] node [ id 2 label "a" ] node [ id 5 ] node [ id 9 ]
 edge [ source 1 target 2 weight 2.5 km 3 ] edge [ source 2 target 5 weight 7 km 4 ]
 edge [ source 2 target 1 weight 9 km 9 ]
]"""
DOT = b"""/* c */ strict digraph "x y" { node [shape=box]; a -> {b c} [weight=2]; subgraph cluster_0
{ e -> f [weight=3]; "g h" }
"g h" -> "a" [weight=1]; "a":p1 -> d:p:n [weight=4]; i // c
b -> {subgraph {j -> k [weight=6]}} [weight=5] }"""
JSON = {
    "directed": False,
    "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}],
    "links": [
        {"source": "a", "target": "b", "weight": 2.5, "km": 3},
        {"source": "b", "target": "c", "weight": 7, "km": 4},
    ],
}


FILES = [
    ("g.graphml", GRAPHML, 4, 2, 1),
    ("g.gexf", GEXF, 4, 2, 1),
    ("g.net", PAJEK, 4, 2, 1),
    ("g.dl", DL, 4, 2, 2),
    ("g.gml", GML, 4, 2, 0),
    ("g.json", json.dumps(JSON).encode(), 4, 2, 0),
    ("g.nt", TRIPLES, 3, 2, 3),
]


@pytest.mark.parametrize("suffix", [True, False])
@pytest.mark.parametrize(("name", "data", "vertices", "edges", "arcs"), FILES)
def test_each_format_has_its_vertices_and_edges(
    tmp_path: Path, name: str, data: bytes, vertices: int, edges: int, arcs: int, suffix: bool
) -> None:
    path = tmp_path / (name if suffix else "g.txt")
    path.write_bytes(data)
    report = emdiam.convert(path, tmp_path / "g.zarr")
    record = report.record
    assert (record.n_vertices, record.n_edges, record.loops_dropped) == (vertices, edges, 0)
    assert report.pairs_read == (3 if name in ("g.gml", "g.nt") else 2) and len(report.first_pairs) == report.pairs_read


@pytest.mark.parametrize(("name", "data"), [(name, data) for name, data, *_ in FILES if name not in ("g.nt", "g.dl")])
def test_weights_of_each_format(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    emdiam.convert(path, tmp_path / "g.zarr", weights=True)
    with emdiam.open(tmp_path / "g.zarr") as store:
        ends = weight_ends(store.record)
    largest = {"g.net": 1.0, "g.gexf": 1.0}.get(name, 7.0)
    assert set(ends) == {2.5, largest}
    if name != "g.net":
        emdiam.convert(path, tmp_path / "h.zarr", weights="km")
        with emdiam.open(tmp_path / "h.zarr") as store:
            assert (store.record.weights.least, store.record.weights.largest) == (3, 4)
        with pytest.raises(InputError):
            emdiam.convert(path, tmp_path / "i.zarr", weights=WeightChoice("nosuch"))


@pytest.mark.parametrize(
    ("name", "data", "arcs"),
    [("g.graphml", GRAPHML, 3), ("g.gexf", GEXF, 3), ("g.net", PAJEK, 3), ("g.dl", DL, 2), ("g.nt", TRIPLES, 3)],
)
def test_directions_of_each_format(tmp_path: Path, name: str, data: bytes, arcs: int) -> None:
    """An edge without a direction goes both ways beside arcs."""
    (tmp_path / name).write_bytes(data)
    emdiam.convert(tmp_path / name, tmp_path / "g.zarr", directed=True)
    with emdiam.open(tmp_path / "g.zarr", directed=True) as store:
        assert store.record.n_edges == arcs


def test_dot_has_the_edges_of_its_subgraphs(tmp_path: Path) -> None:
    (tmp_path / "g.gv").write_bytes(DOT)
    report = emdiam.convert(tmp_path / "g.gv", tmp_path / "g.zarr", weights=True)
    # a-b, a-c, e-f, g h-a, a-d, b-j, b-k, j-k; and i alone
    assert (report.record.n_vertices, report.record.n_edges) == (10, 8)


def test_graph6_and_sparse6(tmp_path: Path) -> None:
    graph = nx.krackhardt_kite_graph()
    for number, data in enumerate((nx.to_graph6_bytes(graph), nx.to_sparse6_bytes(graph))):
        for text in (data, data.partition(b"<<")[2]):
            path = tmp_path / f"{number}{len(text)}.g6"
            path.write_bytes(text)
            assert emdiam.exact(path).diameter == 4
    (tmp_path / "two.g6").write_bytes(nx.to_graph6_bytes(graph) * 2)
    with pytest.raises(InputError, match="2 graphs"):
        emdiam.exact(tmp_path / "two.g6")


def digraph6(graph: nx.DiGraph) -> bytes:
    """The format, by its definition (McKay): & and n, then the matrix by rows, six bits a byte."""
    n = len(graph)
    size = [n] if n < 63 else [63, n >> 12, n >> 6 & 63, n & 63]
    bits = "".join("01"[graph.has_edge(a, b)] for a in range(n) for b in range(n))
    bits += "0" * (-len(bits) % 6)
    return b"&" + bytes(63 + code for code in [*size, *(int(bits[i : i + 6], 2) for i in range(0, len(bits), 6))])


@pytest.mark.parametrize("n", [1, 2, 5, 62, 63, 70])
def test_digraph6(tmp_path: Path, n: int) -> None:
    graph = nx.gnp_random_graph(n, 0.1, seed=n, directed=True)
    for mark in (b"", b">>digraph6<<"):
        (tmp_path / "g.d6").write_bytes(mark + digraph6(graph) + b"\n")
        assert sorted(read_pairs(tmp_path / "g.d6")) == sorted(graph.edges)
        info = open_source([tmp_path / "g.d6"]).info()
        assert info.n_vertices == n and info.directed
    (tmp_path / "g.d6").write_bytes(digraph6(graph)[:-1])
    assert "bytes of a matrix" in fault_of(tmp_path / "g.d6").what


SHAPES = [
    [[0, 1], [1, 2]],
    [[0, 1, 5], [1, 2, 6]],
    [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}],
    {
        "nodes": [{"name": "x"}, {"name": "y"}, {"name": "z"}],
        "links": [{"source": 0, "target": 1}, {"source": 1, "target": 2}],
    },
    {
        "elements": {
            "nodes": [{"data": {"id": "a"}}],
            "edges": [{"data": {"source": "a", "target": "b"}}, {"data": {"source": "b", "target": "c"}}],
        }
    },
    {
        "graph": {
            "nodes": {"a": {}, "b": {}, "c": {}},
            "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}],
        }
    },
    {"nodes": [{"key": "a"}], "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}]},
    {"nodes": [{"id": 1}], "edges": [{"from": 1, "to": 2}, {"from": 2, "to": 3}]},
    nx.node_link_data(nx.path_graph(3), edges="edges"),
    nx.adjacency_data(nx.path_graph(3)),
    nx.cytoscape_data(nx.path_graph(3)),
]


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_shapes_of_json(tmp_path: Path, shape: int) -> None:
    (tmp_path / "g.json").write_text(json.dumps(SHAPES[shape]))
    report = emdiam.convert(tmp_path / "g.json", tmp_path / "g.zarr")
    assert (report.record.n_vertices, report.record.n_edges) == (3, 2)


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        [1, 2],
        [["a", ["b"]]],
        [[1]],
        {"nodes": [{"id": "a"}, {}], "links": []},
        {"links": [{"source": None, "target": 1}]},
        {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": 0, "target": 1}]},
        {"nodes": [{}], "links": [{"source": 0, "target": 1}]},
        {"links": 5},
        {"nodes": [{"id": 1.5}], "links": []},
    ],
)
def test_json_that_is_no_graph(tmp_path: Path, value: Any) -> None:
    (tmp_path / "g.json").write_text(json.dumps(value))
    with pytest.raises(InputError) as caught:
        emdiam.convert(tmp_path / "g.json", tmp_path / "g.zarr")
    assert caught.value.remedy if hasattr(caught.value, "remedy") else str(caught.value)


def test_a_document_a_line(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text('{"source": 1, "target": 2}\n{"source": 2, "target": 3}\n')
    assert emdiam.exact(tmp_path / "g.json").diameter == 2


BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    b'<graphml><graph edgedefault="undirected"><node id="&b;"/></graph></graphml>'
)


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("g.graphml", BOMB, "entity"),
        ("g.graphml", b'<graphml><graph><node id="' + b"a" * (18 << 20), "no tag ends"),
        ("g.graphml", GRAPHML[:-30], "no graphml document"),
        ("g.graphml", GRAPHML.replace(b"<edge ", b"<hyperedge "), "hyperedges"),
        ("g.graphml", b"<graphml><graph><edge source='a'/></graph></graphml>", "name of an end"),
        ("g.graphml", b"<graphml><graph><node id='a'/></graph><graph/></graphml>", "several graphs"),
        ("g.net", b"*Vertices 2\n*Edges\n1 3\n", "outside 1..2"),
        ("g.net", b"*Vertices 2\n*Edges\n1\n", "numbers of two"),
        ("g.net", b"*Vertices 2\n*Edges\n1 2\n*Vertices 2\n*Edges\n1 2\n", "a second list of vertices"),
        ("g.net", b"*Vertices 2{3\n*Edges\n1 2\n", "no edge and no header"),
        ("g.net", b"*Vertices 20\n1,1\n2,2\n6,5\n", "number from 1 to 20"),
        ("g.net", b"*Vertices 2\n1 \"a\"\n3 \"b\"\n*Edges\n1 2\n", "number from 1 to 2"),
        ("g.net", b"*Vertices 2\n*Nonsense\n1 2\n", "section"),
        ("g.net", b"*Vertices 2\n*Matrix\n0 1 0\n", "where 2 are"),
        ("g.dl", b"dl n=2 format=edgelist1\ndata:\n1 3\n", "outside 1..2"),
        ("g.dl", b"dl n=2\ndata:\n0 1 1\n", "3 values"),
        ("g.dl", b"dl nr=2 nc=3\ndata:\n1 2\n", "two modes"),
        ("g.dl", b"dl n=2 nm=2\ndata:\n1 2\n", "2 relations"),
        ("g.nt", b"<a> <p> <b>\n<a> <p> <b> .\n", "no triple"),
        ("g.gml", b"graph [ node [ id 0 ]", "cannot be read as gml"),
        ("g.dot", b"graph { a -- ", "cannot be read as dot"),
        ("g.json", b'{"nodes": [', "cannot be read as json"),
        ("g.g6", b"\x01\x02", "cannot be read as graph6"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, data: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=what) as caught:
        emdiam.convert(tmp_path / name, tmp_path / "g.zarr")
    assert str(tmp_path / name) in str(caught.value) and not (tmp_path / "g.zarr").exists()


@pytest.mark.parametrize("form", ["fullmatrix", "fullmatrix diagonal absent", "nodelist1", "edgelist1 labels embedded"])
def test_forms_of_dl(tmp_path: Path, form: str) -> None:
    data = {
        "fullmatrix": "0 1 0 1 0 1 0 1 0",
        "fullmatrix diagonal absent": "1 0\n1 1\n0 1",
        "nodelist1": "1 2\n2 3\n",
        "edgelist1 labels embedded": "a b\nb c\n",
    }[form]
    (tmp_path / "g.dl").write_text(f"dl n=3 format={form}\ndata:\n{data}\n")
    assert emdiam.exact(tmp_path / "g.dl").diameter == 2


@pytest.mark.parametrize("absent", ["", " diagonal absent"])
def test_a_matrix_of_dl_comes_in_many_batches(tmp_path: Path, absent: str) -> None:
    n = 30
    cells = [(a, b) for a in range(1, n + 1) for b in range(1, n + 1) if a != b or not absent]
    ones = [cell for cell in cells if sum(cell) % 3 == 0]
    values = " ".join("1" if cell in set(ones) else "0" for cell in cells)
    (tmp_path / "g.dl").write_text(f"dl n={n} format=fullmatrix{absent}\ndata:\n{values}\n")
    pairs = read_pairs(tmp_path / "g.dl", batch_bytes=500)
    assert sorted(pairs) == sorted(read_pairs(tmp_path / "g.dl"))
    assert [pair for pair in pairs if pair in set(ones)] == ones


@pytest.mark.parametrize("form", ["fullmatrix", "edgelist1", "nodelist1"])
def test_labels_of_dl_are_names(tmp_path: Path, form: str) -> None:
    forms = {"fullmatrix": "0 1 0 0 1 0 2 0 0 2 0 0 0 0 0 0", "edgelist1": "1 2\n2 3 2\n", "nodelist1": "1 2\n2 3\n"}
    text = f'dl n=4 format={form}\nlabels:\nAnn,"Bob B"\nn=5 Eve\ndata:\n{forms[form]}\n'
    (tmp_path / "g.dl").write_text(text)
    report = emdiam.convert(tmp_path / "g.dl", tmp_path / "g.zarr")
    assert (report.record.n_vertices, report.record.n_edges) == (4, 2)
    found = emdiam.eccentricities(tmp_path / "g.zarr", keep=True)
    assert found.by_vertex() == {"Ann": 2, "Bob B": 1, "n=5": 2, "Eve": 0}
    assert len(read_pairs(tmp_path / "g.dl", ids="int")) == len(read_pairs(tmp_path / "g.dl")) - 4
    for labels in ("Ann Bob Eve", "Ann Bob Ann Eve"):
        (tmp_path / "g.dl").write_text(text.replace('Ann,"Bob B"\nn=5 Eve', labels))
        assert "labels, 3 of them different, where n=4" in fault_of(tmp_path / "g.dl").what


@pytest.mark.parametrize(
    "section", ["*Arcslist\n1 2\n2 3\n", "*Edgeslist\n1 2\n2 3 1\n", "*Matrix\n0 1 0\n1 0 2\n0 2 0\n"]
)
def test_sections_of_pajek(tmp_path: Path, section: str) -> None:
    (tmp_path / "g.net").write_text("% c\n*Vertices 3\n" + section)
    assert emdiam.exact(tmp_path / "g.net").diameter == 2


def test_what_is_read_whole_is_refused_with_numbers(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(json.dumps([[i, i + 1] for i in range(400_000)]))
    with pytest.raises(BudgetError, match="read whole.* give memory|read whole.*--memory|read whole.*memory="):
        emdiam.convert(tmp_path / "g.json", tmp_path / "g.zarr", memory="300MiB")


def test_ids_of_files_with_names_as_integers(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_bytes(GRAPHML.replace(b'"a"', b'"1"').replace(b'"b"', b'"2"'))
    with pytest.raises(InputError, match="no integer"):
        emdiam.convert(tmp_path / "g.graphml", tmp_path / "g.zarr", ids="int")
    (tmp_path / "g.graphml").write_text("\n".join(nx.generate_graphml(nx.path_graph(30))))
    report = emdiam.convert(tmp_path / "g.graphml", tmp_path / "g.zarr", ids="int")
    assert (report.min_id, report.max_id) == (0, 29)


def test_the_memory_that_a_refusal_names_is_enough(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(json.dumps([[i, i + 1] for i in range(20_000)]))
    with pytest.raises(BudgetError) as caught:
        emdiam.convert(tmp_path / "g.json", tmp_path / "g.zarr", memory="1MiB")
    named = re.search(r"memory[ =]\"?(\d+MiB)", str(caught.value))
    assert named is not None
    report = emdiam.convert(tmp_path / "g.json", tmp_path / "g.zarr", memory=f"{int(named[1][:-3]) + 64}MiB")
    assert report.record.n_edges == 20_000


def test_weights_of_gml_without_a_point(tmp_path: Path):
    """igraph writes 1e-05; networkx would read 1, and an attribute e."""
    path = tmp_path / "g.gml"
    path.write_text('graph [ node [ id 0 ] node [ id 1 ] node [ id 2 label "2e5 b" ] edge [ source 0 target 1 weight'
                    " 1e-05 ] edge [ source 1 target 2 weight 2E+3]]")
    assert emdiam.diameter(path, weighted=True).diameter == pytest.approx(2000.00001, rel=1e-12)


def _converted(inputs: Any, store: Path, **options: Any) -> tuple[int, int]:
    """The numbers of vertices and edges of a conversion."""
    emdiam.convert(inputs, store, force=True, **options)
    with emdiam.open(store) as made:
        return made.n_vertices, made.n_edges


def _joined(folder: Path, **files: str) -> tuple[int, int]:
    """The numbers of the conversion of these files together; their names have _ for points."""
    paths = [folder / name.replace("_", ".") for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text)
    return _converted(paths, folder / "joined.zarr")


def test_several_graphs_that_are_read_whole_agree_by_ids(tmp_path: Path):
    """Each has places for its own vertices, which are no ids."""
    first, second = ({"links": [{"source": a, "target": b}, {"source": b, "target": c}]} for a, b, c in ("abc", "cde"))
    assert _joined(tmp_path, a_json=json.dumps({"nodes": [{"id": v} for v in "abc"], **first}),
                     b_json=json.dumps({"nodes": [{"id": v} for v in "cdef"], **second})) == (6, 4)
    assert emdiam.diameter(tmp_path / "joined.zarr").diameter_max_component == 4
    assert _joined(tmp_path, a_gml="graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]",
                     b_gml="graph [ node [ id 7 ] node [ id 1 ] edge [ source 7 target 1 ] ]", c_txt="7 9\n") == (4, 3)
    assert _joined(tmp_path, a_dot="graph { a -- b }", b_dot="graph { c -- b }") == (3, 2)


@pytest.mark.parametrize(("listed", "n"), [("10\n20\n30\n", 3), ("10\tAnn\n20\tBob\n", 2), ("0\tAnn\n1\tBob\n", None)])
def test_a_list_of_vertices_is_compared_with_ids(tmp_path: Path, listed: str, n: int | None):
    (tmp_path / "g.gml").write_text("graph [ node [ id 10 ] node [ id 20 ] edge [ source 10 target 20 ] ]")
    (tmp_path / "v.txt").write_text(listed)
    if n is None:
        with pytest.raises(InputError, match="does not list"):
            emdiam.convert(tmp_path / "g.gml", tmp_path / "g.zarr", vertices=tmp_path / "v.txt")
    else:
        assert _converted(tmp_path / "g.gml", tmp_path / "g.zarr", vertices=tmp_path / "v.txt") == (n, 1)


GEXF_VALUES = ('<gexf><graph defaultedgetype="undirected"><attributes class="edge"><attribute id="0" title="{}">{}'
               '</attribute></attributes><nodes><node id="a"/><node id="b"/><node id="c"/></nodes><edges>'
               '<edge source="a" target="b"{}><attvalues><attvalue for="0" value="3"/></attvalues></edge>'
               '<edge source="b" target="c"{}>{}</edge></edges></graph></gexf>')


@pytest.mark.parametrize(("values", "longest"), [
    (("Weight", "", "", "", '<attvalues><attvalue for="0" value="4"/></attvalues>'), 7),
    (("weight", "<default>5</default>", "", "", ""), 8),
    (("weight", "", ' weight="2"', ' weight="7"', '<attvalues><attvalue for="0" value="4"/></attvalues>'), 9),
    (("year", "", "", "", ""), 2), (("weight", "", "", "", ""), None),
    (("weight", "", "", "", 2 * '<attvalues><attvalue for="0" value="4"/></attvalues>'), None)])
def test_weights_of_gexf_as_values(tmp_path: Path, values: tuple[str, ...], longest: int | None):
    path = tmp_path / "g.gexf"
    path.write_text(GEXF_VALUES.format(*values))
    if longest is None:
        with pytest.raises(InputError, match="weight"):
            emdiam.diameter(path, weighted=True)
    else:
        assert emdiam.diameter(path, weighted=True).diameter == longest


@pytest.mark.parametrize(("name", "text", "others"), [
    ("g.json", '[{"source": "a", "target": "b", "km": 3, "road": "x"}]', "km"),
    ("g.dot", 'graph { a -- b [km="3.5", style=bold] }', "km"),
    ("g.gml", "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 km 3 ] ]", "km"),
    ("g.graphml", '<graphml><key id="d" for="edge" attr.name="km"/><graph edgedefault="undirected"><edge source="a"'
     ' target="b"/></graph></graphml>', "km"),
    ("g.graphml", '<graphml><key id="v" for="edge" attr.name="weight"/><key id="w" for="edge" attr.name="weight"/>'
     '<graph edgedefault="undirected"><edge source="a" target="b"/></graph></graphml>', "w")])
def test_attributes_that_may_be_weights_are_named(tmp_path: Path, name: str, text: str, others: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=f'name one, as in weights="{others}"'):
        emdiam.convert(tmp_path / name, tmp_path / "g.zarr", weights=True)


def test_weights_of_gexf_1_0(tmp_path: Path):
    path = tmp_path / "g.gexf"
    path.write_text(GEXF_VALUES.format("year", "", ' cardinal="5"', ' cardinal="2"', ""))
    assert emdiam.diameter(path, weighted=True).diameter == 7


def test_a_number_before_letters_is_no_weight_of_dot(tmp_path: Path):
    """Which graphviz reads as two words; in quotes it is one."""
    path = tmp_path / "g.dot"
    path.write_text("graph { a -- b [weight=1e2]; b -- c [weight=5]; }")
    assert emdiam.diameter(path).diameter == 2
    with pytest.raises(InputError, match="weight is a number before letters"):
        emdiam.diameter(path, weighted=True)
    path.write_text('graph { a -- b [weight="1e2"]; b -- c [weight=5]; }')
    assert emdiam.diameter(path, weighted=True).diameter == 105


def test_defaults_of_dot_are_weights_of_the_edges_behind_them(tmp_path: Path):
    path = tmp_path / "g.dot"
    path.write_text("graph { edge [weight=5]; a -- b; subgraph { edge [weight=2]; b -- c } c -- d; EDGE [weight=7];"
                    " d -- e }")
    assert emdiam.diameter(path, weighted=True).diameter == 19


@pytest.mark.parametrize(("name", "text"), [
    ("g.gml", "graph [ node [ id 9 ] node [ id 7 ] edge [ source 9 target 7 ] ]"), ("g.json", "[[9, 7]]")])
def test_first_pairs_are_ids(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text)
    assert emdiam.convert(tmp_path / name, tmp_path / "g.zarr").first_pairs == ((9, 7),)


@pytest.mark.parametrize(("name", "text"), [
    ("g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 2 1,5\n2 3 2,5\n"),
    ("g.gr", "p sp 3 2\na 1 2 1,5\na 2 3 2,5\n"), ("g.dl", "dl n=3 format=edgelist1\ndata:\n1 2 1,5\n2 3 2,5\n")])
def test_decimal_commas_are_not_cut(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="comma"):
        emdiam.diameter(tmp_path / name, weighted=True)
