"""Graph files of other programs, and archives, that have been read as another graph, and their right neighbours. See
kinds.py."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any

from tests.formats.kinds import Kind
from tests.helpers.handed_in import Facts

_FOUR, _THREE, _EDGE = Facts(4, 3, 3), Facts(3, 2, 2), Facts(2, 1, 1)


def _zip(**members: str | bytes) -> bytes:
    """A zip archive; the names of its members have __ for a point."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "."), text)
    return out.getvalue()


# Path of three, undirected: n, m, offsets, neighbours.
_SG = struct.pack("<?qq4q4i", False, 4, 3, 0, 1, 3, 4, 1, 0, 2, 1)
_EDGES = "1 2\n2 3\n"

_ARCHIVES = {
    "zip of METIS": Kind(".zip", _zip(m__graph="3 2 1\n2 5\n1 5 3 7\n2 7\n"), _THREE),
    "zip of graph6": Kind(".zip", _zip(x__g6="Ch\n"), _FOUR),
    "zip of sparse6": Kind(".zip", _zip(x__s6=":Cdv\n"), _FOUR),
    "zip of GAPBS": Kind(".zip", _zip(x__sg=_SG), None),
    "zip, labels and .dat": Kind(".zip", _zip(labels__txt="1 5\n2 5\n3 6\n", graph__dat=_EDGES), _THREE),
    "zip, nodes and edges": Kind(".zip", _zip(nodes__txt="1 5\n2 5\n3 6\n", edges__dat=_EDGES), _THREE),
    "zip, vertices and arcs": Kind(".zip", _zip(vertices__csv="id,x\n1,5\n2,6\n", arcs=_EDGES), _THREE),
    "zip, called like a table of vertices": Kind(".zip", _zip(
        input__csv="id,pop\n1,2\n2,3\n", roads__csv="source,target\n1,2\n"), None),
    "zip, edges of nodes": Kind(".zip", _zip(node_edges__csv=_EDGES, b__csv=_EDGES), None),
    "zip, two lists": Kind(".zip", _zip(a__txt=_EDGES, b__dat=_EDGES), None),
    "zip, .mtx beside its parts": Kind(".zip", _zip(
        A__mtx="%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
        A_b__mtx="%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n"), _THREE),
    "zip, a graph and notes": Kind(".zip", _zip(g__graphml='<graphml><graph edgedefault="undirected"><edge source="p"'
                                                ' target="q"/></graph></graphml>', notes__txt="by us\n"), _EDGE),
}


def _json(value: object, right: Facts | None, *options: str, **more: Any) -> Kind:
    return Kind(".json", json.dumps(value), right, options, **more)


_ABC, _PATH = ["a", "b", "c"], [["a", "b"], ["b", "c"]]
_LINKS = [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}]
_FOURTH = Facts(4, 2, 2)  # a path of three, and a vertex alone

