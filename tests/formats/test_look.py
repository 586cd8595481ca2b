"""What a look at the first lines of a text decides, and what is asked about since it fits two readings."""

from __future__ import annotations

import pytest

from emdiam.errors import InputError
from emdiam.formats import open_source
from emdiam.formats.look import look
from emdiam.formats.reading import Reading
from emdiam.formats.source import Wishes
from tests.helpers.formats_naive import fault_of, read_pairs


def seen(text: str, name: str = "g.txt", **wishes) -> Reading:
    return look(text.encode(), True, name, Wishes(**wishes))


def pairs_of(folder, text: str | bytes, name: str = "g.txt", **options) -> list:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_pairs(file, **options)


@pytest.mark.parametrize("text, separator, width", [
    ("1 2\n3 4\n", " ", 2), ("1  2\n3\t4\n", " ", 2), ("New York\tBoston\nBoston\tSan Diego\n", "\t", 2),
    ("a;b\nb;c\n", ";", 2), ("a|b\nb|c\n", "|", 2), ("1;2;0,5\n2;3;0,7\n", ";", 3), ("a,b\nb,c\n", ",", 2),
    ('"a b","c"\n"c","d"\n', ",", 2), ("1, 2\n2, 3\n", ",", 2), ("a b\nc,d\n", "", 2),
    ("source;target;weight\n1;2;0,5\n2;3;1,5\n", ";", 3), ("sep=;\nsource;target\na;b\n", ";", 2)])
def test_what_separates_many_lines_alike(text, separator, width):
    found = seen(text, "g.csv" if "b" in text and ";" not in text else "g.txt")
    assert (found.separator, found.width) == (separator, width)


@pytest.mark.parametrize("text, ends", [
    (",u,v,length\n0,10,11,1.5\n1,11,12,2.5\n", (1, 2)), ("id,u,v\n0,10,11\n1,11,12\n", (1, 2)),
    ("edge_id,start_node,end_node\n0,10,11\n1,11,12\n", (1, 2)), ("weight,i,j\n5,10,11\n5,11,12\n", (1, 2)),
    ("Id,Origin,Destination\n1,JFK,LAX\n2,LAX,SFO\n", (1, 2)), (":START_ID,role,:END_ID\nk,Neo,m\nl,Neo,m\n", (0, 2)),
    ("~id,~from,~to\ne1,v1,v2\ne2,v2,v3\n", (1, 2)), ("P.id|P.id|date\n10|20|2010\n20|30|2011\n", (0, 1)),
    ("from_stop_id,to_stop_id,type\nS1,S2,2\nS2,S3,2\n", (0, 1)), ("node1\tlabel\tnode2\nQ1\tP3\tQ2\n", (0, 2)),
    ("protein1 protein2 score\n9.E1 9.E2 173\n9.E2 9.E3 154\n", (0, 1)), ("node_a node_b\nA1 T5\nT5 B1\n", (0, 1)),
    ("FromNodeId ToNodeId\n1 2\n2 3\n", (0, 1)), ("from\tto\tw\n1\ta\tb\t5\n2\tb\tc\t6\n", (1, 2))])
def test_the_ends_are_the_columns_whose_names_say_so(text, ends):
    found = seen(text, "g.csv" if "," in text else "g.tsv")
    assert found.header == "names" and found.columns == ends
    assert f"edges: {found.names[ends[0]]} and" in found.why


@pytest.mark.parametrize("text", [
    "name,since,until\n0,10,11\n1,11,12\n2,12,13\n", "type,person,friend\nknows,1,2\nlikes,2,3\n",
    "id,person,friend\n7,1,2\n9,2,3\n", "start_date,end_date,person,friend\n1,5,2,3\n2,9,3,4\n1,4,5,6\n"])
def test_columns_that_number_edges_or_say_their_type_are_no_ends(tmp_path, text):
    error = fault_of(_written(tmp_path, text, "g.csv"))
    assert "not clear" in error.what and "--columns" in error.remedy
    assert pairs_of(tmp_path, text, "g.csv", columns=("person", "friend") if "friend" in text else (2, 3))


def _written(folder, text: str, name: str):
    file = folder / name
    file.write_text(text)
    return file


