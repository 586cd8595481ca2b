"""UCINET DL: a header with n and the form of the data, then a matrix, a list of edges, or lists of neighbours.

(Borgatti, Everett, Freeman, "Ucinet for Windows", DL files.) Supported are the forms fullmatrix, edgelist1 and
nodelist1 with one relation and one mode. Vertices have labels, above the data or embedded in them, or else numbers from
1 to n.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from ..units import format_count
from .base import FileSource
from .collected import Collector, NumberedEdges, TextLines, number, vertex_number
from .inputs import text_head
from .source import EdgeBatch, SourceInfo
from .weights import WHOLE

_FORMS = ("fullmatrix", "edgelist1", "nodelist1")
_DATA = re.compile(rb"\bdata\s{0,64}:", re.IGNORECASE)
_COUNT = re.compile(r"\b(n|nr|nc|nm)\s*=\s*(\d{1,18})", re.IGNORECASE)
_FORM = re.compile(r"\bformat\s*=\s*(\w+)", re.IGNORECASE)
_EMBEDDED = re.compile(r"\blabels\s+embedded\b", re.IGNORECASE)
_LABELS = re.compile(r"(?<!row )(?<!column )(?<!col )\blabels\s*:", re.IGNORECASE)
_LABEL = re.compile(r""""([^"]*)"|'([^']*)'(?![^\s,])|([^\s,]+)""")
_NO_DIAGONAL = re.compile(r"\bdiagonal\s*=?\s*absent\b", re.IGNORECASE)
_COMMENTS = ("#", "//", "%")


@dataclass(frozen=True)
class _Header:
    """The header. n : number of vertices. form : one of _FORMS. embedded : whether the data have the labels. diagonal :
    whether the matrix has one. labels : labels of the vertices, if they are above the data."""

    n: int
    form: str
    embedded: bool
    diagonal: bool
    labels: tuple[str, ...] = ()


