"""The direction of a BFS level, top-down or bottom-up, by one of three rules:
- "work" (default): the direction with less expected work. Top-down reads the frontier's arcs f.
  Bottom-up reads, for each of the u unvisited vertices, arcs until one leads into the frontier. A
  share f/m of all m arcs does, so it reads min(m_u / u, m / f) arcs each, where m_u is the number of
  arcs of unvisited rows. If neighbours share their level (local ids, hubs) it reads many more. The
  bias is the ratio of arcs read to this estimate, as measured in earlier bottom-up levels of this
  graph; it fades from BFS to BFS, so that bottom-up is tried again. A top-down arc costs
  TOP_DOWN_COST times a bottom-up arc (it writes), but 1 if the first bottom-up level could read over
  RISKY times more arcs (objects of git: 97 ms in place of 125);
- "beamer" (Beamer, Asanovic, Patterson 2012): bottom-up once f > m_u / 14, top-down again below
  n / 24 frontier vertices;
- "paper" (F-Diam, section 4.6): bottom-up while the frontier has more than n / 10 vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..jit import inlined

if TYPE_CHECKING:
    from .core import Core

ALPHA, BETA = 14, 24
PAPER_SHARE = 0.1
TOP_DOWN_COST, RISKY, LEARNING, MOST_BIAS, FADING = 2, 16, 0.5, 64.0, 0.9
DIRECTIONS = ("work", "beamer", "paper")
_BEAMER, _PAPER = 1, 2


@inlined
def expected_arcs(unvisited, n_arcs, arcs):
    """Arcs that a bottom-up level reads if neighbours do not share their level. unvisited : vertices with an arc."""
    return max(1.0, unvisited * n_arcs / max(1, arcs))


@inlined
def goes_up(rule, was_up, vertices, arcs, hidden, expected, n_vertices):
    """Whether a level goes bottom-up. rule : index in DIRECTIONS. was_up : whether the last level did. vertices, arcs :
    of the frontier. hidden : arcs of unvisited rows. expected : arcs, with the bias."""
    if rule == _PAPER:
        return vertices > PAPER_SHARE * n_vertices
    if rule == _BEAMER:
        return vertices * BETA >= n_vertices if was_up else arcs * ALPHA > hidden
    cost = TOP_DOWN_COST if was_up or RISKY * arcs > hidden else 1
    return min(float(hidden), expected) < cost * arcs


@inlined
def learned_bias(bias, scanned, expected):
    """The bias after a bottom-up level of the rule "work" that has read `scanned` arcs."""
    return bias + (min(MOST_BIAS, max(1.0, scanned / expected)) - bias) * LEARNING


@dataclass
class Front:
    """The input of the direction rule: frontier vertices and arcs, arcs of visited rows."""

    vertices: int
    arcs: int
    visited_arcs: int
    bottom_up: bool = False
    expected: float = 1.0

    def turn(self, core: Core, reached: int, bias: float) -> bool:
        """Decide (and remember) whether this level goes bottom-up. reached : visited vertices."""
        n, m = core.table.n_vertices, core.table.n_arcs
        hidden = max(0, m - self.visited_arcs)
        self.expected = expected_arcs.py_func(n - core.reverse.n_isolated - reached, m, self.arcs)
        self.bottom_up = bool(goes_up.py_func(DIRECTIONS.index(core.direction), self.bottom_up, self.vertices,
                                              self.arcs, hidden, bias * self.expected, n))
        return self.bottom_up

    def reads_less(self, core: Core, blocks: np.ndarray, bias: float) -> bool:
        """Whether a bottom-up level that reads only these blocks takes less work than a top-down level. Decoding an id
        counts as the work of an arc."""
        others = len(core.blocks_with(core.work.frontier)) - len(blocks)
        scanned = min(core.table.n_arcs - self.visited_arcs, bias * self.expected)
        return scanned < TOP_DOWN_COST * self.arcs + (others << core.table.shift)

    def learned(self, core: Core, scanned: int, bias: float) -> float:
        """The bias after this level, updated with the arcs scanned if it went bottom-up."""
        if not self.bottom_up or core.direction != "work":
            return bias
        return float(learned_bias.py_func(bias, scanned, self.expected))


def faded(bias: float) -> float:
    """The bias with which the next BFS begins."""
    return 1.0 + (bias - 1.0) * FADING
