"""Memory beyond the planned vertex state: columns wider than a byte, and component labels.

A plan cannot know whether a graph needs them. They take the plan's reserve first, then memory from the arena, which
gives up slots for good. So the peak stays as planned.
"""

from __future__ import annotations

from ..errors import MoreMemoryError
from ..units import format_size
from .pager import Pager
from .plan import MIN_BLOCKS, MemoryPlan


class Reserve:
    """The reserve of one run. Parameters: the plan, and the pager whose arena substitutes for the reserve."""

    def __init__(self, plan: MemoryPlan, pager: Pager) -> None:
        self._plan, self._pager = plan, pager
        self._left, self._width, self._taken = plan.reserve_bytes, 1, 0
        self._reserved: dict[str, int] = {}

    def widen(self, item: int) -> None:
        """Account for columns with entries of `item` bytes, unless they were as wide before. Raises MoreMemoryError."""
        if item <= self._width:
            return
        phases = self._plan.phases
        before, after = (max(phase.at_width(width) for phase in phases) for width in (self._width, item))
        self._take(after - before, f"distances need {item} bytes each, since they may exceed"
                                  f" {(1 << 8 * self._width) - 3:,}; columns of them")
        self._width = item

    def hold(self, what: str, n_bytes: int) -> None:
        """Account for `n_bytes` of `what`, a noun in the plural, in place of its previous amount. Raises
        MoreMemoryError."""
        self._take(n_bytes - self._reserved.get(what, 0), what)
        self._reserved[what] = n_bytes

    def take_rest(self, *, arena: bool) -> int:
        """Take the remaining reserve, after the last traversal; returns its bytes. arena : also take slots, all but
        MIN_BLOCKS."""
        taken, self._left = self._left, 0
        return taken + (self._pager.give_up(self._plan.arena_bytes, MIN_BLOCKS) if arena else 0)

    def _take(self, n_bytes: int, what: str) -> None:
        short = n_bytes - self._left
        if short > 0:
            self._left += self._pager.give_up(short, MIN_BLOCKS)
        if n_bytes > self._left:
            missing = n_bytes - self._left
            raise MoreMemoryError(f"{what} take {format_size(n_bytes)} beside the planned vertex state, which is"
                                  f" {format_size(missing)} more than there is", missing, without_arena=True,
                                  reserve_bytes=self._taken + n_bytes)
        self._left -= n_bytes
        self._taken += n_bytes
