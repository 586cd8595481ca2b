"""Verification along weights: components, sources, and checked distances from them.

Distances are proposed by a search, and checked. No arc leads to a vertex in less than its distance, so no distance is
too large. Every vertex is reached from a source along arcs whose weights add up to the distances, so none is too small.
One pass over the arcs checks both. A search has at most one source in each component.
Bytes: the rows, or blocks of them; 24 per vertex, and the memory of a search.

A weighted diameter: bounds from the distances of all sources, then the remaining pairs. If several vertices of a
component are unsettled, its sources are searched again, and the distances to those vertices are kept for the pairs.
Bytes: also a number for each source and unsettled vertex.

All eccentricities along weights: bounds from all sources, which must meet at every vertex. A vertex alone in its
component has the eccentricity 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import numpy as np

from ..decimals import in_units
from ..distinct import distinct
from ..errors import EmdiamError, InputError
from ..jit import kernel
from ..methods.weighted.units import SumsTooLongError, Units, round_down, stated, units_of
from ..paths.arcs import Arcs, ArcsInRam, ArcsOnDisk, point_to_roots
from ..paths.blocks import StoreBlocks, load_rows
from ..paths.paths import SearchOptions
from ..paths.plan import ArcsPlan, plan_arcs
from ..paths.rows import unreached
from ..progress import Event, silent, timed
from ..store.store import Store
from ..traverse.components import _find, join
from .documents import Refused, VerifyReport, WeightedCertificate, WeightedEccentricityCertificate
from .eccentricities import EccentricityReport
from .labels import REPORT
from .pairs import check_room, prove_pairs
from .parts import read_named
from .plan import ProofBudget
from .sealed import Id

_STATE_BYTES = 24
# For small arrays of a verification.
_LEAST_ROOM = 4 << 20


class ClaimedUnits:
    """The units of lengths, and claims in these units. arcs, units : of the graph, while it is open."""

    arcs: Arcs
    units: Units
    store: Store
    _unit: tuple[int, int] | None
    _unweighted = False

    def _units(self, *others: Arcs) -> Units:
        """The units of the store, or the ones that the certificate names. others : arcs with the same weights. Raises
        Refused if the certificate's units do not fit the store."""
        record = self.store.record.weights
        # Lengths of arcs have no decimals.
        decimals = 0 if record is None or self._unweighted else record.decimals
        if self._unit is not None and self._unit[0] == 2 and self.arcs.distance_dtype.kind == "f":
            for arcs in others:
                round_down(arcs, self._unit[1])
            return round_down(self.arcs, self._unit[1])
        units = units_of(self.arcs, decimals)
        if self._unit not in (None, units.said):
            base, exponent = self._unit or (1, 0)
            raise Refused(f"its lengths are whole numbers of {base}^{exponent}, and the weights of the store are not")
        return units

    def in_units(self, length: int | float) -> int:
        """A claimed length in units. Raises Refused if it is not a sum of weights."""
        if self._unit is not None:
            if type(length) is not int or length >= self.units.most:
                raise Refused(f"{length} is no number of units")
            return length
        units: int | None
        if self.units.whole:
            units = in_units(length, self.units.decimals)
        else:
            try:
                units = int(self.units.counted(np.array([length], np.float64))[0])
            except (InputError, OverflowError):
                units = None
        if units is None or units >= self.units.most or self.units.length(units) != length:
            raise Refused(f"{length} is no sum of weights of the graph")
        return units