def test_columns_are_named_or_numbered_in_any_text(tmp_path):
    blanks, table = "9 1 x 2\n8 2 y 3\n", "k,a,b\n9,1,2\n8,2,3\n"
    assert pairs_of(tmp_path, blanks, columns="2,4") == [(1, 2), (2, 3)]
    assert pairs_of(tmp_path, table, "g.csv", columns="B,A") == [(2, 1), (3, 2)]
    assert pairs_of(tmp_path, table, "g.csv", columns=(3, 1)) == [(2, 9), (3, 8)]
    with pytest.raises(InputError, match="there is no column c: 'k, a, b'"):
        pairs_of(tmp_path, table, "g.csv", columns="a,c")
    with pytest.raises(InputError, match="two ends are one column"):
        pairs_of(tmp_path, table, "g.csv", columns="a,2")


def test_columns_of_no_header_that_are_of_two_kinds_are_asked_about(tmp_path):
    text = "2B,410,AER,2965,KZN,2990\n2B,410,ASF,2966,KZN,2990\n"
    assert "--columns" in fault_of(_written(tmp_path, text, "g.csv")).remedy
    assert pairs_of(tmp_path, text, "g.csv", columns="3,5") == [("AER", "KZN"), ("ASF", "KZN")]
    numbered = "0,10,11\n1,11,12\n2,12,13\n"
    assert "numbers the lines" in fault_of(_written(tmp_path, numbered, "g.csv")).what
    assert pairs_of(tmp_path, numbered, "g.csv", columns="2,3") == [(10, 11), (11, 12), (12, 13)]
    assert pairs_of(tmp_path, "0 1 5\n1 2 5\n2 3 5\n") == [(0, 1), (1, 2), (2, 3)]  # a path with weights


def test_a_header_of_another_number_of_names(tmp_path):
    assert pairs_of(tmp_path, "source,target\n1,2,\n2,3,\n", "g.csv") == [(1, 2), (2, 3)]  # a comma ends every line
    names_of_rows = '"src","dst"\n"1",4,2\n"2",2,3\n'
    assert pairs_of(tmp_path, names_of_rows, "g.csv") == pairs_of(tmp_path, names_of_rows.replace(",", " ")) == [
        (4, 2), (2, 3)]
    for text in ("src,dst\n4,2,5\n2,3,7\n", 'src,dst\n"n6","n8","n4"\n', "src,dst\n1,2,5\n2,3,7\n"):
        error = fault_of(_written(tmp_path, text, "g.csv"))
        assert "--columns 1,2" in error.remedy and "--columns 2,3" in error.remedy
        assert pairs_of(tmp_path, text, "g.csv", columns="1,2") != pairs_of(tmp_path, text, "g.csv", columns="2,3")
    assert "3 names" in fault_of(_written(tmp_path, "id,source,target\n1,2\n2,3\n", "g.csv")).what
    assert "3 names" in fault_of(_written(tmp_path, "id source target\n1 2\n2 3\n", "g.txt")).what


@pytest.mark.parametrize("text, name", [("ann,bob\nbob,cem\ncem,dee\n", "g.csv"), ('"a";"b"\n"b";"c"\n', "g.csv"),
                                        ("v1 v2\nv3 v4\n", "g.txt"), ("New York\tRome\nRome\tPisa\n", "g.tsv")])
def test_a_first_edge_of_names_is_not_taken_for_a_header(tmp_path, text, name):
    assert len(pairs_of(tmp_path, text, name)) == text.count("\n")


def test_a_first_line_of_a_table_that_may_be_either_is_asked_about(tmp_path):
    text = "person,friend\nann,bob\ncem,dee\n"
    error = fault_of(_written(tmp_path, text, "g.csv"))
    assert "--header names" in error.remedy and "--header none" in error.remedy
    assert pairs_of(tmp_path, text, "g.csv", header="names") == [("ann", "bob"), ("cem", "dee")]
    assert pairs_of(tmp_path, text, "g.csv", header="none")[0] == ("person", "friend")


@pytest.mark.parametrize("text", ["1.0 2.0\n2.0 3e0\n", "1e0,2\n2.,3.00\n", "1.0;2\n2;3\n"])
def test_whole_numbers_as_floats_are_those_integers(tmp_path, text):
    assert pairs_of(tmp_path, text) == [(1, 2), (2, 3)]


@pytest.mark.parametrize("text, what", [
    ("1.0 2.0\n2.5 3.0\n", "not an integer"), ("1.0 2\n9007199254740994.0 2\n", "beyond 2^53"),
    ("1.0 2\n1e17 2\n", "beyond 2^53")])
def test_floats_that_are_no_ids(tmp_path, text, what):
    assert what in fault_of(_written(tmp_path, text, "g.txt")).what


