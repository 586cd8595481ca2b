"""The cells of a trade-off: which methods, how many masters, which seeds.

Numbers of masters are a list with commas, whose items are those of methods/approx/masters.py, or ranges:
"2^8..2^24:4" is 2^8, 2^10, ..., 2^24, each 4 times the one before; the factor is 4 if it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import InputError
from ..methods.approx.masters import AUTO, one_item, parse_masters, resolve_masters
from ..runs.registry import entry_of
from ..units import parse_count

CLUSTERS, EXACT = "clusters", "exact"
FACTOR = 4
_RANGE = re.compile(r"^([^:]*?)\.\.([^:]*)(?::(.*))?$")
_REMEDY = "write it like 2^8..2^24:4, from the smallest to the largest and by which factor"


@dataclass(frozen=True)
class Cell:
    """One run. method : of runs.registry.APPROXIMATIONS, or EXACT. masters : expected number of masters, AUTO, or
    None for methods without any. seed : None for EXACT. label : masters as a table heads them."""

    method: str
    masters: int | str | None = None
    seed: int | None = None
    label: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """Unlike that of any other cell, and fit for a file."""
        parts = [self.method]
        if self.masters is not None:
            parts.append(f"masters-{self.masters}")
        if self.seed is not None:
            parts.append(f"seed-{self.seed}")
        return "-".join(parts)


@dataclass(frozen=True)
class Grid:
    """cells : in the order in which they run. left_out : a sentence for every number of masters that
    the graph cannot have."""

    cells: tuple[Cell, ...]
    left_out: tuple[str, ...]


def parse_grid(text: str) -> list[int | str]:
    """Numbers of masters in the order of the text, each once: an int for a count, "10%" for a share,
    "auto". Raises InputError as parse_masters, and for a range that has no sense."""
    items: list[int | str] = []
    for part in text.split(","):
        items += _range(part.strip()) if ".." in part else parse_masters(part)
    return list(dict.fromkeys(items))


def make_grid(methods: Sequence[str], masters: Sequence[int | str], seeds: Sequence[int], n_vertices: int, *,
              exact: bool = False) -> Grid:
    """The cells for a graph of n_vertices >= 1: the exact run first, if it is wanted, then the methods in
    their order, for each seed; clusters with each number of masters (items of parse_grid).

    Raises InputError for an unknown method, and where there is no method, no seed or no cell.
    """
    for method in methods:
        entry_of(method, "approx")
    if not methods and not exact:
        raise InputError("there is no method to run", remedy="name one, or ask for the exact run")
    if not seeds or min(seeds) < 0:
        raise InputError("a seed is a whole number from 0 on", text=", ".join(map(str, seeds)))
    columns, left_out = _columns(masters, n_vertices) if CLUSTERS in methods else ([], [])
    cells = [Cell(EXACT)] if exact else []
    for seed in dict.fromkeys(seeds):
        for method in dict.fromkeys(methods):
            cells += [Cell(method, count, seed, label) for count, label in (
                columns if method == CLUSTERS else [(None, "")])]
    if not cells:
        raise InputError("no run is left: " + "; ".join(left_out), remedy="ask for fewer masters")
    return Grid(tuple(cells), tuple(left_out))


def _columns(masters: Sequence[int | str], n_vertices: int) -> tuple[list[tuple[int | str, str]], list[str]]:
    """(masters, label) of every number that the graph can have, each count once; sentences for the rest."""
    columns: dict[int | str, str] = {}
    left_out = []
    for item in masters:
        if isinstance(item, int) and item > n_vertices:
            left_out.append(f"{_label(item)} masters are more than the {n_vertices:,} vertices")
        elif item == AUTO:
            columns.setdefault(AUTO, AUTO)
        else:
            columns.setdefault(resolve_masters(item, n_vertices), _label(item))
    return list(columns.items()), left_out


def _label(item: int | str) -> str:
    """"~2^10" for a power of two, "~1,000" for another count, since it is what is expected; "10%" as it is."""
    if isinstance(item, str):
        return item
    power = item.bit_length() - 1
    return f"~2^{power}" if item == 1 << power else f"~{item:,}"


def _range(text: str) -> list[int | str]:
    match = _RANGE.match(text)
    if match is None:
        raise InputError("not a range of masters", text=text, remedy=_REMEDY)
    first, last = one_item(match.group(1).strip()), one_item(match.group(2).strip())
    factor = FACTOR if match.group(3) is None else parse_count(match.group(3))
    if not isinstance(first, int) or not isinstance(last, int):
        raise InputError("a range of masters goes from one count to another", text=text, remedy=_REMEDY)
    for fault, what in ((first > last, "a range of masters goes upwards"),
                        (factor < 2, "the factor of a range is 2 or more")):
        if fault:
            raise InputError(what, text=text, remedy=_REMEDY)
    items: list[int | str] = []
    while first <= last:
        items.append(first)
        first *= factor
    return items
