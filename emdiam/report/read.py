"""From files to the runs of a report: a batch's folder, results.jsonl, results of single commands, and their events.

What is read: a folder with results.jsonl (of `emdiam batch`) or tradeoff.json (of `emdiam tradeoff`); a
results.jsonl; a JSON file that a command printed with --json. The events of a job are in
jobs/NAME/events.jsonl beside results.jsonl, or in NAME.events.jsonl or events.jsonl beside a result.

Events are one JSON object a line; docs/events.md has the records. A line that is no event (the last one of a run that
was killed may be cut off) is counted, not refused: a report on a broken night is what one wants most then."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..runs.registry import APPROXIMATIONS, EXACT
from .records import ANSWERED, FAILED, OPEN, STOPPED, Bound, Report, Run, Spell, Track, Traversal

RESULTS, TRADEOFF, EVENTS = "results.jsonl", "tradeoff.json", "events.jsonl"
# Options that a batch adds to every command.
_ADDED = ("--checkpoint=", "--events=", "--json", "--resume")
_REMEDY = "give the folder of a batch or a trade-off, a results.jsonl, or what a command printed with --json"
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


def _job(data: dict[str, Any], place: str) -> Run:
    """A job of a batch."""
    if isinstance(data.get("method"), str) and "traversals" in data:
        return _single(place, data, None)  # a bare result
    result = data.get("result") if isinstance(data.get("result"), dict) else None
    command, exit_code, sentence = data.get("command"), data.get("exit_code"), data.get("sentence")
    words = [str(word) for word in command] if isinstance(command, list) else []
    seconds, peak = data.get("seconds"), data.get("peak_rss_bytes")
    return Run(
        name=str(data.get("job") or place), status=_STATUSES.get(str(data.get("status")), OPEN),
        family=_family(words, result), method=_method(words, result), graph=_graph(words),
        command=shlex.join([word for word in words if not word.startswith(_ADDED)]),
        exit_code=exit_code if isinstance(exit_code, int) else None, result=result,
        sentence=None if sentence is None else str(sentence),
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
        peak_rss_bytes=peak if isinstance(peak, int) else None)


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
