"""Texts about work in progress: its step, the phase in words of the field, amounts, rates, bounds, and the time that
remains.

The remaining time is a range, computed from the rate of the last seconds and from the rate of the whole phase. The
columns of rich.progress would not do: a rich task has one rate and its text is for a terminal only, while log lines,
written without importing rich, describe a phase in the same words as the terminal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from .progress import ANSWER, OUTCOME, PEAK, SECONDS, Event, bounds_text, count_text, joined
from .units import format_count, format_seconds, format_size

# Phases in words.
WORDS = {
    "read": "reading edges", "sort": "sorting edges", "ids": "sorting ids", "relabel": "numbering vertices",
    "merge": "merging sorted edges", "write": "writing", "order": "ordering vertices", "number": "numbering vertices",
    "load": "opening the graph", "upload": "copying the graph to the GPU", "workers": "waiting for workers",
    "recover": "continuing without lost workers", "compile": "compiling kernels, once",
    "reorder": "reordering the store, which saves reads", "components": "finding connected components",
    "bfs": "BFS from one vertex at a time", "multi-source": "BFS from many vertices at once",
    "certify": "proving pairs of vertices near", "covering": "choosing sources for many pairs",
    "pairs": "proving pairs of vertices near", "verify": "checking the longest path",
    "search": "searching shortest paths",
    "winnow": "Winnow: removing a ball around the centre", "eliminate": "Eliminate: removing vertices by bounds",
    "chain": "removing chains of vertices", "tree": "bounding by a BFS tree",
    "spanning tree": "growing a spanning tree",
    "iterations": "improving the spanning tree", "matrix": "distances of all pairs", "messages": "sending messages",
    "masters": "choosing masters (cluster centres)", "grow clusters": "growing clusters",
    "condense": "condensing the graph to its clusters", "shortest paths": "shortest paths between clusters",
    "upper bound": "proving an upper bound", "lower bound": "looking for a long distance",
    "count": "counting distances", "solve": "distances of all pairs", "triangles": "counting triangles",
    "cores": "peeling cores (degeneracy)", "digest": "writing the certificate",
    "graph": "comparing the graph with the certificate",
    "small components": "checking small components", "labels": "distances from the certificate's sources",
    "check labels": "checking distances against edges"}
# Facts in words; others appear only in the record of --events. {} is the number.
_FACTS = {
    "active": "{} vertices with open bounds", "open": "{} vertices that may be farther apart",
    "traversals": "{} traversals", "searches": "{} searches", "bytes_read": "{} read",
    "level": "at distance {}",
    "masters": "{} masters", "sources": "{} sources", "counted": "{} sources counted", "run": "run {}",
    "iteration": "iteration {}", "height": "a tree of height {}", "fringe": "vertices at distance {} from the centre",
    "expected_seconds": "about {} left"}
_SINGULAR = (("1 vertices", "1 vertex"), ("1 traversals", "1 traversal"), ("1 searches", "1 search"),
             ("1 sources", "1 source"), ("1 masters", "1 master"))
# Facts that remain true in later phases; all others belong to their own phase.
_LASTING = ("lower", "upper", "active", "open", "traversals", "searches", "bytes_read")
# Facts that are shown as the place in a pass.
_PASS = ("pass_done", "pass_total")
# Facts that are shown even if 0; for others, 0 means that they have not started.
_TOLD_AT_0 = ("active", "open")
# Facts with separate places in a line.
_PLACED = (*_PASS, OUTCOME, SECONDS, ANSWER, PEAK)
# The only event of a run that resumes from a checkpoint.
RESUME = "resume"
SOONEST_SECONDS = 0.5
RECENT_SECONDS = 10.0
_LEAST_GAP_SECONDS = 0.1

# Steps of commands, as sets of phases; the empty step stands for all phases that no step names.
Step = frozenset[str]
_REST: Step = frozenset()
_WRITING: tuple[Step, ...] = (frozenset({"read"}), frozenset({"sort", "relabel"}), frozenset({"merge"}),
                              frozenset({"write"}))
_ORDERING = frozenset({"order", "load", "number", "condense", "grow clusters", "ids"})
_RUN: tuple[Step, ...] = (frozenset({"load", "upload"}), _REST, frozenset({"verify"}))
_OF_CLUSTERS: tuple[Step, ...] = (
    _RUN[0], frozenset({"masters", "grow clusters"}), frozenset({"condense"}), frozenset({"shortest paths"}),
    frozenset({"upper bound"}), frozenset({"lower bound"}), _RUN[2])
_OUT, _PROOF = frozenset({"write"}), frozenset({"digest"})
_STEPS: dict[str, tuple[Step, ...]] = {
    "convert": _WRITING, "generate": _WRITING, "apply": (*_WRITING[:2], frozenset({"ids", "merge"}), _WRITING[3]),
    "reorder": (_ORDERING, *_WRITING), "exact": _RUN, "ecc": _RUN,
    "approx": _RUN, "distances": (_RUN[0], frozenset({"components"}), frozenset({"count"})),
    "sssp": (_RUN[0], frozenset({"search", "tree"})), "apsp": (_RUN[0], frozenset({"solve"})),
    "verify": (frozenset({"graph", "small components", "load", "labels", "check labels"}), frozenset({"pairs"}))}
# Phases that may come at any step.
_ASIDE = ("compile", "workers", "recover", RESUME)


def steps_of(command: str, options: Mapping[str, Any], of_file: bool = False) -> tuple[Step, ...]:
    """The steps of a command with these options; empty if unknown. of_file : whether it converts a file first."""
    steps = _STEPS.get(command, ())
    other = options.get("weighted") or options.get("directed")
    if command == "approx" and options.get("method") in (None, "clusters") and not other:
        steps = _OF_CLUSTERS
    if command == "convert" and options.get("order") not in (None, "natural"):
        steps = (*steps, _ORDERING, *_WRITING)
    if options.get("out") is not None and command in ("ecc", "distances", "sssp", "apsp"):
        steps = (*steps, _OUT)
    if options.get("certificate") is not None and command in ("exact", "approx", "ecc"):
        steps = (*steps, _PROOF)
    return (*_WRITING, *steps) if of_file and steps else steps


class Steps:
    """The running step of a command, derived from its phases; it never moves backward."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps, self._at = steps, 0
        self._named = frozenset[str]().union(*steps)

    def take(self, phase: str) -> None:
        """Note that a phase runs."""
        if phase in _ASIDE:
            return
        wanted = _REST if phase not in self._named else None
        for number in range(self._at, len(self._steps)):
            step = self._steps[number]
            if phase in step or (wanted is not None and step == wanted):
                self._at = number
                return

    @property
    def at(self) -> int:
        """The number of the running step, from 0; -1 if unknown."""
        return self._at if self._steps else -1

    def text(self) -> str:
        """Text such as "step 2 of 4"; "" if unknown."""
        return f"step {self._at + 1} of {len(self._steps)}" if self._steps else ""


