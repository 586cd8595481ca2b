"""The table of rules that choose the way of a level of a search, as data.

The table is the file direction_table.json beside this module. Its rules for mappings are **not measured on a device
yet**: they are the regimes of papers/004, section 6, Figures 12 to 15 (graphs, and the fastest mappings there):

- regular rows of few arcs: work-items to threads, then multi-phase search (Figure 12);
- web-NotreDame, mean row below a warp and large deviation: multi-phase search by almost two times (Figure 13);
- circuit5M, some huge rows: two-phase and multi-phase search, CTA+Warp+Scan, ten times the static ones (Figure 14);
- kron_g500-logn20, long rows on average: CTA+Warp+Scan, multi-phase search close to it (Figure 15).

The bounds between the regimes, and the rule for `persistent`, are calculated. alpha and beta are from Beamer, Asanovic
and Patterson, SC 2012, section 4: of five pairs tried on an H200 they are the fastest, by the geometric mean over seven
graphs (bench/results/gpu/measured.md). `why` names the source of each rule. `python -m bench.gpu` makes a table from
measurements (bench/gpu/tables.py), which can replace the file.
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
    """A way, and upper limits of the levels it is for; None: no limit.

    way : "persistent" or a name of MAPPINGS. most_rows : vertices of the frontier. most_mean : arcs a row of the
    frontier. most_degree : largest degree of the graph. why : its measurement or source.
    """

    way: str
    most_rows: float | None = None
    most_mean: float | None = None
    most_degree: float | None = None
    why: str = ""

    def fits(self, rows: int, arcs: int, largest: int) -> bool:
        """Whether the rule is for a level of `rows` vertices with `arcs` arcs, in a graph of this largest degree."""
        values = (rows, arcs / max(rows, 1), largest)
        limits = (self.most_rows, self.most_mean, self.most_degree)
        return all(limit is None or value <= limit for value, limit in zip(values, limits, strict=True))


@dataclass(frozen=True)
class DirectionTable:
    """The rules in order, the first fitting one counts; and the rule for turning up and down.

    alpha, beta : see `upwards`. measured : the device and the way of measuring. The last rule has no limits.
    """

    alpha: float
    beta: float
    rules: tuple[Rule, ...]
    measured: str = ""

    def choose(self, rows: int, arcs: int, largest: int) -> Rule:
        """The rule of a level from a queue of `rows` vertices with `arcs` arcs; largest : degree in the graph."""
        return next(rule for rule in self.rules if rule.fits(rows, arcs, largest))

    def upwards(self, upwards: bool, level: LevelSize) -> bool:
        """Whether the next level goes bottom-up. upwards : whether the last one did.

        A growing frontier with more than 1/alpha of the arcs of unreached vertices turns up; a shrinking one of
        less than n/beta vertices turns down. Source: Beamer et al., SC 2012, section 4 (papers/004, 2.1).
        """
        growing = level.rows > level.rows_before
        if upwards:
            return growing or level.rows * self.beta >= level.n_vertices
        return growing and level.arcs * self.alpha > level.arcs_left


@dataclass
class LevelSize:
    """Inputs of the rule for directions: vertices and arcs of the frontier, vertices of the frontier before, arcs of
    unreached vertices, and vertices of the graph."""

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
