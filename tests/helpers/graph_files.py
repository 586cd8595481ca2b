"""Graphs as Ligra, Galois, the GAP Benchmark Suite and NumPy write them: encoders of their own, value by value."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

Rows = Sequence[Sequence[int]]


def _flat(rows: Rows) -> list[int]:
    return [w for row in rows for w in row]


def _ends(rows: Rows) -> list[int]:
    return np.cumsum([len(row) for row in rows], dtype=np.int64).tolist()


def adj(rows: Rows, weights: Sequence[object] | None = None, mark: str = "\n") -> bytes:
    """An AdjacencyGraph, or a WeightedAdjacencyGraph."""
    words = [("" if weights is None else "Weighted") + "AdjacencyGraph", len(rows), len(_flat(rows)),
             *[0, *_ends(rows)][: len(rows)], *_flat(rows), *(weights or ())]
    return mark.join(map(str, words)).encode() + b"\n"


def galois(rows: Rows, version: int = 1, weights: Sequence[float] | None = None, kind: str = "I") -> bytes:
    """A .gr of Galois. kind : of the weights, as struct calls it."""
    ids, size = _flat(rows), 0 if weights is None else struct.calcsize(kind)
    data = struct.pack("<4Q", version, size, len(rows), len(ids)) + struct.pack(f"<{len(rows)}Q", *_ends(rows))
    data += struct.pack(f"<{len(ids)}{'IQ'[version - 1]}", *ids)
    if version == 1 and len(ids) % 2:
        data += bytes(4)
    return data + (b"" if weights is None else struct.pack(f"<{len(ids)}{kind}", *weights))


def gapbs(rows: Rows, weights: Sequence[int] | None = None, directed: bool = True) -> bytes:
    """A .sg, or a .wsg; of a directed graph with the rows of incoming edges."""
    def half(lists: Rows, values: Sequence[int] | None) -> bytes:
        ids = _flat(lists)
        entries = ids if values is None else [one for pair in zip(ids, values, strict=True) for one in pair]
        return struct.pack(f"<{len(lists) + 1}q", 0, *_ends(lists)) + struct.pack(f"<{len(entries)}i", *entries)

    incoming: list[list[int]] = [[] for _ in rows]
    for v, row in enumerate(rows):
        for w in row:
            incoming[w].append(v)
    head = struct.pack("<?qq", directed, len(_flat(rows)), len(rows))
    return head + half(rows, weights) + (half(incoming, weights and [1] * len(_flat(rows))) if directed else b"")


def arrays(folder: Path, rows: Rows, names: tuple[str, str] = ("indptr", "indices"), dtype: str = "<i8") -> list[Path]:
    """Offsets and neighbours as two files of NumPy."""
    paths = [folder / f"{name}.npy" for name in names]
    np.save(paths[0], np.array([0, *_ends(rows)], dtype))
    np.save(paths[1], np.array(_flat(rows), dtype))
    return paths
