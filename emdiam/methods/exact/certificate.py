"""Certificates: the proof of a diameter as a file, for one graph, whoever stores it and how.

A certificate is a sealed document (methods/sealed.py): the digest of the graph, the claims, and for every solved
component its pivots, sources and witness in the user's ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...store.digest_on_disk import digest_on_disk
from ...store.edge_digest import edge_digest, hash_bytes
from ...store.store import Store
from ..result import Proof, Result
from ..sealed import (
    Id,
    count,
    each,
    interval,
    items,
    of_one_kind,
    only,
    read_sealed,
    sealed,
    text,
    understood,
    vertex_id,
    write_sealed,
)

FORMAT = "emdiam certificate"
VERSION = 1
KEYS = ("format", "version", "graph", "claims", "components", "digest")


@dataclass(frozen=True)
class Claims:
    """lower, upper : interval of the largest distance, over all components.
    diameter_largest_component : of a component with the most vertices; None if not proved."""

    lower: int
    upper: int
    diameter_largest_component: int | None
    n_components: int
    connected: bool


@dataclass(frozen=True)
class GraphFacts:
    """What the certificate is about. digest : see store/edge_digest.py."""

    digest: str
    n_vertices: int
    n_edges: int


@dataclass(frozen=True)
class CertifiedComponent:
    """A ComponentProof in the user's ids."""

    vertex: Id
    size: int
    lower: int
    upper: int
    witness: tuple[Id, Id] | None
    pivots: list[Id]
    sources: list[Id]


@dataclass(frozen=True)
class Certificate:
    """The content of a certificate."""

    graph: GraphFacts
    claims: Claims
    components: list[CertifiedComponent]

    def to_bytes(self) -> bytes:
        """The file: the one canonical text of this content."""
        body = {"format": FORMAT, "version": VERSION, "graph": asdict(self.graph), "claims": asdict(self.claims),
                "components": [asdict(component) for component in self.components]}
        return sealed(body)


def claims_of(result: Result) -> Claims:
    """The claims that a result makes. Raises ValueError while the components are not known."""
    if result.n_components is None:
        raise ValueError("the number of components is not known, so there is nothing to certify")
    return Claims(result.lower, result.upper, result.diameter_largest_component, result.n_components,
                  result.n_components == 1)


@dataclass(frozen=True)
class Room:
    """bytes : of memory, for what there is of every vertex. scratch : folder for the rest."""

    bytes: int
    scratch: str | Path | None


def facts_of(graph: Store, room: Room | None, **reading: Any) -> GraphFacts:
    """What a certificate is about. Costs one pass over the edges. room, reading : as for write_certificate."""
    if room is None or room.bytes >= hash_bytes(graph):
        digest = edge_digest(graph, **reading)
    else:
        digest = digest_on_disk(graph, room.bytes, room.scratch, **reading)
    return GraphFacts(digest, graph.n_vertices, graph.n_arcs // 2)


def parse_facts(document: Any) -> GraphFacts:
    """Raises KeyError, TypeError or ValueError for anything else."""
    graph = only(document, GraphFacts)
    return GraphFacts(text(graph["digest"]), count(graph["n_vertices"]), count(graph["n_edges"]))


def write_certificate(
    path: str | Path, proof: Proof, claims: Claims, store: Store, *, graph: Store | None = None,
    room: Room | None = None, **reading: Any,
) -> Certificate:
    """Write the certificate of `proof` (in vertices of `store`) to `path`; returns its content.

    graph : the same graph in the order in which it was given, of which the digest is; None: `store`. room : for hashes
    of vertices, where there need not be room for all of them. reading : threads and progress, as of edge_digest.

    It is written whole or not at all; a file of that name is replaced. Costs one pass over
    the edges, for the digest. Raises InputError if it cannot be written, StoreError, and
    ValueError for a proof that no certificate can hold (a lower bound without a witness, say).
    """
    facts = facts_of(store if graph is None else graph, room, **reading)
    certificate = Certificate(facts, claims, _in_user_ids(proof, store))
    data = certificate.to_bytes()
    try:
        _content(json.loads(data))
    except (KeyError, TypeError) as error:
        raise ValueError(str(error)) from error
    write_sealed(path, data)
    return certificate


def _in_user_ids(proof: Proof, store: Store) -> list[CertifiedComponent]:
    def named(vertices: Iterable[int]) -> list[Id]:
        ids: list[Any] = store.user_ids(np.array(list(vertices), np.int64))
        return ids

    result = []
    for part in proof.components:
        pair = None
        if part.witness is not None:
            first, second = named(part.witness)
            pair = (first, second)
        result.append(CertifiedComponent(named([part.vertex])[0], part.size, part.lower, part.upper, pair,
                                        named(part.pivots), named(part.sources)))
    return result


def read_certificate(path: str | Path) -> Certificate:
    """The content of the certificate at `path`. Raises InputError as read_sealed does."""
    return parse_certificate(read_sealed(path, {FORMAT: KEYS}, VERSION), path)


def parse_certificate(document: dict[str, Any], path: str | Path) -> Certificate:
    """What a document, as read_sealed gives it, says. Raises InputError for what makes no sense."""
    with understood(path):
        return _content(document)


# -- the content, checked -------------------------------------------------------------------------
def _content(document: dict[str, Any]) -> Certificate:
    """Raises KeyError, TypeError or ValueError for anything but the content of a certificate."""
    facts, claims = parse_facts(document["graph"]), only(document["claims"], Claims)
    largest = claims["diameter_largest_component"]
    if type(claims["connected"]) is not bool:
        raise TypeError("connected is neither true nor false")
    said = Claims(*interval(claims), None if largest is None else count(largest),
                  count(claims["n_components"]), claims["connected"])
    components = [_component(only(part, CertifiedComponent)) for part in items(document["components"])]
    of_one_kind(name for part in components
                for name in (part.vertex, *(part.witness or ()), *part.pivots, *part.sources))
    return Certificate(facts, said, components)


def _component(part: dict[str, Any]) -> CertifiedComponent:
    lower, upper = interval(part)
    pair = part["witness"]
    witness = None
    if pair is not None:
        first, second = each(pair, vertex_id)
        witness = (first, second)
    if witness is None and lower > 0:
        raise ValueError("a lower bound has no witness")
    return CertifiedComponent(vertex_id(part["vertex"]), count(part["size"]), lower, upper, witness,
                              each(part["pivots"], vertex_id), each(part["sources"], vertex_id))


