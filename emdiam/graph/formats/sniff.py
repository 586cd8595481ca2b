"""The format of an input from its first bytes, when its name does not settle it."""

from __future__ import annotations

import re

from ...errors import InputError
from .columns import named_pair

HEAD_BYTES = 1 << 16
_DIMACS = re.compile(rb"(?:\s*|c(?:[ \t][^\n]*)?\r?\n)*p[ \t]+\w+[ \t]+\d+[ \t]+\d+")
_FIRST_DATA_LINE = re.compile(rb"(?:[ \t]*(?:[#%][^\r\n]*)?[\r\n]+)*([^\r\n]*)")
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
        raise InputError(
            "binary data of no known format",
            path=name,
            byte=head.index(b"\0"),
            remedy="name the format with --format",
        )
    if head[:14].lower() == b"%%matrixmarket":
        return "matrix-market"
    for pattern, foreign in _FOREIGN:
        if pattern.match(head):
            raise InputError(
                f"this looks like {foreign}, for which there is no reader",
                path=name,
                remedy="write it as an edge list, or name the format with --format",
            )
    if _DIMACS.match(head):
        return "dimacs"
    return "csv" if _has_header(head) else "edgelist"


def _has_header(head: bytes) -> bool:
    match = _FIRST_DATA_LINE.match(head)
    line = match[1].decode("utf-8", "replace") if match else ""
    names = [name.strip(' "') for name in re.split(r"[,\t;| ]", line)]
    return named_pair(names) is not None
