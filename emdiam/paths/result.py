"""The result of a run: the stable contract of the command line and the Python interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ..by_vertex import ByVertex, Names, PathsTo, ValuesByVertex
from ..decimals import Number
from ..plots import draw_bars
from ..shown import Shown, Words
from ..units import MemoryFigures

# Values of all vertices, which are never printed.
_MOST_BARS = 32
_ARRAYS = ("distances", "predecessors", "names")


@dataclass(repr=False)
class ShortestPaths(ValuesByVertex, Shown, MemoryFigures):
    """Shortest paths from one vertex, by your names of the vertices.

    Attributes
    ----------
    source, target : object
        As asked for.
    distance, path : int or float, list, optional
        To the target; None if there is no path.
    reached : int
        Vertices with a path, the source included.
    largest_distance, farthest : int or float, object
        The largest distance, and the first vertex at this distance.
    distances : array, optional
        With `keep`: uint64, int64 or float64[n_vertices], in the order of the store; the largest value or
        infinity if there is no path. `by_vertex()` has them by your names.
    predecessors : array of int64, optional
        With `keep`: -1 at the source and if there is no path. `paths` has paths by your names.
    method, device : str
        The search that was used.
    weights, weight : str, optional
        Type and name of the weights; None if every edge has length 1.
    relaxations, rounds : int
        Arcs along which a distance was tried; rounds as the page of the method defines them.
    streamed : bool
        Whether arcs were read in blocks.
    out : str, optional
        The file with distances and predecessors.
    seconds : dict of float
        Wall seconds: total, load, search, tree, write.
    directions_dropped : bool
        As in Result.
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
    names: Names | None = field(default=None, repr=False, compare=False)

    def by_vertex(self) -> ByVertex:
        """The distance of every reached vertex by its id, with the column `predecessor`: the id of the vertex before
        it, None at the source. Raises ValueError if the run did not keep them."""
        names, distances, before = self._kept()
        known = [None if one < 0 else names[one] for one in before.tolist()]
        return ByVertex(names, {"distance": distances, "predecessor": known}, self._reached(distances))

    @property
    def paths(self) -> PathsTo:
        """A shortest path to every reached vertex by its id: a list of ids from the source on. Raises ValueError if the
        run did not keep them."""
        names, distances, before = self._kept()
        return PathsTo(names, before, self._reached(distances))

    def plot(self, ax: Any = None) -> Any:
        """Draw the numbers of vertices by distance from the source, in 32 ranges if there are more distances; see
        Result.plot."""
        _, distances, _ = self._kept()
        values = distances[self._reached(distances)].astype(np.float64)
        numbers, counts = np.unique(values, return_counts=True)
        width = None
        if len(numbers) > _MOST_BARS:
            counts, edges = np.histogram(values, _MOST_BARS)
            numbers, width = edges[:-1], edges[1] - edges[0]
        bars = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
        return draw_bars(bars, ("distance", "vertices"), width, ax)

    def _kept(self) -> tuple[Sequence[Any], np.ndarray, np.ndarray]:
        """Names, distances and predecessors of all vertices. Raises ValueError."""
        if self.distances is None or self.predecessors is None or self.names is None:
            raise ValueError("this run has kept no distances: give keep=True")
        return self.names(), self.distances, self.predecessors

    @staticmethod
    def _reached(distances: np.ndarray) -> np.ndarray:
        """bool[n], whether each vertex has a path."""
        return np.isfinite(distances) if distances.dtype.kind == "f" else distances != np.iinfo(distances.dtype).max

    @property
    def weighted(self) -> bool:
        """Whether distances are sums of weights."""
        return self.weights is not None

    def _fact(self, name: str) -> Any:
        """See Shown; a target without a path has an infinite distance."""
        if name == "distance" and self.target is not None and self.path is None:
            return Words("infinite (there is no path)")
        return super()._fact(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict of these fields without the arrays, with memory_limit_exceeded; ready for JSON."""
        named = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _ARRAYS}
        return {**named, "memory_limit_exceeded": self.memory_limit_exceeded}
