"""Shapes of lines as other programs write them, which edges with further fields have too."""

from __future__ import annotations

from pathlib import Path

import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.formats import open_source
from tests.formats.writers.reading import read_back
from tests.formats.writers.writer import Held

DICTS = "a b {'weight': 1.5, 'km': 3}\nb c {'weight': 2, 'km': 40}\n"


def written(folder: Path, text: str) -> Path:
    (folder / "g.txt").write_text(text)
    return folder / "g.txt"


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";"])
def test_attributes_behind_an_edge_are_weights_by_their_name(tmp_path: Path, separator: str):
    path = written(tmp_path, DICTS.replace(" b {", f"{separator}b{separator}{{").replace(" c {", (
        f"{separator}c{separator}{{")))
    right = {("a", "b"): (1.5, 3), ("b", "c"): (2, 40)}
    assert read_back(path, {}, tmp_path).edges.keys() == right.keys()
    for place, weights in enumerate((True, "km")):
        found = read_back(path, {"weights": weights}, tmp_path)
        assert found == Held(frozenset("abc"), {pair: values[place] for pair, values in right.items()})


@pytest.mark.parametrize(("text", "weights", "what"), [
    (DICTS, "miles", "without an attribute miles"), (DICTS + "c d\n", True, "a dict of attributes"),
    (DICTS + "c d {weight}\n", True, "no dict"), (DICTS + "c d {'weight': 'x'}\n", True, "not a number"),
    (DICTS + "c d {1, 2}\n", True, "without an attribute"),
])
def test_attributes_that_are_no_weights_are_refused(tmp_path: Path, text: str, weights: str | bool, what: str):
    with pytest.raises(InputError, match=what) as error:
        emdiam.convert(written(tmp_path, text), tmp_path / "g.zarr", weights=weights)
    assert error.value.line == (1 if weights == "miles" else 3)


def test_lists_of_igraph_with_weights_are_known_by_their_heads(tmp_path: Path):
    """Of which one is a neighbour too; a lone comment above edges of names and numbers is no list."""
    right = {("a", "b"): 3, ("a", "c"): 4, ("b", "c"): 5}
    path = written(tmp_path, "# a\nb 3\nc 4\n# b\nc 5\n")
    assert read_back(path, {"weights": True}, tmp_path) == Held(frozenset("abc"), right)
    assert read_back(path, {}, tmp_path).edges.keys() == right.keys()
    lone = written(tmp_path, "# road\nb 3\n# path\nc 4\n")
    assert read_back(lone, {"columns": "1,2"}, tmp_path).vertices == frozenset("b3c4")


@pytest.mark.parametrize("separator", [" ", ";", ","])
@pytest.mark.parametrize("rows", ["20010 00000 10000 10002 00020", "02300 20000 30010 00103 00030"])
def test_as_many_rows_as_columns_are_a_matrix(tmp_path: Path, separator: str, rows: str):
    """Most of its numbers 0, or both halves alike, whatever is on its diagonal."""
    path = written(tmp_path, "".join(separator.join(row) + "\n" for row in rows.split()))
    edges = {(str(i), str(j)) for i, row in enumerate(rows.split()) for j, entry in enumerate(row)
             if i < j and (entry != "0" or rows.split()[j][i] != "0")}
    assert read_back(path, {}, tmp_path) == Held(frozenset("01234"), dict.fromkeys(edges))


def test_a_full_square_of_numbers_is_asked_about(tmp_path: Path):
    path = written(tmp_path, "".join(f"{v + 1} {v + 2} 5 6 {v + 7}\n" for v in range(5)))
    with pytest.raises(InputError, match='format="matrix"'):
        emdiam.convert(path, tmp_path / "g.zarr")
    assert emdiam.convert(path, tmp_path / "g.zarr", format="edgelist").record.n_edges == 5


