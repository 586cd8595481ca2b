"""The settings of a batch (the table [batch], and options of the command line instead), jobs and their dependencies.

Also for the whole file: ${NAME} and ${NAME:-DEFAULT} in texts (OUT, the folder of the batch, and variables of the
environment), and line numbers, which neither the parser of the standard library nor tomlkit reports.

A job depends on the jobs that the file names, and on jobs that make its input files.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from ..errors import InputError, redacted
from ..units import format_size, parse_duration, parse_size

RESULTS = "results.jsonl"


@dataclass(frozen=True)
class Problem:
    """An error in a jobs file. text : a sentence without a full stop. line : 1-based, if known. job : the name of the
    job that cannot run; None if no job can."""

    text: str
    line: int | None = None
    job: str | None = None

    def sentence(self, path: str = "") -> str:
        """The sentence with its place: FILE, line N: JOB: text."""
        place = ", line ".join(part for part in (path, str(self.line) if self.line else "") if part)
        return ": ".join(part for part in (place, self.job and f"job {self.job}", self.text) if part)


@dataclass(frozen=True)
class Job:
    """One command to run.

    name : unique, also the name of its folder. command : e.g. "exact". arguments : of the command line, from the
    command on, without additions of the batch. method : of exact and approx; None: the default. options : by long names
    without dashes, as texts (True: a flag). reads, writes : absolute paths (or URLs). needs : names of jobs that must
    be done before; after : names of jobs that must have ended in any way. memory : bytes of --memory, if set.
    time_limit : seconds, if set. line : of its table, if known.
    """

    name: str
    command: str
    arguments: tuple[str, ...]
    method: str | None = None
    options: Mapping[str, str | bool] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    memory: int | None = None
    time_limit: float | None = None
    line: int | None = None
    after: tuple[str, ...] = ()

    def digest(self, stamps: Mapping[str, Any], digests: Mapping[str, str]) -> str:
        """Of what the job computes: equal digests, equal answers.

        stamps : of the files it reads that no job makes, by path. digests : of the jobs it needs. Limits
        of memory and time are not in it: they decide whether there is an answer, not which.
        """
        text = json.dumps([[*map(redacted, self.arguments)], sorted(stamps.items()), sorted(digests.items())])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Makers:
    """Which job makes what is at a path. out : the folder of the batch, in which each job has one of its own."""

    def __init__(self, jobs: Sequence[Job], out: Path | None = None) -> None:
        self._out = None if out is None else os.path.realpath(out)
        self._jobs: dict[str, str] = {}
        for job in jobs:
            for path in job.writes:
                self._jobs.setdefault(_place(path), job.name)
        if self._out is not None:
            self._jobs |= {os.path.join(self._out, "jobs", job.name): job.name for job in jobs}

    def of(self, path: str) -> list[str]:
        """The names of the jobs that make this path, a folder that it is in, or something in it or of its pattern."""
        place = _place(path)
        above = place
        while above not in self._jobs and above != os.path.dirname(above) and "://" not in above:
            above = os.path.dirname(above)
        if above in self._jobs:
            return [self._jobs[above]]
        pattern = re.compile(fnmatch.translate(place)) if any(mark in place for mark in "*?[") else None
        return [name for made, name in self._jobs.items()
                if made.startswith(place + os.sep) or (pattern is not None and pattern.match(made))]

    def are_results(self, path: str) -> bool:
        """Whether the path is that of the results of the whole batch."""
        return self._out is not None and _place(path) in (self._out, os.path.join(self._out, RESULTS))


def _place(path: str) -> str:
    """The path with links resolved, so that two names of a file are equal."""
    return path if "://" in path else os.path.realpath(path)


def link(jobs: Sequence[Job], problems: list[Problem], out: Path | None = None) -> list[Job]:
    """The jobs in the order of the file with all their dependencies. Adds unknown dependencies, files that two jobs
    write and cycles to `problems`, and drops the dependencies of a cycle. A job that reads the results of the batch
    follows all others. out : the folder of the batch."""
    makers: dict[str, Job] = {}
    names = {job.name for job in jobs}
    for job in jobs:
        for path in job.writes:
            first = makers.setdefault(_place(path), job)
            if first is not job:
                problems.append(Problem(f"job {first.name} writes {path} too", job.line, job.name))
        for need in job.needs:
            if need not in names:
                problems.append(Problem(f"it needs {need!r}, and there is no such job", job.line, job.name))
    linked, made = [], Makers(jobs, out)
    last = {job.name for job in jobs if any(map(made.are_results, job.reads))}
    for job in jobs:
        implied = [name for path in job.reads if not made.are_results(path)
                   for name in made.of(path) if name != job.name]
        needs = dict.fromkeys([need for need in job.needs if need in names] + implied)
        after = [other.name for other in jobs if other.name not in last] if job.name in last else []
        linked.append(replace(job, needs=tuple(needs), after=tuple(after)))
    return _without_circles(linked, problems)


def _without_circles(jobs: list[Job], problems: list[Problem]) -> list[Job]:
    """Report each cycle once, for all its jobs, and drop its dependencies."""
    while True:
        try:
            TopologicalSorter({job.name: (*job.needs, *job.after) for job in jobs}).prepare()
        except CycleError as error:
            circle = list(error.args[1])
            shown = " needs ".join(reversed(circle))
            inside = set(circle)
            problems += [Problem(f"jobs need each other in a circle: {shown}", job.line, job.name)
                         for job in jobs if job.name in inside]
            jobs = [replace(job, needs=tuple(need for need in job.needs if need not in inside),
                            after=tuple(name for name in job.after if name not in inside))
                    if job.name in inside else job for job in jobs]
        else:
            return jobs


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """The jobs, each after the jobs that it waits for; otherwise in the order of the file."""
    done: dict[str, Job] = {}
    while len(done) < len(jobs):
        ready = next(job for job in jobs if job.name not in done
                     and all(name in done for name in (*job.needs, *job.after)))
        done[ready.name] = ready
    return list(done.values())


_KEYS = ("memory", "parallel", "out", "defaults")
_DEFAULTS = ("memory", "time_limit", "options")


@dataclass(frozen=True)
class BatchOptions:
    """Options of a batch; None: by the file. memory_bytes : for all parallel jobs together. parallel : number of
    parallel jobs. out : folder of the batch. keep_going : a job with an error fails, and the others run. retry : run
    jobs again that failed or reached their limit."""

    memory_bytes: int | None = None
    parallel: int | None = None
    out: Path | None = None
    keep_going: bool = False
    retry: bool = False


@dataclass
class Settings:
    """folder : of the jobs file, the working folder of its jobs. out : absolute. memory : total bytes, if limited.
    parallel : number of parallel jobs. defaults : of jobs, a table with the keys memory, time_limit and options."""

    folder: Path
    out: Path
    memory: int | None = None
    parallel: int = 1
    defaults: dict[str, Any] = field(default_factory=dict)

    def memory_of(self, job: Job) -> int | None:
        """Bytes of --memory of a job; None: no limit is set."""
        share = None if self.memory is None else self.memory // self.parallel
        return share if job.memory is None else job.memory

    def too_much(self, memory: int | None) -> str | None:
        """A sentence, if a job with this memory can never run."""
        if memory is None or self.memory is None or memory <= self.memory:
            return None
        return (f"its memory, {format_size(memory)}, is more than the {format_size(self.memory)} of the whole batch;"
                " give the job less, or the batch more")


def parsed(key: str, value: Any) -> Any:
    """The parsed value of "memory" (bytes) or "time_limit" (seconds). Raises InputError, also for a value that is
    neither text nor number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError("not a text or number", text=str(value))
    if key != "memory":
        return parse_duration(value)
    if isinstance(value, float):
        raise InputError("a size must be whole", text=str(value), remedy='write it like "1.5GiB"')
    return parse_size(value)


