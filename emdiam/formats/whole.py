"""Formats whose grammar does not fix the order of edges, so that a library reads the whole file: networkx for GML and
graph6, pydot for DOT, the standard library for JSON.

The memory for a file is estimated from its size before reading; a file that exceeds the budget is refused, with the
numbers. The graph stays in memory, and its edges are yielded in batches.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

import numpy as np

from ..errors import BudgetError, InputError
from ..units import default_memory_bytes, format_size, program_rss_bytes
from .base import MAX_ID, FileSource
from .digits import SHORT, float_or_decimal
from .in_memory import NodesSource
from .source import EdgeBatch, SourceInfo

EXTRA = "pip install 'emdiam[formats]'"
SORT_BYTES = 128 << 20
"""What a conversion takes beside the graph."""
JITTER_BYTES = 16 << 20
"""By how much one process may be larger than another of the same command."""
_READ_BYTES = 1 << 20
_VERTEX_BYTES = 500  # bytes of a vertex in a networkx graph
_FEW_EDGES, _FEW_NAMES = 100, 8
_LEAST_CODE, _ESCAPE = 63, 63  # for bytes of graph6
_GRAPH6_MARK = re.compile(rb"\A>>(?:graph6|sparse6|digraph6)<<")


@dataclass(frozen=True)
class WholeGraph:
    """A graph in memory. nodes : of any hashable type. edges : (source, target, attributes); these are a mapping, or a
    list with a weight or nothing. directed : whether edges have directions."""

    nodes: Sequence[Any]
    edges: Sequence[tuple[Any, ...]]
    directed: bool


class HeldSource(FileSource):
    """A file whose whole graph is in memory, as `_edges`, after `_read_info`."""

    _edges: Any = None
    _names: Any = None

    def _room(self) -> tuple[int, int]:
        """(bytes in use beside the graph, bytes of the budget that the graph may use)."""
        memory, taken = self.wishes.memory_bytes or default_memory_bytes(), program_rss_bytes() + SORT_BYTES
        return taken, max(0, memory - taken)

    def _check_room(self, what: str, size: int, otherwise: str = "") -> None:
        """Raise BudgetError if `size` bytes do not fit in the budget. what : their name. otherwise : another remedy."""
        taken, room = self._room()
        if size > room:
            raise BudgetError(f"{what} take about {format_size(size)} of memory, but {format_size(room)} are free",
                              path=self.name, remedy=f"give --memory {((taken + size + JITTER_BYTES) >> 20) + 1}MiB or"
                              f" more{otherwise}")

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource."""
        self.info()
        names = self._names
        if names is not None:
            self.declared = len(names)
            yield EdgeBatch(names, names, None if self.weights is None else np.zeros(len(names)), declares=True)
        try:
            for batch in self._edges.batches(batch_bytes):
                yield batch if names is None else EdgeBatch(
                    names.take(batch.src), names.take(batch.dst), batch.weights)
        except InputError as error:
            if error.path is not None:
                raise
            raise self.error(error.what, text=error.text, remedy=error.remedy) from None
        after = self._edges.info()
        self.dropped, self.weight_kind = dict(after.dropped), after.weights