_JSON = {
    "vertices": _json({"vertices": [*_ABC, "d"], "edges": _PATH}, _FOURTH),
    "Nodes": _json({"Nodes": [*_ABC, "d"], "edges": _PATH}, _FOURTH),
    "nodes and vertices": _json({"nodes": _ABC, "vertices": ["d"], "edges": _PATH}, None),
    "points": _json({"points": [*_ABC, "d"], "edges": _PATH}, None),
    "people": _json({"people": [*_ABC, "d"], "edges": _PATH}, None),
    "people with names": _json({"people": [{"name": name} for name in "abcd"], "edges": _PATH}, None),
    "n": _json({"n": 5, "edges": [[0, 1], [1, 2]]}, Facts(5, 2, 2)),
    "num_nodes from 1": _json({"num_nodes": 5, "edges": [[1, 2], [2, 5]]}, Facts(5, 2, 2)),
    "num_nodes that are there": _json({"num_nodes": 3, "edges": _PATH}, _THREE),
    "num_nodes of names": _json({"num_nodes": 4, "edges": _PATH}, None),
    "num_nodes below": _json({"num_nodes": 2, "edges": [[0, 1], [1, 2]]}, None),
    "num_nodes beside nodes": _json({"num_nodes": 4, "nodes": _ABC, "edges": _PATH}, None),
    "nodes outside of the graph": _json({"nodes": [*_ABC, "d"], "graph": {"edges": _PATH}}, _FOURTH),
    "nodes inside and outside": _json({"nodes": [*_ABC, "d"], "graph": {"nodes": _ABC, "edges": _PATH}}, None),
    "arcs beside edges": _json({"edges": _PATH, "arcs": [["c", "d"]]}, None),
    "relationships beside edges": _json({"edges": _PATH, "relationships": [{"start": "c", "end": "d"}]}, None),
    "hyperedges beside edges": _json({"edges": _PATH, "hyperedges": {"x": _ABC}}, None),
    "roads beside edges": _json({"edges": _PATH, "roads": [{"from": "c", "to": "d"}]}, None),
    "a matrix beside edges": _json({"nodes": _ABC, "edges": [], "adjacency_matrix": [[0, 1], [1, 0]]}, None),
    "edges inside nodes": _json({"nodes": [{"id": "a", "edges": ["b"]}, {"id": "b", "edges": []}], "edges": []}, None),
    "nodes inside nodes": _json({"nodes": [{"id": "a", "children": [{"id": "z"}]}, {"id": "b"}], "edges": [["a", "b"]]},
                                None),
    "nodes within the graph": _json({"graph": {"nodes": [*_ABC, "d"]}, "edges": _PATH}, None),
    "isolated vertices": _json({"isolated": ["z"], "edges": _PATH}, None),
    "friends beside edges": _json({"nodes": _ABC, "edges": [["a", "b"]], "friends": {"b": ["c"]}}, None),
    "places beside edges": _json({"nodes": _ABC, "edges": _PATH, "positions": {"a": [0.5, 1], "b": [1, 1]}}, _THREE),
    "addresses inside nodes": _json({"nodes": [{"id": name, "links": ["http://x"]} for name in _ABC],
                                     "edges": _PATH}, _THREE),
    "categories": _json({"nodes": [{"id": name} for name in _ABC], "links": _LINKS, "categories": [{"name": "x"}],
                         "tags": ["x", "y"]}, _THREE),
    "ends that are places": _json({"nodes": [{"id": v} for v in (1, 2, 3, 4)], "links": [
        {"source": v, "target": v + 1} for v in (0, 1, 2)]}, None),
    "ends that are places from 1": _json({"nodes": [{"id": v} for v in (0, 2, 4)], "edges": [[1, 2], [2, 3]]}, None),
    "ends that are no nodes, nor places": _json({"nodes": [1, 2], "edges": [[1, 2], [2, 30]]}, _THREE),
    "neighbours that are no nodes": _json({"directed": False, "nodes": [{"id": 0}], "adjacency": [[{"id": 1}]]}, None),
    "neighbours of a node twice": _json({"nodes": [{"id": 0}, {"id": 0}], "adjacency": [[{"id": 0}], []]}, None),
    "triples": _json([["Ann", "knows", "Bob"], ["Bob", "likes", "Cem"]], None),
    "triples of names": _json([["a", "b", "c"], ["c", "d", "e"]], None),
    "triples of numbers": _json([[1, 100, 2], [2, 101, 3], [3, 100, 4]], None),
    "triples of numbers that are weights": _json([[1, 100, 1], [2, 101, 1], [3, 100, 1]], Facts(5, 3, 2),
                                                 refusable=True),
    "weights of lists": _json([[0, 1, 1], [1, 2, 2]], _THREE),
    "weights of lists, wanted": _json([[1, 100, 1], [2, 100, 1]], _THREE, "--weights", "weight"),
    "attributes of lists": _json([["a", "b", {"x": 1}], ["b", "c", {}]], _THREE),
    "triples beside nodes": _json({"nodes": {"a": {}, "b": {}}, "edges": [["a", "b", "c"]]}, None),
    "lists of several lengths": _json([["a", "b"], ["b", "c", 3]], None),
    "two pairs of ends": _json([{"source": "x", "target": "y", "from": "a", "to": "b"},
                                {"source": "x", "target": "y", "from": "b", "to": "c"}], None),
    "from and to that are dates": _json([{"a": "p", "b": "q", "from": "2020-01-01", "to": "2020-02-01"},
                                         {"a": "q", "b": "r", "from": "2020-01-02", "to": "2020-02-01"}], None),
    "a list of edges as an attribute": _json({"graph": {"edges": [["x", "y"]], "name": "k"}, "nodes": [
        {"id": v} for v in (0, 1, 2)], "links": [{"source": 0, "target": 1}, {"source": 1, "target": 2}]}, _THREE),
    "a number of edges as an attribute": _json({"graph": {"edges": 2}, "nodes": [{"id": v} for v in _ABC],
                                                "links": _LINKS}, _THREE),
    "edges inside, none outside": _json({"edges": [], "graph": {"edges": _PATH}}, None),
    "attributes inside attributes": _json({"edges": [{"source": "a", "target": "b", "attributes": {"weight": 3}}]},
                                          _EDGE, "--weights", "weight"),
}

