"""Dijkstra's algorithm over arrays in memory, in the order of networkx: by distance, then by the time at which a vertex
got that distance. With negative weights, results are those of networkx too.

Source: Dijkstra (1959), with a binary heap that contains each vertex at most once. 57 bytes per vertex. Kernels run
without the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..paths.dijkstra import heap_of
from ..units import available_cores
from .weights import ArcWeights, WeightedSearches

# Up to this number of arc steps, searches from all vertices take less time than a run of pivots.
FEW_STEPS = 5_000_000
_UNSEEN, _SETTLED = -1, -2
_CONTRADICTION = -1
_NO_TARGET = -1


class ArraySearches(WeightedSearches):
    """Searches along arcs with weights. indptr : int64[n + 1]. indices : id[m], rows in any order, possibly with loops.
    directed : False if every arc has a reverse arc."""

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, weights: ArcWeights, directed: bool) -> None:
        self.weights, self.order, self._directed = weights, len(indptr) - 1, directed
        self._rows = (indptr, indices, weights.costs, weights.whole)

    def search(self, source: int, cutoff: float | None = None) -> tuple[np.ndarray, list[Any]]:
        """See WeightedSearches; in the order in which networkx settles vertices."""
        queue, distances, whole, _ = self._searched(source, cutoff=cutoff)
        return queue, self.weights.numbers(distances[queue], whole[queue])

    def tree(self, source: int) -> tuple[np.ndarray, np.ndarray]:
        """See WeightedSearches; in the order in which networkx settles vertices, with its predecessors."""
        queue, _, _, before = self._searched(source)
        return queue, before[queue]

    def distance(self, source: int, target: int) -> Any:
        """See WeightedSearches; the search ends at the target, like in networkx."""
        queue, distances, whole, _ = self._searched(source, target)
        return self.weights.numbers(distances[queue], whole[queue])[-1] if queue[-1] == target else None

    def _searched(self, source: int, target: int = _NO_TARGET, cutoff: float | None = None) -> tuple[np.ndarray, ...]:
        """The vertices in the order in which they are settled; and for all vertices the distances, whether these are
        integers, and the predecessors, which are valid only for settled vertices."""
        state = self._state()
        reached = search(*self._rows, source, target, np.inf if cutoff is None else float(cutoff), *state)
        if reached == _CONTRADICTION:
            raise contradiction()
        return state[0][:reached], state[1], state[2], state[-1]

    def eccentricities(self, positions: Sequence[int] | None = None) -> list[Any]:
        """See WeightedSearches. Eccentricities of all vertices are computed once."""
        if positions is None:
            return self._eccentricities
        if "_eccentricities" in vars(self) and len(self._eccentricities) == self.order:
            return [self._eccentricities[position] for position in positions]
        return self._by_searches(np.asarray(positions, np.int64))

    @cached_property
    def _eccentricities(self) -> list[Any]:
        return self._by_searches(np.arange(self.order))

    def _by_searches(self, sources: np.ndarray) -> list[Any]:
        out, whole = np.empty(len(sources), self.weights.costs.dtype), np.empty(len(sources), bool)
        done, fault = eccentricities(*self._rows, sources, *self._state(), out, whole)
        if fault == _CONTRADICTION:
            raise contradiction()
        return self.weights.numbers(out[:done], whole[:done])

    def diameter(self) -> Any:
        """See WeightedSearches; with pivots if all searches would take long and sums are integers."""
        steps = self.order * (self.order + len(self._rows[1]))
        if "_eccentricities" in vars(self) or steps <= FEW_STEPS or not self._has_proof:
            return super().diameter()
        return self._diameter

    @property
    def _has_proof(self) -> bool:
        """Whether pivots prove the result of networkx: sums of floats depend on the end at which a path starts."""
        costs = self.weights.costs
        return not self._directed and self.weights.are_whole and int(costs.min(initial=0)) >= 0

    @cached_property
    def _diameter(self) -> int | None:
        from ..methods.weighted.metric import WeightMetric
        from ..methods.weighted.pivots import WeightedPivots
        from ..paths.arcs import ArcsInRam
        from ..paths.paths import SearchOptions
        from ..paths.rows import WeightedRows

        indptr, indices, costs = self._rows[:3]
        tails = np.repeat(np.arange(self.order), np.diff(indptr))
        kind = np.uint32 if int(costs.max(initial=0)) < 1 << 32 else np.int64
        rows = WeightedRows.from_edges(self.order, tails, indices, costs.astype(kind), directed=True)
        arcs = ArcsInRam(rows, SearchOptions(available_cores()))
        search = WeightedPivots(WeightMetric(arcs))
        if len(search.parts.roots) > 1:
            return None
        search.solve()
        return search.best.length

    def sum_of_inverses(self) -> float:
        """See WeightedSearches."""
        total, fault = sum_of_inverses(*self._rows, *self._state())
        if fault == _CONTRADICTION:
            raise contradiction()
        return float(total)

    def _state(self) -> tuple[np.ndarray, ...]:
        """Arrays of a search: vertices in the order in which they are settled; distances, and whether these are
        integers; the heap, the position of each vertex in it, and the time at which the vertex got its distance; and
        predecessors, none for the source."""
        n = self.order
        return (np.empty(n, np.int64), np.empty(n, self.weights.costs.dtype), np.empty(n, bool), np.empty(n, np.int64),
                np.full(n, _UNSEEN, np.int64), np.empty(n, np.int64), np.full(n, -1, np.int64))


def contradiction() -> ValueError:
    """The error of networkx for a settled vertex that would get a smaller distance."""
    return ValueError("Contradictory paths found:", "negative weights?")


@inlined
def _before(v, w, keys):
    distances, turns = keys
    return distances[v] < distances[w] or (distances[v] == distances[w] and turns[v] < turns[w])


_sift_up, _sift_down = heap_of(_before)


@kernel
def search(
        indptr, indices, costs, whole_arcs, source, target, cutoff, queue, distances, whole, heap, place, turns,
        before):
    """Search from `source` up to the distance `cutoff`, or until `target` is settled. Returns the number r of reached
    vertices, which are queue[:r] in the order in which they were settled; or _CONTRADICTION. Other arguments: see
    ArraySearches and its _state."""
    distances[source], whole[source], turns[source] = 0, True, 0
    heap[0], place[source] = source, 0
    size, turn, reached, keys = 1, 1, 0, (distances, turns)
    while size:
        v = heap[0]
        size -= 1
        if size:
            _sift_down(heap[size], size, keys, heap, place)
        place[v] = _SETTLED
        queue[reached] = v
        reached += 1
        if v == target:
            break
        for p in range(indptr[v], indptr[v + 1]):
            u = np.int64(indices[p])
            new = distances[v] + costs[p]
            if new > cutoff:
                continue
            at = place[u]
            if at == _SETTLED:
                if new < distances[u]:
                    return np.int64(_CONTRADICTION)
            elif at == _UNSEEN or new < distances[u]:
                distances[u], turns[u], before[u] = new, turn, v
                turn += 1
                if len(whole_arcs):
                    whole[u] = whole[v] and whole_arcs[p]
                if at == _UNSEEN:
                    at = size
                    size += 1
                _sift_up(u, at, keys, heap, place)
    return np.int64(reached)


@kernel
def eccentricities(
        indptr, indices, costs, whole_arcs, sources, queue, distances, whole, heap, place, turns, before, out,
        out_whole):
    """out[i], out_whole[i] = the largest distance from sources[i], the first one among equals; stops at a source that
    does not reach all vertices. Returns the number of sources done, and the result of the last search."""
    n = len(queue)
    reached = np.int64(n)
    for i in range(len(sources)):
        place[:] = _UNSEEN
        reached = search(indptr, indices, costs, whole_arcs, sources[i], _NO_TARGET, np.inf, queue, distances, whole,
                         heap, place, turns, before)
        if reached != n:
            return i, reached
        farthest = queue[0]
        for k in range(1, n):
            if distances[queue[k]] > distances[farthest]:
                farthest = queue[k]
        out[i], out_whole[i] = distances[farthest], whole[farthest]
    return len(sources), reached


@kernel
def sum_of_inverses(
        indptr, indices, costs, whole_arcs, queue, distances, whole, heap, place, turns, before):
    """The sum of 1 / d over all nonzero distances d between two vertices, source by source, by increasing distance; and
    the result of the last search."""
    total, reached = 0.0, np.int64(0)
    for source in range(len(queue)):
        place[:] = _UNSEEN
        reached = search(indptr, indices, costs, whole_arcs, source, _NO_TARGET, np.inf, queue, distances, whole, heap,
                         place, turns, before)
        if reached == _CONTRADICTION:
            break
        for k in range(reached):
            if distances[queue[k]] != 0:
                total += 1.0 / distances[queue[k]]
    return total, reached
