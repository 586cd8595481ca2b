"""Stores with weights, written without a conversion, and random graphs with weights for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from emdiam.paths.rows import WeightedRows
from emdiam.store.layout import StoreRecord, id_dtype
from emdiam.store.store import Store
from emdiam.store.weights import WeightForm
from emdiam.store.writer import StoreWriter

# Arcs of a block, where the fixture tiny_blocks allows them.
TINY = 8


def arena_bytes(store: Store, blocks: int) -> int:
    """Of an arena of so many blocks of heads and weights."""
    weight = 0 if store.weights is None else store.weights.dtype.itemsize
    return blocks * store.indices.chunk_items * (store.id_dtype.itemsize + weight)


def make_weighted_store(path: Path, edges: Mapping[tuple[int, int], int | float], *, n_vertices: int,
                        dtype: str = "uint8", chunk_ids: int = 64, codec: str = "lz4") -> Path:
    """Write a store of the undirected edges {(a, b): weight}, each pair once and no loops; returns its path."""
    arcs = sorted([(a, b, weight) for (a, b), weight in edges.items()]
                  + [(b, a, weight) for (a, b), weight in edges.items()])
    writer = StoreWriter(path, n_vertices=n_vertices, chunk_ids=chunk_ids, codec=codec)
    writer.keep_weights(WeightForm(np.dtype(dtype)))
    writer.append_degrees(np.bincount([arc[0] for arc in arcs], minlength=n_vertices).astype(np.int64))
    writer.append_neighbours(np.array([arc[1] for arc in arcs], id_dtype(n_vertices)),
                             np.array([arc[2] for arc in arcs], dtype))
    writer.finish(StoreRecord())
    return path


def some_weighted_graph(dtype: str, n_vertices: int = 40, n_edges: int = 150, seed: int = 7) -> dict[
        tuple[int, int], int | float]:
    """Random edges {(a, b): weight} among fewer than n_vertices vertices, a < b, with weights of this dtype, 0 among
    them."""
    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, n_vertices - 3, (n_edges, 2)), axis=1)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        values = random.normal(5, 2, n_edges).astype(kind)
    else:
        limits = np.iinfo(kind)
        values = random.integers(limits.min, limits.max, n_edges, kind, endpoint=True)
    values[0] = 0
    return {(a, b): value for (a, b), value in zip(ends.tolist(), values.tolist(), strict=True) if a < b}


def write_rows(path: Path, rows: WeightedRows, directed: bool = False, chunk_ids: int = 64) -> Path:
    """Write these rows as a store, in place of one that is there; returns its path."""
    writer = StoreWriter(path, n_vertices=rows.n_vertices, chunk_ids=chunk_ids, force=path.exists())
    tails = np.repeat(np.arange(rows.n_vertices), np.diff(rows.offsets))
    back = np.lexsort((tails, rows.heads))
    if directed:
        writer.keep_directions()
    if rows.weights is not None:
        writer.keep_weights(WeightForm(rows.weights.dtype))
    writer.append_degrees(np.diff(rows.offsets))
    writer.append_neighbours(rows.heads.astype(writer.id_dtype), rows.weights)
    if directed:
        writer.append_degrees(np.bincount(rows.heads, minlength=rows.n_vertices).astype(np.int64), reverse=True)
        weights = None if rows.weights is None else rows.weights[back]
        writer.append_neighbours(tails[back].astype(writer.id_dtype), weights, reverse=True)
    writer.finish(StoreRecord())
    return path
