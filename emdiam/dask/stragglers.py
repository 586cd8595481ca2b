"""Who is waited for: looked at while a call takes long, so that a worker that hangs is named.

A rank that waits tells for whom. One that does not answer at all, as a stopped process, is the one that is waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from distributed import Future

from .rank import look_at_part

QUIET_SECONDS = 5.0
_ASK_SECONDS = 2.0


class Watch:
    """ask : submits a function (rooms, rank) to a rank. size : ranks."""

    def __init__(self, ask: Callable[[int, Callable[..., Any]], Future], size: int) -> None:
        self._ask, self._size = ask, size
        self._asked: dict[int, Future] = {}
        self._begun = time.monotonic()
        self._asked_at = self._begun

    def look(self) -> dict[int, float]:
        """Ranks that are waited for, and for how many seconds; none in the first QUIET_SECONDS of a call."""
        now = time.monotonic()
        if now - self._begun < QUIET_SECONDS:
            return {}
        if not self._asked:
            self._asked = {rank: self._ask(rank, look_at_part) for rank in range(self._size)}
            self._asked_at = now
        if now - self._asked_at < _ASK_SECONDS:
            return {}
        silent = {rank: now - self._asked_at for rank, future in self._asked.items() if not future.done()}
        if silent:
            return silent
        told = {rank: future.result() for rank, future in self._asked.items() if future.status == "finished"}
        self._asked = {}
        return {waited: seconds for _, waited, seconds in told.values()
                if waited >= 0 and told.get(waited, (False, -1, 0.0))[1] < 0}
