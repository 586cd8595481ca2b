"""clusters: Meyer's parametrized approximation by parallel cluster growing (PAR_APPROX).

Definition: masters are drawn at random, every vertex joins the cluster of its nearest master, and the clusters become
the vertices of a condensed graph, whose edge between two clusters weighs d(u) + 1 + d(w), the lightest over the edges
{u, w} between them. A double sweep of shortest paths on it gives S; the estimate is S + 2 d, with d the largest
distance between two masters whose clusters touch (the reading of d that the paper's table of the sqrt(n)-level graph
bears out: its S is then the same for all numbers of masters). In a component of one cluster of radius r it is 2 r.

Proved beside it. r_C is the radius of cluster C, d' the distance in the condensed graph, which is
the length of a walk between masters in the graph.
- Upper: vertices x, y of different clusters A, B are at most r_A + d'(A, B) + r_B apart, those of
  one cluster 2 r_A. So D is at most max(2 max r_C, the diameter of the condensed graph with
  heights r_C, or any upper bound on that); see methods/weighted/heights.py.
- Lower: the eccentricity of the master at the far end of the double sweep, a real distance. Where
  the graph is in RAM that is one BFS. Where it is streamed, the distances d'(s, C) + d(v) are upper
  bounds to start a label growth from (Labels.restart), which ends with exact distances after few
  passes: it mends what the clusters got wrong, instead of walking through all levels.

Passes: as many as growing needs (rounds, or fewer where streamed), one to condense, a few for the lower bound, one to
check it. Bytes a vertex: 4, or 8 (traverse/labels.py), beside the shared 3; 8 an arc of the condensed graph where
that is in RAM.
Sources: Meyer, On trade-offs in external-memory diameter-approximation, SWAT 2008; Ajwani, Beckmann, Meyer, Veith,
I/O-efficient approximation of graph diameters by parallel cluster growing, 2012, sections 2 and 3 and Tables 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engine.needs import DeviceState, label_bytes, widening_bytes
from ...errors import InputError
from ...store.store import Store
from ...stream.plan import Pool, most_parts
from ...traverse.labels import NARROW, WIDE
from ..definition import Method
from ..weighted.heights import least_bytes
from .cluster_run import PIVOT_BYTES, ClusterRun
from .condensed import LEAST_ARC_BYTES, LEAST_SORT_BYTES
from .cost_model import CLUSTERS, condensed_pool
from .masters import resolve_masters
from .method import ApproxOptions, phases_with

# Bytes a cluster: masters, radii, sizes, parts, offsets of rows, distances and owners.
CLUSTER_BYTES = 72
# Masters of "auto" that are planned for, at least a share of the vertices; more as far as the room goes.
_PLANNED_LEAST, _PLANNED_SHARE = 1 << 12, 256
# Bytes a component, where there are very many: what double sweeps tell of each, and how it is found out.
PART_BYTES = 48


@dataclass(frozen=True)
class ClusterOptions(ApproxOptions):
    """masters : expected number (int), or a text: "2^20", "1e6", "10%", or "auto". seed : of the
    random choice. euler : every k-th vertex of an Euler tour of a spanning tree is a master too, k =
    vertices / masters, so that no vertex is farther than k from one. levels : how often the graph is
    condensed."""

    masters: int | str = "auto"
    seed: int = 0
    euler: bool = False
    levels: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels < 1:
            raise InputError("the graph is condensed at least once", text=str(self.levels))


def cluster_bytes(store: Store, options: ClusterOptions, column: int) -> dict[str, int]:
    """Vertex state by phase, beside offsets and the state of traversals."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    count, labels = _expected(options, n), NARROW.itemsize * n
    tables = _least_tables(count)
    sizes = {"grow": labels + CLUSTER_BYTES * count, "condense": labels + tables["condense"],
             "paths": labels + tables["paths"],
             "lower": max(labels, widening_bytes(store, column)) + tables["condense"]}
    if options.euler:
        from .spanning import spanning_bytes_of_tour

        sizes["euler tour"] = spanning_bytes_of_tour(n, ids)
    return sizes


def _reserved_bytes(store: Store) -> dict[str, int]:
    """What phases may take beside that: wide labels, labels of components without a master, the order of the labels."""
    wider = (WIDE.itemsize - NARROW.itemsize) * store.n_vertices
    parts = _parts_bytes(store)
    return {phase: wider + parts.get(phase, 0) for phase in ("grow", "condense", "paths", "lower")}


def _parts_bytes(store: Store) -> dict[str, int]:
    """What of that only a graph of several components takes."""
    return dict.fromkeys(("grow", "lower"), label_bytes(store.n_vertices, store.id_dtype.itemsize))


def _pool(store: Store) -> Pool:
    """Room for condensed arcs; and for the clusters of as many components as there may be, of two vertices each."""
    n, options = store.n_vertices, ClusterOptions()
    most = _expected(options, n) + most_parts(store)
    return Pool(condensed_pool(store), of_parts=beyond_plan(n, options, most))


def tables_bytes(store: Store, options: ClusterOptions) -> tuple[int, int]:
    """What the method holds beside vertex state, where that is elsewhere: at least, and what it could make use of
    beyond that for condensed arcs."""
    return max(_least_tables(_expected(options, store.n_vertices)).values()), condensed_pool(store)


def _least_tables(count: int) -> dict[str, int]:
    """What so many clusters and their arcs take at least, beside vertex state."""
    kept = CLUSTER_BYTES * count + 2 * LEAST_ARC_BYTES
    return {"condense": kept + LEAST_SORT_BYTES, "paths": kept + least_bytes(count) + PIVOT_BYTES}


def beyond_plan(store_vertices: int, options: ClusterOptions, count: int) -> int:
    """Bytes that so many clusters take beyond what was planned for: there is one in every component, and nobody
    knows beforehand how many there are. Those beyond count as components of their own."""
    expected = _expected(options, store_vertices)
    planned, taken = _least_tables(expected), _least_tables(count)
    more = max(taken[name] - planned[name] for name in taken)
    return more + PART_BYTES * (count - expected) if count > expected else 0


def most_with_room(store_vertices: int, options: ClusterOptions, room: int) -> int:
    """Masters that half of the room pays for beyond those that were planned for, on average."""
    planned = _expected(options, store_vertices)
    if planned == store_vertices:
        return planned
    each = beyond_plan(store_vertices, options, planned + (1 << 10)) / (1 << 10)
    return int((planned - 64 + room // 2 / each) / 1.1)


def _expected(options: ClusterOptions, n: int) -> int:
    """Clusters to plan for; a tour has twice as many entries as vertices. One more than asked for in every
    component is not foreseen."""
    if options.masters == "auto":
        return min(n, int(max(_PLANNED_LEAST, n // _PLANNED_SHARE) * 1.1) + 64)
    count: Any = resolve_masters(options.masters, n) if n else 1
    return min(n, int(count * (3 if options.euler else 1) * 1.1) + 64)


METHOD = Method(ClusterOptions, ClusterRun, phases_with(cluster_bytes, _reserved_bytes, _parts_bytes),
                lambda store, options: CLUSTERS, DeviceState(4), _pool, tables_bytes)
clusters = METHOD.solve
