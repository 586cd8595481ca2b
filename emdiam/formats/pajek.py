"""Pajek networks (.net): *Vertices n, then *Edges, *Arcs, *Edgeslist, *Arcslist or *Matrix.

(Mrvar, Batagelj, "Pajek: Reference Manual".) The labels of vertices are the numbers from 1 to n; vertices without a
line count too. An edge without a value has weight 1. Networks with two modes or several relations are read as one
graph. Partitions and vectors beside the network, as in a project (.paj), are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .base import FileSource
from .collected import NumberedEdges, TextLines, number, vertex_number
from .inputs import text_head
from .registry import format_suffix
from .source import EdgeBatch, SourceInfo
from .weights import WHOLE

_VERTICES = re.compile(rb"^[ \t]{0,64}\*vertices[ \t]+(\d{1,18})(?!\S)", re.IGNORECASE | re.MULTILINE)
_COMMENTS = ("%", "#")
_OTHERS = {".clu": "a partition", ".vec": "a vector", ".per": "a permutation"}
_SECTION = re.compile(r"\*\s*([A-Za-z]+)(?:\s+(list)\b)?", re.IGNORECASE)
_PAIRS = {"edges": False, "arcs": True, "links": True}
_LISTS = {"edgeslist": False, "edgelist": False, "arcslist": True, "arclist": True}
_EDGE = re.compile(r"\d+\s+\d+(?:\s+[-+.\d]+)?")
_ZEROS = 20  # most leading zeros of a number
_BESIDE = ("partition", "vector", "cluster", "permutation")
_IGNORED = ("network", "vertices", *_BESIDE)


class _Seen:
    """Numbers of vertices that have been there: all from 1 to `first`, and those beyond."""

    def __init__(self) -> None:
        self.first, self.beyond = 0, set[int]()

    def add(self, number: int) -> bool:
        """Add a number; returns False if it was added before."""
        if number <= self.first or number in self.beyond:
            return False
        if number == self.first + 1:
            self.first = number
        else:
            self.beyond.add(number)
        return True


class PajekSource(FileSource):
    """See the module."""

    format = "pajek"

    def _read_info(self) -> SourceInfo:
        other = _OTHERS.get(format_suffix(self.name))
        if other is not None:
            raise self.error(f"this is {other} of a network, without edges", remedy="give the network (.net) alone")
        n = text_head(self.input, self._n_vertices)
        return self._facts(n_vertices=n, first_id=1, directed=True, weights="" if self.weights is None else WHOLE)

    def _n_vertices(self, head: bytes, _complete: bool) -> int | None:
        found = _VERTICES.search(head)
        return None if found is None else int(found[1])

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad line."""
        n = self.info().n_vertices or 0
        lines = TextLines(self, batch_bytes, _COMMENTS)
        edges = NumberedEdges(self, n, batch_bytes, lambda: {"line": lines.number})
        section, beside, doubt, n_sections, row, values, seen = "", False, "", 0, 0, 0, _Seen()
        for line in self._without_comments(lines):
            if line.startswith("*"):
                section = self._section(lines, line)
                beside = section in _BESIDE or (beside and section == "vertices")
                n_sections += section == "vertices" and not beside
                doubt = doubt if section in _IGNORED else ""
                if n_sections > 1:
                    raise lines.error("a second list of vertices: of another network, a partition or a vector", line,
                                      "give each network a file of its own, without the others")
            elif beside:
                continue
            elif section == "vertices":
                self._check_vertex(lines, line, n, seen)
                doubt = doubt or (line if _EDGE.fullmatch(line) else "")
            elif section in _PAIRS:
                src, dst, weight = self._pair(lines, line)
                edges.edge(src, dst, weight or "1", directed=_PAIRS[section])
                values += bool(weight)
            elif section in _LISTS:
                first, *others = self._numbers(lines, line)
                for other in others:
                    edges.edge(first, other, "1", directed=_LISTS[section])
            elif section == "matrix":
                row += 1
                values += self._row(lines, line, row, edges)
            else:
                raise lines.error("a line that is no part of a network", line, "write edges below a line *Edges or"
                                  " *Arcs, or remove it")
            yield from edges.ready()
        yield from edges.last()
        if doubt:
            raise self.error("there is no section of edges, and a line of a vertex may be an edge", text=doubt,
                             remedy="write a line *Edges above the edges, or at the end if there are none")
        if row not in (0, n):
            raise self.error(f"the matrix has {row:,} rows where {n:,} are expected", remedy="fetch the file again")
        self.dropped = {"values": values if self.weights is None else 0}

    def _section(self, lines: TextLines, line: str) -> str:
        found = _SECTION.match(line)
        name = "" if found is None else "".join(filter(None, found.groups())).lower()
        if name == "events":
            raise lines.error("a network over time, by events", line, "write it at one time, with *Edges or *Arcs")
        if name not in (*_PAIRS, *_LISTS, *_IGNORED, "matrix"):
            raise lines.error("a section that is no part of a network", line, "write its edges below a line *Edges or"
                              " *Arcs, or remove it with its lines if it has none")
        return name

    def _without_comments(self, lines: TextLines) -> Iterator[str]:
        """The lines except comments that begin with /*. Raises InputError for a comment of several lines."""
        is_open = False
        for line in lines:
            if is_open and "*/" in line and not line.startswith("/*"):
                raise lines.error("the end of a comment of several lines", line, "begin each of its lines with %")
            is_open = is_open or (line.startswith("/*") and "*/" not in line)
            if not line.startswith("/*"):
                yield line

    def _check_vertex(self, lines: TextLines, line: str, n: int, seen: _Seen) -> None:
        """Raise InputError unless the line begins with a valid vertex number that has not been there."""
        word = line.split(None, 1)[0]
        if not (word.isdecimal() and len(word) < len(str(n)) + _ZEROS and 1 <= int(word) <= n):
            raise lines.error(f"a line among the vertices without a number from 1 to {n:,}", line)
        if not seen.add(int(word)):
            raise lines.error("a second line of a vertex, or an edge", line, "write edges below a line *Edges or *Arcs")

    def _pair(self, lines: TextLines, line: str) -> tuple[int, int, str]:
        """(source, target, value) of an edge."""
        words = line.split(None, 3)
        try:
            return vertex_number(words[0]), vertex_number(words[1]), words[2] if len(words) > 2 else ""
        except (ValueError, IndexError):
            raise lines.error("a line without the numbers of two vertices", line) from None

    def _numbers(self, lines: TextLines, line: str) -> list[int]:
        try:
            return [vertex_number(word) for word in line.split()]
        except ValueError:
            raise lines.error("a line of something else than numbers of vertices", line) from None

    def _row(self, lines: TextLines, line: str, row: int, edges: NumberedEdges) -> int:
        """Add the edges of a row of the matrix; returns the number of its values."""
        words = line.split()
        n = self.info().n_vertices
        if len(words) != n:
            raise lines.error(f"a row of the matrix has {len(words):,} values where {n:,} are expected", line[:80])
        count = 0
        for column, word in enumerate(words, 1):
            try:
                if number(word) != 0:
                    edges.edge(row, column, word, directed=True)
                    count += 1
            except ValueError:
                raise lines.error("a value of the matrix is no number", word) from None
        return count
