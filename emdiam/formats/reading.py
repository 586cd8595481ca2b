"""What a user says about how inputs are to be read; every reader takes from it what concerns its format."""

from __future__ import annotations

from dataclasses import dataclass

from .weights import WeightChoice


@dataclass(frozen=True)
class Reading:
    """How inputs are to be read.

    Parameters
    ----------
    fmt : str or None
        Name in registry.FORMATS, for all inputs; None: by content and suffix.
    ids : str
        "int", "string", or "auto": as the first edge has them.
    weights : WeightChoice or None
        Weights to keep; None: none.
    directed : bool
        Whether the directions of edges are to be kept.
    bipartite : bool
        Whether sources and targets are two sides that are numbered apart.
    """

    fmt: str | None = None
    ids: str = "auto"
    weights: WeightChoice | None = None
    directed: bool = False
    bipartite: bool = False
