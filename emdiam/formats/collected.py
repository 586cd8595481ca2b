"""Edges between names, one at a time, as batches: what formats share whose vertices are declared by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from .base import MAX_ID, FileSource
from .digits import SHORT
from .source import EdgeBatch
from .weights import FLOAT64, LARGEST_WHOLE, LEAST_WHOLE, WHOLE, WeightChoice, checked_weights, common_kind

_BYTES_PER_PAIR = 160  # two strings of Python, a text of a weight, and what becomes of them
_WHOLE = re.compile(r"\s*[-+]?\d+\s*")

Where = Callable[[], dict[str, int]]
"""() -> where in the input it is, as InputError takes it."""


class Collector:
    """Takes edges and vertices, and hands them on in batches.

    Parameters
    ----------
    source : FileSource
        What is read; its counts of declared vertices, directions and kinds of weights are kept here.
    batch_bytes : int
        As of EdgeSource.batches.
    where : callable
        Says where the input stands, for errors.
    """

    def __init__(self, source: FileSource, batch_bytes: int, where: Where) -> None:
        self._source, self._where = source, where
        self._capacity = max(1, batch_bytes // _BYTES_PER_PAIR)
        self._integers = source.ids == "int"
        self._src, self._dst = list[str](), list[str]()
        self._weights = None if source.weights is None else list[str]()
        self._vertices = list[str]()
        self._kinds = set[str]()
        self._keep_both = source.wishes.directed
        source.declared, source.has_arcs, source.weight_kind = 0, False, ""

    @property
    def full(self) -> bool:
        """Whether it is time to take the batches."""
        return len(self._src) + len(self._vertices) >= self._capacity

    def edge(self, src: str | None, dst: str | None, weight: str | None = None, *, directed: bool) -> None:
        """Take an edge. weight : its text, where weights are kept. directed : whether it goes one way only."""
        if not src or not dst:
            raise self._error("an edge without the name of an end", "name both ends of every edge")
        self._source.has_arcs = self._source.has_arcs or directed
        self._put(src, dst, weight)
        if self._keep_both and not directed:
            self._put(dst, src, weight)

    def _put(self, src: str, dst: str, weight: str | None) -> None:
        self._src.append(src)
        self._dst.append(dst)
        if self._weights is not None:
            if weight is None:
                raise self._error("an edge without a weight", "give every edge a weight, or keep no weights")
            self._weights.append(weight)

    def vertex(self, name: str | None) -> None:
        """Take a vertex, which may have no edge."""
        if not name:
            raise self._error("a vertex without a name", "name every vertex")
        self._vertices.append(name)

    def take(self) -> Iterator[EdgeBatch]:
        """What was taken since the last time."""
        if self._vertices:
            ids = self._ids(self._vertices)
            self._source.declared += len(self._vertices)
            yield EdgeBatch(ids, ids, None if self._weights is None else np.zeros(len(self._vertices)), declares=True)
            self._vertices = []
        if self._src:
            weights = None if self._weights is None else self._floats(self._weights)
            yield EdgeBatch(self._ids(self._src), self._ids(self._dst), weights)
            self._src, self._dst = [], []
            self._weights = None if self._weights is None else []

    def _ids(self, names: list[str]) -> Any:
        if not self._integers:
            return pa.array(names, pa.string())
        wrong = next((name for name in names if not _is_id(name)), None)
        if wrong is not None:
            raise self._error("an id is no integer from 0 to 2^63 - 1", "take ids as names with --ids string", wrong)
        return np.array(list(map(int, names)), np.int64)

    def _floats(self, texts: list[str]) -> Any:
        choice = self._source.weights
        assert choice is not None
        values, kind = weights_of_texts(texts, choice, lambda what, place, **more: self._error(
            what, more["remedy"], more["text"]))
        self._kinds.add(kind)
        self._source.weight_kind = common_kind(self._kinds)
        return values

    def _error(self, what: str, remedy: str, text: str | None = None) -> InputError:
        return self._source.error(what, text=text, remedy=remedy, **self._where())


def _is_id(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 20 and int(name) <= MAX_ID


def weights_of_texts(texts: list[str], choice: WeightChoice, refusal: Callable[..., InputError]) -> tuple[Any, str]:
    """Weights as Digits.taken, and their kind; `refusal` makes the error of the first that is none."""
    values = np.empty(len(texts))
    for place, text in enumerate(texts):
        try:
            values[place] = float(text)
        except ValueError:
            raise refusal("a weight is not a number", place, text=text.strip(),
                          remedy="give every edge a number, or keep no weights") from None
    whole = all(map(_WHOLE.fullmatch, texts)) and bool(((values >= LEAST_WHOLE) & (values <= LARGEST_WHOLE)).all())
    long = [place for place, text in enumerate(texts) if len(text) > SHORT]
    taken = choice.digits.taken(checked_weights(values, choice, refusal), long, [texts[place] for place in long])
    return taken, WHOLE if whole else FLOAT64
