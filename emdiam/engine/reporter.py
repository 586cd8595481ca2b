"""Reports of an engine while it works: counters, a few heartbeats a second, changes of phase, and traversals."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..jit import working_seconds
from ..progress import Allowance, Event, Listener, silent
from ..stream.counters import Counters

_EVENT_SECONDS = 0.2
# Limits on events. A change between phases that take turns (traversals and the steps after each) is reported at once
# for the first _MOST_TURNS, then TURN_RATE times a second: among thousands of short traversals, reporting every turn
# would cost more than it is worth.
_MOST_TURNS, TURN_RATE = 100, 5.0
MOST, RATE = 100, 2.0
MOST_PROFILES, PROFILE_RATE = 8, 1 / 60
MOST_CHANGES, CHANGE_RATE = 500, 5.0
_BOUNDS = ("lower", "upper")


class TraversalEvents:
    """The last traversal of an engine, until it is reported: source, extent, cost, frontier profile.

    The bounds that follow from a traversal are known only later, when the method has drawn its conclusions. So the
    traversal is noted when it ends, and reported with the method's next tick, which has the bounds. There may be
    many in a second: beyond the first MOST, RATE a second are reported. Profiles (the longest part) are reported less
    often, and traversals that changed a bound more often.
    """

    def __init__(self) -> None:
        self._all = Allowance(MOST, RATE)
        self._changes = Allowance(MOST_CHANGES, CHANGE_RATE)
        self._profiles = Allowance(MOST_PROFILES, PROFILE_RATE)
        self._noted: dict[str, Any] | None = None
        self._began = time.perf_counter()
        self._before = self._after = Counters()
        self._reported: tuple[Any, ...] = ()

    def begin(self, counters: Counters) -> None:
        """A traversal starts; counters : a snapshot."""
        self._began, self._before = time.perf_counter(), counters

    def end(self, kind: str, counters: Counters, **facts: Any) -> None:
        """A traversal has ended. kind : "bfs", "multi-source" or "spread". facts : source, sources,
        eccentricity and reached, as far as known, and profile, a function that makes the profile."""
        self._after = counters
        self._noted = {"kind": kind, **facts, "seconds": time.perf_counter() - self._began}

    def take(self, known: dict[str, Any]) -> dict[str, Any] | None:
        """The traversal not yet reported, with the bounds in `known` and the number of active or open vertices. None
        if there is no such traversal, or if too many were reported lately."""
        noted, self._noted = self._noted, None
        if noted is None:
            return None
        bounds = tuple(known.get(name) for name in _BOUNDS)
        changed, self._reported = bounds != self._reported, bounds
        if not (self._all.take() or (changed and self._changes.take())):
            return None
        if "profile" in noted:
            make = noted.pop("profile")
            if self._profiles.take():
                noted["profile"] = make()
        used = self._after - self._before
        noted.update(levels=used.levels, arcs=used.edges_scanned, bytes_read=used.bytes_read,
                     number=self._after.traversals)
        return {**noted, **{name: known[name] for name in (*_BOUNDS, "active", "open") if name in known}}



class Reporter:
    """Counters and progress of one engine.

    listener : hears events; None: no listener. stats : returns a snapshot of the counters; snapshots subtract. count :
    adds to the counters, by name, the work of an algorithm outside the engine, e.g. bytes_read of scratch files.
    position : the progress of a pass, or what it waits for, for an event. level : of the running traversal, if it has
    levels. traversals : the last traversal, until it is reported.
    """

    def __init__(self, listener: Listener | None, stats: Callable[[], Counters], count: Callable[..., None],
                 position: Callable[[], dict[str, Any]]) -> None:
        self.listener = listener or silent
        self.stats, self.count = stats, count
        self.level: int | None = None
        self._position, self._clock = position, working_seconds
        self._facts: dict[str, Any] = {}
        self._phase, self._last_event = "", 0.0
        self._phases, self.turns = set[str](), Allowance(_MOST_TURNS, TURN_RATE)
        self.traversals = TraversalEvents()

    @property
    def listener(self) -> Listener:
        """The listener, which hears events."""
        return self._listener

    @listener.setter
    def listener(self, listener: Listener) -> None:
        self._listener, self._bounds_alone = listener, getattr(listener, "alone", False)
        self._heard = listener is not silent and not self._bounds_alone

    def clock(self) -> float:
        """Seconds of wall time from an arbitrary start, without the time in which kernels are compiled or loaded.
        Methods measure the times by which they choose with this clock. So a first run makes the same choices as the
        next one, and a run that continues from a checkpoint the same as the run before."""
        return self._clock()

    def tick(self, phase: str, **facts: Any) -> None:
        """Report progress to the listener (throttled); keep the facts for later events."""
        self._facts.update(facts)
        if not self._heard:
            self._phase = phase
            if self._bounds_alone:
                self.listener(Event(phase, facts=self._facts))
            return
        traversal = self.traversals.take(self._facts)
        if traversal is not None:
            self.listener(Event(self._phase, facts=traversal, kind="traversal"))
        changed, self._phase = phase != self._phase, phase
        if changed:
            self.level = None
        new = phase not in self._phases
        self._phases.add(phase)
        self.heartbeat(force=new or (changed and self.turns.take()))

    def use_clock(self, clock: Callable[[], float]) -> None:
        """Measure time by another clock from now on."""
        self._clock = clock

    # -- for engines ----------------------------------------------------------------------------
    def heartbeat(self, force: bool = False) -> None:
        """Report that the engine works, unless the last event was less than 0.2 s ago."""
        if not self._heard:
            return
        now = time.monotonic()
        if not force and now - self._last_event < _EVENT_SECONDS:
            return
        self._last_event = now
        counters = self.stats()
        level = {} if self.level is None else {"level": self.level}
        facts = {**self._facts, **level, "bytes_read": counters.bytes_read, "levels": counters.levels,
                 "traversals": counters.traversals, **self._position()}
        self.listener(Event(self._phase, counters.edges_scanned, None, "arcs", facts))

    def show_level(self, level: int) -> None:
        """Report that a traversal has reached this level."""
        self.level = level
        self.heartbeat()

    def begin(self) -> None:
        """A traversal starts."""
        if self._heard:
            self.traversals.begin(self.stats())

    def end(self, kind: str, **facts: Any) -> None:
        """A traversal has ended; see TraversalEvents.end."""
        if self._heard:
            self.traversals.end(kind, self.stats(), **facts)
