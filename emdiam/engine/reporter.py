"""What an engine says while it works: its counters, heartbeats a few times a second, changes of phase, traversals."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..jit import working_seconds
from ..progress import Allowance, Event, Listener, silent
from ..stream.counters import Counters

_EVENT_SECONDS = 0.2
# Phases that take turns, as traversals and what follows from each do, are reported at once so often, then this often
# a second: among thousands of short traversals each turn would cost a listener more than it says.
_MOST_TURNS, TURN_RATE = 100, 5.0
MOST, RATE = 100, 2.0
MOST_PROFILES, PROFILE_RATE = 8, 1 / 60
MOST_CHANGES, CHANGE_RATE = 500, 5.0
_BOUNDS = ("lower", "upper")


class TraversalEvents:
    """The last traversal of an engine, until it is reported: where from, how far, what it cost, the frontier profile.

    What a traversal shows of the diameter is known only after it, when the method has drawn its conclusions. So it is
    noted when it ends, and handed out with the next sign of life of the method, which brings the bounds. Many may come
    in a second: beyond MOST at once RATE a second are reported, profiles (the longest part) less often, and a traversal
    that changed a bound before others.
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
        """It is over. kind : "bfs", "multi-source" or "spread"; facts : source, sources,
        eccentricity, reached, as far as they are known, and profile, a function that makes it."""
        self._after = counters
        self._noted = {"kind": kind, **facts, "seconds": time.perf_counter() - self._began}

    def take(self, known: dict[str, Any]) -> dict[str, Any] | None:
        """The traversal that was not reported yet, with the bounds in `known` and vertices that are active
        or open; None if there is none, or too many were reported lately."""
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

    listener : hears events; None: nobody does. stats : a snapshot of the counters; snapshots subtract. count : adds to
    them what an algorithm did beside the engine, by name, e.g. bytes_read of scratch files. position : where a pass
    is, or what is waited for, for an event. level : of the traversal at work, if it has levels. traversals : the
    last one, until it is reported.
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
        """Who hears events."""
        return self._listener

    @listener.setter
    def listener(self, listener: Listener) -> None:
        self._listener, self._bounds_alone = listener, getattr(listener, "alone", False)
        self._heard = listener is not silent and not self._bounds_alone

    def clock(self) -> float:
        """Seconds of wall time, from any start, without those in which kernels are compiled or loaded. What a method
        chooses by time it measures with this, so that a first run makes the choices of the next one, and a run that
        goes on from a checkpoint those of the run before."""
        return self._clock()

    def tick(self, phase: str, **facts: Any) -> None:
        """Report progress to the listener (throttled); facts are kept for later events."""
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
        """A sign of life, unless the last one was less than 0.2 s ago."""
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
        """A traversal has come to this level."""
        self.level = level
        self.heartbeat()

    def begin(self) -> None:
        """A traversal starts."""
        if self._heard:
            self.traversals.begin(self.stats())

    def end(self, kind: str, **facts: Any) -> None:
        """It is over; see TraversalEvents.end."""
        if self._heard:
            self.traversals.end(kind, self.stats(), **facts)
