"""The engine interface: all that methods may use of a graph.

Algorithms use an Engine, never files, blocks, chunks or devices. One protocol test file
(tests/engine/test_protocol.py) runs over every implementation: in RAM, streamed, and the naive
twin. Vertices are internal numbers 0..n_vertices-1; `store.user_ids` translates them for people. The results of verbs
are protocols too, except Column, Components and PivotBounds (abstract classes of traverse/) and TreeBounds (a record).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..store.store import Store
from ..traverse.columns import Column
from ..traverse.side_by_side import pays

if TYPE_CHECKING:
    from ..traverse.components import Components
    from ..traverse.distance_table import DistanceTable
    from ..traverse.pivot_bounds import PivotBounds
    from ..traverse.tally import DistanceSums
    from ..trees.refinement import TreeBounds
    from .reporter import Reporter

_PIECE = 1 << 16


@dataclass(frozen=True)
class Facts:
    """Facts that do not change while a method runs.

    n_arcs : twice the number of edges. n_isolated : vertices without an edge. n_blocks : blocks of the arcs, at least
    1. batch_bits : sources of one batch. pool_bytes : memory for columns and batches, beside the planned state of the
    method. room_bytes : memory in this process for a method's own data, e.g. candidates or condensed arcs; part of the
    pool if columns are in this process too. spare_bytes : memory of this process that the plan leaves free, for data
    that no plan can foresee. in_ram : whether all blocks are in RAM. columns_on_disk : whether columns and the state of
    batches take no memory.
    together : the number of eccentricities with columns that share reads, so that all take about the reads of one, if
    the engine has SharedScans (else 0). apart : the number of eccentricities with columns that run at the same time
    over long distances, with a BFS on its own thread for each (0: they never do).
    wide_bits : sources of one wide batch, if the engine has WideBatches (else 0). wide_rate : the expected rate of a
    wide batch before one is measured, in bytes of rows a second (0: estimated from the threads). keeps_candidates :
    whether the engine has CandidateBounds.
    """

    n_vertices: int
    n_arcs: int
    n_isolated: int
    n_blocks: int
    batch_bits: int
    pool_bytes: int
    room_bytes: int
    spare_bytes: int
    threads: int
    in_ram: bool
    columns_on_disk: bool = False
    together: int = 0
    apart: int = 0
    wide_bits: int = 0
    wide_rate: float = 0.0
    keeps_candidates: bool = False

    def apart_pays(self, levels: int) -> bool:
        """Whether eccentricities with columns run at the same time if a BFS has this number of levels."""
        return self.apart > 0 and pays(levels, self.n_vertices, self.n_arcs)


# -- Results of verbs, as far as algorithms may use them; each engine has its own classes for them --

class Traversal(Protocol):
    """A finished or stopped BFS. eccentricity : None if it stopped before the last level. levels : largest distance
    reached. farthest : smallest vertex at that distance. level_counts : vertices per level, with profile=True.
    reached : for Column.recode(within=...), valid until the next traversal."""

    source: int
    eccentricity: int | None
    levels: int
    n_reached: int
    farthest: int
    distances: Column | None
    level_counts: list[int]
    reached: Any


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
        """Position of every vertex in the order by distance (ties: by vertex), id[n]. Raises MoreMemoryError if there
        is no room for the positions and new distances; the labels are then lost."""

    def replace_distances(self, distances: np.ndarray, places: np.ndarray) -> None:
        """Give every reached vertex v the distance distances[places[v]] (unsigned[n]); groups do not change."""

    def take_column(self) -> Column:
        """The distances; the labels are invalid afterwards."""

    def release(self) -> None:
        """Free the labels, but not `masters`."""


class Trees(Protocol):
    """The trees of a forest that have an edge. hubs, sizes : for each its vertex of highest degree and its number of
    vertices."""

    n_trees: int
    hubs: np.ndarray
    sizes: np.ndarray

    def number_of(self, vertices: np.ndarray) -> np.ndarray:
        """The trees of vertices (int64[k]) with an edge, int64[k]."""

    def bounds(self, heights: Column, known: int) -> TreeBounds:
        """Bounds on diameters that follow from the heights, if heights up to `known` are distances."""

    def farthest(self, tree: int, labels: Column, height: int) -> int:
        """The vertex of smallest rank with the label `height` in the tree, -1 if no vertex has it."""


class TreeRefinement(Protocol):
    """Trees that become BFS trees. heights : in the trees now. known : distances up to this are exact. exact : whether
    all heights are distances. iterations : the number done so far."""

    known: int
    exact: bool
    iterations: int

    @property
    def heights(self) -> Column:
        """Heights of all vertices."""

    def step(self) -> int:
        """Do one iteration; return the number of vertices whose height fell."""

    def take_labels(self) -> Column:
        """min(height, known) of every vertex; ends the refinement."""


class Forest(Protocol):
    """A rooted spanning forest. n_trees : trees with an edge. scans : passes over blocks that making it took."""

    n_trees: int
    scans: int

    def euler_masters(self, spacing: int) -> np.ndarray:
        """The vertices on every `spacing`-th entry of an Euler tour of every tree with an edge (its root
        first, children by rank), int64[k], distinct, ascending by rank. Every vertex with an edge is
        less than `spacing` steps from one of them. InputError for a spacing below 1."""

    def trees(self) -> Trees:
        """The trees with an edge, each rooted at its vertex of smallest rank."""

    def hang_from(self, vertices: np.ndarray) -> None:
        """Make each of `vertices` (integers [k]) the root of its tree."""

    def refine(self) -> TreeRefinement:
        """Start to turn the forest into BFS trees of its roots, by scans. The result takes the forest over.
        Raises OverflowError for a tree with a height of 2^32 or more."""

    def release(self) -> None:
        """Free the parents, but not the counts."""


class Traversing(Protocol):
    """Verbs that go along edges from vertices."""

    def bfs(self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
            distances: bool = True, profile: bool = False, into: Column | None = None) -> Traversal:
        """Breadth-first search from `source`. If it stops after `radius` levels, or when all `targets` are reached, it
        has no eccentricity. With `distances` the result contains a Column: `into` (cleared first) if one is passed. It
        must be wide enough, else OverflowError."""

    def eccentricities(self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
                       columns: Sequence[Column] | None = None) -> np.ndarray:
        """Bit-parallel multi-source BFS: the eccentricities of any number of sources, int32[k], in batches of at most
        `batch_bits` sources, each for one set of passes. With `columns`, one unreached Column per source, all of one
        dtype, it writes the distances there. With `targets`, a bitmap uint64[ceil(n/64)], a batch stops when all its
        sources have reached all targets; the returned values are then at least the largest distance to a target and at
        most the eccentricity. Raises OverflowError if a distance does not fit the columns."""

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        """bound[v] = min(bound[v], min over seeds of values + d(v, seed)), never writing a bound
        above `limit`. Returns the number of vertices whose bound fell. Spreads on one column must all run to the same
        limit, or be extended to it: without seeds, all vertices with bound exactly `values` are seeds."""

    def components(self, reached: int) -> Components | None:
        """Components with an edge, without the one that the last bfs (from or through `reached`)
        covered; None if there is no other."""

    def new_column(self, largest: int, value: int | None = None, isolated: int | None = None) -> Column:
        """A column for values up to `largest`, filled with `value` (default: unreached). Vertices without an edge get
        `isolated` (default: as others)."""


class MakingBounds(Protocol):
    """The verb for bounds on all eccentricities."""

    def new_bounds(self, largest: int) -> PivotBounds:
        """Bounds on every vertex's eccentricity, to be updated with columns made by new_column(largest)."""


