"""What progress events say about each phase so far: amounts, rates and the time left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..progress import Event
from ..units import format_size

# Facts that stay true from one phase to the next; all others belong to the phase that said them.
_LASTING = ("lower", "upper", "active", "open", "traversals", "bytes_read")
_SOONEST_RATE_SECONDS = 0.5


@dataclass
class Phase:
    """One phase: its last event, and when it began (seconds of the caller's clock)."""

    name: str
    began: float
    first_done: int = 0
    done: int | None = None
    total: int | None = None
    unit: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    finished: bool = False

    def amount(self) -> str:
        """What is done, e.g. "1.0 GiB of 4.0 GiB (25 %)"; empty where nothing is counted."""
        if not self.total:
            return _count(self.done, self.unit) if self.done else ""
        if self.done is None:
            return ""
        whole = _count(self.total, self.unit)
        return f"{_count(self.done, self.unit, bare=True)} of {whole} ({100 * self.done / self.total:.0f} %)"

    def rate(self, now: float) -> float | None:
        """Units a second since the phase began; None while there is too little to go by."""
        seconds = now - self.began
        if self.done is None or seconds < _SOONEST_RATE_SECONDS or self.done <= self.first_done:
            return None
        return (self.done - self.first_done) / seconds

    def pace(self, now: float) -> str:
        """Rate and, where the total is known, the time left: "120 MiB/s, 18 s left"."""
        rate = self.rate(now)
        if rate is None:
            return ""
        text = _count(round(rate), self.unit) + "/s"
        if self.total and self.done is not None and not self.finished:
            text += f", {seconds_text(max(0, self.total - self.done) / rate)} left"
        return text


class PhaseBook:
    """The phase that runs and what is known beside it. One phase follows another: an event of a
    new phase ends the one before, with or without a last event of its own.

    latest : the phase of the last event, None before the first. seen : names of all phases.
    """

    def __init__(self) -> None:
        self.latest: Phase | None = None
        self.seen: set[str] = set()
        self._lasting: dict[str, Any] = {}

    def take(self, event: Event, now: float) -> Phase:
        """Enter `event`; returns its phase."""
        phase = self.latest
        if phase is None or phase.name != event.phase or phase.finished:
            phase = self.latest = Phase(event.phase, now, first_done=event.done or 0)
        phase.done, phase.total, phase.unit = event.done, event.total, event.unit
        phase.facts, phase.finished = dict(event.facts), event.finished
        self.seen.add(event.phase)
        self._lasting.update({name: event.facts[name] for name in _LASTING if name in event.facts})
        return phase

    def facts_text(self) -> str:
        """The bounds first, then the other lasting facts, then those of the latest phase alone."""
        facts = dict(self._lasting)
        if self.latest is not None:
            facts.update(self.latest.facts)
        parts = [bounds_text(facts.pop("lower", None), facts.pop("upper", None))]
        parts += [f"{name.replace('_', ' ')} {_value(name, value)}" for name, value in facts.items()]
        return ", ".join(part for part in parts if part)


def bounds_text(lower: int | None, upper: int | None) -> str:
    """Bounds on the diameter D; empty when neither is known."""
    if lower is None and upper is None:
        return ""
    left = "" if lower is None else f"{lower:,} <= "
    return f"{left}D" + ("" if upper is None else f" <= {upper:,}")


def seconds_text(seconds: float) -> str:
    """A duration: "0.12 s", "18 s", "3 min 05 s", "2 h 10 min"."""
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds >= 0.01 else "0 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _count(number: int, unit: str, *, bare: bool = False) -> str:
    if unit == "B":
        return format_size(number)
    return f"{number:,}" if bare or not unit else f"{number:,} {unit}"


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if name.startswith("bytes_") or name.endswith("_bytes"):
        return format_size(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
