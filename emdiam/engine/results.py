"""What verbs of an engine give, as far as algorithms may use it; each engine has classes of its own for these.

Columns and PivotBounds are abstract classes of traverse/, since folds are written over them; Component and TreeBounds
are records of numbers.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..traverse.columns import Column
from ..traverse.components import Component
from ..traverse.tree_refinement import TreeBounds


class Traversal(Protocol):
    """A finished or stopped BFS. eccentricity : None if it stopped before the last level. levels : largest distance
    reached. farthest : smallest vertex there. level_counts : vertices per level, with profile=True. reached : for
    Column.recode(within=...), until the next traversal."""

    source: int
    eccentricity: int | None
    levels: int
    n_reached: int
    farthest: int
    distances: Column | None
    level_counts: list[int]
    reached: Any


class Components(Protocol):
    """Components with an edge that the last BFS did not reach. labels : id[n], or what can be compared and indexed
    like it. reached_label : that of the component which it reached. n_others : how many others there are."""

    labels: Any
    reached_label: int
    n_others: int

    @property
    def label_bytes(self) -> int:
        """Bytes of labels and sizes that are held."""

    def larger_than(self, size: int, most: int = 1 << 16) -> list[Component]:
        """At most `most` components of more than `size` vertices, not given before, largest first (ties by root)."""

    def compact(self, size: int, most: int = 1 << 14) -> None:
        """List the components of more than `size` vertices, if they are at most `most`, and free the labels."""

    def largest_size(self) -> int:
        """Vertices of the largest component not given yet (0 if none)."""

    def release(self) -> None:
        """Free labels and sizes; n_others stays."""


class Labels(Protocol):
    """(distance, group) of every vertex; isolated vertices are unreached. masters : int64[n_groups], the vertex at
    distance 0 of each group."""

    masters: np.ndarray

    @property
    def n_groups(self) -> int:
        """Number of clusters (or components)."""

    def tally(self) -> tuple[np.ndarray, np.ndarray]:
        """(largest distance, vertices) of each group, int64[n_groups] each."""

    def farthest_members(self, radii: np.ndarray) -> np.ndarray:
        """The vertex of smallest rank at distance radii[g] in each group g, int64[n_groups]."""

    def first_members(self) -> np.ndarray:
        """The vertex of smallest rank in each group, int64[n_groups]."""

    def groups(self, vertices: np.ndarray) -> np.ndarray:
        """Group of each of `vertices`, int64[k]; -1 where unreached."""

    def places(self) -> np.ndarray:
        """Number of every vertex when all are sorted by distance (ties: by vertex), id[n]."""

    def replace_distances(self, distances: np.ndarray, places: np.ndarray) -> None:
        """Every reached vertex v gets the distance distances[places[v]] (unsigned[n]); groups stay."""

    def take_column(self) -> Column:
        """The distances; the labels are gone after it."""


class Trees(Protocol):
    """The trees with an edge of a forest. hubs, sizes : vertex of the highest degree and number of vertices of each."""

    n_trees: int
    hubs: np.ndarray
    sizes: np.ndarray

    def bounds(self, heights: Column, known: int) -> TreeBounds:
        """What heights tell of diameters, those up to `known` being distances."""

    def farthest(self, tree: int, labels: Column, height: int) -> int:
        """The vertex of smallest rank with that label in the tree, -1 if there is none."""


class TreeRefinement(Protocol):
    """Trees that become BFS trees. heights : in the trees now. known : distances up to this are exact. exact : whether
    all heights are distances. iterations : done so far."""

    known: int
    exact: bool
    iterations: int

    @property
    def heights(self) -> Column:
        """Heights of all vertices."""

    def step(self) -> int:
        """One iteration; how many vertices fell."""

    def take_labels(self) -> Column:
        """min(height, known) of every vertex; the refinement is over."""


class Forest(Protocol):
    """A rooted spanning forest. n_trees : with an edge. scans : passes over blocks that it took."""

    n_trees: int
    scans: int

    def euler_masters(self, spacing: int) -> np.ndarray:
        """The vertices on every `spacing`-th entry of an Euler tour of every tree with an edge (its root
        first, children by rank), int64[k], distinct, ascending by rank. Every vertex with an edge is
        less than `spacing` steps from one of them. InputError for a spacing below 1."""

    def trees(self) -> Trees:
        """The trees with an edge, which hang from their vertices of smallest rank: vertex of highest degree,
        size, what heights tell of diameters."""

    def hang_from(self, vertices: np.ndarray) -> None:
        """Make each of `vertices` (integers [k]) the root of its tree."""

    def refine(self) -> TreeRefinement:
        """Turn it, which the result takes over, towards BFS trees of its roots, by scans.
        Raises OverflowError for a tree with a height of 2^32 or more."""

    def release(self) -> None:
        """Free the parents; the counts stay."""
