"""Certificates of weighted diameters: sources whose searches prove that no shortest path is longer.

Definition: for a component and the longest distance L, over all components, a vertex v is settled if d(v, s) + ecc(s)
<= L for a source s of the component, and every pair x != y of vertices that are not has d(x, s) + d(s, y) <= L for one
of them. The component with the most vertices has a diameter of its own that is claimed, and is proved with that as its
L. Every component of several vertices has a source, one of which is the first end of the pair `witness`, which is L
apart. Lengths are what users see, in the kind of the weights; or whole numbers of a unit that the certificate says:
10^-k of weights with k decimals, and 2^e of floats, each of which is rounded down to a multiple of it first. Then the
lengths of the graph itself are from L to less than L + n units, in a component of n vertices.

It is a sealed document (methods/sealed.py), some bytes a source.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...store.store import Store
from ..exact.certificate import VERSION, GraphFacts, facts_of, parse_facts
from ..sealed import Id, count, each, length, of_one_kind, only, parse_unit, sealed, understood, vertex_id, write_sealed
from .result import WeightedResult
from .search import WeightedSearch

FORMAT = "emdiam certificate of a weighted diameter"
KEYS = ("format", "version", "graph", "claims", "sources", "digest")
FORMAT_IN_UNITS = "emdiam certificate of a weighted diameter in units"
KEYS_IN_UNITS = ("format", "version", "graph", "unit", "claims", "sources", "digest")


@dataclass(frozen=True)
class WeightedClaims:
    """length : the largest of any component. diameter_largest_component : of the component with the most vertices.
    witness : a pair of vertices that are `length` apart."""

    length: int | float
    diameter_largest_component: int | float
    n_components: int
    witness: tuple[Id, Id]


@dataclass(frozen=True)
class WeightedCertificate:
    """The content of a certificate. sources : of all components, in the user's ids. unit : (base, exponent) of that in
    which lengths are whole numbers; None: they are as users see them."""

    graph: GraphFacts
    claims: WeightedClaims
    sources: list[Id]
    unit: tuple[int, int] | None = None

    def to_bytes(self) -> bytes:
        """The file: the one canonical text of this content."""
        said = {} if self.unit is None else {"unit": list(self.unit)}
        return sealed({"format": FORMAT_IN_UNITS if said else FORMAT, "version": VERSION, "graph": asdict(self.graph),
                       **said, "claims": asdict(self.claims), "sources": self.sources})


def write_certificate(
    path: str | Path, result: WeightedResult, search: WeightedSearch, store: Store,
) -> WeightedCertificate:
    """Write the certificate of an exact result whole or not at all; returns its content. Costs one pass
    over the edges. Raises InputError if it cannot be written, StoreError."""
    assert result.witness is not None and result.n_components is not None
    units = search.units
    longest, of_largest = (units.claimed(units.length(one)) for one in (
        search.bounds()[0], search.bounds_of_largest()[0]))
    claims = WeightedClaims(longest, of_largest, result.n_components, (result.witness.source, result.witness.target))
    certificate = WeightedCertificate(facts_of(store, None), claims, list(store.user_ids(search.work.sources())),
                                      units.said)
    write_sealed(path, certificate.to_bytes())
    return certificate


def parse_certificate(document: dict[str, Any], path: str | Path) -> WeightedCertificate:
    """What a document, as read_sealed gives it, says. Raises InputError for what makes no sense."""
    with understood(path):
        said = only(document["claims"], WeightedClaims)
        lengths = {name: length(said[name]) for name in ("length", "diameter_largest_component")}
        one, other = each(said["witness"], vertex_id)
        claims = WeightedClaims(n_components=count(said["n_components"]), witness=(one, other), **lengths)
        sources = each(document["sources"], vertex_id)
        of_one_kind((one, other, *sources))
        return WeightedCertificate(parse_facts(document["graph"]), claims, sources, parse_unit(document))
