"""ECL binary graphs (.egr; Burtscher's Efficient Computing Laboratory).

Little-endian int32: n, m, nindex[n + 1], nlist[m], and optionally eweight[m]. By convention both
directions of an edge are listed, but nothing in the file promises it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .csr import BinaryCsrSource, Layout

_INT = np.dtype("<i4")


class EclSource(BinaryCsrSource):
    """See the module."""

    format, suffix = "ecl", ".egr"
    header = np.dtype([("n", _INT), ("m", _INT)])

    def _layout(self, header: Any) -> Layout:
        n, m = header
        if n < 0 or m < 0:
            raise self.error(f"no ECL graph: it would have {n:,} vertices and {m:,} entries", byte=0,
                             remedy="name the right format with --format")
        return Layout(self.header.itemsize, n, m, _INT, _INT, tails=(0, m * _INT.itemsize), weights_behind=True)
