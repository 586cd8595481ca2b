"""A file of events, one JSON object a line, read into a Track. See docs/events.md for the records.

A line that is no event (the last one of a run that was killed may be cut off) is counted, not refused:
a report on a broken night is what one wants most then.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import InputError
from .records import Bound, Spell, Track, Traversal

MOST_PROFILES = 4


def read_events(path: Path) -> Track:
    """The track of an events file. Raises InputError if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return track_of(file)
    except OSError as error:
        raise InputError(f"the events cannot be read ({error.strerror})", path=path) from None


def track_of(lines: Iterable[str]) -> Track:
    """The track of lines of events."""
    builder = _Builder()
    for line in lines:
        if line.strip():
            builder.take(_record(line))
    return builder.end()


def _record(line: str) -> dict[str, Any] | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or moment(data) is None:
        return None
    return data


def moment(record: dict[str, Any]) -> float | None:
    """Seconds since the start at which an event was sent; None for a record that has none."""
    value = record.get("at")
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        return float(value)
    return None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class _Builder:
    """Takes events one by one. Another run in the same file, such as one that goes on where the one before
    was killed, has begun again at 0: its moments are laid behind those before."""

    def __init__(self) -> None:
        self.track = Track()
        self._shift = self._last = self._turned = 0.0
        self._run: str | None = None
        self._phase: str | None = None
        self._spells: dict[str, list[float]] = {}
        self._bytes: dict[str, int] = {}
        self._traversals: int | None = None
        self._read = 0

    def take(self, record: dict[str, Any] | None) -> None:
        """One line, None for one that is no event."""
        if record is None:
            self.track.n_skipped += 1
            return
        self.track.n_events += 1
        own, run = moment(record), str(record.get("run"))
        assert own is not None
        if run != self._run:
            self._spell("", self._last, True)  # what the one before was in when it ended, however it did
            self._run, self._shift, self._read = run, self._last, 0
        at = max(self._last, own + self._shift)
        facts = record["facts"] if isinstance(record.get("facts"), dict) else record
        what = record.get("record")
        if what == "begin":
            self._begin(record)
        elif what == "traversal":
            self._traversal(facts, at)
        else:
            until = self._phase  # what was read since the last event was read in the phase that ends here
            self._spell(str(record.get("phase") or ""), at, what == "end" or record.get("finished") is True)
            self._count(facts, until or self._phase)
        self._bound(facts, at)
        self._last = at

    def _begin(self, record: dict[str, Any]) -> None:
        """What was asked."""
        arguments = record.get("arguments")
        self.track.command = str(record.get("command") or "")
        self.track.arguments = arguments if isinstance(arguments, dict) else {}

    def _count(self, facts: dict[str, Any], phase: str | None) -> None:
        """The run's own counters, as far as a sign of life has them."""
        read, done = _whole(facts.get("bytes_read")), _whole(facts.get("traversals"))
        if done is not None:
            self._traversals = max(done, self._traversals or 0)
        if read is not None and phase is not None:
            self._bytes[phase] = self._bytes.get(phase, 0) + max(0, read - self._read)
            self._read = max(read, self._read)

    def _spell(self, phase: str, at: float, finished: bool) -> None:
        if self._phase is not None:
            self._spells[self._phase][0] += at - self._turned
        self._turned = at
        if phase and phase not in self._spells:
            self._spells[phase] = [0.0]
        self._phase = None if finished or not phase else phase

    def _traversal(self, facts: dict[str, Any], at: float) -> None:
        told = self.track.traversals
        number = _whole(facts.get("number")) or (told[-1].number + 1 if told else 1)
        seconds = facts.get("seconds")
        kind = str(facts.get("kind") or "bfs")
        told.append(Traversal(
            number, at, kind, float(seconds) if isinstance(seconds, int | float) else None,
            _whole(facts.get("bytes_read")), _whole(facts.get("levels"))))
        self._traversals = max(number, self._traversals or 0)
        profile = facts.get("profile")
        if isinstance(profile, list) and len(self.track.profiles) < MOST_PROFILES:
            points = [(int(p[0]), int(p[1])) for p in profile if isinstance(p, list) and len(p) == 2
                      and all(_whole(value) is not None for value in p)]
            if points:
                self.track.profiles.append((f"traversal {number} ({kind})", points))

    def _bound(self, facts: dict[str, Any], at: float) -> None:
        known = self.track.bounds
        before = known[-1] if known else Bound(at, None, None, None)
        lower, upper = _whole(facts.get("lower")), _whole(facts.get("upper"))
        lower = before.lower if lower is None else lower
        upper = before.upper if upper is None else upper
        if (lower, upper) != (before.lower, before.upper):
            known.append(Bound(at, self._traversals, lower, upper))

    def end(self) -> Track:
        """The track, once all events were taken."""
        self.track.seconds = self._last
        self.track.spells = [Spell(phase, seconds[0], self._bytes.get(phase))
                             for phase, seconds in self._spells.items()]
        return self.track