class Pace:
    """The amount done of a phase or a pass, its total, and the recent amounts by time. Times are seconds of the
    caller's clock; `done` may start anywhere and never falls."""

    def __init__(self, now: float, done: int) -> None:
        self.done, self.total = done, 0
        self._samples = deque([(now, done)])
        self._first = self._samples[0]

    def at(self, now: float, done: int, total: int | None) -> None:
        """Record the amount done. total : None if it cannot be known."""
        self.done, self.total = done, total or 0
        if now - self._samples[-1][0] >= _LEAST_GAP_SECONDS:
            self._samples.append((now, done))
            while len(self._samples) > 2 and self._samples[1][0] <= now - RECENT_SECONDS:
                self._samples.popleft()

    def rate(self, now: float) -> float | None:
        """Units per second since the beginning; None if too little time has passed."""
        return self._since(self._first, now)

    def left_text(self, now: float) -> str:
        """Text such as ", 18 to 25 s left", from the higher and the lower of the two rates; "" if no rate or no total
        is known. If the phase has stalled, only the rate of the whole phase counts."""
        rates = [rate for rate in (self.rate(now), self._since(self._samples[0], now)) if rate is not None]
        if not rates or not self.total:
            return ""
        rest = max(0, self.total - self.done)
        return f", {range_text(*(max(min(rest, 1), round(rest / rate)) for rate in (max(rates), min(rates))))} left"

    def _since(self, sample: tuple[float, int], now: float) -> float | None:
        seconds, done = now - sample[0], self.done - sample[1]
        return done / seconds if seconds >= SOONEST_SECONDS and done > 0 else None


