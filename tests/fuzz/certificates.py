"""Certificates that were edited, most of them with a digest that matches: only proofs may be verified."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.certificates.documents import read_certificate
from emdiam.certificates.run import verify
from emdiam.methods.result import ComponentProof, Proof
from emdiam.store.edge_digest import edge_digest
from emdiam.store.store import open_store
from tests.certificates.test_documents import seal
from tests.fuzz.kinds import Attack
from tests.fuzz.outcome import REFUSED, RIGHT, WRONG, Outcome
from tests.helpers import naive, prover
from tests.helpers.stores import odd_graphs, write_store

_SHAPES = ("path-and-star", "grid", "torus", "lollipop", "two-paths", "tree", "caterpillar", "clique-and-path", "pairs")
_NUMBERS = (-1, 0, 1, 2, 3, 10, 2**31, 2**63, 2**64, True, None, "1", 1.5, [], {}, "x" * 500)
_MEMORY = 4 << 30


class Case:
    """A store and its certificate. document : the content of it."""

    def __init__(self, folder: Path, name: str, pivots: int) -> None:
        self.graph: naive.Graph = odd_graphs()[name]
        self.store = write_store(folder / f"{name}-{pivots}.zarr", self.graph)
        proof, claims = prover.exact_proof(self.graph, pivots, seed=pivots)
        file = prover.write(folder / f"{name}-{pivots}.json", self.store, proof, claims)
        self.data = file.read_bytes()
        self.document: dict[str, Any] = json.loads(self.data)
        with open_store(self.store) as store:
            self.digest = edge_digest(store)


def attacks(folder: Path) -> Attack:
    """One edited certificate an attack."""
    cases = [Case(folder, name, pivots) for name in _SHAPES for pivots in (0, 2)]
    file = folder / "edited.json"

    def attack(rng: random.Random) -> Outcome:
        case, other = rng.choice(cases), rng.choice(cases)
        if rng.random() < 0.2:
            file.write_bytes(raw_edit(case.data, rng))
            if file.read_bytes() == case.data:
                return Outcome(RIGHT, "unchanged")
        else:
            document = json.loads(case.data)
            for _ in range(rng.choice((1, 1, 2, 3))):
                with suppress(TypeError, KeyError, AttributeError):  # what an earlier edit has left
                    rng.choice(_EDITS)(document, other.document, rng)
            file.write_bytes(seal(document))
        return judge(case, file)

    return attack


def judge(case: Case, file: Path) -> Outcome:
    """Whether the verdict on the certificate is that of brute force."""
    report = verify(file, case.store, memory_bytes=_MEMORY, threads=1)
    truth = is_proof(case, file)
    if report.verified and not truth:
        return Outcome(WRONG, f"verified: {file.read_bytes()[:1500]!r}")
    if truth and not report.verified:
        return Outcome(WRONG, f"refused ({report.reason}): {file.read_bytes()[:1500]!r}")
    return Outcome(RIGHT if report.verified else REFUSED, report.reason or "")


def is_proof(case: Case, file: Path) -> bool:
    """Whether what the certificate says of this graph holds, by brute force."""
    content = read_certificate(file)
    n, edges = len(case.graph), sum(map(len, case.graph)) // 2
    facts = content.graph
    if (facts.digest, facts.n_vertices, facts.n_edges) != (case.digest, n, edges):
        return False
    parts = [ComponentProof(**{**vars(part), "pivots": list(part.pivots), "sources": list(part.sources)})
             for part in content.components]
    named = list(content.ids())
    if any(not isinstance(v, int) or not 0 <= v < n for v in named):
        return False
    return prover.verdict(case.graph, Proof(parts, [np.array(walk) for walk in content.walks]), content.claims)


def raw_edit(data: bytes, rng: random.Random) -> bytes:
    """A certificate with other bytes and the digest that it had."""
    at = rng.randrange(len(data))
    kind = rng.choice(("flip", "digit", "drop", "cut", "more", "space"))
    if kind == "flip":
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if kind == "digit":
        digits = [i for i in range(len(data)) if data[i : i + 1].isdigit()]
        at = rng.choice(digits)
        return data[:at] + str(rng.randrange(10)).encode() + data[at + 1 :]
    if kind == "drop":
        return data[:at] + data[at + 1 :]
    if kind == "cut":
        return data[:at]
    return data + b"\n" if kind == "more" else data[:at] + b" " + data[at:]


def _claims(document: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice(list(document["claims"]))
    value = document["claims"][name]
    document["claims"][name] = value + rng.choice((-1, 1)) if type(value) is int else rng.choice(_NUMBERS)


def _graph(document: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice(list(document["graph"]))
    document["graph"][name] = rng.choice((other["graph"][name], *_NUMBERS))


def _bounds(document: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    """One less everywhere: the lie that pays."""
    step = rng.choice((-1, -1, 1))
    for part in document["components"]:
        part["upper"] += step
        if rng.random() < 0.7:
            part["lower"] += step
    for name in ("upper", "lower", "diameter_largest_component"):
        if type(document["claims"][name]) is int:
            document["claims"][name] += step


def _part(document: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    if document["components"]:
        part = rng.choice(document["components"])
        if isinstance(part, dict) and part:
            name = rng.choice(list(part))
            value = part[name]
            near = type(value) is int and rng.random() < 0.7
            part[name] = value + rng.choice((-1, 1)) if near else rng.choice(_NUMBERS)


def _names(document: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    """A pivot, source or end of a witness less, more or another."""
    if not document["components"]:
        return
    part = rng.choice(document["components"])
    names = part.get(rng.choice(("pivots", "sources", "witness")))
    if not isinstance(names, list):
        return
    if names and rng.random() < 0.5:
        names.pop(rng.randrange(len(names)))
    else:
        names.insert(rng.randint(0, len(names)), rng.choice((rng.randrange(100), rng.choice(_NUMBERS))))


def _components(document: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    parts = document["components"]
    if parts and rng.random() < 0.5:
        parts.pop(rng.randrange(len(parts)))
    elif other["components"]:
        parts.append(json.loads(json.dumps(rng.choice(other["components"]))))


def _keys(document: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    node = rng.choice([document, document["graph"], document["claims"]])
    if isinstance(node, dict) and node:
        key = rng.choice(list(node))
        if key in ("components", "graph", "claims"):
            return
        node[key] = rng.choice(_NUMBERS)


_EDITS: tuple[Callable[[dict[str, Any], dict[str, Any], random.Random], None], ...] = (
    _claims, _graph, _bounds, _bounds, _part, _names, _names, _names, _components, _keys)