class WeightedProof(ClaimedUnits):
    """One verification. names : ids of vertices that must exist; `named` has their numbers. Raises Refused,
    BudgetError.

    root : int64[n_vertices], the smallest vertex of each vertex's component. sizes : numbers of vertices of components,
    at their roots. largest : the root of the component with the most vertices (of equals, the first).
    """

    def __init__(self, certificate: WeightedCertificate | WeightedEccentricityCertificate, names: Sequence[Id],
                 store: Store, report: VerifyReport, budget: ProofBudget) -> None:
        self.store, self.report, self.budget, self._unit = store, report, budget, certificate.unit
        sources, n_components = certificate.sources, certificate.claims.n_components
        self._plan = _planned(store, budget)
        vertices, labelling = read_named(store, certificate.graph, [*names, *sources], budget)
        report.scans += 1
        parent, self.sizes, found = labelling.flat()
        if n_components != found:
            raise Refused(f"the graph has {found:,} components, not {n_components:,}")
        self.root, self.largest = parent.astype(np.int64), int(self.sizes.argmax())
        self.named, self.sources = vertices[: len(names)], distinct(vertices[len(names):])

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Context in which the arcs are open."""
        options = SearchOptions(self.budget.threads, tick=self._tick)
        with timed(self.report.seconds, "load"):
            if self._plan.arena_bytes is None:
                self.arcs = ArcsInRam(load_rows(self.store, self.budget.threads)[0], options)
            else:
                self.arcs = ArcsOnDisk(StoreBlocks(self.store), self._plan.arena_bytes, options)
        with closing(self.arcs):
            self.units = self._units()
            yield

    def _tick(self) -> None:
        """Send an event with the number of sources searched."""
        (self.budget.progress or silent)(Event("labels", self.report.traversals, None, "sources"))

    def rounds(self, sources: np.ndarray) -> Iterator[np.ndarray]:
        """The sources, int64[k], in rounds with at most one source for each component."""
        roots = self.root[sources]
        order = np.argsort(roots, kind="stable")
        sources, roots = sources[order], roots[order]
        starts = np.flatnonzero(np.diff(roots, prepend=-1))
        turn = np.arange(len(roots)) - np.repeat(starts, np.diff(starts, append=len(roots)))
        for number in range(int(turn.max(initial=-1)) + 1):
            yield sources[turn == number]

    def distances(self, sources: np.ndarray) -> np.ndarray:
        """Checked distances, in units, from the sources, int64[k], at most one in each component."""
        found, _ = self.arcs.nearest(sources)
        if not are_distances(self.arcs, found, sources, int(self.sizes[self.root[sources]].sum())):
            raise EmdiamError(f"a search proposes wrong distances: {REPORT}")
        self.report.traversals += len(sources)
        try:
            return self.units.counted(found)
        except SumsTooLongError:
            raise Refused("sums of weights are not exact in its units") from None

    def reach(self, distances: np.ndarray) -> np.ndarray:
        """The largest of these distances in each component, int64[n_vertices], at the component's root."""
        reach = np.zeros(len(distances), np.int64)
        fill_reach(distances, unreached(distances.dtype), self.root, reach)
        return reach


def _planned(store: Store, budget: ProofBudget) -> ArcsPlan:
    """Plan whether the arcs are in RAM or on disk. Raises BudgetError."""
    room = budget.room(0)
    plan = plan_arcs(store, budget.threads, room, _STATE_BYTES * store.n_vertices, _LEAST_ROOM)
    if plan.need + _LEAST_ROOM > room:
        raise budget.too_small(budget.memory_bytes + plan.need + _LEAST_ROOM - room)
    return plan


@kernel
def fill_reach(distances, none, root, reach):
    """reach[r] = the largest distance in the component of root r; int64[n], zeros."""
    for v in range(len(distances)):
        if distances[v] != none:
            reach[root[v]] = max(reach[root[v]], np.int64(distances[v]))


def are_distances(arcs: Arcs, distances: np.ndarray, sources: np.ndarray, count: int) -> bool:
    """Whether these are the distances to the nearest of `sources` (int64[k]), for exactly `count` vertices; one
    pass."""
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
def fit_piece(first, offsets, heads, costs, distances, none, fits, parent):
    """Returns False if an arc leads to a vertex in less than its distance. Sets fits[u] if an arc from a vertex at a
    smaller distance fits; vertices joined by an arc of length 0 become one set of `parent`, in which one fitting vertex
    is enough."""
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


_UNBOUNDED = np.int64(1) << 62
# An 8-byte distance, and its copy for the pairs.
_POINT_BYTES = 2 * 8


def prove_weighted(certificate: WeightedCertificate, store: Store, report: VerifyReport, budget: ProofBudget) -> None:
    """Prove every claim; counts and seconds go into the report. Raises Refused, BudgetError, StoreError, and
    EmdiamError if a search proposes wrong distances."""
    with timed(report.seconds, "graph"):
        proof = _DiameterProof(certificate, store, report, budget)
    with proof.opened():
        proof.prove()


