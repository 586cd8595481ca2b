"""One verification of a weighted diameter: distances from all sources, then the pairs that are left.

Bounds are folded first; then, where several vertices of a component are not settled, its sources are searched from
again, and the distances to those vertices kept for the pairs.
Bytes: see weighted_sources.py; a number for each source and vertex that is left.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..methods.weighted.certificate import WeightedCertificate
from ..paths.rows import unreached
from ..progress import Event, silent, timed
from ..store.store import Store
from .pairs import check_room, prove_pairs
from .plan import Budget
from .report import Refused, VerifyReport
from .weighted_sources import WeightedProof

_UNBOUNDED = np.int64(1) << 62
# A distance of eight bytes, and its copy for the pairs.
_POINT_BYTES = 2 * 8


def prove_weighted(certificate: WeightedCertificate, store: Store, report: VerifyReport, budget: Budget) -> None:
    """Prove every claim again; counts and seconds go into the report. Raises Refused, BudgetError, StoreError, and
    EmdiamError if a search proposes what are no distances."""
    with timed(report.seconds, "graph"):
        proof = _Proof(certificate, store, report, budget)
    with proof.opened():
        proof.prove()


class _Proof(WeightedProof):
    """upper : int64[n_vertices], bounds on eccentricities. named : the witness."""

    def __init__(self, certificate: WeightedCertificate, store: Store, report: VerifyReport, budget: Budget) -> None:
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
            self._bound()
        with timed(self.report.seconds, "pairs"):
            (self.budget.progress or silent)(Event("pairs"))
            self._prove_left()

    def _widen_report(self) -> None:
        """Of weights that were rounded down an interval is claimed: paths have fewer edges than vertices."""
        if self.units.rounded:
            self.report.upper = self.units.length(self.in_units(self._claims.length) + int(self.sizes.max()) - 1)
            self.report.diameter = self.report.diameter_largest_component = None

    def _bound(self) -> None:
        """Fold the distances from all sources; lower bounds are attained. Raises Refused."""
        longest, of_largest, apart = 0, 0, 0 if self.named[0] == self.named[1] else -1
        for sources in self.rounds(self.sources):
            distances = self.distances(sources)
            reach = self.reach(distances)
            fold(distances, unreached(distances.dtype), self.root, reach, self.upper)
            longest = max(longest, int(reach.max(initial=0)))
            of_largest = max(of_largest, int(reach[self.largest]))
            if self.named[0] in sources and self.root[self.named[0]] == self.root[self.named[1]]:
                apart = int(distances[self.named[1]])
        if apart != self._limit or longest > self._limit:
            raise Refused(f"its witness is not {self.units.length(self._limit)} apart, or another pair is farther"
                          " apart")
        if of_largest != self._of_largest:
            raise Refused(f"no source proves that the component with the most vertices has a diameter of"
                          f" {self.units.length(self._of_largest)}")

    def _prove_left(self) -> None:
        """The pairs of vertices that are not settled. Raises Refused."""
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
        """Raises MoreMemoryError if there is no room for so many columns and their copies."""
        check_room(_POINT_BYTES * n_left * n_columns, self.budget.room(0), f"the pairs of {n_left:,} vertices take")

    def _prove_pairs(self, left: np.ndarray, here: np.ndarray, columns: list[np.ndarray], limit: int) -> None:
        """The pairs of one component; columns without a source in it are left out."""
        reached = [column[here] for column in columns if column[here][0] != unreached(column.dtype)]
        proof = prove_pairs(np.ascontiguousarray(np.stack(reached, axis=1)), limit, self.budget.room(0))
        self.report.pairs += proof.looked_at
        if proof.unproved is not None:
            one, two = self.store.user_ids(left[here][list(proof.unproved)])
            raise Refused(f"vertices {one} and {two} are not proved to be within {self.units.length(limit)}")


@kernel
def fold(distances, none, root, reach, upper):
    """upper[v] lowered to d(v) + the reach of its component."""
    for v in range(len(distances)):
        if distances[v] != none:
            upper[v] = min(upper[v], np.int64(distances[v]) + reach[root[v]])
