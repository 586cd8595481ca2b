"""What a worker is told to open: plain values that travel to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..stream.plan import Phase


@dataclass(frozen=True)
class PartSpec:
    """store : path or URL, as the worker sees it. digest : of the graph, which must be the client's. room : name of
    the run and epoch. ranges : int64[ranks + 1]. phases : vertex state of the method on the whole graph.
    pool_wanted : bytes that the method could make use of, on the whole graph. memory_bytes : peak RSS of a worker
    process; None: nine tenths of what its machine leaves, shared by the ranks there. threads : that compute on a rank.
    family : "exact" or "approx", whose kernels are loaded. dense_arcs : see traverse.core.Core.
    """

    store: str
    digest: str
    room: str
    ranges: np.ndarray
    addresses: tuple[str, ...]
    phases: tuple[Phase, ...]
    pool_wanted: int
    memory_bytes: int | None
    threads: int
    family: str = "exact"
    dense_arcs: int = -1

    def own(self, rank: int) -> tuple[int, int]:
        """First vertex of a rank and the one behind its last."""
        return int(self.ranges[rank]), int(self.ranges[rank + 1])
