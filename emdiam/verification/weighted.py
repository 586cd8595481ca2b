"""One verification of a weighted diameter: the graph, then distances from all sources, then the pairs that are left.

Distances are proposed by a search, and checked: no arc leads to a vertex in less than its distance, so that none is too
large; and every vertex is reached from a source along arcs whose weights add up to the distances, so that none is too
small; one pass over the arcs does both. A search has one source in each of some components. Bounds are folded first;
then, where several vertices of a component are not settled, its sources are searched from again, and the distances to
those vertices kept for the pairs.
Bytes: the rows, or blocks of them; a vertex: 24, and what a search holds; a number for each source and vertex that is
left.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import BudgetError, EmdiamError, InputError
from ..jit import kernel
from ..methods.weighted.certificate import WeightedCertificate
from ..methods.weighted.units import units_of
from ..progress import Event, Meter, silent, timed
from ..sssp.arcs import Arcs, ArcsInRam, ArcsOnDisk
from ..sssp.loading import load_rows
from ..sssp.paths import SearchOptions
from ..sssp.plan import ArcsPlan, plan_arcs
from ..sssp.rows import unreached
from ..store.store import Store
from ..stream.plan import too_small
from ..traverse.components import _find, join
from ..units import format_size
from ..weighted.components import point_to_roots
from .labels import REPORT
from .pairs import prove_pairs
from .parts import find_vertices, read_graph
from .plan import Budget
from .report import Refused, VerifyReport

_STATE_BYTES = 24
# Of the distances between sources and vertices that are left.
_LEAST_POINTS = 4 << 20
_UNBOUNDED = np.int64(1) << 62


def prove_weighted(certificate: WeightedCertificate, store: Store, report: VerifyReport, budget: Budget) -> None:
    """Prove every claim again; counts and seconds go into the report. Raises Refused, BudgetError, StoreError, and
    EmdiamError if a search proposes what are no distances."""
    with timed(report.seconds, "graph"):
        plan = _planned(store, budget)
        proof = _Proof(certificate, store, report, budget)
    options = SearchOptions(budget.threads, tick=proof.tick)
    arcs: Arcs
    with timed(report.seconds, "load"):
        if plan.arena_bytes is None:
            arcs = ArcsInRam(load_rows(store, budget.threads)[0], options)
        else:
            arcs = ArcsOnDisk(store, plan.arena_bytes, options)
    try:
        proof.prove(arcs)
    finally:
        arcs.close()


def _planned(store: Store, budget: Budget) -> ArcsPlan:
    """Where the arcs are. Raises BudgetError."""
    room = budget.room(0)
    plan = plan_arcs(store, budget.threads, room, _STATE_BYTES * store.n_vertices, _LEAST_POINTS)
    if plan.need + _LEAST_POINTS > room:
        raise too_small(budget.memory_bytes, budget.memory_bytes + plan.need + _LEAST_POINTS - room)
    return plan


class _Proof:
    """upper : int64[n_vertices], bounds on eccentricities. _root : of every vertex, the smallest one of its component;
    _sizes : vertices of components, at their roots. _largest : the root of the one with the most (ties: the first)."""

    def __init__(self, certificate: WeightedCertificate, store: Store, report: VerifyReport, budget: Budget) -> None:
        self._store, self._report, self._budget = store, report, budget
        claims = certificate.claims
        digest, labelling = read_graph(store, certificate.graph, budget.threads, Meter(budget.progress))
        names = [*claims.witness, *certificate.sources]
        vertices = find_vertices(store, names, digest.hashes)
        if (vertices < 0).any():
            raise Refused(f"the graph has no vertex {names[int((vertices < 0).argmax())]}")
        del digest
        report.scans += 1
        parent, sizes, n_components = labelling.flat()
        if claims.n_components != n_components:
            raise Refused(f"the graph has {n_components:,} components, not {claims.n_components:,}")
        self._root, self._sizes = parent.astype(np.int64), sizes
        self._witness, self._sources = vertices[:2], np.unique(vertices[2:])
        self._claims, self._largest = claims, int(sizes.argmax())
        self.upper = np.full(store.n_vertices, _UNBOUNDED)

    def prove(self, arcs: Arcs) -> None:
        """Prove every claim about distances. Raises Refused, BudgetError."""
        seconds = self._report.seconds
        with timed(seconds, "labels"):
            self._arcs, self._units = arcs, units_of(arcs)
            self._limit = self._in_units(self._claims.length)
            self._of_largest = self._in_units(self._claims.diameter_largest_component)
            self._bound()
        with timed(seconds, "pairs"):
            (self._budget.progress or silent)(Event("pairs"))
            self._prove_left()

    def tick(self) -> None:
        """An event with the sources that were searched from."""
        (self._budget.progress or silent)(Event("labels", self._report.traversals, 2 * len(self._sources), "sources"))

    def _in_units(self, length: int | float) -> int:
        """A claimed length. Raises Refused if it is no sum of weights."""
        try:
            number = np.array([length], self._arcs.distance_dtype)
            units = int(self._units.counted(number)[0])
        except (InputError, OverflowError):
            units = -1
        if units < 0 or self._units.length(units) != length:
            raise Refused(f"{length} is no sum of weights of the graph")
        return units

    def _rounds(self, sources: np.ndarray) -> Iterator[np.ndarray]:
        """The sources, int64[k], in turns of at most one for each component."""
        roots = self._root[sources]
        order = np.argsort(roots, kind="stable")
        sources, roots = sources[order], roots[order]
        starts = np.flatnonzero(np.diff(roots, prepend=-1))
        turn = np.arange(len(roots)) - np.repeat(starts, np.diff(starts, append=len(roots)))
        for number in range(int(turn.max(initial=-1)) + 1):
            yield sources[turn == number]

    def _distances(self, sources: np.ndarray) -> np.ndarray:
        """Distances from the sources, int64[k], no two in one component, in units; checked."""
        found, _ = self._arcs.nearest(sources)
        if not are_distances(self._arcs, found, sources, int(self._sizes[self._root[sources]].sum())):
            raise EmdiamError(f"a search proposes what are no distances: {REPORT}")
        self._report.traversals += len(sources)
        return self._units.counted(found)

    def _bound(self) -> None:
        """Fold the distances from all sources; lower bounds are attained. Raises Refused."""
        longest, of_largest, apart = 0, 0, 0 if self._witness[0] == self._witness[1] else -1
        for sources in self._rounds(self._sources):
            distances = self._distances(sources)
            reach = np.zeros(len(distances), np.int64)
            fold(distances, unreached(distances.dtype), self._root, reach, self.upper)
            longest = max(longest, int(reach.max(initial=0)))
            of_largest = max(of_largest, int(reach[self._largest]))
            if self._witness[0] in sources and self._root[self._witness[0]] == self._root[self._witness[1]]:
                apart = int(distances[self._witness[1]])
        if apart != self._limit or longest > self._limit:
            raise Refused(f"its witness is not {self._units.length(self._limit)} apart, or another pair is farther"
                          " apart")
        if of_largest != self._of_largest:
            raise Refused(f"no source proves that the component with the most vertices has a diameter of"
                          f" {self._units.length(self._of_largest)}")

    def _prove_left(self) -> None:
        """The pairs of vertices that are not settled. Raises Refused."""
        limits = np.where(self._root == self._largest, self._of_largest, self._limit)
        left = np.flatnonzero((self.upper > limits) & (self._sizes[self._root] > 1))
        left = left[np.argsort(self._root[left], kind="stable")]
        roots, counts = np.unique(self._root[left], return_counts=True)
        open_roots = roots[counts > 1]
        self._report.unsettled = int(counts[counts > 1].sum())
        if not len(open_roots):
            return
        if (self.upper[left] == _UNBOUNDED).any():
            raise Refused("a component of several vertices has no source")
        left = left[np.isin(self._root[left], open_roots)]
        within = np.isin(self._root[self._sources], open_roots)
        columns: list[np.ndarray] = []
        for sources in self._rounds(self._sources[within]):
            self._check_points(len(left), len(columns) + 1)
            columns.append(self._distances(sources)[left])
        for root in open_roots.tolist():
            limit = self._of_largest if root == self._largest else self._limit
            self._prove_pairs(left, self._root[left] == root, columns, limit)

    def _check_points(self, n_left: int, n_columns: int) -> None:
        """Raises BudgetError if there is no room for so many columns and their copies."""
        need = 2 * 8 * n_left * n_columns
        if need > self._budget.room(0):
            raise BudgetError(f"the pairs of {n_left:,} vertices take {format_size(need)} more than there is",
                              remedy="give more --memory")

    def _prove_pairs(self, left: np.ndarray, here: np.ndarray, columns: list[np.ndarray], limit: int) -> None:
        """The pairs of one component; columns without a source in it are left out."""
        reached = [column[here] for column in columns if column[here][0] != unreached(column.dtype)]
        proof = prove_pairs(np.ascontiguousarray(np.stack(reached, axis=1)), limit, self._budget.room(0))
        self._report.pairs += proof.looked_at
        if proof.unproved is not None:
            one, two = self._store.user_ids(left[here][list(proof.unproved)])
            raise Refused(f"vertices {one} and {two} are not proved to be within {self._units.length(limit)}")


def are_distances(arcs: Arcs, distances: np.ndarray, sources: np.ndarray, count: int) -> bool:
    """Whether these are the distances to the nearest of `sources` (int64[k]), which `count` vertices have; one pass."""
    none, n = unreached(distances.dtype), arcs.n_vertices
    if (distances[sources] != 0).any() or np.count_nonzero(distances != none) != count:
        return False
    fits, parent = np.zeros(n, np.bool_), np.arange(n, dtype=np.int64)
    fits[sources] = True
    if not all(fit_piece(*piece, distances, none, fits, parent) for piece in arcs.pieces()):
        return False
    point_to_roots(parent)
    fits[parent[fits]] = True
    return int(np.count_nonzero(fits[parent] & (distances != none))) == count


@kernel
def fit_piece(first, offsets, heads, costs, distances, none, fits, parent):  # type: ignore[no-untyped-def]
    """False if an arc leads to a vertex in less than its distance. fits[u] = True where an arc from a vertex at a
    smaller distance fits; vertices that an arc of no length joins become one set of `parent`, in which one that fits is
    enough."""
    for i in range(len(offsets) - 1):
        v = first + i
        if distances[v] == none:
            continue
        for p in range(offsets[i], offsets[i + 1]):
            u = np.int64(heads[p])
            length = distances[v] + costs[p]
            if length < distances[u]:
                return False
            if length == distances[u]:
                if distances[v] < distances[u]:
                    fits[u] = True
                else:
                    join(parent, _find(parent, v), u)
    return True


@kernel
def fold(distances, none, root, reach, upper):  # type: ignore[no-untyped-def]
    """reach[r] = the largest distance in the component of root r; upper[v] lowered to d(v) + reach of its component."""
    for v in range(len(distances)):
        if distances[v] != none:
            reach[root[v]] = max(reach[root[v]], np.int64(distances[v]))
    for v in range(len(distances)):
        if distances[v] != none:
            upper[v] = min(upper[v], np.int64(distances[v]) + reach[root[v]])
