"""A digest of the graph itself: of its vertices and edges with the user's ids, independent of their storage.

Two stores of one graph have equal digests, whatever their sources, vertex orders, chunks and codecs. The digest covers
the ids of all vertices, including isolated ones, and which unordered pairs are edges; neither weights nor directions.
Definition: h(v) is a 64-bit hash of the user's id of v (a bijection for integers; for strings, of their UTF-8 bytes).
The digest is blake2b over n, m, the sums modulo 2^64 of two mixes of h(v) over all vertices, and of two mixes of the
unordered pair {h(v), h(w)} over all edges. Sums do not depend on order, and another graph has the same four sums with a
probability of about 2^-128. The digest does not protect against someone who constructs two graphs with equal digests.
The edges are summed as arcs that lead up and, separately, as arcs that lead down; so a store that lacks one direction
of an edge is detected. With directions, which only a naturally ordered store has, the digest covers both sums: an arc
and its reverse differ in leading up or down.

RAM: 8 bytes per vertex for ids that the store maps and for reordered stores (16 while the hashes of mapped ids are put
in the order of a reordered one), none otherwise; and see arc_runs.py. I/O: every array once.

digest_on_disk computes the same digest if the hashes of all vertices do not fit in memory. They are then in a scratch
file. One range of them is in memory at a time, and each range takes one scan over the arcs: it uses the arcs whose head
is in the range, with the hashes of their tails, which ascend and are read in parallel. RAM: the room; 24 bytes per arc
of a run (arc_runs.py). I/O: every array of edges once for each range; 8 bytes per vertex written, and read once for
each range, twice as much for a reordered store whose ids are mapped.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock

import numpy as np

from ..hashing import mix64
from ..jit import inlined, kernel
from ..progress import Listener, Meter
from ..sorting.scratch import Scratch, ScratchFile
from ..units import scratch_folder
from .arc_runs import ArcRun, offset_pieces, scan_arcs
from .array_reader import filled
from .private import blake2b
from .store import Store

_NAME, _DIRECTED_NAME = b"emdiam edges 1", b"emdiam arcs 1"
_PIECE = 1 << 16


class EdgeDigest:
    """The digest of one store during a scan of its arcs: `add` every run of arcs, from any thread.

    hashes : see vertex_hashes. Raises StoreError.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self.hashes = vertex_hashes(store)
        self._sums, self._vertices = np.zeros(5, np.uint64), np.zeros(2, np.uint64)
        sum_vertices(store.n_vertices, np.uint64(store.record.first_id), self.hashes, self._vertices)

    def add(self, run: ArcRun, ids: np.ndarray) -> None:
        """Add the arcs of a run; ids as in scan_arcs."""
        sums = np.zeros(5, np.uint64)
        sum_arcs(run.rows, run.starts, ids, np.uint64(self._store.record.first_id), self.hashes, sums)
        with self._lock:
            self._sums += sums

    def hexdigest(self) -> str:
        """32 hexadecimal digits, after all runs were added. Raises StoreError for a store with a loop or with an edge
        in one direction only."""
        return sealed(self._store, self._vertices, self._sums)


def sealed(store: Store, vertices: np.ndarray, arcs: np.ndarray) -> str:
    """The digest from the sums over vertices, uint64[2], and arcs, uint64[5]; see sum_vertices and sum_arcs. Raises
    StoreError."""
    if int(arcs[4]):
        raise store.damaged("a vertex is its own neighbour")
    if not store.directed and arcs[:2].tolist() != arcs[2:4].tolist():
        raise store.damaged("an edge is stored in one direction only")
    counts = np.array([store.n_vertices, store.n_edges], "<u8")
    sums = np.concatenate((vertices, arcs[: 4 if store.directed else 2])).astype("<u8")
    name = _DIRECTED_NAME if store.directed else _NAME
    return blake2b(name + counts.tobytes() + sums.tobytes(), digest_size=16).hexdigest()


def edge_digest(store: Store, *, threads: int = 2, progress: Listener | None = None) -> str:
    """The digest of the store's graph, 32 hexadecimal digits, in one pass. Raises StoreError.

    progress : called with events of the phase "digest", in chunks.
    """
    meter = Meter(progress)
    meter.begin("digest", store.indices.n_chunks, "chunks")
    digest = EdgeDigest(store)
    scan_arcs(store, threads, digest.add, meter.update)
    meter.end()
    return digest.hexdigest()


def hash_ids(ids: Sequence[int] | Sequence[str]) -> np.ndarray:
    """h of a few user's ids, uint64[k]: all of them integers in [0, 2^64), or all strings."""
    if not ids or not isinstance(ids[0], str):
        out = np.array(ids, np.uint64)
        mix_all(out)
        return out
    texts = [str(name).encode() for name in ids]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    out = np.empty(len(texts), np.uint64)
    state = np.zeros(4, np.uint64)
    hash_text(np.frombuffer(bytearray(b"".join(texts)), np.uint8), 0, ends, out, state)
    return out


