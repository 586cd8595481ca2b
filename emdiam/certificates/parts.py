"""The components of a certificate, found in a store: the claims about each, with vertices for ids.

One pass over the edges computes the digest of the graph and the components; all claims that can be refused without a
traversal are refused here. Bytes per vertex: the id dtype and 8 for the hashes of mapped ids, then twice the id dtype.
Ids of the user are found with one pass over the hashes of all ids, which the digest needs anyway, and a comparison of
the ids themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..distinct import distinct
from ..progress import Meter
from ..store.arc_runs import ArcRun, scan_arcs
from ..store.edge_digest import EdgeDigest, hash_ids
from ..store.store import Store
from .components import Labelling, Membership
from .documents import Certificate, CertifiedComponent, GraphFacts, Refused
from .labels import LabelColumn
from .plan import ProofBudget
from .sealed import Id
from .walks import Walks

_PIECE = 1 << 18

def find_vertices(store: Store, names: Sequence[Id], hashes: np.ndarray) -> np.ndarray:
    """The vertices with these ids, int64[k]; -1 for unknown ids.

    names : all integers or all strings. hashes : edge_digest.vertex_hashes(store).
    """
    if store.is_natural and store.record.id_kind not in ("int", "string"):
        return np.array([_numbered(store, name) for name in names], np.int64)
    if names and isinstance(names[0], str) != (store.record.id_kind == "string"):
        return np.full(len(names), -1, np.int64)
    different = list(dict.fromkeys(names))
    wanted = distinct(hash_ids(different))  # type: ignore[arg-type]
    candidates: list[np.ndarray] = []
    for begin in range(0, len(hashes) if len(wanted) else 0, _PIECE):
        piece = hashes[begin : begin + _PIECE]
        at = np.minimum(np.searchsorted(wanted, piece), len(wanted) - 1)
        candidates.append(np.flatnonzero(wanted[at] == piece) + begin)
    vertices = np.concatenate(candidates) if candidates else np.empty(0, np.int64)
    # Several strings may have one hash, so the ids themselves are compared.
    vertex_of: dict[Id, int] = dict(zip(store.user_ids(vertices), vertices.tolist(), strict=True))
    return np.array([vertex_of.get(name, -1) for name in names], np.int64)


def _numbered(store: Store, name: Id) -> int:
    vertex = name - store.record.first_id if isinstance(name, int) else -1
    return vertex if 0 <= vertex < store.n_vertices else -1


@dataclass(frozen=True)
class CertifiedPart:
    """A component of the certificate.

    number : from 1, as in Membership.of. upper : the claimed bound. witness, pivots, sources : as vertices, each once.
    """

    number: int
    size: int
    lower: int
    upper: int
    witness: tuple[int, int] | None
    pivots: list[int]
    sources: list[int]

    @property
    def needs_pairs(self) -> bool:
        """Whether the bound needs more than the number of vertices as a proof."""
        return self.size - 1 > self.upper

    def columns(self) -> list[LabelColumn]:
        """The label columns of its proof, one for each vertex needed."""
        pivots, sources = (set(self.pivots), set(self.sources)) if self.needs_pairs else (set[int](), set[int]())
        end, other = None, -1
        if self.witness is not None and self.lower > 0:
            # An end whose labels are needed anyway costs nothing.
            end = next((v for v in self.witness if v in pivots or v in sources), self.witness[0])
            other = self.witness[self.witness[0] == end]
        limit = min(self.upper, self.size - 1)
        return [LabelColumn(v, self.number, limit, settles=v in pivots or v in sources, pairs=v in pivots,
                            level=v == end, other=other if v == end else -1)
                for v in sorted(pivots | sources | ({end} if end is not None else set()))]


def find_parts(
    store: Store, certificate: Certificate, threads: int, meter: Meter
) -> tuple[list[CertifiedPart], np.ndarray, Walks]:
    """The parts, the number of every vertex's part (unsigned[n], 0 for none), and the walks.

    Raises Refused for another graph, unknown ids, and wrong claims about components, their sizes, and walks;
    StoreError.
    """
    digest, labelling, walks = read_graph(store, certificate.graph, threads, meter, certificate.walks)
    vertices = vertices_of(store, certificate, digest.hashes)
    del digest
    walks.check(store)
    return *checked_parts(certificate, vertices, labelling), walks


def find_walks(store: Store, walks: Sequence[Sequence[Id]], hashes: np.ndarray) -> Walks:
    """The walks of a certificate, in vertices; -1 for unknown ids. hashes : see find_vertices."""
    lengths = [len(walk) for walk in walks]
    vertices = find_vertices(store, [name for walk in walks for name in walk], hashes)
    return Walks(np.split(vertices, np.cumsum(lengths)[:-1]) if lengths else [])


def checked_parts(
    certificate: Certificate, vertices: dict[Id, int], labelling: Labelling
) -> tuple[list[CertifiedPart], np.ndarray]:
    """See find_parts. vertices : of the ids in the certificate. labelling : after the pass."""
    members = labelling.members(np.array([vertices[part.vertex] for part in certificate.components], np.int64))
    parts = []
    for number, part in enumerate(certificate.components, start=1):
        _check_part(number, part, vertices, members)
        parts.append(claimed_part(number, part, vertices))
    _check_claims(certificate, parts, members)
    return parts, members.of


def read_graph(store: Store, facts: GraphFacts, threads: int, meter: Meter,
               walks: Sequence[Sequence[Id]] = ()) -> tuple[EdgeDigest, Labelling, Walks]:
    """Digest, components, and walks with their edges looked up (to be checked), in one pass. Raises Refused if the
    store has another graph."""
    check_counts(store, facts)
    meter.begin("graph", store.indices.n_chunks, "chunks")
    digest = EdgeDigest(store)  # which shows whether an undirected store is symmetric
    labelling = Labelling(store.n_vertices, store.id_dtype, symmetric=not store.directed)
    found = find_walks(store, walks, digest.hashes)

    def work(run: ArcRun, ids: np.ndarray) -> None:
        digest.add(run, ids)
        labelling.add(run, ids)
        found.add(run, ids)

    scan_arcs(store, threads, work, meter.update)
    meter.end()
    check_digest(digest, facts)
    return digest, labelling, found


def check_counts(store: Store, facts: GraphFacts) -> None:
    """Raise Refused if the store has another number of vertices or edges, or no vertex."""
    if (facts.n_vertices, facts.n_edges) != (store.n_vertices, store.n_edges):
        raise Refused(f"it is about a graph of {facts.n_vertices:,} vertices and {facts.n_edges:,} edges, the store"
                      f" has {store.n_vertices:,} and {store.n_edges:,}")
    if store.n_vertices == 0:
        raise Refused("the graph has no vertices, so its diameter is undefined")


def check_digest(digest: EdgeDigest, facts: GraphFacts) -> None:
    """Raise Refused if the store, whose arcs were all added, has another graph."""
    if digest.hexdigest() != facts.digest:
        raise Refused("it is about another graph: the digests of the edges differ")


def vertices_of(store: Store, certificate: Certificate, hashes: np.ndarray) -> dict[Id, int]:
    """The vertex of every id in the certificate."""
    names = list(dict.fromkeys(certificate.ids()))
    return dict(zip(names, _known_vertices(store, names, hashes).tolist(), strict=True))


def _known_vertices(store: Store, names: Sequence[Id], hashes: np.ndarray) -> np.ndarray:
    """As find_vertices. Raises Refused for an unknown id."""
    vertices = find_vertices(store, names, hashes)
    if (vertices < 0).any():
        raise Refused(f"the graph has no vertex {names[int((vertices < 0).argmax())]}")
    return vertices


def read_named(store: Store, facts: GraphFacts, names: Sequence[Id], budget: ProofBudget
               ) -> tuple[np.ndarray, Labelling]:
    """The vertices with these ids, int64[k], and the components. Raises Refused if the store has another graph, or an
    id is unknown."""
    digest, labelling, _ = read_graph(store, facts, budget.threads, Meter(budget.progress))
    return _known_vertices(store, names, digest.hashes), labelling


def _check_part(number: int, part: CertifiedComponent, vertices: dict[Id, int], members: Membership) -> None:
    """Raise Refused if the component has another size, or not all ids that the certificate names in it."""
    size = members.sizes[number - 1]
    if part.size != size:
        raise Refused(f"the component of vertex {part.vertex} has {size:,} vertices, not {part.size:,}")
    for name in part.ids():
        if int(members.of[vertices[name]]) != number:
            raise Refused(f"vertex {name} is not in the component of vertex {part.vertex}")


def claimed_part(number: int, part: CertifiedComponent, vertices: dict[Id, int]) -> CertifiedPart:
    """The component as the certificate describes it, with vertices for ids. Raises Refused for a wrong witness."""
    witness = None
    if part.witness is not None:
        witness = (vertices[part.witness[0]], vertices[part.witness[1]])
        if (witness[0] == witness[1]) != (part.lower == 0):
            raise Refused(f"vertices {part.witness[0]} and {part.witness[1]} are not {part.lower} apart")
    pivots, sources = ({vertices[name] for name in names} for names in (part.pivots, part.sources))
    return CertifiedPart(number, part.size, part.lower, part.upper, witness, sorted(pivots), sorted(sources))


def _check_claims(certificate: Certificate, parts: list[CertifiedPart], members: Membership) -> None:
    """Check the claims about the whole graph, given correct parts."""
    claims = certificate.claims
    if claims.n_components != members.n_components or claims.connected != (members.n_components == 1):
        raise Refused(f"the graph has {members.n_components:,} components, not {claims.n_components:,}"
                      if claims.n_components != members.n_components else
                      f"a graph of {members.n_components:,} components is claimed to be "
                      + ("connected" if claims.connected else "disconnected"))
    longest = max((part.lower for part in parts), default=0)
    if claims.lower != longest:
        raise Refused(f"the longest of its witnesses is {longest}, the claimed lower bound {claims.lower}")
    highest = max((part.upper for part in parts), default=0)
    if highest > claims.upper:
        raise Refused(f"it proves {highest} for one of its components, which the claimed bound {claims.upper} does"
                      " not allow")
    if members.largest_other - 1 > claims.upper:
        raise Refused(f"a component of {members.largest_other:,} vertices is not mentioned, which may hold a distance"
                      f" of more than {claims.upper}")
    largest = claims.diameter_largest_component
    if largest is None or (members.largest == 1 and largest == 0):
        return
    if not any(part.size == members.largest and part.lower == part.upper == largest for part in parts):
        raise Refused(f"it does not prove that a largest component, of {members.largest:,} vertices, has the diameter"
                      f" {largest}")
