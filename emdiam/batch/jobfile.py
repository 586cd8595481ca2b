"""Reads a jobs file: every job with its command line, and all that is wrong, at once."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from ..errors import InputError
from ..units import parse_duration, parse_size
from . import commands
from .job import Job, Problem, link
from .settings import (
    OUT,
    BatchOptions,
    Settings,
    TableLines,
    expand,
    find_lines,
    folder_of,
    parsed,
    read_settings,
    too_much,
)

_COMMON = ("name", "command", "options", "time_limit", "memory", "needs")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_SYNTAX = re.compile(r"^(.*) \(at line (\d+), column (\d+)\)$")


@dataclass
class JobFile:
    """A jobs file that was read. path : absolute. jobs : those that could be read, in the order of the file,
    even if something is wrong with them. problems : in the order of the file."""

    path: Path
    settings: Settings
    jobs: list[Job] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def faulty(self) -> dict[str, str]:
        """By job, a sentence with all that is wrong with it."""
        found: dict[str, list[str]] = {}
        for problem in self.problems:
            if problem.job is not None:
                found.setdefault(problem.job, []).append(problem.text)
        return {name: "; ".join(texts) for name, texts in found.items()}


def read_job_file(path: str | Path, group: click.Group, options: BatchOptions,
                  environment: Mapping[str, str] | None = None) -> JobFile:
    """Read a file of jobs. group : the command line, whose commands check the options.

    Raises InputError if the file is not there or is no TOML; everything else is among the problems.
    """
    place = Path(path).absolute()
    text, data = _parsed_toml(place, str(path))
    lines = find_lines(text)
    problems = [Problem(f"there is no table or key {key!r}; known are [batch] and [[job]]")
                for key in data if key not in ("batch", "job")]
    batch, tables = data.get("batch", {}), data.get("job", [])
    if not isinstance(batch, dict):
        problems.append(Problem("batch is not a table; write [batch]"))
        batch = {}
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        problems.append(Problem("jobs are not tables; write [[job]]"))
        tables = []
    elif not tables:
        problems.append(Problem("there is no job; write one as a table [[job]]"))
    variables = dict(os.environ if environment is None else environment)
    missing: set[str] = set()
    batch = expand(batch, {key: text for key, text in variables.items() if key != OUT}, missing)
    variables[OUT] = str(folder_of(place, batch, options))
    problems += [Problem(f"[batch]: the variable {name} is not set", lines.batch.of()) for name in sorted(missing)]
    settings = read_settings(place, batch, options, lines.batch, problems)
    found = JobFile(place, settings, [], problems)
    read = _Reader(group, settings, variables, problems)
    for table, where in zip(tables, lines.of_jobs(len(tables)), strict=True):
        job = read.job(table, where)
        if job is not None:
            found.jobs.append(job)
    read.check_defaults(lines.batch)
    found.jobs = link(found.jobs, problems)
    problems.sort(key=lambda problem: problem.line or 0)
    return found


def _parsed_toml(place: Path, shown: str) -> tuple[str, dict[str, Any]]:
    try:
        text = place.read_bytes().decode("utf-8")
        return text, tomllib.loads(text)
    except FileNotFoundError:
        raise InputError("there is no such file", path=shown) from None
    except UnicodeDecodeError as error:
        raise InputError("a jobs file is UTF-8", path=shown, byte=error.start) from None
    except tomllib.TOMLDecodeError as error:
        match = _SYNTAX.match(str(error))
        what, line = (match.group(1), int(match.group(2))) if match else (str(error), None)
        raise InputError(f"this is no TOML: {what[:1].lower()}{what[1:]}", path=shown, line=line) from None


class _Reader:
    """Reads one job after another. names : of those that were read."""

    def __init__(self, group: click.Group, settings: Settings, variables: Mapping[str, str],
                 problems: list[Problem]) -> None:
        self.group, self.settings, self.variables, self.problems = group, settings, variables, problems
        self.names: dict[str, int | None] = {}
        self.used_defaults: set[str] = set()

    def job(self, table: Mapping[str, Any], where: TableLines) -> Job | None:
        """The job of a table; None if it has no name or no command to speak of."""
        missing: set[str] = set()
        table = expand(table, self.variables, missing)
        name = self._name(table, where)
        if name is None:
            return None
        for variable in sorted(missing):
            self._wrong(name, f"the variable {variable} is not set", where.of())
        found = self._command(name, table, where)
        if found is None:  # a job all the same, so that others that need it are not at fault too
            return Job(name, str(table.get("command", "?")), (), line=where.of())
        words, command = found
        allowed = (*_COMMON, *commands.argument_names(command), *(["method"] if commands.takes(command, "method") else
                                                                 []), *(["class"] if len(words) > 1 else []))
        for key in table:
            if key not in allowed:
                self._wrong(name, f"a job of {words[0]} has no key {key!r}; known are {', '.join(allowed)}",
                            where.of(key))
        return self._built(name, table, where, words, command)

    def check_defaults(self, where: TableLines) -> None:
        """Defaults that no command has are mistyped."""
        for key in self.settings.defaults.get("options", {}):
            if key not in self.used_defaults and self.names:
                self.problems.append(Problem(f"[batch]: no job has an option {key!r}", where.of(
                    f"defaults.options.{key}")))

    def _wrong(self, name: str | None, text: str, line: int | None) -> None:
        self.problems.append(Problem(text, line, name))

    def _name(self, table: Mapping[str, Any], where: TableLines) -> str | None:
        name = table.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            shown = "this job has no name" if name is None else f"{name!r} cannot be the name of a job"
            self._wrong(None, f"{shown}; give it one of letters, digits, '.', '_' and '-'", where.of("name"))
            return None
        if name in self.names:
            first = self.names[name]
            self._wrong(None, f"there are two jobs {name!r}" + (f", the first on line {first}" if first else ""),
                        where.of("name"))
            return None
        self.names[name] = where.of()
        return name

    def _command(self, name: str, table: Mapping[str, Any],
                 where: TableLines) -> tuple[list[str], click.Command] | None:
        command, kind = table.get("command"), table.get("class")
        if command not in commands.WORK:
            said = "it has no command" if command is None else f"there is no command {command!r} for a job"
            self._wrong(name, f"{said}; choose from: {', '.join(commands.WORK)}", where.of("command"))
            return None
        found = commands.find_command(self.group, str(command), kind if isinstance(kind, str) else None)
        if found is None:
            said = "it has no class" if kind is None else f"there is no class {kind!r}"
            self._wrong(name, f"{said}; `emdiam {command} --help` lists them", where.of("class"))
        return found

    def _built(self, name: str, table: Mapping[str, Any], where: TableLines, words: list[str],
               command: click.Command) -> Job:
        """The job of a table whose command is known."""
        given, arguments = self._arguments(name, table, where, command)
        values = self._options(name, table, where, command)
        method = table.get("method")
        shown = values if method is None else {"method": str(method), **values}
        if words[0] == "tradeoff" and "out" not in values:
            shown = {**shown, "out": str(self.settings.out / "jobs" / name / "tradeoff")}
        for key, text in commands.complaints(command, commands.argument_words(arguments), shown).items():
            places = [key] if key in table or not key else [f"options.{key.replace('-', '_')}", f"options.{key}"]
            self._wrong(name, text, where.of(*places))
        memory, limit = self._limit(name, "memory", table, where), self._limit(name, "time_limit", table, where)
        if memory is not None and (fault := too_much(memory, self.settings)):
            self._wrong(name, fault, where.of("memory"))
        files = {**given, **{key: [text] for key, text in shown.items() if isinstance(text, str)}}
        return Job(
            name=name, command=words[0], method=None if method is None else str(method), options=values,
            arguments=(*words, *commands.argument_words(arguments), *commands.option_words(shown)),
            reads=self._paths(files, commands.READS[words[0]]), writes=self._paths(files, commands.WRITES[words[0]]),
            needs=self._needs(name, table, where), memory=memory, time_limit=limit, line=where.of())

    def _arguments(self, name: str, table: Mapping[str, Any], where: TableLines,
                   command: click.Command) -> tuple[dict[str, list[str]], list[str | list[str]]]:
        """The positional arguments, by name and in order; one that is missing has a stand-in, so that the
        options can be checked."""
        given: dict[str, list[str]] = {}
        for argument in commands.argument_names(command):
            value = table.get(argument)
            texts = [value] if isinstance(value, str) else value
            many = argument == "inputs"
            if value is None:
                self._wrong(name, f"it has no {argument}", where.of())
            elif not _texts(texts) or not texts or (len(texts) > 1 and not many):
                self._wrong(name, f"{argument} is not {'a list of names' if many else 'a name'}", where.of(argument))
            elif "-" in texts:
                self._wrong(name, f"{argument}: a job has no standard input", where.of(argument))
            else:
                given[argument] = list(texts)
        return given, [given.get(argument, ["?"]) for argument in commands.argument_names(command)]

    def _options(self, name: str, table: Mapping[str, Any], where: TableLines,
                 command: click.Command) -> dict[str, str | bool]:
        """Its own options, and those defaults that its command has."""
        own = table.get("options", {})
        if not isinstance(own, dict):
            self._wrong(name, "options is not a table", where.of("options"))
            own = {}
        values, wrong = commands.option_values(command, own)
        for key, text in wrong.items():
            self._wrong(name, text, where.of(f"options.{key}"))
        shared = {key: value for key, value in self.settings.defaults.get("options", {}).items()
                  if commands.takes(command, key.replace("_", "-"))}
        self.used_defaults |= set(shared)
        defaults, wrong = commands.option_values(command, shared)
        for text in wrong.values():
            self._wrong(name, f"default: {text}", where.of())
        return {**{key: value for key, value in defaults.items() if key not in values}, **values}

    def _limit(self, name: str, key: str, table: Mapping[str, Any], where: TableLines) -> Any:
        if key not in table:
            return self.settings.defaults.get(key)
        try:
            return parsed(table[key], parse_size if key == "memory" else parse_duration)
        except InputError as error:
            self._wrong(name, f"{key}: {error}", where.of(key))
            return None

    def _needs(self, name: str, table: Mapping[str, Any], where: TableLines) -> tuple[str, ...]:
        needs = table.get("needs", [])
        if not _texts(needs):
            self._wrong(name, "needs is not a list of names of jobs", where.of("needs"))
            return ()
        return tuple(needs)

    def _paths(self, files: Mapping[str, Sequence[str]], keys: Sequence[str]) -> tuple[str, ...]:
        return tuple(absolute(text, self.settings.folder) for key in keys for text in files.get(key, ()))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def absolute(text: str, folder: Path) -> str:
    """The path of a file that a job names; URLs as they are."""
    return text if "://" in text else os.path.normpath(folder / text)
