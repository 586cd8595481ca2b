"""What F-Diam remembers of each vertex, and what its stages did.

One column of recorded bounds. Values above every bound are states, ordered so that taking a
minimum with a bound is always right:
ACTIVE > TIP (active, and others lean on it) > WINNOWED > CHAINED > recorded bounds >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.interface import Components, Engine
from ...store.store import Store
from ...traverse.components import Component
from ...traverse.workspace import column_bytes
from .method import Stages
from .result import Traversals

# Chains are taken in pieces of max(TIPS_PER_PIECE, n / TIPS_SHARE) tips: at most sixteen spreads.
TIPS_PER_PIECE = 4096
TIPS_SHARE = 16
_TIP_BYTES = 96


class State:
    """Recorded bounds of all vertices.

    Parameters
    ----------
    engine : the graph. largest : no bound will exceed it.
    """

    def __init__(self, engine: Engine, largest: int) -> None:
        self._engine = engine
        self._bounds = engine.new_column(largest + 3)
        self.active = self._bounds.unreached
        self.tip, self.winnowed, self.chained = self.active - 1, self.active - 2, self.active - 3
        for isolated in engine.vertices_of_degree(0):
            self._bounds.put(isolated, 0)
        self._recount()

    def _recount(self) -> int:
        """Count active vertices again; returns by how many they fell."""
        before = getattr(self, "n_active", 0)
        self.n_active = self._bounds.count(self.active) + self._bounds.count(self.tip)
        return int(before - self.n_active)

    def next_active(self, component: Component, components: Components | None, start: int) -> int:
        """Smallest active vertex of the component from `start` on, or -1."""
        labels = None if components is None else components.labels
        return self._bounds.first((self.active, self.tip), start, component.last + 1, labels, component.root)

    def evaluated(self, vertex: int, eccentricity: int) -> None:
        """The eccentricity of `vertex` is known."""
        self._bounds.put([vertex], eccentricity)

    def winnow(self, reached: Any) -> int:
        """Drop the active vertices of those reached (Traversal.reached) (tips stay); returns how many."""
        self._recount()
        self._bounds.recode((self.active,), self.winnowed, within=reached)
        return self._recount()

    def eliminate(self, vertex: int, eccentricity: int, bound: int) -> int:
        """Algorithm 5 from one vertex; returns how many active vertices it dropped."""
        self._recount()
        self._engine.spread(np.array([vertex]), np.array([eccentricity]), bound, self._bounds)
        return self._recount()

    def extend(self, old: int, new: int) -> int:
        """Extend all eliminated balls from bound `old` to `new`; returns active vertices dropped."""
        self._recount()
        self._engine.spread(None, old, new, self._bounds)
        return self._recount()

    def chains(self, tips: np.ndarray) -> int:
        """Chain Processing for these vertices of degree 1 (section 4.3); returns vertices dropped.

        Only tips that are still active count: a dropped tip need not come back to drop others.

        Seeds are chain ends w with value S - s (S: the longest chain here, the longest chain of each end only), so that
        the spread gives S - s + d(w, v) <= S exactly on the union of the balls. A tip whose end another chain reaches
        with more left than its own length is dominated by that chain's tip; the other tips stay active.
        """
        tips = tips[self._bounds.gather(tips) < 0]
        if len(tips) == 0:
            return 0
        ends, lengths = self._engine.follow_chains(tips)
        order = np.lexsort((tips, -lengths, ends))
        tips, ends, lengths = tips[order], ends[order], lengths[order]
        longest = np.flatnonzero(np.diff(ends, prepend=-1))
        tips, ends, lengths = tips[longest], ends[longest], lengths[longest]
        top = int(lengths.max())
        covered = self._engine.new_column(top)
        self._engine.spread(ends, top - lengths, top, covered)
        survivors = tips[covered.gather(ends) == top - lengths]
        self._recount()
        self._bounds.recode_where_reached(covered, (self.active, self.tip), self.chained)
        self._bounds.put(survivors, self.tip)
        return self._recount()


@dataclass
class FdiamStages(Stages):
    """Counts and wall seconds of the stages (the paper's Table 4 and Figure 8)."""

    winnows: int = 0
    winnowed: int = 0
    eliminated: int = 0
    chained: int = 0

    def traversals(self) -> Traversals:
        """As the paper counts: eccentricity BFS and Winnow."""
        return Traversals(bfs=self.bfs + self.winnows, partial=self.partial)

    def details(self, n_vertices: int, n_isolated: int) -> dict[str, Any]:
        """Shares of all vertices; eccentricity and Winnow traversals."""
        n = max(1, n_vertices)
        return {
            "removed": {
                "winnow": self.winnowed / n, "eliminate": self.eliminated / n, "chain": self.chained / n,
                "degree_0": n_isolated / n,
            },
            "eccentricity_bfs": self.bfs,
            "winnow_bfs": self.winnows,
        }


def solve_bytes(store: Store) -> int:
    """Bytes of recorded bounds, and of chain bounds with their tips or labels and sizes."""
    n, column = store.n_vertices, column_bytes(store.n_vertices)
    return n * column + max(n * column, n // 8) + max(TIPS_PER_PIECE, n // TIPS_SHARE) * _TIP_BYTES
