"""Which way a level of a search goes: one table of rules, as data, and how it is made from measurements.

The table is the file direction_table.json beside this module. **It is not measured on a device yet.** Its rules for
mappings are the regimes of papers/004, section 6, Figures 12 to 15 (graphs, and what was fastest there):

- regular rows of few arcs: work-items to threads, then multi-phase search (Figure 12);
- web-NotreDame, mean row below a warp and large deviation: multi-phase search by almost two times (Figure 13);
- circuit5M, some huge rows: two-phase and multi-phase search, CTA+Warp+Scan, ten times the static ones (Figure 14);
- kron_g500-logn20, long rows on average: CTA+Warp+Scan, multi-phase search close to it (Figure 15).

The bounds between the regimes, and all of the rule for `persistent`, are reckoned. beta is that of Beamer, Asanovic and
Patterson, SC 2012, section 4, measured there on CPUs; their alpha, 14, turns up too early here, and 4 is what loads and
bytes were counted best with on 14 graphs (bench/results/gpu/measured.md). Each rule says in `why` where it is
from. A measured table comes from `table_from_measurements` and replaces the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

from ..errors import InputError
from .mappings import MAPPINGS

PERSISTENT = "persistent"
WAYS = (PERSISTENT, *MAPPINGS)
TABLE = Path(__file__).parent / "direction_table.json"
_LIMITS = ("most_rows", "most_mean", "most_degree")

# (mapping or "persistent", rows, arcs a row) -> seconds of one level
Seconds = Mapping[tuple[str, int, int], float]


@dataclass(frozen=True)
class Rule:
    """One way, and the levels it is for: all limits hold, None is no limit.

    way : "persistent" or a name of MAPPINGS. most_rows : vertices of the frontier. most_mean : arcs a row of the
    frontier. most_degree : largest degree of the graph. why : how it was measured, or where it is from.
    """

    way: str
    most_rows: float | None = None
    most_mean: float | None = None
    most_degree: float | None = None
    why: str = ""

    def fits(self, rows: int, arcs: int, largest: int) -> bool:
        """Whether the rule is for a level of so many vertices and arcs, in a graph of this largest degree."""
        values = (rows, arcs / max(rows, 1), largest)
        limits = (self.most_rows, self.most_mean, self.most_degree)
        return all(limit is None or value <= limit for value, limit in zip(values, limits, strict=True))


@dataclass(frozen=True)
class DirectionTable:
    """The rules in their order, of which the first that fits counts, and when a search turns up or down.

    alpha, beta : see `upwards`. measured : on what, and how. The last rule has no limits.
    """

    alpha: float
    beta: float
    rules: tuple[Rule, ...]
    measured: str = ""

    def choose(self, rows: int, arcs: int, largest: int) -> Rule:
        """The rule of a level from a queue of `rows` vertices with `arcs` arcs; largest : degree in the graph."""
        return next(rule for rule in self.rules if rule.fits(rows, arcs, largest))

    def upwards(self, upwards: bool, level: LevelSize) -> bool:
        """Whether the next level goes bottom-up, after one that went so or not.

        A growing frontier with more than 1/alpha of the arcs of unreached vertices turns up; a shrinking one of
        less than n/beta vertices turns down. Source: Beamer et al., SC 2012, section 4 (papers/004, 2.1).
        """
        growing = level.rows > level.rows_before
        if upwards:
            return growing or level.rows * self.beta >= level.n_vertices
        return growing and level.arcs * self.alpha > level.arcs_left

    def text(self) -> str:
        """The table as the text of direction_table.json."""
        rules = [{"way": rule.way, **{name: value for name in _LIMITS if (value := getattr(rule, name)) is not None},
                  "why": rule.why} for rule in self.rules]
        table = {"measured": self.measured, "alpha": self.alpha, "beta": self.beta, "rules": rules}
        return json.dumps(table, indent=2) + "\n"


@dataclass
class LevelSize:
    """What the rule of turning looks at: vertices and arcs of the frontier, vertices of the one before, arcs of
    the vertices that are not reached, and vertices of the graph."""

    rows: int
    arcs: int
    rows_before: int
    arcs_left: int
    n_vertices: int


def _number(record: Mapping[str, Any], name: str, path: Path, least: float = 0) -> float:
    """A finite number of a record, at least `least`; InputError if it is none."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < least:
        raise InputError(f"{name} of a direction table is a number from {least} on", path=path, text=repr(value),
                         remedy="fix the table, or make it again from measurements")
    return value


