"""Certificates of results: the proofs of a method, in the user's ids, as a file written whole or not at all.

Each takes one pass over the edges, for the digest of the graph. All functions raise InputError if the file cannot be
written, and StoreError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..histogram import with_texts
from ..methods.result import Result
from ..store.edge_digest import digest_on_disk, edge_digest, hash_bytes
from ..store.store import Store
from .documents import (
    ArcCertificate,
    ArcClaims,
    ArcEccentricityCertificate,
    ArcEccentricityClaims,
    Certificate,
    CertifiedComponent,
    Claims,
    EccentricityCertificate,
    EccentricityClaims,
    GraphFacts,
    MeanCertificate,
    MeanClaims,
    SealedDocument,
    WeightedArcCertificate,
    WeightedCertificate,
    WeightedClaims,
    WeightedEccentricityCertificate,
    WeightedEccentricityClaims,
    parsed,
)
from .sealed import Id, write_sealed

if TYPE_CHECKING:
    from ..methods.directed.eccentricities import BoundedEccentricities, WeightedArcEccentricities
    from ..methods.directed.pivots import DirectedPivots
    from ..methods.eccentricity.result import EccentricityResult, WeightedEccentricities
    from ..methods.result import DirectedResult, Proof, WeightedResult
    from ..methods.weighted.eccentricities import EccentricitySearch
    from ..methods.weighted.search import WeightedSearch


_Kind = TypeVar("_Kind", bound=SealedDocument)


@dataclass(frozen=True)
class HashRoom:
    """Limits for hashes of vertices. bytes : of memory. scratch : folder for the rest."""

    bytes: int
    scratch: str | Path | None


def facts_of(graph: Store, room: HashRoom | None = None, **reading: Any) -> GraphFacts:
    """The facts about the graph in a certificate. room : for hashes of vertices, which need not fit in memory. reading
    : threads and progress, for edge_digest."""
    if room is None or room.bytes >= hash_bytes(graph):
        digest = edge_digest(graph, **reading)
    else:
        digest = digest_on_disk(graph, room.bytes, room.scratch, **reading)
    return GraphFacts(digest, graph.n_vertices, graph.n_edges)


def _named(store: Store, vertices: Iterable[int] | np.ndarray) -> list[Any]:
    """The user's ids of vertices."""
    return list(store.user_ids(np.array(list(vertices), np.int64)))


def _written(path: str | Path, certificate: _Kind) -> _Kind:
    """Write the certificate to the path and return it."""
    write_sealed(path, certificate.to_bytes())
    return certificate


def claims_of(result: Result) -> Claims:
    """The claims of a result. Raises ValueError if the number of components is unknown."""
    if result.n_components is None:
        raise ValueError("the number of components is not known, so there is nothing to certify")
    return Claims(result.lower, result.upper, result.diameter_largest_component, result.n_components,
                  result.n_components == 1)


def write_certificate(
    path: str | Path, proof: Proof, claims: Claims, store: Store, *, graph: Store | None = None,
    room: HashRoom | None = None, **reading: Any,
) -> Certificate:
    """Write the certificate of `proof` (in vertices of `store`) to `path`; returns its content.

    graph : the same graph in its original order, whose digest is written; None: `store`. room, reading : see facts_of.
    A file with that name is replaced. Raises ValueError for a proof that no certificate can contain (for example a
    lower bound without a witness).
    """
    components = []
    for part in proof.components:
        witness: Sequence[Id] | None = None if part.witness is None else _named(store, part.witness)
        components.append(CertifiedComponent(
            _named(store, [part.vertex])[0], part.size, part.lower, part.upper,
            None if witness is None else (witness[0], witness[1]),
            _named(store, part.pivots), _named(store, part.sources)))
    facts = facts_of(store if graph is None else graph, room, **reading)
    certificate = Certificate(graph=facts, claims=claims, components=components,
                              walks=[_named(store, walk) for walk in proof.walks])
    data = certificate.to_bytes()
    try:
        parsed(json.loads(data))
    except (KeyError, TypeError) as error:
        raise ValueError(str(error)) from error
    write_sealed(path, data)
    return certificate


def write_eccentricities(
    path: str | Path, result: EccentricityResult, store: Store, *, graph: Store | None = None,
    room: HashRoom | None = None, **reading: Any,
) -> EccentricityCertificate:
    """The same for all eccentricities. store : of the result's vertices. Raises ValueError if the result leaves
    eccentricities open."""
    if result.traversed is None or not result.exact or result.radius is None:
        raise ValueError("only all eccentricities, all of them proved, have a certificate")
    assert result.center is not None and result.periphery is not None and result.n_components is not None
    assert result.diameter_largest_component is not None and result.diameter_max_component is not None
    (largest,) = _named(store, [result.of_largest])
    claims = EccentricityClaims(
        result.n_components, largest, result.radius, result.diameter_largest_component, result.diameter_max_component,
        result.center.size, result.periphery.size, with_texts(result.histogram))
    facts = facts_of(store if graph is None else graph, room, **reading)
    return _written(path, EccentricityCertificate(
        graph=facts, claims=claims, sources=_named(store, result.traversed)))


