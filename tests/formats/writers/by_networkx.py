"""Files of networkx."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import networkx as nx

from tests.formats.writers.drawn import ANY, BOTH_WEIGHTS, FROM_0, NUMBERS, WORDS, Drawn, Traits
from tests.formats.writers.writer import Options, Writer


def graph_of(graph: Drawn, parallel: bool = False) -> nx.Graph:
    """The graph, its nodes the labels; weights are an attribute."""
    kind = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph,
            (True, True): nx.MultiDiGraph}[graph.directed, parallel]
    made = kind()
    made.add_nodes_from(graph.labels)
    if graph.weights is None:
        made.add_edges_from(graph.edges)
    else:
        made.add_weighted_edges_from([(*edge, weight) for edge, weight in zip(graph.edges, graph.weights, strict=True)])
    return made


def _adjlist(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_adjlist(graph_of(graph, True), path, comments=random.choice("#%"))
    return None


def _adjlist_commas(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_adjlist(graph_of(graph), path, delimiter=random.choice((",", "\t", ", ")))
    return None


def _multiline(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_multiline_adjlist(graph_of(graph), path)
    return None


def _edgelist(graph: Drawn, path: Path, random: Random) -> Options | None:
    """Of weights as dicts of Python."""
    nx.write_edgelist(graph_of(graph, True), path, delimiter=random.choice((" ", "\t")))
    return None


def _edgelist_bare(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_edgelist(graph_of(graph, True), path, delimiter=random.choice((" ", "\t", ",", ";")), data=False)
    return None


def _edgelist_column(graph: Drawn, path: Path, random: Random) -> Options | None:
    delimiter = random.choice((" ", "\t", ",", ";"))
    nx.write_edgelist(graph_of(graph, True), path, delimiter=delimiter, data=["weight"] if graph.weights else False)
    return None


def _weighted(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_weighted_edgelist(graph_of(graph, True), path, delimiter=random.choice((" ", "\t", ",")))
    return None


def _gexf(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_gexf(graph_of(graph), path, version=random.choice(("1.1draft", "1.2draft")),
                  prettyprint=random.random() < 0.7)
    return None


def _gml(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_gml(graph_of(graph, random.random() < 0.3), path)
    return None


def _graphml(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_graphml_xml(graph_of(graph, True), path, prettyprint=random.random() < 0.7,
                         edge_id_from_attribute=None, named_key_ids=random.random() < 0.5)
    return None


def _graph6(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_graph6(nx.convert_node_labels_to_integers(graph_of(graph)), path, header=random.random() < 0.5)
    return None


def _sparse6(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_sparse6(nx.convert_node_labels_to_integers(graph_of(graph, True)), path, header=random.random() < 0.8)
    return None


def _pajek(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.write_pajek(graph_of(graph, True), path)
    return None


def _node_link(graph: Drawn, path: Path, random: Random) -> Options | None:
    data = nx.node_link_data(graph_of(graph, True), edges=random.choice(("links", "edges")))
    path.write_text(json.dumps(data, indent=random.choice((None, 2)), ensure_ascii=random.random() < 0.5),
                    encoding="utf-8")
    return None


def _dot(graph: Drawn, path: Path, random: Random) -> Options | None:
    nx.nx_pydot.write_dot(graph_of(graph, True), path)
    return None


def _pandas_edges(graph: Drawn, path: Path, random: Random) -> Options | None:
    frame = nx.to_pandas_edgelist(graph_of(graph, True))
    if random.random() < 0.5:
        frame.to_csv(path, index=random.random() < 0.5)
    else:
        frame.to_csv(path, sep="\t", index=False)
    return None


def _pandas_matrix(graph: Drawn, path: Path, random: Random) -> Options | None:
    made = graph_of(graph)
    nx.to_pandas_adjacency(made, dtype=float if graph.weights else int).to_csv(path, sep=random.choice(",;\t"))
    return None


_LIST = Traits(labels=WORDS, alone=False, parallel=True)
_WEIGHTED_LIST = Traits(labels=WORDS, alone=False, parallel=True, weights=BOTH_WEIGHTS)
_RICH = Traits(labels=ANY, weights=BOTH_WEIGHTS)
_MULTI = Traits(labels=ANY, weights=BOTH_WEIGHTS, parallel=True)
# The ids of these formats are numbers, and labels are beside them.
_GML, _PAJEK = replace(_RICH, called=("{label}", "{place}")), replace(_MULTI, called=("{label}", "{number}"))
_TEXT = (".txt", ".edgelist", ".edges", "")

WRITERS = (
    Writer("write_adjlist", (".adjlist", ".txt"), Traits(labels=WORDS, parallel=True), _adjlist, "networkx"),
    Writer("write_adjlist, other separators", (".adjlist", ".txt"), Traits(labels=WORDS), _adjlist_commas, "networkx"),
    Writer("write_multiline_adjlist", (".adjlist", ".txt"), Traits(labels=WORDS), _multiline, "networkx"),
    Writer("write_edgelist", _TEXT, _WEIGHTED_LIST, _edgelist, "networkx"),
    Writer("write_edgelist, data=False", _TEXT, _LIST, _edgelist_bare, "networkx"),
    Writer("write_edgelist, data=[...]", _TEXT, _WEIGHTED_LIST, _edgelist_column, "networkx"),
    Writer("write_weighted_edgelist", _TEXT, _WEIGHTED_LIST, _weighted, "networkx"),
    Writer("write_gexf", (".gexf", ".xml"), _RICH, _gexf, "networkx"),
    Writer("write_gml", (".gml", ".txt"), _GML, _gml, "networkx"),
    Writer("write_graphml", (".graphml", ".xml"), _MULTI, _graphml, "networkx"),
    Writer("write_graph6", (".g6",), Traits(labels=NUMBERS, called=FROM_0, loops=False, directed=False), _graph6,
           "networkx"),
    Writer("write_sparse6", (".s6",), Traits(labels=NUMBERS, called=FROM_0, parallel=True, directed=False), _sparse6,
           "networkx"),
    Writer("write_pajek", (".net", ".txt"), _PAJEK, _pajek, "networkx"),
    Writer("node_link_data", (".json",), _MULTI, _node_link, "networkx"),
    Writer("nx_pydot.write_dot", (".dot", ".gv"), Traits(labels=(*NUMBERS, "plain"), weights=BOTH_WEIGHTS,
                                                         parallel=True), _dot, "pydot"),
    Writer("to_pandas_edgelist", (".csv", ".txt"), Traits(labels=ANY, alone=False, parallel=True, weights=BOTH_WEIGHTS),
           _pandas_edges, "pandas"),
    Writer("to_pandas_adjacency", (".csv",), Traits(labels=WORDS, weights=BOTH_WEIGHTS, both=True, least=4),
           _pandas_matrix, "pandas"),
)
