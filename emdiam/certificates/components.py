"""Connected components: union-find over all arcs, in one pass.

Bytes per vertex: twice the id dtype; at the end once that, and the smallest dtype for the number of mentioned
components.

Also components without a source: they have few vertices, so all their distances are computed. Each round collects arcs
of such components in one pass over the edges, as far as memory allows. Bytes: 24 for a vertex of these components, 16
for an arc, of one round.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Meter
from ..store.arc_runs import ArcRun, scan_arcs
from ..store.store import Store
from ..stream.plan import too_small
from .documents import Refused
from .plan import ProofBudget


@dataclass(frozen=True)
class Membership:
    """of : unsigned[n], i + 1 for the vertices of the component that contains the i-th mentioned vertex, 0 for all
    others. sizes : of the mentioned components. largest, largest_other : number of vertices of the largest component,
    and of the largest unmentioned one (0 without any)."""

    of: np.ndarray
    sizes: list[int]
    n_components: int
    largest: int
    largest_other: int


class Labelling:
    """The components during a scan of the arcs: `add` every run, from any thread, then `members`.

    symmetric : whether every arc is known to have its reverse among the arcs, so that those to larger vertices suffice.
    """

    def __init__(self, n_vertices: int, dtype: np.dtype[Any], *, symmetric: bool = False) -> None:
        self._parent, self._symmetric = np.arange(n_vertices, dtype=dtype), symmetric
        self._of, self._largest, self.leaving = np.empty(0, np.uint8), 0, False
        self._lock = threading.Lock()

    def connect(self, of: np.ndarray, count: int, largest: int) -> None:
        """Unite vertices that are known to be connected, before any run. of : unsigned[n], the number of each one's
        set, from 1 to `count`, 0 for none. `leaving` becomes true if an arc leads out of a set; that is seen from the
        end that is not in the set `largest`, as arcs have their reverses."""
        self._of, self._largest = of, largest
        point_to_first(of, np.full(count + 1, -1, np.int64), self._parent)

    def add(self, run: ArcRun, ids: np.ndarray) -> None:
        """Unite the ends of all arcs of a run; ids as in scan_arcs."""
        with self._lock:
            self.leaving |= unite(run.rows, run.starts, ids, self._symmetric, self._of, self._largest, self._parent)

    def add_others(self, run: ArcRun, ids: np.ndarray, left_out: np.ndarray) -> None:
        """The same, without arcs that have an end in `left_out`, bool[n]."""
        owners = np.repeat(run.rows, np.diff(run.starts))
        skipped = left_out[owners] | left_out[ids]
        self.add(run, np.where(skipped, owners, ids))

    def flat(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The root of every vertex's component, which is its smallest vertex; the size of each component, at its root;
        and the number of components. Call it once, after all runs."""
        sizes = np.zeros(len(self._parent), self._parent.dtype)
        return self._parent, sizes, int(flatten(self._parent, sizes))

    def members(self, mentioned: np.ndarray) -> Membership:
        """The components of these vertices (int64[k]). Call it once, after all runs.

        Raises Refused with the positions of two vertices in the same component.
        """
        parent, sizes, n_components = self.flat()
        roots = parent[mentioned].astype(np.int64)
        distinct, at = np.unique(roots, return_inverse=True)
        if len(distinct) < len(roots):
            first, second = np.flatnonzero(at == np.flatnonzero(np.bincount(at) > 1)[0])[:2]
            raise Refused(f"its components {first + 1} and {second + 1} are one and the same")
        of_mentioned = [int(sizes[root]) for root in roots]
        largest = int(sizes.max())
        sizes[roots] = 0
        other = int(sizes.max())
        del sizes
        numbers = np.empty(len(parent), np.min_scalar_type(len(roots)))
        order = np.argsort(roots)
        number_by_root(parent, roots[order], order + 1, numbers)
        return Membership(numbers, of_mentioned, n_components, largest, other)


@inlined
def _root(parent, v):
    """The root of v, with path halving. Parents are never larger than their children."""
    while True:
        up = np.int64(parent[v])
        if up == v:
            return v
        top = parent[up]
        parent[v] = top
        v = np.int64(top)


@kernel
def point_to_first(of, first, parent):
    """Point the vertices of each set to its smallest vertex. of : see Labelling.connect. first : int64[k + 1], -1."""
    for v in range(len(of)):
        c = np.int64(of[v])
        if c:
            if first[c] < 0:
                first[c] = v
            parent[v] = first[c]


@kernel
def unite(rows, starts, ids, only_up, of, largest, parent):
    """Unite row rows[i] with ids[starts[i]:starts[i+1]], or only with the larger ones, the smaller root on top. of,
    largest : see Labelling.connect, `of` may have length 0; rows of sets are not united. Returns whether an arc leads
    from a row, but for those of `largest`, to another set."""
    leaving = False
    for i in range(len(rows)):
        v = np.int64(rows[i])
        if len(of):
            if of[v] == largest:
                continue
            for p in range(starts[i], starts[i + 1]):
                leaving |= of[np.int64(ids[p])] != of[v]
            if of[v]:
                continue
        root = _root(parent, v)
        for p in range(starts[i], starts[i + 1]):
            w = np.int64(ids[p])
            if (only_up and w < v) or np.int64(parent[w]) == root:
                continue
            other = _root(parent, w)
            if root < other:
                parent[other] = root
            elif other < root:
                parent[root] = other
                root = other
    return leaving


@kernel
def flatten(parent, sizes):
    """Point every vertex to its root and count each root's vertices; returns the number of roots."""
    roots = 0
    for v in range(len(parent)):
        top = parent[parent[v]]
        parent[v] = top
        sizes[top] += 1
        if np.int64(top) == v:
            roots += 1
    return roots


@kernel
def number_by_root(parent, roots, numbers, out):
    """out[v] = numbers[i] if parent[v] is roots[i], else 0. roots : int64[k] ascending."""
    root = np.int64(-1)
    number = np.int64(0)
    for v in range(len(parent)):
        if np.int64(parent[v]) != root:
            root = np.int64(parent[v])
            i = np.searchsorted(roots, root)
            number = numbers[i] if i < len(roots) and roots[i] == root else 0
        out[v] = number


_VERTEX_BYTES, _ARC_BYTES = 24, 16


def settle_anew(
    store: Store, parent: np.ndarray, is_small: np.ndarray, largest: int, budget: ProofBudget,
    bounds: tuple[np.ndarray, np.ndarray],
) -> int:
    """Write the eccentricities of the vertices in is_small (bool[n]) into both bounds (unsigned[n] each); returns the
    number of passes. parent : the root of every vertex's component, which is its smallest vertex. Raises BudgetError,
    and Refused for an eccentricity above `largest`."""
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
    """The arcs of some vertices (ascending) that form whole components; at most `most` arcs."""

    def __init__(self, vertices: np.ndarray, most: int) -> None:
        self._vertices, self._most, self._lock = vertices, most, threading.Lock()
        self._tails: list[np.ndarray] = []
        self._heads: list[np.ndarray] = []
        self._count = 0
        self.too_many = False

    def add(self, run: ArcRun, ids: np.ndarray) -> None:
        """Add the arcs in a run; ids as in scan_arcs."""
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
        """The eccentricities of all the vertices, int64[k]."""
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
    """values[v] = the distance to the vertex farthest from v, with a BFS from every vertex."""
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
