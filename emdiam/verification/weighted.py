"""One verification of a weighted diameter: the graph, then distances from all sources, then the pairs that are left.

Distances are proposed by a search, and checked: no arc leads to a vertex in less than its distance, so that none is too
large; and every vertex is reached from a source along arcs whose weights add up to the distances, so that none is too
small. A search has one source in each of some components. Bounds are folded first; then, where several vertices of a
component are not settled, its sources are searched from again, and the distances to those vertices kept for the pairs.
Bytes: the rows, in RAM; a vertex: 24, and what a search holds; a number for each source and vertex that is left.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import BudgetError, EmdiamError, InputError
from ..jit import kernel
from ..methods.weighted.certificate import WeightedCertificate
from ..methods.weighted.units import units_of
from ..progress import Event, Meter, silent, timed
from ..sssp.loading import in_rows, load_rows, loading_buffers, rows_bytes
from ..sssp.methods import check_lengths, nearest_distances, with_delta
from ..sssp.paths import SearchOptions
from ..sssp.plan import search_bytes
from ..sssp.rows import unreached
from ..store.store import Store
from ..stream.plan import too_small
from ..units import format_size
from .labels import REPORT
from .pairs import prove_pairs
from .parts import find_vertices, read_graph
from .plan import Budget
from .report import Refused, VerifyReport

_STATE_BYTES = 24
_UNBOUNDED = np.int64(1) << 62


def prove_weighted(certificate: WeightedCertificate, store: Store, report: VerifyReport, budget: Budget) -> None:
    """Prove every claim again; counts and seconds go into the report. Raises Refused, BudgetError, StoreError, and
    EmdiamError if a search proposes what are no distances."""
    with timed(report.seconds, "graph"):
        _check_room(store, budget)
        proof = _Proof(certificate, store, report, budget)
    with timed(report.seconds, "labels"):
        proof.bound()
    with timed(report.seconds, "pairs"):
        (budget.progress or silent)(Event("pairs"))
        proof.prove_left()


def _check_room(store: Store, budget: Budget) -> None:
    need = rows_bytes(store) + max(loading_buffers(store, budget.threads), _STATE_BYTES * store.n_vertices
                                   + search_bytes(store, "delta-stepping", budget.threads, tree=True))
    short = need - budget.room(0)
    if short > 0:
        raise too_small(budget.memory_bytes, budget.memory_bytes + short, in_rows(store))


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
        self._rows = load_rows(store, budget.threads)[0]
        check_lengths(self._rows)
        self._units = units_of(self._rows)
        self._limit = self._in_units(claims.length)
        self._of_largest = self._in_units(claims.diameter_largest_component)
        self._largest = int(sizes.argmax())
        self._options = with_delta(self._rows, SearchOptions(budget.threads, tick=self._tick))
        self.upper = np.full(store.n_vertices, _UNBOUNDED)

    def _tick(self) -> None:
        (self._budget.progress or silent)(Event("labels", self._report.traversals, 2 * len(self._sources), "sources"))

    def _in_units(self, length: int | float) -> int:
        """A claimed length. Raises Refused if it is no sum of weights."""
        try:
            number = np.array([length], self._rows.distance_dtype)
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
        rows = self._rows
        found, _ = nearest_distances(rows, sources, self._options)
        none = unreached(found.dtype)
        seen, queue = np.zeros(len(found), np.bool_), np.empty(len(found), np.int64)
        reached = check_distances(rows.offsets, rows.heads, rows.costs, found, none, sources, seen, queue)
        if reached != self._sizes[self._root[sources]].sum() or reached != np.count_nonzero(found != none):
            raise EmdiamError(f"a search proposes what are no distances: {REPORT}")
        self._report.traversals += len(sources)
        return self._units.counted(found)

    def bound(self) -> None:
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

    def prove_left(self) -> None:
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


@kernel
def check_distances(offsets, heads, costs, distances, none, sources, seen, queue):  # type: ignore[no-untyped-def]
    """Vertices reached from `sources` (int64[k], at 0) along arcs whose weight is the difference of the distances; -1
    if a source is not at 0, or an arc leads to a vertex in less than its distance.

    seen : bool[n], False. queue : int64[n]."""
    count = 0
    for s in sources:
        if distances[s] != 0:
            return -1
        seen[s] = True
        queue[count] = s
        count += 1
    done = 0
    while done < count:
        v = queue[done]
        done += 1
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            length = distances[v] + costs[p]
            if length < distances[u]:
                return -1
            if length == distances[u] and not seen[u]:
                seen[u] = True
                queue[count] = u
                count += 1
    return count


@kernel
def fold(distances, none, root, reach, upper):  # type: ignore[no-untyped-def]
    """reach[r] = the largest distance in the component of root r; upper[v] lowered to d(v) + reach of its component."""
    for v in range(len(distances)):
        if distances[v] != none:
            reach[root[v]] = max(reach[root[v]], np.int64(distances[v]))
    for v in range(len(distances)):
        if distances[v] != none:
            upper[v] = min(upper[v], np.int64(distances[v]) + reach[root[v]])
