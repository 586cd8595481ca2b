"""The result of an approximation: that of an exact run, with an estimate and the figures of the method."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ...errors import InputError
from ..result import Result


def check_known(diameter: int | float | None) -> None:
    """Raise InputError if the diameter passed as known is below 0; None: not known."""
    if diameter is not None and diameter < 0:
        raise InputError("a diameter cannot be negative", text=str(diameter))


@dataclass
class Condensed:
    """The condensed graph. in_memory : False if shortest paths streamed it from disk. levels : how
    often the graph was condensed."""

    n_vertices: int
    n_edges: int
    in_memory: bool = True
    levels: int = 1


@dataclass(repr=False)
class Approximation(Result):
    """The answer of an approximation: the fields of Result, and an estimate.

    Attributes
    ----------
    estimate : int or float
        Estimate of the largest diameter of any component. It may be outside of the proved bounds.
    known_diameter : int or float, optional
        As passed by the caller.
    ratio : float, optional
        estimate / D, if D is proved or known.
    masters, rounds : int, optional
        clusters: number of clusters, and rounds of their growth.
    max_master_distance : int, optional
        clusters: largest distance of a vertex to its master.
    max_master_gap : int, optional
        clusters: largest distance in the condensed graph between masters of neighbouring clusters.
    condensed : Condensed, optional
        clusters: size of the condensed graph.
    """

    shown: ClassVar[tuple[str, ...]] = ("estimate", "ratio", "known_diameter", *Result.shown)

    estimate: int | None = None
    known_diameter: int | float | None = None
    ratio: float | None = None
    masters: int | None = None
    max_master_distance: int | None = None
    max_master_gap: int | None = None
    rounds: int | None = None
    condensed: Condensed | None = None

    def conclude(self) -> None:
        """See Result; sets `ratio` too."""
        super().conclude()
        diameter = self.lower if self.exact else self.known_diameter
        self.ratio = float(self.estimate) / float(diameter) if diameter and self.estimate is not None else None


def extended(result: Result, **more: Any) -> Approximation:
    """The result as an Approximation with further fields."""
    return Approximation(**{field.name: getattr(result, field.name) for field in fields(Result)} | more)
