"""Files of NetworKit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.formats.writers.drawn import FROM_0, FROM_1, Drawn, Traits
from tests.formats.writers.writer import Options, Writer


def graph_of(graph: Drawn) -> Any:
    """The graph, its vertices numbered."""
    from networkit import Graph

    made = Graph(graph.n, weighted=graph.weights is not None, directed=graph.directed)
    for (a, b), weight in zip(graph.pairs, graph.values, strict=True):
        made.addEdge(a, b, weight)
    return made


def _written(form: str) -> Callable[[Drawn, Path, Random], Options | None]:
    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        from networkit import Format, graphio

        graphio.writeGraph(graph_of(graph), str(path), getattr(Format, form))
        return None

    return write


_EDGES = Traits(called=FROM_0, alone=False, weights=("whole",))
_FROM_ONE = Traits(called=FROM_1, alone=False, weights=("whole",))

WRITERS = (
    Writer("EdgeListSpaceZero", (".txt", ".edges"), _EDGES, _written("EdgeListSpaceZero"), "networkit"),
    Writer("EdgeListSpaceOne", (".txt", ".el"), _FROM_ONE, _written("EdgeListSpaceOne"), "networkit"),
    Writer("EdgeListTabZero", (".txt", ".tsv"), _EDGES, _written("EdgeListTabZero"), "networkit"),
    Writer("EdgeListTabOne", (".txt",), _FROM_ONE, _written("EdgeListTabOne"), "networkit"),
    Writer("EdgeListCommaOne", (".csv", ".txt"), _FROM_ONE, _written("EdgeListCommaOne"), "networkit"),
    Writer("METIS", (".graph", ".metis"), Traits(called=FROM_1, loops=False, directed=False, weights=("whole",)),
           _written("METIS"), "networkit"),
    Writer("GML", (".gml",), Traits(called=FROM_0), _written("GML"), "networkit"),
    Writer("GraphML", (".graphml",), Traits(called=FROM_0, weights=("whole",)), _written("GraphML"), "networkit"),
    Writer("GEXF", (".gexf",), Traits(called=FROM_0, weights=("whole",)), _written("GEXF"), "networkit"),
    Writer("GraphViz", (".dot",), Traits(called=FROM_0, alone=False, directed=False), _written("GraphViz"),
           "networkit"),
    Writer("SNAP", (".txt",), Traits(called=FROM_0, alone=False), _written("SNAP"), "networkit"),
    Writer("MAT", (".mat",), Traits(called=(*FROM_0, *FROM_1), both=True), _written("MAT"), "networkit"),
)
