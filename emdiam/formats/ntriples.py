r"""N-Triples (RDF 1.1, W3C 2014): each triple whose object is a resource is an edge from its subject to its object.

The ids of vertices are the terms as written, IRIs without angle brackets. Triples with a literal as object are no
edges, and are counted. A fourth term (N-Quads) is ignored. An escape such as \u00e9 is its letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .base import FileSource
from .collected import Collector, TextLines
from .source import EdgeBatch, SourceInfo

_RESOURCE = r"(?:<[^<>\s]*>|_:\S+)"
_ESCAPE = re.compile(r"\\u(?![Dd][89A-Fa-f])([0-9A-Fa-f]{4})|\\U(00(?:0[1-9A-Fa-f]|10)[0-9A-Fa-f]{4})")
_TRIPLE = re.compile(rf"({_RESOURCE})\s*<[^<>\s]*>\s*(?:({_RESOURCE})|\"(?:[^\"\\]|\\.)*\"\S*)\s*(?:{_RESOURCE}\s*)?\."
                     r"\s*(?:#.*)?$")


class NtriplesSource(FileSource):
    """See the module."""

    format = "ntriples"
    takes_strings = True

    def _read_info(self) -> SourceInfo:
        if self.ids == "int":
            raise self.error("resources are names, not integers", remedy="leave out --ids int")
        if self.weights is not None:
            raise self.no_weights("triples have none")
        return self._facts(directed=True, id_kind="string")

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at a line that is no triple."""
        lines = TextLines(self, batch_bytes, ("#",))
        edges, literals = Collector(self, batch_bytes, lambda: {"line": lines.number}), 0
        for line in lines:
            triple = _TRIPLE.match(line)
            if triple is None:
                raise lines.error("a line that is no triple", line, "every line is a subject, a predicate, an object"
                                  " and a full stop")
            if triple[2] is None:
                literals += 1
                continue
            edges.edge(_name(triple[1]), _name(triple[2]), directed=True)
            if edges.full:
                yield from edges.take()
        yield from edges.take()
        self.dropped = {"triples whose object is a literal": literals}


def _name(term: str) -> str:
    """The resource of a term, with letters in place of their escapes."""
    if not term.startswith("<"):
        return term
    return _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), term[1:-1]) if "\\" in term else term[1:-1]