def hash_bytes(store: Store) -> int:
    """The largest memory of vertex_hashes."""
    mapped = store.record.id_kind in ("int", "string")
    return 8 * store.n_vertices * ((2 if mapped else 1) if not store.is_natural else int(mapped))


def vertex_hashes(store: Store) -> np.ndarray:
    """h of every vertex, uint64[n], or an empty array for a naturally ordered store whose ids are consecutive (h is
    then that of first_id + v). Raises StoreError."""
    mapped = store.record.id_kind in ("int", "string")
    hashes = filled(np.empty(store.n_vertices if mapped else 0, np.uint64), hash_pieces(store) if mapped else ())
    if store.is_natural:
        return hashes
    out = np.empty(store.n_vertices, np.uint64)
    if len(hashes):
        return filled(out, (hashes[ranks] for ranks in store.natural_pieces()))
    filled(out, store.natural_pieces())
    out += np.uint64(store.record.first_id)
    mix_all(out)
    return out


def hash_pieces(store: Store) -> Iterator[np.ndarray]:
    """h of the user's ids in increasing order of the ids, in pieces, uint64[k] each. Raises StoreError."""
    if store.record.id_kind == "string":
        yield from _hash_strings(store)
        return
    first = np.uint64(store.record.first_id)
    numbered = (np.arange(start, min(start + _PIECE, store.n_vertices), dtype=np.uint64) + first
                for start in range(0, store.n_vertices, _PIECE))
    for ids in store.values("vertex_id") if store.record.id_kind == "int" else numbered:
        hashes = ids.astype(np.uint64)
        mix_all(hashes)
        yield hashes


def _hash_strings(store: Store) -> Iterator[np.ndarray]:
    """Offsets and bytes are read in parallel; the hash of a string continues across the cuts of both."""
    texts, state = store.values("vertex_id_bytes"), np.zeros(4, np.uint64)
    text, base = np.empty(0, np.uint8), 0
    for piece in offset_pieces(store.array("vertex_id_offsets")):
        ends, part = piece[1:], np.empty(len(piece) - 1, np.uint64)
        state[0] = 0
        while not hash_text(text, base, ends, part, state):
            base += len(text)
            text = next(texts, text[:0])
            if not len(text):
                raise store.damaged(f"vertex_id_bytes end after {base} bytes")
        yield part


@inlined
def _hash_of(v, first_id, hashes):
    if len(hashes):
        return hashes[v]
    return mix64(np.uint64(v) + first_id)


@inlined
def _vertex_mixes(h):
    """The two mixes of one vertex hash, or of an array of them."""
    return mix64(h ^ np.uint64(0xA0761D6478BD642F)), mix64(h ^ np.uint64(0xE7037ED1A0B428DB))


@inlined
def _arc_mixes(low, high):
    """The two mixes of an arc with these end hashes, the lower one first, or of arrays of them."""
    return (mix64(mix64(low ^ np.uint64(0x8EBC6AF09C88C6E3)) + high),
            mix64(mix64(high ^ np.uint64(0x589965CC75374CC3)) + low))


def _hashes(vertices: np.ndarray, first_id: np.uint64, hashes: np.ndarray) -> np.ndarray:
    """Hashes of these vertices, uint64[k]."""
    return hashes[vertices] if len(hashes) else mix64(vertices.astype(np.uint64) + first_id)


def _sum_arcs(rows: np.ndarray, starts: np.ndarray, ids: np.ndarray, first_id: np.uint64, hashes: np.ndarray,
              sums: np.ndarray) -> None:
    """sum_arcs, with numpy."""
    tails, heads = np.repeat(rows, np.diff(starts)), ids[starts[0] : starts[-1]].astype(np.int64)
    first, other = _hashes(tails, first_id, hashes), _hashes(heads, first_id, hashes)
    for number, mixed in enumerate(_arc_mixes(np.minimum(first, other), np.maximum(first, other))):
        sums[number] += mixed[tails < heads].sum()
        sums[2 + number] += mixed[tails > heads].sum()
    sums[4] += np.uint64(np.count_nonzero(tails == heads))


def _sum_vertices(n: int, first_id: np.uint64, hashes: np.ndarray, sums: np.ndarray) -> None:
    """sum_vertices, with numpy."""
    for number, mixed in enumerate(_vertex_mixes(_hashes(np.arange(n), first_id, hashes))):
        sums[number] += mixed.sum()


def _mix_all(values: np.ndarray) -> None:
    """mix_all, with numpy."""
    values[:] = mix64(values)


@kernel(uncompiled=_mix_all)
def mix_all(values):
    """values[i] = h of the integer id values[i], in place; uint64[k]."""
    for i in range(len(values)):
        values[i] = mix64(values[i])


@kernel(uncompiled=_sum_vertices)
def sum_vertices(n, first_id, hashes, sums):
    """Add the two mixes of every vertex to sums (uint64[2])."""
    for v in range(n):
        one, two = _vertex_mixes(_hash_of(v, first_id, hashes))
        sums[0] += one
        sums[1] += two


