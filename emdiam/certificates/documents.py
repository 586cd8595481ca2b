"""The contents of certificates, as data: the parts of each kind, their fields, and the check of each value.

A certificate is a sealed document (sealed.py) about one graph, in any store: the digest of the graph, the claims, and
their proof, in the user's ids, a few bytes per source. Lengths along weights are those that users see, in the kind of
the weights; or whole numbers of a unit that the certificate names: 10^-k for weights with k decimals, and 2^e for
floats, each of which is first rounded down to a multiple of it.

Diameter: for every component that could have the longest distance, its pivots, sources and witness; and walks
(walks.py) between vertices that these leave open.

Weighted diameter: let L be the longest distance over all components. In a component a vertex v is settled if d(v, s) +
ecc(s) <= L for a source s of the component, and every pair x != y of unsettled vertices has d(x, s) + d(s, y) <= L for
one of the sources. The diameter of the component with the most vertices is a separate claim, proved with that value as
L. Every component of several vertices has a source; one of these is the first end of the pair `witness`, which is L
apart. If floats were rounded down, the true longest distance is from L to less than L + n units, in a component of n
vertices.

Eccentricities: for a source s and a vertex v of its component, max(d, ecc(s) - d) <= ecc(v) <= ecc(s) + d, with d =
d(v, s). A certificate names sources with which the largest lower bound meets the smallest upper one at every vertex of
a component of several; so some source proves the lower, and some source the upper bound of each vertex, and the file
need not say which. Without weights two rules need no source: a vertex of degree 1 in a component of more than two
vertices has its neighbour's eccentricity plus 1, and components of few vertices without a source are computed anew
(components.py).

Along arcs, with lengths of arcs or of weights: `along` are sources of searches along arcs (for eccentricities in,
against them), `against` those of searches in the other direction. Within a strong component ecc_out(v) <= d(v, u) +
ecc_out(u); arcs.py has all rules, for the largest finite distance and for all eccentricities.

Mean: sources, whose distances bound the sum of all distances (mean.py, cells.py), and that sum's bounds.

Also the result of a verification: the report, and the exception for a refusal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

from ..shown import Shown, infinite
from ..units import MemoryFigures
from . import sealed
from .sealed import Id

VERSION = 1
# Parts that a document may omit, with the words that its format has if it does not.
_OPTIONAL = {"unit": " in units", "walks": " with walks"}
Check = Callable[[Any], Any]
# Types of fields with the check of their values; a field without a check is a count or an object.
Text = Annotated[str, sealed.text]
Flag = Annotated[bool, sealed.flag]
Vertex = Annotated[Id, sealed.vertex_id]
Ids = Annotated[list[Id], sealed.ids]
Paths = Annotated[list[list[Id]], sealed.walks]
Ends = Annotated[tuple[Id, Id], sealed.pair]
Length = Annotated[int | float, sealed.length]
Total = Annotated[int, sealed.total]
Unit = Annotated[tuple[int, int] | None, sealed.unit]


@dataclass(frozen=True)
class GraphFacts:
    """The graph of the certificate. digest : see store/edge_digest.py."""

    digest: Text
    n_vertices: int
    n_edges: int


@dataclass(frozen=True)
class Claims:
    """lower, upper : interval of the largest distance, over all components.
    diameter_largest_component : of a component with the most vertices; None if not proved."""

    lower: int
    upper: int
    diameter_largest_component: Annotated[int | None, sealed.optional(sealed.count)]
    n_components: int
    connected: Flag


@dataclass(frozen=True)
class CertifiedComponent:
    """A ComponentProof in the user's ids."""

    vertex: Vertex
    size: int
    lower: int
    upper: int
    witness: Annotated[tuple[Id, Id] | None, sealed.optional(sealed.pair)]
    pivots: Ids
    sources: Ids

    def __post_init__(self) -> None:
        if self.witness is None and self.lower > 0:
            raise ValueError("a lower bound has no witness")

    def ids(self) -> Iterator[Id]:
        """The ids of all vertices that it names."""
        yield self.vertex
        yield from self.witness or ()
        yield from self.pivots
        yield from self.sources


@dataclass(frozen=True)
class EccentricityClaims:
    """largest : a vertex of the component with the most vertices. radius, diameter, center_size, periphery_size : of
    that component. diameter_max_component : over all components. histogram : number of vertices by eccentricity, over
    all components."""

    n_components: int
    largest: Vertex
    radius: int
    diameter_largest_component: int
    diameter_max_component: int
    center_size: int
    periphery_size: int
    histogram: Annotated[Mapping[str, int], sealed.histogram]


@dataclass(frozen=True)
class WeightedClaims:
    """length : the largest of any component. diameter_largest_component : of the component with the most vertices.
    witness : a pair of vertices that are `length` apart."""

    length: Length
    diameter_largest_component: Length
    n_components: int
    witness: Ends


