"""Finished traversals as events: where from, how far, what it cost, the frontier profile.

What a traversal shows of the diameter is known only after it, when the method has drawn its
conclusions. So a traversal is noted when it ends, and handed out with the next sign of life of the
method, which brings the bounds. Many may come in a second: beyond MOST at once RATE a second are
reported, profiles (the longest part) less often, and a traversal that changed a bound before others.
"""

from __future__ import annotations

import time
from typing import Any

from ..progress import Allowance
from ..stream.counters import Counters

MOST, RATE = 100, 2.0
MOST_PROFILES, PROFILE_RATE = 8, 1 / 60
MOST_CHANGES, CHANGE_RATE = 500, 5.0
_BOUNDS = ("lower", "upper")


class TraversalEvents:
    """The last traversal of an engine, until it is reported."""

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
