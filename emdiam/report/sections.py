"""What a report says: sections of sentences, tables and plots, from its runs, before they are HTML or Markdown.

Answers come first, what was asked last. A section about which no run says anything is left out. drawing.py draws plots
when they are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._version import __version__
from . import texts
from .records import ANSWERED, FAILED, OPEN, STOPPED, Report, Run, number
from .texts import NONE

_WORDS = {ANSWERED: "answered", STOPPED: "stopped with bounds", FAILED: "failed", OPEN: "not run"}
_LEAST_SHARE = 0.02  # of the time of a run, for a phase in the table
# So many runs have plots of their own, those that took longest; more would bury the reader.
_LIMIT_RUNS, _LIMIT_BARS = 12, 40


@dataclass
class Table:
    """Cells as texts. words : how many columns from the left hold words; all others hold figures, which are
    aligned to the right."""

    head: list[str]
    rows: list[list[str]]
    words: int = 1


def table_of(items: Sequence[Any], words: int, columns: Mapping[str, Callable[[Any], str]],
             first: str = "run") -> Table:
    """A row for each item, its name in the column `first`. columns : by its head, the text of its cell for an item."""
    return Table([first, *columns], [[item.name, *(text(item) for text in columns.values())] for item in items], words)


def _figure(text: Callable[[float | None], str], name: str) -> Callable[[Run], str]:
    """The text of a figure of a run's result."""
    return lambda run: text(run.number(name))


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
    parts = [f"{report.count(status):,} {word}" for status, word in _WORDS.items() if report.count(status)]
    n_runs = "1 run" if len(runs) == 1 else f"{len(runs):,} runs"
    lead = f"{n_runs}: {', '.join(parts)}." if runs else "There are no runs in it yet."
    sections = [
        _answers(runs), _unanswered(runs, report.notes), _approximations(runs), _compared(runs),
        _drawn("Bounds", _bounds(runs)), _drawn("Frontiers", _frontiers(runs)), _phases(runs), _memory(runs),
        _forecasts(runs), _asked(runs)]
    return Document("emdiam report", lead, _tiles(report), [part for part in sections if part is not None],
                    f"Made by emdiam {__version__} from {report.source}. Distances are numbers of edges; D is the"
                    " largest diameter of any component.")


def _tiles(report: Report) -> list[tuple[str, str]]:
    runs = report.runs
    if len(runs) == 1:
        run = runs[0]
        tiles = [(texts.bounds(run), "proved"), (texts.duration(run.wall), "time"),
                 (texts.count(run.traversals), "traversals"), (texts.size(run.number("bytes_read")), "read"),
                 (texts.size(run.peak), "peak memory")]
        return [tile for tile in tiles if tile[0] != NONE]
    seconds = sum(run.wall or 0.0 for run in runs)
    peak = max((run.peak or 0.0 for run in runs), default=0.0)
    tiles = [(f"{report.count(status):,}", word) for status, word in _WORDS.items() if report.count(status)]
    tiles += [(texts.duration(seconds), "time of all runs")] if seconds else []
    return tiles + ([(texts.size(peak), "largest peak memory")] if peak else [])


def _asked(runs: Sequence[Run]) -> Section | None:
    """Which command on which graph, command lines folded."""
    if not runs:
        return None
    untold = [] if any(run.track for run in runs) else [
        "The events of a run, which --events FILE.jsonl keeps, would show how its bounds closed, and frontiers."]
    return Section("What was asked", untold, [table_of(runs, 5, {
        "command": lambda run: run.family or NONE, "method": lambda run: run.method or NONE, "graph": _graph_of,
        "limits": _limits_of})], folded=[(f"Command of {run.name}", run.command) for run in runs if run.command])


def _graph_of(run: Run) -> str:
    return run.graph or texts.shortened(run.value("store_digest") or NONE)


def _limits_of(run: Run) -> str:
    memory = run.number("memory_limit_bytes")
    parts = [f"memory {texts.size(memory)}" if memory is not None else "",
             f"device {run.value('device')}" if run.value("device") else "",
             f"seed {run.value('seed')}" if run.value("seed") is not None else ""]
    return ", ".join(filter(None, parts)) or NONE


def _answers(runs: Sequence[Run]) -> Section | None:
    """Diameters, bounds and witnesses; None where no run has proved a bound."""
    shown = [run for run in runs if run.number("lower") is not None and run.family != "tradeoff"]
    if not shown:
        return None
    columns = {
        "graph": _graph_of, "diameter": texts.diameter, "proved": texts.bounds,
        "paper's estimate": _figure(texts.count, "estimate"), "witness": texts.witness,
        "vertices": _figure(texts.count, "n_vertices"), "edges": _figure(texts.count, "n_edges")}
    if all(run.number("estimate") is None for run in shown):
        del columns["paper's estimate"]
    return Section("Answers", [
        "A diameter is stated only where it is proved; else there are bounds. The witness is a pair of vertices as far"
        " apart as the lower bound."], [table_of(shown, len(columns) - 1, columns)],
        folded=[(f"A shortest path of {run.name}", line) for run in shown if (line := texts.path(run)) is not None])


