"""Certificates of all eccentricities of a weighted graph: sources whose searches bound every vertex from both sides.

Definition: for a source s and a vertex v of its component, max(d, ecc(s) - d) <= ecc(v) <= ecc(s) + d, with d =
d(v, s). A certificate names sources such that at every vertex of a component of several the largest lower bound meets
the smallest upper one; so each vertex has a source that proves the one and a source that proves the other, without a
word of it in the file. Lengths are what users see, in the kind of the weights, or of weights with k decimals whole
numbers of 10^-k, which the certificate says then.

It is a sealed document (methods/sealed.py), some bytes a source.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...store.store import Store
from ..exact.certificate import VERSION, GraphFacts, facts_of, parse_facts
from ..sealed import Id, count, each, length, of_one_kind, only, parse_unit, sealed, understood, vertex_id, write_sealed
from .eccentricities import WeightedEccentricities as Search
from .eccentricity_result import WeightedEccentricities

FORMAT = "emdiam certificate of weighted eccentricities"
KEYS = ("format", "version", "graph", "claims", "sources", "digest")
FORMAT_IN_UNITS = "emdiam certificate of weighted eccentricities in units"
KEYS_IN_UNITS = ("format", "version", "graph", "unit", "claims", "sources", "digest")


@dataclass(frozen=True)
class WeightedEccentricityClaims:
    """largest : a vertex of the component with the most vertices. radius, diameter, center_size, periphery_size : of
    that component. diameter_max_component : over all."""

    n_components: int
    largest: Id
    radius: int | float
    diameter_largest_component: int | float
    diameter_max_component: int | float
    center_size: int
    periphery_size: int


@dataclass(frozen=True)
class WeightedEccentricityCertificate:
    """The content of a certificate. sources : of all components, in the user's ids. unit : (base, exponent) of that in
    which lengths are whole numbers; None: they are as users see them."""

    graph: GraphFacts
    claims: WeightedEccentricityClaims
    sources: list[Id]
    unit: tuple[int, int] | None = None

    def to_bytes(self) -> bytes:
        """The file: the one canonical text of this content."""
        said = {} if self.unit is None else {"unit": list(self.unit)}
        return sealed({"format": FORMAT_IN_UNITS if said else FORMAT, "version": VERSION, "graph": asdict(self.graph),
                       **said, "claims": asdict(self.claims), "sources": self.sources})


def write_certificate(path: str | Path, result: WeightedEccentricities, search: Search,
                      store: Store) -> WeightedEccentricityCertificate:
    """Write the certificate of all eccentricities whole or not at all; returns its content. Costs one
    pass over the edges. Raises InputError if it cannot be written, StoreError."""
    assert result.exact and result.radius is not None and result.n_components is not None
    assert result.center is not None and result.periphery is not None
    assert result.diameter_largest_component is not None and result.diameter_max_component is not None
    (largest,) = store.user_ids(search.parts.roots[[search.parts.largest]])
    radius, of_largest, longest = map(search.units.claimed, (
        result.radius, result.diameter_largest_component, result.diameter_max_component))
    claims = WeightedEccentricityClaims(result.n_components, largest, radius, of_largest, longest, result.center.size,
                                        result.periphery.size)
    certificate = WeightedEccentricityCertificate(facts_of(store, None), claims,
                                                  list(store.user_ids(search.work.sources())),
                                                  search.units.said)
    write_sealed(path, certificate.to_bytes())
    return certificate


def parse_certificate(document: dict[str, Any], path: str | Path) -> WeightedEccentricityCertificate:
    """What a document, as read_sealed gives it, says. Raises InputError for what makes no sense."""
    with understood(path):
        said = only(document["claims"], WeightedEccentricityClaims)
        claims = WeightedEccentricityClaims(
            count(said["n_components"]), vertex_id(said["largest"]), length(said["radius"]),
            length(said["diameter_largest_component"]), length(said["diameter_max_component"]),
            count(said["center_size"]), count(said["periphery_size"]))
        sources = each(document["sources"], vertex_id)
        of_one_kind((claims.largest, *sources))
        return WeightedEccentricityCertificate(parse_facts(document["graph"]), claims, sources, parse_unit(document))
