"""Graphs in JSON, in the shapes of common programs, also a vertex a line (Giraph); and in DOT, parsed by pydot.

All edges of a DOT file are read, also those inside and between subgraphs.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from .digits import float_or_decimal
from .json_neighbours import JsonError, graph_of_neighbours
from .json_tables import plain_graph
from .look_shape import may_be_rows
from .tables import certain_pair, weak_pair
from .whole import WholeGraph, unique

_NAMES = ("id", "key")
_NODES, _EDGES = ("nodes", "vertices"), ("links", "edges")
_COUNTS = re.compile(r"n|(?:n|num|number)_?(?:of_?)?(?:nodes|vertices)|(?:nodes?|vertex|vertices)_?count")
# Names of fields that have vertices or edges.
_TELLING = re.compile(r"(?:hyper|multi)?(?:nodes?|vertex|vertices|edges?|links?|arcs?)(?:_?(?:list|index))?|points"
                      r"|rel(?:ation(?:ship)?)?s|connections|neighbou?rs|adj(?:acen(?:t|cy))?(?:_?(?:matrix|lists?))?|matrix"
                      r"|children|targets|successors|isolat(?:ed|es)(?:_?(?:nodes|vertices))?|singletons")
_NESTED = ("attributes", "metadata", "properties")
_FLAGS = {"true": True, "yes": True, "1": True, "directed": True,
          "false": False, "no": False, "0": False, "undirected": False}
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")
_CYTOSCAPE = "a graph of Cytoscape"
_SHAPES = ("write nodes with an id, and links or edges with source and target, as networkx.node_link_data does, a list"
           " of edges, or the neighbours of each vertex")
_PAIRS_OF_ENDS = "write each edge as a list of its two ends, or as an object with source and target"


def graph_of_json(text: str, weighted: bool) -> WholeGraph:
    """The graph in a JSON document, or in one document per line.

    Parameters
    ----------
    text : str
        The document.
    weighted : bool
        Whether the user says that edges have weights.

    Raises
    ------
    JsonError
        For documents of another shape.
    ValueError
        For a text that is no JSON.
    """
    value = plain_graph(_parsed(text))
    flat = _of_elements(value.get("elements") if isinstance(value, dict) else value)
    if flat:
        value = {**value, "elements": flat} if isinstance(value, dict) else {"elements": flat}
    if isinstance(value, list):
        if value and all(map(_is_row_of_giraph, value)):
            arcs = [_both(row[0], other, [weight]) for row in value for other, weight in row[2]]
            return WholeGraph(unique([*(_end(row[0]) for row in value), *(arc[1] for arc in arcs)]), arcs, True)
        _refuse_rows(value)
        edges = _edges_of(value, weighted)
        return _with_directions(unique(end for edge in edges for end in edge[:2]), edges, value, None)
    if not isinstance(value, dict):
        raise JsonError("the JSON document is no graph", _SHAPES)
    return _of_object(_graph_in(value), weighted)


def _of_elements(items: Any) -> dict[str, Any]:
    """The nodes and edges in a flat list of Cytoscape.js; empty for other values."""
    if not isinstance(items, list) or not all(_inner(one) is not one for one in items):
        return {}
    ends = [{"source", "target"} <= _inner(one).keys() for one in items]
    nodes, edges = ([one for one, end in zip(items, ends, strict=True) if end is kind] for kind in (False, True))
    return {"nodes": nodes, "edges": edges} if nodes and edges else {}


def _is_row_of_giraph(row: Any) -> bool:
    """Whether this is [vertex, value, [[neighbour, weight], ...]], as Giraph writes it."""
    return isinstance(row, list) and len(row) == len(("vertex", "value", "arcs")) and isinstance(row[2], list) and all(
        isinstance(arc, list) and len(arc) == len(("neighbour", "weight")) for arc in row[2])


def _refuse_rows(value: list[Any]) -> None:
    """Raise JsonError for lists that may be rows of a matrix, or neighbours of vertices 0 or 1 and so on."""
    n = len(value)
    if all(isinstance(row, list) for row in value) and len(set(map(len, value))) > 1 and all(
            isinstance(end, int | str) for row in value for end in row):
        raise JsonError("the lists have different lengths, as if these were a vertex and its neighbours", "write nodes"
                        " and links, or the graph as an edge list")
    if n < 3 or not all(isinstance(row, list) and all(map(_is_whole, row)) for row in value):
        return
    bits = all(len(row) == n and set(row) <= {0, 1} for row in value)
    if bits or may_be_rows([list(map(str, row)) for row in value], True):
        raise JsonError("the lists may be edges, or the rows of a matrix or of neighbours", "write nodes and links, or"
                        " the graph as an edge list")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from name-value pairs. Raises JsonError for a name that occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise JsonError("an object has a name twice", "write each once")
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_float=float_or_decimal, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not error.msg.startswith("Extra data"):
            raise
        return [json.loads(line, parse_float=float_or_decimal, object_pairs_hook=_once) for line in lines]


def _field(value: dict[str, Any], names: Sequence[str]) -> str | None:
    """The field of an object that has one of the names, in any case; None without one. Raises JsonError for two."""
    found = [name for name in value if name.lower() in names]
    if len(found) > 1:
        raise JsonError(f"the JSON document has {found[0]}, and {found[1]} too", "keep one of the lists")
    return found[0] if found else None


def _graph_in(value: dict[str, Any]) -> dict[str, Any]:
    """The object with the edges: the document, or with its other fields the inner object of Cytoscape and the JSON
    Graph Format. Raises JsonError if both have edges."""
    outer = _field(value, _EDGES)
    for name in ("elements", "graph"):
        inner = value.get(name)
        within = _field(inner, _EDGES) if isinstance(inner, dict) else None
        if inner is None or within is None or (outer is not None and (value[outer] or not inner[within])):
            continue
        others = {other: field for other, field in value.items() if other != name and field != []}
        twice = [other for other in _NODES if other in others and other in inner]
        if outer is not None or twice:
            raise JsonError(f"{name!r} has {(twice or [within])[0]}, and the JSON document has some too",
                            "keep one of the lists")
        return {**others, _CYTOSCAPE: name == "elements", **inner}
    return value


def _of_object(value: dict[str, Any], weighted: bool) -> WholeGraph:
    of_edges, of_nodes = _field(value, _EDGES), _field(value, _NODES)
    if "adjacency" in value and of_edges is None:
        return _of_adjacency(value)
    neighbours = graph_of_neighbours(value) if of_edges is of_nodes is None else None
    if neighbours is not None:
        return WholeGraph(*neighbours, True)
    listed, nodes = value.get(of_edges or ""), value.get(of_nodes or "", [])
    if not isinstance(listed, list) or not isinstance(nodes, list | dict):
        raise JsonError("the JSON document has no list of links or edges, or of nodes", _SHAPES)
    names = list(nodes) if isinstance(nodes, dict) else [_node(entry) for entry in nodes]
    edges = _edges_of(listed, weighted)
    if names and all(name is None for name in names):  # D3: ends are places in the list of nodes
        wrong = [end for edge in edges for end in edge[:2] if not _is_whole(end) or not 0 <= end < len(names)]
        called = [entry.get("name") if isinstance(entry, dict) else None for entry in map(_inner, nodes)]
        if wrong and (None in called or not set(called).issuperset(wrong)):
            raise JsonError(f"nodes have no id, and {wrong[0]!r} is no place among them", _SHAPES)
        names = called if wrong else list(range(len(names)))
    elif None in names:
        raise JsonError("some nodes have an id and others have none", "give every node an id")
    elif value.get(_CYTOSCAPE) and all(isinstance(name, str) for name in names):  # the ids of Cytoscape are texts
        edges = [(str(src), str(dst), data) for src, dst, data in edges]
    ends = unique(end for edge in edges for end in edge[:2])
    _check_names(names, ends)
    _refuse_more(value, (of_edges, of_nodes), nodes, {*names, *ends})
    vertices = _counted(value, unique([*names, *ends]), bool(names))
    return _with_directions(vertices, edges, listed, _has_directions(value))


def _check_names(names: list[Any], ends: list[Any]) -> None:
    """Raise JsonError unless the ids of nodes and the ends of edges agree. An end may be a name that no node has,
    but no number if all ends may be places among the nodes."""
    known, all_ids, what = set(names), {*names, *ends}, ""
    others = [end for end in ends if end not in known] if known else []
    if len(known) < len(names):
        what = "two nodes have the same id"
    elif len(set(map(str, all_ids))) < len(all_ids) or (others and len(others) == len(ends)):
        what = "the ends of edges are not the ids of nodes"
    elif others and all(_is_whole(end) and 0 <= end <= len(names) for end in ends):
        what = f"{others[0]} is no id of a node, so that the ends of edges may be places among the nodes"
    if what:
        raise JsonError(what, "write the ids of nodes as the ends of edges")


def _refuse_more(value: dict[str, Any], used: Sequence[str | None], nodes: Any, ids: set[Any]) -> None:
    """Raise JsonError if another field of the document, or one of a node, may have vertices or edges."""
    for name, field in value.items():
        if name not in used and not (name == "graph" and used[1] is not None) and _has_parts(name, field, ids):
            raise JsonError(f"{name!r} may have vertices or edges too", "write them among the nodes and the edges, or"
                            f" remove {name!r}")
    for entry in map(_inner, nodes.values() if isinstance(nodes, dict) else nodes):
        for name, field in entry.items() if isinstance(entry, dict) else ():
            if _is_telling(name, field) and (any(isinstance(part, list | dict) for part in field)
                                             or not ids.isdisjoint(_scalars(field))):
                raise JsonError(f"{name!r} of a node may have edges", f"write them among the edges, or remove {name!r}")


def _is_telling(name: str, field: Any) -> bool:
    """Whether a field is not empty, and by its name has vertices or edges."""
    return isinstance(field, list | dict) and bool(field) and bool(_TELLING.fullmatch(name.lower()))


def _has_parts(name: str, field: Any, ids: set[Any]) -> bool:
    """Whether a field of the document may have vertices or edges by its name, or by its content."""
    if isinstance(field, dict):
        return _is_telling(name, field) or any(_is_telling(inner, part) or (inner in ids and isinstance(
            part, list) and part and ids.issuperset(_scalars(part))) for inner, part in field.items())
    return isinstance(field, list) and (_is_telling(name, field) or _may_be_more(field, ids))


def _may_be_more(items: list[Any], ids: set[Any]) -> bool:
    """Whether these may be edges, or vertices that are only partly known."""
    names = [next((entry[name] for name in (*_NAMES, "name") if name in entry), None) if isinstance(entry, dict) else
             entry for entry in map(_inner, items)]
    known = sum(isinstance(name, int | str) and name in ids for name in names)
    return 0 < known < len(items) or any(
        certain_pair(list(entry)) is not None if isinstance(entry, dict) else
        isinstance(entry, list) and len(entry) > 1 and ids.issuperset(_scalars(entry)) for entry in map(_inner, items))


def _scalars(value: Any) -> Iterator[int | str]:
    """All numbers and texts within a value."""
    if isinstance(value, list | dict):
        for each in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _scalars(each)
    elif isinstance(value, int | str):
        yield value


def _counted(value: dict[str, Any], vertices: list[Any], listed: bool) -> list[Any]:
    """The vertices with those that only a number of vertices in the document declares. listed : whether nodes are.
    Raises JsonError if the number is another one."""
    for name, n in value.items():
        if not _COUNTS.fullmatch(name.lower()) or not _is_whole(n) or n == len(vertices):
            continue
        if listed or not all(_is_whole(vertex) and 0 <= vertex <= n for vertex in vertices) or {0, n} <= set(vertices):
            raise JsonError(f"{name!r} is {n}, but there are {len(vertices)} vertices", "list all vertices as nodes")
        first = int(n in vertices)
        return list(range(first, n + first))
    return vertices


def _of_adjacency(value: dict[str, Any]) -> WholeGraph:
    """The graph in a document from networkx.adjacency_data."""
    names = [_node(entry) for entry in value.get("nodes", [])]
    rows = value["adjacency"]
    if not isinstance(rows, list) or len(rows) != len(names) or None in names:
        raise JsonError("the JSON document has not a row of neighbours for every node", _SHAPES)
    edges = [(name, _node(entry), _data(entry)) for name, row in zip(names, rows, strict=True) for entry in row]
    known = set(names)
    other = next((edge[1] for edge in edges if edge[1] not in known), None)
    if other is not None or len(known) < len(names):
        raise JsonError("two nodes have the same id" if other is None else f"the neighbour {other!r} is no node",
                        "list every node once")
    return WholeGraph(names, edges, _has_directions(value) is not False)


def _has_directions(entry: Any) -> bool | None:
    """Whether a document or an edge says that edges have directions, as networkx, graphology, Gephi and the JSON Graph
    Format say it; None if it does not say. Raises JsonError for other words."""
    if not isinstance(entry, dict):
        return None
    for name in ("undirected", "directed"):
        flag = entry.get(name)
        if isinstance(flag, str):
            if flag.lower() not in _FLAGS:
                raise JsonError(f"{name} is {flag[:80]!r}", "write true or false")
            flag = _FLAGS[flag.lower()]
        if flag is not None:
            return bool(flag) == (name == "directed")
    options = entry.get("options")
    kind = (options if isinstance(options, dict) else entry).get("type")
    return {"directed": True, "undirected": False}.get(kind.lower()) if isinstance(kind, str) else None


def _with_directions(nodes: list[Any], edges: list[Any], listed: list[Any], directed: bool | None) -> WholeGraph:
    """The graph; where some edges have a direction, the others go both ways. directed : what the document says."""
    own = [_has_directions(_inner(entry)) for entry in listed]
    arcs = [directed is not False if one is None else one for one in own]
    back = [(dst, src, data) for (src, dst, data), arc in zip(edges, arcs, strict=True) if not arc]
    return WholeGraph(nodes, edges + back if any(arcs) else edges, any(arcs))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _inner(entry: Any) -> Any:
    """The inner `data` of Cytoscape, or the entry itself."""
    return entry["data"] if isinstance(entry, dict) and isinstance(entry.get("data"), dict) else entry


def _node(entry: Any) -> Any:
    """The name of a node; None without a name."""
    entry = _inner(entry)
    if isinstance(entry, dict):
        return _end(next((entry[name] for name in _NAMES if name in entry), None))
    return _end(entry)


def _end(value: Any) -> Any:
    """The name of a vertex. Raises JsonError for an invalid one."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= 1 << 53:  # larger ones are rounded
        return int(value)
    if value is not None and (not isinstance(value, int | str) or isinstance(value, bool)):
        raise JsonError(f"{str(value)[:80]!r} is no id of a vertex", "ids are integers or texts")
    return value


