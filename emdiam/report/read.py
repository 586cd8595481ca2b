"""From files to the runs of a report: a batch's folder, results.jsonl, results of single commands.

What is read: a folder with results.jsonl (of `emdiam batch`) or tradeoff.json (of `emdiam tradeoff`); a
results.jsonl; a JSON file that a command printed with --json. The events of a job are in
jobs/NAME/events.jsonl beside results.jsonl, or in NAME.events.jsonl or events.jsonl beside a result.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..api_approx import METHODS as APPROXIMATIONS
from ..api_exact import METHODS as EXACT
from ..errors import InputError
from .events import read_events
from .records import ANSWERED, FAILED, OPEN, STOPPED, Report, Run

RESULTS, TRADEOFF, EVENTS = "results.jsonl", "tradeoff.json", "events.jsonl"
# Options that a batch adds to every command.
_ADDED = ("--checkpoint=", "--events=", "--json", "--resume")
_REMEDY = "give the folder of a batch or a trade-off, a results.jsonl, or what a command printed with --json"
_ENDS = {0: ANSWERED, 3: STOPPED}
_STATUSES = {"done": ANSWERED, "failed": FAILED, "stopped": STOPPED, "skipped": OPEN}


def read_report(sources: Sequence[str | Path]) -> Report:
    """The report on all `sources`, in their order. Raises InputError for one that is no result."""
    if not sources:
        raise InputError("there is nothing to report on", remedy=_REMEDY)
    report = Report(", ".join(str(source) for source in sources))
    for source in sources:
        _read_one(Path(source), report)
    for run in report.runs:
        if run.track is not None and run.track.n_skipped:
            report.notes.append(f"{run.track.n_skipped:,} of the lines of the events of {run.name} are no events, and"
                                " are left out")
    return report


def _read_one(source: Path, report: Report) -> None:
    if source.is_dir():
        inside = [source / name for name in (RESULTS, TRADEOFF) if (source / name).is_file()]
        if not inside:
            raise InputError(f"this folder has neither {RESULTS} nor {TRADEOFF}", path=source, remedy=_REMEDY)
        source = inside[0]
    text = _text(source)
    if source.suffix == ".jsonl":
        _read_lines(source, text, report)
        return
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not JSON ({error})", path=source, remedy=_REMEDY) from None
    several = data.get("runs") if isinstance(data, dict) else None
    if isinstance(several, list):
        report.runs += [_single(f"{source.stem} {i + 1}", one, source) for i, one in enumerate(several)]
    else:
        report.runs.append(_single(source.stem, data, source))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("this is not a text in UTF-8", path=path, remedy=_REMEDY) from None
    except OSError as error:
        raise InputError(error.strerror or str(error), path=path, remedy=_REMEDY) from None


def _read_lines(source: Path, text: str, report: Report) -> None:
    """A line a job; of a job that was run again, the last one counts. A last line that was cut off is told."""
    runs: dict[str, Run] = {}
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            if not isinstance(data, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError) as error:
            if number == len(lines) and not text.endswith("\n"):
                report.notes.append(f"the last line of {source.name} is cut off, and is left out")
                continue
            raise InputError(f"this is not the result of a job ({error})", path=source, line=number,
                             remedy=_REMEDY) from None
        run = _job(data, f"line {number}")
        run.track = _events(source.parent / "jobs" / _folder_name(run.name) / EVENTS)
        runs[run.name] = run
    report.runs += [one for run in runs.values() for one in _spread(run)]


def _spread(run: Run) -> list[Run]:
    """A job of several numbers of masters is a run for each."""
    several = run.value("runs")
    if not isinstance(several, list) or not all(isinstance(one, dict) for one in several):
        return [run]
    return [replace(run, name=f"{run.name} {i}", result=one, seconds=None, track=None)
            for i, one in enumerate(several, 1)] or [run]


def _folder_name(name: str) -> str:
    """A name that is no path: what a file of results says must not lead out of its folder."""
    return name if Path(name).name == name else "-"


def _first(data: dict[str, Any], *names: str) -> Any:
    return next((data[name] for name in names if data.get(name) is not None), None)


def _job(data: dict[str, Any], place: str) -> Run:
    """A job of a batch."""
    if isinstance(data.get("method"), str) and "traversals" in data:
        return _single(place, data, None)  # a bare result
    result = data.get("result") if isinstance(data.get("result"), dict) else None
    command, exit_code = _first(data, "command", "command_line"), data.get("exit_code")
    words = [str(word) for word in command] if isinstance(command, list) else _words(str(command or ""))
    run = Run(
        name=str(_first(data, "job", "name") or place), status=_status(data, result), family=_family(words, result),
        method=_method(words, result), graph=str(_first(data, "graph", "store") or _graph(words)),
        command=shlex.join([word for word in words if not word.startswith(_ADDED)]),
        exit_code=exit_code if isinstance(exit_code, int) else None, result=result)
    sentence = _first(data, "sentence", "reason", "message", "error")
    run.sentence = None if sentence is None else str(sentence)
    seconds, peak = _first(data, "seconds", "wall_seconds"), data.get("peak_rss_bytes")
    run.seconds = float(seconds) if isinstance(seconds, int | float) else None
    run.peak_rss_bytes = peak if isinstance(peak, int) else None
    return run


def _status(data: dict[str, Any], result: dict[str, Any] | None) -> str:
    """The word of the batch for how the job ended, or else its exit code."""
    code = data.get("exit_code")
    ended = _STATUSES.get(str(data.get("status")))
    if ended is not None:
        return ended
    if isinstance(code, int):
        return _ENDS.get(code, FAILED)
    return ANSWERED if result is not None else OPEN


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is not closed
        return command.split()


def _graph(words: list[str]) -> str:
    """The first argument of the command that is no option."""
    start = 2 if words[:1] == ["emdiam"] else 1
    given = [word for word in words[start:] if not word.startswith("-")]
    generated = words[start - 1 : start] == ["generate"]  # its first argument is the class
    return given[1] if generated and len(given) > 1 else next(iter(given), "")


def _family(words: list[str], result: dict[str, Any] | None) -> str:
    named = words[1:2] if words[:1] == ["emdiam"] else words[:1]
    if named:
        return named[0]
    method = (result or {}).get("method")
    if method in EXACT:
        return "exact"
    return "approx" if method in APPROXIMATIONS else "tradeoff" if "rows" in (result or {}) else ""


def _method(words: list[str], result: dict[str, Any] | None) -> str:
    for i, word in enumerate(words):
        if word == "--method" and i + 1 < len(words):
            return words[i + 1]
        if word.startswith("--method="):
            return word.split("=", 1)[1]
    return str((result or {}).get("method") or "")


def _single(name: str, data: Any, source: Path | None) -> Run:
    """What one command printed with --json."""
    if not isinstance(data, dict) or not ({"method", "rows"} & set(data)):
        raise InputError("this is not the result of exact, approx or tradeoff", path=source, remedy=_REMEDY)
    if "rows" in data:
        rows = data["rows"]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError("this is not the result of a trade-off", path=source, remedy=_REMEDY)
        ended = len(rows) == data.get("n_cells", len(rows)) and all(row.get("status") == "ended" for row in rows)
        sentence = None if ended else "some cells failed, were stopped or have not been run"
        return Run(name, ANSWERED if ended else STOPPED, "tradeoff", "tradeoff", str(data.get("store") or ""),
                   sentence=sentence, result=data)
    exact = data.get("exact") is True or data.get("estimate") is not None
    enough = isinstance(data.get("details"), dict) and data["details"].get("enough") is not None
    status = ANSWERED if exact or enough else STOPPED
    run = Run(name, status, _family([], data), str(data["method"]), result=data)
    if status == STOPPED:
        run.sentence = "stopped before the diameter was proved"
    if source is not None:
        run.track = _events(source.with_suffix(".events.jsonl"), source.with_name(EVENTS))
        _ask(run)
    return run


def _ask(run: Run) -> None:
    """The command line as the events have it: options that were not given are left out."""
    if run.track is None or not run.track.command:
        return
    given = {name: value for name, value in run.track.arguments.items() if value not in (None, False, [], "")}
    run.graph = str(given.pop("store", ""))
    options = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in given.items())
    run.command = f"emdiam {run.track.command} {run.graph}" + (f" with {options}" if options else "")


def _events(*places: Path) -> Any:
    return next((read_events(place) for place in places if place.is_file()), None)