class ShownPhase:
    """One phase. began : seconds of the caller's clock. last : its last event."""

    def __init__(self, name: str, began: float) -> None:
        self.name, self.began, self.last = name, began, Event(name)
        self._whole: Pace | None = None
        self._pass: Pace | None = None

    def take(self, event: Event, now: float) -> None:
        """Enter an event of this phase."""
        self.last = event
        self._whole = self._whole or Pace(now, event.done or 0)
        self._whole.at(now, event.done or 0, event.total)
        done, total = (event.facts.get(name) for name in _PASS)
        if not total or done is None:
            self._pass = None
        else:
            if self._pass is None or total != self._pass.total or done < self._pass.done:
                self._pass = Pace(now, done)
            self._pass.at(now, done, total)

    def share(self) -> tuple[int, int] | None:
        """(done, total) of the phase, or of the pass that it is in; None if unknown."""
        if self.last.total and self.last.done is not None:
            return self.last.done, self.last.total
        return None if self._pass is None else (self._pass.done, self._pass.total)

    def pass_text(self, now: float) -> str:
        """The place in the pass over the blocks: "this pass: 120 of 400 blocks, 3 to 5 s left"."""
        if self._pass is None or self.last.finished or self.last.total:
            return ""
        return f"this pass: {self._pass.done:,} of {self._pass.total:,} blocks{self._pass.left_text(now)}"

    def amount(self) -> str:
        """See Event."""
        return self.last.amount()

    def rate(self, now: float) -> float | None:
        """Units per second since the phase began; None if too little time has passed."""
        return None if self.last.done is None or self._whole is None else self._whole.rate(now)

    def pace(self, now: float) -> str:
        """The rate and, if the total is known, the time left: "120 MiB/s, 18 to 25 s left"."""
        rate = self.rate(now)
        if rate is None or self._whole is None:
            return ""
        left = "" if self.last.finished else self._whole.left_text(now)
        return f"{count_text(round(float(f'{rate:.3g}')), self.last.unit)}/s{left}"  # a rate is not exact


class PhaseBook:
    """The running phase and the facts known so far.

    An event of a new phase ends the one before, with or without its own last event. A last event that comes after other
    phases ends a phase that contained them.

    latest : the phase of the last event, None before the first. seen : the names of all phases. steps : the steps of
    the command.
    """

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.steps = Steps(steps)
        self.latest: ShownPhase | None = None
        self.seen: set[str] = set()
        self._lasting: dict[str, Any] = {}
        self._began: dict[str, float] = {}  # of phases without a last event

    def take(self, event: Event, now: float) -> ShownPhase:
        """Record `event` and return its phase. An event about a traversal only brings lasting facts."""
        phase = self.latest
        if phase is None or ((phase.name != event.phase or phase.last.finished) and event.kind == "progress"):
            phase = self.latest = ShownPhase(event.phase, self._began.get(event.phase, now) if event.finished else now)
        if event.kind == "progress":
            phase.take(event, now)
            self.steps.take(event.phase)
            self.seen.add(event.phase)
            if event.finished:
                self._began.pop(event.phase, None)
            else:
                self._began[event.phase] = phase.began
        self._lasting.update({name: event.facts[name] for name in _LASTING if name in event.facts})
        return phase

    def title(self) -> str:
        """The step and the latest phase in words: "step 2 of 3: BFS from one vertex at a time"."""
        if self.latest is None:
            return ""
        step, words = self.steps.text(), WORDS.get(self.latest.name, self.latest.name)
        return f"{step}: {words}" if step else words

    def facts_text(self) -> str:
        """The bounds first, then the other lasting facts, then those of the latest phase only."""
        facts = dict(self._lasting)
        if self.latest is not None:
            facts.update({name: value for name, value in self.latest.last.facts.items() if name not in _PLACED})
        bounds = bounds_text(facts.pop("lower", None), facts.pop("upper", None))
        parts = [f"diameter: {bounds.removeprefix('D = ')}"] if bounds else []
        own = self.latest is not None and self.latest.name not in WORDS  # a job's own facts appear under their names
        return joined(*parts, *(_fact(name, value, own) for name, value in facts.items()
                                if value != 0 or name in _TOLD_AT_0))


def _fact(name: str, value: Any, any_name: bool) -> str:
    """A fact in words; "" for a fact for programs only. any_name : show other facts under their names."""
    if name in _FACTS:
        text = _FACTS[name].format(format_seconds(value) if name.endswith("_seconds") else _value(name, value))
        for many, one in _SINGULAR if value == 1 else ():
            text = text.replace(many, one)
        return text
    return f"{name.replace('_', ' ')} {_value(name, value)}" if any_name else ""


def resumed_text(event: Event) -> str:
    """An event of RESUME in words."""
    damaged = event.facts.get("damaged")
    return (f"resumed {format_count(event.done or 0, 'traversal')} from {event.facts.get('folder')}"
            + (f"; {damaged}" if damaged else ""))


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if name.startswith("bytes_") or name.endswith("_bytes"):
        return format_size(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def range_text(least: float, most: float) -> str:
    """A range of durations: "18 s", "18 to 25 s", "50 s to 1 min 10 s"."""
    low, high = format_seconds(least), format_seconds(most)
    if low == high:
        return low
    if low.count(" ") == high.count(" ") == 1:
        low = low.removesuffix(" s")
    return f"{low} to {high}"
