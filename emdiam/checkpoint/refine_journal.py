"""Trees that become BFS trees by iterations, each a record: the parents that were chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.cpu import CpuForest
from ..stream.pager import Tick
from ..traverse.columns import digests
from ..traverse.core import Core
from ..traverse.tree_refinement import TreeRefinement
from .changes import add_changes, take_changes
from .records import Record, RecordWriter


class JournalTrees(TreeRefinement):
    """See TreeRefinement. answered : that of the JournalEngine. Heights follow from parents, and are
    computed again."""

    def __init__(self, core: Core, parents: np.ndarray, ranks: np.ndarray, tick: Tick,
                 answered: Callable[..., Any]) -> None:
        super().__init__(core, parents, ranks, tick)
        self._answered = answered

    def _choose(self) -> int:
        """The scan of one iteration; see TreeRefinement."""
        parents = self._parents
        before = digests(parents)

        def keep(writer: RecordWriter, lowest: int) -> Any:
            return [lowest, add_changes(writer, parents, before)]

        def again(record: Record, value: list[Any]) -> int:
            take_changes(record, value[1], parents)
            return int(value[0])

        return int(self._answered("choose parents", self.iterations, super()._choose, keep, again))


@dataclass
class JournalForest(CpuForest):
    """A forest whose refinement is answered from the journal. answered : that of the JournalEngine."""

    answered: Callable[..., Any]

    def refine(self) -> TreeRefinement:
        """See Forest."""
        engine = self.engine
        return JournalTrees(engine.core, self.raw, engine.rank_array, engine.reporter.heartbeat, self.answered)
