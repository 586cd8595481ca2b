"""The format of an input from its first bytes, when its name does not settle it."""

from __future__ import annotations

import re

from ..errors import InputError
from .columns import named_pair
from .text_head import lines_with_text, read_head

HEAD_BYTES = 1 << 16
# No pattern here may repeat what can be empty, or match the same blanks in two ways: on a file of blank lines
# that takes for ever.
_DIMACS = re.compile(rb"\s*p[ \t]+\w+[ \t]+\d+[ \t]+\d+")
_DIMACS_COMMENT = re.compile(rb"\s*c(?:[ \t\r\n]|$)")
_FOREIGN = (
    (re.compile(rb"\s*<"), "XML, such as GraphML or GEXF"),
    (re.compile(rb"\s*[{\[]"), "JSON"),
    (re.compile(rb"\s*\*(vertices|network)", re.IGNORECASE), "Pajek"),
    (re.compile(rb"\s*(creator\b[^\n]*\n\s*)?graph\s*\[", re.IGNORECASE), "GML"),
    (re.compile(rb"\s*(strict\s+)?(di)?graph\b[^\n{]*\{", re.IGNORECASE), "Graphviz DOT"),
)


def sniff(head: bytes, name: str) -> str:
    """Name of the format of the decompressed bytes `head`.

    Raises InputError for binary data and for graph formats that have no reader here.
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if b"\0" in head:
        raise InputError("binary data of no known format", path=name, byte=head.index(b"\0"),
                         remedy="name the format with --format")
    if head[:14].lower() == b"%%matrixmarket":
        return "matrix-market"
    for pattern, foreign in _FOREIGN:
        if pattern.match(head):
            raise InputError(f"this looks like {foreign}, for which there is no reader", path=name,
                             remedy="write it as an edge list, or name the format with --format")
    if _is_dimacs(head):
        return "dimacs"
    return "csv" if _has_header(head) else "edgelist"


def _is_dimacs(head: bytes) -> bool:
    """Whether the first line that is no comment is a problem line."""
    for start, _ in lines_with_text(head):
        if not _DIMACS_COMMENT.match(head, start):
            return _DIMACS.match(head, start) is not None
    return False


def _has_header(head: bytes) -> bool:
    first = read_head(head, True)
    line = first.lines[0].decode("utf-8", "replace") if first else ""
    names = [name.strip(' "') for name in re.split(r"[,\t;| ]", line)]
    return named_pair(names) is not None
