"""METIS graphs (also KaHIP, DIMACS-10): a header "n m [fmt [ncon]]", then row i = neighbours of i. And the ASCII graphs
of WebGraph: a header "n", then row i = successors of i, from 0 on.

(Karypis, "METIS: A Software Package ... Version 5.1.0", section 4.1.) Ids are 1-based, an empty line is an isolated
vertex, % starts a comment line. The three digits of fmt say whether rows have a vertex size, ncon vertex weights and a
weight after each neighbour. All of them are dropped and counted, except weights of edges if these are kept.

Each edge is listed in both rows; that and the number of edges are checked. If directions are kept, a row lists the
outgoing arcs of its vertex, and m is the number of arcs or of edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .base import FileSource
from .inputs import HeaderLine, header_line
from .lines import LineReader
from .source import EdgeBatch, SourceInfo
from .symmetry import checked_symmetric
from .weights import WHOLE

_MAX_WEIGHTS = 1 << 20


@dataclass(frozen=True)
class _Header:
    """The header. n, m : numbers of vertices and edges. sizes, weights : numbers before the first neighbour of a row.
    period : numbers per neighbour. line : the header line."""

    n: int
    m: int
    sizes: int
    weights: int
    period: int
    line: HeaderLine


class MetisSource(FileSource):
    """See the module. Yields both directions of each edge, in row order."""

    format = "metis"

    def _read_header(self) -> _Header:
        line = header_line(self.input, lambda line: line.startswith(b"%"))
        words = line.text.split()
        flags = words[2].zfill(3) if len(words) > 2 else "000"
        if not 2 <= len(words) <= 4 or len(flags) != 3 or set(flags) - {"0", "1"}:
            raise line.error("the first line is no METIS header",
                             "it must be 'n m', 'n m fmt' or 'n m fmt ncon' with fmt of digits 0 and 1")
        n, m, *rest = line.counts(words[:2] + words[3:])
        if rest and rest[0] > _MAX_WEIGHTS:
            raise line.error(f"the header declares more than {_MAX_WEIGHTS} weights a vertex", "fix the header")
        weights = (rest[0] if rest else 1) if flags[1] == "1" else 0
        return _Header(n, m, int(flags[0]), weights, 1 + int(flags[2]), line)

    def _read_info(self) -> SourceInfo:
        header = self._read_header()
        if self.weights is not None and header.period == 1:
            raise self.no_weights("the header declares no weights of edges")
        arcs = self.wishes.directed
        return self._facts(n_vertices=header.n, first_id=1, n_entries=None if arcs else 2 * header.m, directed=arcs,
                           both_directions=not arcs, weights="" if self.weights is None else WHOLE)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError at a bad row, for wrong counts, and (unless directions are kept) for an
        edge that only one of its ends lists."""
        if self.wishes.directed:
            yield from self._rows(batch_bytes)
            return
        yield from checked_symmetric(self, self._rows, batch_bytes,
                                     "list every edge at both its ends, or keep the arcs as they are with --directed")

    def _rows(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        header = self._read_header()
        lines = LineReader(self.name, header.line.number + 1, least=1, largest=header.n, weights=self.weights)
        with self.input.text(header.line.offset) as stream:
            yield from lines.rows(stream, header.sizes + header.weights, header.period, batch_bytes)
        if lines.n_rows < header.n:
            raise header.line.error(f"the header declares {header.n:,} rows but there are {lines.n_rows:,}",
                                    "fix the header or fetch the file again")
        if lines.n_pairs != 2 * header.m and not (self.wishes.directed and lines.n_pairs == header.m):
            raise header.line.error(f"the header declares {header.m:,} edges, so {2 * header.m:,} neighbours, but the"
                                    f" rows list {lines.n_pairs:,}",
                                    "list every edge in the rows of both its ends, or keep arcs one way with --directed"
                                    if lines.n_pairs == header.m
                                    else "fix the header or fetch the file again")
        self.dropped = {"vertex sizes": header.n * header.sizes, "vertex weights": header.n * header.weights,
                        "edge weights": lines.n_pairs * (header.period - 1) if self.weights is None else 0}
        self.weight_kind = lines.weight_kind()


class AsciiGraphSource(FileSource):
    """An ASCII graph of WebGraph (.graph-txt)."""

    format = "graph-txt"

    def _read_header(self) -> tuple[int, HeaderLine]:
        line = header_line(self.input, lambda line: line.startswith(b"#"))
        if len(line.text.split()) != 1:
            raise line.error("the first line is no number of vertices", "write it above the successors of vertex 0")
        return line.counts(line.text.split())[0], line

    def _read_info(self) -> SourceInfo:
        return self._facts(n_vertices=self._read_header()[0], first_id=0, directed=True)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError at a bad row, and for a wrong number of rows."""
        n, line = self._read_header()
        lines = LineReader(self.name, line.number + 1, largest=n - 1)
        with self.input.text(line.offset) as stream:
            yield from lines.rows(stream, 0, 1, batch_bytes)
        if lines.n_rows < n:
            raise line.error(f"the header declares {n:,} rows but there are {lines.n_rows:,}",
                             "fix the header or fetch the file again")
