"""Certificates: the proof of a diameter as a file, for one graph, whoever stores it and how.

A certificate is one line of JSON (ASCII, no spaces) that ends with a line feed: the digest of the graph, the claims,
for every solved component its pivots, sources and witness in the user's ids, and last a digest over all that comes
before. The bytes are canonical: a file that differs from what its own content would be written as is refused, so that
every edited byte is noticed. The digest guards against accidents, not against a forger, who can compute it too: what a
certificate says is only believed once it was proved again (emdiam.verification).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ...durable import write_whole
from ...errors import InputError
from ...store.digest_on_disk import digest_on_disk
from ...store.edge_digest import edge_digest, hash_bytes
from ...store.store import Store
from .result import Proof, Result

FORMAT = "emdiam certificate"
VERSION = 1
_REMEDY = "make a new one, or get an intact copy"
_SEAL = '"00000000000000000000000000000000"}\n'
_KEYS = ("format", "version", "graph", "claims", "components", "digest")

Id = int | str


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
        return _sealed(body)


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


def write_certificate(
    path: str | Path, proof: Proof, claims: Claims, store: Store, *, graph: Store | None = None,
    room: Room | None = None, **reading: Any,
) -> Certificate:
    """Write the certificate of `proof` (in vertices of `store`) to `path`; returns its content.

    graph : the same graph in the order in which it was given, of which the digest is; None: `store`. room : for hashes
    of vertices, where there need not be room for all of them. reading : threads and progress, as of edge_digest.

    It is written as PATH.partial and renamed; a file of that name is replaced. Costs one pass over
    the edges, for the digest. Raises InputError if it cannot be written, StoreError, and
    ValueError for a proof that no certificate can hold (a lower bound without a witness, say).
    """
    whole = store if graph is None else graph
    if room is None or room.bytes >= hash_bytes(whole):
        digest = edge_digest(whole, **reading)
    else:
        digest = digest_on_disk(whole, room.bytes, room.scratch, **reading)
    facts = GraphFacts(digest, store.n_vertices, store.n_arcs // 2)
    certificate = Certificate(facts, claims, _in_user_ids(proof, store))
    data = certificate.to_bytes()
    try:
        _content(json.loads(data))
    except (KeyError, TypeError) as error:
        raise ValueError(str(error)) from error
    try:
        write_whole(path, data)
    except OSError as error:
        raise InputError(f"the certificate cannot be written ({error.strerror})", path=path) from None
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
    """The content of the certificate at `path`.

    Raises InputError if it cannot be read, is cut, edited, none of ours or of a newer version.
    Nothing that it says has been proved then.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the certificate cannot be read ({error.strerror})", path=path) from None
    document = _parsed(data, path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError("this is not a certificate of emdiam", path=path,
                         remedy="make one with: emdiam exact STORE --certificate FILE")
    version = document.get("version")
    if type(version) is int and version > VERSION:
        raise InputError(f"the certificate has version {version}, this program reads up to {VERSION}", path=path,
                         remedy="upgrade emdiam")
    if type(version) is not int or version != VERSION or list(document) != list(_KEYS):
        raise InputError("the certificate does not have the parts of one", path=path, remedy=_REMEDY)
    del document["digest"]
    try:
        sealed = _sealed(document)
        if data != sealed:
            raise InputError("the certificate was edited or damaged", path=path,
                             byte=_first_difference(data, sealed), remedy=_REMEDY)
        return _content(document)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the certificate does not say what one says ({error})", path=path, remedy=_REMEDY) from None


def _sealed(body: dict[str, Any]) -> bytes:
    """The canonical bytes of a document, its digest in the last place."""
    digest = hashlib.blake2b(_canonical(body), digest_size=16).hexdigest()
    return _canonical({**body, "digest": digest}) + b"\n"


def _canonical(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")


def _first_difference(data: bytes, sealed: bytes) -> int | None:
    """Where the bytes stop being canonical; None if that is only in the digest that ends them, for
    then any of them may have been edited."""
    end = len(sealed) - len(_SEAL)
    at = next((i for i, (a, b) in enumerate(zip(data[:end], sealed, strict=False)) if a != b), end)
    return at if at < end else None


def _parsed(data: bytes, path: str | Path) -> Any:
    """The JSON value in `data`, without duplicate keys. Raises InputError with the position."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            raise ValueError("a name occurs twice in one object")
        return result

    byte: int | None = None
    try:
        return json.loads(data.decode("ascii"), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        why, byte = error.msg, error.pos
    except UnicodeDecodeError as error:
        why, byte = "a byte that is not ASCII", error.start
    except (ValueError, RecursionError) as error:
        why = str(error)
    raise InputError(f"this is not a certificate, or a cut or damaged one ({why})", path=path, byte=byte,
                     remedy=_REMEDY)


# -- the content, checked -------------------------------------------------------------------------
def _content(document: dict[str, Any]) -> Certificate:
    """Raises KeyError, TypeError or ValueError for anything but the content of a certificate."""
    graph = _only(document["graph"], GraphFacts)
    claims = _only(document["claims"], Claims)
    facts = GraphFacts(_text(graph["digest"]), _count(graph["n_vertices"]), _count(graph["n_edges"]))
    largest = claims["diameter_largest_component"]
    if type(claims["connected"]) is not bool:
        raise TypeError("connected is neither true nor false")
    said = Claims(*_interval(claims), None if largest is None else _count(largest),
                  _count(claims["n_components"]), claims["connected"])
    components = [_component(_only(part, CertifiedComponent)) for part in _list(document["components"])]
    kinds = {type(name) for part in components
             for name in (part.vertex, *(part.witness or ()), *part.pivots, *part.sources)}
    if len(kinds) > 1:
        raise TypeError("some ids are numbers and some are strings")
    return Certificate(facts, said, components)


def _component(part: dict[str, Any]) -> CertifiedComponent:
    lower, upper = _interval(part)
    pair = part["witness"]
    witness = None
    if pair is not None:
        first, second = _each(pair, _id)
        witness = (first, second)
    if witness is None and lower > 0:
        raise ValueError("a lower bound has no witness")
    return CertifiedComponent(_id(part["vertex"]), _count(part["size"]), lower, upper, witness,
                              _each(part["pivots"], _id), _each(part["sources"], _id))


def _interval(part: dict[str, Any]) -> tuple[int, int]:
    lower, upper = _count(part["lower"]), _count(part["upper"])
    if lower > upper:
        raise ValueError(f"the lower bound {lower} exceeds the upper bound {upper}")
    return lower, upper


def _only(value: Any, kind: type) -> dict[str, Any]:
    """An object with exactly the fields of the dataclass `kind`, in their order."""
    names = [field.name for field in fields(kind)]
    if not isinstance(value, dict) or list(value) != names:
        raise TypeError(f"an object is not one of {', '.join(names)}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("something is not a list")
    return value


def _each(value: Any, check: Callable[[Any], Id]) -> list[Id]:
    return [check(item) for item in _list(value)]


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise TypeError("something is not a count")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("something is not a text")
    return value


def _id(value: Any) -> Id:
    if isinstance(value, str):
        value.encode()  # a lone half of a surrogate pair is a ValueError
        return value
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise TypeError("something is not a vertex id")
    return value
