"""One verification: the graph, the claims, the labels in groups, and the remaining pairs.

Passes over the edges: one for digest and components, one per group of at most 64 label columns, besides the traversals
that propose them. Bytes per vertex: see parts.py, plan.py; pairs take the bytes in pairs.py for each unsettled vertex.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._version import __version__
from ..errors import InputError
from ..methods.weighted.units import stated
from ..progress import Listener, Meter, timed
from ..store.store import Store, open_store
from ..units import budget_bytes, peak_rss_bytes
from .arcs import ArcReport, prove_along_arcs, prove_arc_eccentricities
from .documents import (
    ArcCertificate,
    ArcEccentricityCertificate,
    ArcEccentricityClaims,
    Certificate,
    Claims,
    EccentricityCertificate,
    MeanCertificate,
    Refused,
    SealedDocument,
    VerifyReport,
    WeightedArcCertificate,
    WeightedCertificate,
    WeightedClaims,
    WeightedEccentricityCertificate,
    read_certificate,
)
from .eccentricities import EccentricityReport, prove_eccentricities
from .groups import LabelStage, pair_bytes, prove_gathered
from .labels import label_dtype, largest_label
from .mean import MeanReport, mean_interval, prove_mean
from .one_pass import prove_at_once
from .parts import find_parts
from .plan import ProofBudget, check_graph_room
from .weighted import prove_weighted, prove_weighted_eccentricities

# Upper bound for the number of a vertex's component.
_MEMBER_BYTES = 4


def verify(
    certificate: SealedDocument | str | Path, store: Store | str | Path, *, memory_bytes: int | None = None,
    threads: int = 2, progress: Listener | None = None,
) -> VerifyReport:
    """Prove the claims of a certificate (its content, or a path) about a store (opened, or a path).

    memory_bytes : peak RSS of this process; default: what machine and cgroup allow. An intact certificate that proves
    nothing gives a report with `verified` false and the reason. Raises InputError for a file that is not an intact
    certificate (StoreError, BudgetError), EmdiamError if a traversal proposes wrong distances.
    """
    if threads < 1:
        raise InputError("at least one thread is needed", text=str(threads))
    said = certificate if isinstance(certificate, SealedDocument) else read_certificate(certificate)
    memory = budget_bytes(memory_bytes)
    budget = ProofBudget(memory, threads, progress)
    if isinstance(store, Store):
        _check_directed(store, said.directed)
        return _verify(said, store, budget)
    with open_store(store, directed=None) as opened:
        _check_directed(opened, said.directed)
        return _verify(said, opened, budget)


def _check_directed(store: Store, directed: bool) -> None:
    """Raise InputError if the store's directions contradict the certificate's."""
    if store.directed != directed:
        about, other = ("arcs with directions", "without") if directed else ("edges without directions", "with")
        raise InputError(f"the certificate is about {about}, and the store is one {other} them", path=store.path,
                         remedy="verify it with a store of the graph that it is about")


def _verify(certificate: Any, store: Store, budget: ProofBudget) -> VerifyReport:
    begin, report = time.perf_counter(), _claimed(certificate)
    try:
        _PROVERS[type(certificate)](certificate, store, report, budget)
        report.verified = True
    except Refused as refused:
        report.reason = str(refused)
    report.memory_limit_bytes = budget.memory_bytes
    report.seconds["total"] = time.perf_counter() - begin
    report.peak_rss_bytes = peak_rss_bytes()
    return report


def _prove_diameter(certificate: Certificate, store: Store, report: VerifyReport, budget: ProofBudget) -> None:
    with timed(report.seconds, "graph"):
        dtype = label_dtype(largest_label(report.upper, store.n_vertices))
        pivots = max((len(component.pivots) for component in certificate.components), default=0)
        if pivots:
            budget.later_bytes = pair_bytes(store.n_vertices, pivots, dtype.itemsize) + _MEMBER_BYTES * store.n_vertices
        check_graph_room(store, dtype.itemsize, budget)
    if prove_at_once(store, certificate, dtype, budget, report):
        return
    with timed(report.seconds, "graph"):
        parts, member, walks = find_parts(store, certificate, budget.threads, Meter(budget.progress))
        report.scans += 1
        budget.program += member.nbytes
    with timed(report.seconds, "labels"):
        gathered = LabelStage(store, parts, member, budget, report).run()
        del member
    with timed(report.seconds, "pairs"):
        prove_gathered(gathered, walks, store, budget, report)


def _claimed(certificate: Any) -> VerifyReport:
    """The report before the proof: the claims of a certificate, as users see them."""
    claims, graph, unit = certificate.claims, certificate.graph, getattr(certificate, "unit", None)
    if certificate.directed:
        return _claimed_along_arcs(certificate)
    if isinstance(certificate, MeanCertificate):
        return _claimed_mean(certificate)
    connected = claims.n_components == 1
    if isinstance(claims, Claims):
        lower, upper, connected = claims.lower, claims.upper, claims.connected
    else:
        longest = claims.length if isinstance(claims, WeightedClaims) else claims.diameter_max_component
        lower = upper = stated(longest, unit)
    kind: Any = VerifyReport if isinstance(claims, Claims | WeightedClaims) else EccentricityReport
    report: VerifyReport = kind(
        False, lower, upper, lower if lower == upper and connected else None,
        stated(claims.diameter_largest_component, unit), claims.n_components, connected, graph.n_vertices,
        graph.n_edges, version=__version__)
    if isinstance(report, EccentricityReport):
        report.radius, report.center_size = stated(claims.radius, unit), claims.center_size
        report.periphery_size, report.histogram = claims.periphery_size, dict(getattr(claims, "histogram", {}))
    return report


def _claimed_mean(certificate: MeanCertificate) -> MeanReport:
    claims, graph = certificate.claims, certificate.graph
    low, high = mean_interval(claims.sum_lower, claims.sum_upper, claims.n_pairs)
    return MeanReport(False, 0, max(0, graph.n_vertices - 1), None, None, claims.n_components,
                      claims.n_components == 1, graph.n_vertices, graph.n_edges, version=__version__, mean_lower=low,
                      mean_upper=high, n_pairs=claims.n_pairs)


def _claimed_along_arcs(certificate: Any) -> ArcReport:
    claims, graph, unit = certificate.claims, certificate.graph, getattr(certificate, "unit", None)
    longest, strong = stated(claims.length, unit), claims.n_strong_components == 1
    report = ArcReport(False, longest, longest, longest if strong else None, None, claims.n_components,
                       claims.n_components == 1, graph.n_vertices, graph.n_edges, version=__version__,
                       n_strong_components=claims.n_strong_components, weighted=certificate.weighted)
    if isinstance(claims, ArcEccentricityClaims):
        report.direction, report.periphery_size = claims.direction, claims.periphery_size
        report.radius = None if claims.radius is None else stated(claims.radius, unit)
        report.center_size = claims.center_size
    return report


_PROVERS: dict[type, Callable[..., None]] = {
    Certificate: _prove_diameter, EccentricityCertificate: prove_eccentricities, WeightedCertificate: prove_weighted,
    WeightedEccentricityCertificate: prove_weighted_eccentricities, ArcCertificate: prove_along_arcs,
    WeightedArcCertificate: prove_along_arcs, ArcEccentricityCertificate: prove_arc_eccentricities,
    MeanCertificate: prove_mean}
