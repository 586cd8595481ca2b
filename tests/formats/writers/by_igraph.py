"""Files of igraph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from tests.formats.writers.drawn import ANY, BOTH_WEIGHTS, FROM_0, FROM_1, Drawn, Traits
from tests.formats.writers.writer import Options, Writer


def graph_of(graph: Drawn) -> Any:
    """The graph; labels are the names of vertices where they are no counted numbers."""
    from igraph import Graph

    made = Graph(graph.n, list(graph.pairs), directed=graph.directed)
    if list(graph.labels) != list(range(graph.n)):
        made.vs["name"] = [str(label) for label in graph.labels]
    if graph.weights is not None:
        made.es["weight"] = list(graph.weights)
    return made


def _plain(method: str, **options: Any) -> Callable[[Drawn, Path, Random], Options | None]:
    """Writes by the method of this name, with these options."""

    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        getattr(graph_of(graph), method)(str(path), **options)
        return None

    return write


def _ncol(graph: Drawn, path: Path, random: Random) -> Options | None:
    """By names, weights beside them."""
    made = graph_of(graph)
    made.vs["name"] = [str(label) for label in graph.labels]
    made.write_ncol(str(path), names="name", weights="weight" if graph.weights else None)
    return None


def _lgl(graph: Drawn, path: Path, random: Random) -> Options | None:
    made = graph_of(graph)
    made.vs["name"] = [str(label) for label in graph.labels]
    made.write_lgl(str(path), names="name", weights="weight" if graph.weights else None, isolates=True)
    return None


def _pajek(graph: Drawn, path: Path, random: Random) -> Options | None:
    """Numbered from 1; names are an attribute of another name."""
    made = graph_of(graph)
    if "name" in made.vs.attributes():
        made.vs["id"] = made.vs["name"]
    made.write_pajek(str(path))
    return None


def _gml(graph: Drawn, path: Path, random: Random) -> Options | None:
    made = graph_of(graph)
    if "name" in made.vs.attributes():
        made.vs["label"] = made.vs["name"]
        del made.vs["name"]
    made.write_gml(str(path))
    return None


def _dimacs(graph: Drawn, path: Path, random: Random) -> Options | None:
    made = graph_of(graph)
    made.es["capacity"] = graph.values
    made.write_dimacs(str(path), 0, graph.n - 1, "capacity")
    return None


def _matrix(graph: Drawn, path: Path, random: Random) -> Options | None:
    made = graph_of(graph)
    made.write_adjacency(str(path), sep=random.choice((" ", ",", ";", "\t")))
    return None


_MULTI = Traits(labels=ANY, weights=BOTH_WEIGHTS, parallel=True)
# The ids of the format are numbers, and names an attribute beside.
_GRAPHML = replace(_MULTI, called=("{label}", "n{place}"))
_PAJEK = replace(_MULTI, called=("{label}", "{number}"))
_GML = replace(_MULTI, called=("{label}", "{place}"))
_DOT = replace(_MULTI, called=("{place}", "{label}"))
_NO_ACCENTS = ("counted", "gaps", "plain", "zeros")
_NUMBERED = Traits(called=FROM_1, parallel=True)

WRITERS = (
    Writer("write_edgelist", (".txt", ".edges"), Traits(alone=False, parallel=True), _plain("write_edgelist"),
           "igraph"),
    Writer("write_ncol", (".ncol", ".txt"), Traits(labels=_NO_ACCENTS, alone=False, parallel=True,
                                                   directed=False, weights=BOTH_WEIGHTS), _ncol, "igraph"),
    Writer("write_lgl", (".lgl", ".txt"), Traits(labels=("plain",), loops=False, directed=False, weights=BOTH_WEIGHTS,
                                                 least=5),
           _lgl, "igraph"),
    Writer("write_pajek", (".net",), _PAJEK, _pajek, "igraph"),
    Writer("write_graphml", (".graphml", ".xml"), _GRAPHML, _plain("write_graphml"), "igraph"),
    Writer("write_graphmlz", (".graphml.gz",), _GRAPHML, _plain("write_graphmlz"), "igraph"),
    Writer("write_gml", (".gml",), _GML, _gml, "igraph"),
    Writer("write_dot", (".dot", ".gv"), _DOT, _plain("write_dot"), "igraph"),
    Writer("write_dimacs", (".max", ".dimacs", ".txt"), Traits(called=FROM_1, parallel=True, weights=BOTH_WEIGHTS),
           _dimacs, "igraph"),
    Writer("write_leda", (".lgr", ".gw"), replace(_NUMBERED, weights=BOTH_WEIGHTS), _plain("write_leda"), "igraph"),
    Writer("write_adjacency", (".txt", ".csv", ".mat.txt"), Traits(called=FROM_0, parallel=True, least=5), _matrix,
           "igraph"),
)
