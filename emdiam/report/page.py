"""From sources to a written report in one of the formats; the jinja2 templates are in templates/.

The report is first a list of sections of sentences, tables and plots, then HTML or Markdown. Answers come first, the
arguments of the runs last. A section without data is omitted. drawing.py draws plots on demand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from .._version import __version__
from ..errors import InputError, plain
from ..links import followed
from ..tables import table_text
from . import answers, graphs, texts, tradeoff_page
from .answers import WORDS, ending, headline
from .parts import (
    LIMIT_RUNS,
    Document,
    Plot,
    Point,
    ReportTable,
    Section,
    figure_of,
    fold_long,
    folded,
    halved,
    multiples,
    points,
    table_of,
)
from .read import read_report
from .records import ANSWERED, START, STOPPED, Report, Run, Track
from .texts import NONE

FORMATS = ("html", "md", "json", "png")
_DOTS = 150
_EXTRA = "pip install 'emdiam[plots]', or choose the format md or json"
# Special characters of Markdown or HTML, and line ends, which would break a table.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~&])")


def make_report(sources: Sequence[str | Path], format: str) -> tuple[Report, str]:
    """The report on `sources`, and its text as "html", "md" or "json".

    Raises InputError for a source that is not a result, and for "html" without matplotlib.
    """
    if format not in FORMATS[:3]:
        raise InputError("a report is no such text", text=format, remedy="choose from: html, md, json")
    if format == "html":
        check_plots()
    report = read_report(sources)
    return report, report_text(report, format)


def report_text(report: Report, format: str) -> str:
    """The text of a report, with a final line end; format as in make_report."""
    if format == "json":
        return json.dumps(plain(report.to_dict()), indent=1, allow_nan=False) + "\n"
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(loader=PackageLoader("emdiam.report"), autoescape=format == "html", trim_blocks=True,
                            undefined=StrictUndefined, keep_trailing_newline=True)
    templates.filters |= {"anchor": _anchor, "drawn": _drawn, "escaped": _escaped, "tabulated": _tabulated}
    return templates.get_template(f"report.{format}").render(page=document(report))


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _drawn(plot: Plot) -> str:
    """A plot as an element of a page."""
    from .drawing import inline_svg

    return inline_svg(plot.draw(), plot.name, plot.title)


def _escaped(text: str) -> str:
    """Text escaped for Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _tabulated(table: ReportTable) -> str:
    """A table as Markdown."""
    head, *rows = [[_escaped(cell) for cell in row] for row in (table.head, *table.rows)]
    return table_text(head, rows, range(table.words), "pipe")


def check_plots() -> None:
    """Raise InputError if plots cannot be drawn."""
    if find_spec("matplotlib") is None:
        raise InputError("plots need matplotlib, which is not installed", remedy=_EXTRA)


