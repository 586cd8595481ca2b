"""LEDA graphs (.gw, .lgr): types of labels, a direction, the vertices, then the edges, one in each line.

("The LEDA Native Graph Fileformat", Algorithmic Solutions.) The ids of vertices are the numbers from 1 to n. The label
of an edge is its weight if the header declares numeric labels of edges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..units import format_count
from .base import FileSource
from .collected import NumberedEdges, TextLines
from .inputs import text_head
from .source import EdgeBatch, SourceInfo
from .weights import WHOLE

_COMMENTS = ("#",)
_DIRECTED, _UNDIRECTED = "-1", "-2"
_NUMBERS = ("short", "int", "long", "float", "double")
_LINES = 5  # the mark, both types, the direction and n
_EDGE = re.compile(r"(\d{1,18})\s+(\d{1,18})\s+\d+\s*\|\{(.*)\}\|\s*")


@dataclass(frozen=True)
class _Header:
    """The header. n : number of vertices. labels : type of the edge labels. directed : whether edges have a direction.
    """

    n: int
    labels: str
    directed: bool


class LedaSource(FileSource):
    """See the module."""

    format = "leda"

    def _read_info(self) -> SourceInfo:
        header = self._header()
        if self.weights is not None and header.labels not in _NUMBERS:
            raise self.no_weights(f"the labels of its edges are {header.labels}")
        return self._facts(n_vertices=header.n, first_id=1, directed=header.directed,
                           weights="" if self.weights is None else WHOLE)

    def _header(self) -> _Header:
        lines = text_head(self.input, _first_lines)
        if len(lines) < _LINES or lines[3] not in (_DIRECTED, _UNDIRECTED) or not re.fullmatch(r"\d{1,18}", lines[4]):
            raise self.error("no LEDA header of two types, -1 or -2, and a number of vertices",
                             text=" ".join(lines)[:80], remedy="write the graph anew")
        return _Header(int(lines[4]), lines[2], lines[3] == _DIRECTED)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad line."""
        header, lines = self._header(), TextLines(self, batch_bytes, _COMMENTS)
        edges = NumberedEdges(self, header.n, batch_bytes, lambda: {"line": lines.number})
        lines.first(_LINES)
        for _ in range(header.n):
            self._next(lines, "a vertex")
        count = self._next(lines, "the number of edges")
        if not re.fullmatch(r"\d{1,18}", count):
            raise lines.error("the number of edges is missing", count)
        for _ in range(int(count)):
            line = self._next(lines, "an edge")
            found = _EDGE.fullmatch(line)
            if found is None:
                raise lines.error("an edge is written as two vertices, a number and a label in |{ }|", line)
            edges.edge(int(found[1]), int(found[2]), found[3].strip(), directed=header.directed)
            yield from edges.ready()
        yield from edges.last()
        more = lines.first(1)
        if more:
            raise lines.error(f"a line behind the {format_count(int(count), 'edge')} that the file declares", more[0],
                              "fix the number of edges or write the graph anew")
        has_labels = self.weights is None and header.labels != "void"
        self.dropped = {"labels of edges": int(count)} if has_labels else {}

    def _next(self, lines: TextLines, what: str) -> str:
        """The next line. Raises InputError at the end of the file."""
        found = lines.first(1)
        if not found:
            raise self.error(f"the file ends where {what} is to come", line=lines.number, remedy="write the graph anew")
        return found[0]


def _first_lines(head: bytes, complete: bool) -> list[str] | None:
    """The lines of the header; None if `head` does not have all of them."""
    lines = [line.strip() for line in head.decode("utf-8", "replace").splitlines(keepends=True)
             if line.strip() and not line.lstrip().startswith(_COMMENTS) and (complete or line.endswith(("\n", "\r")))]
    return lines[:_LINES] if complete or len(lines) >= _LINES else None
