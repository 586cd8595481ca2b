"""Lists of vertices beside the edges: `--vertices`, and Graphalytics' NAME.v."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.formats import open_source
from emdiam.formats.vertex_lists import find_vertices
from tests.helpers.bvgraph import write_bvgraph


def write(folder: Path, name: str, text: str | bytes) -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def listed(path: Path, strings: bool = False) -> list[object]:
    """What a list declares: ids, or pairs of ids and names."""
    found = find_vertices(path, "")
    if found.named:
        return [pair for ids, names in found.names(256) for pair in zip(ids.tolist(), names.to_pylist(), strict=True)]
    batches = list(found.declared(256, strings, False))
    assert all(batch.declares for batch in batches)
    return [one for batch in batches for one in batch.src.tolist()]


@pytest.mark.parametrize(("text", "strings", "right"), [
    ("0\tgov.ac\n1\torg.b\n", False, [(0, "gov.ac"), (1, "org.b")]),
    ("# hosts\r\n0\tgov.ac\t7\r\n\r\n12\tNew  York \t9", False, [(0, "gov.ac"), (12, "New  York")]),
    ("id\tname\n5\tx y\n", False, [(5, "x y")]), ("3 p\n4 q\n", False, [(3, "p"), (4, "q")]),
    ("3\n4\n", False, [3, 4]), ("3\n4", True, ["3", "4"]), ("New York\nOslo\n", True, ["New York", "Oslo"]),
    ("p\tx\nq\ty\n", True, ["p", "q"]), ("id\n3\n4\n", False, [3, 4]),
    ("personId:ID(Person),name,:LABEL\n7,\"a, b\",P\n8,c,P\n", False, [7, 8]),
    (":ID|name\np|a\nq|b\n", True, ["p", "q"]), ("Label;Id\nx;7\ny;8\n", False, [7, 8]),
    ("~id,~label\nv1,host\n", True, ["v1"]), ("id,name\n7,Ann\n", False, [7]), (":ID\n7\n8\n", False, [7, 8]),
])
def test_how_lists_are_read(text: str, strings: bool, right: list[object], tmp_path: Path) -> None:
    assert listed(write(tmp_path, "v.txt", text), strings) == right
    assert listed(write(tmp_path, "v.txt.gz", gzip.compress(text.encode())), strings) == right


@pytest.mark.parametrize(("text", "what"), [
    ("0\t17\n1\t18\n", "names or values"), ("0,p\n1,q\n", "first line"), ("0 New York\n1 Oslo\n", "begins and ends"),
    ("# nothing\n", "no vertex"), ("0\tp\nq\tr\n", "integer"), ("0\tp\n" * 1200 + "x\tr\n", "vertex number 1201"),
    ("0\tp\n" * 1200 + "99999999999999999999\tr\n", "vertex number 1201"),
    ("0\tp\n" * 1200 + "9999999999999999999\tr\n", "vertex number 1201"),
    ("0\tp\n1\n", "and others more"), ("0\tp\n" * 1200 + "7\n", "fewer than two"),
    ("3\n" * 1200 + "3 4\n", "not an integer"), ("3\n4x\n", "not an integer"), (":ID\n3\nx\n", "not an integer"),
    (":ID,name\n3,p\nx,q\n", "not an integer"), (":ID,name\n3,p\n4,q,r\n", "field"), ("3\n-4\n", "negative"),
])
def test_lists_that_make_no_sense(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=what) as caught:
        listed(write(tmp_path, "v.txt", text))
    assert str(caught.value.path).endswith("v.txt") and caught.value.remedy


def test_ids_alone_count_without_an_edge(tmp_path: Path) -> None:
    edges, ids = write(tmp_path, "e.txt", "0 1\n1 2\n2 2\n"), write(tmp_path, "v.txt", "0\n1\n2\n40\n40\n")
    report = emdiam.convert(edges, tmp_path / "g.zarr", vertices=ids, memory="2GiB")
    assert (report.record.n_vertices, report.record.n_edges, report.pairs_read, report.record.loops_dropped) == (
        4, 2, 3, 1)
    assert any("v.txt" in note for note in report.notes)
    names = write(tmp_path, "w.csv", "src,dst,km\np,q,7\n")
    report = emdiam.convert(names, tmp_path / "w.zarr", vertices=write(tmp_path, "w.txt", "p\nr s\n"), weights="km",
                            memory="2GiB")
    assert report.record.n_vertices == 3 and report.record.weights is not None


@pytest.mark.parametrize(("edges", "vertices", "what"), [
    ("source,target\nann,bob\nbob,cem\n", "id,name\n1,ann\n2,bob\n3,cem\n4,dee\n", "no listed id is among"),
    ("source,target\n10,20\n20,30\n", "id,node_id,label\n0,10,a\n1,20,b\n2,30,c\n", "several columns"),
    ("source,target\nann,bob\nbob,cem\n", "Ann\nBob\nCem\n", "no listed id is among"),
    ("source,target\nann,bob\nbob,cem\n", "person\nann\nbob\ncem\ndee\n", "may be a header"),
    ("source,target\nann,bob\nbob,cem\n", "ann;\nbob;\n", "a mark ends each line"),
    ("source,target\nann,bob\nbob,cem\n", "ann bob cem dee\n", "one line"),
    ("source,target\nann,bob\nbob,cem\n", "ann\nbob\nNA\n", "missing"),
])
def test_lists_of_other_vertices(edges: str, vertices: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=what) as caught:
        emdiam.convert(write(tmp_path, "e.csv", edges), tmp_path / "g.zarr",
                       vertices=write(tmp_path, "v.csv", vertices), memory="2GiB")
    assert str(caught.value.path).endswith("v.csv") and caught.value.remedy


@pytest.mark.parametrize(("vertices", "ids"), [
    ("user_id\nann\nbob\ncem\ndee\n", "auto"), ("id,group_id\nann,1\nbob,1\ncem,2\ndee,2\n", "auto"),
    ("ann\nbob\ncem\nNA\n", "string"),
])
def test_lists_like_them_that_are_read(vertices: str, ids: str, tmp_path: Path) -> None:
    edges = write(tmp_path, "e.csv", "source,target\nann,bob\nbob,cem\n")
    report = emdiam.convert(edges, tmp_path / "g.zarr", vertices=write(tmp_path, "v.csv", vertices), ids=ids,
                            memory="2GiB")
    assert report.record.n_vertices == 4


def test_lists_of_isolated_vertices_alone_are_noted(tmp_path: Path) -> None:
    report = emdiam.convert(write(tmp_path, "e.txt", "1 2\n2 3\n"), tmp_path / "g.zarr",
                            vertices=write(tmp_path, "v.txt", "7\n8\n"), memory="2GiB")
    assert report.record.n_vertices == 5
    assert any("no listed id is among the first 3 of the edges" in note for note in report.notes)


def test_names_are_the_ids_of_the_store(tmp_path: Path) -> None:
    edges = write(tmp_path, "e.txt", "0\t1\n1\t2\n2\t3\n")
    hosts = write(tmp_path, "v.txt.gz", gzip.compress(b"0\torg.zoe\n1\tcom.b\n2\tcom.\xc3\xa9\n3\tcom.b.a\n9\tnet.x\n"))
    report = emdiam.convert(edges, tmp_path / "g.zarr", vertices=[hosts], memory="2GiB")
    assert (report.record.n_vertices, report.record.n_edges, report.record.id_kind) == (5, 3, "string")
    found = emdiam.exact(tmp_path / "g.zarr", path=tmp_path / "path.txt")
    assert {found.witness.source, found.witness.target} == {"org.zoe", "com.b.a"}
    assert sorted(found.witness.path) == ["com.b", "com.b.a", "com.é", "org.zoe"]
    emdiam.convert(edges, tmp_path / "d.zarr", vertices=hosts, directed=True, memory="2GiB")
    with emdiam.open(tmp_path / "d.zarr") as store:
        assert store.directed and store.n_arcs == 3
    write(tmp_path, "e.txt", "0\t1\t7\n1\t2\t2.5\n2\t3\t4\n")
    emdiam.convert(edges, tmp_path / "w.zarr", vertices=hosts, weights=True, memory="2GiB")
    assert emdiam.shortest_paths(tmp_path / "w.zarr", "org.zoe", target="com.b.a").distance == 13.5


def test_names_of_a_bvgraph(tmp_path: Path) -> None:
    """As Common Crawl has both."""
    graph = write_bvgraph(tmp_path / "g.graph", [[1], [2], [], []])
    write(tmp_path, "v.txt", "0\tp\n1\tq\n2\tr\n3\ts\n")
    emdiam.convert(graph, tmp_path / "g.zarr", vertices=tmp_path / "v.txt", memory="2GiB")
    found = emdiam.exact(tmp_path / "g.zarr")
    assert {found.witness.source, found.witness.target} == {"p", "r"} and found.n_vertices == 4
    write(tmp_path, "v.txt", "0\tp\n1\tq\n2\tr\n")
    with pytest.raises(InputError, match=r"lists 3 vertices, and .*g\.graph has 4"):
        emdiam.convert(graph, tmp_path / "h.zarr", vertices=tmp_path / "v.txt", memory="2GiB")
    assert not (tmp_path / "h.zarr").exists()


@pytest.mark.parametrize(("vertices", "what"), [
    ("0\tp\n1\tq\n", "does not list: '2'"), ("0\tp\n1\tp\n2\tq\n", "two ids have one name: 'p'"),
    ("0\tp\n1\tq\n2\tr\n2\ts\n", "an id has two names"), ("0\tp\n1\tq\x00\n2\tr\n", "byte of 0"),
])
def test_names_that_do_not_go_with_the_edges(vertices: str, what: str, tmp_path: Path) -> None:
    edges, names = write(tmp_path, "e.txt", "0 1\n1 2\n"), write(tmp_path, "v.txt", vertices)
    with pytest.raises(InputError, match=what):
        emdiam.convert(edges, tmp_path / "g.zarr", vertices=names, memory="2GiB")
    assert {path.name for path in tmp_path.iterdir()} == {"e.txt", "v.txt"}


def test_what_a_list_does_not_go_with(tmp_path: Path) -> None:
    edges, names = write(tmp_path, "e.txt", "p q\nq r\n"), write(tmp_path, "v.txt", "0\tp\n1\tq\n")
    with pytest.raises(InputError, match="names for integers"):
        open_source([edges], vertices=names)
    with pytest.raises(InputError, match="the side of each"):
        open_source([edges], vertices=names, bipartite=True)
    with pytest.raises(InputError, match="ids alone, unlike"):
        open_source([edges], vertices=[names, write(tmp_path, "w.txt", "3\n")])
    with pytest.raises(InputError, match="several spaces"):
        open_source([edges], vertices=[write(tmp_path, f"{i}.csv", f":ID({i}),x\n1,2\n") for i in "ab"])
    with pytest.raises(InputError, match="no such file"):
        open_source([edges], vertices=tmp_path / "none.txt")
    with pytest.raises(InputError, match="how a file is read"):
        emdiam.convert([(0, 1)], tmp_path / "g.zarr", vertices=names)


def test_graphalytics_has_the_list_beside_the_edges(tmp_path: Path) -> None:
    edges = write(tmp_path, "g.e", "1 2 0.5\n2 3 0.25\n")
    write(tmp_path, "g.v", "1\n2\n3\n7\n")
    report = emdiam.convert(edges, tmp_path / "g.zarr", weights=True, memory="2GiB")
    assert report.record.n_vertices == 4 and any("g.v" in note for note in report.notes)
    assert open_source([edges]).info().directed
    write(tmp_path, "g.properties", "# of Graphalytics\ngraph.g.vertex-file = g.v\ngraph.g.directed = false\n")
    assert not open_source([edges]).info().directed and emdiam.exact(edges).n_vertices == 4
    source = open_source([edges])
    write(tmp_path, "g.v", "1\n2\n3\n7\n8\n")
    with pytest.raises(InputError, match="changed while it was read"):
        source.check_unchanged()
    write(tmp_path, "g.v", "p q\n")  # no list of vertices
    assert emdiam.exact(edges).n_vertices == 3


def test_spaces_of_ids_of_neo4j(tmp_path: Path) -> None:
    """Ids of several spaces may be equal and mean other vertices."""
    edges = write(tmp_path, "acted.csv", ":START_ID(Person),role,:END_ID(Movie),:TYPE\n1,a,2,ACTED\n2,b,1,ACTED\n")
    with pytest.raises(InputError, match="several spaces") as caught:
        open_source([edges])
    assert "--bipartite" in str(caught.value.remedy)
    assert emdiam.convert(edges, tmp_path / "g.zarr", bipartite=True, memory="2GiB").record.n_vertices == 4
    edges = write(tmp_path, "knows.csv", ":START_ID(Person),since:int,:END_ID(Person),:TYPE\n1,2009,2,KNOWS\n")
    people = write(tmp_path, "people.csv", "personId:ID(Person),name,:LABEL\n1,\"A, b\",P\n2,c,P\n8,d,P\n")
    report = emdiam.convert(edges, tmp_path / "h.zarr", vertices=people, memory="2GiB")
    assert (report.record.n_vertices, report.record.n_edges) == (3, 1)


BENT = 300


def bent(number: int, folder: Path) -> None:
    """A list with some bytes changed is read, or refused with its name."""
    rng = random.Random(number)
    text = rng.choice((b"0\tgov.ac\n1\torg.b\n2\tcom.c\n" * 3, b":ID(P),name\n1,\"x, y\"\n2,z\n", b"1\n2\n30\n4\n"))
    data = bytearray(text)
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] = rng.choice(b"\t\n,\"\x00\xff09-x \r|;#")
    path = write(folder, "v.txt", bytes(data[: rng.randint(1, len(data))]))
    try:
        listed(path, rng.random() < 0.3)
    except InputError as error:
        assert str(error.path) == str(path) and error.what, data


def test_bent_lists(tmp_path: Path) -> None:
    for number in range(40):
        bent(number, tmp_path)


@pytest.mark.slow
def test_many_bent_lists(tmp_path: Path) -> None:
    for number in range(BENT):
        bent(number, tmp_path)


@pytest.mark.parametrize(("text", "what"), [
    ('"a"\n"b"\n"c"\n', "in quotes"), ("name\na\nb\nc\n", "may be a header"), ("a 1\nb 2\nc 3\n", "may be values")])
def test_what_stands_beside_ids_of_names(tmp_path: Path, text: str, what: str) -> None:
    """It would be a part of them."""
    (tmp_path / "g.txt").write_text("a b\nb c\n")
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(InputError, match=what):
        emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", vertices=tmp_path / "v.txt")