def _edges_of(listed: list[Any], weighted: bool) -> list[tuple[Any, Any, Any]]:
    """The edges of a list. Raises JsonError for entries that are none, and for lists that may be something else."""
    edges = list(map(_edge, listed))
    lists = [entry for entry in map(_inner, listed) if isinstance(entry, list)]
    if len(set(map(len, lists))) > 1:
        raise JsonError("lists of different lengths may be neighbours or hyperedges", _PAIRS_OF_ENDS)
    heads, others = {entry[0] for entry in lists}, {entry[1] for entry in lists}
    if not weighted and heads.isdisjoint(others) and any(_is_whole(entry[-1]) and entry[-1] in heads
                                                         for entry in lists if len(entry) > 2):
        raise JsonError("the second number of a list may be the kind of an edge from the first to the third",
                        f"say --weights if the third is a weight, or {_PAIRS_OF_ENDS}")
    return edges


def _edge(entry: Any) -> tuple[Any, Any, Any]:
    """(source, target, attributes) of an edge; the attributes are an object, or a list with a weight or nothing."""
    entry = _inner(entry)
    if isinstance(entry, dict):
        names = tuple(entry)
        ends = _ends_among(names)
        if ends is not None:
            src, dst = (entry[names[place]] for place in ends)
            if len(names) > len(ends) and all(isinstance(end, str) and _DATE.fullmatch(end) for end in (src, dst)):
                raise JsonError(f"{names[ends[0]]} and {names[ends[1]]} may be times", _PAIRS_OF_ENDS)
            return _both(src, dst, _data(entry))
    elif isinstance(entry, list) and len(entry) == len(("src", "dst")):
        return _both(entry[0], entry[1], [])
    elif isinstance(entry, list) and len(entry) == len(("src", "dst", "data")):
        data = entry[2]
        if isinstance(data, dict):
            return _both(entry[0], entry[1], data)
        if data is None or (isinstance(data, int | float | Decimal) and not isinstance(data, bool)):
            return _both(entry[0], entry[1], [data])
    raise JsonError(f"{str(entry)[:80]!r} is no edge", _PAIRS_OF_ENDS)


