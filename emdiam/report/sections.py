"""What a report says: sections of sentences, tables and plots, from its runs, before they are HTML or Markdown.

A section about which no run tells anything says so in a sentence instead of showing an empty table. drawing.py draws
plots when they are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._version import __version__
from . import texts
from .records import ANSWERED, FAILED, OPEN, STOPPED, Report, Run, Track
from .texts import NONE

_WORDS = {ANSWERED: "answered", STOPPED: "stopped with an interval", FAILED: "failed", OPEN: "not run"}
_LEAST_SHARE = 0.02  # of the time of a run, for a phase in the table
_LATE = "the events of a run, which --events FILE.jsonl keeps, tell of it"
# So many runs have plots of their own, those that took longest; more would bury the reader.
_MOST_RUNS, _MOST_BARS = 12, 40
_NOT_PHASES = ("total",)


@dataclass
class Table:
    """Cells as texts. words : how many columns from the left hold words; all others hold figures, which are
    aligned to the right."""

    head: list[str]
    rows: list[list[str]]
    words: int = 1


@dataclass
class Plot:
    """A figure. name : of its file. title : what it shows. caption : what one sees in it, and how to read it.
    function, data : of drawing.py, and what it takes."""

    name: str
    title: str
    caption: str
    function: str
    data: Any

    def draw(self) -> Any:
        """The matplotlib Figure."""
        from . import drawing

        return getattr(drawing, self.function)(self.data)


@dataclass
class Section:
    """One part of a report. paragraphs : plain text. folded : (summary, text) of long texts."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    folded: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Document:
    """title, lead : one line and one sentence. tiles : (figure, what it is) at the top. foot : last line."""

    title: str
    lead: str
    tiles: list[tuple[str, str]]
    sections: list[Section]
    foot: str


@dataclass(frozen=True)
class Point:
    """One approximation (or the exact answer beside them). quality : estimate / D where D is known. width :
    (upper - lower) / lower, what is not known, as a share; None where no bound is above 0."""

    name: str
    method: str
    seconds: float
    estimate: float | None
    quality: float | None
    lower: float | None
    upper: float | None

    @property
    def width(self) -> float | None:
        """Width of the proved interval, of its lower end."""
        if self.lower is None or self.upper is None or self.lower <= 0:
            return None
        return (self.upper - self.lower) / self.lower


def document(report: Report) -> Document:
    """The whole report."""
    runs = report.runs
    parts = [f"{report.count(status):,} {_WORDS[status]}" for status in _WORDS if report.count(status)]
    lead = f"{_runs(len(runs))}: {', '.join(parts)}." if runs else "There are no runs in it yet."
    sections = [_asked(runs), _answers(runs), _unanswered(runs, report.notes)]
    if runs:
        sections += [
            _compared(runs),
            _drawn("Bounds", _bounds(runs), f"How bounds closed is not known here: {_LATE}."),
            _drawn("Frontiers", _frontiers(runs), f"How many vertices a level holds is not known here: {_LATE}."),
            _phases(runs), _memory(runs), _forecasts(runs), _approximations(runs)]
    return Document("emdiam report", lead, _tiles(report), [part for part in sections if part is not None],
                    f"Made by emdiam {__version__} from {report.source}. Distances are numbers of edges; D is the"
                    " largest finite distance, over all components.")


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number:,} runs"


def _tiles(report: Report) -> list[tuple[str, str]]:
    runs = report.runs
    if len(runs) == 1:
        run = runs[0]
        tiles = [(texts.bounds(run), "proved"), (texts.duration(run.wall), "time"),
                 (texts.count(texts.traversals(run)), "traversals"), (texts.size(run.number("bytes_read")), "read"),
                 (texts.size(run.peak), "peak memory")]
        return [tile for tile in tiles if tile[0] != NONE]
    seconds = sum(run.wall or 0.0 for run in runs)
    peak = max((run.peak or 0.0 for run in runs), default=0.0)
    tiles = [(f"{report.count(status):,}", _WORDS[status]) for status in _WORDS if report.count(status)]
    tiles += [(texts.duration(seconds), "time of all runs")] if seconds else []
    return tiles + ([(texts.size(peak), "largest peak memory")] if peak else [])


