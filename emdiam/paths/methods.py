"""The search methods by name, and the choice of a method for a graph.

Seconds of one thread for a whole search of USA-road-d.NY (730,100 arcs, weights to 36,946) and of an R-MAT of scale 20
(31 million arcs, weights 1 to 255): Delta-stepping takes 0.0044 and 0.20 with Delta = 8 and 2 mean weights / mean
degree, and relaxes 1.07 and 1.2 times the number of arcs; a binary heap takes 0.034 and 1.26. With short rows, threads
meet after every bucket of a few thousand arcs: on NY two threads take longer than one, so graphs of this size use one
thread, and larger ones wider buckets. Small graphs use the heap, since compiling the kernels of buckets takes longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError, no_such
from .bellman_ford import bellman_ford
from .delta_stepping import WARP, delta_stepping, usual_delta
from .dijkstra import dijkstra
from .frontier import frontier_bellman_ford, workfront_sweep
from .hbf import hbf
from .light_heavy import light_heavy
from .near_far import near_far, sorted_buckets
from .paths import Paths, SearchOptions
from .rows import WeightedArcs, WeightedRows, unreached

Search = Callable[[WeightedRows, int, SearchOptions], Paths]
AUTO = "auto"
_DIVIDE = "divide all weights by a power of ten, and convert again"
# SMALL_ARCS: arcs of a small graph. ALONE_ARCS: graphs of at most this size with a mean degree below AUTO_DEGREE use
# one thread. Delta of the method "auto", in mean weight / mean degree: AUTO_SHARE from AUTO_DEGREE on, AUTO_ALONE with
# one thread, else AUTO_SPARSE.
SMALL_ARCS, ALONE_ARCS, AUTO_DEGREE = 1 << 16, 1 << 21, 8
AUTO_SHARE, AUTO_ALONE, AUTO_SPARSE = 2, 8, 16


class LargeSumsError(InputError, OverflowError):
    """The sum of weights of a path may not fit the type of distances."""


@dataclass(frozen=True)
class SearchMethod:
    """search : the function. negative : whether weights may be negative. buckets : whether it has a width of buckets,
    options.delta."""

    name: str
    search: Search
    negative: bool = False
    buckets: bool = False


METHODS: dict[str, SearchMethod] = {method.name: method for method in (
    SearchMethod("dijkstra", dijkstra),
    SearchMethod("bellman-ford", bellman_ford, negative=True),
    SearchMethod("frontier-bellman-ford", frontier_bellman_ford, negative=True),
    SearchMethod("delta-stepping", delta_stepping, buckets=True),
    SearchMethod("light-heavy", light_heavy, buckets=True),
    SearchMethod("sorted-buckets", sorted_buckets, buckets=True),
    SearchMethod("near-far", near_far, buckets=True),
    SearchMethod("workfront-sweep", workfront_sweep, negative=True),
    SearchMethod("h-bf", hbf, negative=True),
)}


def shortest_paths(rows: WeightedRows, source: int, method: str = AUTO, options: SearchOptions | None = None) -> Paths:
    """Distances from `source` to every vertex along the arcs of `rows`.

    method : a key of METHODS, or "auto". Raises InputError for an unknown method, and for negative weights if the
    method excludes them; NegativeCycle; ValueError for a source that is no vertex; OverflowError if a distance may not
    fit 64 bits."""
    if not 0 <= source < rows.n_vertices:
        raise ValueError(f"the source must be a vertex, 0 to {rows.n_vertices - 1}")
    chosen, options = chosen_method(rows, method), options or SearchOptions()
    if method == AUTO:
        options = with_delta(rows, options)
    check_lengths(rows)
    return chosen.search(rows, source, options)


def narrowed(distances: np.ndarray) -> np.ndarray:
    """Distances, uint64[n] or uint32[n], as uint32 if they fit."""
    short = distances.astype(np.uint32, copy=False)
    largest = distances.max(initial=0, where=distances != unreached(distances.dtype))
    return short if int(largest) < unreached(short.dtype) else distances


def check_lengths(rows: WeightedArcs) -> None:
    """Raise LargeSumsError if a distance may not fit int64, or may be infinite."""
    largest = max(abs(rows.least_weight), abs(rows.largest_weight))
    if rows.distance_dtype.kind == "f":
        if not np.isfinite(float(largest) * max(1, rows.n_vertices - 1)):
            raise LargeSumsError(f"sums of weights up to {largest} may be larger than {np.finfo(np.float64).max:.3g},"
                                 " the largest float", remedy=_DIVIDE)
    elif largest * rows.n_vertices >= np.iinfo(np.int64).max:
        raise LargeSumsError(f"distances up to {largest * rows.n_vertices} do not fit 64 bits", remedy=_DIVIDE)


def with_delta(rows: WeightedRows, options: SearchOptions) -> SearchOptions:
    """The options with a width of buckets and a suitable number of threads."""
    if options.delta is not None:
        return options
    share, threads = AUTO_SHARE, options.threads
    if rows.n_arcs < AUTO_DEGREE * rows.n_vertices:
        threads = 1 if rows.n_arcs < ALONE_ARCS else threads
        share = AUTO_ALONE if threads == 1 else AUTO_SPARSE
    return replace(options, delta=usual_delta(rows) * share / WARP, threads=threads)


def chosen_method(rows: WeightedRows, method: str) -> SearchMethod:
    """The method of this name; for "auto" the best one for `rows`. Raises InputError."""
    if method == AUTO:
        method = ("bellman-ford" if rows.least_weight < 0 else "dijkstra" if rows.n_arcs <= SMALL_ARCS
                  else "delta-stepping")
    if method not in METHODS:
        raise no_such("method of shortest paths", method, [AUTO, *METHODS])
    if rows.least_weight < 0 and not METHODS[method].negative:
        raise InputError(f"{method} needs weights that are not negative", remedy="use --method bellman-ford")
    return METHODS[method]