def test_leading_zeros_make_names_and_this_is_said(tmp_path):
    file = _written(tmp_path, "01001 01003\n01003 10\n", "g.txt")
    assert read_pairs(file) == [("01001", "01003"), ("01003", "10")]
    assert "ids: names, with their leading zeros" in open_source([file]).info().reading
    assert read_pairs(file, ids="int") == [(1001, 1003), (1003, 10)]


@pytest.mark.parametrize("text, name", [("007 8\n8 9\n7 10\n", "g.txt"), ("from,to\n007,8\n7,10\n", "g.csv")])
def test_numbers_with_leading_zeros_and_without_are_asked_about(tmp_path, text, name):
    error = fault_of(_written(tmp_path, text, name))
    assert "--ids int" in error.remedy and "--ids string" in error.remedy
    assert pairs_of(tmp_path, text, name, ids="int")[-1] == (7, 10)
    assert pairs_of(tmp_path, text, name, ids="string")[-1] == ("7", "10")


@pytest.mark.parametrize("name, head", [("g.txt", ""), ("g.csv", "from,to\n")])
def test_a_leading_zero_far_behind_is_a_fault(tmp_path, name, head):
    mark = "," if head else " "
    text = head + "".join(f"{i}{mark}{i + 1}\n" for i in range(1, 3000)) + f"007{mark}8\n"
    error = fault_of(_written(tmp_path, text, name))
    assert "leading zeros" in error.what and error.line == text.count("\n")


def test_what_the_look_decided_holds_to_the_end(tmp_path):
    pairs = "".join(f"{i} {i + 1}\n" for i in range(3000))
    error = fault_of(_written(tmp_path, pairs + "1 2 3\n", "g.txt"))
    assert error.line == 3001 and "--format adjlist" in error.remedy
    names = "".join(f"v{i} v{i + 1}\n" for i in range(3000))
    assert fault_of(_written(tmp_path, names + "New York Rome\n", "g.txt")).line == 3001
    assert fault_of(_written(tmp_path, names.replace(" ", "\t") + "a\tb\tc\n", "g.tsv")).line == 3001


@pytest.mark.parametrize("text, expected", [
    ("a -> b\nb -> c\n", [("a", "b"), ("b", "c")]), ("1->2\n2->3\n", [(1, 2), (2, 3)]),
    ("New York --> Rome\nRome --> Pisa\n", [("New York", "Rome"), ("Rome", "Pisa")]),
    ("(1, 2)\n(2, 3)\n", [(1, 2), (2, 3)]), ("('a', 'b'),\n('b', 'c'),\n", [("a", "b"), ("b", "c")]),
    ("1-2\n2-3\n", [(1, 2), (2, 3)]), ("// about\n1 2\n// more\n2 3\n", [(1, 2), (2, 3)]),
    ("c about\n1 2\nc more\n2 3\n", [(1, 2), (2, 3)]), ("c d\nd e\n", [("c", "d"), ("d", "e")])])
def test_arrows_brackets_dashes_and_comments(tmp_path, text, expected):
    assert pairs_of(tmp_path, text) == expected


def test_other_bytes_than_utf_8_need_an_encoding(tmp_path):
    data = "Source,Target\nMüller,Weiß\n".encode("latin-1")
    (tmp_path / "g.csv").write_bytes(data)
    assert "--encoding latin-1" in fault_of(tmp_path / "g.csv").remedy
    assert pairs_of(tmp_path, data, "g.csv", encoding="latin-1") == [("Müller", "Weiß")]
    assert pairs_of(tmp_path, "Source,Target\nMüller,Weiß\n".encode("utf-16"), "g.csv") == [("Müller", "Weiß")]


def test_what_was_decided_is_one_sentence(tmp_path):
    file = _written(tmp_path, "u\tv\tlength\n1\t2\t5\n2\t3\t6\n", "g.tsv")
    assert open_source([file]).info().reading == (
        "3 columns by tabs; header: u, v, length; edges: u and v; ids: integers")


def test_arrows_in_a_table_are_asked_about(tmp_path):
    for file in ("a->b,5\nb->c,6\n", "s,9--9\n"):
        assert "--format csv" in fault_of(_written(tmp_path, file, "g.csv")).remedy
        assert pairs_of(tmp_path, file, "g.csv", fmt="csv", ids="string") == [
            tuple(line.split(",")) for line in file.splitlines()]
    assert pairs_of(tmp_path, "a -> b\nb -> c\n", "g.csv") == [("a", "b"), ("b", "c")]