class DlSource(FileSource):
    """See the module."""

    format = "dl"
    takes_strings = True

    def _read_info(self) -> SourceInfo:
        header = self._header()
        weights = "" if self.weights is None else WHOLE
        if header.embedded or (header.labels and self.ids != "int"):
            return self._facts(directed=True, id_kind="int" if self.ids == "int" else "string", weights=weights)
        if self.ids == "string":
            raise self.error("the vertices have numbers and no labels", remedy="leave out --ids string")
        return self._facts(n_vertices=header.n, first_id=1, directed=True, weights=weights)

    def _header(self) -> _Header:
        text = text_head(self.input, lambda head, _complete: self._before_data(head)).decode("utf-8", "replace")
        text, *below = _LABELS.split(text, maxsplit=1)
        counts = {name.lower(): int(count) for name, count in _COUNT.findall(text)}
        found = _FORM.search(text)
        form = "fullmatrix" if found is None else found[1].lower()
        if "nr" in counts or "nc" in counts:
            raise self.error("a DL file of two modes, with nr and nc", remedy="write it as a list of edges")
        if counts.get("nm", 1) != 1:
            raise self.error(f"a DL file of {counts['nm']} relations", remedy="write one of them alone")
        if "n" not in counts or form not in _FORMS:
            raise self.error("a DL header without n, or of a form that is not read", text=form,
                             remedy="write it as " + ", ".join(_FORMS))
        embedded = bool(_EMBEDDED.search(text))
        if embedded and form == "fullmatrix":
            raise self.error("a DL matrix with embedded labels", remedy="write the labels above the data")
        labels = tuple(_words("".join(below)))
        if labels and (len(labels) != counts["n"] or len(set(labels)) < len(labels)):
            raise self.error(f"{len(labels):,} labels, {len(set(labels)):,} of them different, where n={counts['n']:,}",
                             remedy="give each vertex a label of its own, or none")
        return _Header(counts["n"], form, embedded, not _NO_DIAGONAL.search(text), labels)

    def _before_data(self, head: bytes) -> bytes | None:
        """The header, up to the word data:"""
        found = _DATA.search(head)
        return None if found is None else head[: found.start()]

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad line."""
        header, lines = self._header(), TextLines(self, batch_bytes, _COMMENTS)
        rest = next((line[found.end() :] for line in lines if (found := re.search(r"\bdata\s*:", line, re.IGNORECASE))),
                    "")
        data = chain([rest.strip()] if rest.strip() else [], lines)
        if header.embedded:
            yield from self._named(header, lines, data, batch_bytes)
            return
        numbered = (self._matrix if header.form == "fullmatrix" else self._listed)(header, lines, data, batch_bytes)
        yield from self._labelled(header, numbered) if self.info().id_kind == "string" else numbered

    def _labelled(self, header: _Header, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
        """The edges with labels instead of numbers, and all vertices."""
        names = pa.array(header.labels, pa.string())
        self.declared = len(names)
        yield EdgeBatch(names, names, None if self.weights is None else np.zeros(len(names)), declares=True)
        for batch in batches:
            yield EdgeBatch(names.take(pa.array(batch.src - 1)), names.take(pa.array(batch.dst - 1)), batch.weights)

    def _matrix(self, header: _Header, lines: TextLines, data: Iterator[str], batch_bytes: int) -> Iterator[EdgeBatch]:
        edges = NumberedEdges(self, header.n, batch_bytes, lambda: {"line": lines.number})
        place, values, whole = 0, 0, header.n * (header.n - (not header.diagonal))
        for word in (word for line in data for word in line.split()):
            try:
                entry = number(word)
            except ValueError:
                raise lines.error("a value of the matrix is no number", word) from None
            if entry and place < whole:
                row, column = divmod(place, header.n - (not header.diagonal))
                column += not header.diagonal and column >= row
                edges.edge(row + 1, column + 1, word, directed=True)
                values += 1
            place += 1
            yield from edges.ready()
        yield from edges.last()
        if place != whole:
            raise self.error(f"the matrix has {place:,} values where n={header.n:,} demands {whole:,}",
                             remedy="fix n or fetch the file again")
        self.dropped = {"values": values if self.weights is None else 0}

    def _listed(self, header: _Header, lines: TextLines, data: Iterator[str], batch_bytes: int) -> Iterator[EdgeBatch]:
        edges = NumberedEdges(self, header.n, batch_bytes, lambda: {"line": lines.number})
        values = zeros = 0
        for line in data:
            fields = line.split()
            if len(fields) > 2 and "," in fields[-1]:
                raise lines.error("a comma in the last field may be decimal", line, "write a point for it")
            words = line.replace(",", " ").split()
            first, others, weight = self._ends(header, lines, words)
            try:
                src, *ends = map(vertex_number, (first, *others))
            except ValueError:
                raise lines.error("a line of something else than numbers of vertices", line) from None
            for dst in ends if number(weight) else ():
                edges.edge(src, dst, weight, directed=True)
            zeros += not number(weight)
            values += header.form == "edgelist1" and len(words) > 2
            yield from edges.ready()
        yield from edges.last()
        self._note(zeros)
        self.dropped = {"values": values if self.weights is None else 0}

    def _named(self, header: _Header, lines: TextLines, data: Iterator[str], batch_bytes: int) -> Iterator[EdgeBatch]:
        edges = Collector(self, batch_bytes, lambda: {"line": lines.number})
        names, zeros = set[str](), 0
        for line in data:
            first, others, weight = self._ends(header, lines, _words(line))
            names.update((first, *others))
            for vertex in (first, *others):
                edges.vertex(vertex)
            for other in others if number(weight) else ():
                edges.edge(first, other, weight, directed=True)
            zeros += not number(weight)
            yield from edges.ready()
        yield from edges.last()
        self._note(zeros)
        if len(names) != header.n:
            raise self.error(f"the data have {len(names):,} labels where n is {header.n:,}", remedy="quote labels with"
                             " blanks, or write the labels of all vertices above the data")

    def _note(self, zeros: int) -> None:
        """Say how many entries of a list were no edges, as in a matrix."""
        entries = format_count(zeros, "entry", "entries")
        self.notes = (f"{entries} with the value 0, which are no edges",) if zeros else ()

    def _ends(self, header: _Header, lines: TextLines, words: list[str]) -> tuple[str, list[str], str]:
        """(first vertex of a line, its neighbours in the line, weight)."""
        if header.form == "nodelist1":
            return words[0], words[1:], "1"
        if len(words) < 2:
            raise lines.error("a line with fewer than two vertices", words[0])
        weight = words[2] if len(words) > 2 else "1"
        if len(words) > len(("src", "dst", "weight")) or not _is_number(weight):
            raise lines.error("a line of something else than two vertices and a value", " ".join(words),
                              "quote labels with blanks, or fix the line")
        return words[0], words[1:2], weight


def _words(text: str) -> list[str]:
    """The labels in a text, without their quotes."""
    return ["".join(parts) for parts in _LABEL.findall(text)]


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True
