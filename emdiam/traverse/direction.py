"""Which way a dense level of a BFS goes, top-down or bottom-up, by one of three rules:
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

if TYPE_CHECKING:
    from .core import Core

ALPHA, BETA = 14, 24
PAPER_SHARE = 0.1
TOP_DOWN_COST, LEARNING, MOST_BIAS, FADING = 2, 0.5, 64.0, 0.9


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
        if core.direction == "paper":
            self.bottom_up = self.vertices > PAPER_SHARE * n
        elif core.direction == "beamer":
            if not self.bottom_up:
                self.bottom_up = self.arcs * ALPHA > hidden
            elif self.vertices * BETA < n:
                self.bottom_up = False
        else:
            self.expected = max(1.0, (n - core.reverse.n_isolated - reached) * m / max(1, self.arcs))
            self.bottom_up = min(hidden, bias * self.expected) < TOP_DOWN_COST * self.arcs
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
        measured = min(MOST_BIAS, max(1.0, scanned / self.expected))
        return bias + (measured - bias) * LEARNING


def faded(bias: float) -> float:
    """The bias that another BFS begins with."""
    return 1.0 + (bias - 1.0) * FADING
