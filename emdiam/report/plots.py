"""Which plots a report has, with titles and captions; drawing.py draws them when they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import texts
from .document import Plot
from .records import Run, Track

if TYPE_CHECKING:
    from .tradeoffs import Point

# So many runs have plots of their own, those that took longest; more would bury the reader.
MOST_RUNS = 12
MOST_BARS = 40
_NOT_PHASES = ("total",)


def _drawn(function: str, *arguments: Any) -> Callable[[], Any]:
    """A call of a function of drawing.py, which needs matplotlib, for later."""
    def draw() -> Any:
        from . import drawing

        return getattr(drawing, function)(*arguments)

    return draw


def _tracked(runs: Sequence[Run], tells: Callable[[Track], Any]) -> list[tuple[int, Run, Track]]:
    """(place, run, track) of the runs whose events tell something, at most MOST_RUNS, those that took longest."""
    told = [(i, run, run.track) for i, run in enumerate(runs, 1) if run.track is not None and tells(run.track)]
    told.sort(key=lambda item: -(item[1].wall or 0.0))
    return sorted(told[:MOST_RUNS], key=lambda item: item[0])


def _closing(track: Track) -> bool:
    """Whether the events have both bounds at some time."""
    return any(bound.lower is not None and bound.upper is not None for bound in track.bounds)


def spells(run: Run) -> list[tuple[str, float, int | None]]:
    """(phase, seconds, bytes read) of a run: by its events, or else by its result."""
    if run.track is not None and run.track.spells:
        return [(spell.phase, spell.seconds, spell.bytes_read) for spell in run.track.spells]
    seconds = run.value("seconds")
    if not isinstance(seconds, dict):
        return []
    return [(name, float(value), None) for name, value in seconds.items()
            if name not in _NOT_PHASES and isinstance(value, int | float)]


def bounds(runs: Sequence[Run]) -> list[Plot]:
    """The interval against time and against traversals, a pair of panels a run."""
    found = []
    for place, run, track in _tracked(runs, _closing):
        last = track.bounds[-1]
        end = f"{texts.count(last.lower)} and {texts.count(last.upper)}"
        found.append(Plot(
            f"bounds-{place}", f"Bounds of {run.name}",
            "The proved lower bound (blue) and upper bound (orange) on D against wall time and against traversals,"
            " from the first traversal on. The band between them is what was not known yet; where it closes, D is"
            f" proved. The last event has {end}.",
            _drawn("draw_bounds", track)))
    return found


def frontiers(runs: Sequence[Run]) -> list[Plot]:
    """Vertices a level, of some traversals of each run."""
    return [Plot(f"frontier-{place}", f"Frontiers of {run.name}",
                 "Vertices by their distance from the source, of the first traversals: a high narrow hill is a graph"
                 " whose levels are few and large, which a streamed run reads several times over; a long low plateau is"
                 " one of many thin levels.",
                 _drawn("draw_frontiers", track))
            for place, run, track in _tracked(runs, lambda track: track.profiles)]


def phases(runs: Sequence[Run]) -> list[Plot]:
    """Time and bytes by phase, of each run that tells."""
    told = [(i, run, spells(run)) for i, run in enumerate(runs, 1) if spells(run)]
    told.sort(key=lambda item: -(item[1].wall or 0.0))
    return [Plot(f"phases-{i}", f"Phases of {run.name}",
                 "Wall seconds of each phase, in the order in which they began" + (
                     ", and bytes read from disk in each." if any(read is not None for _, _, read in own) else "."),
                 _drawn("draw_phases", own))
            for i, run, own in sorted(told[:MOST_RUNS])]


def memory(runs: Sequence[Run]) -> list[Plot]:
    """Measured peak against plan and limit; a bar a run."""
    told = [run for run in runs if run.peak is not None][:MOST_BARS]
    if not told:
        return []
    rows = [(run.name, run.peak, run.number("planned_rss_bytes"), run.number("expected_rss_bytes"),
             run.number("memory_limit_bytes")) for run in told]
    return [Plot("memory", "Peak memory against the plan",
                 "Bars: measured peak of resident memory. Tick: the plan, which a bar may never pass. Diamond: what"
                 " was expected, where the result tells. A limit far above the plan is not drawn; the table has it.",
                 _drawn("draw_memory", rows))]


def times(runs: Sequence[Run]) -> list[Plot]:
    """Wall time of every run; none for a single one."""
    rows = [(run.name, run.wall, run.status) for run in runs if run.wall is not None][:MOST_BARS]
    if len(rows) < 2:
        return []
    return [Plot("times", "Time of each run",
                 "Wall seconds. Blue: answered; orange, hatched: stopped with an interval, or failed.",
                 _drawn("draw_times", rows))]


def quality(points: Sequence[Point]) -> list[Plot]:
    """Estimates over D where D is known, and widths of proved intervals, against time."""
    found = []
    if any(point.quality is not None for point in points):
        found.append(Plot("quality", "Quality of estimates against time",
                          "Each mark is one approximation: to the left is cheaper, and 1 is the diameter itself. Bars:"
                          " proved bounds over D.", _drawn("draw_quality", list(points))))
    if any(point.width is not None for point in points):
        found.append(Plot("widths", "Width of proved intervals against time",
                          "(upper - lower) / lower of each approximation: 0 is a proved diameter, and to the left is"
                          " cheaper.", _drawn("draw_widths", list(points))))
    return found