def _asked(runs: Sequence[Run]) -> Section:
    """Which command on which graph."""
    rows = [[run.name, run.family or NONE, run.method or NONE, run.graph or texts.shortened(
        run.value("store_digest") or NONE), _asked_of(run)] for run in runs]
    if not rows:
        return Section("What was asked", ["No run is in the source yet."])
    return Section("What was asked", tables=[
        Table(["run", "command", "method", "graph", "command line or limits"], rows, words=5)])


def _asked_of(run: Run) -> str:
    if run.command:
        return run.command
    memory = run.number("memory_limit_bytes")
    parts = [f"memory {texts.size(memory)}" if memory is not None else "",
             f"device {run.value('device')}" if run.value("device") else "",
             f"seed {run.value('seed')}" if run.value("seed") is not None else ""]
    return ", ".join(part for part in parts if part) or NONE


def _answers(runs: Sequence[Run]) -> Section:
    """Diameters, bounds and witnesses."""
    shown = [run for run in runs if run.number("lower") is not None and run.family != "tradeoff"]
    if not shown:
        return Section("Answers", ["No run has proved a bound on a diameter."])
    head = ["run", "diameter", "proved", "paper's estimate", "witness", "vertices", "edges"]
    rows = [[run.name, texts.diameter(run), texts.bounds(run), texts.estimate(run), texts.witness(run),
             texts.count(run.number("n_vertices")), texts.count(run.number("n_edges"))] for run in shown]
    if all(row[3] == NONE for row in rows):
        head, *rows = [row[:3] + row[4:] for row in (head, *rows)]
    return Section("Answers", [
        "A diameter is stated only where it is proved; else the interval is what is proved. The witness is a pair of"
        " vertices at the distance that the lower bound states."], [Table(head, rows, words=len(head) - 2)],
        folded=[(f"A shortest path of {run.name}", line) for run in shown if (line := texts.path(run)) is not None])


def _unanswered(runs: Sequence[Run], notes: Sequence[str]) -> Section | None:
    """Every run that has not answered, with its sentence."""
    missing = [run for run in runs if run.status != ANSWERED]
    if not missing and not notes:
        return None
    section = Section("What has no answer", [note[:1].upper() + note[1:] + "." for note in notes])
    if missing:
        section.tables = [Table(["run", "how it ended", "exit code", "why"], [
            [run.name, _WORDS[run.status], NONE if run.exit_code is None else str(run.exit_code),
             run.sentence or NONE] for run in missing], words=4)]
    return section


def _compared(runs: Sequence[Run]) -> Section:
    """All runs side by side, and the wall time of each where there are several."""
    head = ["run", "how it ended", "proved", "time", "traversals", "levels", "arcs scanned", "read", "peak memory"]
    rows = [[run.name, _WORDS[run.status], texts.bounds(run), texts.duration(run.wall),
             texts.count(texts.traversals(run)), texts.count(run.number("levels")),
             texts.count(run.number("edges_scanned")), texts.size(run.number("bytes_read")), texts.size(run.peak)]
            for run in runs]
    bars = [(run.name, run.wall, run.status) for run in runs if run.wall is not None][:_MOST_BARS]
    plots = [Plot("times", "Time of each run",
                  "Wall seconds. Blue: answered; orange, hatched: stopped with an interval, or failed.",
                  "draw_times", bars)] if len(bars) > 1 else []
    return Section("All runs side by side", tables=[Table(head, rows, words=3)], plots=plots)


def _drawn(title: str, plots: list[Plot], otherwise: str) -> Section:
    """Plots, or a sentence where there are none."""
    return Section(title, [] if plots else [otherwise], plots=plots)