def _rule(record: Any, path: Path) -> Rule:
    """One rule as it stands in a table."""
    if not isinstance(record, dict) or record.get("way") not in WAYS:
        raise InputError("a rule of a direction table has no way that there is", path=path, text=str(record),
                         remedy=f"choose from {', '.join(WAYS)}")
    if unknown := record.keys() - {"way", "why", *_LIMITS}:
        raise InputError("a rule of a direction table has a limit that there is not", path=path,
                         text=", ".join(sorted(unknown)), remedy=f"the limits are {', '.join(_LIMITS)}")
    limits = {name: _number(record, name, path) for name in _LIMITS if record.get(name) is not None}
    return Rule(record["way"], **limits, why=str(record.get("why", "")))


def read_table(path: Path = TABLE) -> DirectionTable:
    """The table in a file, JSON as direction_table.json is.

    Raises InputError for a file that is missing or no such table, with a way, a limit or a number that cannot
    be, or whose last rule has limits or is not a mapping, so that some level would find no way.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"a direction table cannot be read ({error})", path=path,
                         remedy="give a file as bench/gpu prints it") from error
    rules = table.get("rules") if isinstance(table, dict) else None
    if not isinstance(rules, list) or not rules:
        raise InputError("a direction table has a list of rules", path=path, remedy="give at least one rule")
    known = tuple(_rule(record, path) for record in rules)
    last = known[-1]
    if last.way == PERSISTENT or any(getattr(last, name) is not None for name in _LIMITS):
        raise InputError("the last rule of a direction table is a mapping without limits", path=path, text=last.way,
                         remedy="end the table with a rule for all other levels")
    alpha, beta = _number(table, "alpha", path), _number(table, "beta", path)
    return DirectionTable(alpha, beta, known, str(table.get("measured", "")))


@cache
def usual_table() -> DirectionTable:
    """The package's table, read once."""
    return read_table()


def _bounds(values: Sequence[int]) -> list[float | None]:
    """Upper bound of what each of some ascending values stands for: the geometric mean with the next."""
    return [sqrt(low * high) for low, high in pairwise(values)] + [None]


def _steps(seconds: Seconds, rows: int) -> tuple[tuple[float | None, str], ...]:
    """(upper bound of arcs a row, fastest way) for one number of rows, ascending; neighbours with one way made one."""
    means = sorted({mean for _, some, mean in seconds if some == rows})
    ways = [min((time, way) for (way, some, arcs), time in seconds.items() if (some, arcs) == (rows, mean))[1]
            for mean in means]
    bounded = zip(_bounds(means), ways, strict=True)
    return tuple([list(group)[-1] for _, group in groupby(bounded, key=lambda step: step[1])])


def table_from_measurements(seconds: Seconds, measured: str, alpha: float = 14, beta: float = 24) -> DirectionTable:
    """The table of what was fastest.

    seconds : (mapping or "persistent", rows of the frontier, arcs of each row) -> seconds of one level, on a grid of
    rows and arcs; each cell stands for all levels up to the geometric mean with the next cell, the last for all above.
    measured : on what and how, for the table. alpha, beta : of the rule of turning. Raises InputError if there are no
    measurements, for a way that there is not, and where the largest cell was not measured with any mapping.
    """
    if not seconds or any(way not in WAYS for way, _, _ in seconds):
        raise InputError("a direction table needs measurements of known ways", remedy=f"measure {', '.join(WAYS)}")
    sizes = sorted({rows for _, rows, _ in seconds})
    table = [(bound, _steps(seconds, rows)) for rows, bound in zip(sizes, _bounds(sizes), strict=True)]
    # Numbers of rows that lead to the same ways are one.
    merged = [list(group)[-1] for _, group in groupby(table, key=lambda row: row[1])]
    why = f"fastest of the measured ways: {measured}"
    rules = tuple(Rule(way, bound, mean, None, why) for bound, steps in merged for mean, way in steps)
    if rules[-1].way == PERSISTENT:
        raise InputError("the largest measured level was fastest in the persistent kernel",
                         remedy="measure larger levels, for which a mapping is faster")
    return DirectionTable(alpha, beta, rules, measured)
