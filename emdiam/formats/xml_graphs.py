"""GraphML and GEXF, read by the expat of the standard library as a stream of tags.

(GraphML: Brandes, Eiglsperger, Lerner, Pich, "Graph Markup Language", 2010; GEXF 1.2 and 1.3: gexf.net.) The label of a
vertex is the attribute `id` of its tag, also for vertices without edges. The tag of an edge decides whether it has a
direction, else the tag of the graph. Declared entities are refused, since a few lines of them can expand to any amount
of text. No tag may be longer than 16 MiB.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from .base import FileSource
from .collected import Collector
from .source import EdgeBatch, SourceInfo
from .weights import NAMES, WHOLE

_CHUNK_BYTES = 1 << 18
_LONGEST_TAG = 16 << 20
_LONGEST_TEXT = 1 << 12
_GEXF_WEIGHTS = ("weight", "cardinal")
_PARTS = frozenset(("graph", "node", "edge", "hyperedge"))
_LIKE_PARTS = frozenset(("vertex", "arc", "link"))
_ASIDE = frozenset(("data", "desc", "default", "attvalue"))  # tags that have no part of a graph within them
_DIRECTIONS = {"directed": True, "true": True, "1": True, "undirected": False, "false": False, "0": False,
               "mutual": False}
_REMEDY = "fetch or write the file again"


@dataclass
class _Edge:
    """An edge whose tag is open. weight : its text, if already known."""

    src: str | None
    dst: str | None
    directed: bool
    weight: str | None


class _Tags:
    """A handler for the tags of one document; the shared base of both formats.

    collector : receives vertices and edges. source : its `weights` name the weights to keep ("" for the usual ones;
    None: no weights).
    """

    def __init__(self, source: XmlSource, collector: Collector) -> None:
        self._source, self._collector = source, collector
        self._column = None if source.weights is None else source.weights.column
        self._graphs = 0
        self._open = list[str]()  # the tags that are open; "" for those of other namespaces and within them
        self._arcs = list[bool | None]()  # for open graphs: whether edges are directed, None if it does not say
        self._keys, self._names = set[str](), list[str]()
        self._default: str | None = None
        self._edges = list[_Edge]()  # that are open; a graph within an edge has edges too
        self._text: list[str] | None = None
        self.n_weights = 0

    def _is_weight(self, name: str | None) -> bool:
        """Whether the attribute with this name has the weights."""
        if not self._column:
            return (name or "").strip().lower() in NAMES
        return name == self._column

    def start_tag(self, name: str, values: dict[str, str]) -> None:
        """Handle the start of a tag. Raises InputError for a graph, node or edge at another place than in a graph."""
        prefix, _, tag = name.lower().rpartition(":")
        if self._text is not None and self._column is not None:
            raise self._source.error(f"a tag {name} is within a weight", remedy="write the number of the weight alone")
        if not self._open:
            self._root = prefix, values.get("xmlns")
        foreign = (prefix, values.get("xmlns", self._root[1])) != self._root or self._open[-1:] == [""]
        if tag in _LIKE_PARTS and self._arcs and not foreign:
            raise self._source.error(f"a tag {name}, which {self._source.format} does not have", remedy="write node or"
                                     " edge for it")
        if tag in _PARTS and not (foreign and "data" in self._open) and (
                foreign or not _ASIDE.isdisjoint(self._open) or not (self._arcs or tag == "graph")):
            raise self._source.error(f"a tag {name} within data, outside of a graph or of another namespace",
                                     remedy="remove it, or write it within the graph as its other tags")
        if not foreign:
            self.start(tag, values)
        self._open.append("" if foreign else tag)

    def end_tag(self) -> None:
        """Handle the end of a tag."""
        self.end(self._open.pop())

    def open_graph(self, directions: str | None) -> None:
        """Handle the tag of a graph. A graph inside another is a part of it; a second one beside it is refused.
        directions : the word of the tag for those of its edges."""
        if not self._arcs:
            self._graphs += 1
            if self._graphs > 1:
                raise self._source.error("the document has several graphs", remedy="give each a file of its own")
        self._arcs.append(_DIRECTIONS.get((directions or "").strip().lower()))

    def close_graph(self) -> None:
        """Handle the end of a graph."""
        self._arcs.pop()

    def open_edge(self, values: dict[str, str], directions: str | None, weight: str | None) -> None:
        """Handle the tag of an edge. directions : its own word. Raises InputError if directions are to be kept, and
        that is no known word, or the edge and its graph have none."""
        word = None if directions is None else directions.strip().lower()
        directed = self._arcs[-1] if word is None else _DIRECTIONS.get(word)
        if directed is None and self._source.wishes.directed:
            raise self._source.error("whether an edge has a direction is not said", text=directions, remedy="write"
                                     " directed or undirected for it or its graph, or leave out --directed")
        self._edges.append(_Edge(values.get("source"), values.get("target"), bool(directed), weight))

    def close_edge(self) -> None:
        """Handle the end of an edge, whose weight is now known."""
        edge = self._edges.pop()
        weight = edge.weight if edge.weight is not None else self._default
        if weight is None and self._column is not None and not self._keys:
            names = list(filter(None, self._names))
            raise self._source.error(f"its edges have no attribute {self._column or 'weight'}; they have "
                                     f"{', '.join(names) or 'none'}", remedy=f"name one, as in --weights={names[0]}"
                                     if names else "leave out --weights")
        self._collector.edge(edge.src, edge.dst, weight, directed=edge.directed)
        self.n_weights += edge.weight is not None

    def _is_in_edge(self) -> bool:
        """Whether the open tags are of an edge, not of a node within it."""
        return next((tag for tag in reversed(self._open) if tag in ("node", "edge")), "") == "edge"

    def weigh(self, weight: str | None) -> None:
        """Give the open edge its weight. Raises InputError if it has one."""
        if self._edges[-1].weight is not None and self._column is not None:
            raise self._source.error("an edge has several weights, perhaps at several times",
                                     remedy="keep one for each edge")
        self._edges[-1].weight = weight

    def text(self, data: str) -> None:
        """Collect a piece of the text between tags."""
        if self._text is not None and sum(map(len, self._text)) < _LONGEST_TEXT:
            self._text.append(data)

    def taken_text(self) -> str:
        """The collected text; ends the collection."""
        text, self._text = "".join(self._text or []), None
        return text

    @abstractmethod
    def start(self, tag: str, values: dict[str, str]) -> None:
        """Handle the start of a tag; its name has no namespace, and is in lower case."""

    def end(self, tag: str) -> None:
        """Handle the end of a tag."""
        if tag == "edge":
            self.close_edge()
        elif tag == "graph":
            self.close_graph()


class _GraphmlTags(_Tags):
    def __init__(self, source: XmlSource, collector: Collector) -> None:
        super().__init__(source, collector)
        self._declared = list[tuple[str, str]]()  # (id, name) of the attributes of edges
        self._defaults = dict[str, str]()
        self._key: str | None = None

    def start(self, tag: str, values: dict[str, str]) -> None:
        if tag == "graph":
            self._choose()
            self.open_graph(values.get("edgedefault"))
        elif tag == "node":
            self._collector.vertex(values.get("id"))
        elif tag == "edge":
            self.open_edge(values, values.get("directed"), None)
        elif tag == "hyperedge":
            raise self._source.error("the document has hyperedges, which join any number of vertices",
                                     remedy="replace them by edges")
        elif tag == "key" and values.get("for", "all") in ("edge", "all"):
            self._key = values.get("id", "")
            self._declared.append((self._key, values.get("attr.name", self._key)))
        elif (tag == "data" and values.get("key") in self._keys and self._is_in_edge()) or (
                tag == "default" and self._key is not None):
            self._text = []

    def _choose(self) -> None:
        """Choose the attribute of weights among the declared ones. Raises InputError for several."""
        self._names = [name for _, name in self._declared]
        found = [(key, name) for key, name in self._declared if self._is_weight(name)] or [
            (key, name) for key, name in self._declared if self._is_weight(key)]
        if len(found) > 1 and self._column is not None:
            alike = len({name for _, name in found}) < len(found)
            both = [key if alike else name for key, name in found]
            raise self._source.error(f"its edges have several attributes of weights ({', '.join(both)})",
                                     remedy=f"name one, as in --weights={both[-1]}")
        self._keys = {key for key, _ in found}
        self._default = next((self._defaults[key] for key in self._keys if key in self._defaults), None)

    def end(self, tag: str) -> None:
        super().end(tag)
        if tag == "key":
            self._key = None
        elif tag == "default" and self._text is not None and self._key is not None:
            self._defaults[self._key] = self.taken_text()
        elif tag == "data" and self._text is not None:
            self.weigh(self.taken_text())


class _GexfTags(_Tags):
    _of_edges = _in_key = _own = False

    def start(self, tag: str, values: dict[str, str]) -> None:
        if tag == "graph":
            self.open_graph(values.get("defaultedgetype", "undirected"))
        elif tag == "node":
            self._collector.vertex(values.get("id"))
        elif tag == "attributes":
            self._of_edges = values.get("class") == "edge"
        elif tag == "attribute" and self._of_edges:
            self._names.append(values.get("title", ""))
            if self._column is not None and self._is_weight(values.get("title")):
                self._keys.add(values.get("id", ""))
                self._in_key = True
        elif tag == "default" and self._in_key:
            self._text = []
        elif tag == "edge":
            own = values.get("weight", values.get("cardinal"))  # the latter in version 1.0
            if self._column:
                own = own if self._column in _GEXF_WEIGHTS else None
            elif self._column is not None and own is None and not self._keys:
                own = "1"  # the weight of an edge without this attribute
            self._own = own is not None
            self.open_edge(values, values.get("type"), own)
        elif tag == "attvalue" and not self._own and values.get("for") in self._keys and self._is_in_edge():
            self.weigh(values.get("value"))

    def end(self, tag: str) -> None:
        super().end(tag)
        if tag == "default" and self._text is not None:
            self._default = self.taken_text()
        self._in_key = self._in_key and tag != "attribute"


class XmlSource(FileSource):
    """See the module."""

    takes_strings = takes_columns = True
    tags: type[_Tags]

    def _read_info(self) -> SourceInfo:
        return self._facts(directed=True, id_kind="int" if self.ids == "int" else "string", all_declared=True,
                           weights="" if self.weights is None else WHOLE,
                           weight_name="" if self.weights is None else self.weights.column)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with the line for an invalid document."""
        with self.input.text() as stream:
            parser = expat.ParserCreate("utf-8" if self.input.encoding else None)
            collector = Collector(self, batch_bytes, lambda: {"line": parser.CurrentLineNumber})
            tags = self.tags(self, collector)
            self._attach(parser, tags)
            fed, more = 0, True
            while more:
                data = stream.read(min(_CHUNK_BYTES, max(1 << 12, batch_bytes // 16)))
                more, fed = bool(data), fed + len(data)
                self._feed(parser, data)
                if fed - max(0, parser.CurrentByteIndex) > _LONGEST_TAG:
                    raise self.error(f"no tag ends within {_LONGEST_TAG >> 20} MiB", line=parser.CurrentLineNumber,
                                     remedy=_REMEDY)
                if collector.full or not more:
                    yield from collector.take() if more else collector.last()
        self.dropped = {"weights": tags.n_weights if self.weights is None else 0}

    def _attach(self, parser: Any, tags: _Tags) -> None:
        """Connect the parser to the handlers of `tags`."""
        def refuse_entity(name: str, *_: object) -> None:
            raise self.error("the document declares an entity, which may stand for any amount of text", text=name,
                             line=parser.CurrentLineNumber, remedy="write it without entities of its own")

        parser.StartElementHandler = tags.start_tag
        parser.EndElementHandler = lambda _: tags.end_tag()
        parser.CharacterDataHandler = tags.text
        parser.EntityDeclHandler = refuse_entity

    def _feed(self, parser: Any, data: bytes) -> None:
        try:
            parser.Parse(data, not data)
        except expat.ExpatError as error:
            coded = error.code == expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN] and not self.input.encoding
            raise self.error(f"this is no {self.format} document ({expat.ErrorString(error.code)})", line=error.lineno,
                             remedy=_REMEDY + ", or name its encoding, as in --encoding latin-1" * coded) from error
        except (ValueError, LookupError) as error:  # an unknown declared encoding
            raise self.error(f"this is no {self.format} document ({error})", remedy=_REMEDY) from error


class GraphmlSource(XmlSource):
    """GraphML."""

    format = "graphml"
    tags = _GraphmlTags


class GexfSource(XmlSource):
    """GEXF."""

    format = "gexf"
    tags = _GexfTags
