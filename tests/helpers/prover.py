"""The slow twin of prover and verifier: proofs made and judged by brute force, in plain Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from emdiam.certificates.documents import Claims
from emdiam.certificates.writing import write_certificate
from emdiam.methods.result import ComponentProof, Proof
from emdiam.store.store import open_store
from tests.helpers import naive


def all_distances(graph: naive.Graph) -> list[list[int]]:
    """Distances between all vertices; -1 between components."""
    return [naive.distances(graph, v) for v in range(len(graph))]


def proves(rows: list[list[int]], members: list[int], part: ComponentProof, walks: Sequence[Sequence[int]] = ()
           ) -> bool:
    """Whether the statement of emdiam.methods.result holds for this component. Walks to one vertex are near each
    other."""
    if part.size != len(members) or part.vertex not in members:
        return False
    if not {*part.pivots, *part.sources, *(part.witness or ())} <= set(members):
        return False
    if part.witness is not None and rows[part.witness[0]][part.witness[1]] != part.lower:
        return False
    if part.size - 1 <= part.upper:
        return True
    ecc = {p: max(rows[p]) for p in {*part.pivots, *part.sources}}
    unsettled = [v for v in members if not any(rows[p][v] + ecc[p] <= part.upper for p in ecc)]
    walked = {(walk[-1], walk[-1]): 0 for walk in walks}
    for walk in sorted(walks, key=len, reverse=True):
        walked[walk[-1], walk[0]] = 0 if walk[0] == walk[-1] else len(walk) - 1
    ends, far = {end for end, _ in walked}, part.upper + 1
    return all(any(rows[p][x] + rows[p][y] <= part.upper for p in part.pivots)
               or any(walked.get((end, x), far) + walked.get((end, y), far) <= part.upper for end in ends)
               for x in unsettled for y in unsettled if x < y)


def verdict(graph: naive.Graph, proof: Proof, claims: Claims) -> bool:
    """Whether claims and proof hold, as the verifier should find."""
    rows, components = all_distances(graph), naive.components(graph)
    home = {v: i for i, members in enumerate(components) for v in members}
    numbers = [home[part.vertex] for part in proof.components]
    if len(set(numbers)) < len(numbers):
        return False
    if not all(proves(rows, components[i], part, proof.walks)
               for i, part in zip(numbers, proof.components, strict=True)):
        return False
    if any(w not in graph[v] for walk in proof.walks for v, w in pairwise(walk)):
        return False
    if (claims.n_components, claims.connected) != (len(components), len(components) == 1):
        return False
    if claims.lower != max((part.lower for part in proof.components), default=0):
        return False
    others = [len(members) - 1 for i, members in enumerate(components) if i not in numbers]
    if claims.upper < max([*others, *(part.upper for part in proof.components)]):
        return False
    most, told = max(map(len, components)), claims.diameter_largest_component
    return told is None or (most == 1 and told == 0) or any(
        part.size == most and part.lower == part.upper == told for part in proof.components)


def component_proof(rows: list[list[int]], members: list[int], pivots: int, rng: random.Random) -> ComponentProof:
    """A proof of the exact diameter: hub-like and random pivots, and sources until it holds."""
    diameter = max(max(rows[v]) for v in members)
    ends = [(v, rows[v].index(diameter)) for v in members if max(rows[v]) == diameter]
    part = ComponentProof(rng.choice(members), len(members), diameter, diameter,
                          rng.choice(ends) if diameter else None)
    part.pivots = rng.sample(members, min(pivots, len(members)))
    rest = [v for v in members if v not in part.pivots]
    rng.shuffle(rest)
    while not proves(rows, members, part):
        part.sources.append(rest.pop())
    return part


def least_upper(rows: list[list[int]], members: list[int], part: ComponentProof) -> int:
    """The smallest upper bound for which the statement holds with these pivots and sources."""
    return next(upper for upper in range(len(members)) if proves(rows, members, replace(part, upper=upper)))


def exact_proof(graph: naive.Graph, pivots: int = 2, seed: int = 0) -> tuple[Proof, Claims]:
    """A proof for every component that could hold the longest distance, or is the largest."""
    rng, rows, components = random.Random(seed), all_distances(graph), naive.components(graph)
    parts = [component_proof(rows, members, pivots, rng) for members in components]
    longest = max(part.upper for part in parts)
    most = max(part.size for part in parts)
    kept = [part for part in parts if part.size == most or part.size - 1 > longest or part.upper == longest]
    largest = next(part.upper for part in kept if part.size == most)
    return Proof(kept), Claims(longest, longest, largest, len(components), len(components) == 1)


def sources_proof(graph: naive.Graph) -> tuple[Proof, Claims]:
    """The proof that always is one: every vertex a source."""
    proof, claims = exact_proof(graph, 0)
    home = {v: members for members in naive.components(graph) for v in members}
    return Proof([replace(part, sources=list(home[part.vertex])) for part in proof.components]), claims


def write(path: Path, store: Path, proof: Proof, claims: Claims) -> Path:
    """The certificate of a proof on the store at a path."""
    with open_store(store) as opened:
        write_certificate(path, proof, claims, opened)
    return path
