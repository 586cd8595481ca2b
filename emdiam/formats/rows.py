"""Texts whose lines are not one edge each: lists of neighbours, matrices, relations; and edges in other columns.

Each reader is a generator over lines that yields their edges; RowSource has the shared part, from bytes to batches. The
readers work line by line in Python, at about a million fields a second, with one batch in memory.

    AdjlistSource     v a b c: an edge from v to each of a, b, c; also v: a b c
    SifSource         v relation a b: the same, after the word for the relation (Cytoscape)
    LglSource         # v, then lines a [weight], one for each neighbour
    MultilineSource   v degree, then that number of lines a {'weight': 1.5} (networkx)
    AdjacencySource   a square matrix of numbers, with or without names
    PycgrSource       numbers of vertices and edges, lines of vertices, lines of edges (OsmToRoadGraph)
    AttributesSource  v w {'weight': 1.5}: an edge with attributes (networkx)
    ColumnsSource     an edge in each line, the ends in any two of its fields
"""

from __future__ import annotations

import ast
import csv
import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from .base import MAX_ID
from .digits import SHORT
from .directions import Directions
from .lines import FURTHER_FIELDS, NO_UTF_8
from .look_sample import (
    WORDS_OF_CELLS,
    behind_colon,
    has_leading_zero,
    is_integer,
    is_number,
    rewritten,
    value_of,
    whole_number,
)
from .source import EdgeBatch, SourceInfo, pairs_per_batch
from .streams import block_bytes_for, text_blocks
from .tables import direction_column
from .text_source import TextSource
from .weights import WHOLE, checked_weights, common_kind, kind_of, weight_column

_LINE_END = re.compile(r"\r\n|\n|\r")
_MIXED = re.compile(r"[ \t]*,[ \t]*|[ \t]+")
_BLANKS = re.compile(r"[ \t]+")
_NUMPY = re.compile(r"\bnp\.(?:float|u?int)\d+\(([^()]*)\)")  # as numpy 2 prints a number
_STRING_SHARE = 8  # assumed size of a name with its offset, relative to int64
_WHOLE_DIGITS = 19
_ISOLATED = "0"  # the weight of a loop that declares a vertex

Row = list[str]
Edge = tuple[str, str, str]
"""Two ids, and the text of the weight, "" without."""


