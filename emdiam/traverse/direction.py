"""One dense level: sweep the blocks that matter, then commit.

Direction rules (which way a dense level goes):
- "work" (default): the direction with less expected work. Top-down looks at the frontier's arcs
  f. Bottom-up looks, for each of the u unvisited vertices, at arcs until one leads into the
  frontier: of all m arcs a share f/m does, so at min(m_u / u, m / f) arcs each, m_u being the arcs
  of unvisited rows. Where neighbours share their level (local ids, hubs) it looks at many more:
  `Core.bias` is what earlier bottom-up levels of this graph measured against that estimate. An
  arc costs TOP_DOWN_COST times as much top-down (it writes);
- "beamer" (Beamer, Asanovic, Patterson 2012): bottom-up once f > m_u / 14, top-down again below
  n / 24 frontier vertices;
- "paper" (F-Diam, section 4.6): bottom-up while the frontier has more than n / 10 vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .dense import bottom_up, commit_level, top_down

if TYPE_CHECKING:
    from ..stream.pager import Tick
    from .core import Core, Sweep

ALPHA, BETA = 14, 24
PAPER_SHARE = 0.1
TOP_DOWN_COST, LEARNING, MOST_BIAS = 2, 0.5, 64.0


@dataclass
class Front:
    """What the direction rule looks at: frontier vertices and arcs, arcs of visited rows."""

    vertices: int
    arcs: int
    visited_arcs: int
    bottom_up: bool = False
    expected: float = 1.0

    def turn(self, core: Core, reached: int) -> bool:
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
            self.bottom_up = min(hidden, core.bias * self.expected) < TOP_DOWN_COST * self.arcs
        return self.bottom_up

    def reads_less(self, core: Core, blocks: np.ndarray) -> bool:
        """Whether a bottom-up level that reads these blocks alone takes less than one top-down, an id that is decoded
        being as much work as an arc."""
        others = len(core.blocks_with(core.work.frontier)) - len(blocks)
        looked = min(core.table.n_arcs - self.visited_arcs, core.bias * self.expected)
        return looked < TOP_DOWN_COST * self.arcs + (others << core.table.shift)

    def learn(self, core: Core, scanned: int) -> None:
        """After a bottom-up level: correct the estimate by what was scanned."""
        if self.bottom_up and core.direction == "work":
            measured = min(MOST_BIAS, max(1.0, scanned / self.expected))
            core.bias += (measured - core.bias) * LEARNING


def level_sweep(core: Core, up: bool) -> Sweep:
    """What marks in work.visited what the frontier reaches, over the blocks with a row to look at, which are of the
    reverse if it goes up; it gives arcs scanned."""
    work, rows = core.work, core.reverse if up else core
    blocks = rows.blocks_with(work.visited if up else work.frontier, up)
    return rows.level_over(blocks, bottom_up if up else top_down, work.frontier, work.visited)


def sweep_level(core: Core, up: bool, tick: Tick | None = None) -> int:
    """Do that; arcs scanned."""
    sweep = level_sweep(core, up)
    arcs = (core.reverse if up else core).take(sweep, tick)
    core.count_sweep(len(sweep.blocks), arcs)
    return arcs


def commit(core: Core, dist: np.ndarray, level: int, targets: np.ndarray) -> tuple[int, int, int, int]:
    """Turn newly visited vertices of the span into the next frontier (see commit_level).

    Returns (vertices, arcs of their rows, targets met, smallest vertex).
    """
    work, out = core.work, np.zeros(3, np.int64)

    def run(turn: np.ndarray, grain: int, end: int) -> int:
        smallest: int = commit_level(turn, grain, work.visited[:end], work.before[:end], work.frontier[:end], dist,
                                     level, targets, *core.offsets, out)
        return smallest

    smallest = min(core.over_words(run))
    return int(out[0]), int(out[1]), int(out[2]), int(smallest)
