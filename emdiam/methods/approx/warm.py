"""A tiny graph that drives every kernel of the approximations; see traverse/warm.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...stream.threads import Crew
from ...traverse.bfs import BfsRun
from ...traverse.clusters import grow_clusters, sample_vertices
from ...traverse.condense import push_condensed, push_renumbered
from ...traverse.core import Core
from ...traverse.euler import euler_masters
from ...traverse.paths import path_pieces
from ...traverse.spanning import spanning_forest
from ...traverse.tree_diameter import tree_diameter
from ...traverse.tree_refinement import TreeRefinement, Trees
from ...traverse.warm_graph import finish, small_core
from ...weighted.largest import largest_weights
from ...weighted.packed import Packing, RamArcs
from ...weighted.renumber import renumber
from ...weighted.warm import exercise_weighted
from .condensed import sample


def exercise_approximations(dtype: np.dtype[Any], column_dtypes: Sequence[Any]) -> None:
    """Run all kernels of approximations with ids of `dtype` and columns of `column_dtypes`, with ranks
    and without."""
    exercise_weighted()
    sample(np.arange(9), 1, 2)
    edges = RamArcs.from_edges(Packing(2, 1), *np.array([[0], [1], [1]]))
    renumber(edges, np.array([1, 0]))
    largest_weights(edges, np.zeros(2, np.int64), 1)
    crew = Crew(1, 0)
    try:
        for ranks in (np.empty(0, dtype), np.arange(200, dtype=dtype)):
            core = small_core(dtype, crew, 0)
            _exercise_clusters(core, ranks)
            _exercise_forest(core, ranks)
            for column_dtype in column_dtypes:
                _exercise_trees(core, np.dtype(column_dtype), ranks)
    finally:
        crew.close()


def _exercise_clusters(core: Core, ranks: np.ndarray) -> None:
    def nothing(keys: np.ndarray) -> None:
        """Take packed arcs, and drop them."""

    sample_vertices(core, 1, 5, ranks)
    labels = grow_clusters(core, np.array([0]), ranks)
    assert labels is not None
    radii, _ = labels.tally()
    labels.farthest_members(radii)
    labels.first_members()
    push_condensed(core, labels, (8, 8), nothing)
    parts = np.arange(labels.n_groups)
    labels.restart(np.zeros(len(parts), np.int64), parts, labels.masters)
    places = labels.places()
    push_renumbered(core, places, (8, 8), nothing)
    for width in (np.uint32, np.uint64):
        labels.replace_distances(np.zeros(200, width), places)
    labels.take_column()


def _exercise_forest(core: Core, ranks: np.ndarray) -> None:
    ranks = np.arange(200, dtype=core.work.queues.dtype) if len(ranks) else ranks
    forest = spanning_forest(core, 1, ranks, 0)
    euler_masters(forest, 5, ranks)
    trees = Trees(core, forest, ranks)
    forest.hang_from(trees.hubs)
    refinement = TreeRefinement(core, forest.raw, ranks)
    refinement.step()
    bounds = trees.bounds(refinement.heights, refinement.known)
    trees.farthest(bounds.deepest, refinement.take_labels(), bounds.lower)


def _exercise_trees(core: Core, dtype: np.dtype[Any], ranks: np.ndarray) -> None:
    run = BfsRun(core, 120)
    run.use_distances(np.full(200, np.iinfo(dtype).max, dtype))
    distances = finish(run).result().distances
    tree_diameter(core, distances.raw(), ranks)
    for _ in path_pieces(core, distances.raw(), 0):
        pass