def _unanswered(runs: Sequence[Run], notes: Sequence[str]) -> Section | None:
    """Every run that has not answered, with its sentence."""
    missing = [run for run in runs if run.status != ANSWERED]
    if not missing and not notes:
        return None
    table = table_of(missing, 4, {
        "how it ended": lambda run: _WORDS[run.status],
        "exit code": lambda run: NONE if run.exit_code is None else str(run.exit_code),
        "why": lambda run: run.sentence or NONE})
    return Section("What has no answer", [note[:1].upper() + note[1:] + "." for note in notes],
                   [table] if missing else [])


def _compared(runs: Sequence[Run]) -> Section | None:
    """All runs side by side, and the wall time of each where there are several; None without a run."""
    if not runs:
        return None
    bars = [(run.name, run.wall, run.status) for run in runs if run.wall is not None][:_LIMIT_BARS]
    plots = [Plot("times", "Time of each run",
                  "Wall seconds. Blue: answered; orange, hatched: stopped with bounds, or failed.",
                  "draw_times", bars)] if len(bars) > 1 else []
    return Section("All runs side by side", plots=plots, tables=[table_of(runs, 3, {
        "how it ended": lambda run: _WORDS[run.status], "proved": texts.bounds,
        "time": lambda run: texts.duration(run.wall), "traversals": lambda run: texts.count(run.traversals),
        "levels": _figure(texts.count, "levels"), "arcs scanned": _figure(texts.count, "edges_scanned"),
        "read": _figure(texts.size, "bytes_read"), "peak memory": lambda run: texts.size(run.peak)})])


def _drawn(title: str, plots: list[Plot]) -> Section | None:
    """Plots; None where there are none."""
    return Section(title, plots=plots) if plots else None


def _longest(runs: Sequence[Run], of_run: Callable[[Run], Any]) -> list[tuple[int, Run, Any]]:
    """(place, run, what `of_run` gives of it) of the runs of which it gives something, in order; those that took
    longest where there are many."""
    shown = [(place, run, item) for place, run in enumerate(runs, 1) if (item := of_run(run))]
    shown.sort(key=lambda entry: -(entry[1].wall or 0.0))
    return sorted(shown[:_LIMIT_RUNS], key=lambda entry: entry[0])


def _bounds(runs: Sequence[Run]) -> list[Plot]:
    """The interval against time and against traversals, a pair of panels a run."""
    return [Plot(
        f"bounds-{place}", f"Bounds of {run.name}",
        "The proved lower bound (blue) and upper bound (orange) on D against wall time and against traversals,"
        " from the first traversal on. The band between them is what was not known yet; where it closes, D is"
        f" proved. The last event has {texts.count(track.bounds[-1].lower)} and {texts.count(track.bounds[-1].upper)}.",
        "draw_bounds", track) for place, run, track in _longest(runs, lambda run: run.track if run.track and any(
            None not in (bound.lower, bound.upper) for bound in run.track.bounds) else None)]


def _frontiers(runs: Sequence[Run]) -> list[Plot]:
    """Vertices a level, of some traversals of each run."""
    return [Plot(
        f"frontier-{place}", f"Frontiers of {run.name}",
        "Vertices by their distance from the source, of the first traversals: a high narrow hill is a graph"
        " whose levels are few and large, which a streamed run reads several times over; a long low plateau is"
        " one of many thin levels.", "draw_frontiers", track)
        for place, run, track in _longest(runs, lambda run: run.track if run.track and run.track.profiles else None)]


def _spells(run: Run) -> list[tuple[str, float, int | None]]:
    """(phase, seconds, bytes read) of a run: by its events, or else by its result."""
    if run.track is not None and run.track.spells:
        return [(spell.phase, spell.seconds, spell.bytes_read) for spell in run.track.spells]
    seconds = run.value("seconds")
    return [(name, float(value), None) for name, value in (seconds if isinstance(seconds, dict) else {}).items()
            if name != "total" and isinstance(value, int | float)]


