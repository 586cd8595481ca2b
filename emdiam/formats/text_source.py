"""The base of readers of texts without a format mark: `look` decides from the first lines how to read them.

A first line of counts is accepted only if the edges after it confirm its numbers.

`n m` above edges looks like an edge itself. So the first pair is kept back while all later ids could be those of n
vertices; at the first larger id it is an edge, and at the end of the input its second number decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ..errors import InputError
from .arrow_edges import refuse_missing, texts_of
from .base import FileSource
from .look import reading_of
from .look_ends import is_total
from .look_header import BOM, COUNTS, HEADER_AGAIN, JOINED, forms_of
from .look_sample import sample_of
from .look_shape import MATRIX
from .reading import COLUMNS, CSV, EDGE_LIST, HELD, Reading
from .source import EdgeBatch
from .tables import certain_pair

_UNDIRECTED = re.compile(r"#\s*undirected\s+graph", re.IGNORECASE)
_KONECT = re.compile(r"%\s*(sym|asym|bip)\s+\w+")
_HEAD_BYTES = 1 << 16


class TextSource(FileSource):
    """A FileSource whose Reading comes from `look`. counts : the counts in the first line, if the edges confirm them;
    known after a complete pass."""

    takes_strings = takes_columns = takes_ends = takes_headers = True
    counts: HeaderCounts | None = None

    @cached_property
    def _comments(self) -> tuple[str, ...]:
        """The comments above the first line."""
        return sample_of(self.input.peek(_HEAD_BYTES, text=True), True, 1).comments

    @property
    def _konect(self) -> str:
        """The kind of graph in a header of KONECT: sym, asym or bip; "" without."""
        return next((match[1] for match in map(_KONECT.match, self._comments) if match), "")

    @property
    def has_directions(self) -> bool:
        """Whether edges have directions, as far as comments say; see the header of SNAP and of KONECT."""
        return self._konect != "sym" and (bool(self._konect) or not any(map(_UNDIRECTED.match, self._comments)))

    @property
    def has_two_sides(self) -> bool:
        """See FileSource."""
        return self._konect == "bip"

    def look(self) -> Reading:
        """The Reading of the text, found once. Raises InputError."""
        if self.reading is None:
            self.reading = reading_of(self.input, self.wishes)
        return self.reading

    @property
    def more_ids(self) -> tuple[int, int] | None:
        """See SourceInfo."""
        return None if self.counts is None else self.counts.ids

    @property
    def said(self) -> str:
        """The reading in one sentence, with the outcome for counts in the first line."""
        reading = self.look()
        if self.counts is not None:
            first, last = self.counts.ids
            return (reading.why.replace("no header", self.counts.sentence) if reading.header == HELD else
                    f"{reading.why}; as it says, {self.counts.n:,} vertices: {first} to {last}")
        if reading.header == COUNTS:
            return f"{reading.why}; the counts add no vertices, as the edges do not prove them"
        return reading.why

    def _checked(self, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
        """Pairs of integers, passed through `_counted`; or pairs of names, checked for a repeated header, for words
        for a missing id, and for the count of the lines at the end. Raises InputError."""
        reading = self.look()
        if reading.id_kind == "int":
            uncounted = self.has_two_sides and not self.wishes.bipartite  # KONECT has no counts
            yield from batches if uncounted else self._counted(batches, reading)
            return
        of_columns = max(reading.columns) < len(reading.names) and reading.format != MATRIX
        names = [reading.names[place] for place in reading.columns] if of_columns else []
        any_case, last = certain_pair(names) is not None, None
        forms = [texts_of(forms_of(name, any_case)) for name in names]
        for batch in batches:
            if names and pc.any(pc.and_(*map(pc.is_in, (batch.src, batch.dst), forms))).as_py():
                raise self.error(HEADER_AGAIN, text=" ".join(names), remedy=JOINED)
            self._refuse_marks(batch)
            last = batch if len(batch.src) else last
            yield batch
        if last is not None and reading.format in (EDGE_LIST, CSV, COLUMNS) and self.ids == "auto":
            ends = [[ids[-place].as_py() for ids in (last.src, last.dst)] for place in (1, 2) if place <= len(last.src)]
            if is_total(ends[0], ends[-1] if len(ends) > 1 else []):
                raise self.error("the last line may be the count of those above, or an edge", text=" ".join(ends[0]),
                                 remedy="delete it if it is no edge, else say --ids string")

    def _refuse_marks(self, batch: EdgeBatch) -> None:
        """Raise InputError if names begin with a byte order mark, or are words for a missing id."""
        for ids in (batch.src, batch.dst):
            if pc.any(pc.starts_with(ids, BOM)).as_py():
                raise self.error("an id begins with a byte order mark, as in files that were joined",
                                 remedy="delete the marks within the text, or hand in the files one by one")
            if self.ids == "auto":
                refuse_missing(ids, self)

    def _counted(self, batches: Iterator[EdgeBatch], reading: Reading) -> Iterator[EdgeBatch]:
        """The pairs without counts in the first line. Sets `counts` if the edges confirm them."""
        if reading.header == HELD:
            held = HeldPair(self.error, alone=len(reading.record) == 2)
            yield from held.passing(batches)
            self.counts = held.counts
        elif reading.header == COUNTS:
            counts = declared(reading.counts)
            yield from with_counts(counts, batches)
            self.counts = counts if counts.agree else None
        else:
            yield from batches


_NATURAL_STEP = 1
# Up to this number of lines, a match with the first line's count may be chance.
_FEW = 2
# Above this number of vertices, ids are not checked for completeness: a match by chance is then unlikely.
_MOST_WATCHED = 1 << 16


class HeaderCounts:
    """The counts in a first line: vertices, and optionally edges; compared with the pairs after it.

    n, m : the numbers; m None without it. pairs : number of pairs watched so far; their ids are integers. meets_m :
    whether m is an id in them. has_loop : whether one is a loop. has_itself : whether the pair of n and m is one.
    meets_all : whether each id from 1 to n occurs, or n is too large to check.
    """

    def __init__(self, n: int, m: int | None) -> None:
        self.n, self.m = n, m
        self.pairs, self.meets_m = 0, False
        self.has_loop, self.has_itself, self.meets_all = False, False, not 0 < n <= _MOST_WATCHED
        self._met = None if self.meets_all else np.zeros(n + 1, np.bool_)
        self._least, self._largest = n + 1, -1

    def watch(self, src: Any, dst: Any) -> None:
        """Record these pairs, which follow the line."""
        if len(src):
            self._least = min(self._least, int(src.min()), int(dst.min()))
            self._largest = max(self._largest, int(src.max()), int(dst.max()))
            self.pairs += len(src)
            self.meets_m = self.meets_m or bool((src == self.m).any() or (dst == self.m).any())
            if not self.meets_all and self._met is not None and self._largest <= self.n and self._least >= 0:
                self._met[src] = self._met[dst] = True
                self.meets_all = bool(self._met[1:].all())
            self.has_loop = self.has_loop or bool((src == dst).any())
            if self.m is not None and not self.has_itself:
                self.has_itself = bool(((src == self.n) & (dst == self.m) | (src == self.m) & (dst == self.n)).any())

    @property
    def largest(self) -> int:
        """The largest id after the line."""
        return self._largest

    @property
    def fit(self) -> bool:
        """Whether all ids can be those of n vertices, from 0 or from 1 on."""
        return self._largest < self.n or (self._largest == self.n and self._least > 0)

    @property
    def agree(self) -> bool:
        """Whether all ids fit, and the number of pairs equals m; without m: differs from n."""
        return bool(self.pairs) and self.fit and (self.m == self.pairs if self.m is not None else self.n != self.pairs)

    @property
    def ids(self) -> tuple[int, int]:
        """The first and last id of n vertices: from 0 on if 0 occurs, else from 1 on."""
        first = int(self._least > 0)
        return first, self.n - 1 + first

    @property
    def sentence(self) -> str:
        """The meaning of the counts in words, once they agree."""
        first, last = self.ids
        edges = "" if self.m is None else f" and {self.m:,} edges, as follow"
        return f"the first line says {self.n:,} vertices{edges}: {first} to {last}"


def with_counts(counts: HeaderCounts, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
    """The batches unchanged; `counts` watches each one."""
    for batch in batches:
        counts.watch(batch.src, batch.dst)
        yield batch


class HeldPair:
    """The first pair of an input, which may be counts. error : creates an InputError for the input. alone : whether its
    line has no other field."""

    def __init__(self, error: Callable[..., InputError], alone: bool) -> None:
        self._error, self._alone = error, alone
        self.counts: HeaderCounts | None = None
        """The counts that the first pair has turned out to be, after a complete pass; None: it is an edge."""

    def passing(self, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
        """All pairs except counts. If the first pair is an edge it comes late; the order of edges does not matter.

        Raises InputError at the end if the first pair may be either.
        """
        first = next(batches, None)
        if first is None:
            return
        pair = _part(first, slice(0, 1))
        n, m = int(pair.src[0]), int(pair.dst[0])
        counts, turned = HeaderCounts(n, m), HeaderCounts(m, n)  # edges, and vertices of one component
        rest = _part(first, slice(1, None))

        def is_edge(batch: EdgeBatch) -> bool:
            counts.watch(batch.src, batch.dst)
            turned.watch(batch.src, batch.dst)
            return counts.largest > n and (turned.largest > m or turned.pairs > n or n < m - 1 or n <= _FEW + 1)

        if is_edge(rest):
            yield first
            yield from batches
            return
        yield from [rest] if len(rest.src) else []
        for batch in batches:
            if is_edge(batch):
                yield from (pair, batch)
                yield from batches
                return
            yield batch
        turns = turned.agree and turned.pairs > _FEW + 1 and self._is_certain(turned)
        if counts.agree and self._is_certain(counts):
            self.counts = counts
        elif counts.agree or turns or self._is_doubtful(counts):
            why = "the number of lines agrees" if counts.agree or turns else "its ids fit no other line"
            raise self._error(
                f"the first line may be counts of vertices and edges, or an edge: {why}, and {counts.pairs:,} lines"
                " follow", text=f"{n} {m}", remedy="say --header counts, or --header none")
        else:
            yield pair

    def _is_certain(self, counts: HeaderCounts) -> bool:
        """Whether counts that agree are certainly no edge, or the edge would not change the graph.

        A few lines may agree by chance. So may an edge between ids of other edges, if the counts would add vertices. A
        graph with loops seldom has counts above it."""
        if counts.has_itself and counts.meets_all:
            return True
        chance = counts.largest == counts.n and counts.meets_m and not counts.meets_all
        return self._alone and counts.pairs > _FEW and not counts.has_loop and not chance

    def _is_doubtful(self, counts: HeaderCounts) -> bool:
        """Whether the pair would be an unusual edge: all ids fit n vertices, and the pair would add ids above all
        others, with a gap; or the number of pairs is twice or half of m."""
        n, m, largest = counts.n, int(counts.m or 0), counts.largest
        if not counts.fit or not counts.pairs:
            return False
        gap, is_new = n - largest > _NATURAL_STEP, n > largest
        if m > n:
            return gap or m - n > _NATURAL_STEP
        if m == n:
            return is_new
        if self._alone and counts.pairs == m + 1 > _FEW and not counts.has_loop:  # edges, and a question below them
            return True
        return (gap and not counts.meets_m) or (is_new and counts.pairs in (2 * m, m / 2))


def _part(batch: EdgeBatch, here: slice) -> EdgeBatch:
    return EdgeBatch(batch.src[here], batch.dst[here], None if batch.weights is None else batch.weights[here])


def declared(counts: Sequence[int]) -> HeaderCounts:
    """The HeaderCounts of a line of counts: n; n and m; or rows, columns and entries of a matrix.

    If rows and columns differ, or there is no number, the edges cannot confirm it (n is -1)."""
    if not counts or (len(counts) > 2 and counts[0] != counts[1]):
        return HeaderCounts(-1, None)
    return HeaderCounts(int(counts[0]), int(counts[-1]) if len(counts) > 1 else None)
