"""Formats that begin with a mark of their own, behind comments of any style, and what only looks like one."""

from __future__ import annotations

import pytest

from emdiam.formats.marks import TAR, ZIP, find_mark

XML = b'<?xml version="1.0"?>\n<!-- c -->\n<!DOCTYPE x>\n'
FORMATS = [
    ("parquet", b"PAR1\x15\x04"), ("arrow", b"ARROW1\0\0"), ("arrow", b"\xff\xff\xff\xff\x10\0\0\0"),
    (ZIP, b"PK\x03\x04\x14\0"), ("npy", b"\x93NUMPY\x01\0"), ("hdf5", b"\x89HDF\r\n\x1a\n"),
    ("mat", b"MATLAB 5.0 MAT-file, Platform"), ("hdf5", b"MATLAB 7.3 MAT-file"),
    (TAR, b"a.txt".ljust(257, b"\0") + b"ustar\x0000"),
    ("matrix-market", b"%%MatrixMarket matrix coordinate"), ("matrix-market", b" %MatrixMarket matrix coordinate"),
    ("graphml", XML + b"<graphml xmlns='x'>"), ("gexf", b"<gexf>"), ("graphml", b"<g:graphml xmlns:g='x'>"),
    ("pajek", b"*Vertices 3\n"), ("pajek", b"*Network x\n*vertices 3"), ("gml", b"graph [ node [ id 0 ] ]"),
    ("gml", b'Creator "igraph 0.7"\nVersion 1\ngraph\n[\n'), ("gml", b"Creator Mark Newman\ngraph\n[\n"),
    ("dot", b"graph {"), ("dot", b"strict digraph \"a b\" {"), ("dot", b"Digraph x{"),
    ("dl", b"dl n=3 format=edgelist1"), ("dl", b"DL\nN = 3\n"), ("dl", b"dl nr=2, nc=3"),
    ("graph6", b">>graph6<<IvUqwK@?G"), ("graph6", b">>sparse6<<:I"), ("json", b'{"nodes":[]}'), ("json", b"[[0, 1]]"),
    ("ntriples", b"<http://a> <http://b> <http://c> ."), ("ntriples", b"_:a <http://b> \"x\" ."),
    ("bvgraph", b"#BVGraph properties\ngraphclass =it.unimi"),
    ("bvgraph", b"#BVGraph properties\n#Wed Nov 17\nzetak=3\nversion=0\n"),
    ("bvgraph", b"zetak=3\r\nresidualexpstats=1,2\r\ngraphclass=it.unimi\r\n"),
    ("dimacs", b"c x\nc\np sp 3 2\n"), ("dimacs", b"p edge 3 2\n"),
]
NO_READER = [
    (b"%PDF-1.4\n", "PDF"), (b"SQLite format 3\0", "SQLite"), (b"\x80\x04\x95", "pickle"),
    (b"<!DOCTYPE html><html>", "web"),
    (b"\n<html>", "web"), (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"), (b"nodedef>name VARCHAR\n", "GDF"),
    (b"@prefix x: <http://x> .", "Turtle"), (XML + b"<osm version='0.6'>", "OpenStreetMap"), (b"<gxl>", "root gxl"),
]
NONE = [
    b"", b"\n \n", b"1 2\n2 3\n", b"a b\n", b"graph a\n", b"c d\nd e\n", b"p q 3\n", b"# only a comment\n", b"dl n\n",
    b"src,dst\n1,2\n", b"vertices 3\n", b"% sym unweighted\n1 2\n", b"% bip\n1 1", b"creator a\n", b"\0\1\2",
    b"6 5\n1 2\n",
    b"(1, 2)\n", b"strict graph\n", b"\x80abc\n",
]
COMMENTS = [b"", b"# made by x\n", b"% c\r\n\n%\n", b"// c\n", b"/* several\nlines */\n", b"\n\n# a\n% b\n"]


@pytest.mark.parametrize(("fmt", "head"), FORMATS)
def test_formats_are_known_by_their_marks(fmt: str, head: bytes) -> None:
    mark = find_mark(head)
    assert mark is not None and mark.format == fmt


@pytest.mark.parametrize("comment", COMMENTS)
def test_comments_hide_no_mark(comment: bytes) -> None:
    texts = [(fmt, head) for fmt, head in FORMATS if b"\0" not in head and head[:1] not in b"\x93\xffP\x89M"]
    assert len(texts) > 20
    for fmt, head in texts:
        mark = find_mark(comment + head)
        assert mark is not None and mark.format == fmt, head


@pytest.mark.parametrize(("head", "word"), NO_READER)
def test_what_has_no_reader_is_called_by_its_name(head: bytes, word: str) -> None:
    mark = find_mark(head)
    assert mark is not None and not mark.format
    error = mark.refusal("g")
    assert word in error.what and "g" in str(error) and error.remedy


@pytest.mark.parametrize("head", NONE)
def test_plain_lists_and_tables_have_no_mark(head: bytes) -> None:
    assert find_mark(head) is None


@pytest.mark.parametrize("piece", [b"\n", b" ", b"c\n", b"c x\n", b"#\n", b"#", b"p", b"/*", b"<!--", b"<", b"graph ",
                                   b'a "', b"a 1 ", b"[ ", b"<a> ", b"%M", b"creator ", b"dl ", b"strict "])
def test_no_beginning_takes_long(piece: bytes) -> None:
    """64 KiB of the same: what is exponential or quadratic in them would never end."""
    find_mark((piece * (1 << 16))[: 1 << 16])


def test_a_doctype_with_declarations_hides_no_root() -> None:
    mark = find_mark(b'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "b"><!ELEMENT g ANY>]>\n<graphml>')
    assert mark is not None and mark.format == "graphml"
