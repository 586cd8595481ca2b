"""Which way a level of a BFS goes, top-down or bottom-up, by one of three rules:
- "work" (default): the direction with less expected work. Top-down looks at the frontier's arcs
  f. Bottom-up looks, for each of the u unvisited vertices, at arcs until one leads into the
  frontier: of all m arcs a share f/m does, so at min(m_u / u, m / f) arcs each, m_u being the arcs
  of unvisited rows. Where neighbours share their level (local ids, hubs) it looks at many more:
  the bias is what earlier bottom-up levels of this graph measured against that estimate; it fades
  from BFS to BFS, so that a graph is given another chance. An arc costs TOP_DOWN_COST times as
  much top-down (it writes);
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
TOP_DOWN_COST, LEARNING, MOST_BIAS, FADING = 2, 0.5, 64.0, 0.9
DIRECTIONS = ("work", "beamer", "paper")
_BEAMER, _PAPER = 1, 2


@inlined
def expected_arcs(unvisited, n_arcs, arcs):
    """Arcs that a bottom-up level looks at, where neighbours do not share their level. unvisited : vertices with an
    arc."""
    return max(1.0, unvisited * n_arcs / max(1, arcs))


@inlined
def goes_up(rule, was_up, vertices, arcs, hidden, expected, n_vertices):
    """Whether a level goes bottom-up. rule : its place in DIRECTIONS. was_up : whether the level before did. vertices,
    arcs : of the frontier. hidden : arcs of unvisited rows. expected : arcs, with the bias."""
    if rule == _PAPER:
        return vertices > PAPER_SHARE * n_vertices
    if rule == _BEAMER:
        return vertices * BETA >= n_vertices if was_up else arcs * ALPHA > hidden
    return min(float(hidden), expected) < TOP_DOWN_COST * arcs


@inlined
def learned_bias(bias, scanned, expected):
    """The bias after a bottom-up level of the rule "work" that has looked at so many arcs."""
    return bias + (min(MOST_BIAS, max(1.0, scanned / expected)) - bias) * LEARNING


@dataclass
class Front:
    """What the direction rule looks at: frontier vertices and arcs, arcs of visited rows."""

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
        """Whether a bottom-up level that reads these blocks alone takes less than one top-down, an id that is decoded
        being as much work as an arc."""
        others = len(core.blocks_with(core.work.frontier)) - len(blocks)
        looked = min(core.table.n_arcs - self.visited_arcs, bias * self.expected)
        return looked < TOP_DOWN_COST * self.arcs + (others << core.table.shift)

    def learned(self, core: Core, scanned: int, bias: float) -> float:
        """The bias after this level, corrected by what was scanned if it went bottom-up."""
        if not self.bottom_up or core.direction != "work":
            return bias
        return float(learned_bias.py_func(bias, scanned, self.expected))


def faded(bias: float) -> float:
    """The bias that another BFS begins with."""
    return 1.0 + (bias - 1.0) * FADING