_WEIGHT = ("--weights", "weight")

_DOT = {
    "an end that is a subgraph by its name": Kind(".dot", "digraph { subgraph s { p; q }\n r -> subgraph s\n t -> u }",
                                                  None),
    "a subgraph by a quoted name": Kind(".dot", 'digraph { subgraph "s 1" { p; q }\n r -> subgraph "s 1"; }', None),
    "a subgraph in two parts": Kind(".dot", "graph { subgraph s { p } subgraph s { q } r -- subgraph s { t } }", None),
    "two parts that are no end": Kind(".dot", "graph { subgraph s { p -- q } subgraph s { q -- r } }", _THREE),
    "a chain through a subgraph": Kind(".dot", "graph { a -- subgraph s { b } -- c }", _THREE),
    "text behind the brace": Kind(".dot", "graph { a -- b }\n c -- d", None),
    "a brace too many": Kind(".dot", "digraph { a -> b } }\n c -> d", None),
    "a comment behind the brace": Kind(".dot", 'graph { a -- b [label="}"] }; // c -- d\n', _EDGE),
    "an end without vertices": Kind(".dot", "graph { a -- {}; b -- c }", Facts(3, 1, 1)),
    "weights by default": Kind(".dot", "graph { edge [weight=5]; a -- b; subgraph { edge [weight=2]; b -- c } c -- d }",
                               _FOUR, _WEIGHT),
}


def _graphml(body: str, keys: str = "", default: str = ' edgedefault="undirected"') -> str:
    return f'<graphml xmlns="http://g">{keys}<graph{default}>{body}</graph></graphml>'


def _nodes(names: str) -> str:
    return "".join(f'<node id="{name}"/>' for name in names)


_AB, _BC = '<edge source="a" target="b"/>', '<edge source="b" target="c"/>'
_KEY, _DATA = '<key id="{}" for="edge" attr.name="weight"/>', '<edge source="a" target="b">{}</edge>'

