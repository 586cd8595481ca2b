"""METIS graphs (also KaHIP, DIMACS-10): a header "n m [fmt [ncon]]", then row i = neighbours of i.

(Karypis, "METIS: A Software Package ... Version 5.1.0", section 4.1.) Ids are 1-based, an empty
line is an isolated vertex, % starts a comment line. The three digits of fmt say whether rows hold
a vertex size, ncon vertex weights and a weight behind every neighbour; all of them are dropped and counted.
Every edge stands in both rows: that and the number of edges are checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import kernels
from .base import FileSource, pairs_per_batch, text_head
from .blocks import after_word, block_bytes_for, text_blocks
from .faults import Wording, fault_error
from .headers import HeaderEnd, find_line, header_counts
from .source import EdgeBatch, SourceInfo
from .streams import ByteStream
from .symmetric_check import checked_symmetric

_MOST_WEIGHTS = 1 << 20


def _find_header(head: bytes, complete: bool) -> HeaderEnd | None:
    return find_line(head, complete, lambda line: bool(line) and not line.startswith(b"%"))


@dataclass(frozen=True)
class _Header:
    """n, m : vertices and edges. sizes, weights : numbers before the first neighbour of a row. period :
    numbers per neighbour. end : the header line."""

    n: int
    m: int
    sizes: int
    weights: int
    period: int
    end: HeaderEnd


class MetisSource(FileSource):
    """See the module. Yields both directions of every edge, in row order."""

    format = "metis"

    def _read_header(self) -> _Header:
        end = text_head(self.input, _find_header)
        words = end.text.split()
        flags = words[2].zfill(3) if len(words) > 2 else "000"
        if not 2 <= len(words) <= 4 or len(flags) != 3 or set(flags) - {"0", "1"}:
            raise self.error("the first line is no METIS header", line=end.number, text=end.text,
                             remedy="it must be 'n m', 'n m fmt' or 'n m fmt ncon' with fmt of digits 0 and 1")
        n, m, *rest = header_counts(words[:2] + words[3:], end, self.name)
        if rest and rest[0] > _MOST_WEIGHTS:
            raise self.error(f"the header declares more than {_MOST_WEIGHTS} weights a vertex",
                             line=end.number, text=end.text, remedy="mend the header")
        weights = (rest[0] if rest else 1) if flags[1] == "1" else 0
        return _Header(n, m, int(flags[0]), weights, 1 + int(flags[2]), end)

    def _read_info(self) -> SourceInfo:
        header = self._read_header()
        return SourceInfo(n_vertices=header.n, first_id=1, n_entries=2 * header.m, directed=False,
                          size_bytes=self.input.size_bytes, format=self.format, both_directions=True)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError at a bad row, for wrong counts and for an edge that
        only one of its ends lists."""
        yield from checked_symmetric(self, self._rows, batch_bytes)

    def _rows(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        header = self._read_header()
        state = kernels.new_state(header.end.number + 1)
        found = 0
        with self.input.text(header.end.offset) as stream:
            for batch in self._neighbours(stream, header, state, pairs_per_batch(batch_bytes)):
                found += len(batch.src)
                yield batch
        self._check_counts(header, int(state[kernels.ROW]), found)
        self.dropped = {"vertex sizes": header.n * header.sizes, "vertex weights": header.n * header.weights,
                        "edge weights": found * (header.period - 1)}

    def _neighbours(self, stream: ByteStream, header: _Header, state: Any, capacity: int) -> Iterator[EdgeBatch]:
        """Batches of `capacity` pairs; leaves the number of rows in `state`."""
        wording = Wording(self.name, least=1, largest=header.n)
        layout = np.array([header.sizes + header.weights, header.period, header.n], np.int64)
        src, dst = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        for block in _with_line_end(text_blocks(stream, block_bytes_for(16 * capacity), after_word)):
            state[kernels.POS], state[kernels.END] = 0, len(block)
            while state[kernels.POS] < state[kernels.END]:
                kernels.parse_rows(block, state, layout, src, dst)
                if state[kernels.FAULT]:
                    raise fault_error(wording, state, block, words=True)
                if state[kernels.COUNT] == capacity:
                    yield EdgeBatch(src, dst)
                    state[kernels.COUNT] = 0
                    src, dst = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        count = int(state[kernels.COUNT])
        if count:
            yield EdgeBatch(src[:count], dst[:count])

    def _check_counts(self, header: _Header, rows: int, entries: int) -> None:
        where: dict[str, Any] = {"line": header.end.number, "text": header.end.text,
                                 "remedy": "mend the header or fetch the file again"}
        if rows < header.n:
            raise self.error(f"the header declares {header.n} rows but there are {rows}", **where)
        if entries == header.m != 0:
            where["remedy"] = "list every edge in the rows of both its ends"
        if entries != 2 * header.m:
            raise self.error(f"the header declares {header.m} edges, so {2 * header.m} neighbours, but the rows "
                             f"list {entries}", **where)


def _with_line_end(blocks: Iterator[Any]) -> Iterator[Any]:
    """Appends a line end, so that the last row counts even if its own is missing (and even if the
    row is empty, as that of an isolated last vertex)."""
    yield from blocks
    yield np.array([10], np.uint8)
