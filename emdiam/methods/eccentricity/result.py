"""The result of a run for all eccentricities: the stable contract of `emdiam ecc` and emdiam.eccentricities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ...by_vertex import ByVertex, ValuesByVertex
from ...decimals import Number
from ...histogram import with_texts
from ...plots import bars_svg, draw_bars
from ...shown import Shown
from ..result import AlongWeights, Result

# Vectors of a result, left out of JSON.
_OF_VERTICES = ("ids", "lower_bounds", "upper_bounds", "eccentricity_proof", "traversed", "of_largest")

# The most vertices of a component without a source: a certificate leaves it out, and verification computes it anew.
MOST_ANEW = 1024


# Vertices of a set that are named in the answer, or known to a result without all eccentricities.
MOST_IDS = 1000
# Bytes for a vertex's name in a result: a Python int or string, and its place in the list.
NAME_BYTES = 64


def most_ids(keep: bool) -> int | None:
    """Number of vertices of a set that are named; None: all."""
    return None if keep else MOST_IDS


@dataclass(repr=False, eq=False)
class VertexSet(Shown, Sequence[Any]):
    """Vertices of the largest component, by your names: a sequence with `len` and `in`.

    Attributes
    ----------
    size : int
        Number of vertices.
    ids : list
        All of them if the run keeps eccentricities, else the first 1,000. Access to others raises ValueError.
    """

    shown: ClassVar[tuple[str, ...]] = ("size", "ids")

    size: int = 0
    ids: list[Any] = field(default_factory=list)

    def __eq__(self, other: object) -> bool:
        """Whether it has the same vertices in the same order as another set, or a list."""
        if isinstance(other, VertexSet):
            return (self.size, self.ids) == (other.size, other.ids)
        return isinstance(other, list) and (self.size, self.ids) == (len(other), other)

    __hash__ = None  # type: ignore[assignment]  # as lists

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        yield from self.ids
        self._check_whole()

    def __getitem__(self, place: Any) -> Any:
        """The vertex at a place, or a list of those in a slice."""
        places = range(self.size)[place]
        last = places if isinstance(places, int) else max(places, default=-1)
        if last >= len(self.ids):
            self._check_whole()
        return self.ids[places] if isinstance(places, int) else [self.ids[one] for one in places]

    def __contains__(self, vertex: object) -> bool:
        if vertex in self.ids:
            return True
        self._check_whole()
        return False

    def _check_whole(self) -> None:
        if self.size > len(self.ids):
            raise ValueError(f"only the first {len(self.ids):,} of {self.size:,} vertices are known: give keep=True")


@dataclass
class EccentricityProof:
    """The proof of eccentricities, in internal vertex numbers.

    sources : int64[k], vertices that were traversed completely. eccentricities : int64[k]. upper_by, lower_by :
    int32[n], numbers of the sources that prove the upper bound d(v, s) + ecc(s), and the lower
    bound max(d(v, s), ecc(s) - d(v, s))."""

    sources: np.ndarray
    eccentricities: np.ndarray
    upper_by: np.ndarray
    lower_by: np.ndarray


@dataclass(repr=False)
class EccentricityResult(ValuesByVertex, Result):
    """All eccentricities, each within its component: the fields of Result, and these.

    Attributes
    ----------
    radius : int or float, optional
        Smallest eccentricity in the component with the most vertices; None if not proved.
    center, periphery : VertexSet, optional
        Vertices of that component with the smallest and the largest eccentricity.
    histogram : dict of int
        Number of vertices by eccentricity, over all components, as far as proved. If there are more than 65,536
        eccentricities (24 along weights), by the first of each range.
    histogram_width : int or float, optional
        Width of a range; None without ranges.
    unresolved : int
        Vertices whose bounds differ.
    exact : bool
        Whether all that was requested is proved.
    sources : int
        Vertices that were the source of a BFS.
    out : str, optional
        The file with the eccentricities.
    ids, lower_bounds, upper_bounds : list, array, optional
        With `keep`: your names of the vertices, and bounds, which are equal if proved.
    traversed, of_largest : list of int, int
        Numbers in the store of the sources, and of a vertex in the largest component.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "radius", "diameter", "diameter_largest_component", "center.size", "periphery.size", "exact", "unresolved",
        "n_vertices", "n_edges", "n_components", "sources", "seconds")

    radius: int | None = None
    center: VertexSet | None = None
    periphery: VertexSet | None = None
    histogram: dict[Number, int] = field(default_factory=dict)
    histogram_width: int | float | None = None
    unresolved: int = 0
    sources: int = 0
    out: str | None = None
    ids: list[Any] | None = field(default=None, repr=False, compare=False)
    lower_bounds: np.ndarray | None = field(default=None, repr=False, compare=False)
    upper_bounds: np.ndarray | None = field(default=None, repr=False, compare=False)
    eccentricity_proof: EccentricityProof | None = field(default=None, repr=False, compare=False)
    traversed: list[int] | None = field(default=None, repr=False, compare=False)
    of_largest: int = field(default=0, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict, ready for JSON, without the vectors."""
        plain = copy(self)
        for name in _OF_VERTICES:
            setattr(plain, name, None)
        plain.center, plain.periphery = (
            None if some is None else VertexSet(some.size, some.ids[:MOST_IDS])
            for some in (self.center, self.periphery))
        named = {name: value for name, value in Result.to_dict(plain).items() if name not in _OF_VERTICES}
        return {**named, "histogram": with_texts(self.histogram)}

    def by_vertex(self) -> ByVertex:
        """The proved eccentricities of vertices, by id; if some are not proved, bounds of all vertices as the
        columns `lower` and `upper`. Raises ValueError if none were kept."""
        if self.ids is None or self.lower_bounds is None or self.upper_bounds is None:
            raise ValueError("this run has kept no eccentricities: give keep=True")
        lower, upper = self.lower_bounds, self.upper_bounds
        proved = lower == upper
        bounds = {} if proved.all() else {"lower": lower, "upper": upper}
        return ByVertex(self.ids, {"eccentricity": lower, **bounds}, proved)

    def plot(self, ax: Any = None) -> Any:
        """Draw the number of vertices with each eccentricity.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default None
            Where to draw; None: new axes.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        return draw_bars(self.histogram, ("eccentricity", "vertices"), self.histogram_width, ax)

    def _picture(self) -> str:
        return bars_svg(self.histogram, "vertices by eccentricity")

    def rename(self, name: Callable[[Any], Any]) -> None:
        """Replace ids by the caller's names."""
        for some in (self.center, self.periphery):
            if some is not None:
                some.ids = [name(one) for one in some.ids]
        if self.ids is not None:
            self.ids = [name(one) for one in self.ids]


@dataclass(repr=False)
class WeightedEccentricities(AlongWeights, EccentricityResult):
    """As EccentricityResult, but eccentricities, radius and diameters are sums of weights: whole numbers, or floats
    if weights are. lower_bounds, upper_bounds : int64 or float64[n]. traversals.bfs : searches of shortest paths.
    weights, weight : see AlongWeights."""

    shown: ClassVar[tuple[str, ...]] = (*EccentricityResult.shown, "weight", "weights")


def of_result(result: Result, **more: Any) -> EccentricityResult:
    """An EccentricityResult with the fields of an exact run, and `more`."""
    figures = {one.name: getattr(result, one.name) for one in fields(result)}
    return EccentricityResult(**figures, **more)
