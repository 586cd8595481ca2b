"""Certificates of all eccentricities: sources whose full traversals bound every vertex from both sides.

Definition: for a source s and a vertex v of its component, max(d, ecc(s) - d) <= ecc(v) <= ecc(s) + d, with d =
d(v, s). A certificate names sources such that at every vertex the largest lower bound meets the smallest upper one; so
each vertex has a source that proves the one and a source that proves the other, without a word of it in the file. Two
rules need no source: a vertex of degree 1 in a component of more than two vertices has the eccentricity of its
neighbour and 1 more, and a component of at most MOST_ANEW vertices without a source is computed anew.

It is a sealed document (methods/sealed.py), some bytes a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...store.store import Store
from ..exact.certificate import VERSION, GraphFacts, Room, facts_of, parse_facts
from ..sealed import Id, count, each, of_one_kind, only, sealed, text, understood, vertex_id, write_sealed
from .result import EccentricityResult

FORMAT = "emdiam certificate of eccentricities"
KEYS = ("format", "version", "graph", "claims", "sources", "digest")
# Vertices of a component that whoever verifies computes anew, at most.
MOST_ANEW = 1024


@dataclass(frozen=True)
class EccentricityClaims:
    """largest : a vertex of the component with the most vertices. radius, diameter, center_size, periphery_size : of
    that component. diameter_max_component : over all. histogram : vertices of all components by eccentricity."""

    n_components: int
    largest: Id
    radius: int
    diameter_largest_component: int
    diameter_max_component: int
    center_size: int
    periphery_size: int
    histogram: Mapping[str, int]


@dataclass(frozen=True)
class EccentricityCertificate:
    """The content of a certificate. sources : in the user's ids."""

    graph: GraphFacts
    claims: EccentricityClaims
    sources: list[Id]

    def to_bytes(self) -> bytes:
        """The file: the one canonical text of this content."""
        claims = {**asdict(self.claims), "histogram": dict(self.claims.histogram)}
        return sealed({"format": FORMAT, "version": VERSION, "graph": asdict(self.graph), "claims": claims,
                       "sources": self.sources})


def write_certificate(
    path: str | Path, result: EccentricityResult, store: Store, *, graph: Store | None = None, room: Room | None = None,
    **reading: Any,
) -> EccentricityCertificate:
    """Write the certificate of a result that is whole, or nothing at all; returns its content.

    store : of the result's vertices. graph, room, reading : as for certificates of a diameter. Costs one pass over the
    edges. Raises InputError if it cannot be written, StoreError, and ValueError for a result that leaves something
    open.
    """
    if result.traversed is None or not result.exact or result.radius is None:
        raise ValueError("only all eccentricities, all of them proved, have a certificate")
    assert result.center is not None and result.periphery is not None and result.n_components is not None
    assert result.diameter_largest_component is not None and result.diameter_max_component is not None
    (largest,) = store.user_ids(np.array([result.of_largest]))
    claims = EccentricityClaims(
        result.n_components, largest, result.radius, result.diameter_largest_component, result.diameter_max_component,
        result.center.size, result.periphery.size, result.histogram)
    facts = facts_of(store if graph is None else graph, room, **reading)
    certificate = EccentricityCertificate(facts, claims, list(store.user_ids(np.array(result.traversed, np.int64))))
    write_sealed(path, certificate.to_bytes())
    return certificate


def parse_certificate(document: dict[str, Any], path: str | Path) -> EccentricityCertificate:
    """What a document, as read_sealed gives it, says. Raises InputError for what makes no sense."""
    with understood(path):
        said = only(document["claims"], EccentricityClaims)
        numbers = {name: count(value) for name, value in said.items() if name not in ("largest", "histogram")}
        histogram = said["histogram"]
        if not isinstance(histogram, dict) or list(histogram) != [str(int(text(value))) for value in histogram]:
            raise TypeError("a histogram does not count eccentricities")
        claims = EccentricityClaims(largest=vertex_id(said["largest"]), **numbers,
                                    histogram={value: count(vertices) for value, vertices in histogram.items()})
        sources = each(document["sources"], vertex_id)
        of_one_kind((*sources, claims.largest))
        return EccentricityCertificate(parse_facts(document["graph"]), claims, sources)
