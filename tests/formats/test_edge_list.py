"""Text edge lists: every separator, comment and line end, and every bad line, against a naive twin."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.errors import InputError
from emdiam.formats import open_source
from emdiam.formats.weights import WeightChoice
from tests.helpers.formats_naive import NaiveFault, fault_of, naive_edge_list, read_pairs

PLAIN = {"fmt": "edgelist", "header": "none"}  # what no look at the first lines is to find out

relaxed = settings(
    max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

ids = st.one_of(st.integers(0, 30), st.integers(0, 2**63 - 1)).map(lambda i: b"%d" % i)
names = st.text("abcXYZ019_.-é|:", min_size=1, max_size=6).map(str.encode)
separators = st.sampled_from([b" ", b"\t", b",", b"  ", b"\t\t", b", ", b" ,", b" \t , "])
blanks = st.sampled_from([b"", b" ", b"\t", b"  "])
extras = st.sampled_from([b"", b" 0.5", b"\t7 8", b",w,x", b" # no comment", b","])
line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
comments = st.sampled_from([b"", b"   ", b"# 1 2", b"% 3", b"#", b"  # x", b"\t%y"])


def data_lines(field):
    parts = st.tuples(blanks, field, separators, field, extras, blanks)
    return parts.map(b"".join)


def texts(field, *more):
    line = st.one_of(data_lines(field), data_lines(field), comments, *more)
    body = st.lists(st.tuples(line, line_ends).map(b"".join), max_size=25)
    return st.tuples(body, data_lines(field), st.sampled_from([b"", b"\n", b"\r\n", b"\n\n", b"\n#end"])).map(
        lambda parts: b"".join(parts[0]) + parts[1] + parts[2]
    )


@relaxed
@given(data=texts(ids), batch_pairs=st.integers(1, 40))
def test_integers_agree_with_the_twin(tmp_path, data, batch_pairs):
    file = tmp_path / "g.txt"
    file.write_bytes(data)
    assert read_pairs(file, ids="int", batch_bytes=16 * batch_pairs, **PLAIN) == naive_edge_list(data)


@relaxed
@given(data=texts(names.filter(lambda name: name[:1] not in b"#%" and b"-" not in name and name != b"c")),
       batch_pairs=st.integers(1, 40))
def test_strings_agree_with_the_twin(tmp_path, data, batch_pairs):
    """But for arrows, which separate, and c, which begins comments of DIMACS."""
    file = tmp_path / "g.txt"
    file.write_bytes(data)
    assert read_pairs(file, ids="string", batch_bytes=16 * batch_pairs, **PLAIN) == naive_edge_list(
        data, strings=True)


@relaxed
@given(data=texts(ids), batch_pairs=st.integers(1, 40), kind=st.sampled_from(["int", "string"]))
def test_comments_and_empty_lines_are_counted(tmp_path, data, batch_pairs, kind):
    file = tmp_path / "g.txt"
    file.write_bytes(data)
    source = open_source([file, file], ids=kind, **PLAIN)
    for _ in source.batches(16 * batch_pairs):
        pass
    lines = [line.strip(b" \t") for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")]
    if not lines[-1]:
        del lines[-1]
    assert source.info().skipped == {"comments": 2 * sum(line[:1] in (b"#", b"%") for line in lines if line),
                                     "empty": 2 * lines.count(b"")}


@relaxed
@given(
    data=texts(ids, st.text("0123456789 -,\t#%ax.", max_size=24).map(str.encode)),
    batch_pairs=st.integers(1, 40),
)
def test_faults_agree_with_the_twin(tmp_path, data, batch_pairs):
    """The reader refuses what the twin refuses, at the same line, and nothing else."""
    file = tmp_path / "g.txt"
    file.write_bytes(data)
    try:
        expected = naive_edge_list(data)
    except NaiveFault as fault:
        assert fault_of(file, ids="int", batch_bytes=16 * batch_pairs, **PLAIN).line == fault.line
    else:
        assert read_pairs(file, ids="int", batch_bytes=16 * batch_pairs, **PLAIN) == expected


@pytest.mark.parametrize(
    "line, what",
    [
        (b"5", "fewer than two ids"),
        (b"5 ", "fewer than two ids"),
        (b"5,", "not an integer"),
        (b"5, 6", "not an integer"),
        (b"a 5", "not an integer"),
        (b"5 a", "not an integer"),
        (b"5 6a", "not an integer"),
        (b"5.5 6", "not an integer"),
        (b"+5 6", "not an integer"),
        (b"0x5 6", "not an integer"),
        (b"5;6", "not an integer"),
        (b"- 6", "not an integer"),
        (b"\xff 6", "not an integer"),
        (b"-5 6", "negative"),
        (b"5 -6", "negative"),
        (b"9223372036854775808 1", "larger than 2^63 - 1"),
        (b"1 99999999999999999999999", "larger than 2^63 - 1"),
        (b"5,,6", "not an integer"),
        (b",5,6", "missing before a comma"),
    ],
)
@pytest.mark.parametrize("columns", [b"", b" 1.5 x"])
def test_a_bad_line_among_good_ones(tmp_path, line, what, columns):
    """File, line number and text are named, also among lines of three columns, also far behind."""
    file = tmp_path / "g.txt"
    good = b"# c\n\n" + b"".join(b"%d %d%s\n" % (i, i + 1, columns) for i in range(1100))
    file.write_bytes(good + line + b"\n" + b"1 2 3\n")
    for batch_bytes in (512, 1 << 20):
        error = fault_of(file, ids="int", batch_bytes=batch_bytes)
        assert what in error.what and error.line == 1103 and error.path == str(file)
        assert error.text == line.decode("utf-8", "replace").rstrip() and error.remedy
    assert f"{file}, line 1103" in str(error)


@pytest.mark.parametrize("mark, line, what", [
    ("\t", "5\t\t9", "missing before a tab"),
    ("\t", "5\t\t777", "missing before a tab"),
    ("\t", "\t5\t777", "missing before a tab"),
    ("\t", "5\t1,090\t1", "between tabs is not an integer"),
    ("\t", "3 70", "between tabs is not an integer"),
    (",", "5,,9", "missing before a comma"),
    (",", ",5,9", "missing before a comma"),
    (",", "5 7,90", "between commas is not an integer"),
    (",", "5,", "fewer than two ids"),
])
def test_fields_are_between_the_mark_of_the_first_lines(tmp_path, mark, line, what):
    """An empty field is one, and a blank or another mark is a part of a field, also far behind."""
    file = tmp_path / "g.txt"
    good = "".join(mark.join((str(i), str(i + 1), "7")) + "\n" for i in range(1100))
    file.write_text(good + line + "\n")
    error = fault_of(file, ids="int", batch_bytes=1 << 20)
    assert what in error.what and error.line == 1101


@pytest.mark.parametrize("line", [" {} \t {} ", "{}\t{}\t", "\t{}\t{}", "{} , {},,", " {},{}"])
def test_blanks_beside_marks_and_marks_at_the_ends_are_no_fields(tmp_path, line):
    file = tmp_path / "g.txt"
    file.write_text("".join(line.format(i, i + 1) + "\n" for i in range(3)))
    assert read_pairs(file, ids="int") == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("lines, weights", [
    (("1\t2\tA 3\t5", "2\t3\tA 4\t6"), [5, 6]),
    (("1,2,A 3,5", "2,3,A 4,6"), [5, 6]),
    (("1\t2\t\t7", "2\t3\t\t8"), [7, 8]),
    (("1\t2\t4\t", "2\t3\t\t8"), None),
    (("1 2 x 3", "2 3 x 1,5"), [3, 1.5]),
])
def test_weights_are_in_the_column_of_the_mark(tmp_path, lines, weights):
    """The fourth column, whatever is in the third."""
    file = tmp_path / "g.txt"
    file.write_text("\n".join(lines) + "\n")
    source = open_source([file], weights=WeightChoice("4"))
    if weights is None:
        with pytest.raises(InputError, match="weight"):
            list(source.batches(1 << 20))
    else:
        assert [w for batch in source.batches(1 << 20) for w in batch.weights.tolist()] == weights


def test_the_largest_id_is_allowed(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"9223372036854775807 000000000000000000000000007")
    assert read_pairs(file, ids="int") == [(2**63 - 1, 7)]


@pytest.mark.parametrize(
    "data, directed",
    [
        (b"# Undirected graph: x\n# Nodes: 3 Edges: 1\n1 2\n", False),
        (
            b"# Directed graph (each unordered pair of nodes is saved once): x\n# Nodes: 3 Edges: 9\n1\t2\n",
            True,
        ),
        (b"% sym unweighted\n% 1 3 3\n1 2\n", False),
        (b"% asym positive\n1 2 1 1082008561\n", True),
        (b"1 2\n", True),
        (b"1 2\n# Undirected graph\n", True),
    ],
)
def test_headers_say_directed_and_declare_no_vertices(tmp_path, data, directed):
    file = tmp_path / "out.graph-of-konect"
    file.write_bytes(data)
    source = open_source([file])
    info = source.info()
    assert (info.directed, info.n_vertices, info.n_entries, info.id_kind) == (directed, None, None, "int")
    assert info.format == "edgelist" and info.size_bytes == len(data) and not info.both_directions
    assert read_pairs(file) == [(1, 2)]


def test_the_sides_of_a_bipartite_graph_are_kept_apart(tmp_path):
    file = tmp_path / "out.bip"
    file.write_bytes(b"% bip unweighted\n1 1\n2 1\n")
    assert read_pairs(file) == [("l1", "r1"), ("l2", "r1")]
    assert "two sides numbered apart" in open_source([file]).info().reading


@pytest.mark.parametrize("name", ["g.txt", "g.csv"])
def test_counts_are_no_edge_between_two_sides(tmp_path, name):
    text = "6 3\n1 4\n2 4\n2 6\n"
    (tmp_path / name).write_text(text if name == "g.txt" else text.replace(" ", ","))
    assert read_pairs(tmp_path / name, bipartite=True) == [("l1", "r4"), ("l2", "r4"), ("l2", "r6")]
    record = emdiam.convert(tmp_path / name, tmp_path / "g.zarr", bipartite=True).record
    assert record.n_vertices == 4 and "the first line says 6 vertices and 3 edges" in record.reading


@pytest.mark.parametrize(
    "data, kind",
    [
        (b"1 2\n3 4\n", "int"),
        (b"# c\n\n 1,2,x\n", "int"),
        (b"a b\n", "string"),
        (b"1 b\nc d\n", "string"),
        (b"1.5 2\nx y\n", "string"),
        (b"99999999999999999999 1\n", "int"),
        (b"7\n", "int"),
        (b"-1 2\n", "int"),
    ],
)
def test_the_kind_of_ids_is_that_of_the_first_line(tmp_path, data, kind):
    file = tmp_path / "g.txt"
    file.write_bytes(data)
    assert open_source([file]).info().id_kind == kind


def test_string_ids_keep_their_text(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes("007 7\n% x\nÄ,b c\n".encode())
    assert read_pairs(file, ids="string") == [("007", "7"), ("Ä", "b")]


def test_letters_after_integers_are_a_fault_with_a_way_out(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"1 2\nx y\n")
    error = fault_of(file)
    assert error.line == 2 and error.text == "x y" and "--ids string" in error.remedy
    assert read_pairs(file, ids="string") == [("1", "2"), ("x", "y")]


def test_a_header_of_unknown_names_is_asked_about(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"here there\n1 2\n")
    error = fault_of(file)
    assert "--header names" in error.remedy and "--header none" in error.remedy and error.text == "here there"
    assert read_pairs(file, fmt="csv") == [(1, 2)]


@pytest.mark.parametrize(
    "data, line",
    [(b"a b\nc\n", 2), (b"a b\nc,,d\n", 2), (b"a b\n\r\nc \xff\n", 3), (b"a b\rc d\r\xfe e\r", 3)],
)
def test_bad_lines_of_names(tmp_path, data, line):
    file = tmp_path / "g.txt"
    file.write_bytes(data)
    assert fault_of(file).line == line


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# only\n% comments\n", b"   ", b"\xef\xbb\xbf"])
def test_nothing_in_it(tmp_path, data):
    file = tmp_path / "g.txt"
    file.write_bytes(data)
    with pytest.raises(InputError) as caught:
        open_source([file])
    assert str(file) in str(caught.value)


def test_a_byte_order_mark_is_no_data(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"\xef\xbb\xbf1 2\n3 4")
    assert read_pairs(file) == [(1, 2), (3, 4)]


def test_a_line_without_end_is_refused_within_bounded_memory(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"1 2\n3 4" + b" 5" * (9 << 20))
    error = fault_of(file)
    assert "no line end" in error.what


def test_reading_twice_and_position(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"1 2\n" * 5000)
    source = open_source([file])
    assert source.rewindable and source.position_bytes() == 0
    first = sum(len(batch.src) for batch in source.batches(1 << 12))
    assert source.position_bytes() == 20000 == source.info().size_bytes
    assert first == 5000 == sum(len(batch.src) for batch in source.batches(1 << 20))


def test_batches_are_full_and_own_their_arrays(tmp_path):
    """Every batch but the last is as large as asked for, and later ones do not overwrite it."""
    file = tmp_path / "g.txt"
    file.write_bytes(b"".join(b"%d %d\n" % (i, 2 * i) for i in range(1000)))
    batches = list(open_source([file]).batches(16 * 64))
    assert [len(batch.src) for batch in batches] == [64] * 15 + [40]
    assert [x for batch in batches for x in batch.dst.tolist()] == list(range(0, 2000, 2))
