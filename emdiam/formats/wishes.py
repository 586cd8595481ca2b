"""What a user says about how inputs are to be read; every reader takes from it what concerns its format."""

from __future__ import annotations

from dataclasses import dataclass

from .weights import WeightChoice


@dataclass(frozen=True)
class Wishes:
    """How inputs are to be read.

    Parameters
    ----------
    format : str or None
        Name in registry.FORMATS, for all inputs; None: by content and suffix.
    ids : str
        "int", "string", or "auto": as the first edge has them.
    weights : WeightChoice or None
        Weights to keep; None: none.
    directed : bool
        Whether the directions of edges are to be kept.
    encoding : str
        Of texts; "" for UTF-8, and UTF-16 with a byte order mark.
    bipartite : bool
        Whether sources and targets are two sides that are numbered apart.
    """

    format: str | None = None
    ids: str = "auto"
    weights: WeightChoice | None = None
    directed: bool = False
    encoding: str = ""
    bipartite: bool = False
