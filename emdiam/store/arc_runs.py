"""All arcs of a store once, in order of storage: runs of chunks with the rows that they hold.

This is the way to read a whole graph without an engine: nothing but `indptr` and `indices`, a few
runs in memory at a time, read and decoded on threads. Rows may be cut between runs.
RAM: about 24 bytes an arc of a run, for a run a thread and one more. I/O: both arrays once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from .info import offset_pieces
from .store import Store

RUN_ARCS = 1 << 17


@dataclass(frozen=True)
class ArcRun:
    """Chunks first to first + count - 1 of `indices`.

    rows : int64[k], the vertices with an arc there, ascending. starts : int64[k + 1], where their arcs begin in the run
    (starts[0] = 0), and its end. head, tail : the first row began before the run, the last one goes on after it.
    """

    first: int
    count: int
    rows: np.ndarray
    starts: np.ndarray
    head: bool
    tail: bool


Work = Callable[[ArcRun, np.ndarray], None]
Tick = Callable[[int], None]


def arc_runs(store: Store, n_chunks: int) -> Iterator[ArcRun]:
    """The runs of all chunks, in order, at most `n_chunks` each. Raises StoreError if `indptr` does not rise from 0 to
    the number of arcs."""
    array = store.indices
    pieces = _rows_with_arcs(store)
    rows = ends = np.empty(0, np.int64)
    first, head = 0, False
    while first < array.n_chunks:
        count = array.run_length(first, n_chunks)
        low = first * array.chunk_items
        high = min(array.length, low + count * array.chunk_items)
        while not len(ends) or ends[-1] < high:
            more = next(pieces, None)
            if more is None:
                raise store.damaged(f"indptr ends before {high} of {array.length} arcs")
            rows, ends = np.concatenate((rows, more[0])), np.concatenate((ends, more[1]))
        k = int(np.searchsorted(ends, high)) + 1
        tail = bool(ends[k - 1] > high)
        starts = np.concatenate((np.zeros(1, np.int64), np.minimum(ends[:k], high) - low))
        yield ArcRun(first, count, rows[:k], starts, head, tail)
        rows, ends = rows[k - tail :], ends[k - tail :]
        first, head = first + count, tail
    if len(ends) or any(len(more[1]) for more in pieces):
        raise store.damaged(f"indptr goes beyond the {array.length} arcs")


def _rows_with_arcs(store: Store) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(vertices with an arc, ends of their rows), int64[k] each, in order."""
    vertex = 0
    for piece in offset_pieces(store.indptr):
        here = np.flatnonzero(piece[1:] > piece[:-1])
        yield here + vertex, piece[1:][here]
        vertex += len(piece) - 1


@dataclass(frozen=True)
class Pauses:
    """Moments of a scan at which no run is under way. begin : the chunk to begin with, 0 or one that `at_rest` was
    told. due : asked before every run. at_rest : if so, called with the number of chunks that are done."""

    begin: int
    due: Callable[[], bool]
    at_rest: Callable[[int], None]


def run_chunks(store: Store, most_arcs: int = RUN_ARCS) -> int:
    """Chunks of a run of at most so many arcs, one at least."""
    return max(1, most_arcs // store.indices.chunk_items)


def scan_arcs(store: Store, threads: int, work: Work, tick: Tick | None = None, pauses: Pauses | None = None,
              n_chunks: int | None = None) -> None:
    """Call work(run, ids) for every run, on `threads` threads and in no certain order.

    ids : id_dtype[arcs of the run], the neighbours, each a vertex. tick : called with how many chunks
    were handed out. n_chunks : most of a run; None: those of RUN_ARCS. The first error, of reading or of `work`, ends
    the scan. Raises StoreError.
    """
    pending: deque[Future[None]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="scan") as pool:
        try:
            for run in arc_runs(store, n_chunks or run_chunks(store)):
                if pauses is not None and run.first < pauses.begin:
                    continue
                if pauses is not None and pauses.due():
                    while pending:
                        pending.popleft().result()
                    pauses.at_rest(run.first)
                store.indices.prefetch(run.first, run.count)
                pending.append(pool.submit(_fetched, store, run, work))
                if len(pending) > threads:
                    pending.popleft().result()
                if tick is not None:
                    tick(run.first + run.count)
            while pending:
                pending.popleft().result()
        except BaseException:
            for waiting in pending:
                waiting.cancel()
            raise


def _fetched(store: Store, run: ArcRun, work: Work) -> None:
    buffer = np.empty((run.count, store.indices.chunk_items), store.id_dtype)
    store.indices.fetch(run.first, list(buffer))
    ids = buffer.reshape(-1)[: run.starts[-1]]
    if int(ids.max()) >= store.n_vertices:
        raise store.damaged(f"indices hold {int(ids.max())}, which is no vertex")
    work(run, ids)


def run_weights(store: Store, run: ArcRun) -> np.ndarray | None:
    """The weights of the arcs of a run, [arcs of the run]; None in a store without. Raises StoreError for one that the
    store's record excludes."""
    if store.weights is None:
        return None
    buffer = np.empty((run.count, store.weights.chunk_items), store.weights.dtype)
    store.weights.fetch(run.first, list(buffer))
    weights = buffer.reshape(-1)[: run.starts[-1]]
    store.check_weights(weights)
    return weights


def scan_bytes(store: Store, threads: int) -> int:
    """Upper bound of what scan_arcs holds: runs in flight, and pieces of `indptr`."""
    chunk = store.indices.chunk_items
    arcs = max(RUN_ARCS, chunk)
    return (threads + 2) * arcs * (3 * store.id_dtype.itemsize + 24) + 8 * chunk * 8 * 4
