"""Inputs that nobody writes on purpose: blank lines by the thousand, numbers of thousands of digits, quotes that are
not closed, archives and headers of any bytes. Each is refused in a sentence, and none takes long."""

from __future__ import annotations

import gzip
import io
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from emdiam.errors import InputError
from emdiam.formats import open_source
from emdiam.formats.inputs import Input, find_header, lines_with_text
from emdiam.formats.look import look
from emdiam.formats.marks import find_mark
from emdiam.formats.source import Wishes
from tests.helpers.formats_naive import fault_of, read_pairs

DIGITS = b"1" * 4301


def write(folder: Path, data: bytes, name: str = "g.csv") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


# Quotes.


@pytest.mark.parametrize("batch_bytes", [256, 1 << 20])
@pytest.mark.parametrize("line", [2, 3, 700, 1000])
def test_a_quote_that_is_never_closed_is_named_where_it_opens(tmp_path: Path, line: int, batch_bytes: int) -> None:
    lines = ["src,dst", *(f"n{i},n{i + 1}" for i in range(999))]
    lines[line - 1] = lines[line - 1].replace(",", ',"')
    error = fault_of(write(tmp_path, "\n".join(lines).encode()), batch_bytes=batch_bytes)
    assert "never closed" in error.what and (error.line, error.text) == (line, lines[line - 1]) and error.remedy


@pytest.mark.parametrize(
    ("record", "line", "what"),
    [
        (b'"4"4294967296,5', 3, "opens on line 3"),
        (b'5,"4"x', 3, "opens on line 3"),
        (b'5,"4\n\n"x', 5, "opens on line 3"),
        (b'5,"4" "5"', 3, "opens on line 3"),
        (b'5,"4""', 3, "never closed"),
        (b'5, "4"', 3, "behind a blank"),
        (b'n"x,"y', 3, "never closed"),
    ],
)
def test_quotes_where_none_belong(tmp_path: Path, record: bytes, line: int, what: str) -> None:
    for header in (b"src,dst\n1,2\n", b"src,dst\na,b\n"):
        error = fault_of(write(tmp_path, header + record + b"\n7,8\n"))
        assert what in error.what and error.line == line and error.remedy


def test_quotes_that_say_nothing(tmp_path: Path) -> None:
    """Inside a field without quotes, in front of blanks, and behind a blank in a column that is not read."""
    data = b'src,dst,note\na"b,"c" ,5" pipe\nc"d,"""e""", "x"\n"f\n",g,"6"" pipe\n7"\n'
    for batch_bytes in (64, 1 << 20):
        assert read_pairs(write(tmp_path, data), batch_bytes=batch_bytes) == [
            ('a"b', "c"), ('c"d', '"e"'), ("f", "g")]


@pytest.mark.parametrize("header, what, line", [
    (b'src,"dst', "never closed", 2), (b"src,dst," + b"x" * 140_000, "the header has 3 names", 3)])
def test_a_header_that_does_not_go_with_its_records(tmp_path: Path, header: bytes, what: str, line: int) -> None:
    error = fault_of(write(tmp_path, b"\n" + header + b"\n1,2\n"))
    assert what in error.what and error.line == line and error.remedy


def test_carriage_returns_alone_end_the_lines_of_a_csv(tmp_path: Path) -> None:
    assert read_pairs(write(tmp_path, b'\r\rsrc,dst\r\r1,"2"\r3,4'), batch_bytes=64) == [(1, 2), (3, 4)]
    assert fault_of(write(tmp_path, b'src,dst\r1,"2"\r3,x\r')).line == 3


def test_a_long_field_is_no_fault(tmp_path: Path) -> None:
    data = b"src,dst,note\n1,2," + b"x" * 140_000 + b"\n3,4,y\n"
    assert read_pairs(write(tmp_path, data), batch_bytes=1 << 20) == [(1, 2), (3, 4)]


# Numbers of any length.


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("g.csv", b"src,dst\n1,2\n%b,3\n" % DIGITS, 3),
        ("g.csv", b"src,dst\n1,2\n3,-%b\n" % DIGITS, 3),
        ("g.txt", b"1 2\n%b 3\n" % DIGITS, 2),
        ("g.mtx", b"%%%%MatrixMarket matrix coordinate pattern general\n%b %b 1\n1 1\n" % (DIGITS, DIGITS), 2),
        ("g.mtx", b"%%%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 %b\n" % DIGITS, 3),
        ("g.gr", b"p sp 3 %b\na 1 2 3\n" % DIGITS, 1),
        ("g.gr", b"p sp 3 1\na 1 %b 3\n" % DIGITS, 2),
        ("g.graph", b"%b 1\n1\n" % DIGITS, 1),
        ("g.graph", b"2 1 1%b\n1\n" % DIGITS, 1),
        ("g.graph", b"2 1 011 %b\n1\n" % DIGITS, 1),
        ("g.graph", b"2 1 111 9223372036854775807\n1\n", 1),
    ],
)
def test_thousands_of_digits(tmp_path: Path, name: str, data: bytes, line: int) -> None:
    error = fault_of(write(tmp_path, data, name))
    assert error.line == line and error.remedy