def _phases(runs: Sequence[Run]) -> Section | None:
    """Time and bytes by phase; None where no run tells of them."""
    rows = []
    for run in runs:
        spells = _spells(run)
        least = _LEAST_SHARE * sum(seconds for _, seconds, _ in spells)
        rows += [[run.name, name, texts.duration(seconds), texts.size(read)]
                 for name, seconds, read in spells if seconds >= least]
    plots = [Plot(f"phases-{place}", f"Phases of {run.name}",
                  "Wall seconds of each phase, in the order in which they began" + (
                      ", and bytes read from disk in each." if any(read is not None for _, _, read in spells) else "."),
                  "draw_phases", spells) for place, run, spells in _longest(runs, _spells)]
    return Section("Where time and bytes went", [
        f"Phases that took less than {100 * _LEAST_SHARE:.0f} % of a run are left out of the table."],
        [Table(["run", "phase", "time", "read"], rows, words=2)], plots) if rows else None


def _memory(runs: Sequence[Run]) -> Section | None:
    """Plans against peaks; None where no run has measured its own."""
    shown = [run for run in runs if run.peak is not None]
    if not shown:
        return None
    bars = [(run.name, run.peak, *(run.number(name) for name in (
        "planned_rss_bytes", "expected_rss_bytes", "memory_limit_bytes"))) for run in shown[:_LIMIT_BARS]]
    return Section("Memory: planned and measured", [
        "The plan is a promise: no peak may exceed it. It reserves what the worst graph of this size needs; what a run"
        " does not use, it does not take from the system."], [table_of(shown, 1, {
            "limit": _figure(texts.size, "memory_limit_bytes"),
            "planned": _figure(texts.size, "planned_rss_bytes"), "predicted": _figure(texts.size, "expected_rss_bytes"),
            "measured peak": lambda run: texts.size(run.peak),
            "planned / measured": lambda run: texts.ratio(run.number("planned_rss_bytes") or None, run.peak)})],
        [Plot("memory", "Peak memory against the plan",
              "Bars: measured peak of resident memory. Tick: the plan, which a bar may never pass. Diamond: what was"
              " predicted, where the result tells. A limit far above the plan is not drawn; the table has it.",
              "draw_memory", bars)])


def _forecasts(runs: Sequence[Run]) -> Section | None:
    """Bytes that were predicted against bytes read."""
    shown = [run for run in runs if None not in (run.number("planned_bytes_read"), run.number("bytes_read"))]
    return Section("Bytes: predicted and read", tables=[table_of(shown, 1, {
        "predicted": _figure(texts.size, "planned_bytes_read"), "read": _figure(texts.size, "bytes_read"),
        "predicted / read": lambda run: texts.ratio(run.number("planned_bytes_read"), run.number("bytes_read")),
    })]) if shown else None


def points(runs: Sequence[Run]) -> list[Point]:
    """Approximations among the runs, those that have ended in trade-offs included, in order. Where another
    run has proved the diameter of the same store, quality is of that."""
    proved = {run.value("store_digest"): run.number("lower") for run in runs
              if run.value("exact") is True and run.value("store_digest")}
    result: list[Point] = []
    for run in runs:
        estimate, lower, upper = (run.number(name) for name in ("estimate", "lower", "upper"))
        if run.family == "tradeoff" and run.result is not None:
            for row in run.result.get("rows", ()):
                seconds, *figures = (number(row.get(name)) for name in (
                    "seconds", "estimate", "ratio", "lower", "upper"))
                if seconds is not None:
                    result.append(Point(f"{run.name}: {row.get('cell')}", str(row.get("method")), seconds, *figures))
        elif estimate is not None and run.wall is not None:
            quality, known = run.number("ratio"), proved.get(run.value("store_digest"))
            if quality is None and known:
                quality = estimate / known
            result.append(Point(run.name, run.method, run.wall, estimate, quality, lower, upper))
    return result


def _approximations(runs: Sequence[Run]) -> Section | None:
    """Quality against its price, estimates over D where D is known; None where nothing was approximated."""
    shown = points(runs)
    if not shown:
        return None
    plots = []
    if any(point.quality is not None for point in shown):
        plots.append(Plot(
            "quality", "Quality of estimates against time",
            "Each mark is one approximation: to the left is cheaper, and 1 is the diameter itself. Bars: proved bounds"
            " over D.", "draw_quality", shown))
    if any(point.width is not None for point in shown):
        plots.append(Plot(
            "widths", "Width of proved intervals against time",
            "(upper - lower) / lower of each approximation: 0 is a proved diameter, and to the left is cheaper.",
            "draw_widths", shown))
    return Section("Approximations: quality and price", [
        "Lower and upper are proved. The estimate is that of the paper's formula; it may lie on either side of D."],
        [table_of(shown, 2, {
            "method": lambda point: point.method, "lower": lambda point: texts.count(point.lower),
            "upper": lambda point: texts.count(point.upper),
            "paper's estimate": lambda point: texts.count(point.estimate),
            "estimate / D": lambda point: texts.ratio(point.quality),
            "time": lambda point: texts.duration(point.seconds)}, "approximation")], plots)
