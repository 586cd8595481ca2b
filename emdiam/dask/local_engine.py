"""Verbs of the Dask engine that the client's own engine does: random spanning forests, their tours and heights.

A forest is peeled, hung and toured vertex by vertex in RAM (traverse/spanning.py, rooted.py, euler.py, refine.py). The
client needs, beside the 3 bytes a vertex of its engine and with ids of 4 bytes: 20 bytes a vertex while the forest is
made, 20 (28 in large reordered stores) for Euler tours, 16 for trees and refined heights, 4 (8 with larger ids) for
arcs in the order of labels; and it reads the store itself. Columns that these give are in RAM of the client; one on
workers that they are given is copied to it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..traverse.spanning import SpanningForest
from ..traverse.tree_refinement import TreeRefinement, Trees
from .base_engine import BaseEngine


class LocalVerbs(BaseEngine):
    """See BaseEngine."""

    def renumbered_arcs(self, places: np.ndarray, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """See Engine.renumbered_arcs."""
        self.local.renumbered_arcs(places, bits, push)

    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> SpanningForest:
        """See Engine.spanning_forest."""
        return self.local.spanning_forest(key, buffer_bytes)

    def euler_masters(self, forest: SpanningForest, spacing: int) -> np.ndarray:
        """See Engine.euler_masters."""
        return self.local.euler_masters(forest, spacing)

    def trees(self, forest: SpanningForest) -> Trees:
        """See Engine.trees."""
        return self.local.trees(forest)

    def refine_trees(self, forest: SpanningForest) -> TreeRefinement:
        """See Engine.refine_trees."""
        return self.local.refine_trees(forest)