@lru_cache
def _ends_among(names: tuple[str, ...]) -> tuple[int, int] | None:
    """The places of the names of the two ends, or None. Raises JsonError for two pairs of ends."""
    for pair in (certain_pair, weak_pair):
        found = pair(names)
        if found is not None:
            if any(pair([*names[:place], "", *names[place + 1 :]]) for place in found):
                raise JsonError(f"an edge has two pairs of ends ({', '.join(names)})", "keep one of them")
            return found
    return None


def _both(src: Any, dst: Any, data: Any) -> tuple[Any, Any, Any]:
    ends: Sequence[Any] = (_end(src), _end(dst))
    if None in ends:
        raise JsonError("an edge has no name of an end", "name both ends of every edge")
    return ends[0], ends[1], data


def _data(entry: Any) -> dict[str, Any]:
    """The attributes of an edge, also of an object within it."""
    entry = _inner(entry)
    if not isinstance(entry, dict):
        return {}
    data = {name: value for name, value in entry.items() if name not in ("source", "target", "id", "key", "from", "to")}
    for name in _NESTED:
        if isinstance(data.get(name), dict):
            data = {**data.pop(name), **data}
    return data


_DEFAULTS = ("node", "edge", "graph")
# Attributes whose names have another meaning in pydot, outside of quotes and comments.
_TAKEN = ("name", "src", "dst", "obj_dict", "self", "graph_name", "graph_type", "strict", "simplify",
          "suppress_disconnected")
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|(?<![\w.])(?:' + "|".join(_TAKEN) + r")(?=\s*=)",
                     re.DOTALL)