def folder_of(path: Path, table: Mapping[str, Any], options: BatchOptions) -> Path:
    """The folder of a batch: from the command line, from the file (relative to the file), or beside the file."""
    if options.out is not None:
        return Path(os.path.normpath(options.out.absolute()))  # so that a job is the same for any form of the path
    named = table.get("out")
    name = named if isinstance(named, str) and named else path.stem + ".out"
    return Path(os.path.normpath(path.parent / name))


def read_settings(path: Path, table: Mapping[str, Any], options: BatchOptions, lines: TableLines,
                  problems: list[Problem]) -> Settings:
    """The settings of the file `path` (absolute). Adds errors to `problems`, and leaves out wrong settings."""
    settings = Settings(path.parent, folder_of(path, table, options))

    def wrong(text: str, *keys: str) -> None:
        problems.append(Problem(f"[batch]: {text}", lines.of(*keys)))

    for key in table:
        if key not in _KEYS:
            wrong(f"there is no key {key!r}; known are {', '.join(_KEYS)}", key)
    if not isinstance(table.get("out", ""), str):
        wrong("out is not the name of a folder", "out")
    try:
        settings.memory = options.memory_bytes or (parsed("memory", table["memory"]) if "memory" in table else None)
    except InputError as error:
        wrong(f"memory: {error}", "memory")
    parallel = options.parallel or table.get("parallel", 1)
    if isinstance(parallel, bool) or not isinstance(parallel, int) or parallel < 1:
        wrong("parallel is not a number of jobs", "parallel")
    else:
        settings.parallel = parallel
    if settings.parallel > 1 and settings.memory is None and "memory" not in table:
        wrong("jobs that run at once need a limit for all of them; give memory", "parallel")
    settings.defaults = _defaults(table.get("defaults", {}), wrong)
    return settings


