"""The methods of all pairs by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import no_such
from .floyd_warshall import blocked, floyd_warshall, recursive
from .harish import Searches, search_crauser, search_frontiers
from .johnson import Johnson
from .separators import Separators
from .single_kernel import single_kernel
from .squaring import lazy_minimum, squaring

AUTO = "auto"
# A method works on one matrix in memory; on tiles, in memory or on disk; or on rows of the graph, with a few rows of
# the matrix at a time.
MATRIX, TILES, ROWS = "matrix", "tiles", "rows"


@dataclass(frozen=True)
class PairsMethod:
    """kind : MATRIX, TILES or ROWS. work : for MATRIX and TILES a function of tiles (tiles.py); for ROWS a function of
    (rows, lengths, threads, tick, room_bytes) that makes an object with `fill` (harish.py). negative : whether weights
    may be negative. summary : half a sentence."""

    name: str
    kind: str
    work: Callable[..., Any]
    summary: str
    negative: bool = True


def _searches(kernel: Any) -> Callable[..., Searches]:
    return lambda rows, lengths, threads, tick, room_bytes: Searches(rows, lengths, threads, tick, kernel)


METHODS: dict[str, PairsMethod] = {method.name: method for method in (
    PairsMethod("blocked", TILES, blocked, "Floyd-Warshall by tiles in three phases"),
    PairsMethod("recursive", TILES, recursive, "recursive elimination by products of quarters"),
    PairsMethod("squaring", TILES, squaring, "repeated squaring of the matrix"),
    PairsMethod("lazy-minimum", TILES, lazy_minimum, "squaring by streamed blocks, without sums that are infinite"),
    PairsMethod("single-kernel", MATRIX, single_kernel, "Floyd-Warshall by tiles that wait for tiles, in memory"),
    PairsMethod("floyd-warshall", MATRIX, floyd_warshall, "the plain three loops on one thread, in memory"),
    PairsMethod("johnson", ROWS, lambda rows, lengths, threads, tick, room_bytes: Johnson(rows, lengths, threads, tick),
                "Dijkstra's algorithm from every vertex, after potentials where weights are negative"),
    PairsMethod("harish", ROWS, _searches(search_frontiers), "a search by frontiers from every vertex"),
    PairsMethod("ortega", ROWS, _searches(search_crauser),
                "Dijkstra's algorithm from every vertex, many vertices settled at once", negative=False),
    PairsMethod("separators", ROWS, Separators, "within parts, between their boundaries, and both together"),
)}


def method_of(name: str) -> PairsMethod:
    """The method of this name. Raises InputError for an unknown name."""
    if name not in METHODS:
        raise no_such("method of all pairs", name, [AUTO, *METHODS])
    return METHODS[name]
