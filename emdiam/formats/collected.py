"""Batches from single edges, between names or between numbered vertices.

Also lines of text as Python strings, for formats whose lines have different meanings in different sections.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..errors import InputError
from .base import MAX_ID, FileSource
from .digits import SHORT
from .source import EdgeBatch
from .streams import block_bytes_for, text_blocks
from .weights import FLOAT64, LARGEST_WHOLE, LEAST_WHOLE, WHOLE, checked_weights, common_kind, out_of_range

_ID = re.compile(r"[0-9]{1,19}")
_WHOLE = re.compile(r"\s*[-+]?\d+\s*")

Where = Callable[[], dict[str, int]]
"""() -> where in the input it is, as InputError takes it."""


def number(text: str) -> float:
    """The number in a text. Raises ValueError for another text, also for the underscores and digits of other scripts
    that Python accepts."""
    if "_" in text or not text.isascii():
        raise ValueError
    return float(text)


def vertex_number(text: str) -> int:
    """The number of a vertex in a text. Raises ValueError for another text."""
    if not _ID.fullmatch(text):
        raise ValueError
    return int(text)


class _Edges(ABC):
    """Collects edges and yields them in batches.

    Parameters
    ----------
    source : FileSource
        The source that is read; its attributes for directions and kinds of weights are updated.
    batch_bytes : int
        See EdgeSource.batches.
    where : callable
        Returns the position in the input, for errors.
    """

    pair_bytes: ClassVar[int]
    """Of both ends, the text of a weight, and what becomes of them."""

    def __init__(self, source: FileSource, batch_bytes: int, where: Where) -> None:
        self._source, self._where = source, where
        self._capacity = max(1, batch_bytes // self.pair_bytes)
        self._large = ""  # the first whole weight out of range
        self._src, self._dst, self._weights = list[Any](), list[Any](), list[str]()
        self._kinds = set[str]()
        source.has_arcs, source.weight_kind = False, ""

    @property
    def full(self) -> bool:
        """Whether there are enough edges for a batch."""
        return len(self._src) >= self._capacity

    def edge(self, src: Any, dst: Any, weight: str | None = None, *, directed: bool) -> None:
        """Add an edge. weight : its text, if weights are kept. directed : whether it has a direction. Raises InputError
        for an invalid end."""
        self._check_ends(src, dst)
        self._source.has_arcs = self._source.has_arcs or directed
        self._put(src, dst, weight)
        if self._source.wishes.directed and not directed:
            self._put(dst, src, weight)

    @abstractmethod
    def _check_ends(self, src: Any, dst: Any) -> None:
        """Raise InputError for an invalid end."""

    @abstractmethod
    def _ids(self, ends: list[Any]) -> Any:
        """The array of ends for a batch."""

    def _put(self, src: Any, dst: Any, weight: str | None) -> None:
        self._src.append(src)
        self._dst.append(dst)
        if self._source.weights is not None:
            if weight is None:
                raise self._error("an edge without a weight", "give every edge a weight, or keep no weights")
            self._weights.append(weight)

    def ready(self) -> Iterator[EdgeBatch]:
        """The batches of `take` if `full`, else none."""
        if self.full:
            yield from self.take()

    def take(self) -> Iterator[EdgeBatch]:
        """The batches of the edges since the last call."""
        if self._src:
            yield EdgeBatch(self._ids(self._src), self._ids(self._dst), self._floats(self._weights))
            self._src, self._dst, self._weights = [], [], []

    def last(self) -> Iterator[EdgeBatch]:
        """The same at the end of the input. Raises InputError for whole weights out of range."""
        yield from self.take()
        if self._large and FLOAT64 not in self._kinds and self._source.weights is not None:
            raise out_of_range(self._source.weights.negative, path=self._source.name, text=self._large)

    def _floats(self, texts: list[str]) -> Any:
        """The weights as from Digits.taken; records their kind in the source."""
        choice, values = self._source.weights, np.empty(len(texts))
        if choice is None:
            return None
        for place, text in enumerate(texts):
            try:
                values[place] = number(text)
            except ValueError:
                raise self._error("a weight is not a number", "give every edge a number, or keep no weights",
                                  text.strip()) from None
        whole = all(map(_WHOLE.fullmatch, texts))
        if whole and not self._large:
            outside = np.flatnonzero((values < LEAST_WHOLE) | (values > LARGEST_WHOLE))
            self._large = texts[outside[0]].strip() if len(outside) else ""
        self._kinds.add(WHOLE if whole else FLOAT64)
        self._source.weight_kind = common_kind(self._kinds)
        checked = checked_weights(values, choice, lambda what, _, *, text, remedy: self._error(what, remedy, text))
        long = [place for place, text in enumerate(texts) if len(text) > SHORT]
        return choice.digits.taken(checked, long, [texts[place] for place in long])

    def _error(self, what: str, remedy: str, text: str | None = None) -> InputError:
        return self._source.error(what, text=text, remedy=remedy, **self._where())


class Collector(_Edges):
    """Edges between names, and vertices, which count as declared in the source."""

    pair_bytes = 160

    def __init__(self, source: FileSource, batch_bytes: int, where: Where) -> None:
        super().__init__(source, batch_bytes, where)
        self._vertices = list[str]()
        source.declared = 0

    @property
    def full(self) -> bool:
        """See _Edges."""
        return len(self._src) + len(self._vertices) >= self._capacity

    def vertex(self, name: str | None) -> None:
        """Add a vertex, which may have no edge."""
        if not name:
            raise self._error("a vertex without a name", "name every vertex")
        self._vertices.append(name)

    def take(self) -> Iterator[EdgeBatch]:
        """See _Edges; vertices are first."""
        if self._vertices:
            ids, count = self._ids(self._vertices), len(self._vertices)
            self._source.declared += count
            yield EdgeBatch(ids, ids, None if self._source.weights is None else np.zeros(count), declares=True)
            self._vertices = []
        yield from super().take()

    def _check_ends(self, src: str | None, dst: str | None) -> None:
        if not src or not dst:
            raise self._error("an edge without the name of an end", "name both ends of every edge")

    def _ids(self, ends: list[str]) -> Any:
        if self._source.ids != "int":
            return pa.array(ends, pa.string())
        wrong = next((name for name in ends if not _is_id(name)), None)
        if wrong is not None:
            raise self._error("an id is no integer from 0 to 2^63 - 1", "take ids as names with --ids string", wrong)
        return np.array(list(map(int, ends)), np.int64)


def _is_id(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 20 and int(name) <= MAX_ID


class NumberedEdges(_Edges):
    """Edges between vertices 1 to n_vertices."""

    pair_bytes = 100

    def __init__(self, source: FileSource, n_vertices: int, batch_bytes: int, where: Where) -> None:
        super().__init__(source, batch_bytes, where)
        self._n = n_vertices

    def _check_ends(self, src: int, dst: int) -> None:
        wrong = next((end for end in (src, dst) if not 0 < end <= self._n), None)
        if wrong is not None:
            raise self._error(f"an id is outside 1..{self._n}", "fix the id", str(wrong))

    def _ids(self, ends: list[int]) -> Any:
        return np.array(ends, np.int64)


class TextLines:
    """The stripped lines of the input of `source`, without empty ones and comments.

    comments : marks at the beginning of comment lines. number : number of the last returned line. Raises InputError for
    a line that is no UTF-8.
    """

    def __init__(self, source: FileSource, batch_bytes: int, comments: tuple[str, ...]) -> None:
        self._source, self._batch_bytes, self._comments = source, batch_bytes, comments
        self.number = 0
        self._lines = self._all()

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def _all(self) -> Iterator[str]:
        with self._source.input.text() as stream:
            for block in text_blocks(stream, block_bytes_for(self._batch_bytes)):
                for raw in block.tobytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]:
                    self.number += 1
                    try:
                        line = raw.decode().strip()
                    except UnicodeDecodeError as error:
                        raise self.error("the line is not UTF-8 text", raw.decode("latin-1"),
                                         "name its encoding with --encoding") from error
                    if line and not line.startswith(self._comments):
                        yield line

    def first(self, count: int) -> list[str]:
        """The next lines, at most `count`."""
        return list(islice(self._lines, count))

    def error(self, what: str, text: str | None = None, remedy: str = "fix the line") -> InputError:
        """An InputError about the last returned line."""
        return self._source.error(what, line=self.number, text=text, remedy=remedy)