# Texts, comments and labels of HTML.
_ASIDE = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|^\s*#[^\n]*|<(?:[^<>]|<[^<>]*>)*>', re.DOTALL | re.MULTILINE)
_NO_BODY = re.compile(r"\bsubgraph\s++(?!\{)[^\s{};,\[\]]++(?!\s*+\{)", re.IGNORECASE)
_HEADS = re.compile(r'\bsubgraph\s+("(?:[^"\\]|\\.)*"|[^\s{"]+)\s*\{', re.IGNORECASE)


class DotError(Exception):
    """Raised for an invalid DOT text."""


def graph_of_dot(text: str, attribute: str | None) -> WholeGraph:
    """The graph of a DOT text. attribute : the edge attribute with the weights, None without. Raises DotError, and
    ImportError without pydot."""
    import pydot

    said = io.StringIO()  # pydot prints its errors
    with contextlib.redirect_stdout(said):
        try:
            graphs = pydot.graph_from_dot_data(_renamed(text))
        except (AttributeError, TypeError, ValueError, LookupError, RecursionError) as error:
            raise DotError(str(error)) from error
    if not graphs:
        raise DotError(said.getvalue().strip().splitlines()[-1] if said.getvalue().strip() else "it has no graph")
    if len(graphs) != 1:
        raise DotError(f"it has {len(graphs)} graphs, and each needs a file of its own")
    plain = _ASIDE.sub(lambda piece: "_" if piece[0][0] in '"<' else " ", text)
    directed = graphs[0].get_type() == "digraph"
    _check_text(plain, directed)
    if attribute and re.search(rf"\b{re.escape(attribute)}\s*=\s*[-+]?[\d.]+[A-Za-z_]", plain):
        raise DotError(f"{attribute} is a number before letters, which graphviz reads as two words: put it in quotes")
    names = [_name(name) for name in _HEADS.findall(text)]
    edges = list[tuple[Any, ...]]()
    for source, target, data in _edges(graphs[0].obj_dict, {}):
        again = next((end for end in (source, target) if isinstance(end, Mapping) and names.count(
            _name(end.get("name", ""))) > 1), None)
        if again is not None:
            raise DotError(f"an edge ends at the subgraph {again['name']}, which has several parts")
        if attribute is not None and attribute in data:
            data = {**data, attribute: _number(data[attribute])}
        edges += ((a, b, data) for a in _ends(source) for b in _ends(target))
    return WholeGraph(_ends(graphs[0].obj_dict), edges, directed)


