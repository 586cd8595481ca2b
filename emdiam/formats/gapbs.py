"""Serialized graphs of the GAP Benchmark Suite (.sg, and .wsg with int32 weights).

As its WriteSerializedGraph leaves them on a little-endian machine, without padding: directed (bool, 1 byte), entries
(int64), vertices (int64), out_index (int64[n + 1]), out_neighbours (int32[m], in .wsg pairs of neighbour and weight),
and for directed graphs the same two arrays once more for incoming edges, which say nothing new and are skipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .csr import BinaryCsrSource, Layout
from .registry import format_suffix

_OFFSET, _ID = np.dtype("<i8"), np.dtype("<i4")
_WEIGHTED_ID = np.dtype([("id", _ID), ("weight", _ID)])


class GapbsSource(BinaryCsrSource):
    """See the module. Undirected graphs list both directions of every edge, which is checked."""

    format, suffix = "gapbs", ".sg"
    header = np.dtype([("directed", "u1"), ("m", "<i8"), ("n", "<i8")])

    def _layout(self, header: Any) -> Layout:
        directed, m, n = header
        if directed > 1 or not 0 <= m < 2**48 or not 0 <= n <= 2**31:
            raise self.error("no GAPBS graph: its header makes no sense", byte=0,
                             remedy="name the right format with --format")
        weighted = format_suffix(self.name) == ".wsg"
        entry = _WEIGHTED_ID if weighted else _ID
        incoming = (n + 1) * _OFFSET.itemsize + m * entry.itemsize
        return Layout(self.header.itemsize, n, m, _OFFSET, entry, tails=(0, incoming) if directed else (0,),
                      id_field="id" if weighted else None, directed=bool(directed), symmetric=not directed)
