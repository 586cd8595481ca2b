"""spanning: a random spanning tree that becomes a BFS tree, one scan an iteration (SPAN).

Definition: T_0 is the minimum spanning tree under random weights (trees/spanning.py), in every component rooted at
the vertex s of the highest degree, ties to the smallest rank. With the root "random" (the paper's root is arbitrary) or
an id, components with such a vertex are rooted there. In T_{i+1} the parent of every vertex is its neighbour of
smallest height in T_i, and whole subtrees rise with their roots (trees/refinement.py): heights never rise, and
end as those of a BFS tree. It ends after `iterations`, or when all heights are distances. The estimate is twice the
height of the tree, the largest over all components, as in the paper's Table 1.

Proved as well, for every component, after i iterations, with heights h and distances d:
- Upper: d(x, y) <= d(s, x) + d(s, y) <= h(x) + h(y), so D is at most the sum of the two largest
  heights, and less than the number of vertices.
- Lower: min(d(s, x), k) = min(h(x), k) for a number k > i from the last scan, so a vertex with
  h(x) >= k is at least k from s; once heights are distances, the largest is the eccentricity of s.
  The proof is a scan over these truncated heights, which differ by at most 1 across every arc (check_lower).

Passes: scans of the spanning tree, at most one an iteration, one to check. Bytes a vertex: 11 with
uint32 ids (see spanning_bytes), beside the shared 3.
Sources: Brudaru (2007), as described by Ajwani, Beckmann, Meyer, Veith, I/O-efficient approximation of graph
diameters by parallel cluster growing (2012), section 2, spanning tree heuristics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.interface import TreeRefinement, Trees
from ...engine.needs import DeviceState
from ...errors import InputError
from ...store.names import vertex_of
from ...store.store import Store
from ...stream.plan import Pool
from ...trees.euler import euler_bytes
from ...trees.refinement import TreeBounds, trees_bytes
from ...trees.spanning import buffer_sizes
from ...trees.spanning import spanning_bytes as forest_bytes
from ..definition import Method
from ..metric import HopMetric
from ..run import Best
from .cost_model import SPANNING
from .method import ApproxOptions, SweepingMethod, phases_with
from .rank_order import stream_key

_HEIGHT, _LITTLE = 4, 64 << 10
HUB, RANDOM = "hub", "random"
# Vertices drawn as random roots, so that the components with most vertices get one.
_DRAWN = 64


@dataclass(frozen=True)
class SpanningOptions(ApproxOptions):
    """seed : of the random weights. iterations : the largest number; None: until heights are distances. root : "hub"
    (the vertex of the highest degree of each component), "random" (by the seed), or the id of a vertex."""

    seed: int = 0
    iterations: int | None = 10
    root: int | str = HUB

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iterations is not None and self.iterations < 0:
            raise InputError("iterations cannot be negative", text=str(self.iterations))


class SpanningRun(SweepingMethod):
    """One run on an engine. It solves all components at once, so it has its own bounds."""

    name = "spanning"

    def __init__(self, metric: HopMetric, options: SpanningOptions) -> None:
        super().__init__(metric, options)
        facts = metric.engine.facts
        self.seed: int | None = options.seed
        self.iterations, self.root = options.iterations, options.root
        self.heights: list[int] = []
        self.scans, self.converged, self.n_trees = 0, False, 0
        self._trees: Trees | None = None
        self._roots = np.empty(0, np.int64)
        most = max(0, facts.n_vertices - facts.n_isolated - 1)
        least = min(1, facts.n_arcs)
        self.best = Best(least)
        self.bounds = TreeBounds(0, least, most, least, most, -1)

    def solve(self) -> None:
        """Build the tree and refine it; sets the bounds, and the labels of the lower bound."""
        if self.engine.facts.n_arcs == 0:
            self.heights, self.converged = [0], True
            self.know_components()
            return
        self.checkpoint()
        with self.stages.timed("mst"):
            refinement = self._plant()
        with self.stages.timed("iterations"):
            while not refinement.exact and refinement.iterations != self.iterations and not self._narrow():
                self.checkpoint()
                self.tick("iterations")
                refinement.step()
                self._note(refinement)
            self._name_pair(refinement)

    def _plant(self) -> TreeRefinement:
        """Make T_0 and its heights."""
        assert self.seed is not None
        self.tick("spanning tree")
        forest = self.engine.spanning_forest(stream_key(self.seed, "spanning tree"))
        self.scans = forest.scans
        trees = forest.trees()
        self._trees, self.n_trees = trees, trees.n_trees
        self.know_components()
        self._roots = self._choose_roots(trees)
        forest.hang_from(self._roots)
        refinement = forest.refine()
        forest.release()
        self._note(refinement)
        return refinement

    def _choose_roots(self, trees: Trees) -> np.ndarray:
        """The root of every tree, id[n_trees]."""
        assert self.seed is not None
        roots = trees.hubs
        if self.root == HUB:
            return roots
        if self.root == RANDOM:
            drawn = self.engine.sample_vertices(stream_key(self.seed, "root"), _DRAWN)
            drawn = np.random.default_rng(self.seed).permutation(drawn)
        else:
            drawn = np.array([vertex_of(self.engine.store, self.root)])
            drawn = drawn[self.engine.degrees(drawn) > 0]
        numbers, first = np.unique(trees.number_of(drawn), return_index=True)
        roots[numbers] = drawn[first]
        return roots

    def _note(self, refinement: TreeRefinement) -> None:
        """Note the bounds that the heights now prove."""
        assert self._trees is not None
        self.bounds = self._trees.bounds(refinement.heights, refinement.known)
        self.heights.append(self.bounds.height)
        self.best = Best(self.bounds.lower)
        self.converged = refinement.exact

    def _narrow(self) -> bool:
        """Whether both intervals are as narrow as the limits demand."""
        bounds, gap = self.bounds, self.limits.gap
        if gap is None or max(bounds.upper - bounds.lower, bounds.upper_largest - bounds.lower_largest) > gap:
            return False
        self.enough = "gap"
        return True

    def _name_pair(self, refinement: TreeRefinement) -> None:
        """Set the pair of the lower bound, and the labels that prove it."""
        assert self._trees is not None
        self.labels = refinement.take_labels()
        length, tree = self.bounds.lower, self.bounds.deepest
        self.best = Best(length, int(self._roots[tree]), self._trees.farthest(tree, self.labels, length))

    def release(self) -> None:
        """Free the trees, but not the answer and the labels."""
        self._trees = None

    def upper(self) -> int:
        return self.bounds.upper

    def interval_largest(self) -> tuple[int, int]:
        return self.bounds.lower_largest, self.bounds.upper_largest

    def n_components(self) -> int | None:
        return self.engine.facts.n_isolated + self.n_trees if self.components_known else None

    def estimate(self) -> int | None:
        """Twice the height of the tree; None before there is a tree."""
        return 2 * self.heights[-1] if self.heights else None

    def _facts(self) -> dict[str, Any]:
        return {"iteration": len(self.heights), "height": self.heights[-1]} if self.heights else {}

    def _details(self) -> dict[str, Any]:
        enough = {"enough": self.enough} if self.enough else {}
        return {"scans": self.scans, "iterations": max(0, len(self.heights) - 1), "heights": list(self.heights),
                "converged": self.converged, **enough}


def spanning_bytes(store: Store, options: SpanningOptions, column: int) -> dict[str, int]:
    """Vertex state by phase. mst: see trees/spanning.py. trees: parents, and labels of one byte. iterations:
    parents, labels, heights, a bitmap of fallen vertices. verify: one height. Heights have 4 bytes for any `column`:
    those of T_0 can be as large as n."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    return {
        "mst": forest_bytes(n, ids),
        "trees": n * (ids + 1),
        "iterations": n * (ids + 1 + _HEIGHT) + n // 8 + _LITTLE,
        "verify": n * _HEIGHT,
    }


def reserved_bytes(store: Store) -> dict[str, int]:
    """Bytes that phases may take in addition: wider labels and tables if there are many trees."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    return dict.fromkeys(("trees", "iterations"), trees_bytes(n, min(n, store.n_arcs) // 2, ids))


def _pool(store: Store) -> Pool:
    """A larger buffer of edges, for fewer scans."""
    least, best = buffer_sizes(store.n_vertices, store.id_dtype.itemsize)
    return Pool(best - least)


def spanning_bytes_of_tour(n_vertices: int, id_bytes: int) -> int:
    """Vertex state of masters on an Euler tour: that of the spanning tree, then that of the tour."""
    return max(forest_bytes(n_vertices, id_bytes), euler_bytes(n_vertices, id_bytes))


METHOD = Method(SpanningOptions, SpanningRun, phases_with(spanning_bytes, reserved_bytes, reserved_bytes),
                lambda store, options: SPANNING, DeviceState(3), _pool)
spanning = METHOD.solve
