"""The sources of an earlier proof, of any kind, as the beginning of another run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import InputError, redacted
from ..methods.earlier import Earlier
from .documents import ArcEccentricityCertificate, Certificate, WeightedCertificate, read_certificate
from .sealed import Id


def read_earlier(path: str | Path, *, directed: bool, weighted: bool) -> Earlier:
    """The sources of the proof at `path`, a path or an address, for a run with or without arcs and weights. Raises
    InputError for an invalid proof, and for a proof about other distances."""
    proof = read_certificate(path)
    if (proof.directed, proof.weighted) != (directed, weighted):
        raise InputError(f"the proof is about {_distances(proof.directed, proof.weighted)}, and this run goes by"
                         f" {_distances(directed, weighted)}", path=redacted(str(path)),
                         remedy="give one that the same command has written, or leave --from out")
    digest = hashlib.blake2b(proof.to_bytes(), digest_size=16).hexdigest()
    ends, along, against = map(tuple, _named(proof))
    central: Id | None = None
    longest: int | float = 0
    if isinstance(proof, Certificate):
        largest = max(proof.components, key=lambda part: part.size, default=None)
        if largest is not None and largest.pivots:
            central, longest = largest.pivots[0], largest.lower
    elif isinstance(proof, WeightedCertificate):
        central, longest = proof.sources[0] if proof.sources else None, proof.claims.length
    return Earlier(ends, along, against, digest, redacted(str(path)), proof.graph.n_edges, central, longest)


def _distances(directed: bool, weighted: bool) -> str:
    return f"{'weights' if weighted else 'numbers of edges'}{' along arcs' if directed else ''}"


def _named(proof: Any) -> tuple[Iterable[Id], Iterable[Id], Iterable[Id]]:
    """The ids of ends, and of sources along and against arcs."""
    if isinstance(proof, Certificate):
        parts = sorted(proof.components, key=lambda part: -part.size)
        return ([name for part in parts for name in part.witness or ()],
                [*(name for part in parts for name in part.pivots), *(walk[-1] for walk in proof.walks)], ())
    ends = getattr(proof.claims, "witness", ())
    if not proof.directed:
        return ends, proof.sources, ()
    sides = proof.along, proof.against
    if isinstance(proof, ArcEccentricityCertificate) and proof.claims.direction == "in":
        sides = proof.against, proof.along
    return ends, *sides