_XML = {
    "GraphML, a graph in an edge": Kind(".graphml", _graphml(_nodes("ab") + _DATA.format(
        f'<graph edgedefault="directed">{_nodes("cd")}<edge source="c" target="d"/></graph>') + _BC), _FOUR),
    "GraphML, a weight behind a graph in an edge": Kind(".graphml", _graphml(_nodes("ab") + _DATA.format(
        '<graph><node id="c"><data key="w">7</data></node></graph><data key="w">3</data>')
        + '<edge source="b" target="c"><data key="w">1</data></edge>', _KEY.format("w")), _THREE, _WEIGHT),
    "GraphML, an edge of another namespace": Kind(".graphml", _graphml(_nodes("abc") + _DATA.format(
        '<data key="x"><y:edge source="c" target="a"/><edge xmlns="http://h"/></data>') + _BC), _THREE),
    "GraphML, an edge within data": Kind(".graphml", _graphml(_nodes("abc") + _DATA.format(
        f"<data>{_BC}</data>")), None),
    "GraphML, an edge of another namespace in the graph": Kind(".graphml", _graphml(_AB + "<y:edge/>"), None),
    "GraphML, with a prefix": Kind(".graphml", '<g:graphml xmlns:g="http://g"><g:graph edgedefault="directed"><g:edge'
                                   ' source="a" target="b"/></g:graph></g:graphml>', _EDGE),
    "GraphML, links": Kind(".graphml", _graphml(_nodes("ab") + _AB.replace("edge", "link")), None),
    "GraphML, no graph": Kind(".graphml", f"<graphml>{_AB}</graphml>", None),
    "GraphML, capitals": Kind(".graphml", _graphml(_nodes("abc") + _AB.replace("edge", "EDGE") + _BC), _THREE),
    "GraphML, two weights of an edge": Kind(".graphml", _graphml(_DATA.format(
        '<data key="w">1</data><data key="w">2</data>'), _KEY.format("w")), None, _WEIGHT),
    "GraphML, weights by their key": Kind(".graphml", _graphml(_DATA.format(
        '<data key="v">1</data><data key="w">2</data>'), _KEY.format("v") + _KEY.format("w")), _EDGE,
        ("--weights", "v")),
    "GEXF, edges in an edge": Kind(".gexf", f'<gexf><graph><nodes>{_nodes("abc")}</nodes><edges>'
                                   f"{_DATA.format(_BC)}</edges></graph></gexf>", _THREE),
}


_GML = "graph [\n node [ id 1 ] node [ id 2 ] node [ id 3 ] edge [ source 1 target 2 ] edge [ source 2 target 3 ]\n]\n"
_PAJEK = '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n'