class _DiameterProof(WeightedProof):
    """upper : int64[n_vertices], bounds on eccentricities. named : the witness."""

    def __init__(
        self, certificate: WeightedCertificate, store: Store, report: VerifyReport, budget: ProofBudget
    ) -> None:
        claims = certificate.claims
        budget.later_bytes = _POINT_BYTES * store.n_vertices * len(certificate.sources)
        super().__init__(certificate, claims.witness, store, report, budget)
        self._claims, self.upper = claims, np.full(store.n_vertices, _UNBOUNDED)

    def prove(self) -> None:
        """Prove every claim about distances. Raises Refused, BudgetError."""
        with timed(self.report.seconds, "labels"):
            self._widen_report()
            self._limit = self.in_units(self._claims.length)
            self._of_largest = self.in_units(self._claims.diameter_largest_component)
            candidates = self._bound()
        with timed(self.report.seconds, "pairs"):
            (self.budget.progress or silent)(Event("pairs"))
            self._prove_one(candidates)

    def _prove_one(self, candidates: list[int]) -> None:
        """Prove the pairs of unsettled vertices, with one of these roots as the component that the claim is about.
        Raises Refused."""
        for root in candidates:
            self.largest = root
            try:
                return self._prove_left()
            except Refused:
                if root == candidates[-1]:
                    raise

    def _widen_report(self) -> None:
        """Report an interval if weights were rounded down: a path has fewer edges than vertices."""
        if self.units.rounded:
            self.report.upper = self.units.length(self.in_units(self._claims.length) + int(self.sizes.max()) - 1)
            self.report.diameter = self.report.diameter_largest_component = None

    def _bound(self) -> list[int]:
        """Compute bounds from all sources, and check that the claimed lengths are attained; returns the roots of the
        components that the claim about the largest one fits. Raises Refused."""
        longest, apart = 0, 0 if self.named[0] == self.named[1] else -1
        attained = np.zeros(len(self.sizes), np.int64)
        for sources in self.rounds(self.sources):
            distances = self.distances(sources)
            reach = self.reach(distances)
            fold(distances, unreached(distances.dtype), self.root, reach, self.upper)
            longest = max(longest, int(reach.max(initial=0)))
            np.maximum(attained, reach, out=attained)
            if self.named[0] in sources and self.root[self.named[0]] == self.root[self.named[1]]:
                apart = int(distances[self.named[1]])
        if apart != self._limit or longest > self._limit:
            raise Refused(f"its witness is not {self.units.length(self._limit)} apart, or another pair is farther"
                          " apart")
        # Of several components with the most vertices, which one the certificate is about depends on the order of its
        # store.
        fits: list[int] = np.flatnonzero(
            (self.sizes == self.sizes.max()) & (attained == self._of_largest)).tolist()
        if not fits:
            raise Refused(f"no source proves that the component with the most vertices has a diameter of"
                          f" {self.units.length(self._of_largest)}")
        return fits

    def _prove_left(self) -> None:
        """Prove the pairs of unsettled vertices. Raises Refused."""
        limits = np.where(self.root == self.largest, self._of_largest, self._limit)
        left = np.flatnonzero((self.upper > limits) & (self.sizes[self.root] > 1))
        left = left[np.argsort(self.root[left], kind="stable")]
        roots, counts = np.unique(self.root[left], return_counts=True)
        open_roots = roots[counts > 1]
        self.report.unsettled = int(counts[counts > 1].sum())
        if not len(open_roots):
            return
        if (self.upper[left] == _UNBOUNDED).any():
            raise Refused("a component of several vertices has no source")
        left = left[np.isin(self.root[left], open_roots)]
        within = np.isin(self.root[self.sources], open_roots)
        columns: list[np.ndarray] = []
        for sources in self.rounds(self.sources[within]):
            self._check_points(len(left), len(columns) + 1)
            columns.append(self.distances(sources)[left])
        for root in open_roots.tolist():
            limit = self._of_largest if root == self.largest else self._limit
            self._prove_pairs(left, self.root[left] == root, columns, limit)

    def _check_points(self, n_left: int, n_columns: int) -> None:
        """Raise MoreMemoryError if this number of columns and their copies do not fit."""
        check_room(_POINT_BYTES * n_left * n_columns, self.budget.room(0), f"the pairs of {n_left:,} vertices take")

    def _prove_pairs(self, left: np.ndarray, here: np.ndarray, columns: list[np.ndarray], limit: int) -> None:
        """Prove the pairs of one component; columns without a source in it are skipped."""
        reached = [column[here] for column in columns if column[here][0] != unreached(column.dtype)]
        proof = prove_pairs(np.ascontiguousarray(np.stack(reached, axis=1)), limit, self.budget.room(0))
        self.report.pairs += proof.looked_at
        if proof.unproved is not None:
            one, two = self.store.user_ids(left[here][list(proof.unproved)])
            raise Refused(f"vertices {one} and {two} are not proved to be within {self.units.length(limit)}")