@inlined
def add_arc(v, w, first, other, sums):
    """Add the two mixes of the arc from v to w, whose hashes are `first` and `other`; see sum_arcs."""
    one, two = _arc_mixes(min(first, other), max(first, other))
    if v < w:
        sums[0] += one
        sums[1] += two
    elif v > w:
        sums[2] += one
        sums[3] += two
    else:
        sums[4] += np.uint64(1)


@kernel(uncompiled=_sum_arcs)
def sum_arcs(rows, starts, ids, first_id, hashes, sums):
    """Add the two mixes of every arc to sums: uint64[5], of arcs up (2), of arcs down (2), loops.

    Every sum gets a term for each arc, 0 in most: whether an arc leads up is hard to predict for a branch. Unlike in
    add_arc the sums of a row are variables, which take half the time of entries of `sums`.
    """
    none = np.uint64(0)
    for i in range(len(rows)):
        v = rows[i]
        first = _hash_of(v, first_id, hashes)
        up_one, up_two, down_one, down_two, loops = none, none, none, none, none
        for p in range(starts[i], starts[i + 1]):
            w = np.int64(ids[p])
            other = _hash_of(w, first_id, hashes)
            one, two = _arc_mixes(min(first, other), max(first, other))
            up_one += one if v < w else none
            up_two += two if v < w else none
            down_one += one if v > w else none
            down_two += two if v > w else none
            loops += np.uint64(1) if v == w else none
        sums[0] += up_one
        sums[1] += up_two
        sums[2] += down_one
        sums[3] += down_two
        sums[4] += loops


@kernel(uncompiled=True)
def hash_text(text, base, ends, out, state):
    """Hash the strings that end at ends[i] (absolute) as far as `text`, the bytes from `base`, contains them.

    The state (uint64[4]: current string, its bytes so far, its hash so far, position in the bytes) says where to
    continue; returns True after all strings of `ends`.
    """
    i = np.int64(state[0])
    length = state[1]
    h = state[2]
    place = np.int64(state[3])
    done = True
    while i < len(ends):
        stop = min(ends[i], base + len(text))
        while place < stop:
            h = (h ^ np.uint64(text[place - base])) * np.uint64(0xC2B2AE3D27D4EB4F)
            h ^= h >> np.uint64(29)
            length += np.uint64(1)
            place += 1
        if stop < ends[i]:
            done = False
            break
        out[i] = mix64(h ^ (length << np.uint64(32)))
        h = np.uint64(0)
        length = np.uint64(0)
        i += 1
    state[0] = np.uint64(i)
    state[1] = length
    state[2] = h
    state[3] = np.uint64(place)
    return done


_ITEM = 8
_LEAST_ROOM = 1 << 16


def digest_on_disk(
    store: Store, room_bytes: int, scratch: str | Path | None = None, *, threads: int = 2,
    progress: Listener | None = None,
) -> str:
    """The digest of the store's graph, equal to that of edge_digest, with room_bytes for hashes of vertices. scratch :
    folder for the file of hashes. Raises StoreError."""
    with closing(Scratch(None if scratch is None else Path(scratch), Path(scratch_folder(None)) / "digest")) as space:
        return _Digest(store, space, max(room_bytes, _LEAST_ROOM) // _ITEM).run(threads, Meter(progress))


class _Digest:
    """One digest. room : the number of hashes in memory."""

    def __init__(self, store: Store, scratch: Scratch, room: int) -> None:
        self._store, self._room, self._lock = store, room, Lock()
        self._file = self._hashes(scratch)
        self._sums = np.zeros(5, np.uint64)

    def _hashes(self, scratch: Scratch) -> ScratchFile:
        """The hashes of all vertices, in the order of the vertices."""
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
        """Add the arcs of a run whose heads have their hashes in the window."""
        sums, rows = np.zeros(5, np.uint64), run.rows
        for start in range(0, len(rows), _PIECE):
            some = rows[start : start + _PIECE]
            low = int(some[0])
            if int(some[-1]) - low < 2 * _PIECE:
                own = self._read(self._file, low, int(some[-1]) + 1 - low)[some - low]
            else:  # distant rows
                own = np.concatenate([self._read(self._file, int(v), 1) for v in some])
            sum_arcs_to(some, run.starts[start : start + _PIECE + 1], ids, own, window, first, sums)
        with self._lock:
            self._sums += sums


@kernel
def sum_arcs_to(rows, starts, ids, own, window, first, sums):
    """Like sum_arcs, only for the arcs to vertices first, first + 1, ..., whose hashes are `window`. own : hashes of
    the rows."""
    for i in range(len(rows)):
        for p in range(starts[i], starts[i + 1]):
            w = np.int64(ids[p])
            if 0 <= w - first < len(window):
                add_arc(rows[i], w, own[i], window[w - first], sums)
