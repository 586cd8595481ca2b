"""The methods by name, a search by one of them, and which one suits a graph.

By seconds of one thread on USA-road-d.NY (730,100 arcs, weights to 36,946) and an R-MAT of scale 20 (31 million
arcs, weights 1 to 255), searched whole: Delta-stepping takes 0.0044 and 0.20 with Delta = 8 and 2 mean weights / mean
degree, which relaxes 1.07 and 1.2 times the arcs that there are; a binary heap takes 0.034 and 1.26. Where rows are
short, threads meet after every bucket of a few thousand arcs: on NY two threads take longer than one, so a graph of
this size has one, and on larger ones the buckets are wider. Small graphs are done before the kernels of buckets are
compiled.
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
# Arcs of a small graph, and of one that has a single thread if its mean degree is below AUTO_DEGREE; Delta where nobody
# names a method, in mean weights over mean degrees: of graphs of that degree or more, of those with a single thread,
# and of others.
SMALL_ARCS, ALONE_ARCS, AUTO_DEGREE = 1 << 16, 1 << 21, 8
AUTO_SHARE, AUTO_ALONE, AUTO_SPARSE = 2, 8, 16


class LargeSumsError(InputError, OverflowError):
    """Sums of weights that no number holds."""


@dataclass(frozen=True)
class SearchMethod:
    """search : does it. negative : whether weights may be negative."""

    name: str
    search: Search
    negative: bool = False


METHODS: dict[str, SearchMethod] = {method.name: method for method in (
    SearchMethod("dijkstra", dijkstra),
    SearchMethod("bellman-ford", bellman_ford, negative=True),
    SearchMethod("frontier-bellman-ford", frontier_bellman_ford, negative=True),
    SearchMethod("delta-stepping", delta_stepping),
    SearchMethod("light-heavy", light_heavy),
    SearchMethod("sorted-buckets", sorted_buckets),
    SearchMethod("near-far", near_far),
    SearchMethod("workfront-sweep", workfront_sweep, negative=True),
    SearchMethod("h-bf", hbf, negative=True),
)}


def shortest_paths(rows: WeightedRows, source: int, method: str = AUTO, options: SearchOptions | None = None) -> Paths:
    """Distances from `source` to every vertex along the arcs of `rows`.

    method : a key of METHODS, or "auto". Raises InputError for a method that there is not, for negative weights where
    it cannot have them, and NegativeCycle; ValueError for a source that is no vertex; OverflowError where a distance
    may not fit 64 bits."""
    if not 0 <= source < rows.n_vertices:
        raise ValueError(f"the source must be a vertex, 0 to {rows.n_vertices - 1}")
    chosen, options = chosen_method(rows, method), options or SearchOptions()
    if method == AUTO:
        options = with_delta(rows, options)
    check_lengths(rows)
    return chosen.search(rows, source, options)


def narrowed(distances: np.ndarray) -> np.ndarray:
    """Distances, uint64[n], as uint32 where they fit, which may be so already."""
    short = distances.astype(np.uint32, copy=False)
    largest = distances.max(initial=0, where=distances != unreached(distances.dtype))
    return short if int(largest) < unreached(short.dtype) else distances


def check_lengths(rows: WeightedArcs) -> None:
    """Raises LargeSumsError where a distance may not fit 64 bits with a sign, or may be infinite."""
    largest = max(abs(rows.least_weight), abs(rows.largest_weight))
    if rows.distance_dtype.kind == "f":
        if not np.isfinite(float(largest) * max(1, rows.n_vertices - 1)):
            raise LargeSumsError(f"sums of weights up to {largest} may be larger than {np.finfo(np.float64).max:.3g},"
                                 " the largest float", remedy=_DIVIDE)
    elif largest * rows.n_vertices >= np.iinfo(np.int64).max:
        raise LargeSumsError(f"distances up to {largest * rows.n_vertices} do not fit 64 bits", remedy=_DIVIDE)


def with_delta(rows: WeightedRows, options: SearchOptions) -> SearchOptions:
    """The options, with a width of buckets, and the threads that it suits."""
    if options.delta is not None:
        return options
    share, threads = AUTO_SHARE, options.threads
    if rows.n_arcs < AUTO_DEGREE * rows.n_vertices:
        threads = 1 if rows.n_arcs < ALONE_ARCS else threads
        share = AUTO_ALONE if threads == 1 else AUTO_SPARSE
    return replace(options, delta=usual_delta(rows) * share / WARP, threads=threads)


def chosen_method(rows: WeightedRows, method: str) -> SearchMethod:
    """The method of this name; for "auto" the one that suits `rows`. Raises InputError."""
    if method == AUTO:
        method = ("bellman-ford" if rows.least_weight < 0 else "dijkstra" if rows.n_arcs <= SMALL_ARCS
                  else "delta-stepping")
    if method not in METHODS:
        raise no_such("method of shortest paths", method, [AUTO, *METHODS])
    if rows.least_weight < 0 and not METHODS[method].negative:
        raise InputError(f"{method} needs weights that are not negative", remedy="use --method bellman-ford")
    return METHODS[method]