@kernel
def fold(distances, none, root, reach, upper):
    """Lower upper[v] to d(v) + the reach of its component."""
    for v in range(len(distances)):
        if distances[v] != none:
            upper[v] = min(upper[v], np.int64(distances[v]) + reach[root[v]])


def prove_weighted_eccentricities(certificate: WeightedEccentricityCertificate, store: Store,
                                  report: EccentricityReport, budget: ProofBudget) -> None:
    """Prove every claim; counts and seconds go into the report. Raises Refused, BudgetError, StoreError, and
    EmdiamError if a search proposes wrong distances."""
    with timed(report.seconds, "graph"):
        proof = _EccentricityProof(certificate, store, report, budget)
    with proof.opened(), timed(report.seconds, "labels"):
        proof.bound()
        proof.check_claims()


class _EccentricityProof(WeightedProof):
    """lower, upper : int64[n_vertices], bounds on eccentricities. named : the claimed vertex of the largest
    component."""

    def __init__(self, certificate: WeightedEccentricityCertificate, store: Store, report: EccentricityReport,
                 budget: ProofBudget) -> None:
        claims = self._claims = certificate.claims
        super().__init__(certificate, [claims.largest], store, report, budget)
        self._of_claimed = int(self.root[self.named[0]])
        size, most = int(self.sizes[self._of_claimed]), int(self.sizes.max())
        if size != most:
            raise Refused(f"the component of vertex {claims.largest} has {size:,} vertices, another one {most:,}")
        self.lower = np.zeros(store.n_vertices, np.int64)
        self.upper = np.where(self.sizes[self.root] > 1, _UNBOUNDED, 0)

    def bound(self) -> None:
        """Compute the bounds from all sources. Raises Refused with a vertex at which they do not meet."""
        for sources in self.rounds(self.sources):
            distances = self.distances(sources)
            narrow(distances, unreached(distances.dtype), self.root, self.reach(distances), self.lower, self.upper)
        apart = self.lower != self.upper
        if apart.any():
            (name,) = self.store.user_ids(np.flatnonzero(apart)[:1])
            raise Refused(f"the sources leave the eccentricity of vertex {name} open, and of"
                          f" {np.count_nonzero(apart) - 1:,} others")

    def check_claims(self) -> None:
        """Check every claimed number. Raises Refused."""
        here, claims = self.lower[self.root == self._of_claimed], self._claims
        radius, diameter = int(here.min()), int(here.max())
        for name, value in (("radius", radius), ("diameter_largest_component", diameter),
                            ("diameter_max_component", int(self.lower.max()))):
            if self.in_units(getattr(claims, name)) != value:
                raise Refused(f"{name} is {self.units.length(value)}, not"
                              f" {stated(getattr(claims, name), self.units.said)}")
        for name, value in (("center_size", radius), ("periphery_size", diameter)):
            count = int(np.count_nonzero(here == value))
            if getattr(claims, name) != count:
                raise Refused(f"{name} is {count:,}, not {getattr(claims, name):,}")


@kernel
def narrow(distances, none, root, reach, lower, upper):
    """Tighten the bounds of every vertex at a distance d from a source: from max(d, reach - d) to d + reach, with the
    reach of its component."""
    for v in range(len(distances)):
        if distances[v] != none:
            d, far = np.int64(distances[v]), reach[root[v]]
            lower[v] = max(lower[v], d, far - d)
            upper[v] = min(upper[v], d + far)
