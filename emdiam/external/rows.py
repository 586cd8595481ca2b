"""Rows of a graph whose offsets are not in memory: an arena holds chunks of `indptr`, another one blocks of arcs.

Bytes: two arenas, and a few words per chunk of both arrays. I/O: the chunk of `indptr` of a requested vertex, unless it
is in the arena; and once, when a block is first read, the chunks of its rows, which are checked (stream/rows.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..distinct import distinct
from ..jit import kernel
from ..progress import Tick, no_tick
from ..store.array_reader import ShardedArray
from ..store.store import Store
from ..stream.blocks import build_outline
from ..stream.counters import Counters, SharedCounters
from ..stream.pager import Arena, Pager
from ..stream.rows import RowCheck
from ..stream.threads import Threads
from ..traverse.atomics import atomic_add
from ..traverse.components import lower_bound
from .buckets import Buckets, Sink

# Vertices whose bounds are in memory at a time.
PIECE = 1 << 16
# Chunks of offsets that are kept outside the arena.
RECENT = 4
_BATCH = 1 << 14  # arcs that a thread collects before it passes them on
_CHUNK, _LAST, _ROW, _ARC, _DONE, _STATE = range(6)
_NO_VALUES = np.empty(0, np.uint32)
# Pieces of vertices, ascending, int64[k], with a value for each, or without values.
Sources = Iterable[tuple[np.ndarray, np.ndarray | None]]


class Rows:
    """Offsets and arcs of a store.

    Parameters
    ----------
    store : the graph. threads, counters : see Pager; reads of offsets are counted separately. arc_slots, offset_slots :
    chunks of `indices` and of `indptr` in memory. run_blocks : chunks that a thread reads at once.

    Reads all of `indptr` once, and checks it. Raises StoreError.
    """

    def __init__(self, store: Store, threads: Threads, counters: SharedCounters, *, arc_slots: int, offset_slots: int,
                 run_blocks: int = 8) -> None:
        self._store, self.threads, self.counters, self.offset_counters = store, threads, counters, SharedCounters()
        self.table = build_outline(store)
        check = RowCheck(self.table, store.id_dtype, store.path, bounds=self.read_bounds)
        self.arcs = Pager(store.indices, check, _arena(store.indices, arc_slots), threads, counters, run_blocks)
        # A row may end in the next chunk of offsets.
        offsets = _arena(store.indptr, max(2, offset_slots))
        self.offsets = Pager(store.indptr, None, offsets, threads, self.offset_counters)
        self.offset_shift = store.indptr.chunk_items.bit_length() - 1
        self._recent: dict[int, np.ndarray] = {}
        self._lock = threading.Lock()

    def stats(self) -> Counters:
        """The counters so far, with the bytes of offsets; blocks are only those of arcs."""
        counted, offsets = self.counters.snapshot(), self.offset_counters.snapshot()
        counted.bytes_read += offsets.bytes_read
        counted.bytes_decoded += offsets.bytes_decoded
        return counted

    @property
    def paging(self) -> tuple[tuple[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray, int]]:
        """(items, slot of each chunk, shift) of offsets and of arcs, for kernels."""
        return ((self.offsets.arena.ids, self.offsets.arena.slot_of, self.offset_shift),
                (self.arcs.arena.ids, self.arcs.arena.slot_of, self.table.shift))

    def read_bounds(self, first: int, stop: int) -> np.ndarray:
        """Offsets of rows first..stop-1, int64[stop - first], read without the arena; thread-safe. stop : at most n +
        1."""
        out, items = np.empty(stop - first, np.int64), 1 << self.offset_shift
        for chunk in range(first >> self.offset_shift, -(-stop // items)):
            low, high = max(first, chunk * items), min(stop, (chunk + 1) * items)
            out[low - first : high - first] = self._chunk(chunk)[low - chunk * items : high - chunk * items]
        return out

    def _chunk(self, chunk: int) -> np.ndarray:
        """A chunk of offsets, int64[chunk_items]; the last few are kept, as neighbouring blocks need the same chunk."""
        with self._lock:
            found = self._recent.pop(chunk, None)
            if found is None:
                found = np.empty(self._store.indptr.chunk_items, np.int64)
                self.offset_counters.add(bytes_read=self._store.indptr.fetch(chunk, [found]), blocks_read=1)
            self._recent[chunk] = found
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]
        return found

    def bounds(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(first arc, end) of the rows of `vertices`, int64[k] ascending; int64[k] each."""
        starts, ends = np.empty(len(vertices), np.int64), np.empty(len(vertices), np.int64)
        at, slots = 0, max(1, self.offsets.arena.n_slots - 1)
        while at < len(vertices):
            # The vertices within the chunks that fit; a row that ends in the next chunk needs that chunk too.
            stop = int(np.searchsorted(vertices, ((int(vertices[at]) >> self.offset_shift) + slots)
                                       << self.offset_shift))
            some = vertices[at:stop]
            self.offsets.load(distinct(np.concatenate((some, some + 1)) >> self.offset_shift))
            gather_bounds(*self.paging[0], some, starts[at:stop], ends[at:stop])
            at = stop
        return starts, ends

    def bounds_of(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for vertices in any order."""
        distinct, where = np.unique(vertices, return_inverse=True)
        starts, ends = self.bounds(distinct)
        return starts[where], ends[where]

    @property
    def span(self) -> tuple[int, int]:
        """All vertices: first and end."""
        return 0, self.table.n_vertices

    def degrees_of(self, first: int, stop: int) -> np.ndarray:
        """Degrees of vertices first..stop-1, int64[stop - first], read without the arena."""
        result: np.ndarray = np.diff(self.read_bounds(first, stop + 1))
        return result

    def degrees(self, vertices: np.ndarray) -> np.ndarray:
        """Degrees of `vertices` (int64[k], in any order), int64[k]."""
        starts, ends = self.bounds_of(vertices)
        return ends - starts

    def ascending(self, stop: int | None = None, first: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(vertices, degrees) of first..stop-1 (None: all), in pieces, int64[k] each."""
        for start, end in pieces(self.table.n_vertices if stop is None else stop, first):
            yield np.arange(start, end), self.degrees_of(start, end)

    def needed(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Blocks that contain an arc of rows with these bounds (ascending), int64[k] ascending."""
        some = starts < ends
        if not some.any():
            return np.empty(0, np.int64)
        first, last = starts[some] >> self.table.shift, (ends[some] - 1) >> self.table.shift
        steps = np.zeros(int(last[-1] - first[0]) + 2, np.int64)
        np.add.at(steps, first - first[0], 1)
        np.add.at(steps, last - first[0] + 1, -1)
        return np.flatnonzero(np.cumsum(steps)) + first[0]

    def send(self, sources: Sources, buckets: Sink, *, up: bool = False, tick: Tick = no_tick) -> int:
        """Send the value of every source along its arcs: (head, value) for each arc goes into `buckets`, from several
        threads and in no order. up : only to heads above the source. Returns the number of arcs examined. Each piece of
        sources reads every block that it needs once."""
        total = 0
        for vertices, values in sources:
            starts, ends = self.bounds(vertices)
            blocks = self.needed(starts, ends)
            if len(blocks):
                rows = (vertices, starts, ends, _NO_VALUES if values is None else values)
                self.arcs.sweep(blocks, _sender(self.table.shift, rows, up, buckets.add), tick)
            total += int((ends - starts).sum())
        self.counters.add(edges_scanned=total)
        return total

    def bring(self, sources: Sources, buckets: Buckets, *, up: bool = False, tick: Tick = no_tick) -> int:
        """One pass: `send`, then hand out the pairs. Returns the number of arcs examined."""
        arcs = self.send(sources, buckets, up=up, tick=tick)
        buckets.finish()
        self.counters.add(passes=1)
        return arcs


def pieces(stop: int, first: int = 0) -> Iterator[tuple[int, int]]:
    """(first, end) of the pieces of first..stop-1."""
    for start in range(first, stop, PIECE):
        yield start, min(start + PIECE, stop)


def _arena(array: ShardedArray, slots: int) -> Arena:
    slots = max(1, min(slots, array.n_chunks))
    return Arena(array.n_chunks, slots, array.chunk_items, array.dtype)


def _sender(
    shift: int, rows: tuple[np.ndarray, ...], up: bool, add: Callable[[np.ndarray, np.ndarray | None], None]
) -> Callable[..., int]:
    """A kernel for Pager.sweep that passes on (head, value) for every arc of the rows."""
    with_values = len(rows[3]) > 0

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        state = np.zeros(_STATE, np.int64)
        state[_ROW] = -1
        heads, values = np.empty(_BATCH, ids.dtype), np.empty(_BATCH if with_values else 0, rows[3].dtype)
        while not state[_DONE]:
            count = send_arcs((chunks, position, turn, grain, ids), shift, *rows, up, state, heads, values)
            if count:
                add(heads[:count], values[:count] if with_values else None)
        return 0

    return run


@kernel
def gather_bounds(items, slot_of, shift, vertices, starts, ends):
    """starts, ends = offsets of the rows of `vertices` and of the next rows; all chunks are in the arena."""
    mask = (1 << shift) - 1
    for i in range(len(vertices)):
        v = vertices[i]
        starts[i] = items[(np.int64(slot_of[v >> shift]) << shift) + (v & mask)]
        v += 1
        ends[i] = items[(np.int64(slot_of[v >> shift]) << shift) + (v & mask)]


@kernel
def send_arcs(piece, shift, vertices, starts, ends, row_values, up, state, heads, values):
    """Write (head, value of the row) of arcs in the blocks of the piece, up to the room; returns their number.

    piece : from Pager.sweep. vertices, starts, ends : int64[k] ascending, rows; row_values : one for each, or length 0.
    up : only heads above their vertex. state : int64[5] = the current block, and the end of the taken blocks; the row
    (-1: search for it) and arc to continue with; whether all is done.
    """
    chunks, position, turn, grain, ids = piece
    count = 0
    while True:
        if state[_CHUNK] == state[_LAST]:
            state[_CHUNK] = atomic_add(turn, 0, grain)
            if state[_CHUNK] >= len(chunks):
                state[_DONE] = 1
                return count
            state[_LAST] = min(state[_CHUNK] + grain, len(chunks))
        low = chunks[state[_CHUNK]] << shift
        base = position[state[_CHUNK]] - low
        high = low + (1 << shift)
        if state[_ROW] < 0:
            state[_ROW] = lower_bound(ends, low + 1, 0, len(ends))
            state[_ARC] = low
        row = state[_ROW]
        while row < len(starts) and starts[row] < high:
            begin = max(starts[row], state[_ARC])
            for p in range(begin, min(ends[row], high)):
                if count == len(heads):
                    state[_ROW], state[_ARC] = row, p
                    return count
                w = ids[base + p]
                if up and np.int64(w) <= vertices[row]:
                    continue
                heads[count] = w
                if len(row_values):
                    values[count] = row_values[row]
                count += 1
            row += 1
        state[_CHUNK] += 1
        state[_ROW] = -1
