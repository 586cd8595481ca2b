"""CSV with a header: which columns, quotes, separators, and every bad record."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.formats import open_source
from tests.helpers.formats_naive import fault_of, read_pairs


def write(folder, data: bytes, name="g.csv"):
    file = folder / name
    file.write_bytes(data)
    return file


def naive_csv(data: bytes, src: int, dst: int, separator: str = ",") -> list:
    rows = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=separator))
    return [(row[src].strip(" \t"), row[dst].strip(" \t")) for row in rows[1:] if row]


cells = st.text('ab "\n,1é', max_size=5)
records = st.lists(
    st.tuples(
        st.text('ab", 1é\n', max_size=4).map(lambda s: s + "x"),
        cells,
        st.text('cd" \n', max_size=4).map(lambda s: "y" + s),
    ),
    min_size=1,
    max_size=30,
)


def test_a_byte_order_mark_belongs_to_the_file_alone(tmp_path):
    mark = b"\xef\xbb\xbf"
    file = write(tmp_path, mark + b"src,dst\n" + mark + b"a,b\nc,d\n")
    with pytest.raises(InputError, match="an id begins with a byte order mark"):
        read_pairs(file)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=records,
    line_end=st.sampled_from(["\n", "\r\n"]),
    batch_pairs=st.integers(1, 60),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_quoted_records_agree_with_the_twin(tmp_path, rows, line_end, batch_pairs, quoting):
    """Quotes, doubled quotes, separators and line ends within fields, at any cut between blocks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=line_end, quoting=quoting)
    writer.writerow(["target", "note", "source"])
    writer.writerows(rows)
    data = text.getvalue().encode()
    expected = [(a.strip(), b.strip()) for a, b in naive_csv(data, 2, 0)]
    read = read_pairs(write(tmp_path, data), ids="string", batch_bytes=16 * batch_pairs)
    assert [(a.strip(), b.strip()) for a, b in read] == expected


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 50)), min_size=1, max_size=60),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    batch_pairs=st.integers(1, 60),
)
def test_integers(tmp_path, pairs, separator, end, last, batch_pairs):
    lines = [separator.join(["w", "to", "from"])] + [f"0.5{separator}{b}{separator}{a}" for a, b in pairs]
    data = end.join(lines) + (end if last else "")
    assert read_pairs(write(tmp_path, data.encode()), batch_bytes=16 * batch_pairs) == pairs


@pytest.mark.parametrize(
    "header, expected",
    [
        (b"src,dst,w", (1, 2)),
        (b"w,src,dst", (2, 3)),
        (b"dst,src,x", (2, 1)),
        (b"Source,Weight,Target", (1, 3)),
        (b"id_1,id_2,t", (1, 2)),
        (b"t,ID1,ID2", (2, 3)),
        (b'"from","x","to"', (1, 3)),
        (b"p,q,weight", (1, 2)),
        (b"src,src,dst", (1, 2)),
    ],
)
def test_columns_by_name_else_the_first_two(tmp_path, header, expected):
    assert read_pairs(write(tmp_path, header + b"\n1,2,3\n")) == [expected]


def test_columns_without_names_are_asked_about(tmp_path):
    file = write(tmp_path, b",,\n1,2,3\n")
    error = fault_of(file)
    assert "not clear" in error.what and "--columns" in error.remedy
    assert read_pairs(file, columns="1,2") == [(1, 2)]


@pytest.mark.parametrize(
    "data, expected",
    [
        (b"# about\n\na,b\n1,2\n", [(1, 2)]),
        (b"\xef\xbb\xbfsrc,dst\n1,2\n", [(1, 2)]),
        (b"a,b\n 1 , 2\n", [(1, 2)]),
        (b'a,b\n"1","2"\n\n3,4', [(1, 2), (3, 4)]),
        (b"1,2\n3,4\n", [(1, 2), (3, 4)]),
        (b"source target\n1 2\n", [(1, 2)]),
        (b"src,dst,note\n1,2,0x10\n", [(1, 2)]),
        (b"a,b\nx,0x10\n", [("x", "0x10")]),
        (b"a,b\nNB,nile\n", [("NB", "nile")]),
    ],
)
def test_small_cases(tmp_path, data, expected):
    assert read_pairs(write(tmp_path, data)) == expected


def test_headerless_files_may_be_forced(tmp_path):
    assert read_pairs(write(tmp_path, b"1,2\n3,4\n"), fmt="csv") == [(1, 2), (3, 4)]


def test_header_names_give_csv_away_in_any_file(tmp_path):
    file = write(tmp_path, b"source\ttarget\n1\t2\n", "g.tsv")
    assert open_source([file]).info().format == "csv" and read_pairs(file) == [(1, 2)]


GOOD = b"".join(b"%d,%d\n" % (i, i) for i in range(1200))


@pytest.mark.parametrize(
    "record, what",
    [
        (b"5", "1 fields"),
        (b"5,6,7", "3 fields"),
        (b"5,", "missing"),
        (b",5", "missing"),
        (b"5,x", "not an integer"),
        (b"0x10,5", "not an integer"),
        (b"1.5,5", "not an integer"),
        (b"-5,1", "negative"),
        (b"1,-2", "negative"),
        (b"9223372036854775808,1", "larger than 2^63 - 1"),
        (b'"5,6', "never closed"),
        (b"+5,6", "not an integer"),
    ],
)
def test_a_bad_record_among_good_ones(tmp_path, record, what):
    file = write(tmp_path, b"src,dst\n" + GOOD + record + b"\n")
    for batch_bytes in (1024, 1 << 20):
        error = fault_of(file, batch_bytes=batch_bytes)
        assert what in error.what and error.line == 1202 and error.text == record.decode() and error.remedy


@pytest.mark.parametrize(
    "data, line",
    [(b"src,dst\na,b\n,c\n", 3), (b"src,dst\na,b\nc,\xff\n", 3), (b'src,dst,n\na,b,"x\ny"\nc,d\n', 4)],
)
def test_bad_records_of_names(tmp_path, data, line):
    assert fault_of(write(tmp_path, data)).line == line


@pytest.mark.parametrize("data", [b"src,dst\n", b"src,dst", b"id\n1\n", b"src\n"])
def test_headers_without_a_graph(tmp_path, data):
    error = fault_of(write(tmp_path, data))
    assert error.path.endswith("g.csv") and error.remedy
