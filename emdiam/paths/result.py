"""The result of a run: the stable contract of the command line and the Python interface."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ..decimals import Number
from ..shown import Shown, Words
from ..units import MemoryFigures

# Of each vertex, so never in what is printed.
_ARRAYS = ("distances", "predecessors")


@dataclass(repr=False)
class ShortestPaths(Shown, MemoryFigures):
    """Shortest paths from one vertex, in the ids of the user.

    method : that was used. weights : their dtype, None of a store without, whose edges have the length 1. weight :
    the name of the column or attribute that they came from. directions_dropped : as of an exact Result. reached :
    vertices with a path, the source among them. farthest : one at the largest distance, the first in the order of the
    store. relaxations : arcs along which a distance was tried. rounds : of the method, as its page says. target,
    distance, path : as asked for; distance and path are None without one. device : what searched, cpu
    or a GPU's name. streamed : whether blocks were read as they were needed. distances : of the vertices in the order
    of the store, uint64, int64 or float64[n_vertices], the largest value or infinity without a path; of weights with
    decimals float64, each the float next to the distance; predecessors :
    int64[n_vertices], -1 at the source and without a path; None unless they are kept. out : file of both. seconds :
    wall seconds {total, load, search, tree, write}.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "source", "method", "reached", "largest_distance", "farthest", "target", "distance", "n_vertices", "n_edges",
        "weight", "weights", "relaxations", "rounds", "streamed", "out")

    source: int | str
    method: str
    reached: int
    largest_distance: Number
    farthest: int | str
    relaxations: int
    rounds: int
    n_vertices: int
    n_edges: int
    directed: bool = False
    weights: str | None = None
    weight: str | None = None
    target: int | str | None = None
    distance: Number | None = None
    path: list[Any] | None = None
    device: str = "cpu"
    streamed: bool = False
    bytes_read: int = 0
    out: str | None = None
    memory_limit_bytes: int | None = None
    planned_rss_bytes: int | None = None
    peak_rss_bytes: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    version: str = ""
    store_digest: str = ""
    store_path: str = ""
    store_name: str = ""
    not_written: list[str] = field(default_factory=list)
    directions_dropped: bool = False
    distances: np.ndarray | None = None
    predecessors: np.ndarray | None = None

    @property
    def weighted(self) -> bool:
        """Whether distances are sums of weights."""
        return self.weights is not None

    def _fact(self, name: str) -> Any:
        """See Shown; a target that no path reaches is infinitely far."""
        if name == "distance" and self.target is not None and self.path is None:
            return Words("infinite (there is no path)")
        return super()._fact(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with these names but for the arrays, and memory_limit_exceeded; ready for JSON."""
        named = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _ARRAYS}
        return {**named, "memory_limit_exceeded": self.memory_limit_exceeded}