@pytest.mark.parametrize(("text", "format"), [
    ("0 1 0 0\n0 3 1 0\n0 0 0 1\n0 0 0 0\n", ""), ("2.0 1.0 0.0 7.2\n1.0 0 1 0\n0 0 0 3.5\n4 0 99.3 0\n", ""),
    ("0 1.5 0 0\n0 3 1 0\n0 0 0 1\n0 0 0 0\n", "matrix"), ("0 .5 1\n2 0 .7\n1 1 0\n", "matrix"),
    ("2 1 68.2 29\n1 2 59 2\n68.2 59 3 1\n29 2 1 0\n", "matrix"), ("1 2 0 5\n2 3 6 5\n3 4 7 5\n4 1 8 5\n", "edgelist"),
    ("1 2 3\n2 3 1\n3 1 2\n", "edgelist"),
])
def test_four_lines_of_four_numbers(tmp_path: Path, text: str, format: str):
    """May be a matrix where 0 is among them as often as on a diagonal; where that cannot be edges, they are one."""
    if format:
        assert open_source([written(tmp_path, text)]).info().format == format
        return
    with pytest.raises(InputError, match="--format matrix, or --format edgelist"):
        open_source([written(tmp_path, text)])


def test_a_problem_line_above_edges_is_no_edge(tmp_path: Path):
    """As NetworKit writes it for SNAP."""
    path = written(tmp_path, "p 3 2 u u 0\n1 0\n2 1\n")
    assert read_back(path, {}, tmp_path).edges.keys() == {("0", "1"), ("1", "2")}


def test_a_lone_id_names_the_format_of_lists(tmp_path: Path):
    path = written(tmp_path, "0 1\n1\n2 3\n4\n")
    with pytest.raises(InputError, match='format="adjlist"'):
        emdiam.convert(path, tmp_path / "g.zarr")
    assert emdiam.convert(path, tmp_path / "g.zarr", format="adjlist").record.n_vertices == 5


@pytest.mark.parametrize(("text", "edges"), [
    ("0 1\n1\n2 3\n", {("0", "1"), ("2", "3")}), ("a b c\n", {("a", "b"), ("a", "c")}), ("1, 2\n3, 2, 9\n9\n", {
        ("1", "2"), ("2", "3"), ("3", "9")}), ("5 1\n1 7\n", {("1", "5"), ("1", "7")})])
def test_lists_of_networkx_are_known_by_their_comments(tmp_path: Path, text: str, edges: set[tuple[str, str]]):
    """Whatever is in them; other comments do not tell, and columns that are named are those of edges."""
    path = written(tmp_path, f"#write.py\n# GMT Fri Nov  7 18:48:35 2026\n# \n{text}")
    assert read_back(path, {}, tmp_path).edges.keys() == edges
    path.write_text(path.read_text().replace("#", "%"))
    assert read_back(path, {}, tmp_path).edges.keys() == edges
    if text.startswith("a"):
        assert read_back(path, {"columns": "1,3"}, tmp_path).edges.keys() == {("a", "c")}
        with pytest.raises(InputError, match="the second field of a line, or the third"):
            open_source([written(tmp_path, f"# of\n# mine\n# \n{text}")])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_single_quotes_are_no_part_of_names(tmp_path: Path, separator: str):
    """As pandas writes them if it is told to."""
    path = written(tmp_path, f"'source'{separator}'target'\n'a, b'{separator}'c'\n'c'{separator}'d'\n")
    with pytest.raises(InputError, match="single quotes"):
        emdiam.convert(path, tmp_path / "g.zarr")
    assert emdiam.convert(written(tmp_path, f"'a{separator}b'\n"), tmp_path / "g.zarr").record.n_edges == 1


def test_lines_of_names_that_vary_may_be_lists_of_neighbours(tmp_path: Path):
    path = written(tmp_path, "a a q\np q q q\nq\nalone\n")
    with pytest.raises(InputError, match='format="sif".*format="adjlist"'):
        emdiam.convert(path, tmp_path / "g.zarr")
    assert read_back(path, {"format": "adjlist"}, tmp_path) == Held(
        frozenset({"a", "q", "p", "alone"}), {("a", "q"): None, ("p", "q"): None})


