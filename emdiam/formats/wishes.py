"""What a user says about how inputs are to be read; every reader takes from it what concerns its format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from .weights import WeightChoice

HEADERS = ("auto", "none", "counts", "names")
"""What the first line of a text may be said to be: an edge (none), counts of vertices and edges, or names."""


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
    columns : (str, str) or None
        Names, or numbers from 1 on, of the columns of the two ends; None: as their names or places say.
    header : str
        One of HEADERS, for texts.
    memory_bytes : int or None
        Peak memory of the process, for formats that are read whole; None: what the machine leaves.
    """

    format: str | None = None
    ids: str = "auto"
    weights: WeightChoice | None = None
    directed: bool = False
    encoding: str = ""
    bipartite: bool = False
    columns: tuple[str, str] | None = None
    header: str = "auto"
    memory_bytes: int | None = None


def check_header(header: str) -> None:
    """Raise InputError for what is none of HEADERS."""
    if header not in HEADERS:
        raise InputError("unknown kind of header", text=header, remedy="choose one of " + ", ".join(HEADERS))


def two_columns(given: Any) -> tuple[str, str] | None:
    """The columns of the two ends that a user names, as "u,v" or as two names or numbers from 1 on; None for None.

    Raises InputError for anything else.
    """
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")] if isinstance(given, str) else [str(name) for name in given]
    if len(names) != 2 or not all(names):
        raise InputError("the ends of an edge are two columns", text=str(given),
                         remedy="name both, or give their numbers, as in --columns 1,3")
    return names[0], names[1]