def write_weighted(path: str | Path, result: WeightedResult, search: WeightedSearch,
                   store: Store) -> WeightedCertificate:
    """The same for an exact diameter along weights."""
    assert result.witness is not None and result.n_components is not None
    units = search.metric.units
    longest, of_largest = (units.claimed(units.length(one)) for one in (
        search.best.length, search.interval_largest()[0]))
    claims = WeightedClaims(longest, of_largest, result.n_components, (result.witness.source, result.witness.target))
    return _written(path, WeightedCertificate(
        graph=facts_of(store), unit=units.said, claims=claims, sources=list(store.user_ids(search.sources()))))


def write_weighted_eccentricities(path: str | Path, result: WeightedEccentricities,
                                  search: EccentricitySearch, store: Store) -> WeightedEccentricityCertificate:
    """The same for all eccentricities along weights."""
    assert result.exact and result.radius is not None and result.n_components is not None
    assert result.center is not None and result.periphery is not None
    assert result.diameter_largest_component is not None and result.diameter_max_component is not None
    (largest,) = store.user_ids(search.parts.roots[[search.parts.largest]])
    radius, of_largest, longest = map(search.metric.units.claimed, (
        result.radius, result.diameter_largest_component, result.diameter_max_component))
    claims = WeightedEccentricityClaims(result.n_components, largest, radius, of_largest, longest, result.center.size,
                                        result.periphery.size)
    return _written(path, WeightedEccentricityCertificate(
        graph=facts_of(store), unit=search.metric.units.said, claims=claims,
        sources=list(store.user_ids(search.sources()))))


def write_along_arcs(path: str | Path, result: DirectedResult, method: DirectedPivots,
                     store: Store) -> ArcCertificate | WeightedArcCertificate:
    """The same for the largest finite distance along arcs, with lengths of arcs or of weights."""
    assert result.witness is not None and result.n_components is not None and result.n_strong_components is not None
    claimed, said = _claimed_units(method.metric)
    claims = ArcClaims(claimed(method.best.length), result.n_components, result.n_strong_components, (
        result.witness.source, result.witness.target))
    parts: dict[str, Any] = {
        "graph": facts_of(store), "claims": claims, "pairs": _named(store, [pivot for pivot, _ in method.kept]),
        **dict(zip(("along", "against"), (_named(store, one) for one in method.searched), strict=True))}
    if result.weighted:
        return _written(path, WeightedArcCertificate(unit=said, **parts))
    return _written(path, ArcCertificate(**parts))


def write_arc_eccentricities(path: str | Path, result: WeightedArcEccentricities, method: BoundedEccentricities,
                             store: Store) -> ArcEccentricityCertificate:
    """The same for all eccentricities along weighted arcs."""
    assert result.exact and result.n_components is not None and result.n_strong_components is not None
    assert result.periphery is not None
    claimed, said = _claimed_units(method.metric)
    strong = result.center is not None
    claims = ArcEccentricityClaims(
        result.direction, result.n_components, result.n_strong_components, claimed(int(method.lower.max())),
        result.periphery.size, claimed(int(method.lower.min())) if strong else None,
        None if result.center is None else result.center.size)
    return _written(path, ArcEccentricityCertificate(
        graph=facts_of(store), unit=said, claims=claims, along=_named(store, method.along),
        against=_named(store, method.against)))


def write_mean(path: str | Path, claims: MeanClaims, sources: Sequence[int], store: Store, *,
               room: HashRoom | None = None, **reading: Any) -> MeanCertificate:
    """The same for an interval of the mean distance. sources : vertices of the store, in order. room, reading : see
    facts_of."""
    return _written(path, MeanCertificate(graph=facts_of(store, room, **reading), claims=claims,
                                          sources=_named(store, sources)))


def _claimed_units(metric: Any) -> tuple[Callable[[int], Any], Any]:
    """A function that turns a length in units into a claim, and the unit to write."""
    from ..methods.weighted.units import Units

    units = getattr(metric, "units", Units())
    return lambda length: units.claimed(units.length(length)), units.said


def write_proof(path: str | Path, result: Any, solved: Store, search: Any = None, **reading: Any) -> SealedDocument:
    """Write the certificate of a result of any kind, in vertices of the solved store. search : of a result along
    weights or arcs. reading : for a result in numbers of edges, see write_certificate."""
    if type(result) is Result:  # of pivots, which do not need the modules of the others
        assert result.proof is not None, "pivots that end leave a proof"
        return write_certificate(path, result.proof, claims_of(result), solved, **reading)
    from ..methods.directed.eccentricities import WeightedArcEccentricities
    from ..methods.eccentricity.result import EccentricityResult, WeightedEccentricities
    from ..methods.result import DirectedResult, WeightedResult

    if isinstance(result, WeightedArcEccentricities):
        return write_arc_eccentricities(path, result, search, solved)
    if isinstance(result, DirectedResult):
        return write_along_arcs(path, result, search, solved)
    if isinstance(result, WeightedResult):
        return write_weighted(path, result, search, solved)
    if isinstance(result, WeightedEccentricities):
        return write_weighted_eccentricities(path, result, search, solved)
    if isinstance(result, EccentricityResult):
        return write_eccentricities(path, result, solved, **reading)
    raise TypeError(f"no certificate of {type(result).__name__}")
