"""The rows of a scan (arc_runs.py) in runs that come in any order: whether they are those of a graph."""

from __future__ import annotations

import threading

import numpy as np

from ..checkpoint.records import State
from .arc_runs import ArcRun
from .check import Fingerprints, not_ascending, one_way_only
from .store import Store

# Arcs whose temporaries are in memory at a time.
_SLICE = 1 << 14


class ArcCheck:
    """`add` every run, from any thread, then `finish`. Raises StoreError.

    resumed : what `state` told when all chunks before the first run had been added.
    """

    def __init__(self, store: Store, resumed: State | None = None) -> None:
        self._store, self._lock = store, threading.Lock()
        # By chunk, the last id before it, and the first one in it (n where a row begins there).
        self._before: dict[int, int] = {}
        self._behind: dict[int, int] = {}
        self._sums = Fingerprints()
        if resumed is not None:
            self._sums, self._before = Fingerprints(*resumed["sums"]), {resumed["chunk"]: resumed["last"]}

    def add(self, run: ArcRun, rows: np.ndarray, ids: np.ndarray) -> None:
        """Look at a run; rows : int64[k], the row of each arc. ids : id_dtype[k], as of scan_arcs."""
        sums = Fingerprints()
        for begin in range(0, len(ids), _SLICE):
            here = slice(max(0, begin - 1), begin + _SLICE)
            row, one = rows[here], ids[here]
            wrong = one == row
            wrong[1:] |= (row[1:] == row[:-1]) & (one[1:] <= one[:-1])
            if wrong.any():
                raise not_ascending(self._store, int(row[np.argmax(wrong)]))
            new = slice(begin, begin + _SLICE)
            sums.add(rows[new].astype(np.uint64), ids[new].astype(np.uint64))
        with self._lock:
            self._behind[run.first] = int(ids[0]) if run.head else self._store.n_vertices
            self._before[run.first + run.count] = int(ids[-1])
            for chunk, row in ((run.first, rows[0]), (run.first + run.count, rows[-1])):
                if chunk in self._before and chunk in self._behind:
                    if self._before.pop(chunk) >= self._behind.pop(chunk):
                        raise not_ascending(self._store, int(row))
            self._sums.join(sums)

    def state(self, chunk: int) -> State:
        """What was seen of the chunks before this one, all of which were added, and none behind."""
        return {"chunk": chunk, "sums": [self._sums.up, self._sums.down], "last": self._before.get(chunk, -1)}

    def finish(self) -> None:
        """All runs were added."""
        if self._sums.up != self._sums.down:
            raise one_way_only(self._store)
