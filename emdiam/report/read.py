"""From files to the runs of a report: a batch's folder, results.jsonl, results of single commands, and their events.

Sources are a folder with results.jsonl (of `emdiam batch`) or tradeoff.json (of `emdiam tradeoff`), a results.jsonl, or
a JSON file printed by a command with --json. The events of a job are in jobs/NAME/events.jsonl beside results.jsonl, or
in NAME.events.jsonl or events.jsonl beside a result.

Each line of events is a JSON object; docs/events.md describes the records. An invalid line (such as a last line cut off
by a kill) is counted, not refused, since a report on a broken batch is especially useful."""

from __future__ import annotations

import json
import math
import shlex
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from ..errors import InputError
from .records import (
    ANSWERED,
    COMMANDS,
    FAILED,
    KERNELS,
    OPEN,
    START,
    STARTUP,
    STOPPED,
    Bound,
    Report,
    Run,
    Spell,
    Track,
    TraversalRecord,
    kind_of,
    number,
    outcome,
)

RESULTS, TRADEOFF, EVENTS, STATE = "results.jsonl", "tradeoff.json", "events.jsonl", "state.json"
_LIMIT_PROFILES = 4
# Options that a batch adds to every command.
_ADDED = ("--checkpoint=", "--events=", "--json", "--resume")
_REMEDY = "give the folder of a batch or a trade-off, a results.jsonl, or the JSON that a command printed"
_STATUSES = {"done": ANSWERED, "failed": FAILED, "stopped": STOPPED, "skipped": OPEN}


def read_report(sources: Sequence[str | Path]) -> Report:
    """The report on all `sources`, in their order. Raises InputError for a source that is not a result."""
    if not sources:
        raise InputError("there is nothing to report on", remedy=_REMEDY)
    report = Report(", ".join(str(source) for source in sources), at=datetime.now(UTC).isoformat(timespec="minutes"),
                    host=socket.gethostname())
    for source in sources:
        _read_one(Path(source), report)
    names: set[str] = set()
    for run in report.runs:
        others = (f"{run.name} ({i})" for i in count(2))
        run.name = next(name for name in chain([run.name], others) if name not in names)
        names.add(run.name)
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
    try:
        text = source.read_text(encoding="utf-8")
        data = None if source.suffix == ".jsonl" else json.loads(text)
    except UnicodeDecodeError:
        raise InputError("this is not a text in UTF-8", path=source, remedy=_REMEDY) from None
    except OSError as error:
        raise InputError(f"this cannot be read ({error.strerror or error})", path=source, remedy=_REMEDY) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not JSON ({error})", path=source, remedy=_REMEDY) from None
    several = data.get("runs") if isinstance(data, dict) else None
    if source.suffix == ".jsonl":
        _read_lines(source, text, report)
    elif isinstance(several, list):
        report.runs += [_single(f"{source.stem} {i}", one, source) for i, one in enumerate(several, 1)]
    else:
        name = source.resolve().parent.name if source.name == TRADEOFF else source.stem
        report.runs.append(_single(name, data, source))


def _read_lines(source: Path, text: str, report: Report) -> None:
    """Read one job per line. The last line of a repeated job counts, and a truncated last line is noted."""
    runs: dict[str, Run] = {}
    lines = text.splitlines()
    for place, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            if not isinstance(data, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError) as error:
            if place == len(lines) and not text.endswith("\n"):
                report.notes.append(f"the last line of {source.name} is cut off, and is left out")
                continue
            raise InputError(f"this is not the result of a job ({error})", path=source, line=place,
                             remedy=_REMEDY) from None
        if isinstance(data.get("record"), str):
            raise InputError("these are events of a run, which have no answer", path=source, line=place,
                             remedy="run it with --json > NAME.json --events NAME.events.jsonl, and give NAME.json")
        run = _job(data, f"line {place}")
        if Path(run.name).name == run.name:  # a name in results must not lead out of the folder
            run.track = _events(source.parent / "jobs" / run.name / EVENTS)
        runs[run.name] = run
    order = {name: place for place, name in enumerate(_jobs_of(source.parent))}
    ordered = sorted(runs.values(), key=lambda run: order.get(run.name, len(order)))
    report.runs += [one for run in ordered for one in _spread(run)]


