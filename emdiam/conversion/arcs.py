"""Rows of a store from merged keys (keys.py): neighbours, weights and degrees, appended in order.

If two ids do not fit one key (more than 2^31 vertices), arcs are first distributed to partitions by the high bits of
their rows, each a chain of segments in a scratch file; then the partitions are sorted one after another with all the
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checkpoint.records import State
from ..errors import InputError
from ..formats.source import SortedRows
from ..sorting.runs import MARK_BITS, Entries, Keys
from ..sorting.sort import KeySorter, RunSet, SortContext, fewer_runs, merged_from
from ..store.layout import id_dtype
from ..store.weights import WeightForm
from ..store.writer import StoreWriter
from .arc_keys import ArcKeys
from .keys import (
    BLOCK,
    both_directions,
    by_direction,
    least_of_arcs,
    low_bits,
    weights_of,
    without_flags,
)

_WINDOW = 1 << 17
_MOST_PARTITION_BITS = 13
_SEGMENT_KEYS = 1 << 13


@dataclass(frozen=True)
class ArcPiece:
    """Consecutive arcs in storage order.

    neighbours : id dtype of the store [k]. rows : uint64[r], the vertices they belong to, increasing; counts :
    int64[r], the number of arcs of each. n_reverse : edges among them that were listed in both directions (each counted
    in the row of its smaller vertex). reverse : with directions, the reverse arcs of the same range. weights : of the k
    arcs, dtype of the store [k]. n_several : arcs that came with several weights.
    """

    neighbours: npt.NDArray[Any]
    rows: Keys
    counts: npt.NDArray[np.int64]
    n_reverse: int = 0
    reverse: ArcPiece | None = None
    weights: npt.NDArray[Any] | None = None
    n_several: int = 0


@dataclass(frozen=True)
class ArcSplitter:
    """Splits keys into an ArcPiece; called in threads.

    base_row : added to rows (the first row of a partition). first : subtracted from rows and neighbours (the smallest
    id). rank : used instead to turn raw ids into vertices. directed : whether keys have directions. weights : form of
    the weights, whose numbers then follow the keys.
    """

    shift: int
    dtype: np.dtype[Any]
    base_row: int = 0
    first: int = 0
    rank: Callable[[npt.NDArray[np.unsignedinteger[Any]]], npt.NDArray[np.uint32]] | None = None
    directed: bool = False
    weights: WeightForm | None = None

    def __call__(self, entries: Entries) -> ArcPiece:
        """entries : with sorted distinct keys, at least one; overwritten. Both keys of an arc must be in them."""
        if self.weights is not None:
            return self._weighted(entries, self.weights)
        if self.directed:
            out, back = by_direction(entries)
            return replace(self._piece(out), reverse=self._piece(back))
        return self._piece(*without_flags(entries))

    def _weighted(self, entries: Entries, form: WeightForm) -> ArcPiece:
        """The same for keys with numbers."""
        if not self.directed:
            return self._weighed(*least_of_arcs(entries), form)
        flags = (entries[0] & np.uint64(1 << MARK_BITS)).astype(bool)
        parts = (np.stack([row[part] for row in entries]) for part in (~flags, flags))
        out, back = (self._weighed(*least_of_arcs(part), form) for part in parts)
        return replace(out, reverse=back)

    def _weighed(self, arcs: Entries, n_several: int, n_reverse: int, form: WeightForm) -> ArcPiece:
        """The rows of arcs with the numbers of their weights."""
        return replace(self._piece(arcs[0], n_reverse), weights=weights_of(arcs[1], form), n_several=n_several)

    def _piece(self, keys: Keys, n_reverse: int = 0) -> ArcPiece:
        """The rows of arcs row << shift | neighbour."""
        if not len(keys):
            return ArcPiece(np.empty(0, self.dtype), keys, np.empty(0, np.int64))
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
        """The first position of each row, int64[r], beginning with 0."""
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


class _Rows:
    """Appends pieces of one direction to a StoreWriter: neighbours as they are, degrees for *every* vertex. Rows cut by
    the end of a piece are joined, vertices without arcs get degree 0. n_arcs : so far."""

    def __init__(self, writer: StoreWriter, n_vertices: int, reverse: bool, figures: Sequence[int]) -> None:
        self._writer, self._n_vertices, self._reverse = writer, n_vertices, reverse
        self._next, self._open_row, self._open_count, self.n_arcs = figures

    @property
    def figures(self) -> list[int]:
        """The position so far, which the constructor accepts."""
        return [self._next, self._open_row, self._open_count, self.n_arcs]

    def append(self, piece: ArcPiece) -> None:
        """Append the next piece. Its first row may continue the last one."""
        if not len(piece.rows):
            return
        self._writer.append_neighbours(piece.neighbours, piece.weights, reverse=self._reverse)
        self.n_arcs += len(piece.neighbours)
        rows, counts = piece.rows, piece.counts
        if self._open_count and int(rows[0]) != self._open_row:
            self._emit(np.array([self._open_row], np.uint64), np.array([self._open_count]))
            self._open_count = 0
        counts[0] += self._open_count
        self._emit(rows[:-1], counts[:-1])
        self._open_row, self._open_count = int(rows[-1]), int(counts[-1])

    def finish(self) -> None:
        """Append the open row and the vertices after it."""
        if self._open_count:
            self._emit(np.array([self._open_row], np.uint64), np.array([self._open_count]))
            self._open_count = 0
        self._skip_to(self._n_vertices)

    def _emit(self, rows: Keys, counts: npt.NDArray[np.int64]) -> None:
        """Append the degrees of `rows`, with zeros between them."""
        done = 0
        while done < len(rows):
            self._skip_to(int(rows[done]))
            stop = done + int(np.searchsorted(rows[done:], np.uint64(self._next + _WINDOW)))
            width = int(rows[stop - 1]) + 1 - self._next
            degrees = np.zeros(width, np.int64)
            degrees[(rows[done:stop] - np.uint64(self._next)).astype(np.int64)] = counts[done:stop]
            self._writer.append_degrees(degrees, reverse=self._reverse)
            self._next += width
            done = stop

    def _skip_to(self, vertex: int) -> None:
        """Append degree 0 for the vertices before `vertex`."""
        while self._next < vertex:
            width = min(_WINDOW, vertex - self._next)
            self._writer.append_degrees(np.zeros(width, np.int64), reverse=self._reverse)
            self._next += width


class RowStream:
    """Appends pieces to a StoreWriter; with directions, also the reverse pieces.

    The position (`part`, `low`) is in the state of every writer, and known from a resumed one. n_reverse, n_several :
    so far, as in ArcPiece. part : number of partitions that are complete. low : the first key of the next one that was
    not taken yet.
    """

    def __init__(self, writer: StoreWriter, n_vertices: int, directed: bool = False) -> None:
        begin: State = {"figures": [0, 0, 0, 0], "rows": [[0, 0, 0, 0]] * (1 + directed)}
        state = begin if writer.rows_resumed is None else writer.rows_resumed
        self.n_reverse, self.n_several, self.part, self.low = state["figures"]
        self._rows = [_Rows(writer, n_vertices, bool(at), figures) for at, figures in enumerate(state["rows"])]
        self._writer = writer
        writer.follow_rows(self.state)

    @property
    def n_arcs(self) -> int:
        """Arcs so far, in the rows out."""
        return self._rows[0].n_arcs

    def state(self) -> State:
        figures = [self.n_reverse, self.n_several, self.part, self.low]
        return {"figures": figures, "rows": [rows.figures for rows in self._rows]}

    def take(self, runs: RunSet, context: SortContext, splitter: ArcSplitter) -> None:
        """Merge and append the arcs of the partition `part`, from `low` on; a state can be saved after every piece."""
        with closing(merged_from(runs, context, splitter, low=self.low)) as pieces:
            for end, piece in pieces:
                self.append(piece)
                if end is not None:
                    self.low = end
                    context.safe.reached()
        self.part, self.low = self.part + 1, 0

    def append(self, piece: ArcPiece) -> None:
        """Append the next piece. The first row of each direction may continue the last one."""
        self.n_reverse += piece.n_reverse
        self.n_several += piece.n_several
        self._rows[0].append(piece)
        if piece.reverse is not None:
            self._rows[1].append(piece.reverse)

    def finish(self) -> None:
        """Append the open rows and the vertices after them."""
        for rows in self._rows:
            rows.finish()
        # Without directions both arcs of an edge were counted.
        self._writer.edges_with_several = self.n_several // (1 if len(self._rows) > 1 else 2)


class ArcSorter:
    """Takes the edges among n_vertices vertices, and then writes their rows to a store.

    n_vertices : ids are 0..n_vertices-1. context : plan, scratch space, threads. resumed : a `state` to continue from.
    Raises InputError if the ids are too wide even for partitions. n_reverse : after `write_rows`, the number of edges
    that were added in both directions.
    """

    def __init__(self, n_vertices: int, context: SortContext, resumed: State | None = None) -> None:
        self._context, self._n_vertices = context, n_vertices
        self._bits, behind = max(1, (n_vertices - 1).bit_length()), low_bits(context.weighted)
        self._high_bits = max(0, 2 * self._bits + behind - context.plan.key_bits)
        if self._high_bits > min(_MOST_PARTITION_BITS, self._bits):
            raise InputError(
                f"{n_vertices:,} vertices are too many for sort keys of {context.plan.key_bits} bits",
                remedy=f"at most 2^{(context.plan.key_bits - behind + _MOST_PARTITION_BITS) // 2} can be done",
            )
        self._low_bits = self._bits - self._high_bits
        self.n_reverse = 0
        self._partitions: _Partitions | None = None
        self._sorter: KeySorter | None = None  # of a partition
        self._keys: ArcKeys | None = None
        if self._high_bits:
            self._partitions = _Partitions(1 << self._high_bits, context, resumed and resumed["partitions"])
        else:
            self._keys = ArcKeys(context, self._bits, resumed=resumed and resumed["keys"])
        context.stats.partitions = 1 << self._high_bits

    def state(self) -> State:
        """All edges so far as a state, before, during and after `finish`."""
        return {"partitions": self._partitions and self._partitions.state(), "keys": self._keys and self._keys.state()}

    def add(self, src: Keys, dst: Keys, numbers: Keys | None = None) -> None:
        """Add edges. src, dst : uint64[k], no loops; duplicates allowed. numbers : of their weights, uint64[k]."""
        directed = self._context.directed
        if self._keys is not None:
            self._keys.add(src, dst, numbers)
            return
        assert self._partitions is not None
        for start in range(0, len(src), BLOCK):
            here = slice(start, start + BLOCK)
            a, b, follow = src[here], dst[here], None if numbers is None else numbers[here]
            rows, mask = np.concatenate([a, b]), np.uint64((1 << self._low_bits) - 1)
            entries = both_directions(a, b, rows & mask, self._bits, directed, follow)
            self._partitions.add(rows >> np.uint64(self._low_bits), entries)

    def finish(self) -> None:
        """Wait, after the last edge, until the runs are sorted (with partitions, `write_rows` sorts)."""
        if self._keys is not None:
            self._keys.finish()

    def _sorted_partitions(self, first: int) -> Iterator[tuple[int, RunSet]]:
        """(first row, sorted runs) of every partition in order, from number `first` on."""
        if self._partitions is None:
            if not first:
                assert self._keys is not None and self._keys.runs is not None
                yield 0, self._keys.runs
            return
        for number in range(first, 1 << self._high_bits):
            self._sorter = KeySorter(self._context, followed=self._context.weighted)
            for keys in self._partitions.read(number):
                self._sorter.add(keys)
            yield number << self._low_bits, fewer_runs(self._sorter.finish(), self._context)
        if not self._context.safe.active:
            self._partitions.close()

    def write_rows(self, writer: StoreWriter) -> int:
        """Merge, and append all rows to `writer`, from where it was resumed; returns the number of arcs. Call it once,
        after `finish`."""
        directed, dtype = self._context.directed, id_dtype(self._n_vertices)
        stream = RowStream(writer, self._n_vertices, directed)
        for base_row, runs in self._sorted_partitions(stream.part):
            stream.take(runs, self._context, ArcSplitter(self._bits, dtype, base_row=base_row, directed=directed,
                                                         weights=writer.weight_form))
            self._context.safe.reached()
            if self._partitions is not None or not self._context.safe.active:
                runs.close()  # otherwise kept in case the store must be started again
        stream.finish()
        self.n_reverse = stream.n_arcs // 2 if self._keys is not None and self._keys.symmetric else stream.n_reverse
        return stream.n_arcs

    def abort(self) -> None:
        for sorter in (self._sorter, self._keys):
            if sorter is not None:
                sorter.abort()


class ReadyArcs:
    """A replacement for ArcSorter: arcs that the source already has in the order of a store."""

    def __init__(self, rows: SortedRows) -> None:
        self._rows, self.n_reverse = rows, rows.n_reverse

    def finish(self) -> None:
        """Does nothing, as nothing must be sorted."""

    def write_rows(self, writer: StoreWriter) -> int:
        """Append all rows to `writer`; returns the number of arcs."""
        ids, loops = self._rows.ids, self._rows.loops
        degrees = np.diff(self._rows.starts).astype(np.int64)
        degrees[ids[loops]] -= 1
        for first in range(0, len(degrees), _WINDOW):
            writer.append_degrees(degrees[first : first + _WINDOW])
        for begin in range(0, len(ids), _WINDOW):
            of_piece = slice(*np.searchsorted(loops, (begin, begin + _WINDOW)))
            writer.append_neighbours(np.delete(ids[begin : begin + _WINDOW], loops[of_piece] - begin))
        return len(ids) - len(loops)

    def state(self) -> State:
        """Empty: this step is quick, and is repeated after a stop."""
        return {}

    def abort(self) -> None:
        """Does nothing, as no thread runs."""


class _Partitions:
    """Entries distributed to numbered partitions on disk; RAM: one segment each."""

    def __init__(self, n_partitions: int, context: SortContext, resumed: State | None = None) -> None:
        segment = min(_SEGMENT_KEYS, max(16, context.plan.run_keys // n_partitions))
        self._buffers = np.empty((n_partitions, *((2,) if context.weighted else ()), segment), np.uint64)
        self._used = np.zeros(n_partitions, np.int64)
        self._segments: list[list[int]] = [[] for _ in range(n_partitions)]
        if resumed is None:
            self._file = context.scratch.file()
            return
        # Segments on disk have the length of these buffers.
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

    def add(self, numbers: Keys, entries: Entries) -> None:
        """Add entries to the partitions `numbers`, uint64[k]."""
        order = np.argsort(numbers)
        entries = entries[..., order]
        ends = np.cumsum(np.bincount(numbers.astype(np.int64), minlength=len(self._used)))
        start = 0
        for number in np.flatnonzero(np.diff(ends, prepend=0)):
            self._deal(int(number), entries[..., start : ends[number]])
            start = int(ends[number])

    def _deal(self, number: int, entries: Entries) -> None:
        buffer = self._buffers[number]
        while entries.shape[-1]:
            used = int(self._used[number])
            take = min(entries.shape[-1], buffer.shape[-1] - used)
            buffer[..., used : used + take] = entries[..., :take]
            self._used[number] += take
            entries = entries[..., take:]
            if self._used[number] == buffer.shape[-1]:
                self._segments[number].append(self._file.append(buffer))
                self._used[number] = 0

    def read(self, number: int) -> Iterator[Entries]:
        """The entries of one partition, a segment at a time."""
        for offset in self._segments[number]:
            segment = np.empty(self._buffers.shape[1:], np.uint64)
            self._file.read_array(offset, segment)
            yield segment
        yield self._buffers[number, ..., : self._used[number]]

    def close(self) -> None:
        self._file.close()