@pytest.mark.parametrize("separator", ["\t", ", ", ","])
def test_blanks_before_a_weight_separate_fields_too(tmp_path: Path, separator: str):
    """Names of a number and a blank are names where they are no numbers."""
    text = "".join(f"{v}{separator}{v + 1} 7.5\n" for v in range(3))
    edges = {(str(v), str(v + 1)): 7.5 for v in range(3)}
    assert read_back(written(tmp_path, text), {"weights": True}, tmp_path).edges == edges
    assert read_back(written(tmp_path, text), {}, tmp_path).vertices == frozenset("0123")
    names = written(tmp_path, "1\t10 High Street\n2\t11 High Street\n")
    assert read_back(names, {"columns": "1,2"}, tmp_path).vertices == {"1", "2", "10 High Street", "11 High Street"}


@pytest.mark.parametrize("name", ["g.csv", "g.txt"])
@pytest.mark.parametrize("text", ["#src,dst\na,b\nb,c\n", "# c\na,b\nb,c\n", "# c\n1,2\n2,3\n",
                                  "# c\n\n# d\na|b\nb|c\n", "# c\na\tb\nb\tc\n", "# c\nsrc;dst\na;b\nb;c\n",
                                  "# c\n\"a\";\"b\"\n\"b\";\"c\"\n"])
def test_comments_before_a_table_are_no_edges(tmp_path: Path, text: str, name: str):
    (tmp_path / name).write_text(text)
    found = read_back(tmp_path / name, {}, tmp_path)
    assert (len(found.vertices), len(found.edges)) == (3, 2)


@pytest.mark.parametrize("mark", [",", "|", "\t", ";"])
def test_comments_of_one_word_among_a_table_are_no_lists(tmp_path: Path, mark: str):
    """They are passed over, or refused; in no case vertices."""
    path = written(tmp_path, f"# c\na{mark}b\n# later\nb{mark}c\n# d\n")
    try:
        assert read_back(path, {}, tmp_path).vertices == frozenset("abc")
    except InputError as error:
        assert error.line == 3


def test_a_number_below_0_is_no_dash(tmp_path: Path):
    with pytest.raises(InputError, match="negative"):
        emdiam.convert(written(tmp_path, "1 -2\n2 -3\n"), tmp_path / "g.zarr")
    for text in ("1-2\n2-3\n", "1 - 2\n2 - 3\n"):
        assert emdiam.convert(written(tmp_path, text), tmp_path / "g.zarr", force=True).record.n_edges == 2


def test_words_for_ends_above_names_are_asked_about(tmp_path: Path):
    """In lines that are no table by their name, u and v may be vertices."""
    path = written(tmp_path, "u\tv\np\tq\nq\tr\n")
    with pytest.raises(InputError, match='header="names", or header="none"'):
        emdiam.convert(path, tmp_path / "g.zarr")
    assert read_back(path, {"header": "names"}, tmp_path).vertices == frozenset("pqr")
    assert read_back(path, {"header": "none"}, tmp_path).vertices == frozenset("uvpqr")
    assert read_back(written(tmp_path, "u v\nv w\n"), {}, tmp_path).vertices == frozenset("uvw")


def test_a_mark_in_all_lines_goes_before_one_that_the_header_lacks(tmp_path: Path):
    path = written(tmp_path, "Source|Target|weight\np;q 1|r, s|35\np;q 1|r, s 2|20\n3 and more|p;q 1|32\n")
    found = read_back(path, {"header": "names", "weights": True}, tmp_path)
    assert found.edges == {("p;q 1", "r, s"): 35, ("p;q 1", "r, s 2"): 20, ("3 and more", "p;q 1"): 32}


def test_a_loop_above_edges_of_names_is_asked_about(tmp_path: Path):
    path = written(tmp_path, "p,p\nq,r\nr,s\n")
    with pytest.raises(InputError, match='header="names", or header="none"'):
        emdiam.convert(path, tmp_path / "g.zarr")
    assert read_back(path, {"header": "none"}, tmp_path).vertices == frozenset("pqrs")