class WholeSource(HeldSource):
    """See the module. memory_factor : bytes in memory per byte of the file. package : the library that reads it."""

    takes_strings = takes_columns = True
    memory_factor: ClassVar[int]
    package: ClassVar[str] = ""

    def _read_info(self) -> SourceInfo:
        with self._package_is_there():
            graph = self._graph(self._whole())
        labels, edges = self._labels(graph.nodes), self._weighed(graph.edges)
        self._edges = NodesSource(self.format, graph.nodes, lambda: edges, len(edges), graph.directed, labels,
                                  self.weights)
        if self._edges.labels is not None:  # answers would have places in their stead
            odd = next((node for node in graph.nodes if not isinstance(node, int) or not 0 <= node <= MAX_ID),
                       graph.nodes[0])
            raise self.error("ids have to be natural numbers below 2^63, or texts without exception", text=str(odd),
                             remedy="keep ids as they are written with --ids string")
        info = replace(self._edges.info(), size_bytes=self.input.size_bytes, format=self.format,
                       weight_name="" if self.weights is None else self._attribute())
        if not self.by_ids or info.labels is None:
            return info
        self._names = info.labels
        kind = "int" if isinstance(info.labels, np.ndarray) else "string"
        return replace(info, n_vertices=None, labels=None, id_kind=kind)

    def _weighed(self, edges: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
        """The edges in the form for NodesSource: with weights instead of attributes, if weights are kept. Raises
        InputError if no edge has the attribute, but some have others that are numbers."""
        if self.weights is None:
            return edges
        name = self._attribute()
        found = [(*edge[:2], _weight(edge[2], name)) for edge in edges]
        if all(edge[2] is None for edge in found):
            others = unique(other for edge in edges[:_FEW_EDGES] for other in _numbers(edge[2]))
            if others:
                raise self.error(f"its edges have no attribute {name}; they have {', '.join(others[:_FEW_NAMES])}",
                                 remedy=f"name one, as in --weights={others[0]}")
        return found

    def _labels(self, nodes: Sequence[Any]) -> Sequence[Any] | None:
        """The labels of the vertices if the user sets the kind of ids; None: the nodes themselves."""
        if self.ids == "string":
            return [str(node) for node in nodes]
        wrong = [node for node in nodes if not isinstance(node, int)] if self.ids == "int" else []
        if wrong:
            raise self.error("an id is no integer", text=str(wrong[0]), remedy="leave out --ids int")
        return None

    @contextmanager
    def _package_is_there(self) -> Iterator[None]:
        try:
            yield
        except ImportError as error:
            raise self.error(f"format {self.format} is read by {self.package}, which is not installed",
                             remedy=f"{EXTRA}, or write it as GraphML or as an edge list") from error

    def _whole(self) -> bytes:
        """The bytes of the file. Raises BudgetError if they do not fit in memory."""
        most, pieces, size = self._room()[1] // self.memory_factor, list[bytes](), 0
        with self.input.text() as stream:
            while piece := stream.read(_READ_BYTES):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    size = max(size, 0 if self.input.compression else self.input.size_bytes or 0)
                    self._check_room(f"{self.format} is read whole, and {format_size(size)} of it",
                                     size * self.memory_factor, ", or write it as GraphML or as an edge list,"
                                     " which are read in pieces")
        return b"".join(pieces)

    @abstractmethod
    def _graph(self, data: bytes) -> WholeGraph:
        """The graph in the bytes of the file. Raises InputError."""

    def _attribute(self) -> str:
        """The name of the attribute with the weights."""
        return (self.weights.column if self.weights is not None else "") or "weight"

    def _text(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise self.error("the file is not UTF-8 text", byte=error.start,
                             remedy="name its encoding with --encoding") from error

    def _refused(self, error: Exception) -> InputError:
        """The InputError for an error of a library."""
        why = " ".join(str(error).split())[:200]
        return self.error(f"this cannot be read as {self.format} ({why or type(error).__name__})",
                          remedy="mend the file, or write the graph as an edge list")


def _weight(data: Any, name: str) -> Any:
    """The weight among the attributes of an edge, None without one."""
    return data.get(name) if isinstance(data, Mapping) else next(iter(data), None)


def _numbers(data: Any) -> Iterator[str]:
    """The names of attributes whose values are numbers."""
    for name, value in data.items() if isinstance(data, Mapping) else ():
        with suppress(ValueError, InvalidOperation):
            if not isinstance(value, bool | list | tuple | dict | None):
                Decimal(str(value).strip('"'))
                yield name


# Texts, and reals of GML (which networkx converts to floats), also without a point, which it would cut at the exponent.
_LONG = re.compile(r'"[^"]*"|[+-]?[0-9]*\.[0-9]*(?:[Ee][+-]?[0-9]+)?|(?<=[ \t])[+-]?[0-9]+[Ee][+-]?[0-9]+(?=[\s\]])')
_GML_LISTS = re.compile(r'"[^"]*"|#[^\n]*|(?:\b([A-Za-z]\w*)(?:\s|#[^\n]*\n)*+)?([\[\]])')
_GML_PARTS = re.compile(r"graphs?|nodes?|vert(?:ex|ices)|(?:hyper)?edges?|arcs?|links?")
_MARK = "\ue000"


def _marked(found: re.Match[str]) -> str:
    """A real with many digits, marked as a text for `_number`; other matches unchanged."""
    text = found[0]
    short = len(text) <= SHORT and "." in text
    return text if text.startswith('"') or short else f'"{_MARK}{text}"'


def _number(text: str) -> float | Decimal:
    """The number in a marked text. Raises ValueError for other texts."""
    if not text.startswith(_MARK):
        raise ValueError
    return float_or_decimal(text.removeprefix(_MARK))


class GmlSource(WholeSource):
    """GML (Himsolt 1997). The labels of vertices are their ids."""

    format, package, memory_factor = "gml", "networkx", 60

    def _graph(self, data: bytes) -> WholeGraph:
        import networkx as nx

        text = self._text(data)
        at = self._start(text)
        if "multigraph" not in text[at : at + 200]:
            text = f"{text[:at]} multigraph 1 {text[at:]}"  # networkx refuses parallel edges otherwise
        try:
            graph = nx.parse_gml(_LONG.sub(_marked, text).splitlines(), label="id", destringizer=_number)
        except (nx.NetworkXException, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise self._refused(error) from error
        return _of_networkx(graph)


    def _start(self, text: str) -> int:
        """The place behind the first bracket of the graph. Raises InputError for a node, an edge or a graph whose key
        or place networkx passes over."""
        depth, start, graph = 0, 0, False
        for found in _GML_LISTS.finditer(text):
            key = (found[1] or "").lower() if found[2] == "[" else ""
            right = (depth == 0 and found[1] == "graph") or (depth == 1 and graph and found[1] in ("node", "edge"))
            if _GML_PARTS.fullmatch(key) and not right:
                raise self.error(f"a list {found[1]} [ at a place or with letters that GML does not have",
                                 line=text.count("\n", 0, found.start()) + 1,
                                 remedy="write node [ and edge [ within graph [, in small letters")
            graph = key == "graph" if depth == 0 else graph
            start = found.end() if key == "graph" else start
            depth += {"[": 1, "]": -1}.get(found[2], 0)
        return start


class Graph6Source(WholeSource):
    """graph6, sparse6 and digraph6 (McKay), one graph per file. Vertices are 0 to n - 1."""

    format, package, memory_factor = "graph6", "networkx", 2500

    def _graph(self, data: bytes) -> WholeGraph:
        import networkx as nx

        lines = data.split()
        if len(lines) > 1 and _GRAPH6_MARK.fullmatch(lines[0]):
            lines[:2] = [lines[0] + lines[1]]
        if len(lines) != 1:
            raise self.error(f"the file has {len(lines):,} graphs", remedy="give each a file of its own")
        if self.weights is not None:
            raise self.no_weights("graph6 has none")
        line = _GRAPH6_MARK.sub(b"", lines[0])
        self._check_vertices(_vertices_of(line))
        try:
            if lines[0].startswith((b">>digraph6<<", b"&")):
                return _digraph6(line.removeprefix(b"&"))
            sparse = lines[0].startswith((b">>sparse6<<", b":"))
            graph = (nx.from_sparse6_bytes if sparse else nx.from_graph6_bytes)(lines[0])
        except (nx.NetworkXException, ValueError, IndexError, TypeError, StopIteration) as error:
            raise self._refused(error) from error
        return _of_networkx(graph)

    def _check_vertices(self, count: int) -> None:
        """Raise BudgetError if `count` vertices do not fit in memory; a few bytes can declare any number."""
        self._check_room(f"{count:,} vertices", count * _VERTEX_BYTES, ", or write it as an edge list")


def _vertices_of(line: bytes) -> int:
    """The number of vertices at the beginning of graph6 or sparse6, in one, three or six bytes; 0 if it is cut."""
    codes = [code - _LEAST_CODE for code in line.lstrip(b":&")[:8]]
    escapes = next((i for i, code in enumerate(codes[:2]) if code != _ESCAPE), 2)
    digits = codes[escapes : escapes + (1, 3, 6)[escapes]]
    return sum(digit << 6 * place for place, digit in enumerate(reversed(digits)))


def _digraph6(line: bytes) -> WholeGraph:
    """The graph in a line of digraph6, which networkx cannot read: rows of bits of its matrix, six per byte. Raises
    ValueError."""
    import numpy as np

    n = _vertices_of(line)
    codes = np.frombuffer(line[1 if n < _ESCAPE else 4 if n < 1 << 18 else 8 :], np.uint8) - _LEAST_CODE
    if len(codes) != -(-n * n // 6) or codes.max(initial=0) > _ESCAPE:
        raise ValueError(f"{len(codes):,} bytes of a matrix of {n:,} vertices")
    bits = np.unpackbits(codes[:, None], axis=1)[:, 2:].reshape(-1)
    if bits[n * n :].any():
        raise ValueError(f"bits behind the matrix of {n:,} vertices")
    src, dst = np.divmod(np.flatnonzero(bits), n)
    return WholeGraph(range(n), [(*arc, {}) for arc in zip(src.tolist(), dst.tolist(), strict=True)], True)


def _of_networkx(graph: Any) -> WholeGraph:
    """The WholeGraph of a networkx graph."""
    return WholeGraph(list(graph), list(graph.edges(data=True)), graph.is_directed())


_OF_PYTHON = 200  # bytes in memory per byte of text


class JsonSource(WholeSource):
    """JSON, or a value that Python prints: nodes with links or edges, as from D3, networkx, Cytoscape, vis.js and
    graphology; a list of edges; an edge in each line; or the neighbours of each vertex."""

    format, memory_factor = "json", 25

    def _graph(self, data: bytes) -> WholeGraph:
        from .json_neighbours import JsonError, is_of_python, json_of_python
        from .text_graphs import graph_of_json

        text = self._text(data)
        try:
            if is_of_python(text):
                self._check_room("the values of Python in it", _OF_PYTHON * len(data))
                text = json_of_python(text)
            return graph_of_json(text, self.weights is not None)
        except JsonError as error:
            raise self.error(str(error.args[0]), remedy=error.args[1]) from error
        except (ValueError, RecursionError) as error:
            raise self._refused(error) from error


class DotSource(WholeSource):
    """Graphviz DOT. The labels of vertices are their names without quotes and ports."""

    format, package, memory_factor = "dot", "pydot", 400

    def _graph(self, data: bytes) -> WholeGraph:
        from .text_graphs import DotError, graph_of_dot

        try:
            return graph_of_dot(self._text(data), None if self.weights is None else self._attribute())
        except DotError as error:
            raise self._refused(error) from error


def unique(nodes: Iterable[Any]) -> list[Any]:
    """The nodes without duplicates, in the order of their first occurrence."""
    return list(dict.fromkeys(nodes))
