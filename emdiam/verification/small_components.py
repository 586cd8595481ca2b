"""Components without a source: few vertices each, so that all distances in them are computed anew.

One pass over the edges a round collects their arcs; a round has as many components as there is room for. Bytes: 24 for
a vertex of such a component, 16 for an arc, of one round.
"""

from __future__ import annotations

import threading

import numpy as np

from ..jit import kernel
from ..progress import Meter
from ..store.arc_runs import ArcRun, scan_arcs
from ..store.store import Store
from ..stream.plan import too_small
from .plan import Budget
from .report import Refused

_VERTEX_BYTES, _ARC_BYTES = 24, 16


def settle_anew(
    store: Store, parent: np.ndarray, is_small: np.ndarray, largest: int, budget: Budget,
    bounds: tuple[np.ndarray, np.ndarray],
) -> int:
    """Write the eccentricities of the vertices where is_small (bool[n]) into both bounds (unsigned[n] each); returns
    the passes that it took. parent : the root of every vertex's component, which is its smallest vertex. Raises
    BudgetError, and Refused for an eccentricity above `largest`."""
    for bound in bounds:
        bound[is_small] = 0
    n_vertices = int(np.count_nonzero(is_small))
    if n_vertices == 0 or store.n_arcs == 0:
        return 0
    n = store.n_vertices
    rounds, done, first = 1, 0, 0
    while first < n:
        last = min(n, first + -(-n // rounds))
        if not is_small[first:last].any():
            first = last
            continue
        vertices = np.flatnonzero(is_small & (parent >= first) & (parent < last))
        room = (budget.room(0) - _VERTEX_BYTES * len(vertices)) // _ARC_BYTES
        collected = _Arcs(vertices, max(0, room))
        meter = Meter(budget.progress)
        meter.begin("small components", store.indices.n_chunks, "chunks")
        scan_arcs(store, budget.threads, collected.add, meter.update)
        meter.end()
        done += 1
        if collected.too_many:
            if last - first == 1:
                raise too_small(budget.memory_bytes, 2 * budget.memory_bytes)
            rounds = min(n, 2 * rounds)
            continue
        values = collected.eccentricities()
        if int(values.max()) > largest:
            (name,) = store.user_ids(vertices[[values.argmax()]])
            raise Refused(f"vertex {name} has the eccentricity {int(values.max())}, more than the largest that is"
                          f" claimed, {largest}")
        for bound in bounds:
            bound[vertices] = values
        first = last
    return done


class _Arcs:
    """The arcs of some vertices, ascending, whose components are whole; at most `most`."""

    def __init__(self, vertices: np.ndarray, most: int) -> None:
        self._vertices, self._most, self._lock = vertices, most, threading.Lock()
        self._tails: list[np.ndarray] = []
        self._heads: list[np.ndarray] = []
        self._count = 0
        self.too_many = False

    def add(self, run: ArcRun, ids: np.ndarray) -> None:
        """Take those of a run; ids as in scan_arcs."""
        at = np.minimum(np.searchsorted(self._vertices, run.rows), len(self._vertices) - 1)
        is_mine = self._vertices[at] == run.rows
        counts = np.diff(run.starts)
        wanted = np.repeat(is_mine, counts)
        if self.too_many or not wanted.any():
            return
        tails = np.repeat(at, counts)[wanted]
        heads = np.searchsorted(self._vertices, ids[wanted])
        with self._lock:
            self._count += len(tails)
            self.too_many = self._count > self._most
            if not self.too_many:
                self._tails.append(tails)
                self._heads.append(heads)

    def eccentricities(self) -> np.ndarray:
        """Of all the vertices, int64[k]."""
        k = len(self._vertices)
        none = [np.empty(0, np.int64)]
        tails, heads = np.concatenate(self._tails or none), np.concatenate(self._heads or none)
        order = np.argsort(tails, kind="stable")
        begin = np.zeros(k + 1, np.int64)
        np.cumsum(np.bincount(tails, minlength=k), out=begin[1:])
        values = np.zeros(k, np.int64)
        farthest_of_all(begin, heads[order], values)
        return values


@kernel
def farthest_of_all(begin, heads, values):
    """values[v] = the distance to the vertex farthest from v, by a queue from every vertex."""
    n = len(values)
    queue = np.empty(n, np.int64)
    seen = np.full(n, -1, np.int64)
    far = np.zeros(n, np.int64)
    for source in range(n):
        queue[0] = source
        seen[source] = source
        far[source] = 0
        read, written = 0, 1
        while read < written:
            v = queue[read]
            read += 1
            for p in range(begin[v], begin[v + 1]):
                w = heads[p]
                if seen[w] != source:
                    seen[w] = source
                    far[w] = far[v] + 1
                    queue[written] = w
                    written += 1
        values[source] = far[queue[written - 1]]