_SECTIONS = {
    "GML, keys with capitals": Kind(".gml", _GML.replace("edge", "Edge"), None),
    "GML, nodes with capitals": Kind(".gml", _GML.replace("node [ id 3 ]", "Node [ id 3 ]"), None),
    "GML, edges for edge": Kind(".gml", _GML.replace("edge", "edges"), None),
    "GML, a graph in a node": Kind(".gml", _GML.replace("id 3 ]", "id 3 graph [ node [ id 4 ] ] ]"), None),
    "GML, hyperedges": Kind(".gml", _GML.replace("\n]", " hyperedge [ x 1 ]\n]"), None),
    "GML, an edge behind the graph": Kind(".gml", _GML + "edge [ source 1 target 3 ]\n", None),
    "GML, brackets in texts and comments": Kind(".gml", 'Creator "graph [1] by me"\n# a graph [2]\n'
                                                + _GML.replace("h [", "h # [\n[").replace(
        "id 3", 'id 3 label "edge [" graphics [ x 1.0 Line [ point [ y 2.0 ] ] ]'), _THREE),
    "Pajek, no line *Edges": Kind(".net", _PAJEK + "1 2\n2 3\n", None),
    "Pajek, no line *Edges, nor vertices": Kind(".net", "*Vertices 3\n1 2\n2 3\n", None),
    "Pajek, numbers for labels": Kind(".net", "*Vertices 3\n1 2\n2 3\n3 1\n*Edges\n1 2\n2 3\n", _THREE),
    "Pajek, *Links": Kind(".net", _PAJEK + "*Links\n1 2\n2 3\n", _THREE),
    "Pajek, *Events": Kind(".net", '*Vertices 2\n*Events\nTI 1\nAV 1 "a"\nAE 1 2 1\n', None),
    "Pajek, a partition": Kind(".clu", "*Vertices 3\n1\n1\n2\n", None),
    "Pajek, another partition": Kind(".clu", "*Vertices 3\n1\n2\n3\n", None),
    "Pajek, *Edges list": Kind(".net", _PAJEK + "*Edges list\n1 2 3\n", _THREE),
    "Pajek, underscores": Kind(".net", _PAJEK + "*Edges\n1_2 3\n", None),
    "Pajek, a comment of several lines": Kind(".net", _PAJEK + "*Edges\n1 2\n/* not\n1 3\n*/\n2 3\n", None),
    "Pajek, comments": Kind(".net", _PAJEK + "/* all */\n*Edges :1 \"x\"\n/* one\n1 2\n/* two */\n2 3\n", _THREE),
    "Pajek, edges first": Kind(".txt", "*Edges\n1 2\n2 3\n*Vertices 3\n", _THREE),
    "Pajek, *arcslist alone": Kind(".txt", "*arcslist\n1 2 3\n2 3\n", None),
    "Pajek, vertices in another order": Kind(".net", "*Vertices 4\n3 c\n1 a\n2 b\n*Edges\n1 2\n2 3\n", _FOURTH),
    "DL, fewer labels than n": Kind(".dl", "dl n=5 format=edgelist1\nlabels embedded\ndata:\na b\nb c\n", None),
    "DL, more labels than n": Kind(".dl", "dl n=2 format=edgelist1\nlabels embedded\ndata:\na b\nb c\n", None),
    "DL, labels with blanks": Kind(".dl", "dl n=3 format=edgelist1\nlabels embedded\ndata:\nNew York Bonn\nBonn Reno\n",
                                   None),
    "DL, single quotes": Kind(".dl", "dl n=3 format=edgelist1\nlabels embedded\ndata:\n'New York' O'Neill\n"
                              "O'Neill Reno 2\n", _THREE),
    "DL, a value of 0": Kind(".dl", "dl n=3 format=edgelist1\ndata:\n1 2 1\n2 3 2\n1 3 0\n", _THREE),
    "DL, a value of 0 between labels": Kind(
        ".dl", "dl n=4 format=edgelist1\nlabels embedded\ndata:\na b 1\nb c 2\na d 0\n", _FOURTH),
    "DL, four fields": Kind(".dl", "dl n=4 format=edgelist1\ndata:\n1 2 3 4\n", None),
    "LEDA, edges beyond their number": Kind(
        ".gw", "LEDA.GRAPH\nvoid\nvoid\n-2\n3\n|{}|\n|{}|\n|{}|\n1\n1 2 0 |{}|\n2 3 0 |{}|\n", None),
    "DIMACS, both directions": Kind(".col", "p edge 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", _THREE),
    "DIMACS, twice as many lines": Kind(".col", "p edge 5 2\ne 1 2\ne 2 3\ne 3 4\ne 4 5\n", None),
    "DIMACS, half as many lines": Kind(".col", "p edge 3 4\ne 1 2\ne 2 3\n", _THREE),
    "graph6, its header on a line": Kind(".g6", ">>graph6<<\nCh\n", _FOUR),
    "SteinLib": Kind(".stp", "33D32945 STP File, STP Format Version 1.0\nSECTION Graph\nNodes 3\nEdges 2\nE 1 2 1\n"
                     "E 2 3 1\nEND\nEOF\n", None),
    "LEMON": Kind(".lgf", "@nodes\nlabel\n1\n2\n@arcs\n    label\n1 2 0\n", None),
    "Mermaid": Kind(".mmd", "graph TD;\n A-->B;\n B-->C;\n", None),
    "Mermaid, flowchart": Kind(".mmd", "flowchart LR\n A --> B\n", None),
    "showg": Kind(".txt", "\nGraph 1, order 3.\n  0 : 1;\n  1 : 0 2;\n  2 : 1;\n", None),
    "names like marks": Kind(".txt", "graph td1\ntd1 lr\n", _THREE),
}

FILE_KINDS: dict[str, Kind] = {**_ARCHIVES,
                              **{f"JSON, {name}": kind for name, kind in _JSON.items()},
                              **{f"DOT, {name}": kind for name, kind in _DOT.items()}, **_XML, **_SECTIONS}
"""Kinds of graph files and archives."""
