"""Shortest paths and weighted clusters, in RAM or semi-external, by where the arcs are."""

from __future__ import annotations

import numpy as np

from ..labels import PathCounters
from ..semi_external import SemiExternalPaths
from .blocks import PackedBlocks
from .internal import InternalPaths
from .labels import NO_OWNER, OWNER_BITS, PathOptions, reaches_on, seed_labels
from .packed import RamArcs, WeightedArcs


class ShortestPaths:
    """Searches over one weighted graph, one after another; close it at the end.

    arcs : the graph; it stays open. options : see PathOptions. Raises BudgetError if the arena does not
    hold two blocks.
    """

    def __init__(self, arcs: WeightedArcs, options: PathOptions | None = None) -> None:
        self._arcs, self._options = arcs, options or PathOptions()
        self._machine: InternalPaths | SemiExternalPaths
        if isinstance(arcs, RamArcs):
            self._machine = InternalPaths(arcs, self._options.tick)
        else:
            self._machine = SemiExternalPaths(PackedBlocks(arcs), self._options.arena_bytes, self._options.threads,
                                              self._options.tick, "the condensed graph")

    @property
    def counters(self) -> PathCounters:
        """What all searches did so far, a snapshot."""
        return self._machine.counters.copy()

    def distances(self, sources: np.ndarray) -> np.ndarray:
        """Distance of every vertex to the nearest of `sources` (integers[s]): uint32[n_vertices] or
        uint64, see PathOptions.dtype; the largest value means that no source reaches it.

        Raises ValueError for a source that is no vertex, OverflowError if PathOptions.dtype is given
        and too narrow, OSError for a damaged block.
        """
        seeds = np.ascontiguousarray(sources, np.int64).ravel()
        dtype = np.dtype(self._options.dtype or np.uint32)
        labels = seed_labels(seeds, self._arcs.n_vertices, dtype, 0)
        if self._settle(labels, seeds, 0):
            return labels
        if self._options.dtype is not None:
            raise OverflowError(f"a distance does not fit {dtype}")
        labels = seed_labels(seeds, self._arcs.n_vertices, np.dtype(np.uint64), 0)
        self._settle(labels, seeds, 0)
        return labels

    def grow(self, masters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Clusters around `masters` (integers[s]): (owner, distance), uint32[n_vertices] each.

        owner[v] is the index in `masters` of the one nearest to v by weighted distance, ties to the smallest index;
        both are 2^32 - 1 where no master reaches v. Bytes a vertex: 16 at the end. Raises ValueError for a master that
        is no vertex, OverflowError for a distance of 2^32 - 1 or more, OSError for a damaged block.
        """
        seeds = np.ascontiguousarray(masters, np.int64).ravel()
        labels = seed_labels(seeds, self._arcs.n_vertices, np.dtype(np.uint64), OWNER_BITS)
        if not self._settle(labels, seeds, OWNER_BITS):
            raise OverflowError("a distance to the nearest master does not fit 32 bits")
        return (labels & np.uint64(NO_OWNER)).astype(np.uint32), (labels >> np.uint64(OWNER_BITS)).astype(np.uint32)

    def close(self) -> None:
        """End threads; the arcs stay open."""
        self._machine.close()

    def __enter__(self) -> ShortestPaths:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _settle(self, labels: np.ndarray, seeds: np.ndarray, owner_bits: int) -> bool:
        """Whether all distances fit; a path that did not may have been the longer of two."""
        return self._machine.settle(labels, seeds, owner_bits) or not reaches_on(self._arcs, labels)


def distances(arcs: WeightedArcs, sources: np.ndarray, options: PathOptions | None = None) -> np.ndarray:
    """One search, see ShortestPaths.distances."""
    with ShortestPaths(arcs, options) as paths:
        return paths.distances(sources)


def grow(arcs: WeightedArcs, masters: np.ndarray, options: PathOptions | None = None) -> tuple[np.ndarray, np.ndarray]:
    """One growth of clusters, see ShortestPaths.grow."""
    with ShortestPaths(arcs, options) as paths:
        return paths.grow(masters)
