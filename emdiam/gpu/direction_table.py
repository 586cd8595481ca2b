"""Which way a level of a search goes: one table of rules, as data, and how it is made from measurements.

The table is the file direction_table.json beside this module. Its rules for mappings are **not measured on a device
yet**: they are the regimes of papers/004, section 6, Figures 12 to 15 (graphs, and what was fastest there):

- regular rows of few arcs: work-items to threads, then multi-phase search (Figure 12);
- web-NotreDame, mean row below a warp and large deviation: multi-phase search by almost two times (Figure 13);
- circuit5M, some huge rows: two-phase and multi-phase search, CTA+Warp+Scan, ten times the static ones (Figure 14);
- kron_g500-logn20, long rows on average: CTA+Warp+Scan, multi-phase search close to it (Figure 15).

The bounds between the regimes, and all of the rule for `persistent`, are reckoned. alpha and beta are those of Beamer,
Asanovic and Patterson, SC 2012, section 4: of five pairs tried on an H200 they are the fastest, by the geometric mean
over seven graphs (bench/results/gpu/measured.md). Each rule says in `why` where it is from. `python -m bench.gpu` makes
a table of what it measures (bench/gpu/tables.py), which replaces the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .mappings import MAPPINGS

PERSISTENT = "persistent"
WAYS = (PERSISTENT, *MAPPINGS)
TABLE = Path(__file__).parent / "direction_table.json"


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


@dataclass
class LevelSize:
    """What the rule of turning looks at: vertices and arcs of the frontier, vertices of the one before, arcs of
    the vertices that are not reached, and vertices of the graph."""

    rows: int
    arcs: int
    rows_before: int
    arcs_left: int
    n_vertices: int


@cache
def usual_table() -> DirectionTable:
    """The package's table, read once."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    return DirectionTable(table["alpha"], table["beta"], tuple(Rule(**rule) for rule in table["rules"]),
                          table["measured"])
