"""Timing: rounds of calls, repeated until enough of them were quiet."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .foreign import ForeignWatch


@dataclass(frozen=True)
class Effort:
    """How hard to try for good figures.

    rounds : quiet rounds wanted. attempts : rounds at most. quiet_cores : foreign load up to which
    a round is quiet. least_seconds : a round goes through the calls again until it lasted so long
    (a shorter one would not tell the foreign load).
    """

    rounds: int = 3
    attempts: int = 6
    quiet_cores: float = 0.15
    least_seconds: float = 0.5


@dataclass(frozen=True)
class Timing:
    """Wall seconds of single calls, over the accepted rounds.

    n_calls, median, best : of the calls. foreign_cores : the largest foreign load of an accepted
    round. quiet : all accepted rounds were quiet; otherwise all rounds were accepted for want of
    quiet ones, and the figures are those of a loaded machine.
    """

    n_calls: int
    median: float
    best: float
    foreign_cores: float
    quiet: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Lap:
    """One run of something that times itself. seconds : wall seconds. again : worth another run (not
    so if it was long, or stopped by a limit)."""

    seconds: float
    again: bool = True


def _round(calls: Sequence[Callable[[], object]], least_seconds: float) -> tuple[list[float], float]:
    """Seconds of each call, and the foreign load of the round in cores."""
    watch, begin = ForeignWatch(), time.perf_counter()
    seconds: list[float] = []
    while not seconds or time.perf_counter() - begin < least_seconds:
        for call in calls:
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
    return seconds, watch.cores


def measure(calls: Sequence[Callable[[], object]], effort: Effort) -> Timing:
    """Time `calls` (say, a BFS from each of some sources), one after another, in rounds."""
    done: list[tuple[list[float], float]] = []
    n_quiet = 0
    while len(done) < effort.attempts and n_quiet < effort.rounds:
        done.append(_round(calls, effort.least_seconds))
        n_quiet += done[-1][1] <= effort.quiet_cores
    return _accepted(done, effort)


def _accepted(done: Sequence[tuple[list[float], float]], effort: Effort) -> Timing:
    """The timing of the rounds (seconds of calls, foreign load): of the quiet ones, or of all."""
    quiet = [one for one in done if one[1] <= effort.quiet_cores]
    accepted = quiet or done
    seconds = [s for one in accepted for s in one[0]]
    return Timing(len(seconds), statistics.median(seconds), min(seconds), max(one[1] for one in accepted),
                  bool(quiet))


def measure_paired(calls: Mapping[str, Callable[[], Lap]], effort: Effort) -> dict[str, Timing]:
    """Time several calls against each other: in every round each runs in turn, so that a slow moment
    of the machine meets them all. A call that is not worth another run keeps the laps it has. The
    rounds are accepted or not for each call by itself (see Timing.quiet)."""
    active = dict(calls)
    laps: dict[str, list[tuple[list[float], float]]] = {name: [] for name in calls}
    n_rounds = n_quiet = 0
    while active and n_rounds < effort.attempts and n_quiet < effort.rounds:
        seconds, foreign = _paired_round(active, effort.least_seconds)
        for name, times in seconds.items():
            laps[name].append((times, foreign))
        n_rounds += 1
        n_quiet += foreign <= effort.quiet_cores
    return {name: _accepted(done, effort) for name, done in laps.items()}


def _paired_round(
    active: dict[str, Callable[[], Lap]], least_seconds: float
) -> tuple[dict[str, list[float]], float]:
    """Seconds of each call and the foreign load; calls that are done for good leave `active`."""
    watch, begin = ForeignWatch(), time.perf_counter()
    seconds: dict[str, list[float]] = {}
    while active and (not seconds or time.perf_counter() - begin < least_seconds):
        for name, call in list(active.items()):
            lap = call()
            seconds.setdefault(name, []).append(lap.seconds)
            if not lap.again:
                del active[name]
    return seconds, watch.cores