def _defaults(table: Any, wrong: Callable[..., None]) -> dict[str, Any]:
    """The defaults that are valid, parsed."""
    defaults: dict[str, Any] = {}
    if not isinstance(table, dict):
        wrong("defaults is not a table", "defaults")
        return defaults
    for key, value in table.items():
        place = f"defaults.{key}"
        if key not in _DEFAULTS:
            wrong(f"there is no default {key!r}; known are {', '.join(_DEFAULTS)}", place)
        elif key == "options" and not isinstance(value, dict):
            wrong("defaults.options is not a table", place)
        else:
            try:
                defaults[key] = value if key == "options" else parsed(key, value)
            except InputError as error:
                wrong(f"{place}: {error}", place)
    return defaults


_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


@dataclass
class TableLines:
    """The 1-based lines of a table: of its header (0: none), and of each key. A key of a job's table `options` is
    "options.KEY"."""

    header: int = 0
    keys: dict[str, int] = field(default_factory=dict)

    def of(self, *keys: str) -> int | None:
        """The line of the first existing one of the keys, or of its table; else of the header; None if unknown."""
        for key in keys:
            parts = key.split(".")
            for length in range(len(parts), 0, -1):
                line = self.keys.get(".".join(parts[:length]))
                if line is not None and (length == len(parts) or key == keys[-1]):
                    return line
        return self.header or None


@dataclass
class FileLines:
    """Lines of [batch] (with its subtables as "defaults.KEY") and of each [[job]], in order."""

    batch: TableLines = field(default_factory=TableLines)
    jobs: list[TableLines] = field(default_factory=list)

    def of_jobs(self, n_jobs: int) -> list[TableLines]:
        """Lines of n_jobs jobs; empty ones for a file that writes its jobs in another way than [[job]]."""
        return self.jobs if len(self.jobs) == n_jobs else [TableLines() for _ in range(n_jobs)]


def find_lines(text: str) -> FileLines:
    """Lines of the tables and keys of a jobs file, given as the valid TOML `text`."""
    lines = FileLines()
    table, prefix, quotes = TableLines(), "", ""
    for number, line in enumerate(text.splitlines(), start=1):
        # Lines inside a text over several lines are no keys.
        inside, marks = quotes, (quotes,) if quotes else ('"""', "'''")
        for mark in [mark for mark in marks if line.count(mark) % 2][:1]:
            quotes = "" if quotes else mark
        header, key = _HEADER.match(line), _KEY.match(line)
        if inside:
            continue
        if key:
            table.keys.setdefault(prefix + _plain(key[1]), number)
        elif header:
            first, _, rest = _plain(header[2]).partition(".")
            if header[1] == "[[" and first == "job" and not rest:
                lines.jobs.append(TableLines())
            jobs = lines.jobs[-1:] if first == "job" else []
            table = lines.batch if first == "batch" else next(iter(jobs), TableLines())
            table.header, prefix = table.header or number, f"{rest}." if rest else ""
    return lines


def _plain(key: str) -> str:
    """A dotted key without quotes and spaces."""
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
OUT = "OUT"


def expand(value: Any, variables: Mapping[str, str], missing: set[str]) -> Any:
    """The value with variables replaced in all texts of lists and tables. Adds names without value and default to
    `missing`."""
    def replaced(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if variables.get(name) or (default is None and name in variables):
            return variables[name]
        if default is not None:  # as in a shell, the default replaces an empty value
            return default
        missing.add(name)
        return match[0]

    if isinstance(value, str):
        return _VARIABLE.sub(replaced, value)
    if isinstance(value, list):
        return [expand(item, variables, missing) for item in value]
    if isinstance(value, dict):
        return {key: expand(item, variables, missing) for key, item in value.items()}
    return value