def _check_text(plain: str, directed: bool) -> None:
    """Raise DotError for texts that pydot reads as another graph. plain : the text without comments, and with an
    underscore for each quoted name."""
    (kind, wrong), depth = ("digraph", "--") if directed else ("graph", "->"), 0
    if wrong in plain:
        raise DotError(f"an edge of a {kind} is written {wrong}, as graphviz refuses it")
    if _NO_BODY.search(plain):
        raise DotError("a subgraph is named without its statements, which stand elsewhere")
    for brace in re.finditer("[{}]", plain):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            if plain[brace.end() :].strip(" \t\r\n;"):
                raise DotError("there is text behind the closing brace of the graph")
            return


def _renamed(text: str) -> str:
    """The text with an underscore appended to the attributes in _TAKEN."""
    return _PIECES.sub(lambda piece: piece[0] + ("_" if piece[0] in _TAKEN else ""), text)


def _edges(graph: Mapping[str, Any], default: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Mapping[str, Any]]]:
    """Ends and attributes of all edges of a graph, or of a subgraph, in pydot's form. default : the attributes that
    edges have at its beginning."""
    several = (each for kind in ("nodes", "edges", "subgraphs") for each in graph.get(kind, {}).values())
    for statement in sorted((one for each in several for one in each), key=lambda one: one["sequence"]):
        if statement["type"] == "edge":
            for end in statement["points"]:
                if isinstance(end, Mapping):
                    yield from _edges(end, default)
            yield *statement["points"], {**default, **statement["attributes"]}
        elif statement["type"] != "node":
            yield from _edges(statement, default)
        elif statement["name"] == "edge":
            default = {**default, **statement["attributes"]}


def _ends(end: Any) -> list[str]:
    """The vertices at an end of an edge: one, or all of a subgraph."""
    if not isinstance(end, Mapping):
        return [_name(str(end))]
    names = [_name(name) for name in end.get("nodes", {}) if name not in _DEFAULTS]
    names += [name for pair in end.get("edges", {}) for each in pair for name in _ends(each)]
    names += [name for several in end.get("subgraphs", {}).values() for inner in several for name in _ends(inner)]
    return unique(names)


def _name(text: str) -> str:
    """A name without its quotes and its port."""
    if text.startswith('"'):
        behind = 1
        while behind < len(text) and text[behind] != '"':
            behind += 2 if text[behind] == "\\" else 1
        return text[1:behind].replace('\\"', '"')
    return text if text.startswith("<") else text.partition(":")[0]


def _number(text: Any) -> int | float | Decimal | None:
    """The weight in a text; None without a weight. Raises DotError unless it is a number."""
    if text is None:
        return None
    plain = str(text).strip('"')
    try:
        return int(plain) if plain.lstrip("+-").isdigit() else float_or_decimal(plain)
    except ValueError:
        raise DotError(f"the weight {plain!r} is no number") from None
