"""One verification: the graph, the claims, the labels in groups, and the pairs that are left.

Passes over the edges: one for digest and components, one a group of at most 64 label columns, beside the traversals
that propose them. Bytes a vertex: see parts.py, plan.py; the pairs take what pairs.py says for each unsettled vertex.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._version import __version__
from ..errors import InputError
from ..methods.eccentricity.certificate import FORMAT as ECCENTRICITIES
from ..methods.eccentricity.certificate import KEYS as ECCENTRICITY_KEYS
from ..methods.eccentricity.certificate import EccentricityCertificate
from ..methods.eccentricity.certificate import parse_certificate as parse_eccentricities
from ..methods.exact.certificate import FORMAT, KEYS, VERSION, Certificate, parse_certificate
from ..methods.sealed import read_sealed
from ..methods.weighted.certificate import FORMAT as WEIGHTED
from ..methods.weighted.certificate import FORMAT_IN_UNITS as WEIGHTED_IN_UNITS
from ..methods.weighted.certificate import KEYS as WEIGHTED_KEYS
from ..methods.weighted.certificate import KEYS_IN_UNITS as WEIGHTED_KEYS_IN_UNITS
from ..methods.weighted.certificate import WeightedCertificate
from ..methods.weighted.certificate import parse_certificate as parse_weighted
from ..methods.weighted.eccentricity_certificate import FORMAT as WEIGHTED_ECCENTRICITIES
from ..methods.weighted.eccentricity_certificate import FORMAT_IN_UNITS as WEIGHTED_ECCENTRICITIES_IN_UNITS
from ..methods.weighted.eccentricity_certificate import KEYS as WEIGHTED_ECCENTRICITY_KEYS
from ..methods.weighted.eccentricity_certificate import WeightedEccentricityCertificate
from ..methods.weighted.eccentricity_certificate import parse_certificate as parse_weighted_eccentricities
from ..methods.weighted.units import stated
from ..progress import Event, Listener, Meter, silent, timed
from ..store.store import Store, check_directed, open_store
from ..units import budget_bytes, peak_rss_bytes
from .eccentricities import EccentricityReport, prove_eccentricities
from .groups import Gathered, LabelStage, pair_bytes
from .labels import label_dtype, largest_label
from .pairs import prove_pairs
from .parts import find_parts
from .plan import Budget, check_graph_room
from .report import Refused, VerifyReport
from .weighted import prove_weighted
from .weighted_eccentricities import prove_weighted_eccentricities

# Of the number of a vertex's component, at most.
_MEMBER_BYTES = 4

Said = Certificate | EccentricityCertificate | WeightedCertificate | WeightedEccentricityCertificate
_KEYS = {FORMAT: KEYS, ECCENTRICITIES: ECCENTRICITY_KEYS, WEIGHTED: WEIGHTED_KEYS,
         WEIGHTED_IN_UNITS: WEIGHTED_KEYS_IN_UNITS, WEIGHTED_ECCENTRICITIES: WEIGHTED_ECCENTRICITY_KEYS,
         WEIGHTED_ECCENTRICITIES_IN_UNITS: WEIGHTED_KEYS_IN_UNITS}


def verify(
    certificate: str | Path, store: Store | str | Path, *, memory_bytes: int | None = None, threads: int = 2,
    progress: Listener | None = None,
) -> VerifyReport:
    """Prove again what the certificate (a path) claims of the store (opened, or a path).

    memory_bytes : peak RSS of this process; default: what machine and cgroup leave. A certificate that is intact and no
    proof gives a report with `verified` false and the reason. Raises InputError for a file that is no intact
    certificate (StoreError, BudgetError), EmdiamError if a traversal proposes what are no distances.
    """
    if threads < 1:
        raise InputError("at least one thread is needed", text=str(threads))
    document = read_sealed(certificate, _KEYS, VERSION)
    parse: dict[str, Callable[[dict[str, Any], str | Path], Said]] = {
        FORMAT: parse_certificate, ECCENTRICITIES: parse_eccentricities, WEIGHTED: parse_weighted,
        WEIGHTED_IN_UNITS: parse_weighted, WEIGHTED_ECCENTRICITIES: parse_weighted_eccentricities,
        WEIGHTED_ECCENTRICITIES_IN_UNITS: parse_weighted_eccentricities}
    said = parse[document["format"]](document, certificate)
    memory = budget_bytes(memory_bytes)
    budget = Budget(memory, threads, progress)
    if isinstance(store, Store):
        check_directed(store, False)
        return _verify(said, store, budget)
    with open_store(store) as opened:
        return _verify(said, opened, budget)


def _verify(certificate: Said, store: Store, budget: Budget) -> VerifyReport:
    begin = time.perf_counter()
    report: VerifyReport
    try:
        if isinstance(certificate, Certificate):
            report = _claimed(certificate)
            _prove_diameter(certificate, store, report, budget)
        elif isinstance(certificate, WeightedCertificate):
            report = _claimed_with_weights(certificate)
            prove_weighted(certificate, store, report, budget)
        elif isinstance(certificate, WeightedEccentricityCertificate):
            report = of_all = _claimed_of_all(certificate)
            prove_weighted_eccentricities(certificate, store, of_all, budget)
        else:
            report = of_all = _claimed_of_all(certificate)
            of_all.histogram = dict(certificate.claims.histogram)
            prove_eccentricities(certificate, store, of_all, budget)
        report.verified = True
    except Refused as refused:
        report.reason = str(refused)
    report.memory_limit_bytes = budget.memory_bytes
    report.seconds["total"] = time.perf_counter() - begin
    report.peak_rss_bytes = peak_rss_bytes()
    return report


def _prove_diameter(certificate: Certificate, store: Store, report: VerifyReport, budget: Budget) -> None:
    with timed(report.seconds, "graph"):
        dtype = label_dtype(largest_label(report.upper, store.n_vertices))
        pivots = max((len(component.pivots) for component in certificate.components), default=0)
        if pivots:
            budget.later_bytes = pair_bytes(store.n_vertices, pivots, dtype.itemsize) + _MEMBER_BYTES * store.n_vertices
        check_graph_room(store, dtype.itemsize, budget)
        parts, member = find_parts(store, certificate, budget.threads, Meter(budget.progress))
        budget.program += member.nbytes
        report.scans += 1
    with timed(report.seconds, "labels"):
        gathered = LabelStage(store, parts, member, budget, report).run()
        del member
    with timed(report.seconds, "pairs"):
        (budget.progress or silent)(Event("pairs"))
        _prove(gathered, store, budget, report)


def _claimed(certificate: Certificate) -> VerifyReport:
    claims, graph = certificate.claims, certificate.graph
    exact = claims.lower == claims.upper and claims.connected
    return VerifyReport(
        False, claims.lower, claims.upper, claims.lower if exact else None, claims.diameter_largest_component,
        claims.n_components, claims.connected, graph.n_vertices, graph.n_edges, version=__version__,
    )


def _claimed_with_weights(certificate: WeightedCertificate) -> VerifyReport:
    claims, graph, unit = certificate.claims, certificate.graph, certificate.unit
    length: Any = stated(claims.length, unit)
    largest: Any = stated(claims.diameter_largest_component, unit)
    connected = claims.n_components == 1
    return VerifyReport(False, length, length, length if connected else None, largest, claims.n_components, connected,
                        graph.n_vertices, graph.n_edges, version=__version__)


def _claimed_of_all(certificate: EccentricityCertificate | WeightedEccentricityCertificate) -> EccentricityReport:
    claims, graph = certificate.claims, certificate.graph
    unit = certificate.unit if isinstance(certificate, WeightedEccentricityCertificate) else None
    largest, of_largest, radius = (stated(length, unit) for length in (
        claims.diameter_max_component, claims.diameter_largest_component, claims.radius))
    connected = claims.n_components == 1
    return EccentricityReport(
        False, largest, largest, largest if connected else None, of_largest, claims.n_components, connected,
        graph.n_vertices, graph.n_edges, version=__version__, radius=radius, center_size=claims.center_size,
        periphery_size=claims.periphery_size)


def _prove(gathered: list[Gathered], store: Store, budget: Budget, report: VerifyReport) -> None:
    """All pairs of unsettled vertices. Raises Refused with one that is not proved."""
    held = sum(left.vertices.nbytes + left.points.nbytes for left in gathered)
    for left in gathered:
        proof = prove_pairs(left.points, left.part.upper, budget.room(held))
        report.pairs += proof.looked_at
        if proof.unproved is not None:
            one, two = store.user_ids(left.vertices[list(proof.unproved)])
            raise Refused(f"vertices {one} and {two} are not proved to be within {left.part.upper}")