def _tracked(runs: Sequence[Run], tells: Callable[[Track], Any]) -> list[tuple[int, Run, Track]]:
    """(place, run, track) of the runs whose events tell something, at most _MOST_RUNS, those that took longest."""
    shown = [(i, run, run.track) for i, run in enumerate(runs, 1) if run.track is not None and tells(run.track)]
    shown.sort(key=lambda item: -(item[1].wall or 0.0))
    return sorted(shown[:_MOST_RUNS], key=lambda item: item[0])


def _closing(track: Track) -> bool:
    """Whether the events have both bounds at some time."""
    return any(bound.lower is not None and bound.upper is not None for bound in track.bounds)


def _bounds(runs: Sequence[Run]) -> list[Plot]:
    """The interval against time and against traversals, a pair of panels a run."""
    return [Plot(
        f"bounds-{place}", f"Bounds of {run.name}",
        "The proved lower bound (blue) and upper bound (orange) on D against wall time and against traversals,"
        " from the first traversal on. The band between them is what was not known yet; where it closes, D is"
        f" proved. The last event has {texts.count(track.bounds[-1].lower)} and {texts.count(track.bounds[-1].upper)}.",
        "draw_bounds", track) for place, run, track in _tracked(runs, _closing)]


def _frontiers(runs: Sequence[Run]) -> list[Plot]:
    """Vertices a level, of some traversals of each run."""
    return [Plot(
        f"frontier-{place}", f"Frontiers of {run.name}",
        "Vertices by their distance from the source, of the first traversals: a high narrow hill is a graph"
        " whose levels are few and large, which a streamed run reads several times over; a long low plateau is"
        " one of many thin levels.", "draw_frontiers", track)
        for place, run, track in _tracked(runs, lambda track: track.profiles)]


def _spells(run: Run) -> list[tuple[str, float, int | None]]:
    """(phase, seconds, bytes read) of a run: by its events, or else by its result."""
    if run.track is not None and run.track.spells:
        return [(spell.phase, spell.seconds, spell.bytes_read) for spell in run.track.spells]
    seconds = run.value("seconds")
    if not isinstance(seconds, dict):
        return []
    return [(name, float(value), None) for name, value in seconds.items()
            if name not in _NOT_PHASES and isinstance(value, int | float)]


def _phases(runs: Sequence[Run]) -> Section:
    """Time and bytes by phase."""
    title = "Where time and bytes went"
    shown = [(i, run, spells) for i, run in enumerate(runs, 1) if (spells := _spells(run))]
    rows = []
    for _, run, spells in shown:
        least = _LEAST_SHARE * sum(seconds for _, seconds, _ in spells)
        rows += [[run.name, name, texts.duration(seconds), texts.size(read)]
                 for name, seconds, read in spells if seconds >= least]
    shown.sort(key=lambda item: -(item[1].wall or 0.0))
    plots = [Plot(f"phases-{i}", f"Phases of {run.name}",
                  "Wall seconds of each phase, in the order in which they began" + (
                      ", and bytes read from disk in each." if any(read is not None for _, _, read in spells) else "."),
                  "draw_phases", spells)
             for i, run, spells in sorted(shown[:_MOST_RUNS], key=lambda item: item[0])]
    if not rows:
        return _drawn(title, plots, "No run tells how long its phases took.")
    return Section(title, [f"Phases that took less than {100 * _LEAST_SHARE:.0f} % of a run are left out of the"
                           " table."], [Table(["run", "phase", "time", "read"], rows, words=2)], plots)


