"""BVGraph of WebGraph (Boldi, Vigna, "The WebGraph Framework I", WWW 2004): the format of LAW, Common Crawl and
Software Heritage.

    NAME.properties   nodes, arcs, codes; for arcs with labels the name of the underlying graph
    NAME.graph        a row of bits for each node: degree, an earlier row to copy from, intervals, other successors
    NAME.offsets      the number of bits of each row; with it several threads decode, each from another node on

Rows are decoded into batches. After a batch the rows stay in memory that later rows may copy from. A thread that starts
in the middle first decodes the rows that its first rows copy from, directly or through other rows. Batches come in the
order of nodes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import BudgetError, InputError
from ..units import available_cores, default_memory_bytes, format_size
from . import bvgraph_kernels as bits
from .base import FileSource
from .bvgraph_properties import AGAIN, Properties, find_properties
from .inputs import Input
from .source import EdgeBatch, SourceInfo, pairs_per_batch

_MOST_OFFSET_BYTES = 1 << 20  # of one offset
_BLOCK_BYTES = 1 << 18
_SPAN_NODES = 1 << 16
_BACK = (64, 512, 4096)
_HEAD_BITS = 1 << 10  # most bits of degree and reference of a row; a row with more is a fault, and starts no span
# Memory for rows that others copy from: 1/24 of the memory above _FREE, once each for the first thread, the one before,
# and the others. It depends on the budget alone, so that the amount that a refusal names is enough.
_SHARE, _FREE, _LEAST_ROOM = 24, 512 << 20, 4 << 20
_MOST_TAIL = 128  # largest number of zero bits after the last row, which fill up a word
_TURNED = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], np.uint8)

_FAULTS = {
    bits.BAD_DEGREE: "its degree is larger than the number of nodes",
    bits.TOO_MANY: "there are more arcs up to it than the properties say",
    bits.BAD_REFERENCE: "the row that it copies from is outside the window",
    bits.BAD_BLOCKS: "it copies more from another row than that row has, or than its degree",
    bits.BAD_INTERVALS: "its intervals are longer than its degree", bits.BAD_ID: "a successor is no node",
    bits.TWICE: "a successor is there twice"}


@dataclass(frozen=True)
class _Span:
    """Nodes first to stop - 1, decoded by one thread. positions : the bit offsets of the rows of nodes lowest,
    lowest + 1, ..., int64[k]; they include `first`, and `stop` if known."""

    first: int
    stop: int
    lowest: int
    positions: Any

    def at(self, node: int) -> int:
        """The bit offset of the row of a node."""
        return int(self.positions[node - self.lowest])

    @property
    def end(self) -> int | None:
        """The bit offset of the end of the last row, None if unknown."""
        return self.at(self.stop) if len(self.positions) > self.stop - self.lowest else None


class _TooFar(Exception):
    """Raised if rows copy from rows too far back to start decoding in the middle."""


class _NoRoom(Exception):
    """Raised if the rows that others copy from do not fit in memory. Its argument: their bytes."""


class _Block:
    """A buffer of bits of a file, from some bit on. little : see Properties."""

    def __init__(self, file: BinaryIO, source: Input, little: bool = False) -> None:
        self._file, self._source, self._little = file, source, little
        self.room, self.base, self.limit = _BLOCK_BYTES, 0, 0
        self.data: Any = None

    @property
    def ends_file(self) -> bool:
        return self.base + self.limit >= 8 * (self._source.size_bytes or 0)

    def load(self, bit: int) -> int:
        """Load the bits from this one on; returns its offset in `data`. Raises InputError."""
        if self.data is None or len(self.data) < self.room + bits.PADDING:
            self.data = np.empty(self.room + bits.PADDING, np.uint8)
        data, begin, got = self.data, bit >> 3, 0
        try:
            while got < self.room and (more := os.preadv(self._file.fileno(), [data[got : self.room]], begin + got)):
                got += more
        except OSError as error:
            raise InputError(f"reading fails ({error.strerror or error})", path=self._source.name, byte=begin + got,
                             remedy="check the disk and the file") from error
        if self._little:
            data[:got] = _TURNED[data[:got]]
        data[got : got + bits.PADDING] = 0
        self.base, self.limit = 8 * begin, 8 * got
        return bit & 7

    def load_more(self, bit: int, most_bytes: int) -> int | None:
        """Load more bits from this one on, as `load`; returns None at the end of the file. Raises _NoRoom."""
        if self.ends_file:
            return None
        if bit - self.base < 8:
            if 2 * self.room > most_bytes:
                raise _NoRoom(2 * self.room)
            self.room *= 2
        return self.load(bit)


class _Rows:
    """The rows of a span in batches. n_pairs : pairs of a batch. most : bytes for rows that others copy from. done :
    whether all rows are decoded."""

    def __init__(self, facts: Properties, block: _Block, name: str, span: _Span, n_pairs: int, most: int) -> None:
        self._facts, self._block, self._name, self._n_pairs, self.most = facts, block, name, n_pairs, most
        self._settings = np.array([0, facts.nodes, facts.window, facts.least_interval, facts.little, *facts.codes[:-1]],
                                  np.int64)
        self._rows = np.full((2, facts.window + 1), -1, np.int64)
        self._spare, self._ids, self._sources = (np.empty(n, np.int64) for n in (1 << 10, n_pairs, n_pairs))
        self._state = np.zeros(8, np.int64)
        self._span, self._ready, self.done = span, False, False

    @property
    def bit(self) -> int:
        """The bit offset of the next row."""
        return self._block.base + int(self._state[bits.POS])

    def follow(self, span: _Span) -> None:
        """Continue with the span after the finished one."""
        self._span, self.done = span, False
        self._state[bits.STOP] = span.stop

    def step(self) -> list[EdgeBatch]:
        """The next batch, in pieces. Raises InputError, _TooFar and _NoRoom; it may be called again afterwards."""
        if not self._ready:
            self._begin()
        self.done = self._decoded()
        return self._cut()

    def _begin(self) -> None:
        """Decode the rows that the first rows copy from."""
        span, state = self._span, self._state
        state[[bits.AT, bits.FIRST]] = 0
        self._rows[:] = -1
        for node in self._copied_from():
            self._go_to(node, span.at(node), node + 1)
            state[bits.FIRST] = state[bits.AT]
            self._decoded()
        self._go_to(span.first, span.at(span.first), span.stop)
        state[bits.FIRST] = state[bits.AT]
        self._ready = True

    def _go_to(self, node: int, bit: int, stop: int) -> None:
        state, block = self._state, self._block
        if block.data is None or not block.base <= bit < block.base + block.limit:
            block.load(bit)
        state[bits.POS], state[bits.NODE], state[bits.STOP] = bit - block.base, node, stop
        state[bits.ARCS] = self._facts.arcs

    def _copied_from(self) -> list[int]:
        """The nodes before the first one whose rows must be decoded for later rows, increasing. Raises _TooFar."""
        span, window = self._span, min(self._facts.window, self._span.first)
        for back in _BACK if window else ():
            lowest = max(span.lowest, span.first - back)
            copied = self._references(lowest)
            needed = set(range(span.first - window, span.first))
            for node in range(span.first - 1, lowest - 1, -1):
                if node in needed:
                    needed.add(int(copied[node - lowest]))
            if min(needed) >= lowest:
                return sorted(needed)
            if -1 in needed or lowest == span.lowest:
                break
        if window:
            raise _TooFar
        return []

    def _references(self, lowest: int) -> Any:
        """The nodes that nodes `lowest` to first - 1 copy from, see bits.references."""
        span, block = self._span, self._block
        begins = np.array([span.at(node) for node in range(lowest, span.first)], np.int64)
        copied, node = begins.copy(), 0
        while node < len(begins):  # the rows together may be longer than a block
            block.load(int(begins[node]))
            behind = block.base + block.limit - (0 if block.ends_file else _HEAD_BITS)
            stop = len(begins) if block.ends_file else max(node + 1, int(np.searchsorted(begins, behind)))
            copied[node:stop] -= block.base
            self._settings[bits.LIMIT] = block.limit
            bits.references(block.data, copied[node:stop], lowest + node, self._settings)
            node = stop
        return copied

    def _decoded(self) -> bool:
        """Decode until the batch is full or the span is done; returns whether it is done. Raises InputError and
        _NoRoom."""
        state, block = self._state, self._block
        while True:
            self._settings[bits.LIMIT] = block.limit
            status = int(bits.decode_rows(block.data, state, self._settings, self._rows, self._spare, self._ids,
                                          self._sources))
            if status == bits.DONE:
                return True
            if status == bits.ROOM:
                if state[bits.AT] > state[bits.FIRST]:
                    return False
                self._ids = self._more_room(self._ids, int(state[bits.AT] + state[bits.NEED]))
            elif status == bits.SPARE:
                self._spare = self._more_room(self._spare, 2 * int(state[bits.NEED]))
            elif status == bits.BITS:
                place = block.load_more(self.bit, self.most)
                if place is None:
                    raise self._error("the file ends within its row", self.bit)
                state[bits.POS] = place
            else:
                raise self._error(_FAULTS[status], block.base + int(state[bits.WHERE]))

    def _more_room(self, array: Any, size: int) -> Any:
        if 16 * size > self.most:  # the new array beside the old one
            raise _NoRoom(16 * size)
        larger = np.empty(size, np.int64)
        larger[: min(size, len(array))] = array[:size]
        return larger

    def _error(self, what: str, bit: int) -> InputError:
        return InputError(f"node {int(self._state[bits.NODE]):,}, bit {bit:,}: {what}", path=self._name, byte=bit >> 3,
                          remedy=f"{AGAIN}, and its properties")

    def _cut(self) -> list[EdgeBatch]:
        """The batch so far, in pieces; keeps the rows that later ones may copy from."""
        state, rows, n = self._state, self._rows, self._n_pairs
        first, at, node = (int(state[slot]) for slot in (bits.FIRST, bits.AT, bits.NODE))
        ids, sources, count = self._ids, self._sources, at - first
        rows[1, node % rows.shape[1]] = -1
        kept = rows[0][rows[1] > 0]
        lowest = int(kept.min()) if len(kept) else at
        self._ids, self._sources = np.empty(at - lowest + n, np.int64), np.empty(n, np.int64)
        self._ids[: at - lowest] = ids[lowest:at]
        rows[0] -= lowest
        state[bits.AT] = state[bits.FIRST] = at - lowest
        if count > n:  # one row
            return [EdgeBatch(np.full(min(n, at - begin), sources[0]), ids[begin : min(begin + n, at)])
                    for begin in range(first, at, n)]
        return [EdgeBatch(sources[:count], ids[first:at])] if count else []


class BvGraphSource(FileSource):
    """See the module. Vertex v is node v; its row lists its outgoing arcs."""

    format = "bvgraph"
    _consumed = 0
    _found: tuple[Properties, Input] | None = None

    def facts(self) -> tuple[Properties, Input]:
        """The properties, and the file with the bits. Raises InputError."""
        if self._found is None:
            path = self.input.require_file("a BVGraph is several files")
            if path.suffix not in (".graph", ".properties"):
                raise self.error("this belongs to a BVGraph of WebGraph, which is read by the name of its graph",
                                 remedy=f"name {path.with_suffix('.graph')}")
            facts = find_properties(path)
            graph = self.input if facts.graph == path else Input(str(facts.graph), headerless=True)
            graph.require_file("a BVGraph is read at several places at once")
            if facts.nodes > 8 * (graph.size_bytes or 0):
                raise InputError(f"the properties say {facts.nodes:,} nodes, which have a bit each at least, and it has"
                                 f" {graph.size_bytes:,} bytes", path=graph.name, remedy=AGAIN)
            self._found = facts, graph
        return self._found

    def _read_info(self) -> SourceInfo:
        if self.weights is not None:
            raise self.no_weights("a BVGraph has none")
        facts, graph = self.facts()
        info = self._facts(n_vertices=facts.nodes, n_entries=facts.arcs, directed=True)
        return replace(info, size_bytes=graph.size_bytes)

    @property
    def paths(self) -> list[Path]:
        """The named file and the graph file, which may be the same."""
        return list(dict.fromkeys([*super().paths, self.facts()[0].graph]))

    @property
    def memory_bytes(self) -> int:
        """The memory of decoding beside the current batches."""
        return 3 * self._room()

    def _room(self) -> int:
        return max(_LEAST_ROOM, ((self.wishes.memory_bytes or default_memory_bytes()) - _FREE) // _SHARE)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with node and bit for a damaged stream, BudgetError if rows do not fit in
        memory."""
        facts, graph = self.facts()
        threads = self.wishes.threads or available_cores()
        n_pairs = max(1, min(pairs_per_batch(batch_bytes), self._room() // (64 * (threads + 1))))
        self._consumed, arcs = 0, 0
        with ExitStack() as stack:
            file = stack.enter_context(self._opened(graph, facts.graph))
            spans = self._spans(stack, n_pairs) if threads > 1 else None
            decoding = _Decoding(facts, graph, file, n_pairs, threads, self._room())
            for batch in decoding.batches(spans):
                arcs += len(batch.dst)
                if arcs > facts.arcs:
                    break
                self._consumed = min(decoding.bit >> 3, graph.size_bytes or 0)
                yield batch
            if arcs != facts.arcs:
                raise InputError(f"the properties say {facts.arcs:,} arcs, and there are"
                                 f" {'more' if arcs > facts.arcs else f'{arcs:,}'}", path=graph.name, remedy=AGAIN)
            self._check_tail(file, graph, decoding.bit)
        self._consumed = graph.size_bytes or 0
        self.dropped = {"labels": arcs} if facts.labelled else {}

    def _opened(self, source: Input, path: Path) -> BinaryIO:
        self.input.watched.add(path)
        try:
            return open(path, "rb", buffering=0)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", path=source.name) from error

    def _check_tail(self, file: BinaryIO, graph: Input, bit: int) -> None:
        """Raise InputError if the last row is followed by more than padding to a word."""
        block = _Block(file, graph)
        place = block.load(bit)
        rest = np.unpackbits(block.data[: block.limit >> 3])[place:]
        if len(rest) > _MOST_TAIL or (len(rest) > 7 and rest.any()):
            raise InputError(f"{len(rest) >> 3:,} bytes or more follow the row of the last node", path=graph.name,
                             byte=(bit + 7) >> 3, remedy=AGAIN)

    def _spans(self, stack: ExitStack, n_pairs: int) -> Iterator[_Span] | None:
        """The spans of nodes for threads if there is a file of offsets, else None."""
        facts, graph = self.facts()
        path = facts.graph.with_suffix(".offsets")
        if not path.exists():
            return None
        source = Input(str(path), headerless=True)
        block = _Block(stack.enter_context(self._opened(source, path)), source)
        span_bits = max(1, n_pairs * 8 * (graph.size_bytes or 0) // max(1, facts.arcs))
        return _spans(facts, block, source.name, 8 * (graph.size_bytes or 0), span_bits)

    def position_bytes(self) -> int:
        """The bytes of the graph that have been decoded."""
        return self._consumed


def _spans(facts: Properties, block: _Block, name: str, most: int, span_bits: int) -> Iterator[_Span]:
    """Spans of about `span_bits` bits from a file of offsets. facts : has the code of the offsets. Raises InputError if
    the offsets end early, or exceed bit `most`."""
    wrong = InputError(f"these are no offsets of {facts.nodes:,} nodes in {most:,} bits", path=name,
                       remedy="fetch the file again, or remove it: the graph is read without, by one thread")
    positions = np.empty(0, np.int64)
    bit, known, first = 0, 0, 0  # offsets read, and the first node of the next span
    while first < facts.nodes:
        more = np.empty(min(_SPAN_NODES, facts.nodes + 1 - known), np.int64)
        place = block.load(bit)
        count, place = bits.sums_of_gaps(block.data, place, block.limit, facts.codes[-1],
                                         int(positions[-1]) if known else 0, more)
        if not count and not block.ends_file and block.room < _MOST_OFFSET_BYTES:  # a code of many zeros
            block.room *= 2
            continue
        if not count or more[count - 1] > most or (not known and more[0]):
            raise wrong
        bit, known = block.base + place, known + count
        positions = np.concatenate([positions, more[:count]])
        start = known - len(positions)  # the node whose row begins at positions[0]
        while first < known - 1:
            stop = start + int(np.searchsorted(positions, positions[first - start] + span_bits))
            if stop >= known and known <= facts.nodes and known - first < _SPAN_NODES:
                break
            stop = max(first + 1, min(stop, known - 1))
            lowest = max(start, first - _BACK[-1])
            yield _Span(first, stop, lowest, positions[lowest - start : stop - start + 1])
            first = stop
        positions = positions[max(0, first - start - _BACK[-1]) :]


class _Decoding:
    """The batches of all rows, in order, decoded by threads. most : bytes for rows that others copy from, and for the
    batches of threads. bit : bit offset after the rows in the batches so far."""

    def __init__(self, facts: Properties, graph: Input, file: BinaryIO, n_pairs: int, threads: int, most: int) -> None:
        self._facts, self._graph, self._file, self._n_pairs = facts, graph, file, n_pairs
        self._threads, self._most, self.bit = threads, most, 0

    def batches(self, spans: Iterator[_Span] | None) -> Iterator[EdgeBatch]:
        """The batches. spans : None: one span of all nodes; with several threads, one of them decodes ahead of the
        caller. Raises InputError and BudgetError."""
        ahead = self._threads if spans is not None else 1
        if spans is None:
            spans = iter([_Span(0, self._facts.nodes, 0, np.zeros(1, np.int64))])
        last: _Rows | None = None
        waiting: deque[tuple[_Rows, _Span, Future[list[EdgeBatch]]]] = deque()
        pool = ThreadPoolExecutor(ahead, thread_name_prefix="decode")
        try:
            for span in spans:
                block = _Block(self._file, self._graph, self._facts.little)
                rows = _Rows(self._facts, block, self._graph.name, span, self._n_pairs, self._most // (ahead + 1))
                waiting.append((rows, span, pool.submit(rows.step)))
                if len(waiting) > ahead:
                    last = yield from self._drained(pool, last, *waiting.popleft())
            while waiting:
                last = yield from self._drained(pool, last, *waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)

    def _drained(self, pool: ThreadPoolExecutor, last: _Rows | None, rows: _Rows, span: _Span,
                 future: Future[list[EdgeBatch]]) -> Generator[EdgeBatch, None, _Rows]:
        """Yield the batches of a span; returns the _Rows at its end. future : the first batch, already started. last :
        the _Rows at the end of the previous span, which continue if this span cannot be decoded by itself."""
        try:
            batches = self._result(rows, future)
        except _TooFar:
            assert last is not None
            rows = last
            rows.follow(span)
            batches = self._result(rows, pool.submit(rows.step))
        while True:
            self.bit = rows.bit
            following = None if rows.done else pool.submit(rows.step)
            yield from batches
            if following is None:
                break
            batches = self._result(rows, following)
        if span.end not in (None, self.bit):
            raise InputError(f"by the offsets the row of node {span.stop:,} begins at bit {span.end:,}, and the one"
                             f" before it ends at bit {self.bit:,}", path=self._graph.name, remedy="fetch both files"
                             " again, or remove the .offsets: the graph is read without, by one thread")
        return rows

    def _result(self, rows: _Rows, future: Future[list[EdgeBatch]]) -> list[EdgeBatch]:
        """The batch of the first rows in the queue; only these may use all the memory. Raises BudgetError."""
        try:
            return future.result()
        except _NoRoom:
            rows.most = self._most
        try:
            return rows.step()
        except _NoRoom as need:
            raise BudgetError(
                f"a row and the rows that it may be copied from take {format_size(need.args[0])}, and"
                f" {format_size(self._most)} are planned for them", path=self._graph.name,
                remedy=f"give --memory {(need.args[0] * _SHARE + _FREE >> 20) + 1}MiB or more") from None