def test_zeros_in_front_are_no_digits(tmp_path: Path) -> None:
    zeros = b"0" * 4301
    assert read_pairs(write(tmp_path, b"p sp %b2 1\na 1 2 1\n" % zeros, "g.gr")) == [(1, 2)]
    assert read_pairs(write(tmp_path, b"src,dst\n%b1,2\n" % zeros), ids="int") == [(1, 2)]


# Blank lines.


def test_lines_that_are_blank_are_passed_over() -> None:
    for mark in (b"\n", b"\r"):
        lines = [b"", b"a", b"  \t", b"", b" b c ", b"", b"d"]
        head = mark.join(lines)
        starts = [(0 if not i else len(mark.join(lines[:i])) + 1, i + 1) for i in (1, 4, 6)]
        assert list(lines_with_text(head, mark)) == starts
        assert [number for _, number in lines_with_text(head + mark + b" ", mark)] == [2, 5, 7]
    assert not list(lines_with_text(b"")) and not list(lines_with_text(b" \n\n "))


# Exponential patterns would not end on 64 KiB of blanks, and a line in Python's hands for each of 16 MiB of them
# would take long; a child is ended for either by its limit of processor time.
_BLANKS = r"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
from emdiam.errors import InputError
from emdiam.formats import open_source
for name in {names}:
    try:
        open_source([name])
        raise AssertionError(name)
    except InputError as error:
        assert "no edge and no header" in str(error), error
