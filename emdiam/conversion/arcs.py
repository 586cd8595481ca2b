"""From pairs to sort keys, and from merged keys to the rows of a store: neighbours and degrees, appended in order.

A pair (a, b) becomes two keys, one for each arc of its edge: row << shift + 1 | neighbour << 1 | flag. The flag
is set on the arc up, from the smaller to the larger vertex, where the pair listed it down. So an edge that was
listed in both directions has one key more than arcs, which is counted when the flag is taken off; a pair that
repeats another one in the same direction has the same keys and vanishes with them. Hence, exactly,

    pairs = edges + loops + duplicates (same direction) + reverse (the second direction of an edge)

Where two ids do not fit one key (more than 2^31 vertices), arcs are first dealt into partitions by the high bits of
their row, each a chain of segments in a scratch file, and the partitions are sorted one after another with all the
memory there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checkpoint.records import State
from ..errors import InputError
from ..sorting.runs import Keys, unique_in_place
from ..sorting.sort import KeySorter, RunSet, SortContext, fewer_runs, merged_from
from ..store.layout import id_dtype
from ..store.writer import StoreWriter

BLOCK = 1 << 15
FLAG_BITS = 1
_WINDOW = 1 << 17
_MOST_PARTITION_BITS = 13
_SEGMENT_KEYS = 1 << 13


def put_both_directions(sorter: KeySorter, src: Keys, dst: Keys, shift: int) -> None:
    """Add both keys of every pair. src, dst : uint64[k], below 2^shift, no loops."""
    step = min(BLOCK, sorter.most_keys // 2)
    for start in range(0, len(src), step):
        a, b = src[start : start + step], dst[start : start + step]
        k = len(a)
        room = sorter.room(2 * k)
        _fill(room[:k], a, b, shift)
        _fill(room[k : 2 * k], b, a, shift)
        room[k : 2 * k] |= a > b
        sorter.took(2 * k)


def both_directions(src: Keys, dst: Keys, rows: Keys, shift: int) -> Keys:
    """The keys of the pairs, uint64[2k], with `rows`, uint64[2k], for the rows src, dst."""
    keys = np.empty(2 * len(src), np.uint64)
    _fill(keys, rows, np.concatenate([dst, src]), shift)
    keys[len(src) :] |= src > dst
    return keys


def _fill(out: Keys, rows: Keys, neighbours: Keys, shift: int) -> None:
    np.left_shift(rows, shift, out=out)
    np.bitwise_or(out, neighbours, out=out)
    np.left_shift(out, FLAG_BITS, out=out)


def without_flags(keys: Keys) -> tuple[Keys, int]:
    """The arcs row << shift | neighbour of sorted distinct keys, in their place, and how many edges among them
    were listed in both directions."""
    np.right_shift(keys, FLAG_BITS, out=keys)
    arcs = keys[: unique_in_place(keys)]
    return arcs, len(keys) - len(arcs)


def pairs_of(keys: Keys, shift: int) -> tuple[Keys, Keys]:
    """Sources and targets of the pairs whose keys these are, each once: those of the arcs up."""
    src, dst = keys >> np.uint64(shift + FLAG_BITS), keys >> np.uint64(FLAG_BITS) & np.uint64((1 << shift) - 1)
    up, down = src < dst, (keys & np.uint64(1)).astype(bool)
    return np.where(down, dst, src)[up], np.where(down, src, dst)[up]


@dataclass(frozen=True)
class ArcPiece:
    """Consecutive arcs in storage order.

    neighbours : id dtype of the store [k]. rows : uint64[r], the vertices they belong to,
    increasing; counts : int64[r], how many of the k belong to each. n_reverse : edges among them that were
    listed in both directions (each is counted where its smaller vertex has its row).
    """

    neighbours: npt.NDArray[Any]
    rows: Keys
    counts: npt.NDArray[np.int64]
    n_reverse: int = 0


@dataclass(frozen=True)
class ArcSplitter:
    """Splits keys into an ArcPiece; called in threads.

    base_row : added to rows (a partition begins there). first : subtracted from rows and
    neighbours (ids that start there). rank : turns raw ids to vertices instead.
    """

    shift: int
    dtype: np.dtype[Any]
    base_row: int = 0
    first: int = 0
    rank: Callable[[npt.NDArray[np.unsignedinteger[Any]]], npt.NDArray[np.uint32]] | None = None

    def __call__(self, keys: Keys) -> ArcPiece:
        """keys : uint64[k], sorted, distinct, k > 0; changed. Both keys of an arc must be among them."""
        keys, n_reverse = without_flags(keys)
        starts = self._row_starts(keys)
        rows = keys[starts] >> np.uint64(self.shift)
        counts = np.diff(starts, append=len(keys))
        neighbours = self._low_bits(keys)
        if self.rank is not None:
            return ArcPiece(self.rank(neighbours).astype(self.dtype, copy=False),
                            self.rank(rows).astype(np.uint64), counts, n_reverse)
        if self.first:
            neighbours -= neighbours.dtype.type(self.first)
        return ArcPiece(neighbours, rows + np.uint64(self.base_row) - np.uint64(self.first), counts, n_reverse)

    def _row_starts(self, keys: Keys) -> npt.NDArray[np.int64]:
        """Where a new row begins, int64[r], 0 included."""
        parts = [np.zeros(1, np.int64)]
        for start in range(0, len(keys), BLOCK):
            rows = keys[max(0, start - 1) : start + BLOCK] >> np.uint64(self.shift)
            parts.append(np.flatnonzero(rows[1:] != rows[:-1]) + max(1, start))
        return np.concatenate(parts)

    def _low_bits(self, keys: Keys) -> npt.NDArray[Any]:
        """The neighbours, in the dtype of the store."""
        out = np.empty(len(keys), self.dtype)
        if self.dtype == np.uint32 and self.shift <= 32:
            np.bitwise_and(keys.view("<u4")[::2], np.uint32((1 << self.shift) - 1), out=out)
        else:
            np.bitwise_and(keys, np.uint64((1 << self.shift) - 1), out=out, casting="same_kind")
        return out


class RowStream:
    """Appends pieces to a StoreWriter: neighbours as they are, degrees for *every* vertex.

    Rows that a piece boundary cuts are put together, vertices without arcs get degree 0. A writer that
    was resumed knows how far its rows had come (`part`, `low`), and every writer has it in its state.
    n_arcs, n_reverse : so far, as in ArcPiece. part : partitions of keys taken whole. low : where in the next
    one the keys not yet taken begin.
    """

    def __init__(self, writer: StoreWriter, n_vertices: int) -> None:
        self._writer, self._n_vertices = writer, n_vertices
        self._next = 0
        self._open_row, self._open_count = 0, 0
        self.n_arcs = self.n_reverse = self.part = self.low = 0
        if writer.rows_resumed is not None:
            (self._next, self._open_row, self._open_count, self.n_arcs, self.n_reverse, self.part,
             self.low) = writer.rows_resumed["figures"]
        writer.follow_rows(self.state)

    def state(self) -> State:
        return {"figures": [self._next, self._open_row, self._open_count, self.n_arcs, self.n_reverse, self.part,
                            self.low]}

    def take(self, runs: RunSet, context: SortContext, splitter: ArcSplitter) -> None:
        """Merge and append the arcs of the partition `part`, from `low` on; every piece is a safe point."""
        with closing(merged_from(runs, context, splitter, low=self.low)) as pieces:
            for end, piece in pieces:
                self.append(piece)
                if end is not None:
                    self.low = end
                    context.safe.reached()
        self.part, self.low = self.part + 1, 0

    def append(self, piece: ArcPiece) -> None:
        """Append the next piece. Its first row may continue the last one."""
        self._writer.append_neighbours(piece.neighbours)
        self.n_arcs += len(piece.neighbours)
        self.n_reverse += piece.n_reverse
        rows, counts = piece.rows, piece.counts
        if self._open_count and int(rows[0]) != self._open_row:
            self._emit(np.array([self._open_row], np.uint64), np.array([self._open_count]))
            self._open_count = 0
        counts[0] += self._open_count
        self._emit(rows[:-1], counts[:-1])
        self._open_row, self._open_count = int(rows[-1]), int(counts[-1])

    def finish(self) -> None:
        """Append the row still open and the vertices after it."""
        if self._open_count:
            self._emit(np.array([self._open_row], np.uint64), np.array([self._open_count]))
            self._open_count = 0
        self._skip_to(self._n_vertices)

    def _emit(self, rows: Keys, counts: npt.NDArray[np.int64]) -> None:
        """Degrees of `rows`, zeros between them."""
        done = 0
        while done < len(rows):
            self._skip_to(int(rows[done]))
            stop = done + int(np.searchsorted(rows[done:], np.uint64(self._next + _WINDOW)))
            width = int(rows[stop - 1]) + 1 - self._next
            degrees = np.zeros(width, np.int64)
            degrees[(rows[done:stop] - np.uint64(self._next)).astype(np.int64)] = counts[done:stop]
            self._writer.append_degrees(degrees)
            self._next += width
            done = stop

    def _skip_to(self, vertex: int) -> None:
        """Degree 0 for the vertices up to `vertex`."""
        while self._next < vertex:
            width = min(_WINDOW, vertex - self._next)
            self._writer.append_degrees(np.zeros(width, np.int64))
            self._next += width


class ArcSorter:
    """Takes the edges among n_vertices vertices, and later writes their rows to a store.

    n_vertices : ids are 0..n_vertices-1. context : plan, scratch space, threads. resumed : what
    `state` was, to go on from there. Raises InputError where the ids are too wide even for partitions.
    n_reverse : after `write_rows`, the edges that were added in both directions.
    """

    def __init__(self, n_vertices: int, context: SortContext, resumed: State | None = None) -> None:
        self._context, self._n_vertices = context, n_vertices
        self._bits = max(1, (n_vertices - 1).bit_length())
        self._high_bits = max(0, 2 * self._bits + FLAG_BITS - context.plan.key_bits)
        if self._high_bits > min(_MOST_PARTITION_BITS, self._bits):
            raise InputError(
                f"{n_vertices:,} vertices are too many for sort keys of {context.plan.key_bits} bits",
                remedy=f"at most 2^{(context.plan.key_bits - FLAG_BITS + _MOST_PARTITION_BITS) // 2} can be done",
            )
        self._low_bits = self._bits - self._high_bits
        self.n_reverse = 0
        self._partitions: _Partitions | None = None
        self._sorter: KeySorter | None = None
        self._runs: RunSet | None = None
        if self._high_bits:
            self._partitions = _Partitions(1 << self._high_bits, context, resumed and resumed["partitions"])
        elif resumed is not None and resumed["runs"] is not None:
            self._runs = RunSet.restored(resumed["runs"], context)
        else:
            self._sorter = KeySorter(context, resumed=resumed and resumed["sorter"])
        context.stats.partitions = 1 << self._high_bits

    def state(self) -> State:
        """All edges taken so far as a state, before `finish`, in it and after."""
        runs, sorter = self._runs, None if self._partitions or self._runs else self._sorter
        return {"partitions": self._partitions and self._partitions.state(), "runs": runs and runs.state(),
                "sorter": sorter and sorter.state()}

    def add(self, src: Keys, dst: Keys) -> None:
        """Add edges. src, dst : uint64[k], no loops; duplicates allowed."""
        if self._partitions is None:
            assert self._sorter is not None
            put_both_directions(self._sorter, src, dst, self._bits)
            return
        for start in range(0, len(src), BLOCK):
            a, b = src[start : start + BLOCK], dst[start : start + BLOCK]
            rows, mask = np.concatenate([a, b]), np.uint64((1 << self._low_bits) - 1)
            keys = both_directions(a, b, rows & mask, self._bits)
            self._partitions.add(rows >> np.uint64(self._low_bits), keys)

    def finish(self) -> None:
        """No more edges: wait until the runs are sorted (with partitions, `write_rows` does that)."""
        if self._partitions is not None:
            return
        if self._runs is None:
            assert self._sorter is not None
            self._runs = self._sorter.finish()
        self._runs = fewer_runs(self._runs, self._context, self._passed)

    def _passed(self, runs: RunSet) -> None:
        """A pass has made these of the runs."""
        self._runs = runs
        self._context.safe.reached()

    def _sorted_partitions(self, first: int) -> Iterator[tuple[int, RunSet]]:
        """(first row, sorted runs) of every partition in order, from number `first` on."""
        if self._partitions is None:
            if not first:
                assert self._runs is not None
                yield 0, self._runs
            return
        for number in range(first, 1 << self._high_bits):
            self._sorter = KeySorter(self._context)
            for keys in self._partitions.read(number):
                self._sorter.add(keys)
            yield number << self._low_bits, fewer_runs(self._sorter.finish(), self._context)
        if not self._context.safe.active:
            self._partitions.close()

    def write_rows(self, writer: StoreWriter) -> int:
        """Merge, and append all rows to `writer`, from where it was resumed; returns the number of
        arcs. Once, after `finish`."""
        stream = RowStream(writer, self._n_vertices)
        dtype = id_dtype(self._n_vertices)
        for base_row, runs in self._sorted_partitions(stream.part):
            stream.take(runs, self._context, ArcSplitter(self._bits, dtype, base_row=base_row))
            self._context.safe.reached()
            if self._partitions is not None or not self._context.safe.active:
                runs.close()  # else they are kept for a store that has to be begun again
        stream.finish()
        self.n_reverse = stream.n_reverse
        return stream.n_arcs

    def abort(self) -> None:
        if self._sorter is not None:
            self._sorter.abort()


class _Partitions:
    """Keys dealt into numbered partitions on disk; RAM: one segment each."""

    def __init__(self, n_partitions: int, context: SortContext, resumed: State | None = None) -> None:
        segment = min(_SEGMENT_KEYS, max(16, context.plan.run_keys // n_partitions))
        self._buffers = np.empty((n_partitions, segment), np.uint64)
        self._used = np.zeros(n_partitions, np.int64)
        self._segments: list[list[int]] = [[] for _ in range(n_partitions)]
        if resumed is None:
            self._file = context.scratch.file()
            return
        # Segments on disk are as long as the buffers were.
        self._buffers, self._used = resumed["buffers"], resumed["used"]
        ends = np.cumsum(resumed["lengths"])[:-1]
        self._segments = [part.tolist() for part in np.split(resumed["segments"], ends)]
        self._file = context.file(resumed["file"])

    def state(self) -> State:
        """The keys so far as a state (the buffers are not copied)."""
        return {
            "buffers": self._buffers, "used": self._used, "file": self._file.name,
            "lengths": np.array([len(segments) for segments in self._segments], np.int64),
            "segments": np.array([offset for part in self._segments for offset in part], np.int64),
        }

    def add(self, numbers: Keys, keys: Keys) -> None:
        """Add keys to the partitions `numbers`, both uint64[k]."""
        order = np.argsort(numbers)
        keys = keys[order]
        ends = np.cumsum(np.bincount(numbers.astype(np.int64), minlength=len(self._used)))
        start = 0
        for number in np.flatnonzero(np.diff(ends, prepend=0)):
            self._deal(int(number), keys[start : ends[number]])
            start = int(ends[number])

    def _deal(self, number: int, keys: Keys) -> None:
        buffer = self._buffers[number]
        while len(keys):
            used = int(self._used[number])
            take = min(len(keys), len(buffer) - used)
            buffer[used : used + take] = keys[:take]
            self._used[number] += take
            keys = keys[take:]
            if self._used[number] == len(buffer):
                self._segments[number].append(self._file.append(buffer))
                self._used[number] = 0

    def read(self, number: int) -> Iterator[Keys]:
        """The keys of one partition, a segment at a time."""
        for offset in self._segments[number]:
            segment = np.empty(self._buffers.shape[1], np.uint64)
            self._file.read_array(offset, segment)
            yield segment
        yield self._buffers[number, : self._used[number]]

    def close(self) -> None:
        self._file.close()
