"""Marks at the beginning of formats: magic bytes, the root of an XML document, a banner, a keyword.

One table from marks to formats, and a pure function that finds a mark in the first bytes of an input, after comments in
any style. No pattern may repeat a part that can be empty, or match the same blanks in two ways, because that takes
forever on a file of blank lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import InputError

ZIP = "zip"
"""What `Mark.format` says of a zip archive; its members decide what it is."""
TAR = "tar"
"""The same of a tar archive."""

_FETCH = "fetch the file itself"
_EXTRACT = "extract it first"
_EDGE_LIST = "write the graph as an edge list, two ids a line"
_TAR_AT = 257
_MOST_COMMENTS = 1 << 12


@dataclass(frozen=True)
class FormatMark:
    """The format of a mark.

    format : name in registry.READERS, ZIP or TAR; "" without a reader. what : the kind of input in words. remedy : the
    remedy if there is no reader.
    """

    format: str
    what: str
    remedy: str = ""

    def refusal(self, name: str) -> InputError:
        """The error for the input `name`, whose mark has no reader."""
        return InputError(f"this is {self.what}, and emdiam has no reader for it", path=name,
                          remedy=self.remedy or _EDGE_LIST)


_MAGICS: tuple[tuple[bytes, FormatMark], ...] = (
    (b"PAR1", FormatMark("parquet", "a Parquet file")),
    (b"ARROW1", FormatMark("arrow", "an Arrow or Feather file")),
    (b"FEA1", FormatMark("", "a Feather file of version 1", "write it again with a newer pyarrow or pandas")),
    (b"\xff\xff\xff\xff", FormatMark("arrow", "an Arrow stream")),
    (b"PK\x03\x04", FormatMark(ZIP, "a zip archive")),
    (b"PK\x05\x06", FormatMark("", "an empty zip archive", "fetch it again")),
    (b"\x93NUMPY", FormatMark("npy", "a NumPy array")),
    (b"\x89HDF\r\n\x1a\n", FormatMark("hdf5", "an HDF5 file")),
    (b"MATLAB 5.0 MAT-file", FormatMark("mat", "a MATLAB file")),
    (b"MATLAB 7.3 MAT-file", FormatMark("hdf5", "a MATLAB file of version 7.3")),
    (b"SQLite format 3\0", FormatMark("", "an SQLite database",
                                      "write its table of edges as CSV, e.g. with sqlite3 -csv -header")),
    (b"%PDF-", FormatMark("", "a PDF document", _FETCH)),
    (b"7z\xbc\xaf\x27\x1c", FormatMark("", "a 7z archive", _EXTRACT)),
    (b"Rar!\x1a\x07", FormatMark("", "a RAR archive", _EXTRACT)),
    (b"\x1f\x9d", FormatMark("", "a file of compress (.Z)", "undo it with uncompress first")),
    (b"\x04\x22\x4d\x18", FormatMark("", "a file of lz4", "undo it with lz4 -d first")),
    (b"\x89PNG\r\n", FormatMark("", "a picture (PNG)", _FETCH)),
    (b"\xff\xd8\xff", FormatMark("", "a picture (JPEG)", _FETCH)),
    (b"GIF8", FormatMark("", "a picture (GIF)", _FETCH)),
    (b"\xd0\xcf\x11\xe0", FormatMark("", "an old document of Microsoft Office", "save the table as CSV")),
    (b"ORC", FormatMark("", "an ORC file", "write it as Parquet")),
    (b"Obj\x01", FormatMark("", "an Avro file", "write it as Parquet")),
    (b"version https://git-lfs", FormatMark("", "a pointer of Git LFS instead of the file",
                                       "fetch the file with git lfs pull")),
    (b"/annex/objects/", FormatMark("", "a pointer of git-annex instead of the file", "fetch it with git annex get")),
    (b"HEADER RECORD*******", FormatMark("", "a file of SAS", "write it as CSV")),
    (b"H\tVN:Z:", FormatMark("", "a GFA file of sequences")),
)

_HMETIS = FormatMark("", "a hypergraph of hMETIS", "write an edge between each hyperedge and its vertices")
_HARWELL = FormatMark("", "a matrix of Harwell and Boeing", "write it as Matrix Market, e.g. with scipy.io")
_MODULES = FormatMark("", "a partition of vertices or a tree of their modules", "hand in the network itself")
_SETS = FormatMark("", "a list of communities or sets", "hand in the edges")
_LABELS = FormatMark("", "a list of vertices and their labels", "hand in the edges")
UNREAD = {".cmty": _SETS, ".gmt": _SETS, ".gmx": _SETS, ".node_labels": _LABELS,
          **dict.fromkeys((".clu", ".tree", ".ftree", ".td"), _MODULES), **dict.fromkeys((".hgr", ".hmetis"), _HMETIS),
          **dict.fromkeys((".rb", ".hb", ".rua", ".rsa", ".pua", ".psa"), _HARWELL)}
"""Suffixes of texts without a mark, and without a reader."""

_NAME = rb'(?:"(?:[^"\\]|\\.){0,4096}"|[^\s{"\[;]{1,4096})'
_IRI = rb"<[^<>\"{}|^`\s]{1,4096}>"
_NODE = rb"_:[^\s<>]{1,4096}"

# Texts with a mark at the first byte after blanks and comments.
_TEXTS = tuple((re.compile(pattern, re.IGNORECASE), mark) for pattern, mark in (
    (rb"%{1,2}MatrixMarket\b", FormatMark("matrix-market", "a Matrix Market file")),
    (rb"%PDF-", FormatMark("", "a PDF document", _FETCH)),
    (rb">>(?:graph6|sparse6|digraph6)<<", FormatMark("graph6", "graph6 or sparse6")),
    (rb"\*(?:vertices|network|partition|edges|arcs|edges?list|arcs?list|matrix)\b",
     FormatMark("pajek", "a Pajek network")),
    (rb"graph\s{0,64}\[", FormatMark("gml", "GML")),
    (rb"(?:strict\s{1,64})?(?:di)?graph(?:\s{1,64}" + _NAME + rb")?\s{0,64}\{", FormatMark("dot", "Graphviz DOT")),
    (rb"(?:graph|flowchart)\s{1,64}(?:TB|TD|BT|RL|LR)\b", FormatMark("", "a diagram of Mermaid")),
    (rb"33D32945\b", FormatMark("", "a problem of SteinLib", "write it as DIMACS: 'p edge NODES EDGES', then its lines"
                               " 'E u v' with a small e and without the third number")),
    (rb"@(?:nodes|arcs|edges)\b[^\n]{0,4096}\n", FormatMark(
        "", "a LEMON graph", "write the first two columns of its @arcs as an edge list, and the first of its @nodes as"
        " a list for --vertices")),
    (rb"graph\s{1,64}\d{1,18}\s{0,64}[,.]\s{0,64}(?:order|\n)", FormatMark(
        "", "a graph of showg of nauty", "write it as graph6")),
    (rb"dl[\s,]{1,64}(?:n|nr|nc|nm|format|data|labels)\b\s{0,64}[=:]", FormatMark("dl", "UCINET DL")),
    (rb"(?:" + _IRI + rb"|" + _NODE + rb")[ \t]{1,64}" + _IRI + rb"[ \t]{1,64}(?:<|_:|\")",
     FormatMark("ntriples", "N-Triples")),
    (rb"(?:\d{3}:? )?(?:not found|access denied|forbidden|unauthorized|bad request|moved permanently|internal server "
     rb"error|service unavailable|too many requests)\.?\s{0,64}$",
     FormatMark("", "a message of a server in place of the file", _FETCH)),
    (rb"\*(?:node|tie)\s{1,64}(?:data|properties)\b", FormatMark("", "a VNA file of NetDraw")),
    (rb"@start(?:uml|dot)\b", FormatMark("", "a diagram of PlantUML")),
    (rb"@(?:prefix|base)\s|(?:prefix\s{1,64}[\w.-]{0,64}:|base)\s{1,64}<",
     FormatMark("", "RDF in Turtle", "write it as N-Triples, e.g. with rapper or rdflib")),
    (rb"<!doctype\s{1,64}html|<html\b|<head\b|<body\b",
     FormatMark("", "a web page (HTML), such as that of a download or of an error", _FETCH)),
    (rb"(?!\[\[\s{0,64}[-\d.]{1,64}[ \t])[{\[]\s{0,4096}(?:[{\[\"}\]]|-?\d[\d.eE+-]{0,64}\s{0,64}(?:[,\]]|$))",
     FormatMark("json", "JSON")),
    (rb"\{\s{0,64}(?:\d{1,20}|'[^'\n]{0,4096}')\s{0,64}:\s{0,64}[\[{(]|[\[{]\s{0,64}\(",
     FormatMark("json", "a value of Python")),
    (rb"nodedef\s{0,64}>", FormatMark("", "a GDF file of GUESS or Gephi", _EDGE_LIST)),
    (rb"(?:insert\s{1,64}into|create\s{1,64}table)\s[^\n]{0,4096}\(|copy\s[^\n]{0,4096}\sfrom\sstdin|pragma\s\w{1,64}="
     rb"|--\s{1,64}(?:postgresql|mysql|sqlite|mariadb) ",
     FormatMark("", "a dump of SQL", "write its table of edges as CSV")),
    (rb"\[,1\]\s|\d{1,9} x \d{1,9} sparse Matrix of class", FormatMark("", "a matrix as R prints it",
                             "write it with write.csv, or with Matrix::writeMM if it is sparse")),
    (rb"IGRAPH [DU]", FormatMark("", "a graph as igraph prints it", _EDGE_LIST)),
    (rb"n=\d{1,20}[ \t]{1,8}(?:\$=\d{1,20}[ \t]{1,8})?d?g\s", FormatMark("", "a graph of dreadnaut", _EDGE_LIST)),
    (rb"LEDA\.GRAPH\b", FormatMark("leda", "a LEDA graph")),
    (rb"(?:Weighted)?AdjacencyGraph\s", FormatMark("adj", "an adjacency graph of Ligra or GBBS")),
    (rb"(?:Weighted)?AdjacencyHypergraph\s", FormatMark("", "a hypergraph of Hygra or GBBS")),
    (rb"\((?!\s{0,64}[^\s,()]{1,4096}\s{0,64},\s{0,64}[^\s,()]{1,4096}\s{0,64}\))"
     rb"[^;\[\]]{0,65536}\)[^;()]{0,4096};\s{0,64}(?:$|\()", FormatMark("", "a tree in the Newick format")),
    (rb"\(tlp\s", FormatMark("", "a graph of Tulip", _EDGE_LIST)),
    # Properties are in hash-table order.
    (rb"#BVGraph properties|(?:[a-z]{1,64}\s{0,64}=[^\n]{0,4096}\n){0,64}graphclass\s{0,64}=",
     FormatMark("bvgraph", "the properties of a graph of WebGraph")),
))

_ROOT = re.compile(rb"<([A-Za-z_][\w.-]{0,255}:)?([A-Za-z_][\w.-]{0,255})")
_ROOTS = {b"graphml": FormatMark("graphml", "GraphML"), b"gexf": FormatMark("gexf", "GEXF"),
          b"html": FormatMark("", "a web page (HTML), such as that of a download or of an error", _FETCH),
          b"number": FormatMark("", "a road network of TNTP", "keep the first two numbers of its links"),
          b"http": FormatMark("", "N-Triples without blanks", "write a blank between the terms of a triple"),
          b"https": FormatMark("", "N-Triples without blanks", "write a blank between the terms of a triple"),
          b"osm": FormatMark("", "OpenStreetMap XML", "make a graph of its streets first, e.g. with osmnx")}
_GML_FIELD = re.compile(
    rb'(?:[A-Za-z]\w{0,63}[ \t]{1,64}(?:"[^"]{0,4096}"|[-+\d.][^\s\[\]]{0,63})|creator\b[^\n]{0,4096}\n)\s{0,64}',
    re.IGNORECASE)
_GML_GRAPH = re.compile(rb"graph\s{0,64}\[", re.IGNORECASE)
_FEW_FIELDS = 16
_PROBLEM = re.compile(rb"p[ \t]{1,64}\w{1,64}[ \t]{1,64}\d+[ \t]{1,64}\d")
_DECOMPOSITION = re.compile(rb"s[ \t]{1,64}td[ \t]{1,64}\d")
_COMMENT_OF_DIMACS = re.compile(rb"c(?:[ \t\r\n]|$)")
_BLANKS = re.compile(rb"[ \t\r\n\f\v]*")
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x00-\xff]")


def find_mark(head: bytes) -> FormatMark | None:
    """The mark at the beginning of `head`, the first bytes of an input without compression and byte order mark.

    Parameters
    ----------
    head : bytes
        A longer head allows more comments before the mark.

    Returns
    -------
    FormatMark or None
        None for plain tables and lists of numbers or words, and for binary data without a mark.
    """
    for magic, mark in _MAGICS:
        if head.startswith(magic):
            return mark
    if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
        return FormatMark(TAR, "a tar archive")
    if _PICKLE.match(head):
        return FormatMark("", "a pickle of Python, which could run any program",
                          "load it yourself and hand the graph to emdiam.convert, or write an edge list")
    return None if b"\0" in head else _text_mark(head)


def _text_mark(head: bytes) -> FormatMark | None:
    """The mark of a text, after blanks and comments of any style."""
    at = _behind_blanks(head, 0)
    for _ in range(_MOST_COMMENTS):
        for pattern, mark in _TEXTS:
            if pattern.match(head, at):
                return mark
        behind = _behind_comment(head, at)
        if behind is None:
            break
        at = _behind_blanks(head, behind)
    return _xml_root(head, at) or _gml_behind_fields(head, at) or _dimacs(head, at)


def _behind_blanks(head: bytes, at: int) -> int:
    blanks = _BLANKS.match(head, at)
    return at if blanks is None else blanks.end()


def _behind_comment(head: bytes, at: int) -> int | None:
    """The place after the comment that begins at `at`, None without a comment."""
    if head.startswith(b"/*", at):
        return _behind(head, b"*/", at)
    if head.startswith(b"<!--", at):
        return _behind(head, b"-->", at)
    if head[at : at + 1] in (b"#", b"%") or head.startswith(b"//", at):
        end = head.find(b"\n", at)
        return end + 1 if end >= 0 else _behind(head, b"\r", at)
    return None


def _behind(head: bytes, end: bytes, at: int) -> int:
    found = head.find(end, at)
    return len(head) if found < 0 else found + len(end)


def _xml_root(head: bytes, at: int) -> FormatMark | None:
    """The format of an XML document from the name of its root, after declarations and comments."""
    for _ in range(_FEW_FIELDS):
        for begin, end in ((b"<?", b"?>"), (b"<!--", b"-->"), (b"<!", b">")):
            if head.startswith(begin, at):
                subset = head.find(b"[", at, head.find(b">", at)) >= 0 and begin == b"<!"
                at = _behind_blanks(head, _behind(head, b"]>" if subset else end, at))
                break
        else:
            break
    root = _ROOT.match(head, at)
    if root is None:
        return None
    name = root[2].lower()
    return _ROOTS.get(name) or FormatMark("", f"XML with the root {root[2].decode()}", f"{_EDGE_LIST}, or as GraphML")


def _gml_behind_fields(head: bytes, at: int) -> FormatMark | None:
    """The mark of GML whose graph follows fields such as Creator and Version."""
    for _ in range(_FEW_FIELDS):
        field = _GML_FIELD.match(head, at)
        if field is None:
            return None
        at = field.end()
        if _GML_GRAPH.match(head, at):
            return FormatMark("gml", "GML")
    return None


def _dimacs(head: bytes, at: int) -> FormatMark | None:
    """The mark of DIMACS, whose first line after its comments is the problem line."""
    while _COMMENT_OF_DIMACS.match(head, at):
        at = _behind_blanks(head, _behind(head, b"\n", at))
    if _DECOMPOSITION.match(head, at):
        return FormatMark("", "a tree decomposition of PACE", "hand in the graph itself")
    return FormatMark("dimacs", "a DIMACS graph") if _PROBLEM.match(head, at) else None