def _jobs_of(folder: Path) -> list[str]:
    """The jobs of a batch in the order of its file; [] if its state lacks them."""
    try:
        names = json.loads((folder / STATE).read_text(encoding="utf-8"))["jobs"]
        return [str(name) for name in names]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _spread(run: Run) -> list[Run]:
    """The runs of a job, one for each number of masters."""
    several = run.value("runs")
    if not isinstance(several, list) or not all(isinstance(one, dict) for one in several):
        return [run]
    return [replace(run, name=f"{run.name} {i}", result=one, seconds=None, track=None)
            for i, one in enumerate(several, 1)] or [run]


def _job(data: dict[str, Any], place: str) -> Run:
    """The run of a job of a batch."""
    if "job" not in data:
        return _single(place, data, None)  # a bare result
    result = data.get("result") if isinstance(data.get("result"), dict) else None
    command, sentence, seconds = data.get("command"), data.get("sentence"), number(data.get("seconds"))
    words = [str(word) for word in command] if isinstance(command, list) else []
    shown = shlex.join([word for word in words if not word.startswith(_ADDED)])
    words = words[1:] if words[:1] == ["emdiam"] else words
    return Run(
        str(data.get("job") or place), _STATUSES.get(str(data.get("status")), OPEN),
        words[0] if words else kind_of(result or {}), _method(words, result or {}), _graph(words), shown,
        _whole(data.get("exit_code")), None if sentence is None else str(sentence),
        None if seconds is None else float(seconds), _whole(data.get("peak_rss_bytes")), result,
        began=str(data.get("began") or ""), ended=str(data.get("ended") or ""))


def _graph(words: list[str]) -> str:
    """The graph of a command line: its first argument without a dash, or the second one."""
    arguments = [word for word in words[1:] if not word.startswith("-")]
    if words[:1] in (["generate"], ["verify"]) and len(arguments) > 1:  # the first is the class, or the certificate
        return arguments[1]
    return arguments[0] if arguments else ""


def _method(words: list[str], result: dict[str, Any]) -> str:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--method" and following:
            return following
        if word.startswith("--method="):
            return word.removeprefix("--method=")
    return str(result.get("method") or "")


def _single(name: str, data: Any, source: Path | None) -> Run:
    """The run of a single command, from its output with --json."""
    kind = kind_of(data) if isinstance(data, dict) else ""
    if not kind:
        raise InputError(f"this is not the result of {', '.join(COMMANDS[:-1])} or {COMMANDS[-1]}", path=source,
                         remedy=_REMEDY)
    if kind == "tradeoff":
        rows = data["rows"]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError("this is not the result of a trade-off", path=source, remedy=_REMEDY)
    status, sentence = outcome(kind, data)
    ended = "" if source is None else datetime.fromtimestamp(source.stat().st_mtime, UTC).isoformat(timespec="seconds")
    if kind == "tradeoff":
        return Run(name, status, kind, kind, str(data.get("store") or ""), sentence=sentence, result=data, ended=ended)
    run = Run(name, status, kind, str(data.get("method") or ""), str(data.get("store_path") or data.get("store") or ""),
              result=data, sentence=sentence, ended=ended)
    if source is not None:
        run.track = _events(source.with_suffix(".events.jsonl"), source.with_name(EVENTS))
    if run.track is not None and run.track.command:  # without options that were not set
        arguments = {name: value for name, value in run.track.arguments.items() if value not in (None, False, [], "")}
        run.graph = str(arguments.pop("store", ""))
        options = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in arguments.items())
        run.command = f"emdiam {run.track.command} {run.graph}" + (f" with {options}" if options else "")
    return run