"""


def test_files_of_blank_lines_are_refused_in_no_time(tmp_path: Path) -> None:
    names = []
    for number, blank in enumerate((b"\n", b" ", b" \t\r\n", b"\r")):
        for name in ("g.txt", "g.csv", "g.gr", "g.mtx", "g.graph", "g.txt.gz"):
            data = blank * ((17 << 20) // len(blank) if name == "g.txt.gz" else 1 << 17)
            path = write(tmp_path, gzip.compress(data, 1) if name.endswith(".gz") else data, f"{number}{name}")
            names.append(str(path))
    child = subprocess.run([sys.executable, "-c", _BLANKS.format(names=names)], capture_output=True, text=True,
                           timeout=300)
    assert child.returncode == 0, child.stderr


@pytest.mark.parametrize("blank", [b"\n", b" ", b"\t", b"\r\n", b"\f", b"c\n", b"c x\n", b"#\n", b"#", b"p"])
def test_no_beginning_takes_long_to_tell(blank: bytes) -> None:
    """Every look at the first bytes, on 16 KiB of the same: an exponential one would never end."""
    head = (blank * (1 << 14))[: 1 << 14]
    for end in (b"", b"x", b"\0", b"p sp 3", b'"'):
        for glance in (lambda data: look(data, True, "g", Wishes()), find_mark,
                       lambda data: look(data, False, "g.csv", Wishes()),
                       lambda data: find_header("g", data, True, lambda line: True)):
            try:
                glance(head[: len(head) - len(end)] + end)
            except InputError as error:
                assert "no edge" in error.what or "no line" in error.what or error.line or any(
                    word in error.remedy for word in ("format", "--header", "--columns"))


def test_what_begins_behind_many_blank_lines(tmp_path: Path) -> None:
    blanks = b"\n" * 5000 + b"   \n" * 5000
    assert read_pairs(write(tmp_path, blanks + b"c d\nc\np sp 2 1\na 1 2 3\n", "a")) == [(1, 2)]
    assert read_pairs(write(tmp_path, blanks + b"1 2\n", "b")) == [(1, 2)]
    assert read_pairs(write(tmp_path, blanks + b"src,dst\n" + b"\n" * 9000 + b"1,2\n", "c")) == [(1, 2)]
    assert fault_of(write(tmp_path, blanks + b"src,dst\n" + b"\n" * 9000 + b"1,2\n3\n", "c")).line == 19_003
    assert read_pairs(write(tmp_path, b"src,dst\n" + b" \n" * 9000 + b"1,2\n", "c"), batch_bytes=256) == [(1, 2)]
    assert fault_of(write(tmp_path, blanks + b"1 2\n3 x\n", "b")).line == 10_002


def test_many_blank_lines_between_the_first_edge_and_the_second(tmp_path: Path) -> None:
    data = b"1 2\n" + b"\n" * (17 << 20) + b"2 3\n"
    assert read_pairs(write(tmp_path, data, "g.txt")) == [(1, 2), (2, 3)]


def test_reading_what_was_looked_at_copies_it_once(tmp_path: Path) -> None:
    """16 MiB looked at and then read in small pieces: copying what is left each time would be quadratic."""
    stream = Input(str(write(tmp_path, bytes(range(256)) * 64, "a"))).open()
    whole, pieces = stream.peek(1 << 14), []
    assert len(stream.peek(10)) == 10 and stream.skip(3) == 3
    while piece := stream.read(100):
        assert stream.peek(5) == whole[3 + sum(map(len, pieces)) + len(piece) :][:5]
        pieces.append(piece)
    assert b"".join(pieces) == whole[3:]
    kept = Input(str(write(tmp_path, b"x" * (1 << 16), "a"))).open()
    kept.peek(1 << 16)
    looked_at = kept._ahead
    kept.read(10)
    assert kept._ahead is looked_at
    stream.close()
    kept.close()


# Archives.


def npy(header: bytes, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def archive(folder: Path, **members: object) -> Path:
    """members : bytes are the member as it is, anything else is saved as NumPy does."""
    with zipfile.ZipFile(folder / "g.npz", "w") as made:
        for name, value in members.items():
            if type(value) is not bytes:
                buffer = io.BytesIO()
                np.save(buffer, np.asarray(value))
                value = buffer.getvalue()
            made.writestr(name + ".npy", value)
    return folder / "g.npz"


CSR = {"format": np.bytes_(b"csr"), "shape": [2, 2], "indptr": [0, 1, 2], "indices": [1, 0]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shape", [3.5, 3.5]),
        ("shape", [2.0, 2.0]),
        ("shape", [np.nan, np.nan]),
        ("shape", [-1, -1]),
        ("shape", [-1]),
        ("shape", 2),
        ("shape", []),
        ("shape", np.array([2, 2], np.complex128)),
        ("shape", [2**63, 2**63]),
        ("shape", ["2", "2"]),
        ("format", []),
        ("format", "çsr"),
        ("format", 3),
        ("format", ["x" * 1000]),
        ("format", np.array([b"csr"], "V3")),
        ("indptr", npy(b"{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}\n", bytes(24))),
        ("indices", npy(b"{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}\n", bytes(16))),
        ("indices", npy(b"{'descr': '<i8', 'fortran_order': False, 'shape': (%d,)}\n" % 2**62, bytes(16))),
        ("indices", npy(b"{'descr': '<i8', 'fortran_order': False, 'shape': (3.5,)}\n", bytes(16))),
        ("format", npy(b"{'descr': '|S3', 'fortran_order': False, 'shape': (%d, %d)}\n" % (2**40, 2**40), b"csr")),
        ("format", npy(b"{'descr': '|S3', 'fortran_order': False, 'shape': ()}\n", b"c")),
        ("format", npy(b"{'descr': '|S0', 'fortran_order': False, 'shape': ()}\n")),
        *(("format", npy(header)) for header in (
            b"(", b"'", b"\xff\xfe", b"{'descr': 3}", b"[" * 9000, b"1" * 5000, b"\0", b"{'descr': [('', 'f')] * 2}",
            b"", b"{'descr': '|S3', 'fortran_order': False, 'shape': 3}\n",
            b"{'descr': [], 'fortran_order': 0, 'shape': ()}",
            b" \n  x\n y")),
        ("format", b""),
        ("format", b"\x93NUMPY\x09\x09"),
        ("format", b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
    ],
)
def test_members_that_scipy_never_writes(tmp_path: Path, name: str, value: object) -> None:
    error = fault_of(archive(tmp_path, **{**CSR, name: value}))
    assert error.path == str(tmp_path / "g.npz") and error.remedy
    assert read_pairs(archive(tmp_path, **CSR)) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("format_name", ["csr", b"csr", np.array(["csr"])])
def test_the_format_may_be_text(tmp_path: Path, format_name: object) -> None:
    assert read_pairs(archive(tmp_path, **{**CSR, "format": np.asarray(format_name)})) == [(0, 1), (1, 0)]


def test_directories_of_archives_of_any_bytes(tmp_path: Path) -> None:
    """Bytes of the directory of a small archive set to 0 or 255, one at a time: pairs or a sentence."""
    good = archive(tmp_path, **CSR).read_bytes()
    begin = good.index(b"PK\x01\x02")
    for at in range(begin, len(good), 2):
        for value in (0, 0xFF):
            path = write(tmp_path, good[:at] + bytes([value]) + good[at + 1 :], "d.npz")
            try:
                assert read_pairs(path) == [(0, 1), (1, 0)]
            except InputError as error:
                assert str(path) in str(error)


def test_a_column_whose_name_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "g.parquet"
    pq.write_table(pa.table({"srcq": [1], "dstq": [2]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"srcq", b"sr\xff\xfe"))
    error = fault_of(path)
    assert "not UTF-8" in error.what and error.path == str(path) and error.remedy


def test_strings_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.parquet"
    pq.write_table(pa.table({"src": ["abcd", "x"], "dst": ["x", "y"]}), path, compression="none", use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(b"\x04\0\0\0abcd", b"\x04\0\0\0\xff\xff\xff\xff"))
    error = fault_of(path)
    assert "src" in error.what and "UTF-8" in error.what and error.remedy


def test_a_declared_graph_of_no_vertices_or_entries_is_told_apart(tmp_path: Path) -> None:
    assert "without vertices" in fault_of(write(tmp_path, b"p sp 0 0\n", "g.gr")).what
    assert open_source([write(tmp_path, b"p sp 3 0\n", "g.gr")]).info().n_vertices == 3
