"""fringe: the upper bound of Crescenzi et al. from the fringe of a vertex halfway on a long path.

Definition: r, v' and v'' are from a double sweep (sweep.py); u is floor(d / 2) steps from v'' on the path of length
d = d(v', v'') in the canonical BFS tree of v'. e = ecc(u); the fringe F(u) is the set of vertices at distance e from u;
B is the largest eccentricity in it. With at least two vertices in F(u), B = 2e - 1 gives D <= 2e - 1 and a smaller B
gives D <= 2e - 2; otherwise D is at most the diameter of u's BFS tree. Reason: vertices x, y are at most d(x, u) +
d(u, y) apart. For 2e both must be in F(u), for 2e - 1 at least one, and each of them is at most B from any vertex. So
D = 2e implies B = 2e, and D = 2e - 1 implies B >= 2e - 1. Conversely, B = 2e - 1 implies D <= 2e - 1 and B < 2e - 1
implies D <= 2e - 2. (B = 2e is a distance that equals the bound: D = 2e.)

Unlike in the paper, the tree's diameter comes first, since a scan costs less than |F(u)| traversals.
These are left out if the tree already gives 2e - 2 or less, or if the bounds have met; so
the upper bound never exceeds the paper's. An iteration takes at most |F(u)| + 3 traversals; a
vertex of known eccentricity is not traversed again. Iterations as in sweep.py.

Passes: those of the BFS, batches of them where memory allows (traverse/multi.py), and a scan for the
tree. Bytes a vertex: as sweep.py, and distances from u.
Sources: Crescenzi, Grossi, Imbrenda, Lanzi, Marino, Finding the diameter in real-world graphs:
experimentally turning a lower bound into an upper bound, ESA 2010; Ajwani, Beckmann, Meyer, Veith
(2012), section 2 (DSLB UP BOUND in its Table 1, with ten iterations).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...engine.needs import DeviceState
from ...store.store import Store
from ...stream.plan import Pool
from ...traverse.columns import Column
from ...traverse.components import Component
from ...traverse.multi import MOST_BITS, WORD_BITS, batch_bytes
from ..definition import Method
from ..exact.cost_model import bfs_cost
from ..exact.method import Eccentricity, path_middle
from ..metric import HopMetric
from .method import phases_with
from .rank_order import first_by_rank, members
from .sweep import DoubleSweeps, SweepOptions, sweep_bytes, sweep_more, tree_pool

# Number of BFS of a fringe done singly, before batches: often the first ones suffice.
FEW_SOURCES = 4
_MOST_LISTED = 1 << 16
_MOST_KNOWN = 1 << 16


@dataclass(frozen=True)
class FringeOptions(SweepOptions):
    """iterations : largest number of double sweeps a component, each with its fringe."""

    iterations: int = 10


class Fringe(DoubleSweeps):
    """One run of fringe on an engine."""

    name = "fringe"

    def __init__(self, metric: HopMetric, options: FringeOptions) -> None:
        super().__init__(metric, options)
        self._known: dict[int, int] = {}  # eccentricities in the current component
        self._fringes: list[list[int]] = []
        self._centres: set[int] = set()

    def estimate(self) -> int | None:
        """The upper bound, which is the purpose of the method; None before the first traversal."""
        return None if super().estimate() is None else self.upper()

    def eccentricity(self, vertex: int, distances: bool = False, into: Column | None = None) -> Eccentricity:
        """As SweepingMethod.eccentricity, and notes the eccentricity so that it is not computed again."""
        run = super().eccentricity(vertex, distances, into)
        if len(self._known) < _MOST_KNOWN:
            self._known[vertex] = run.eccentricity
        return run

    def _details(self) -> dict[str, Any]:
        return {**super()._details(), "fringes": self._fringes}

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        self._known, self._centres = {first.source: first.eccentricity}, set()
        return super()._solve_component(component, first, floor)

    def _use_end(self, run: Eccentricity) -> None:
        """Find u on the path v'-v'', then use its tree and its fringe."""
        if self.closed():
            return
        assert run.distances is not None
        middle = path_middle(self.engine, run.distances, run.farthest, run.eccentricity, by_rank=True)
        run.distances = None
        if middle in self._centres:
            return
        self._centres.add(middle)
        centre = self.eccentricity(middle)
        if not self.closed():
            self.lower_by_tree(centre)
        if not self.closed():
            self._lower_by_fringe(centre)

    def _lower_by_fringe(self, centre: Eccentricity) -> None:
        """Lower upper_here with the eccentricities of F(u), if that can help."""
        assert centre.distances is not None
        size = sum(len(piece) for piece in members(centre.distances, centre.eccentricity))
        if self.reported:
            self._fringes.append([centre.eccentricity, size])
        if size == 1 or self.upper_here <= 2 * centre.eccentricity - 2:
            return
        largest = 0
        for sources in self._batches(centre):
            largest = max(largest, self._largest_among(sources))
            if self.closed():
                return
        if largest < 2 * centre.eccentricity - 1:
            self.upper_here = min(self.upper_here, 2 * centre.eccentricity - 2)
        elif largest == 2 * centre.eccentricity - 1:
            self.upper_here = min(self.upper_here, largest)

    def _batches(self, centre: Eccentricity) -> Iterator[np.ndarray]:
        """F(u) by rank: a few vertices singly, then growing batches, as large as memory allows."""
        assert centre.distances is not None
        facts = self.engine.facts
        most = min(MOST_BITS, WORD_BITS * (facts.pool_bytes // batch_bytes(facts.n_vertices, WORD_BITS)))
        if facts.columns_on_disk:  # the state of a batch takes no memory
            most = facts.batch_bits
        done, last = 0, -1
        while True:
            listed = first_by_rank(
                self.engine, members(centre.distances, centre.eccentricity), _MOST_LISTED, after=last)
            if len(listed) == 0:
                return
            begin = 0
            while begin < len(listed):
                size = 1 if done < FEW_SOURCES or most == 0 else min(most, 4 * done)
                yield listed[begin : begin + size]
                begin, done = begin + size, done + size
            last = int(self.engine.ranks(listed[-1:])[0])

    def _largest_among(self, sources: np.ndarray) -> int:
        """Largest eccentricity of the sources; known ones are not computed again."""
        known = [self._known[v] for v in sources.tolist() if v in self._known]
        fresh = np.array([v for v in sources.tolist() if v not in self._known], np.int64)
        if len(fresh) == 1:
            known.append(self.eccentricity(int(fresh[0])).eccentricity)
        elif len(fresh):
            known.append(int(self.eccentricities(fresh).max()))
        return max(known)


def fringe_bytes(store: Store, options: FringeOptions, column: int) -> dict[str, int]:
    """Vertex state by phase, as sweep_bytes, and distances from u while its fringe is traversed."""
    sizes = sweep_bytes(store, options, column)
    return {**sizes, "solve": sizes["solve"] + store.n_vertices * column}


def _pool(store: Store) -> Pool:
    """Room for a tree or a batch."""
    tree = tree_pool(store)
    return replace(tree, wanted=max(tree.wanted, batch_bytes(store.n_vertices, MOST_BITS)))


METHOD = Method(
    FringeOptions, Fringe, phases_with(fringe_bytes, sweep_more), lambda store, options: bfs_cost(4, 60),
    DeviceState(3, batches=True), _pool)
fringe = METHOD.solve
