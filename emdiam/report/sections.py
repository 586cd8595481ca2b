"""What a report says: the sections of a document, from its runs.

A section about which no run tells anything says so in a sentence instead of showing an empty table.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._version import __version__
from . import plots, texts
from .document import Document, Section, Table
from .records import ANSWERED, FAILED, OPEN, STOPPED, Report, Run
from .texts import NONE
from .tradeoffs import tradeoff_section

_WORDS = {ANSWERED: "answered", STOPPED: "stopped with an interval", FAILED: "failed", OPEN: "not run"}
_LEAST_SHARE = 0.02  # of the time of a run, for a phase in the table
_LATE = "the events of a run, which --events FILE.jsonl keeps, tell of it"


def document(report: Report) -> Document:
    """The whole report."""
    runs = report.runs
    parts = [f"{report.count(status):,} {_WORDS[status]}" for status in _WORDS if report.count(status)]
    lead = f"{_runs(len(runs))}: {', '.join(parts)}." if runs else "There are no runs in it yet."
    sections = [asked(runs), answers(runs), unanswered(runs, report.notes)]
    if runs:
        sections += [compared(runs), bounds(runs), frontiers(runs), phases(runs), memory(runs), forecasts(runs),
                     tradeoff_section(runs)]
    return Document("emdiam report", lead, _tiles(report), [part for part in sections if part is not None],
                    f"Made by emdiam {__version__} from {report.source}. Distances are numbers of edges; D is the"
                    " largest finite distance, over all components.")


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number:,} runs"


def _tiles(report: Report) -> list[tuple[str, str]]:
    runs = report.runs
    if len(runs) == 1:
        run = runs[0]
        own = [(texts.bounds(run), "proved"), (texts.duration(run.wall), "time"),
               (texts.count(texts.traversals(run)), "traversals"), (texts.size(run.number("bytes_read")), "read"),
               (texts.size(run.peak), "peak memory")]
        return [tile for tile in own if tile[0] != NONE]
    seconds = sum(run.wall or 0.0 for run in runs)
    peak = max((run.peak or 0.0 for run in runs), default=0.0)
    tiles = [(f"{report.count(status):,}", _WORDS[status]) for status in _WORDS if report.count(status)]
    tiles += [(texts.duration(seconds), "time of all runs")] if seconds else []
    return tiles + ([(texts.size(peak), "largest peak memory")] if peak else [])


def asked(runs: Sequence[Run]) -> Section:
    """Which command on which graph."""
    rows = [[run.name, run.family or NONE, run.method or NONE, run.graph or texts.shortened(
        run.value("store_digest") or NONE), _asked_of(run)] for run in runs]
    section = Section("What was asked")
    if rows:
        section.tables = [Table(["run", "command", "method", "graph", "command line or limits"], rows, words=5)]
    else:
        section.paragraphs = ["No run is in the source yet."]
    return section


def _asked_of(run: Run) -> str:
    if run.command:
        return run.command
    parts = [f"memory {texts.size(run.number('memory_limit_bytes'))}"
             if run.number("memory_limit_bytes") is not None else ""]
    parts += [f"device {run.value('device')}" if run.value("device") else ""]
    parts += [f"seed {run.value('seed')}" if run.value("seed") is not None else ""]
    return ", ".join(part for part in parts if part) or NONE


def answers(runs: Sequence[Run]) -> Section:
    """Diameters, bounds and witnesses."""
    told = [run for run in runs if run.number("lower") is not None and run.family != "tradeoff"]
    section = Section("Answers")
    if not told:
        section.paragraphs = ["No run has proved a bound on a diameter."]
        return section
    head = ["run", "diameter", "proved", "paper's estimate", "witness", "vertices", "edges"]
    rows = [[run.name, texts.diameter(run), texts.bounds(run), texts.estimate(run), texts.witness(run),
             texts.count(run.number("n_vertices")), texts.count(run.number("n_edges"))] for run in told]
    if all(row[3] == NONE for row in rows):
        head, rows = [head[i] for i in (0, 1, 2, 4, 5, 6)], [[row[i] for i in (0, 1, 2, 4, 5, 6)] for row in rows]
    section.paragraphs = ["A diameter is stated only where it is proved; else the interval is what is proved. The"
                          " witness is a pair of vertices at the distance that the lower bound states."]
    section.tables = [Table(head, rows, words=len(head) - 2)]
    section.folded = [(f"A shortest path of {run.name}", line) for run in told
                      if (line := texts.path(run)) is not None]
    return section


def unanswered(runs: Sequence[Run], notes: Sequence[str]) -> Section | None:
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


def compared(runs: Sequence[Run]) -> Section:
    """All runs side by side."""
    head = ["run", "how it ended", "proved", "time", "traversals", "levels", "arcs scanned", "read", "peak memory"]
    rows = [[run.name, _WORDS[run.status], texts.bounds(run), texts.duration(run.wall),
             texts.count(texts.traversals(run)), texts.count(run.number("levels")),
             texts.count(run.number("edges_scanned")), texts.size(run.number("bytes_read")), texts.size(run.peak)]
            for run in runs]
    return Section("All runs side by side", tables=[Table(head, rows, words=3)], plots=plots.times(runs))


def bounds(runs: Sequence[Run]) -> Section:
    """How the interval closed."""
    drawn = plots.bounds(runs)
    section = Section("Bounds", plots=drawn)
    if not drawn:
        section.paragraphs = [f"How bounds closed is not known here: {_LATE}."]
    return section


def frontiers(runs: Sequence[Run]) -> Section:
    """Vertices a level."""
    drawn = plots.frontiers(runs)
    section = Section("Frontiers", plots=drawn)
    if not drawn:
        section.paragraphs = [f"How many vertices a level holds is not known here: {_LATE}."]
    return section


def phases(runs: Sequence[Run]) -> Section:
    """Time and bytes by phase."""
    section = Section("Where time and bytes went", plots=plots.phases(runs))
    rows = []
    for run in runs:
        spells = plots.spells(run)
        least = _LEAST_SHARE * sum(seconds for _, seconds, _ in spells)
        rows += [[run.name, name, texts.duration(seconds), texts.size(read)]
                 for name, seconds, read in spells if seconds >= least]
    if rows:
        section.paragraphs = [f"Phases that took less than {100 * _LEAST_SHARE:.0f} % of a run are left out of the"
                              " table."]
        section.tables = [Table(["run", "phase", "time", "read"], rows, words=2)]
    else:
        section.paragraphs = ["No run tells how long its phases took."]
    return section


def memory(runs: Sequence[Run]) -> Section:
    """Plans against peaks."""
    told = [run for run in runs if run.peak is not None]
    section = Section("Memory: planned and measured", plots=plots.memory(told))
    if not told:
        section.paragraphs = ["No run has measured its peak memory."]
        return section
    rows = []
    for run in told:
        planned, expected, peak = run.number("planned_rss_bytes"), run.number("expected_rss_bytes"), run.peak
        rows.append([run.name, texts.size(run.number("memory_limit_bytes")), texts.size(planned),
                     texts.size(expected), texts.size(peak), texts.ratio(planned / peak if planned and peak else None)])
    section.paragraphs = ["The plan is a promise: no peak may exceed it. It reserves what the worst graph of this size"
                          " needs; what a run does not use, it does not take from the system."]
    section.tables = [Table(["run", "limit", "planned", "expected", "measured peak", "planned / measured"], rows)]
    return section


def forecasts(runs: Sequence[Run]) -> Section | None:
    """Bytes that were expected against bytes read."""
    rows = []
    for run in runs:
        planned, read = run.number("planned_bytes_read"), run.number("bytes_read")
        if planned is not None and read is not None:
            rows.append([run.name, texts.size(planned), texts.size(read),
                         texts.ratio(planned / read if read else None)])
    if not rows:
        return None
    return Section("Bytes: expected and read", tables=[Table(["run", "expected", "read", "expected / read"], rows)])
