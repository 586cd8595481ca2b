"""ECL binary graphs (.egr; Burtscher's Efficient Computing Laboratory).

Little-endian int32: n, m, nindex[n + 1], nlist[m], and optionally eweight[m]. By convention both
directions of an edge are listed, but nothing in the file promises it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .base import FileSource
from .binary_csr import REMEDY, Layout, check_size, layout_batches
from .source import EdgeBatch, SourceInfo

_INT = np.dtype("<i4")
_HEADER_BYTES = 8


class EclSource(FileSource):
    """See the module."""

    format = "ecl"

    def _layout(self) -> Layout:
        self.input.require_file("an .egr graph is read at two places at once")
        head = self.input.peek(_HEADER_BYTES)
        if len(head) < _HEADER_BYTES:
            raise self.error("the file is cut short within its header", byte=len(head), remedy=REMEDY)
        n, m = np.frombuffer(head, _INT).tolist()
        if n < 0 or m < 0:
            raise self.error(f"no ECL graph: it would have {n} vertices and {m} entries", byte=0,
                             remedy="name the right format with --format")
        return Layout(_HEADER_BYTES, n, m, _INT, _INT, tails=(0, m * _INT.itemsize))

    def _read_info(self) -> SourceInfo:
        layout = self._layout()
        check_size(self.input, layout)
        return SourceInfo(n_vertices=layout.n_vertices, n_entries=layout.n_entries, directed=False,
                          size_bytes=self.input.size_bytes, format=self.format, both_directions=True)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with the byte for a short file, offsets that fall or
        neighbours that are no vertices."""
        layout = self._layout()
        rest = yield from layout_batches(self.input, layout, batch_bytes)
        self.dropped = {"weights": rest // _INT.itemsize}