@dataclass(frozen=True)
class WeightedEccentricityClaims:
    """largest : a vertex of the component with the most vertices. radius, diameter, center_size, periphery_size : of
    that component. diameter_max_component : over all components."""

    n_components: int
    largest: Vertex
    radius: Length
    diameter_largest_component: Length
    diameter_max_component: Length
    center_size: int
    periphery_size: int


@dataclass(frozen=True)
class ArcClaims:
    """length : the largest finite distance along arcs. n_components, n_strong_components : without directions, and with
    them. witness : a vertex and another one at this distance from it."""

    length: Length
    n_components: int
    n_strong_components: int
    witness: Ends


@dataclass(frozen=True)
class ArcEccentricityClaims:
    """direction : "out" or "in". length : the largest eccentricity; periphery_size : number of vertices with it.
    radius, center_size : the least eccentricity and the number of vertices with it, in a strongly connected graph;
    otherwise None."""

    direction: Text
    n_components: int
    n_strong_components: int
    length: Length
    periphery_size: int
    radius: Annotated[int | float | None, sealed.optional(sealed.length)]
    center_size: Annotated[int | None, sealed.optional(sealed.count)]

    def __post_init__(self) -> None:
        if self.direction not in ("out", "in"):
            raise ValueError(f"{self.direction!a:.40} is no direction")


@dataclass(frozen=True)
class MeanClaims:
    """n_pairs : unordered pairs of connected vertices. sum_lower, sum_upper : interval of the sum of their distances.
    longest : the largest distance from a source, or a larger number."""

    n_components: int
    n_pairs: Total
    sum_lower: Total
    sum_upper: Total
    longest: int

    def __post_init__(self) -> None:
        if self.sum_lower > self.sum_upper:
            raise ValueError(f"the lower bound {self.sum_lower} exceeds the upper bound {self.sum_upper}")


@dataclass(frozen=True, kw_only=True)
class SealedDocument(ABC):
    """The content of a certificate; its fields are the parts of the document, in order. A unit is (base, exponent), and
    lengths are whole numbers of it; None, which the document omits, if lengths are as users see them. weighted,
    directed : whether distances are sums of weights, and along arcs."""

    format: ClassVar[str]
    weighted: ClassVar[bool] = False
    directed: ClassVar[bool] = False

    graph: GraphFacts

    @abstractmethod
    def ids(self) -> Iterable[Id]:
        """The ids of all vertices that it names."""

    def to_bytes(self) -> bytes:
        """The file: the one canonical text of this content."""
        parts = {one.name: getattr(self, one.name) for one in fields(self)}
        parts = {name: value for name, value in parts.items() if name not in _OPTIONAL or value}
        words = "".join(_OPTIONAL[name] for name in parts if name in _OPTIONAL)
        return sealed.sealed({"format": self.format + words, "version": VERSION, **parts})


@dataclass(frozen=True, kw_only=True)
class Certificate(SealedDocument):
    """For a diameter. walks : vertices, each joined to the next by an edge."""

    format = "emdiam certificate"

    claims: Claims
    components: list[CertifiedComponent]
    walks: Paths = field(default_factory=list)

    def ids(self) -> Iterable[Id]:
        return (name for part in (*(one.ids() for one in self.components), *self.walks) for name in part)


@dataclass(frozen=True, kw_only=True)
class EccentricityCertificate(SealedDocument):
    """For all eccentricities."""

    format = "emdiam certificate of eccentricities"

    claims: EccentricityClaims
    sources: Ids

    def ids(self) -> Iterable[Id]:
        return (*self.sources, self.claims.largest)


@dataclass(frozen=True, kw_only=True)
class WeightedCertificate(SealedDocument):
    """For a diameter along weights. sources : of all components."""

    format = "emdiam certificate of a weighted diameter"
    weighted = True

    unit: Unit = None
    claims: WeightedClaims
    sources: Ids

    def ids(self) -> Iterable[Id]:
        return (*self.claims.witness, *self.sources)


@dataclass(frozen=True, kw_only=True)
class WeightedEccentricityCertificate(SealedDocument):
    """For all eccentricities along weights. sources : of all components."""

    format = "emdiam certificate of weighted eccentricities"
    weighted = True

    unit: Unit = None
    claims: WeightedEccentricityClaims
    sources: Ids

    def ids(self) -> Iterable[Id]:
        return (self.claims.largest, *self.sources)


@dataclass(frozen=True, kw_only=True)
class ArcCertificate(SealedDocument):
    """For the largest finite distance along arcs. pairs : vertices through which pairs of others are near."""

    format = "emdiam certificate along arcs"
    directed = True

    claims: ArcClaims
    along: Ids
    against: Ids
    pairs: Ids

    def ids(self) -> Iterable[Id]:
        return (*self.claims.witness, *self.along, *self.against, *self.pairs)


@dataclass(frozen=True, kw_only=True)
class WeightedArcCertificate(SealedDocument):
    """The same for sums of weights."""

    format = "emdiam certificate along weighted arcs"
    directed = weighted = True

    unit: Unit = None
    claims: ArcClaims
    along: Ids
    against: Ids
    pairs: Ids

    def ids(self) -> Iterable[Id]:
        return (*self.claims.witness, *self.along, *self.against, *self.pairs)


