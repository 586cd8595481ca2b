"""The engine interface: everything that exact/ and approx/ may use of a graph.

Algorithms talk to an Engine, never to files, blocks, chunks or devices. One protocol test file
(tests/engine/test_protocol.py) runs over every implementation: in RAM, streamed, and the naive
twin. Vertices are internal numbers 0..n_vertices-1; `store.user_ids` translates for people. What verbs give are
protocols too; Column, Components and PivotBounds are abstract classes of traverse/, TreeBounds a record of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..store.store import Store
from ..traverse.columns import Column

if TYPE_CHECKING:
    from ..traverse.components import Components
    from ..traverse.distance_table import DistanceTable
    from ..traverse.pivot_bounds import PivotBounds
    from ..traverse.tally import DistanceSums
    from ..traverse.tree_refinement import TreeBounds
    from .reporter import Reporter

_PIECE = 1 << 16


@dataclass(frozen=True)
class Facts:
    """What does not change while a method runs.

    n_arcs : twice the number of edges. n_isolated : vertices without an edge. n_blocks : of the arcs, at least 1.
    batch_bits : sources of one batch. pool_bytes : for columns and batches beside what a method is planned to hold.
    room_bytes : for what a method holds itself, in this process, candidates or condensed arcs; part of the pool where
    columns are here too. spare_bytes : of this process's memory, that the plan leaves: for what nobody could plan for.
    in_ram : whether all blocks are. columns_on_disk : whether columns, and the state of batches, take no memory.
    together : so many eccentricities with columns take about the reading of one, of an engine that has SharedScans
    (0: none do). apart : over long distances so many eccentricities with columns are a BFS each, on threads of their
    own (0: none are).
    wide_bits : sources of one wide batch, of an engine that has WideBatches (else 0); wide_rate : bytes of rows a
    second that one is expected to read before the first (0: what the threads do). keeps_candidates : whether the engine
    has CandidateBounds.
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


# -- What verbs give, as far as algorithms may use it; each engine has classes of its own for these --

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
        """Number of every vertex when all are sorted by distance (ties: by vertex), id[n]. Raises MoreMemoryError where
        there is no room for them and for new distances; the labels are gone then."""

    def replace_distances(self, distances: np.ndarray, places: np.ndarray) -> None:
        """Every reached vertex v gets the distance distances[places[v]] (unsigned[n]); groups stay."""

    def take_column(self) -> Column:
        """The distances; the labels are gone after it."""

    def release(self) -> None:
        """Free the labels; masters stay."""


class Trees(Protocol):
    """The trees with an edge of a forest. hubs, sizes : vertex of the highest degree and number of vertices of each."""

    n_trees: int
    hubs: np.ndarray
    sizes: np.ndarray

    def number_of(self, vertices: np.ndarray) -> np.ndarray:
        """The trees of vertices (int64[k]) with an edge, int64[k]."""

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
        """The trees with an edge, which hang from their vertices of smallest rank."""

    def hang_from(self, vertices: np.ndarray) -> None:
        """Make each of `vertices` (integers [k]) the root of its tree."""

    def refine(self) -> TreeRefinement:
        """Turn it, which the result takes over, towards BFS trees of its roots, by scans.
        Raises OverflowError for a tree with a height of 2^32 or more."""

    def release(self) -> None:
        """Free the parents; the counts stay."""


class Traversing(Protocol):
    """What goes along edges from vertices."""

    def bfs(self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
            distances: bool = True, profile: bool = False, into: Column | None = None) -> Traversal:
        """Breadth-first search from `source`. Stopped by `radius` levels, or when all `targets`
        are reached, it has no eccentricity. With `distances` the result holds a Column: `into`,
        cleared first, if it is given (it must be wide enough: OverflowError)."""

    def eccentricities(self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
                       columns: Sequence[Column] | None = None) -> np.ndarray:
        """Bit-parallel multi-source BFS: the eccentricities of any number of sources, int32[k], in batches of at most
        `batch_bits` that each cost one set of passes. With `columns`, one unreached Column per source, all of one
        dtype, it writes the distances there. With `targets`, a bitmap uint64[ceil(n/64)], a batch stops when all its
        sources have seen all targets; what is returned is then at least the largest distance to a target and at most
        the eccentricity. Raises OverflowError if a distance does not fit the columns."""

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        """bound[v] = min(bound[v], min over seeds of values + d(v, seed)), never writing a bound
        above `limit`. Returns how many vertices were lowered. Spreads on one column must all run
        to the same limit, or be extended to it: without seeds they are all vertices with bound exactly `values`."""

    def components(self, reached: int) -> Components | None:
        """Components with an edge beside the one that the last bfs (from or through `reached`)
        covered; None if there is no other."""

    def new_column(self, largest: int, value: int | None = None, isolated: int | None = None) -> Column:
        """A column for values up to `largest`, filled with `value` (default: unreached), vertices without an edge with
        `isolated` (default: as others)."""


class MakingBounds(Protocol):
    """Bounds on all eccentricities."""

    def new_bounds(self, largest: int) -> PivotBounds:
        """Bounds on every vertex's eccentricity, for columns made by new_column(largest)."""