class Looking(Protocol):
    """Degrees, rows, and single passes over all rows."""

    def degrees(self, ids: np.ndarray) -> np.ndarray:
        """Degrees of vertices `ids`, int64[k]; reads no edges."""

    def highest_degrees(self, most: int) -> np.ndarray:
        """The `most` vertices of highest degree, highest first (ties: smallest first), without vertices that have no
        edge, int64[k]."""

    def vertices_of_degree(self, degree: int, most: int = 1 << 16) -> Iterator[np.ndarray]:
        """Vertices of exactly this degree, ascending, in pieces of at most `most` (int64)."""

    def rows(self, ids: np.ndarray) -> list[np.ndarray]:
        """Neighbours (ascending, int64) of a few vertices."""

    def path_pieces(self, distances: Column, target: int, *, by_rank: bool = False) -> Iterator[np.ndarray]:
        """A shortest path from `target` to the source of `distances`, target first, in pieces. Each step goes to the
        neighbour of smallest number (or natural rank) among those nearer by one."""

    def follow_chains(self, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(end, length) of the chains of degree-2 vertices that start at degree-1 `tips`."""

    def all_edges_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """True if every (tails[i], heads[i]) is an edge, looked up row by row."""

    def scan(self, name: str, column: Column, source: int = 0) -> int:
        """One sequential pass over all rows with the named kernel, and its reduction.
        "steep-arcs": the number of arcs whose ends differ by more than 1 in `column`.
        "tree-diameter": the diameter of the BFS tree of `column`, the distances of a whole BFS from `source` (else
        ValueError). A vertex's parent in it is the neighbour of smallest natural rank that is nearer by one."""


class Clustering(Protocol):
    """Clusters around masters, and the graph between them."""

    def ranks(self, ids: np.ndarray) -> np.ndarray:
        """Natural rank of vertices `ids`, int64[k]: their position in increasing order of the user's
        ids, whatever the order of the store. Choices that must be the same in every order use it."""

    def sample_vertices(self, key: int, expected: int) -> np.ndarray:
        """A random sample of the vertices with an edge, on average `expected` of them (all, if there
        are no more), int64[k] ascending by rank. It depends only on `key` (below 2^64) and ranks."""

    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """Every vertex with an edge joins the cluster of the nearest master (int64[k], ascending by
        rank; ties: the smallest number). Each component without a master gets an additional one. None if
        that takes more than `most_rounds` rounds. Raises OverflowError for distances beyond 2^32."""

    def restart(self, labels: Labels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray,
                most_scans: int | None = None) -> bool:
        """Turn clusters into exact distances from one source in every part, starting from the upper bounds base[group]
        + distance to the master. base : int64[n_groups], length of a walk from the part's source to the master.
        parts : int64[n_groups], part of each group. sources : int64[n_parts]. False if that would read more than
        `most_scans` times all blocks."""

    def condense(self, by: Labels | np.ndarray, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """Pass every arc between two clusters of `by` to `push`, in one scan. An arc is packed as uint64 (cluster,
        cluster, weight) with bits = (of a cluster, of a weight). `push` gets pieces from several threads. `by` may also
        be a new number for every vertex, id[n]: then every arc is passed, with by[v] in place of v and weight 1."""


class Planting(Protocol):
    """Random spanning forests."""

    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> Forest:
        """The minimum spanning forest under random weights that depend only on `key` (below 2^64) and ranks. Every tree
        is rooted at its vertex of smallest rank. buffer_bytes : memory for buffered edges; less memory means more
        scans."""


class SharedScans(Protocol):
    """A verb that an engine has if facts.together is not 0."""

    def watch(self, column: Column | None) -> None:
        """Check blocks for scan("steep-arcs", column) from now on, while `eccentricities` with columns has them in
        memory; that scan then skips them. The column must not change before that scan. None ends this."""


class Counting(Protocol):
    """Pairs by distance: a verb of every engine for distributions, not for methods."""

    def count_distances(self, sources: np.ndarray, table: DistanceTable, *, groups: np.ndarray | int = 0,
                        sums: DistanceSums | None = None) -> None:
        """Count pairs (source, another vertex) by distance. sources : k different vertices, at least one. table :
        collects the pairs. groups : the table's row for each source, int64[k], or one row for all. sums : collects sums
        at vertices."""

    def counted_at_once(self) -> int:
        """Number of sources for one call of count_distances: a batch, or single BFS of a second or two."""


class WideBatches(Protocol):
    """Verbs that an engine has if facts.wide_bits is not 0."""

    def wide_eccentricities(self, sources: np.ndarray, bits: int) -> np.ndarray:
        """Eccentricities as above, in batches of at most `bits` sources, up to facts.wide_bits: for graphs whose balls
        soon meet every row. The caller makes sure that their state has room (traverse/multi_wide.py)."""

    def dominating(self, vertices: np.ndarray, hops: int, bound: Column, limit: int,
                   most: int) -> tuple[np.ndarray, np.ndarray]:
        """At most `most` sources for a wide batch, and the vertices that they serve. Sources are near `vertices`
        (int64[k] in order of preference; the first is itself a source) and have many neighbours w with bound[w] > limit
        that no other source has. See traverse/domination.py."""


class ComponentBounds(Protocol):
    """Bounds on the eccentricities of one component, and the candidates, vertices that may still become sources:
    papers/001, Algorithm 2. largest_lower, largest_upper : of the component. n_candidates : their number."""

    largest_lower: int
    largest_upper: int
    n_candidates: int

    def update(self, distances: Any, eccentricity: int) -> None:
        """Sharpen the bounds with the distances of a BFS, and drop candidates."""

    def select(self, upper: bool) -> int | None:
        """The candidate with the largest upper bound or, without `upper`, with the smallest lower bound (ties: the
        smallest vertex); None without candidates."""


class CandidateBounds(Protocol):
    """A verb that an engine has if facts.keeps_candidates."""

    def open_candidates(self, distances: Column) -> ComponentBounds:
        """The bounds of the component that this column of distances reaches."""


class Engine(Traversing, MakingBounds, Looking, Clustering, Planting, Protocol):
    """A graph opened for traversal. store : algorithms use it only for the user's ids of vertices."""

    store: Store
    facts: Facts
    reporter: Reporter


def max_degree_vertex(engine: Engine) -> int:
    """Smallest vertex of the largest degree; -1 without vertices."""
    highest = engine.highest_degrees(1)
    return int(highest[0]) if len(highest) else min(0, engine.facts.n_vertices - 1)


def first_with_edge(engine: Engine) -> int:
    """Smallest vertex with an edge, or -1."""
    n = engine.facts.n_vertices
    for start in range(0, n if engine.facts.n_arcs else 0, _PIECE):
        connected = np.flatnonzero(engine.degrees(np.arange(start, min(start + _PIECE, n))))
        if len(connected):
            return start + int(connected[0])
    return -1