def draw_figures(report: Report, folder: Path) -> list[Path]:
    """Write every plot of the report as PNG to `folder`, made if absent; return the files. Raises InputError."""
    check_plots()
    from .drawing import write_image

    files = []
    try:
        followed(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for section in document(report).sections:
            for plot in section.plots:
                files.append(folder / f"{plot.name}.png")
                write_image(plot.draw(), files[-1], dpi=_DOTS, metadata={"Software": None})
    except OSError as error:
        raise InputError(f"the figures cannot be written ({error.strerror})", path=folder) from None
    return files


_TITLE = "emdiam report"
_LEAST_SHARE = 0.02  # least share of a run's time for a phase to be in the table
_STARTUP = ("Start-up is the time before the search: a run loads the graph, and compiles or loads kernels. Runs"
            " are compared by the search, which is the rest.")
_LIMIT_BARS = 40


def document(report: Report) -> Document:
    """The whole report."""
    runs = report.runs
    title, lead, sections = _TITLE, _lead(report), _sections(report)
    if len(runs) == 1 and runs[0].family == "tradeoff":
        (run,) = runs
        title, lead = tradeoff_page.title(run), tradeoff_page.lead(run)
        sections = [*tradeoff_page.sections(run), _unanswered(runs, report.notes), _closed(_asked(runs))]
    return Document(title, lead, _tiles(runs) if title == _TITLE else [], list(filter(None, sections)),
                    f"Made by emdiam {__version__} from {report.source}. {answers.units_text(runs)}", _made(report))


def _sections(report: Report) -> list[Section | None]:
    """The sections of a report on runs of any kind: answers, by graph if there are several runs, then costs."""
    runs, of_kinds = report.runs, answers.sections(report.runs)
    whole = graphs.section(runs)
    if whole is not None:
        for part in filter(None, of_kinds):
            part.closed = True
            whole.plots += [replace(plot, title=f"{plot.caption}: {part.title.lower()}") for plot in part.plots]
            whole.legend = " ".join(filter(None, (whole.legend, part.legend)))
            part.plots, part.legend = [], ""
        rows = [row[0] for table in whole.tables for row in table.rows]
        whole.plots.sort(key=lambda plot: rows.index(plot.caption))
        whole.plots = [replace(plot, caption="") for plot in whole.plots]
    approximations = _approximations(runs)
    return [whole, _unanswered(runs, report.notes), *of_kinds,
            _closed(approximations) if len(runs) > LIMIT_RUNS else approximations,
            *map(_closed, (_costs(runs), _bounds(runs), _frontiers(runs), _phases(runs), _plans(runs), _asked(runs)))]


def _closed(section: Section | None) -> Section | None:
    """The section, closed on a page."""
    return section and replace(section, closed=True)


def _made(report: Report) -> str:
    """The time of the runs, and the time, machine and command of the page."""
    moments = sorted(texts.moment(one) for run in report.runs for one in (run.began, run.ended) if one)
    versions = sorted({str(run.value("version")) for run in report.runs if run.value("version")})
    span = " to ".join(dict.fromkeys((moments[0], moments[-1]))) if moments else ""
    parts = [f"Run {span} by emdiam {', '.join(versions) or __version__}."] if span else []
    return " ".join([*parts, f"Page of {texts.moment(report.at)} on {report.host}, by: emdiam report {report.source}"])


def _lead(report: Report) -> str:
    """One sentence on all runs."""
    runs = report.runs
    if not runs:
        return "There are no runs in it yet."
    if len(runs) == 1:
        (run,) = runs
        return f"{texts.graph(run)}: {headline(run)}."
    bounded = all(run.number("lower") is not None for run in runs if run.status == STOPPED)
    words = WORDS | ({STOPPED: "stopped with bounds"} if bounded else {})
    parts = [", ".join(f"{report.count(status):,} {word}" for status, word in words.items() if report.count(status))]
    seconds, peak = sum(run.wall or 0.0 for run in runs), max(run.peak or 0.0 for run in runs)
    parts += [f"{texts.duration(seconds)} in all"] if seconds else []
    parts += [f"the largest peak of memory was {texts.size(peak)}"] if peak else []
    return f"{len(runs):,} runs: {'; '.join(parts)}."


def _tiles(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """The figures of a single run."""
    if len(runs) != 1:
        return []
    (run,) = runs
    costs = [(texts.duration(run.search), "search"), (texts.duration(run.startup), "start-up"),
             (texts.count(run.traversals), "traversals"), (texts.size(run.number("bytes_read")), "read"),
             (texts.size(run.peak), "peak memory")]
    return answers.tiles(run) + [tile for tile in costs if tile[0] != NONE]


def _asked(runs: Sequence[Run]) -> Section | None:
    """The commands of the runs and their graphs."""
    if not runs:
        return None
    untold = [] if any(run.track or run.family == "tradeoff" for run in runs) else [
        "The events of a run, which --events FILE.jsonl keeps, would show how its bounds closed, and frontiers."]
    table = table_of(runs, 5, {
        "command": lambda run: run.family or NONE, "method": lambda run: run.method or NONE,
        "graph": lambda run: run.graph or run.value("store_path") or NONE, "limits": _limits_of})
    commands = [(run.name, run.command) for run in runs if run.command]
    return Section("Runs and their options", untold, [table],
                   folded=folded(commands, "Command"))


def _limits_of(run: Run) -> str:
    memory = run.number("memory_limit_bytes")
    parts = [f"memory {texts.size(memory)}" if memory is not None else "",
             f"device {run.value('device')}" if run.value("device") else "",
             f"seed {run.value('seed')}" if run.value("seed") is not None else ""]
    return ", ".join(filter(None, parts)) or NONE


def _unanswered(runs: Sequence[Run], notes: Sequence[str]) -> Section | None:
    """All runs without a complete answer, with their sentences."""
    missing = [run for run in runs if run.status != ANSWERED]
    if not missing and not notes:
        return None
    table = table_of(missing, 4, {
        "how it ended": lambda run: ending(run),
        "exit code": lambda run: NONE if run.exit_code is None else str(run.exit_code),
        "why": lambda run: run.sentence or NONE})
    return Section("Runs without an answer", [note[:1].upper() + note[1:] + "." for note in notes],
                   halved(table, "runs") if missing else [])


def _costs(runs: Sequence[Run]) -> Section | None:
    """The cost of each run, with a plot of times if there are several runs; None without data."""
    runs = [run for run in runs if run.wall is not None]
    if not runs:
        return None
    # A trade-off's time is that of the processes of its cells, each with its own start-up.
    bars = [(run.name, run.wall if run.search is None else run.search, run.startup, run.status)
            for run in runs if run.family != "tradeoff"]
    caption = ("Dots, and the first figure: the search, or the work of another job; hollow where it was stopped or"
               " failed. Grey bars, and the second figure: start-up, where it is known.")
    plots = [Plot("times", "Time of each run" + (f" (the first {_LIMIT_BARS})" if len(bars) > _LIMIT_BARS else ""),
                  caption, "draw_times", bars[:_LIMIT_BARS])] if len(bars) > 1 else []
    searched = all(run.number("lower") is not None for run in runs if run.search is not None)
    work = "search" if searched else "work"
    return Section("Cost", [_STARTUP], [fold_long(table_of(runs, 2, {
        "how it ended": lambda run: ending(run), "time": lambda run: texts.duration(run.wall),
        work: lambda run: texts.duration(run.search), "start-up": lambda run: texts.duration(run.startup),
        "traversals": lambda run: texts.count(run.traversals), "levels": figure_of(texts.count, "levels"),
        "arcs scanned": figure_of(texts.count, "edges_scanned"), "read": figure_of(texts.size, "bytes_read"),
        "peak memory": lambda run: texts.size(run.peak)}), plots)], plots)


def _closing(run: Run) -> Track | None:
    """The track of a run with known bounds that changed, completed with the bounds of its result."""
    if run.track is None:
        return None
    bounds = [bound for bound in run.track.bounds if None not in (bound.lower, bound.upper)]
    lower, upper = run.value("lower"), run.value("upper")
    if bounds and None not in (lower, upper) and (lower, upper) != (bounds[-1].lower, bounds[-1].upper):
        bounds.append(replace(bounds[-1], at=run.track.seconds, search=run.track.search, lower=lower, upper=upper))
    return replace(run.track, bounds=bounds) if len(bounds) > 1 else None


def _bounds(runs: Sequence[Run]) -> Section | None:
    """The interval against time and against traversals, a small plot per run."""
    return multiples("Bounds", (
        "The proved upper bound (orange) and lower bound (blue) on D from the first traversal on, against the time of"
        " the search and against traversals. The band between them is the interval of D; where it closes, D is"
        " proved."), runs, _closing, "bounds", "draw_bounds", _ends)


def _ends(run: Run, track: Track) -> str:
    """The last bounds of a run, and their time."""
    last = track.bounds[-1]
    ends = f"{last.lower:,} ≤ D ≤ {last.upper:,}" if last.lower != last.upper else f"D = {last.lower:,}"
    spent = last.search
    if run.status != ANSWERED:
        ends, spent = f"{'stopped' if run.status == STOPPED else 'failed'} with {ends}", track.search
    return (f"{texts.graph(run)}: {ends} after {texts.duration(spent)} of search; start-up with imports"
            f" {texts.duration(track.seconds - track.search)}.")


def _frontiers(runs: Sequence[Run]) -> Section | None:
    """Vertices by level, of some traversals of each run."""
    return multiples("Frontiers", (
        "Vertices by their distance from the source, of the first traversals of each run. A high narrow hill is a graph"
        " whose levels are few and large, which a streamed run reads several times over; a long low plateau is one of"
        " many thin levels."), runs, lambda run: run.track if run.track and run.track.profiles else None, "frontier",
        "draw_frontiers")


def _spells(run: Run) -> list[tuple[str, float, int | None]]:
    """(phase, seconds, bytes read) of a run, from its events, or else from its result."""
    if run.track is not None and run.track.spells:
        return [(spell.phase, spell.seconds, spell.bytes_read) for spell in run.track.spells if spell.seconds > 0]
    if run.startup is None or run.search is None:
        return []
    return [(name, seconds, None) for name, seconds in ((START, run.startup), ("search", run.search)) if seconds > 0]


def _phases(runs: Sequence[Run]) -> Section | None:
    """Time and bytes by phase; None without data."""
    rows = []
    for run in runs:
        spells = _spells(run)
        least = _LEAST_SHARE * sum(seconds for _, seconds, _ in spells)
        rows += [[run.name, name, texts.duration(seconds), texts.size(read)]
                 for name, seconds, read in spells if seconds >= least and run.family != "tradeoff"]
    section = multiples("Where time went", (
        "Wall seconds of each phase, in the order in which they began. Grey is start-up: imports (start), loading,"
        " kernels that are compiled or loaded. Blue is the search. Bytes stand beside it where a search read any."),
        runs, lambda run: run.track and run.family != "tradeoff" and _spells(run), "phases", "draw_phases")
    if section is not None:
        section.tables = [ReportTable(["run", "phase", "time", "read"], rows, 2, (
            f"The same as a table, without phases of less than {100 * _LEAST_SHARE:.0f} % of a run"))]
    return section


def _plans(runs: Sequence[Run]) -> Section | None:
    """Plans against peaks, and predicted against read bytes; None without a measured peak."""
    shown = [run for run in runs if run.peak is not None and run.number("planned_rss_bytes") is not None]
    if not shown:
        return None
    bars = [(run.name, run.peak, *(run.number(name) for name in (
        "planned_rss_bytes", "expected_rss_bytes", "memory_limit_bytes"))) for run in shown[:_LIMIT_BARS]]
    plots = [Plot("memory", "Peak memory against the plan",
                  "Bars: measured peak of resident memory. Tick: the plan, which a bar may never pass. Diamond:"
                  " the predicted peak, if the result has it. A limit far above the plan is in the table alone.",
                  "draw_memory", bars)]
    return Section("Planned and measured", [
        "The plan of memory is a promise: no peak may exceed it. It reserves enough for the worst graph of this size;"
        " a run takes only the memory that it uses."], [fold_long(table_of(shown, 1, {
            "limit": figure_of(texts.size, "memory_limit_bytes"),
            "planned": figure_of(texts.size, "planned_rss_bytes"),
            "predicted": figure_of(texts.size, "expected_rss_bytes"),
            "measured peak": lambda run: texts.size(run.peak),
            "planned / measured": lambda run: texts.ratio(run.number("planned_rss_bytes") or None, run.peak),
            "bytes predicted": figure_of(texts.size, "planned_bytes_read"),
            "bytes read": figure_of(texts.size, "bytes_read")}), plots)], plots)


def _approximations(runs: Sequence[Run]) -> Section | None:
    """Estimates and bounds against their price, a plot per graph; None without approximations."""
    shown = points(runs)
    if not shown:
        return None
    graphs = {graph: [point for point in shown if point.graph == graph and point.estimate is not None]
              for graph in dict.fromkeys(point.graph for point in shown)}
    plots = [Plot(f"quality-{place}", graph, _quality_text(some), "draw_quality", some)
             for place, (graph, some) in enumerate(graphs.items(), 1) if len(some) > 1]
    table = table_of(shown, 3, {
        "graph": lambda point: point.graph, "method": lambda point: point.method,
        "lower": lambda point: texts.value(point.lower), "upper": lambda point: texts.value(point.upper),
        "method's estimate": lambda point: texts.value(point.estimate),
        "estimate / D": lambda point: texts.ratio(point.quality),
        "width": lambda point: NONE if point.width is None else f"{100 * point.width:.0f} %",
        "search": lambda point: texts.duration(point.price),
        "start-up": lambda point: texts.duration(point.startup)}, "approximation")
    if plots and len(runs) > 1:
        table.folded = f"All {len(table.rows):,} as a table"
    return Section("Approximations: quality and price", [
        "Lower and upper are proved bounds, and the width is (upper - lower) / lower. The estimate comes from the"
        " method's formula; it may be below or above D."],
        [table], plots)


def _quality_text(some: Sequence[Point]) -> str:
    known = some[0].diameter is not None
    return ("Each mark is one approximation, to the left a cheaper one"
            + ("; 1 is the diameter itself" if known else "") + ". Bars: what it proved. Start-up is not in the time.")
