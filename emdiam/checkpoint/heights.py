"""Heights that fall by iterations, each a record: what fell, and who."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..stream.pager import Tick
from ..traverse.columns import Column
from ..traverse.core import Core
from ..traverse.refine import HeightRefinement
from .changes import add_changes, digests, take_changes
from .records import Record, RecordWriter


class JournalHeights(HeightRefinement):
    """See HeightRefinement. answered : that of the JournalEngine."""

    def __init__(self, core: Core, heights: Column, tick: Tick, answered: Callable[..., Any]) -> None:
        super().__init__(core, heights, tick)
        self._answered = answered

    def step(self) -> int:
        """One iteration; how many vertices fell."""
        heights = self.heights.raw()
        before = digests(heights)

        def keep(writer: RecordWriter, fallen: int) -> Any:
            pieces = add_changes(writer, heights, before)
            writer.add("fell", self._fell)
            return [fallen, self.exact, pieces]

        def again(record: Record, value: list[Any]) -> int:
            take_changes(record, value[2], heights)
            np.copyto(self._lowered, heights)  # both are the same after every iteration
            record.read("fell", self._fell)
            self.iterations += 1
            self.exact = bool(value[1])
            return int(value[0])

        return int(self._answered("refine", self.iterations, super().step, keep, again))