class RowSource(TextSource):
    """See the module. comments : marks at the beginning of comment lines."""

    takes_columns = takes_ends = takes_headers = False
    comments: tuple[str, ...] = ("#", "%", "//")
    has_weights = False
    _long: list[tuple[int, str]]
    """Places and texts of the weights of a batch that have many digits."""
    line = 0
    """Number of the line read last."""

    @abstractmethod
    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        """The edges of the lines, and a loop for each vertex without edges."""

    def _read_info(self) -> SourceInfo:
        reading = self.look()
        if self.weights is not None and not self.has_weights:
            raise self.no_weights(f"format {self.format} has none")
        return self._facts(directed=self.has_directions, id_kind=reading.id_kind, reading=reading.why,
                           weights="" if self.weights is None else WHOLE, **self._declared())

    def _declared(self) -> dict[str, Any]:
        """The facts that the text declares, as fields of SourceInfo."""
        return {}

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad line."""
        self.info()
        self.dropped, self.skipped, self.weight_kind = {}, {"comments": 0, "empty": 0}, ""
        with self.input.text(self.look().skip) as stream:
            yield from self._checked(self._batched(self._edges(self._rows(stream, batch_bytes)), batch_bytes))

    def _rows(self, stream: Any, batch_bytes: int) -> Iterator[Row]:
        """The fields of each line that is neither a comment nor empty."""
        self.line = self.look().line - 1
        for block in text_blocks(stream, block_bytes_for(batch_bytes)):
            for line in _LINE_END.split(self._decoded(block.tobytes()))[:-1]:
                self.line += 1
                text = line.strip(" \t")
                if not text:
                    self.skipped["empty"] += 1
                elif text.startswith(self.comments):
                    self.skipped["comments"] += 1
                else:
                    yield self._split(line)

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            before = data[: error.start]
            ends = len(_LINE_END.findall(before.decode("utf-8", "replace")))
            raise self.error("a line is not UTF-8 text", line=self.line + 1 + ends, remedy=NO_UTF_8) from None

    def _split(self, line: str) -> Row:
        """The fields of a line, without empty ones at the end."""
        reading = self.look()
        if reading.rewrite == ":":
            return behind_colon(line, reading.separator)
        text = rewritten(line, reading.rewrite) if reading.rewrite else line
        quoted = '"' in text
        if reading.separator == " " and not quoted:
            return _BLANKS.split(text.strip(" \t"))
        if not reading.separator:
            return _MIXED.split(text.strip(" \t"))
        row = next(csv.reader([text], delimiter=reading.separator)) if quoted else text.split(reading.separator)
        return [field.strip(" \t") for field in row]

    def _batched(self, edges: Iterator[Edge], batch_bytes: int) -> Iterator[EdgeBatch]:
        strings = self.info().id_kind == "string"
        most = max(1, pairs_per_batch(batch_bytes) // (_STRING_SHARE if strings else 1))
        src: list[Any] = []
        dst: list[Any] = []
        weights: list[Any] = []
        kinds = {""}
        self._long = []
        take = self._name if strings else self._number
        for one, other, weight in edges:
            src.append(take(one))
            dst.append(take(other))
            if self.weights is not None:
                weights.append(self._weight(weight))
                if len(weight) > SHORT:
                    self._long.append((len(weights) - 1, weight.replace(",", ".")))
            if len(src) == most:
                yield self._batch(src, dst, weights, kinds)
                src, dst, weights = [], [], []
        if src:
            yield self._batch(src, dst, weights, kinds)
        self.weight_kind = common_kind(kinds)

    def _batch(self, src: list[Any], dst: list[Any], weights: list[Any], kinds: set[str]) -> EdgeBatch:
        if self.info().id_kind == "string":
            one, other = pa.array(src, pa.string()), pa.array(dst, pa.string())
        else:
            one, other = np.array(src, np.int64), np.array(dst, np.int64)
        if self.weights is None:
            return EdgeBatch(one, other)
        whole = all(isinstance(weight, int) for weight in weights)
        values = np.array(weights, np.int64 if whole else np.float64)
        kinds.add(kind_of(values.dtype) or "")
        floats = checked_weights(values, self.weights, self._refusal)
        at, texts = zip(*self._long, strict=True) if self._long else ((), ())
        self._long = []
        return EdgeBatch(one, other, self.weights.digits.taken(floats, list(at), texts))

    def _refusal(self, what: str, _place: int, **more: str) -> InputError:
        return self.error(f"{what}, at or before this line", line=self.line, **more)

    def _name(self, text: str) -> str:
        if not text:
            raise self.fault("an id is missing", "fix the line")
        return text

    def _number(self, text: str) -> int:
        value = whole_number(text)
        as_names = "fix the line, or keep such ids as names with --ids string"
        if value is None or value > MAX_ID:
            what = ("an id is missing" if not text else "an id is larger than 2^63 - 1" if is_integer(text)
                    else "an id is negative" if is_integer(text.removeprefix("-")) else "an id is not an integer")
            raise self.fault(what, as_names, text)
        if self.ids == "auto" and has_leading_zero(text):
            raise self.fault("an id has leading zeros, and those before have none",
                             "say --ids string if ids are names, or --ids int if they are numbers", text)
        return value

    def _weight(self, text: str) -> int | float:
        text = text.replace(",", ".") if self.look().separator.strip(",") else text  # unless commas separate fields
        if not is_number(text):
            raise self.fault("a weight is missing" if not text else "a weight is not a number",
                             "give every edge a weight, or leave out --weights", text)
        return int(text) if is_integer(text.lstrip("+-")) and len(text) < _WHOLE_DIGITS else float(text)

    def fault(self, what: str, remedy: str, text: str | None = None) -> InputError:
        """The error for the line read last."""
        return self.error(what, line=self.line, text=text, remedy=remedy)


class AdjlistSource(RowSource):
    """Lines "v a b c"."""

    format = "adjlist"

    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        for row in rows:
            while row and not row[-1]:
                row.pop()
            if not row:
                raise self.fault("a line without a vertex", "fix the line")
            if len(row) == 1:
                yield row[0], row[0], _ISOLATED
            for other in row[1:]:
                yield row[0], other, ""


class SifSource(RowSource):
    """Lines "v relation a b"."""

    format = "sif"

    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        for row in rows:
            if len(row) == 2:
                other = "write the edges as CSV" if " " in "".join(row) else "say --format edgelist"
                raise self.fault("a line of two fields, where a relation stands between vertices",
                                 f"fix the line, or {other}", " ".join(row))
            if len(row) == 1:
                yield row[0], row[0], _ISOLATED
            for other in row[2:]:
                yield row[0], other, ""


class LglSource(RowSource):
    """Lines "# v", each followed by lines of its neighbours."""

    format = "lgl"
    comments = ()
    has_weights = True

    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        vertex, bare = "", False
        for row in rows:
            if row[0].startswith("#"):
                name = row[1:] if row[0] == "#" else [row[0][1:]]
                if len(name) != 1:
                    raise self.fault("a line that begins with # and has not one vertex behind it", "fix the line",
                                     " ".join(row))
                if bare:
                    yield vertex, vertex, _ISOLATED
                vertex, bare = name[0], True
                continue
            if not vertex or len(row) > 2:
                raise self.fault("a line of neighbours before the first vertex" if not vertex else
                                 "a line of more than a neighbour and a weight", "fix the line", " ".join(row))
            bare = False
            yield vertex, row[0], row[1] if len(row) > 1 else ""
        if bare:
            yield vertex, vertex, _ISOLATED


class _DictSource(RowSource):
    """Lines that may end with a dict of the attributes of an edge."""

    takes_columns = has_weights = True

    def _split(self, line: str) -> Row:
        """The fields before the dict, and the dict."""
        fields, brace, attributes = line.partition("{")
        return [*super()._split(fields.rstrip(" \t,;|")), *([brace + attributes] if brace else [])]

    def _value(self, text: str) -> str:
        """The attribute with the weight, as text; "" if no weights are kept."""
        if self.weights is None:
            return ""
        name = self.weights.column or "weight"
        try:
            found = ast.literal_eval(_NUMPY.sub(r"\1", text.strip()))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise self.fault("the attributes are no dict of Python", "fix the line", text) from None
        if not isinstance(found, dict) or name not in found:
            raise self.fault(f"an edge without an attribute {name}",
                             "name one that every edge has, or leave out --weights", text)
        return str(found[name])


class MultilineSource(_DictSource):
    """Lines "v degree", each followed by that number of lines of neighbours, perhaps with a dict of attributes."""

    format = "multiline-adjlist"

    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        for row in rows:
            if len(row) != 2 or not is_integer(row[1]):
                raise self.fault("a line of a vertex and the number of its neighbours is expected", "fix the line",
                                 " ".join(row))
            if value_of(row[1]) == 0:
                yield row[0], row[0], _ISOLATED
            for _ in range(value_of(row[1])):
                other = next(rows, None)
                if other is None:
                    raise self.fault("the last vertex has fewer neighbours than are said",
                                     "fetch or write the file again")
                yield row[0], other[0], self._value(other[1] if len(other) > 1 else "{}")


class AdjacencySource(RowSource):
    """Rows of a matrix; nonzero entries are edges."""

    format = "matrix"
    has_weights = True

    def _declared(self) -> dict[str, Any]:
        reading = self.look()
        return {} if reading.names else {"n_vertices": reading.width, "first_id": 0}

    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        reading = self.look()
        names, n = list(reading.names), len(reading.names) or reading.width
        heads = reading.width > n
        if names or reading.counts:
            next(rows, None)
        met, count = np.zeros(n, np.bool_), 0
        for row in rows:
            if len(row) > n + heads and not row[-1]:  # a mark ends each row
                row.pop()
            head = row.pop(0) if heads and row else ""
            if count == n or len(row) != n or (heads and head not in (names[count], names[count].removeprefix("V"))):
                what = f"row {count + 1} of a matrix of {n} columns has {len(row)}" if len(row) != n else (
                    f"a row after {n} of a matrix of {n} columns" if count == n else
                    f"row {count + 1} of a matrix is called {head}, and its column {names[count]}")
                raise self.fault(what, "fix the row, or say --format edgelist if lines are edges")
            for place in np.flatnonzero(self._values(row)).tolist():
                met[[count, place]] = True
                one, other = (names[count], names[place]) if names else (str(count), str(place))
                yield one, other, row[place]
            count += 1
        if count != n:
            raise self.fault(f"a matrix of {n} columns ends after {count} rows",
                             "fetch it again, or say --format edgelist if lines are edges")
        for place in np.flatnonzero(~met).tolist() if names else ():
            yield names[place], names[place], _ISOLATED

    def _values(self, row: Row) -> Any:
        try:
            texts = [WORDS_OF_CELLS.get(field.lower(), field.replace(",", ".") or "0") for field in row]
            return np.array(texts).astype(np.float64)
        except ValueError:
            bad = next(field for field in row if field and not is_number(field))
            raise self.fault("an entry of a matrix is not a number", "fix the entry", bad) from None


class PycgrSource(RowSource):
    """Two counts, lines of vertices, lines of edges."""

    format = "pycgr"
    has_weights = True

    def _declared(self) -> dict[str, Any]:
        return {"n_vertices": self.look().counts[0], "first_id": 0}

    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        n, m = self.look().counts
        for _ in range(2 + n):
            if next(rows, None) is None:
                raise self.fault(f"fewer lines than the {n} vertices that are said", "fetch the file again")
        met = 0
        for row in rows:
            if len(row) < 3 or met == m:
                raise self.fault(f"a line after the {m} edges that are said" if met == m else
                                 "an edge has fewer than three fields", "fix the line", " ".join(row))
            met += 1
            yield row[0], row[1], row[2]
        if met != m:
            raise self.fault(f"{met} edges where {m} are said", "fetch the file again")


class AttributesSource(_DictSource):
    """One edge in each line, followed by a dict of its attributes."""

    format = "attributes"

    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        for row in rows:
            if len(row) != len(("src", "dst", "attributes")) or not row[2]:
                raise self.fault("a line without two ids and a dict of attributes", "fix the line", " ".join(row))
            yield row[0], row[1], self._value(row[2])


class ColumnsSource(RowSource):
    """One edge in each line, the ends in any two fields."""

    format = "columns"
    takes_columns = takes_ends = takes_headers = sides_by_ids = True
    has_weights = True

    def _edges(self, rows: Iterator[Row]) -> Iterator[Edge]:
        reading, further = self.look(), 0
        (src, dst), weight = reading.columns, self._weight_place()
        arcs = direction_column(reading.names, self.wishes.directed)
        directions = Directions("" if arcs is None else reading.names[arcs], self.error)
        fewest = 1 + max(src, dst, -1 if weight is None else weight)
        for row in rows:
            if len(row) < fewest or (reading.width and len(row) != reading.width):
                raise self.fault(f"a line of {len(row)} fields where {reading.width or fewest} are expected",
                                 "fix the line", " ".join(row))
            further += len(row) > 2 + (weight is not None)
            yield row[src], row[dst], "" if weight is None else row[weight]
            if arcs is not None and directions.is_undirected(row[arcs]):
                yield row[dst], row[src], "" if weight is None else row[weight]
        self.dropped, self.notes = {FURTHER_FIELDS: further}, directions.notes()

    def _weight_place(self) -> int | None:
        if self.weights is None:
            return None
        reading = self.look()
        names = reading.names or ("",) * reading.width
        place = weight_column(names, [i for i in range(len(names)) if i not in reading.columns], self.weights.column)
        if place is None:
            raise self.error("which column has the weights is not clear", text=self.weights.column or None,
                             remedy="give its name or number, as in --weights=3")
        return place
