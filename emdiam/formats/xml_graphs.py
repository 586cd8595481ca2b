"""GraphML and GEXF, read by the expat of the standard library as a stream of tags.

(GraphML: Brandes, Eiglsperger, Lerner, Pich, "Graph Markup Language", 2010; GEXF 1.2 and 1.3: gexf.net.) The label of a
vertex is the attribute `id` of its tag, also for vertices without edges. The tag of an edge decides whether it has a
direction, else the tag of the graph. Declared entities are refused, since a few lines of them can expand to any amount
of text. No tag may be longer than 16 MiB.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from .base import FileSource
from .collected import Collector
from .source import EdgeBatch, SourceInfo
from .weights import NAMES, WHOLE

_CHUNK_BYTES = 1 << 18
_LONGEST_TAG = 16 << 20
_LONGEST_TEXT = 1 << 12
_GEXF_WEIGHT = "weight"
_REMEDY = "fetch or write the file again"


class _Tags:
    """A handler for the tags of one document; the shared base of both formats.

    collector : receives vertices and edges. source : its `weights` name the weights to keep ("" for the usual ones;
    None: no weights).
    """

    def __init__(self, source: XmlSource, collector: Collector) -> None:
        self._source, self._collector = source, collector
        self._column = None if source.weights is None else source.weights.column
        self._graphs = 0
        self._arcs = list[bool]()  # for open graphs: whether edges are directed
        self._keys, self._names = set[str](), list[str]()
        self._default: str | None = None
        self._edge: tuple[str | None, str | None, bool] | None = None
        self._weight: str | None = None
        self._text: list[str] | None = None
        self.n_weights = 0

    def _is_weight(self, name: str | None) -> bool:
        """Whether the attribute with this name has the weights."""
        if not self._column:
            return (name or "").strip().lower() in NAMES
        return name == self._column

    def open_graph(self, arcs: bool) -> None:
        """Handle the tag of a graph. A graph inside another is a part of it; a second one beside it is refused."""
        if not self._arcs:
            self._graphs += 1
            if self._graphs > 1:
                raise self._source.error("the document has several graphs", remedy="give each a file of its own")
        self._arcs.append(arcs)

    def close_graph(self) -> None:
        """Handle the end of a graph."""
        self._arcs.pop()

    def open_edge(self, src: str | None, dst: str | None, directed: bool, weight: str | None) -> None:
        """Handle the tag of an edge."""
        self._edge, self._weight = (src, dst, directed), weight

    def close_edge(self) -> None:
        """Handle the end of an edge, whose weight is now known."""
        if self._edge is not None:
            src, dst, directed = self._edge
            weight = self._weight if self._weight is not None else self._default
            if weight is None and self._column is not None and not self._keys:
                raise self._source.error(f"its edges have no attribute {self._column or 'weight'}; they have "
                                         f"{', '.join(filter(None, self._names)) or 'none'}",
                                         remedy="name the attribute that has the weights, or keep no weights")
            self._collector.edge(src, dst, weight, directed=directed)
            self.n_weights += self._weight is not None
            self._edge = None

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
        """Handle the start of a tag; its name has no namespace."""

    def end(self, tag: str) -> None:
        """Handle the end of a tag."""
        if tag == "edge":
            self.close_edge()
        elif tag == "graph":
            self.close_graph()
        elif tag == "default" and self._text is not None:
            self._default = self.taken_text()


class _GraphmlTags(_Tags):
    def start(self, tag: str, values: dict[str, str]) -> None:
        if tag == "graph":
            self.open_graph(values.get("edgedefault") == "directed")
        elif tag == "node":
            self._collector.vertex(values.get("id"))
        elif tag == "edge":
            self.open_edge(values.get("source"), values.get("target"),
                           values.get("directed", "true" if self._arcs[-1] else "false") in ("true", "1"), None)
        elif tag == "hyperedge":
            raise self._source.error("the document has hyperedges, which join any number of vertices",
                                     remedy="replace them by edges")
        elif tag == "key" and values.get("for", "all") in ("edge", "all"):
            name = values.get("attr.name", values.get("id", ""))
            self._names.append(name)
            if self._is_weight(name):
                self._key = values.get("id", "")
                self._keys.add(self._key)
                if len(self._keys) > 1 and self._column is not None:
                    raise self._source.error(f"its edges have several attributes of weights ({', '.join(self._names)})",
                                             remedy=f"name one, as in --weights={name}")
        elif (tag == "data" and self._edge is not None and values.get("key") in self._keys) or (
                tag == "default" and self._key is not None):
            self._text = []

    _key: str | None = None

    def end(self, tag: str) -> None:
        super().end(tag)
        if tag == "key":
            self._key = None
        elif tag == "data" and self._text is not None:
            self._weight = self.taken_text()


class _GexfTags(_Tags):
    _of_edges = _in_key = _own = False

    def start(self, tag: str, values: dict[str, str]) -> None:
        if tag == "graph":
            self.open_graph(values.get("defaultedgetype", "undirected") == "directed")
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
            kind = values.get("type", "directed" if self._arcs[-1] else "undirected")
            own = values.get("weight")
            if self._column:
                own = own if self._column == _GEXF_WEIGHT else None
            elif self._column is not None and own is None and not self._keys:
                own = "1"  # the weight of an edge without this attribute
            self._own = own is not None
            self.open_edge(values.get("source"), values.get("target"), kind == "directed", own)
        elif tag == "attvalue" and self._edge is not None and values.get("for") in self._keys and not self._own:
            if self._weight is not None:
                raise self._source.error("an edge has several weights, perhaps at several times",
                                         remedy="keep one for each edge")
            self._weight = values.get("value")

    def end(self, tag: str) -> None:
        super().end(tag)
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
                    yield from collector.take()
        self.dropped = {"weights": tags.n_weights if self.weights is None else 0}

    def _attach(self, parser: Any, tags: _Tags) -> None:
        """Connect the parser to the handlers of `tags`."""
        def local(name: str) -> str:
            return name.rpartition(":")[2]

        def refuse_entity(name: str, *_: object) -> None:
            raise self.error("the document declares an entity, which may stand for any amount of text", text=name,
                             line=parser.CurrentLineNumber, remedy="write it without entities of its own")

        parser.StartElementHandler = lambda name, values: tags.start(local(name), values)
        parser.EndElementHandler = lambda name: tags.end(local(name))
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
