"""From pairs of vertices to sort keys (arcs.py), and from them to the rows of a store.

Where two ids do not fit one key (more than 2^31 vertices), arcs are first dealt into partitions by
the high bits of their row, each a chain of segments in a scratch file, and the partitions are
sorted one after another with all the memory there is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..checkpoint.records import State
from ..errors import InputError
from ..sorting.merge import fewer_runs
from ..sorting.runs import Keys
from ..sorting.sort import KeySorter, RunSet, SortContext
from ..store.layout import id_dtype
from ..store.writer import StoreWriter
from .arcs import BLOCK, FLAG_BITS, ArcSplitter, RowStream, both_directions, put_both_directions

_MOST_PARTITION_BITS = 13
_SEGMENT_KEYS = 1 << 13


def id_bits(n_ids: int) -> int:
    """Bits of the ids 0..n_ids-1, at least 1."""
    return max(1, (n_ids - 1).bit_length())


class ArcSorter:
    """Takes the edges among n_vertices vertices, and later writes their rows to a store.

    n_vertices : ids are 0..n_vertices-1. context : plan, scratch space, threads. resumed : what
    `state` was, to go on from there. Raises InputError where the ids are too wide even for partitions.
    n_reverse : after `write_rows`, the edges that were added in both directions.
    """

    def __init__(self, n_vertices: int, context: SortContext, resumed: State | None = None) -> None:
        self._context, self._n_vertices = context, n_vertices
        self._bits = id_bits(n_vertices)
        self._high_bits = max(0, 2 * self._bits + FLAG_BITS - context.plan.key_bits)
        if self._high_bits > min(_MOST_PARTITION_BITS, self._bits):
            raise InputError(
                f"{n_vertices} vertices are too many for sort keys of {context.plan.key_bits} bits",
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
        state: State = {"partitions": None, "runs": None, "sorter": None}
        if self._partitions is not None:
            state["partitions"] = self._partitions.state()
        elif self._runs is not None:
            state["runs"] = self._runs.state()
        else:
            assert self._sorter is not None
            state["sorter"] = self._sorter.state()
        return state

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
        """Stop the sorting threads."""
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
        """Remove the file."""
        self._file.close()