class Looking(Protocol):
    """Degrees, rows, and single passes over all rows."""

    def degrees(self, ids: np.ndarray) -> np.ndarray:
        """Degrees of vertices `ids`, int64[k]; no edges are read."""

    def highest_degrees(self, most: int) -> np.ndarray:
        """The `most` vertices of the highest degrees, highest first (ties: smallest first), those
        without an edge left out, int64[k]."""

    def vertices_of_degree(self, degree: int, most: int = 1 << 16) -> Iterator[np.ndarray]:
        """Vertices of exactly this degree, ascending, in pieces of at most `most` (int64)."""

    def rows(self, ids: np.ndarray) -> list[np.ndarray]:
        """Neighbours (ascending, int64) of a few vertices."""

    def path_pieces(self, distances: Column, target: int, *, by_rank: bool = False) -> Iterator[np.ndarray]:
        """A shortest path from `target` to the source of `distances`, target first, in pieces. A step
        goes to the neighbour of smallest number (or natural rank) that is one nearer."""

    def follow_chains(self, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(end, length) of the chains of degree-2 vertices that start at degree-1 `tips`."""

    def all_edges_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """True if every (tails[i], heads[i]) is an edge, looked up row by row."""

    def scan(self, name: str, column: Column, source: int = 0) -> int:
        """One sequential pass over all rows with the named kernel and its reduction:
        "steep-arcs", the arcs whose ends differ by more than 1 in `column`;
        "tree-diameter", the diameter of the BFS tree of `column`, the distances of a whole BFS from `source` (else
        ValueError), in which a vertex's parent is the neighbour of smallest natural rank that is one nearer."""


class Clustering(Protocol):
    """Clusters around masters, and the graph between them."""

    def ranks(self, ids: np.ndarray) -> np.ndarray:
        """Natural rank of vertices `ids`, int64[k]: their position in increasing order of the user's
        ids, whatever the order of the store. What is to be the same in every order goes by it."""

    def sample_vertices(self, key: int, expected: int) -> np.ndarray:
        """A random sample of the vertices with an edge, `expected` of them on average (all, if there
        are no more), int64[k] ascending by rank. It depends on `key` (below 2^64) and ranks alone."""

    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """Every vertex with an edge joins the cluster of the nearest master (int64[k], ascending by
        rank; ties: the smallest number), and components without a master get one more each. None if
        that takes more than `most_rounds` rounds. Raises OverflowError for distances beyond 2^32."""

    def restart(self, labels: Labels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray,
                most_scans: int | None = None) -> bool:
        """Turn clusters into the exact distances from one source in every part, from the upper bounds base[group] +
        distance to the master. base : int64[n_groups], length of a walk from the source of the part to the master.
        parts : int64[n_groups], part of the group. sources : int64[n_parts]. False if that would take the reading of
        more than `most_scans` times all blocks."""

    def condense(self, by: Labels | np.ndarray, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """One scan: hands every arc between two clusters of `by`, packed as uint64 (cluster, cluster, weight)
        with bits = (of a cluster, of a weight), to `push`, in pieces and from several threads. by may be a new number
        of every vertex, id[n], too: then every arc with by[v] in place of v, and the weight 1."""


class Planting(Protocol):
    """Random spanning forests."""

    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> Forest:
        """The minimum spanning forest under random weights of `key` (below 2^64) and ranks alone, every
        tree hanging from its vertex of smallest rank. buffer_bytes : for edges at hand; the smaller it
        is, the more scans it takes."""


class SharedScans(Protocol):
    """What an engine offers beside its other verbs where facts.together is not 0."""

    def watch(self, column: Column | None) -> None:
        """From now on scan("steep-arcs", column) looks at blocks while they are at hand for `eccentricities` with
        columns, and leaves them out when it is called. The column does not change until then, and no longer matters
        after it. None: nothing is looked at any more."""


class Counting(Protocol):
    """Pairs by distance, of every engine, for whoever counts them and not for methods."""

    def count_distances(self, sources: np.ndarray, table: DistanceTable, *, groups: np.ndarray | int = 0,
                        sums: DistanceSums | None = None) -> None:
        """Count pairs (source, another vertex) by distance. sources : k different vertices, one at least. table : takes
        the pairs. groups : the row of each source, int64[k], or that of all. sums : takes what is summed at
        vertices."""


class WideBatches(Protocol):
    """What an engine offers beside its other verbs where facts.wide_bits is not 0."""

    def wide_eccentricities(self, sources: np.ndarray, bits: int) -> np.ndarray:
        """The same eccentricities by batches of at most `bits` sources, up to facts.wide_bits: for
        graphs whose balls soon meet every row. The caller has room for their state (traverse/multi_wide.py)."""

    def dominating(self, vertices: np.ndarray, hops: int, bound: Column, limit: int,
                   most: int) -> tuple[np.ndarray, np.ndarray]:
        """At most `most` sources for a wide batch, and the vertices that they are for: near these
        (int64[k] in order of preference; the first is a source itself), with many neighbours w of bound[w] > limit
        that no other source has. See traverse/domination.py."""


class ComponentBounds(Protocol):
    """Bounds on the eccentricities of one component, and the vertices that may still be sources: papers/001, Algorithm
    2. largest_lower, largest_upper : of the component. n_candidates : how many there are."""

    largest_lower: int
    largest_upper: int
    n_candidates: int

    def update(self, distances: Any, eccentricity: int) -> None:
        """Sharpen the bounds by a BFS with this column of distances, and drop candidates."""

    def select(self, upper: bool) -> int | None:
        """The candidate with the largest upper bound or, without `upper`, the smallest lower one, the smallest of equal
        ones; None without candidates."""


class CandidateBounds(Protocol):
    """What an engine offers beside its other verbs where facts.keeps_candidates."""

    def open_candidates(self, distances: Column) -> ComponentBounds:
        """Those of the component that this column of distances reaches."""


class Engine(Traversing, MakingBounds, Looking, Clustering, Planting, Protocol):
    """A graph opened for traversal. store : gives the user's ids of vertices, and nothing else to algorithms."""

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
