"""Packed arcs on their way from a scan to a collector, kept on the way while they are few."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from .records import RecordWriter

ARCS = "arcs"
LEAST_ARC_BYTES = 1 << 20

Push = Callable[[np.ndarray], None]


class PushedArcs:
    """Hands arcs on to `push`, from any number of threads, and writes them to the array "arcs".

    most_bytes : packed, on disk; beyond that nothing is kept. whole : all are kept.
    """

    def __init__(self, writer: RecordWriter, push: Push, most_bytes: int) -> None:
        self._writer, self._push, self._most, self._lock = writer, push, most_bytes, Lock()
        self.whole = True
        writer.add(ARCS, np.empty(0, np.uint64))

    def push(self, arcs: np.ndarray) -> None:
        """Take arcs, uint64[k], in any order. Raises OSError where the disk is full."""
        self._push(arcs)
        with self._lock:
            if not self.whole:
                return
            self._writer.add(ARCS, arcs)
            if self._writer.nbytes > self._most:
                self.whole = False
                self._writer.abort()