@dataclass(frozen=True, kw_only=True)
class ArcEccentricityCertificate(SealedDocument):
    """For all eccentricities along weighted arcs, out or in."""

    format = "emdiam certificate of eccentricities along weighted arcs"
    directed = weighted = True

    unit: Unit = None
    claims: ArcEccentricityClaims
    along: Ids
    against: Ids

    def ids(self) -> Iterable[Id]:
        return (*self.along, *self.against)


@dataclass(frozen=True, kw_only=True)
class MeanCertificate(SealedDocument):
    """For an interval of the mean distance. sources : in the order in which they divide cells."""

    format = "emdiam certificate of a mean distance"

    claims: MeanClaims
    sources: Ids

    def ids(self) -> Iterable[Id]:
        return self.sources


def _formats() -> Iterator[tuple[str, type[SealedDocument], tuple[str, ...]]]:
    """(name, class, parts of the document) of each format."""
    for kind in (Certificate, EccentricityCertificate, WeightedCertificate, WeightedEccentricityCertificate,
                 ArcCertificate, WeightedArcCertificate, ArcEccentricityCertificate, MeanCertificate):
        parts = tuple(one.name for one in fields(kind))
        yield kind.format, kind, tuple(name for name in parts if name not in _OPTIONAL)
        for name in parts:
            if name in _OPTIONAL:
                yield kind.format + _OPTIONAL[name], kind, parts


_FORMATS = {name: (kind, parts) for name, kind, parts in _formats()}


def read_certificate(path: str | Path) -> Any:
    """The content of the certificate at `path`, a path or an address, as a document of its kind. Raises InputError like
    read_sealed, and for invalid content."""
    keys = {name: ("format", "version", *parts, "digest") for name, (_, parts) in _FORMATS.items()}
    document = sealed.read_sealed(path, keys, VERSION)
    with sealed.understood(path):
        return parsed(document)


def parsed(document: Mapping[str, Any]) -> SealedDocument:
    """The content of a document, which has the parts of its format. Raises KeyError, TypeError or ValueError for
    invalid content."""
    kind, parts = _FORMATS[document["format"]]
    checks = _checks(kind)
    content = kind(**{name: checks[name](document[name]) for name in parts})
    sealed.of_one_kind(content.ids())
    return content


@cache
def _checks(kind: type) -> dict[str, Check]:
    """The checks of a dataclass's fields."""
    hints = get_type_hints(kind, include_extras=True)
    return {one.name: _check(hints[one.name]) for one in fields(kind)}


def _check(hint: Any) -> Check:
    """The check of a value of type `hint`."""
    if get_origin(hint) is Annotated:
        check: Check = hint.__metadata__[0]
        return check
    if get_origin(hint) is list:
        item = _check(get_args(hint)[0])
        return lambda value: [item(one) for one in sealed.items(value)]
    return (lambda value: _filled(hint, value)) if is_dataclass(hint) else sealed.count


def _filled(kind: Any, value: Any) -> Any:
    """An instance of a dataclass from an object with its fields."""
    said = sealed.only(value, kind)
    if "lower" in said:
        sealed.check_interval(said)
    return kind(**{name: check(said[name]) for name, check in _checks(kind).items()})


class Refused(Exception):
    """The certificate proves nothing, or not its claims; args[0] is the reason, a clause."""


@dataclass(repr=False)
class VerifyReport(Shown, MemoryFigures):
    """The result of a verification.

    Attributes
    ----------
    verified : bool
        Whether every claim was proved again.
    reason : str, optional
        The reason of a refusal.
    lower, upper : int or float
        Claimed bounds of the largest distance, over all components; proved if verified.
    diameter : int or float, optional
        If the report is verified and exact, and the graph is connected.
    traversals, scans : int
        Sources whose distances were checked, and further passes over all edges.
    unsettled, pairs : int
        Vertices that had to be proved by pairs, and products of sets of them, or single pairs.
    seconds : dict of float
        Wall seconds: total, graph, labels, pairs.
    converted : dict, optional
        For a graph that is not a store: format, reading, n_pairs, seconds.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "verified", "reason", "diameter", "lower", "upper", "n_vertices", "n_edges", "n_components", "traversals",
        "seconds")

    verified: bool
    lower: int
    upper: int
    diameter: int | None
    diameter_largest_component: int | None
    n_components: int
    connected: bool
    n_vertices: int
    n_edges: int
    reason: str | None = None
    traversals: int = 0
    scans: int = 0
    unsettled: int = 0
    pairs: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    converted: dict[str, Any] | None = None
    memory_limit_bytes: int | None = None
    peak_rss_bytes: int | None = None
    version: str = ""

    def _fact(self, name: str) -> Any:
        """See Shown; an infinite diameter is not a missing one."""
        if name == "diameter" and self.verified and not self.connected:
            return infinite(self.n_components)
        return super()._fact(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with exactly these names, ready for JSON."""
        return {**asdict(self), "memory_limit_exceeded": self.memory_limit_exceeded}
