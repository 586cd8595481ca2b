"""Spanning forests of the CPU engine: a module apart, because few methods need it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..trees.euler import euler_masters
from ..trees.refinement import RamRefinement, RamTrees
from ..trees.spanning import SpanningForest
from .cpu import LocalEngine


@dataclass
class CpuForest(SpanningForest):
    """See emdiam.engine.interface.Forest. engine : the engine that made it."""

    engine: LocalEngine

    def euler_masters(self, spacing: int) -> np.ndarray:
        """See Forest."""
        return euler_masters(self, spacing, self.engine.rank_array, self.engine.reporter.heartbeat)

    def trees(self) -> RamTrees:
        """See Forest."""
        return RamTrees(self.engine.core, self, self.engine.rank_array, self.engine.reporter.heartbeat)

    def refine(self) -> RamRefinement:
        """See Forest."""
        return RamRefinement(self.engine.core, self.raw, self.engine.rank_array, self.engine.reporter.heartbeat)
