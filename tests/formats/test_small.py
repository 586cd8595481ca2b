"""Texts of few lines that are several graphs by equal rights, and short ones that are one graph. See kinds.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import emdiam
from emdiam.errors import InputError
from tests.formats.kinds import Kind, checked, doubtful, path_of, read, refused
from tests.formats.writers.reading import read_back
from tests.helpers.handed_in import INTERFACES, Facts

_ONE, _THREE, _FOUR = Facts(2, 1, 1), Facts(3, 2, 2), Facts(4, 3, 3)


_LINES = {
    "three integers": doubtful(".txt", _ONE, "1 2 3"),
    "a vertex and two neighbours": doubtful(".txt", _THREE, "1 2 3"),
    "a path": doubtful(".txt", _ONE, "0\t1\t2\t3"),
    "pairs of names": doubtful(".txt", _ONE, "n_0 n_1 n_0 n_2"),
    "pairs with dashes": refused(".txt", "1-2;3-4;2,3"),
    "pairs between commas": refused(".txt", "0 1, 1 2, 2,0"),
    "a colon within a pair": refused(".txt", "0:1 7.0"),
    "a loop behind a number": doubtful(".txt", Facts(1, 0, 0), "0 0 1 0.98"),
    "an edge and a decimal": read(".txt", _ONE, "1 2 0.5"),
    "two names and a number": read(".txt", _ONE, "ann bob 3"),
    "an edge of KONECT": read(".txt", _ONE, "% sym weighted", "1 2 5"),
    "names with blanks": read(".csv", _ONE, "New York 0;Old Town 2;2"),
}
_ROWS = {
    "sources above targets": doubtful(".txt", Facts(3, 1, 1), "1,1,3,4", "2,3,4,5"),
    "three sources above targets": doubtful(".txt", Facts(3, 1, 1), "16 16 16", "2070 2368 2894"),
    "names above names": doubtful(".txt", Facts(4, 2, 1), "b,d,c,a", "c,a,d,b"),
    "two edges with values": read(".txt", _THREE, "1 2 5 1", "2 3 4 1"),
    "a matrix of two rows": doubtful(".csv", _ONE, "0,5", "5,0"),
    "a matrix of two rows and decimals": doubtful(".txt", _ONE, "0,18.4", "18.4,0"),
    "names above a matrix of two rows": doubtful(".txt", _THREE, "1, 2", "0, 1", "1, 0"),
    "ends of edges as ones of two columns": doubtful(".txt", _ONE, "1 0", "1 1", "0 1"),
    "ends of edges as ones of columns": doubtful(".txt", Facts(4, 4, 2), "0 0 1 0", "1 1 0 0", "1 0 1 1", "0 1 0 1"),
    "thousands below a header": read(".txt", _THREE, "a\tb\tw", "N Y\tO T\t72", "O T\tF H\t45 000"),
    "header of one line": refused(".txt", "type\tx\ty\tlength", "e\t0\t1\t1"),
}
_COUNTS = {
    "counts and a question": doubtful(".in", Facts(5, 4, 3), "4 3", "0 1 4", "0 2 5", "0 3 3", "0 3"),
    "a question below pairs": doubtful(".in", Facts(7, 6, 3), "6 5", "1 0", "0 2", "3 0", "4 0", "0 5", "0 5"),
    "a number of graphs": doubtful(".txt", _FOUR, "1", "4 1", "2 4 325"),
    "counts above one edge": doubtful(".txt", _ONE, "2 1", "0 1 1"),
    "lengths before neighbours": refused(".txt", "1 2 2 4", "2 2 1 3", "3 1 2", "4 1 1"),
    "lengths of one before neighbours": refused(".txt", "488;1;621", "621;1;488"),
    "lengths in a list of networkx": refused(".adjlist", "247 0", "253 1 247", "860 2 1372 253"),
    "lengths before names": refused(".adjlist", "gene0;1;gene1", "gene1;1;gene0"),
    "neighbours that look like lengths": read(".adjlist", _THREE, "0 1 2", "1 0", "2 0"),
    "rows of neighbours below counts": doubtful(".txt", Facts(5, 2, 1), "4 4", "1 3", "2 0", "3 1", "0 2"),
    "rows of neighbours with a loop": refused(".txt", "3 5 1 6", "4 6", "1 5 6", "2", "6 1 3", "5 2 3 1"),
    "an empty row of neighbours": doubtful(".txt", Facts(4, 2, 2), "4 2", "2 4", "1", "", "1"),
    "two rows of METIS": doubtful(".txt", _ONE, "2 1 1", "2 5", "1 5"),
}
_NUMBERS = {
    "two lines behind numbers": doubtful(".csv", _THREE, "0,3,2", "1,1,2"),
    "a star behind numbers": doubtful(".txt", Facts(5, 4, 2), "1 1 2 .5", "2 1 3 .6", "3 1 4 .1", "4 1 5 .2"),
    "a star each way behind numbers": doubtful(".txt", Facts(6, 5, 2), "0 1 0", "1 0 2", "2 0 3", "3 0 4", "4 5 0"),
    "loops behind numbers": doubtful(".txt", Facts(3, 3, 1), "0 0 1", "1 1 2", "2 2 0", "3 0 0"),
    "a path and a value behind numbers": doubtful(".txt", _THREE, "0,1,2,381", "1,2,3,189"),
    "edges behind one number": doubtful(".txt", Facts(4, 3, 2), "1 2976 1779", "1 1779 2177", "1 1565 1779"),
    "edges behind small numbers": doubtful(".txt", Facts(3, 3, 1), "1 54 1618", "5 54 1015", "5 1015 1618"),
    "a path with weights": read(".txt", _FOUR, "1 2 5", "2 3 4", "3 4 7"),
    "a cycle with weights": read(".txt", Facts(3, 3, 1), "0 1 3", "1 2 4", "2 0 5"),
    "a star with ones": read(".txt", Facts(4, 3, 2), "0 1 1", "0 2 1", "0 3 1"),
    "a list with weights": read(".txt", Facts(5, 5, 2), "1 3 2", "1 2 7", "2 4 4", "3 5 1", "4 5 3"),
}
_MARKS = {
    "lengths behind dashes and colons": refused(".txt", "1-2: 4", "2-3: 2"),
    "lengths behind names and colons": refused(".txt", "gene1,gene2: 308", "gene2,gene3: 778"),
    "names behind arrows": refused(".adj", "A -> B, C", "B -> A", "C -> A"),
    "values behind pairs of names": refused(".txt", "(a,b) 4", "(b,c) 5"),
    "lists of Python": refused(".py", "[2, 4]", "[1, 3]", "[4, 2]", "[3, 1]"),
    "lists in brackets": doubtful(".txt", Facts(4, 2, 1), "(2, 4)", "(1, 3)", "(4, 2)", "(3, 1)"),
    "columns of R": read(".txt", _THREE, '"V1" "V2"', '"New York" "Old Town"', '"New York" "Far Hill"'),
    "names like columns of R": read(".txt", _FOUR, "V1 V2", "V2 V3", "V3 V4"),
    "a matrix below columns of R": doubtful(".txt", _ONE, "V1 V2 V3 V4", "0 1 1 0", "1 0 0 1", "1 0 0 1", "0 1 1 0"),
    "a matrix of R": doubtful(".csv", Facts(4, 3, 2), '"","V1","V2","V3"', '"1",0,1,1', '"2",1,0,0', '"3",1,0,0'),
}
KINDS: dict[str, Kind] = {**_LINES, **_ROWS, **_COUNTS, **_NUMBERS, **_MARKS}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.thin(2)
@pytest.mark.parametrize("interface", INTERFACES)
def test_short_texts_are_read_right_or_refused(name: str, interface: str, tmp_path: Path):
    outcome = checked(KINDS[name], interface, tmp_path)
    assert not KINDS[name].refusable or outcome.facts is None


@pytest.mark.parametrize("rows", [
    ("a,b,500", "b,c,1.200"), ("s;t;w", "a;b;12.500", "b;c;7"), ("a b 1.250", "b c 12.500.000"),
    ("source;target;weight;share", "a;b;1.250;0,5", "b;c;12.500;1,5")])
def test_points_that_may_separate_thousands_are_asked_about(rows: tuple[str, ...], tmp_path: Path):
    (tmp_path / "g.csv").write_text(path_of(*rows))
    with pytest.raises(InputError, match="may be decimal, or separate thousands.*; delete them if"):
        emdiam.convert(tmp_path / "g.csv", tmp_path / "g.zarr", weights="3")


@pytest.mark.parametrize("weights", [
    ("1.000", "2.500"), ("0.250", "5"), ("1.5", "5"), ("1.250", "1500"), ("1.250", "5.0"), ("1000", "2500")])
def test_decimals_are_read_as_they_are(weights: tuple[str, str], tmp_path: Path):
    (tmp_path / "g.txt").write_text(path_of(f"a b {weights[0]}", f"b c {weights[1]}"))
    edges = read_back(tmp_path / "g.txt", {"weights": True}, tmp_path).edges
    assert edges == {("a", "b"): float(weights[0]), ("b", "c"): float(weights[1])}