def _memory(runs: Sequence[Run]) -> Section:
    """Plans against peaks."""
    title, shown = "Memory: planned and measured", [run for run in runs if run.peak is not None]
    if not shown:
        return Section(title, ["No run has measured its peak memory."])
    figures = [(run.name, run.peak, run.number("planned_rss_bytes"), run.number("expected_rss_bytes"),
                run.number("memory_limit_bytes")) for run in shown]
    rows = [[name, texts.size(limit), texts.size(planned), texts.size(expected), texts.size(peak),
             texts.ratio(planned / peak if planned and peak else None)]
            for name, peak, planned, expected, limit in figures]
    return Section(title, [
        "The plan is a promise: no peak may exceed it. It reserves what the worst graph of this size needs; what a run"
        " does not use, it does not take from the system."],
        [Table(["run", "limit", "planned", "expected", "measured peak", "planned / measured"], rows)],
        [Plot("memory", "Peak memory against the plan",
              "Bars: measured peak of resident memory. Tick: the plan, which a bar may never pass. Diamond: what was"
              " expected, where the result tells. A limit far above the plan is not drawn; the table has it.",
              "draw_memory", figures[:_MOST_BARS])])


def _forecasts(runs: Sequence[Run]) -> Section | None:
    """Bytes that were expected against bytes read."""
    figures = [(run.name, run.number("planned_bytes_read"), run.number("bytes_read")) for run in runs]
    rows = [[name, texts.size(planned), texts.size(read), texts.ratio(planned / read if read else None)]
            for name, planned, read in figures if planned is not None and read is not None]
    if not rows:
        return None
    return Section("Bytes: expected and read", tables=[Table(["run", "expected", "read", "expected / read"], rows)])


def points(runs: Sequence[Run]) -> list[Point]:
    """Approximations among the runs, those that have ended in trade-offs included, in order. Where another
    run has proved the diameter of the same store, quality is of that."""
    proved = {run.value("store_digest"): run.number("lower") for run in runs
              if run.value("exact") is True and run.value("store_digest")}
    result: list[Point] = []
    for run in runs:
        if run.family == "tradeoff" and run.result is not None:
            result += [_cell(run, row) for row in run.result.get("rows", ()) if _number(row, "seconds") is not None]
        elif run.number("estimate") is not None and run.wall is not None:
            estimate, known = run.number("estimate"), proved.get(run.value("store_digest"))
            quality = run.number("ratio")
            if quality is None and known and estimate is not None:
                quality = estimate / known
            result.append(Point(run.name, run.method, run.wall, estimate, quality, run.number("lower"),
                                run.number("upper")))
    return result


def _number(row: dict[str, object], name: str) -> float | None:
    value = row.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _cell(run: Run, row: dict[str, object]) -> Point:
    seconds = _number(row, "seconds")
    assert seconds is not None
    return Point(f"{run.name}: {row.get('cell')}", str(row.get("method")), seconds, _number(row, "estimate"),
                 _number(row, "ratio"), _number(row, "lower"), _number(row, "upper"))


def _approximations(runs: Sequence[Run]) -> Section | None:
    """Quality against its price, estimates over D where D is known; None where nothing was approximated."""
    shown = points(runs)
    if not shown:
        return None
    rows = [[point.name, point.method, texts.count(point.lower), texts.count(point.upper),
             texts.count(point.estimate), texts.ratio(point.quality), texts.duration(point.seconds)] for point in shown]
    head = ["approximation", "method", "lower", "upper", "paper's estimate", "estimate / D", "time"]
    section = Section("Approximations: quality and price", [
        "Lower and upper are proved. The estimate is that of the paper's formula; it may lie on either side of D."],
        [Table(head, rows, words=2)])
    if any(point.quality is not None for point in shown):
        section.plots.append(Plot(
            "quality", "Quality of estimates against time",
            "Each mark is one approximation: to the left is cheaper, and 1 is the diameter itself. Bars: proved bounds"
            " over D.", "draw_quality", shown))
    if any(point.width is not None for point in shown):
        section.plots.append(Plot(
            "widths", "Width of proved intervals against time",
            "(upper - lower) / lower of each approximation: 0 is a proved diameter, and to the left is cheaper.",
            "draw_widths", shown))
    return section