def _events(*places: Path) -> Any:
    return next((read_events(place) for place in places if place.is_file()), None)


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
            builder.take(line)
    builder.track.seconds = builder.last
    return builder.track


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _record(line: str) -> tuple[dict[str, Any], float] | None:
    """The event of a line, and its seconds since the start of its run; None for an invalid line."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    at = number(data.get("at")) if isinstance(data, dict) else None
    return (data, float(at)) if at is not None and math.isfinite(at) and at >= 0 else None


def _better(before: float | None, now: float | None, better: Callable[[float, float], float]) -> float | None:
    """The better of two bounds: a proved bound remains valid if a run of the same graph starts again."""
    if before is None or now is None:
        return before if now is None else now
    return better(before, now)


class _Builder:
    """Builds a track from events. Another run in the same file, such as one that resumes a killed run, starts again at
    0; its times are shifted behind the previous run. last : seconds of the last event.

    Time counts for the current phase, except time of kernels, which has its own spell. Time before the first phase is
    START."""

    def __init__(self) -> None:
        self.track = Track()
        self.last = self._shift = 0.0
        self._run: str | None = None
        self._spell: Spell | None = None  # of the current phase
        self._traversals: int | None = None
        self._read, self._kernels = 0, 0.0

    def take(self, line: str) -> None:
        """Add one line."""
        event = _record(line)
        if event is None:
            self.track.n_skipped += 1
            return
        self.track.n_events += 1
        (record, at), run = event, str(event[0].get("run"))
        if run != self._run:
            self._run, self._shift, self._read, self._kernels = run, self.last, 0, 0.0
            self._spell = self._spell_of(START)
        at = max(self.last, at + self._shift)
        self._spend(at - self.last, number(record.get("kernel_seconds")))
        facts = record["facts"] if isinstance(record.get("facts"), dict) else record
        what = record.get("record")
        if what == "begin":
            arguments = record.get("arguments")
            self.track.command = str(record.get("command") or "")
            self.track.arguments = arguments if isinstance(arguments, dict) else {}
        elif what == "traversal":
            self._traversal(facts, at)
        else:
            until = self._spell  # bytes read since the last event belong to the phase that ends here
            phase = str(record.get("phase") or "")
            self._spell = self._spell_of(phase) if phase else None
            self._count(facts, until or self._spell)
            if what == "end" or record.get("finished") is True:
                self._spell = None
        self._bound(facts, at)
        self.last = at

    def _spend(self, seconds: float, kernels: float | None) -> None:
        """Add the seconds since the last event. kernels : total seconds of kernels in the run so far."""
        spent = min(max((kernels or 0.0) - self._kernels, 0.0), seconds)
        self._kernels = max(kernels or 0.0, self._kernels)
        if self._spell is not None:
            self._spell.seconds += seconds - spent
        if spent:
            self._spell_of(KERNELS).seconds += spent
        if self._spell is None or self._spell.phase not in STARTUP:
            self.track.search += seconds - spent

    def _spell_of(self, phase: str) -> Spell:
        spell = next((spell for spell in self.track.spells if spell.phase == phase), None)
        if spell is None:
            spell = Spell(phase)
            self.track.spells.append(spell)
        return spell

    def _count(self, facts: dict[str, Any], spell: Spell | None) -> None:
        """Update the counters of bytes and traversals from an event, if it has them."""
        read, done = _whole(facts.get("bytes_read")), _whole(facts.get("traversals"))
        if done is not None:
            self._traversals = max(done, self._traversals or 0)
        if read is not None and spell is not None:
            spell.bytes_read = (spell.bytes_read or 0) + max(0, read - self._read)
            self._read = max(read, self._read)

    def _traversal(self, facts: dict[str, Any], at: float) -> None:
        before, seconds = self.track.traversals, number(facts.get("seconds"))
        place = _whole(facts.get("number")) or (before[-1].number + 1 if before else 1)
        kind = str(facts.get("kind") or "bfs")
        before.append(TraversalRecord(place, at, kind, None if seconds is None else float(seconds),
                                      _whole(facts.get("bytes_read")), _whole(facts.get("levels"))))
        self._traversals = max(place, self._traversals or 0)
        profile = facts.get("profile")
        if isinstance(profile, list) and len(self.track.profiles) < _LIMIT_PROFILES:
            points = [(int(p[0]), int(p[1])) for p in profile if isinstance(p, list) and len(p) == 2
                      and all(_whole(value) is not None for value in p)]
            if points:
                self.track.profiles.append((f"traversal {place} ({kind})", points))

    def _bound(self, facts: dict[str, Any], at: float) -> None:
        bounds = self.track.bounds
        before = bounds[-1] if bounds else Bound(at, 0.0, None, None, None)
        lower, upper = number(facts.get("lower")), number(facts.get("upper"))
        lower, upper = _better(before.lower, lower, max), _better(before.upper, upper, min)
        if (lower, upper) != (before.lower, before.upper):
            bounds.append(Bound(at, self.track.search, self._traversals, lower, upper))
