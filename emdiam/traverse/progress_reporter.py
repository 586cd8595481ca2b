"""What an engine tells while it works: heartbeats a few times a second, changes of phase, finished traversals."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any

from ..progress import Allowance, Event, Listener, silent
from ..stream.counters import Counters
from .traversal_events import Journal

_EVENT_SECONDS = 0.2
# Phases that take turns, as traversals and what follows from each do, are told at once so often, then this often a
# second: among thousands of short traversals each turn would cost a listener more than it says.
_MOST_TURNS, _TURN_RATE = 100, 5.0


class Telling(ABC):
    """The part of an engine that speaks to `progress`."""

    def __init__(self, progress: Listener | None) -> None:
        self._progress = progress or silent
        self._facts: dict[str, Any] = {}
        self._phase, self._last_event = "", 0.0
        self._phases, self._turns = set[str](), Allowance(_MOST_TURNS, _TURN_RATE)
        self._journal = Journal()

    @abstractmethod
    def stats(self) -> Counters:
        """See Engine.stats."""

    @abstractmethod
    def _position(self) -> dict[str, Any]:
        """Where a pass is, or what is waited for, for an event."""

    def clock(self) -> float:
        """See Engine.clock."""
        return time.perf_counter()

    def tick(self, phase: str, **facts: Any) -> None:
        """See Engine.tick."""
        self._facts.update(facts)
        traversal = self._journal.take(self._facts)
        if traversal is not None:
            self._progress(Event(self._phase, facts=traversal, kind="traversal"))
        changed, self._phase = phase != self._phase, phase
        if changed:
            self._facts.pop("level", None)
        new = phase not in self._phases
        self._phases.add(phase)
        self._heartbeat(force=new or (changed and self._turns.take()))

    def _heartbeat(self, force: bool = False) -> None:
        now = time.monotonic()
        if not force and now - self._last_event < _EVENT_SECONDS:
            return
        self._last_event = now
        counters = self.stats()
        facts = {**self._facts, "bytes_read": counters.bytes_read, "levels": counters.levels,
                 "traversals": counters.traversals, **self._position()}
        self._progress(Event(self._phase, counters.edges_scanned, None, "arcs", facts))
