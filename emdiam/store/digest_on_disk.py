"""The digest of a graph (edge_digest.py) where memory has no room for the hashes of all vertices.

Hashes of vertices lie in a scratch file. A range of them is in memory at a time, and for each range the arcs pass by
once: those whose head is in it, with the hashes of their tails, which ascend and are read along.
RAM: the room; 24 bytes an arc of a run (arc_runs.py). I/O: every array of edges once for each range; 8 bytes a vertex
written, and read once for each range, twice as much for a reordered store whose ids are mapped.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock

import numpy as np

from ..jit import kernel
from ..progress import Listener, Meter
from ..sorting.scratch import Scratch, ScratchFile
from ..units import scratch_folder
from .arc_runs import ArcRun, scan_arcs
from .edge_digest import add_arc, hash_pieces, mix_all, sealed, sum_vertices
from .store import Store

_ITEM = 8
_LEAST_ROOM = 1 << 16
_PIECE = 1 << 16


def digest_on_disk(
    store: Store, room_bytes: int, scratch: str | Path | None = None, *, threads: int = 2,
    progress: Listener | None = None,
) -> str:
    """The digest of the store's graph, as edge_digest gives it, with so many bytes for hashes of vertices. scratch :
    folder for the file of hashes. Raises StoreError."""
    space = Scratch(None if scratch is None else Path(scratch), Path(scratch_folder(None)) / "digest")
    try:
        return _Digest(store, space, max(room_bytes, _LEAST_ROOM) // _ITEM).run(threads, Meter(progress))
    finally:
        space.close()


class _Digest:
    """One digest. room : hashes in memory."""

    def __init__(self, store: Store, scratch: Scratch, room: int) -> None:
        self._store, self._room, self._lock = store, room, Lock()
        self._file = self._hashes(scratch)
        self._sums = np.zeros(5, np.uint64)

    def _hashes(self, scratch: Scratch) -> ScratchFile:
        """The hashes of all vertices, in their order."""
        store, named = self._store, scratch.file()
        if not store.is_natural and store.record.id_kind not in ("int", "string"):
            for ranks in store.natural_pieces():
                hashes = ranks.astype(np.uint64) + np.uint64(store.record.first_id)
                mix_all(hashes)
                named.append(hashes)
            return named
        for hashes in hash_pieces(store):
            named.append(hashes)
        if store.is_natural:
            return named
        placed = scratch.file()
        for first in range(0, store.n_vertices, self._room):
            window, at = self._read(named, first, min(self._room, store.n_vertices - first)), 0
            for ranks in store.natural_pieces():
                part = np.zeros(len(ranks), np.uint64) if first == 0 else self._read(placed, at, len(ranks))
                places = ranks.astype(np.int64) - first
                here = (places >= 0) & (places < len(window))
                part[here] = window[places[here]]
                if first == 0:
                    placed.append(part)
                else:
                    placed.overwrite(part, _ITEM * at)
                at += len(ranks)
        named.close()
        return placed

    def _read(self, file: ScratchFile, first: int, count: int) -> np.ndarray:
        """Hashes first, ..., first + count - 1 of the file."""
        out = np.empty(count, np.uint64)
        file.read_array(_ITEM * first, out)
        return out

    def run(self, threads: int, meter: Meter) -> str:
        """The digest, 32 hexadecimal digits."""
        store, n = self._store, self._store.n_vertices
        vertices = np.zeros(2, np.uint64)
        for first in range(0, n, _PIECE):
            part = self._read(self._file, first, min(_PIECE, n - first))
            sum_vertices(len(part), np.uint64(0), part, vertices)
        for first in range(0, n, self._room):
            window = self._read(self._file, first, min(self._room, n - first))
            meter.begin("digest", store.indices.n_chunks, "chunks")
            scan_arcs(store, threads, lambda run, ids, window=window, first=first: self._add(  # type: ignore[misc]
                run, ids, window, first), meter.update)
            meter.end()
        return sealed(store, vertices, self._sums)

    def _add(self, run: ArcRun, ids: np.ndarray, window: np.ndarray, first: int) -> None:
        """Take in the arcs of a run whose heads have their hashes in the window."""
        sums, rows = np.zeros(5, np.uint64), run.rows
        for start in range(0, len(rows), _PIECE):
            some = rows[start : start + _PIECE]
            low = int(some[0])
            if int(some[-1]) - low < 2 * _PIECE:
                own = self._read(self._file, low, int(some[-1]) + 1 - low)[some - low]
            else:  # rows that lie far apart
                own = np.concatenate([self._read(self._file, int(v), 1) for v in some])
            sum_arcs_to(some, run.starts[start : start + _PIECE + 1], ids, own, window, first, sums)
        with self._lock:
            self._sums += sums


@kernel
def sum_arcs_to(rows, starts, ids, own, window, first, sums):
    """As edge_digest.sum_arcs, of the arcs to vertices first, first + 1, ... whose hashes are `window`. own : hashes of
    the rows."""
    for i in range(len(rows)):
        for p in range(starts[i], starts[i + 1]):
            w = np.int64(ids[p])
            if 0 <= w - first < len(window):
                add_arc(rows[i], w, own[i], window[w - first], sums)
