"""Counters of a run's work; snapshots can be subtracted, to measure any phase separately."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from operator import add, sub
from typing import Any, Self


@dataclass
class Tally:
    """A dataclass of numbers whose snapshots can be added and subtracted."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, vars(self).values(), vars(other).values()))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*map(sub, vars(self).values(), vars(other).values()))

    def copy(self) -> Self:
        """A snapshot."""
        return type(self)(*vars(self).values())

    def to_dict(self) -> dict[str, Any]:
        """A plain dict."""
        return dict(vars(self))


@dataclass
class Counters(Tally):
    """Counts of a run.

    traversals : completed or stopped traversals (bfs and spread). passes : levels and scans that swept over blocks;
    dense_levels : the ones that touched at least half of all blocks. levels : levels of all kinds. edges_scanned : arcs
    examined. blocks_read, bytes_read, bytes_decoded : I/O. fetch_seconds, fetch_cpu_seconds : wall and CPU seconds of
    all threads in reading, checking and decoding blocks. kernel_cpu_seconds : CPU seconds in kernels. device_seconds :
    wall seconds of traversals on a GPU. wait_seconds : wall seconds when no kernel could run because blocks were
    missing.
    """

    traversals: int = 0
    passes: int = 0
    dense_levels: int = 0
    levels: int = 0
    edges_scanned: int = 0
    blocks_read: int = 0
    bytes_read: int = 0
    bytes_decoded: int = 0
    fetch_seconds: float = 0.0
    fetch_cpu_seconds: float = 0.0
    kernel_cpu_seconds: float = 0.0
    device_seconds: float = 0.0
    wait_seconds: float = 0.0


class SharedCounters:
    """Counters that several threads add to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters = Counters()

    def add(self, **amounts: float) -> None:
        """Add each amount to the counter with its name."""
        values = vars(self._counters)
        with self._lock:
            for name, amount in amounts.items():
                values[name] += amount

    def snapshot(self) -> Counters:
        """A copy of the current counters."""
        with self._lock:
            return self._counters.copy()
