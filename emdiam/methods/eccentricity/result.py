"""The result of a run for all eccentricities: the stable contract of `emdiam ecc` and emdiam.eccentricities."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ...shown import Shown
from ..result import Result

# Vectors of a result, which JSON leaves out.
_OF_VERTICES = ("ids", "lower_bounds", "upper_bounds", "eccentricity_proof", "traversed", "of_largest")

# Vertices of a component without a source, at most: a certificate tells nothing of them, and they are computed anew.
MOST_ANEW = 1024


@dataclass(repr=False)
class VertexSet(Shown):
    """Vertices of the largest component. size : how many. ids : the first 1,000 of them, in the user's ids, by the
    order of the store."""

    shown: ClassVar[tuple[str, ...]] = ("size", "ids")

    size: int = 0
    ids: list[Any] = field(default_factory=list)


@dataclass
class EccentricityProof:
    """Why the eccentricities are what they are, in internal vertex numbers.

    sources : int64[k], vertices that were traversed completely. eccentricities : int64[k]. upper_by, lower_by :
    int32[n], number of the source that proves the upper bound d(v, s) + ecc(s), and of that which proves the lower
    bound max(d(v, s), ecc(s) - d(v, s))."""

    sources: np.ndarray
    eccentricities: np.ndarray
    upper_by: np.ndarray
    lower_by: np.ndarray


@dataclass(repr=False)
class EccentricityResult(Result):
    """All eccentricities, each within its component; what all runs tell is as in Result.

    radius : of the component with the most vertices; None while not proved. center, periphery : vertices of that
    component with the smallest and the largest eccentricity; None while not proved. histogram : how many vertices of
    all components have each eccentricity, as far as they are proved; of more than 65,536 of them, or, along weights,
    24, those of ranges, by the smallest number of each. histogram_width : of a range; None where each eccentricity is
    alone. unresolved : vertices whose bounds differ.
    exact : whether what was asked for is proved. out : the file that was written.
    ids, lower_bounds, upper_bounds : of all vertices, if they were asked for (keep): the user's ids, and unsigned[n],
    alike where the eccentricity is proved.
    sources : vertices that were traversed completely, alone or in batches. traversed : those whose distances settled
    the others. of_largest : a vertex of the component with the most vertices; both in internal numbers."""

    shown: ClassVar[tuple[str, ...]] = (
        "radius", "diameter", "diameter_largest_component", "center.size", "periphery.size", "exact", "unresolved",
        "n_vertices", "n_edges", "n_components", "sources", "seconds")

    radius: int | None = None
    center: VertexSet | None = None
    periphery: VertexSet | None = None
    histogram: dict[str, int] = field(default_factory=dict)
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
        """Plain dict, ready for JSON; the vectors are left out."""
        plain = copy(self)
        for name in _OF_VERTICES:
            setattr(plain, name, None)
        return {name: value for name, value in Result.to_dict(plain).items() if name not in _OF_VERTICES}

    def by_vertex(self) -> dict[Any, int]:
        """The eccentricity of every vertex whose is proved, by its id. Raises ValueError where none were kept."""
        if self.ids is None or self.lower_bounds is None or self.upper_bounds is None:
            raise ValueError("this run has kept no eccentricities: give keep=True")
        bounds = zip(self.ids, self.lower_bounds.tolist(), self.upper_bounds.tolist(), strict=True)
        return {name: lower for name, lower, upper in bounds if lower == upper}

    def rename(self, name: Callable[[Any], Any]) -> None:
        """Put the caller's names in place of ids."""
        for some in (self.center, self.periphery):
            if some is not None:
                some.ids = [name(one) for one in some.ids]
        if self.ids is not None:
            self.ids = [name(one) for one in self.ids]


def of_result(result: Result, **more: Any) -> EccentricityResult:
    """What an exact run has told, and `more`."""
    given = {one.name: getattr(result, one.name) for one in fields(result)}
    return EccentricityResult(**given, **more)
