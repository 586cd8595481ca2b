"""A writer of files, and the graph that a reader has to find in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.formats.writers.drawn import Drawn, Traits

Options = Mapping[str, Any]
Write = Callable[[Drawn, Path, Random], Options | None]


@dataclass(frozen=True)
class Writer:
    """name : of the function that writes, and how. suffixes : of its files, one is drawn. write : writes the graph into
    a file, and gives options of `emdiam.convert` that its owner has to give. package : that has to be there. weight :
    the name of the column or attribute with the weights; "" where a reader finds them by itself."""

    name: str
    suffixes: tuple[str, ...]
    traits: Traits
    write: Write
    package: str
    weight: str = ""


@dataclass(frozen=True)
class Held:
    """What a graph is, however it is written. edges : by the names of their ends, in order where there are no
    directions, without loops; the least weight of parallel ones, None where weights were not asked for."""

    vertices: frozenset[str]
    edges: Mapping[tuple[str, str], float | None]

    def both_ways(self) -> Held:
        """The graph without directions of which these are the arcs; without any edge where one goes one way alone."""
        if any(self.edges.get((head, tail), "none") != weight for (tail, head), weight in self.edges.items()):
            return Held(self.vertices, {})
        return Held(self.vertices, {(tail, head): weight for (tail, head), weight in self.edges.items() if tail < head})


def expected(graph: Drawn, traits: Traits, weighted: bool, directed: bool) -> list[Held]:
    """What a reader finds that is asked for weights, and for directions, or not: one for each way to call vertices."""
    return [_held(graph, [called.format(label=label, place=place, number=place + 1)
                          for place, label in enumerate(graph.labels)], traits, weighted, directed)
            for called in traits.called]


def _held(graph: Drawn, names: list[str], traits: Traits, weighted: bool, directed: bool) -> Held:
    edges: dict[tuple[str, str], float | None] = {}
    for (a, b), value in zip(graph.pairs, graph.values, strict=True):
        ends = [(names[a], names[b])]
        if not directed:
            ends = [(min(ends[0]), max(ends[0]))]
        elif not graph.directed and traits.both:
            ends.append((names[b], names[a]))
        for pair in ends if a != b else []:
            known = edges.get(pair)
            edges[pair] = None if not weighted else value if known is None else min(known, value)
    met = {names[v] for pair in graph.pairs for v in pair}
    return Held(frozenset(names if traits.alone else met), edges)
