"""Orders of work of a ShimDevice: what is asked for happens late or early, but never out of what was promised.

A GPU runs launches in one order and each stream of copies in another; only events tie them. Here work of
an order waits in a line until somebody needs it (`late`), or is done at once (not `late`), so that a copy that
nobody waited for is missing, and a copy that did not wait for a kernel overwrites what that still reads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], None]


class Order:
    """One line of work, for any threads. late : whether work waits for `settle`."""

    def __init__(self, late: bool) -> None:
        self.late = late
        self._line: deque[Work] = deque()
        self.asked = self.done = 0
        self._lock = threading.RLock()

    def add(self, work: Work) -> None:
        """Ask for work; in an order that is not late it is done now, with all that was asked for before."""
        with self._lock:
            self._line.append(work)
            self.asked += 1
            if not self.late:
                self.settle(self.asked)

    def settle(self, upto: int | None = None) -> None:
        """Do the work that was asked for, or the first `upto` of it since the beginning."""
        with self._lock:
            while self._line and (upto is None or self.done < upto):
                work = self._line.popleft()
                self.done += 1
                work()


@dataclass(frozen=True)
class Mark:
    """An event: the work that an order had been asked for at a moment. seconds : of that moment."""

    order: Order
    place: int
    seconds: float

    def settle(self) -> None:
        """Do the work before it."""
        self.order.settle(self.place)
