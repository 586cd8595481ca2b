"""Text edge lists: one edge per line, two ids first; SNAP, KONECT, GAP .el/.wel and similar files.

look.py finds the separator, the header and the kind of ids from the first lines. Lines that start with # or % are
comments anywhere. Further columns (weights, times) are dropped and counted, except the weights to keep: the third
column, or the column with the given name or number. Line ends are LF, CR LF or CR. A header comment says whether the
graph is directed (SNAP "# Undirected graph", KONECT "% sym"). Counts in comments ("# Nodes: 5 Edges: 7") are not
trusted: they add no vertices and do not set the number of entries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from . import kernels
from .lines import FURTHER_FIELDS, LineReader
from .reading import TUPLES, Reading
from .source import SAID, EdgeBatch, SourceInfo, two_sides
from .text_source import TextSource
from .weights import WHOLE, weight_column

_MOST_FIELDS = 1 << 10
_SLASHES = re.compile(rb"(?m)^([ \t]*)//")
_LETTER_C = re.compile(rb"(?m)^c(?=[ \t\r\n])")
_BRACKETS = bytes.maketrans(b"()[]'\"", b"      ")
_SEPARATORS = {"": kernels.BLANKS_OR_COMMA, ",": kernels.COMMAS, " ": kernels.BLANKS, "\t": kernels.TABS}


class EdgeListSource(TextSource):
    """See the module. Ids are int64, or pyarrow strings."""

    format = "edgelist"
    takes_sides = True

    @property
    def _bipartite(self) -> bool:
        return self.wishes.bipartite or self.has_two_sides

    @property
    def more_ids(self) -> tuple[int, int] | None:
        """See SourceInfo."""
        return None if self._bipartite else super().more_ids

    @property
    def said(self) -> str:
        """See TextSource."""
        return super().said + (f"; {SAID}" if self._bipartite else "")

    def _read_info(self) -> SourceInfo:
        reading = self.look()
        if self.weights is not None and not 3 <= self._field <= _MOST_FIELDS:
            raise self.error("columns of an edge list have no names, but numbers from 3 on", text=self.weights.column,
                             remedy="give the number of the column")
        kind = "string" if self._bipartite else reading.id_kind
        return self._facts(directed=self.has_directions, id_kind=kind, reading=self.said,
                           weights="" if self.weights is None else WHOLE)

    @property
    def _field(self) -> int:
        """The number of the column of weights; 0 without one."""
        column, names = "" if self.weights is None else self.weights.column, self.look().names
        if names and self.weights is not None:
            place = weight_column(names, range(2, len(names)), column)
            return 0 if place is None else place + 1
        return 3 if not column else int(column) if column.isdecimal() and len(column) < 4 else 0

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad line."""
        reading = self.look()
        self.info()
        integers = reading.id_kind == "int"
        lines = LineReader(self.name, reading.line, strings=integers, weights=self.weights, field=self._field,
                           strict=self.ids == "auto", closed=reading.closed, rewrite=_rewriting(reading),
                           separator=_SEPARATORS[reading.separator], indented=reading.indented)
        with self.input.text(reading.skip) as stream:
            batches = self._checked((lines.pairs if integers else lines.names)(stream, "#%", batch_bytes))
            yield from map(two_sides, batches) if self._bipartite else batches
        self.weight_kind = lines.weight_kind()
        self.dropped, self.skipped = {FURTHER_FIELDS: lines.n_further}, lines.skipped


def _rewriting(reading: Reading) -> Callable[[bytes], bytes] | None:
    """A function that converts lines with other comments, arrows, dashes or brackets to plain ones; None if not needed.
    """
    steps: list[Callable[[bytes], bytes]] = []
    if reading.comments:
        pattern, hashes = (_SLASHES, rb"\1##") if reading.comments == "//" else (_LETTER_C, b"#")
        steps.append(lambda data: pattern.sub(hashes, data))
    arrow = reading.rewrite.encode()
    if reading.rewrite == TUPLES:
        steps.append(lambda data: data.replace(b"Edge(", b"     ").translate(_BRACKETS))
    elif reading.rewrite == "-":
        steps.append(lambda data: data.replace(b"-", b" ").replace("–".encode(), b"   "))
    elif arrow:
        steps.append(lambda data: data.replace(arrow, b"\t".ljust(len(arrow))))

    def rewrite(data: bytes) -> bytes:
        for step in steps:
            data = step(data)
        return data

    return rewrite if steps else None
