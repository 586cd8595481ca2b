"""Exports of other programs that have been read as another graph or refused without need, and their right neighbours.
See kinds.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.formats.kinds import Kind, checked, path_of
from tests.helpers.handed_in import INTERFACES, Facts, typed

_FOUR, _THREE, _EDGE = Facts(4, 3, 3), Facts(3, 2, 2), Facts(2, 1, 1)


def _refused(suffix: str, *rows: str) -> Kind:
    return Kind(suffix, path_of(*rows), None)


def _read(suffix: str, *rows: str, right: Facts = _THREE, **more: bool) -> Kind:
    return Kind(suffix, path_of(*rows), right, refusable=more.get("refusable", False))


def _json(value: object, right: Facts | None) -> Kind:
    return Kind(".json", json.dumps(value), right)


_NUMBERED = {
    "roads behind their numbers": _read(".cedge", "0 0 1 0.002", "1 0 6 0.006", "2 1 2 0.01", "3 2 3 0.01",
                                        right=Facts(5, 4, 4), refusable=True),
    "three roads behind their numbers": _read(".txt", "0 0 1 0.5", "1 0 6 0.5", "2 1 2 0.5", right=_FOUR,
                                              refusable=True),
    "numbers, edges and dates": _read(".csv", "1,10,20,2020-01-01", "2,20,30,2020-01-02", "3,30,40,2020-01-03",
                                      right=_FOUR, refusable=True),
    "numbers and edges, loops otherwise": _read(".txt", "1 1 2", "2 2 3", "3 3 4", right=_FOUR, refusable=True),
    "a path with weights": _read(".txt", "1 2 5", "2 3 6", "3 4 7", right=_FOUR),
    "a path with weights and times": _read(".txt", "1 2 1 100", "2 3 1 200", "3 4 1 300", right=_FOUR),
    "loops with weights": _read(".txt", "1 1 1", "2 1 1", "3 1 1", right=Facts(3, 2, 2)),
}

_ROUNDED = {
    "integers as Excel shows them": _refused(".csv", "source,target", "1.23E+11,1.24E+11", "1.24E+11,1.25E+11"),
    "the same without decimals": _refused(".csv", "source,target", "1E+11,2E+11", "2E+11,3E+11"),
    "long integers as Excel shows them": _refused(".csv", "source,target", "1.04680480012346E+18,5", "5,6"),
    "long integers as floats of pandas": _refused(".csv", "source,target", "1.0468048001234568e+18,5.0", "5.0,6.0"),
    "long integers as floats of numpy": _refused(".txt", "1.046804800123456768e+18 5.0", "5.0 6.0"),
    "rounded integers in lists": _refused(".adjlist", "1.23E+11 1.24E+11 1.25E+11", "1.24E+11 1.26E+11"),
    "rounded integers in JSON": Kind(".json", "[[1.0468048001234568e+18, 5], [5, 6]]", None),
    "floats in JSON": Kind(".json", "[[1.0, 2.0], [2.0, 3e0]]", _THREE),
    "floats of Fortran": _read(".txt", "1.0E+05 2.0E+05", "2.0E+05 3.0E+05"),
    "floats of Java": _read(".txt", "1.0E10 2.0E10", "2.0E10 3.0E10"),
    "integers of R": _read(".txt", "1e+11 2e+11", "2e+11 3e+11"),
    "hashes": _read(".txt", "1e12345f abcdef01", "abcdef01 1e123456"),
}

_SAME = {
    "a blank that is not broken": _refused(".csv", "source,target", "New\u00a0York,Rome", "Rome,Bern", "Bern,New York"),
    "a blank of width zero": _refused(".csv", "source,target", "ann,bob\u200b", "bob,cem"),
    "an accent of its own": _refused(".csv", "source,target", "Zoe\u0301,bob", "bob,Zo\u00e9"),
    "a mark of bytes in a name": _refused(".txt", "ann bob", "bob \ufeffann"),
    "such a blank in a list": _refused(".adjlist", "a b c", "b\u00a0 d"),
    "one form alone": _read(".csv", "source,target", "Zoe\u0301,bob\u200b", "bob\u200b,cem"),
}

_ROWS = {
    "empty rows below": _read(".csv", "source,target,w", "a,b,1", "b,c,2", ",,", ",,"),
    "empty rows between": _read(".csv", "source;target", "a;b", " ; ", ";", "b;c"),
    "empty rows, CR": Kind(".csv", "source,target\ra,b\rb,c\r,\r", _THREE),
    "empty rows of integers, CR LF": Kind(".csv", "source,target\r\n1,2\r\n2,3\r\n,\r\n", _THREE),
    "empty rows far below": _read(".csv", "source,target", *(f"{i},{i + 1}" for i in range(1500)), ",", ",",
                                  right=Facts(1501, 1500, 1500)),
    "marks within a text": Kind(".csv", 'source,target,note\na,b,"x\n,,\ny"\nb,c,z\n', _THREE),
    "half a row": _refused(".csv", "source,target", "a,b", "b,", ",c"),
    "a total without ends": _refused(".csv", "source,target,weight", "a,b,2", "b,c,3", ",,5"),
}

_HEADERS = {
    "a column 0 of pandas": _read(".csv", "level_0,level_1,0", "a,b,0.5", "b,c,0.25"),
    "a column 0 beside u and v": _read(".csv", "u,v,0", "a,b,1", "b,c,2", refusable=True),
    "WGCNA": _read(".txt", "fromNode\ttoNode\tweight\tdirection\tfromAltName\ttoAltName",
                   "A\tB\t0.5\tundirected\tNA\tNA", "B\tC\t0.25\tundirected\tNA\tNA"),
    "egos and alters": _read(".csv", "ego,alter,tie", "1,2,1", "2,3,1"),
    "a point for a missing alter": _refused(".csv", "ego,alter,tie", "1,2,1", "2,.,1", "2,3,1"),
    "regulators": _read(".txt", "Regulator\tTarget\tMI\tpvalue", "A\tB\t0.5\t0.01", "B\tC\t0.25\t0.02"),
    "a query of Neo4j": _read(".csv", '"n.name","type(r)","m.name"', '"a","KNOWS","b"', '"b","KNOWS","c"'),
    "Von und Nach": _read(".csv", "Von;Nach;Dauer", "a;b;5", "b;c;6"),
    "origen y destino": _read(".csv", "origen,destino", "a,b", "b,c"),
    "calls": _read(".csv", "caller,callee,start,duration", "+4911,+4912,2020-01-01T00:00:00,30",
                   "+4912,+4913,2020-01-01T00:01:00,45"),
}

_PRINTED = {
    "a sparse matrix of R": _refused(".txt", '3 x 3 sparse Matrix of class "dgCMatrix"', "  a b c", "a . 1 .",
                                     "b 1 . 1", "c . 1 ."),
    "its rows": _refused(".txt", "  a b c", "a . 1 .", "b 1 . 1", "c . 1 ."),
    "a matrix of R": _refused(".txt", "     [,1] [,2]", "[1,]    1    2", "[2,]    2    3"),
    "a matrix of R with names": _read(".txt", "  a b c", "a 0 1 0", "b 1 0 1", "c 0 1 0"),
    "columns without names of R": _read(".txt", '"V1" "V2"', '"1" 10 20', '"2" 20 30'),
    "attributes of Cytoscape": _refused(".noa", "Name", "a = x", "b = y"),
    "a title above relations": _refused(".txt", "Interactions", "a binds b", "b binds c"),
    "sets of genes": _refused(".gmt", "SET1\tabout\tA\tB", "SET2\tabout\tB\tC\tD"),
    "labels of nodes": _refused(".node_labels", "1,1", "2,1", "3,2"),
    "communities of SNAP": _refused(".all.cmty.txt", "1\t2\t3", "4\t5", "6\t7\t8\t9"),
    "dicts behind names and numbers": _read(".edgelist", "a 1 {}", "b 1 {}", "b 2 {}", right=_FOUR),
}

_AB = [{"data": {"id": "a"}}, {"data": {"id": "b"}}, {"data": {"id": "e", "source": "a", "target": "b"}}]
_NAMED = [{"name": name} for name in "abz"]
_LINK = [{"source": "a", "target": "b", "value": 3}]

_JSON = {
    "elements of Cytoscape.js": _json({"elements": _AB, "style": [{"selector": "node"}]}, _EDGE),
    "elements alone": _json([*_AB, {"data": {"id": "z"}}], Facts(3, 1, 1)),
    "elements without nodes": _json(_AB[2:], _EDGE),
    "links between names": _json({"nodes": _NAMED, "links": _LINK}, Facts(3, 1, 1)),
    "links between places": _json({"nodes": _NAMED, "links": [{"source": 0, "target": 1}]}, Facts(3, 1, 1)),
    "links between names and places": _json({"nodes": _NAMED, "links": [{"source": "a", "target": 1}]}, None),
    "links to a name that no node has": _json({"nodes": _NAMED, "links": [{"source": "a", "target": "q"}]}, None),
    "links between names that occur twice": _json({"nodes": [*_NAMED, *_NAMED], "links": _LINK}, None),
}

KINDS: dict[str, Kind] = {**_NUMBERED, **_ROUNDED, **_SAME, **_ROWS, **_HEADERS, **_PRINTED, **_JSON}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.thin(2)
@pytest.mark.parametrize("interface", INTERFACES)
def test_exports_are_read_right_or_refused(name: str, interface: str, tmp_path: Path):
    checked(KINDS[name], interface, tmp_path)


def test_numbers_of_numpy_are_weights(tmp_path: Path):
    (tmp_path / "g.edgelist").write_text("1 2 {'weight': np.float64(0.5)}\n2 3 {'weight': np.int64(2)}\n")
    code, _, complaints = typed("convert", tmp_path / "g.edgelist", tmp_path / "g.zarr", "--quiet", "--weights=weight")
    assert code == 0, complaints
    code, out, complaints = typed("exact", tmp_path / "g.zarr", "--weighted", "--json", "--quiet")
    assert code == 0 and json.loads(out)["diameter"] == 2.5, complaints


def test_empty_rows_are_no_records(tmp_path: Path):
    (tmp_path / "g.csv").write_text("source,target,w\na,b,1\n,,\nb,c,2\n")
    code, out, complaints = typed("convert", tmp_path / "g.csv", tmp_path / "g.zarr", "--quiet", "--json")
    assert code == 0, complaints
    assert json.loads(out)["pairs_read"] == 2 and json.loads(out)["record"]["values_dropped"] == {"column w": 2}
