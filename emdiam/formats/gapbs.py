"""Serialized graphs of the GAP Benchmark Suite (.sg, and .wsg with int32 weights).

As its WriteSerializedGraph leaves them on a little-endian machine, without padding: directed
(bool, 1 byte), entries (int64), vertices (int64), out_index (int64[n + 1]), out_neighbours
(int32[m], in .wsg pairs of neighbour and weight), and for directed graphs the same two arrays once
more for incoming edges, which say nothing new and are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .base import FileSource
from .binary_csr import REMEDY, Layout, check_size, layout_batches
from .names import format_suffix
from .source import EdgeBatch, SourceInfo
from .symmetric_check import checked_symmetric

_HEADER = np.dtype([("directed", "u1"), ("m", "<i8"), ("n", "<i8")])
_OFFSET, _ID = np.dtype("<i8"), np.dtype("<i4")
_WEIGHTED_ID = np.dtype([("id", "<i4"), ("weight", "<i4")])


class GapbsSource(FileSource):
    """See the module. Undirected graphs list both directions of every edge, which is checked."""

    format = "gapbs"

    def _read_layout(self) -> tuple[Layout, bool]:
        self.input.require_file("an .sg graph is read at two places at once")
        head = self.input.peek(_HEADER.itemsize)
        if len(head) < _HEADER.itemsize:
            raise self.error("the file is cut short within its header", byte=len(head), remedy=REMEDY)
        directed, m, n = np.frombuffer(head, _HEADER)[0].tolist()
        if directed > 1 or not 0 <= m < 2**48 or not 0 <= n <= 2**31:
            raise self.error("no GAPBS graph: its header makes no sense", byte=0,
                             remedy="name the right format with --format")
        weighted = format_suffix(self.name) == ".wsg"
        entry = _WEIGHTED_ID if weighted else _ID
        incoming = (n + 1) * _OFFSET.itemsize + m * entry.itemsize
        layout = Layout(_HEADER.itemsize, n, m, _OFFSET, entry, tails=(0, incoming) if directed else (0,),
                        id_field="id" if weighted else None)
        return layout, bool(directed)

    def _read_info(self) -> SourceInfo:
        layout, directed = self._read_layout()
        check_size(self.input, layout)
        return SourceInfo(n_vertices=layout.n_vertices, n_entries=layout.n_entries, directed=directed,
                          size_bytes=self.input.size_bytes, format=self.format, both_directions=not directed)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with the byte for a short file, offsets that fall,
        neighbours that are no vertices, and for an undirected graph that is not symmetric."""
        layout, directed = self._read_layout()
        self.dropped = {"weights": layout.n_entries if layout.id_field else 0}
        if directed:
            yield from layout_batches(self.input, layout, batch_bytes)
        else:
            yield from checked_symmetric(self, lambda size: layout_batches(self.input, layout, size), batch_bytes)
