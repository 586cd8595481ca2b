"""One verification of all eccentricities along weights: bounds from all sources, which must meet at every vertex.

A vertex alone in its component has the eccentricity 0. Bytes: see weighted_sources.py.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..methods.weighted.eccentricity_certificate import WeightedEccentricityCertificate
from ..methods.weighted.units import stated
from ..paths.rows import unreached
from ..progress import timed
from ..store.store import Store
from .eccentricities import EccentricityReport
from .plan import Budget
from .report import Refused
from .weighted_sources import WeightedProof

_UNBOUNDED = np.int64(1) << 62


def prove_weighted_eccentricities(certificate: WeightedEccentricityCertificate, store: Store,
                                  report: EccentricityReport, budget: Budget) -> None:
    """Prove every claim again; counts and seconds go into the report. Raises Refused, BudgetError, StoreError, and
    EmdiamError if a search proposes what are no distances."""
    with timed(report.seconds, "graph"):
        proof = _Proof(certificate, store, report, budget)
    with proof.opened(), timed(report.seconds, "labels"):
        proof.bound()
        proof.check_claims()


class _Proof(WeightedProof):
    """lower, upper : int64[n_vertices], bounds on eccentricities. named : the claimed vertex of the largest
    component."""

    def __init__(self, certificate: WeightedEccentricityCertificate, store: Store, report: EccentricityReport,
                 budget: Budget) -> None:
        claims = self._claims = certificate.claims
        super().__init__(certificate, [claims.largest], store, report, budget)
        self._of_claimed = int(self.root[self.named[0]])
        size, most = int(self.sizes[self._of_claimed]), int(self.sizes.max())
        if size != most:
            raise Refused(f"the component of vertex {claims.largest} has {size:,} vertices, another one {most:,}")
        self.lower = np.zeros(store.n_vertices, np.int64)
        self.upper = np.where(self.sizes[self.root] > 1, _UNBOUNDED, 0)

    def bound(self) -> None:
        """The bounds from all sources. Raises Refused with a vertex where they do not meet."""
        for sources in self.rounds(self.sources):
            distances = self.distances(sources)
            narrow(distances, unreached(distances.dtype), self.root, self.reach(distances), self.lower, self.upper)
        apart = self.lower != self.upper
        if apart.any():
            (name,) = self.store.user_ids(np.flatnonzero(apart)[:1])
            raise Refused(f"the sources leave the eccentricity of vertex {name} open, and of"
                          f" {np.count_nonzero(apart) - 1:,} others")

    def check_claims(self) -> None:
        """Every number that is claimed. Raises Refused."""
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
    """Bounds of every vertex that a source reaches, at d: from max(d, reach - d) to d + reach, by the reach of its
    component."""
    for v in range(len(distances)):
        if distances[v] != none:
            d, far = np.int64(distances[v]), reach[root[v]]
            lower[v] = max(lower[v], d, far - d)
            upper[v] = min(upper[v], d + far)
