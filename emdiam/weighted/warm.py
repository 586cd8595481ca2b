"""A tiny weighted graph that drives every kernel of this room in every dtype that a run may meet."""

from __future__ import annotations

import numpy as np

from .components import components
from .condense import between_clusters
from .height_bounds import NEVER
from .height_candidates import HeightCandidates
from .heights import HeightLimits, height_diameter
from .labels import OWNER_BITS, PathOptions, reaches_on, seed_labels
from .packed import Packing, RamArcs
from .semi_external import SemiExternalPaths
from .sssp import ShortestPaths

_SIDE = 12


def exercise_weighted() -> None:
    """Run all kernels of weighted/, and those of methods/exact/boxes.py on the points that they meet here."""
    arcs = _grid()
    sources = np.array([0, 17])
    for dtype in (np.dtype(np.uint32), np.dtype(np.uint64)):
        with ShortestPaths(arcs, PathOptions(dtype=dtype)) as paths:
            paths.distances(sources)
            owner, distance = paths.grow(sources)
        _semi_external(arcs, sources, dtype, 0)
        height_diameter(arcs, np.zeros(arcs.n_vertices, np.uint32), limits=HeightLimits(6),
                        options=PathOptions(dtype=dtype))
        _candidates(dtype)
    _semi_external(arcs, sources, np.dtype(np.uint64), OWNER_BITS)
    bits = np.array([arcs.packing.id_bits, arcs.packing.weight_bits, 1, 8])
    between_clusters(arcs.keys, bits, owner, distance, np.empty(arcs.n_arcs, np.uint64))
    components(arcs)


def _semi_external(arcs: RamArcs, sources: np.ndarray, dtype: np.dtype[np.unsignedinteger], owner_bits: int) -> None:
    """Search with blocks of a few arcs, most of them outside the arena."""
    labels = seed_labels(sources, arcs.n_vertices, dtype, owner_bits)
    paths = SemiExternalPaths(arcs, 8 * 8 * arcs.block_arcs)
    try:
        paths.settle(labels, sources, owner_bits)
    finally:
        paths.close()
    reaches_on(arcs, labels)


def _candidates(dtype: np.dtype[np.unsignedinteger]) -> None:
    """Boxes over points of `dtype`, with open pairs."""
    far = np.abs(np.arange(60) - 30).astype(dtype) << dtype.type(4 * dtype.itemsize)
    candidates = HeightCandidates(np.arange(60), np.zeros(60, np.int32), np.zeros(60, np.uint32), 1 << 16)
    candidates.add(far)
    candidates.certify(np.full(60, NEVER), int(far[0]))


def _grid() -> RamArcs:
    """A square grid with weights 1 to 7, in blocks of five arcs."""
    ids = np.arange(_SIDE * _SIDE).reshape(_SIDE, _SIDE)
    tails = np.concatenate((ids[:, :-1].ravel(), ids[:-1].ravel()))
    heads = np.concatenate((ids[:, 1:].ravel(), ids[1:].ravel()))
    packing = Packing(_SIDE * _SIDE, 7)
    return RamArcs.from_edges(packing, tails, heads, 1 + (3 * tails + heads) % 7, block_arcs=5)
