"""What a store is, in figures: counts, degrees, layout, size. One pass over `indptr`.

RAM: a few chunks of row offsets. I/O: `indptr` once; of `indices` only the sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from .array_reader import ShardedArray, pieces
from .codec import file_fault
from .store import Store

_PIECE_CHUNKS = 4


@dataclass
class DegreeCounts:
    """Counts over all vertices. histogram : int64[65], entry 0 the vertices of degree 0, entry k
    those of degree 2^(k-1) to 2^k - 1. least, largest : 0 without vertices."""

    n_vertices: int = 0
    n_arcs: int = 0
    least: int = 0
    largest: int = 0
    histogram: np.ndarray = field(default_factory=lambda: np.zeros(65, np.int64))

    def add(self, degrees: np.ndarray) -> None:
        """Count the next vertices; degrees : int64[k] >= 0."""
        if not len(degrees):
            return
        least = int(degrees.min())
        self.least = min(self.least, least) if self.n_vertices else least
        self.largest = max(self.largest, int(degrees.max()))
        self.n_vertices += len(degrees)
        self.n_arcs += int(degrees.sum())
        # The exponent of frexp is the bit length of an integer below 2^53.
        self.histogram += np.bincount(np.frexp(degrees)[1], minlength=65)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: min, mean, max, isolated and the histogram up to its last entry."""
        bins = [{"from": (1 << k) >> 1, "to": (1 << k) - 1, "vertices": int(count)}
                for k, count in enumerate(self.histogram)]
        last = max(np.flatnonzero(self.histogram), default=-1)
        return {
            "min": self.least, "mean": self.n_arcs / self.n_vertices if self.n_vertices else 0.0,
            "max": self.largest, "isolated": int(self.histogram[0]), "histogram": bins[: last + 1],
        }


def offset_pieces(indptr: ShardedArray) -> Iterator[np.ndarray]:
    """Row offsets in order as int64[k + 1] pieces, each beginning with the last value of the one
    before it. Raises StoreError if they are not monotone from 0."""
    last, done = 0, 0
    for values in pieces(indptr, _PIECE_CHUNKS):
        piece = np.concatenate((np.array([last]), values))
        if np.any(piece[1:] < piece[:-1]) or (done == 0 and piece[1] != 0):
            shard = indptr.shard_name(done // indptr.chunk_items // indptr.shard_chunks)
            raise StoreError("the offsets do not rise from 0", path=shard, remedy="convert the graph again")
        # The first value of all is the 0 that begins the first row.
        yield piece[1:] if done == 0 else piece
        last, done = int(piece[-1]), done + len(values)


def count_degrees(store: Store) -> DegreeCounts:
    """Degrees of all vertices, from the row offsets. Raises StoreError if they contradict the store record."""
    counts = DegreeCounts()
    for piece in offset_pieces(store.indptr):
        counts.add(np.diff(piece))
    record = store.record
    counted = (counts.n_vertices, counts.n_arcs, counts.largest, int(counts.histogram[0]))
    said = (record.n_vertices, record.n_arcs, record.max_degree, record.n_isolated)
    if counted != said:
        raise StoreError(f"the degrees are not those of the store record: vertices, arcs, largest degree "
                         f"and isolated vertices are {counted}, not {said}", path=store.path,
                         remedy="convert the graph again")
    return counts


def store_info(store: Store) -> dict[str, Any]:
    """Everything `emdiam info` shows, JSON-ready. Sizes are bytes. Raises StoreError.

    Counts, origin, weights and digests as in StoreRecord; degree {min, mean, max, isolated, histogram by powers of
    two}; id_kind ("identity" or "offset": consecutive integers; "int" or "string": a map is kept), first_id, id_dtype,
    id_range (first and last user id; None without vertices); chunk_bytes, shard_bytes of `indices`, decoded; arrays
    {name: see _array_info}; n_files, bytes (of all files together) and bytes_per_edge, None where the store is not a
    local folder (the last also without edges).
    """
    record = store.record
    n_files, size = _files(Path(store.path.removeprefix("file://"))) if store.is_local else (None, None)
    chunk_bytes = record.chunk_ids * store.id_dtype.itemsize
    return {
        "path": store.path, "format_version": record.format_version,
        "n_vertices": record.n_vertices, "n_edges": record.n_edges, "n_arcs": record.n_arcs,
        "degree": count_degrees(store).to_dict(),
        "id_kind": record.id_kind, "first_id": record.first_id, "id_dtype": str(store.id_dtype),
        "id_range": _id_range(store), "ordering": record.ordering,
        "source": record.source, "source_format": record.source_format, "reading": record.reading,
        "directed": record.directed, "directed_input": record.directed_input, "symmetric": record.symmetric,
        "loops_dropped": record.loops_dropped, "duplicates_dropped": record.duplicates_dropped,
        "pairs_read": record.pairs_read, "reverse_dropped": record.reverse_dropped,
        "directions": record.directions, "values_dropped": record.values_dropped,
        "weights": None if record.weights is None else record.weights.to_dict(),
        "codec": record.codec, "chunk_ids": record.chunk_ids, "chunk_bytes": chunk_bytes,
        "shard_bytes": chunk_bytes * store.indices.shard_chunks,
        "arrays": {name: _array_info(store.array(name)) for name in store.array_names()},
        "decoded_bytes_per_arc": store.id_dtype.itemsize, "n_files": n_files, "bytes": size,
        "bytes_per_edge": size / record.n_edges if size is not None and record.n_edges else None,
        "digest": record.chunk_digest, "record_digest": record.record_digest,
    }


def _array_info(array: ShardedArray) -> dict[str, Any]:
    """Layout of an array: decoded_bytes without padding, stored_bytes encoded (None: not known)."""
    return {
        "items": array.length, "dtype": str(array.dtype), "chunks": array.n_chunks,
        "chunk_items": array.chunk_items, "shards": array.n_shards, "shard_chunks": array.shard_chunks,
        "decoded_bytes": array.length * array.dtype.itemsize,
        "stored_bytes": array.stored_bytes,
    }


def _id_range(store: Store) -> list[int] | list[str] | None:
    n = store.n_vertices
    return store.ids_of_ranks(np.array([0, n - 1])) if n else None


def _files(folder: Path) -> tuple[int, int]:
    """(number, total size in bytes) of the files below `folder`."""
    try:
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    except OSError as error:
        raise file_fault("the files of the store cannot be counted", error, folder) from None
    return len(sizes), sum(sizes)
