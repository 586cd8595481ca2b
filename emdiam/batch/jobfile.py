"""Reads a jobs file: the jobs with their command lines, and all errors at once.

The table of a job becomes a command line, which the parser of the command checks. The options come from the commands
themselves, so that a jobs file accepts exactly the options of the command line. Only the purposes of files are listed
here.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from ..durable import read_at_most
from ..errors import InputError, clause
from ..runs.options import NAMES
from ..runs.places import check_outputs
from ..terms import in_keys
from .settings import (
    OUT,
    BatchOptions,
    Job,
    Problem,
    Settings,
    TableLines,
    expand,
    find_lines,
    folder_of,
    link,
    parsed,
    read_settings,
)

# Commands on an existing store.
STORED = ("apply", "reorder", "info", "plan", "exact", "approx", "ecc", "distances", "sssp", "apsp", "tradeoff",
          "verify")
WORK = ("convert", "generate", *STORED, "report", "warmup")
# Arguments and options that name files, by their use; a store is the last one that is read.
READS: dict[str, tuple[str, ...]] = {
    "convert": ("inputs", "vertices"), **dict.fromkeys(STORED, ("store",)),
    **dict.fromkeys(("exact", "ecc"), ("from", "store")), "verify": ("certificate", "store"), "report": ("sources",),
    "apply": ("add", "remove", "store"),
}
WRITES: dict[str, tuple[str, ...]] = {
    "convert": ("store",), "generate": ("store",), "apply": ("target",), "reorder": ("target",),
    "info": ("plots",), "exact": ("certificate", "path", "keep-reordered"), "approx": ("keep-reordered",),
    "ecc": ("out", "certificate", "keep-reordered"), "distances": ("out", "certificate"), **dict.fromkeys(
        ("sssp", "apsp", "tradeoff", "report"), ("out",)),
}
# Options that a job may not set: a key of the job sets them, or the batch.
_KEYS = {"memory": "memory", "method": "method"}
OF_BATCH = ("json", "csv", "events", "verbose", "quiet", "log-interval", "checkpoint", "resume", "help")
# Commands whose own --time-limit ends them with an answer; the limit of tradeoff is for each cell.
LIMITS_ITSELF = ("exact", "approx", "ecc", "distances", "apsp")
# Files of a report in the folder of the batch.
_REPORTS = {"html": "report.html", "md": "report.md", "json": "report.json", "png": "report-figures"}


def find_command(group: click.Group, name: str, kind: str | None) -> tuple[list[str], click.Command] | None:
    """The words that name a command on the command line, and the command; None if it is unknown. kind : the subcommand,
    if the command has subcommands (the class of `generate`)."""
    command = group.get_command(click.Context(group), name)
    if not isinstance(command, click.Group):
        return None if command is None else ([name], command)
    if kind is None:
        return None
    inner = command.get_command(click.Context(command), kind)
    return None if inner is None else ([name, kind], inner)


def argument_names(command: click.Command) -> list[str]:
    """Names of the positional arguments, in order."""
    return [str(parameter.name) for parameter in command.params if isinstance(parameter, click.Argument)]


def takes(command: click.Command, option: str) -> bool:
    """Whether the command has the option --OPTION."""
    return option in _options(command)


def _options(command: click.Command) -> dict[str, click.Option]:
    """Options by their long names, without dashes."""
    return {name.removeprefix("--"): parameter for parameter in command.params if isinstance(parameter, click.Option)
            for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--")}


def option_values(command: click.Command, table: Mapping[str, Any]) -> tuple[dict[str, str | bool], dict[str, str]]:
    """Options of a table as texts (True: a set flag), and errors of the others, by key.

    Underscores stand for dashes. A list is joined with commas, as options with several values read it; a false flag is
    left out.
    """
    values: dict[str, str | bool] = {}
    wrong: dict[str, str] = {}
    for key, value in table.items():
        name = key.replace("_", "-")
        known = _options(command).get(name)
        if name in _KEYS:
            wrong[key] = f"{name} is a key of the job itself, not of its options"
        elif name in OF_BATCH:
            wrong[key] = f"the batch gives {name} itself; leave it out"
        elif isinstance(value, bool):
            if known is not None and not known.is_flag and not isinstance(known.flag_value, str):
                wrong[key] = f"{name} needs a value, not {str(value).lower()}"
            elif value:
                values[name] = True
        elif not isinstance(value, str | int | float | list):
            wrong[key] = f"{name} needs a text, a number, a list or true"
        elif known is not None and known.is_flag:
            wrong[key] = f"{name} is a flag: write true, or leave it out"
        else:
            values[name] = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return values, wrong


def option_words(values: Mapping[str, Any]) -> list[str]:
    """The words of a command line for options; True: a flag. None and False are left out."""
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in values.items()
            if value is not None and value is not False]


def argument_words(words: Sequence[str]) -> list[str]:
    """The words of a command line for positional arguments, written so that none is read as an option."""
    return [f"./{word}" if word.startswith("-") else word for word in words]


def complaints(command: click.Command, words: Sequence[str], values: Mapping[str, Any]) -> dict[str, str]:
    """The errors of the command's own parser, by option ("" for the whole command line).

    words : the positional arguments. Options are tried one by one, because the parser stops at the first error; then
    all together, to find missing ones.
    """
    faults: dict[str, str] = {}
    for name, value in values.items():
        fault = _fault(command, [*words, *option_words({name: value})])
        if fault is not None and not isinstance(fault, click.MissingParameter):
            faults[name] = clause(fault.format_message())
    fault = _fault(command, [*words, *option_words(values)])
    if fault is not None and (isinstance(fault, click.MissingParameter) or not faults):
        faults[""] = clause(fault.format_message())
    return faults


def _fault(command: click.Command, words: Sequence[str]) -> click.UsageError | None:
    try:
        command.make_context(command.name or "", list(words)).close()
    except click.UsageError as error:
        return error
    return None


def clash(command: click.Command, name: str, words: Sequence[str], folder: Path) -> str | None:
    """The error if an output of a job would replace an input, or another output. name : of the command. words : valid
    arguments and options."""
    with command.make_context(name, list(words)) as context:
        try:
            check_outputs(name, context.params, folder)
        except InputError as error:
            return str(error)
    return None


_COMMON = ("name", "command", "options", "time_limit", "memory", "needs")
_MOST_BYTES = 16 << 20
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_SYNTAX = re.compile(r"^(.*) \(at line (\d+), column (\d+)\)$")


@dataclass
class JobFile:
    """A parsed jobs file. path : absolute. jobs : readable jobs in the order of the file, also with errors. problems :
    in the order of the file."""

    path: Path
    settings: Settings
    jobs: list[Job] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def faulty(self) -> dict[str, str]:
        """By job, a sentence with all its errors."""
        names = dict.fromkeys(problem.job for problem in self.problems if problem.job is not None)
        return {name: "; ".join(problem.text for problem in self.problems if problem.job == name) for name in names}


def read_job_file(path: str | Path, group: click.Group, options: BatchOptions,
                  environment: Mapping[str, str] | None = None) -> JobFile:
    """Read a jobs file. group : the command line, whose commands check the options.

    Raises InputError if the file is missing or is no TOML; all other errors are in `problems`.
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
    read = _Reader(group, settings, variables, problems)
    jobs = [read.job(table, where) for table, where in zip(tables, lines.of_jobs(len(tables)), strict=True)]
    read.check_defaults(lines.batch)
    linked = link([job for job in jobs if job is not None], problems, settings.out)
    problems.sort(key=lambda problem: problem.line or 0)
    return JobFile(place, settings, linked, problems)


def _parsed_toml(place: Path, shown: str) -> tuple[str, dict[str, Any]]:
    try:
        data = read_at_most(place, _MOST_BYTES)
        if data is None:
            raise InputError(f"a jobs file has at most {_MOST_BYTES:,} bytes", path=shown)
        text = data.decode("utf-8")
        return text, tomllib.loads(text)
    except FileNotFoundError:
        raise InputError("there is no such file", path=shown,
                         remedy="emdiam batch --help-all shows an example") from None
    except UnicodeDecodeError as error:
        raise InputError("a jobs file is UTF-8", path=shown, byte=error.start) from None
    except RecursionError:
        raise InputError("its values are nested too deep", path=shown) from None
    except tomllib.TOMLDecodeError as error:
        match = _SYNTAX.match(str(error))
        what, line = (match.group(1), int(match.group(2))) if match else (str(error), None)
        raise InputError(f"this is no TOML: {what[:1].lower()}{what[1:]}", path=shown, line=line) from None


@dataclass
class _Reader:
    """Reads one job after another. names : names of the jobs read so far, with their lines."""

    group: click.Group
    settings: Settings
    variables: Mapping[str, str]
    problems: list[Problem]
    names: dict[str, int | None] = field(default_factory=dict)
    used_defaults: set[str] = field(default_factory=set)

    def job(self, table: Mapping[str, Any], where: TableLines) -> Job | None:
        """The job of a table; None if it has no name."""
        missing: set[str] = set()
        table = expand(table, self.variables, missing)
        name = self._name(table, where)
        if name is None:
            return None
        one = _JobTable(name, table, where, self.problems)
        for variable in sorted(missing):
            one.wrong(f"the variable {variable} is not set")
        command = one.find_command(self.group)
        if command is None:  # still a job, so that jobs that need it have no further error
            return Job(name, str(table.get("command", "?")), (), line=where.of())
        return one.job(*command, self.settings, self.used_defaults)

    def check_defaults(self, where: TableLines) -> None:
        """Defaults that no command has are mistyped."""
        for key in self.settings.defaults.get("options", {}):
            if key not in self.used_defaults and self.names:
                self.problems.append(Problem(f"[batch]: no job has an option {key!r}", where.of(
                    f"defaults.options.{key}")))

    def _name(self, table: Mapping[str, Any], where: TableLines) -> str | None:
        name = table.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            shown = "this job has no name" if name is None else f"{name!r} cannot be the name of a job"
            text = f"{shown}; give it one of letters, digits, '.', '_' and '-'"
        elif name in self.names:
            first = self.names[name]
            text = f"there are two jobs {name!r}" + (f", the first on line {first}" if first else "")
        else:
            self.names[name] = where.of()
            return name
        self.problems.append(Problem(text, where.of("name")))
        return None


@dataclass
class _JobTable:
    """The table of a job with a good name; what is wrong with it is added to `problems`."""

    name: str
    table: Mapping[str, Any]
    lines: TableLines
    problems: list[Problem]

    def wrong(self, text: str, *keys: str) -> None:
        """Something is, on the line of the first of the keys that is there."""
        self.problems.append(Problem(text, self.lines.of(*keys), self.name))

    def find_command(self, group: click.Group) -> tuple[list[str], click.Command] | None:
        """The words that name its command, and the command; None if it is unknown."""
        command, kind = self.table.get("command"), self.table.get("class")
        command = NAMES.get(str(command), command)
        if command not in WORK:
            said = "it has no command" if command is None else f"there is no command {command!r} for a job"
            self.wrong(f"{said}; choose from: {', '.join(WORK)}", "command")
            return None
        words_and_command = find_command(group, str(command), kind if isinstance(kind, str) else None)
        if words_and_command is None:
            said = "it has no class" if kind is None else f"there is no class {kind!r}"
            self.wrong(f"{said}; `emdiam {command} --help` lists them", "class")
        return words_and_command

    def job(self, words: list[str], command: click.Command, settings: Settings, used_defaults: set[str]) -> Job:
        """The job. words : name the command. used_defaults : extended by the defaults that apply to the command."""
        name, table = self.name, self.table
        allowed = [*_COMMON, *argument_names(command), *["method"] * takes(command, "method"),
                   *["class"] * (len(words) > 1)]
        for key in [one for one in table if one not in allowed]:
            known = (f"write options = {{ {key} = ... }}" if takes(command, key.replace("_", "-")) else
                     f"known are {', '.join(allowed)}")
            self.wrong(f"a job of {words[0]} has no key {key!r}; {known}", key)
        by_argument, arguments = self._arguments(command)
        values = self._options(command, settings.defaults.get("options", {}), used_defaults)
        method = table.get("method")
        shown = values if method is None else {"method": str(method), **values}
        if "out" not in values and (own := self._own_place(words[0], values, settings)) is not None:
            shown = {**shown, "out": str(own)}
        faults = complaints(command, arguments, shown)
        for key, text in faults.items():
            self.wrong(in_keys(text), *([key] if key in table or not key else
                               [f"options.{key.replace('-', '_')}", f"options.{key}"]))
        if not faults and (fault := clash(command, words[0], [*arguments, *option_words(shown)], settings.folder)):
            self.wrong(in_keys(fault), "options")
        memory, limit = self._limit("memory", settings), self._limit("time_limit", settings)
        if fault := settings.too_much(memory):
            self.wrong(fault, "memory")
        files = {**by_argument, **{key: [text] for key, text in shown.items() if isinstance(text, str)}}
        reads, writes = (tuple(absolute(text, settings.folder) for key in keys for text in files.get(key, ()))
                         for keys in (READS.get(words[0], ()), WRITES.get(words[0], ())))
        return Job(name, words[0], (*words, *arguments, *option_words(shown)),
                   None if method is None else str(method), values, reads, writes, self._needs(), memory, limit,
                   self.lines.of())

    def _own_place(self, command: str, values: Mapping[str, Any], settings: Settings) -> Path | None:
        """The default place of the output of a command."""
        if command == "tradeoff":
            return settings.out / "jobs" / self.name / "tradeoff"
        return settings.out / _REPORTS.get(str(values.get("format")), "report.html") if command == "report" else None

    def _arguments(self, command: click.Command) -> tuple[dict[str, list[str]], list[str]]:
        """The positional arguments, by name, and as words of a command line; there a placeholder stands for a missing
        one, so that the options can be checked."""
        by_argument: dict[str, list[str]] = {}
        names = argument_names(command)
        for argument in names:
            value = self.table.get(argument)
            texts = [value] if isinstance(value, str) else value
            many = argument in ("inputs", "sources")
            if value is None:
                self.wrong(f"it has no {argument}")
            elif not _texts(texts) or not texts or (len(texts) > 1 and not many):
                self.wrong(f"{argument} is not {'a list of names' if many else 'a name'}", argument)
            elif "-" in texts:
                self.wrong(f"{argument}: a job has no standard input", argument)
            else:
                by_argument[argument] = list(texts)
        return by_argument, argument_words([text for name in names for text in by_argument.get(name, ["?"])])

    def _options(self, command: click.Command, defaults: Mapping[str, Any],
                 used_defaults: set[str]) -> dict[str, str | bool]:
        """The options of the job, with the defaults that apply to its command."""
        table = self.table.get("options", {})
        if not isinstance(table, dict):
            self.wrong("options is not a table", "options")
            table = {}
        values, wrong = option_values(command, table)
        for key, text in wrong.items():
            self.wrong(text, f"options.{key}")
        shared = {key: value for key, value in defaults.items() if takes(command, key.replace("_", "-"))}
        used_defaults |= set(shared)
        shared_values, wrong = option_values(command, shared)
        for text in wrong.values():
            self.wrong(f"default: {text}")
        return {**{key: value for key, value in shared_values.items() if key not in values}, **values}

    def _limit(self, key: str, settings: Settings) -> Any:
        if key not in self.table:
            return settings.defaults.get(key)
        try:
            return parsed(key, self.table[key])
        except InputError as error:
            self.wrong(f"{key}: {error}", key)
            return None

    def _needs(self) -> tuple[str, ...]:
        needs = self.table.get("needs", [])
        if not _texts(needs):
            self.wrong("needs is not a list of names of jobs", "needs")
            return ()
        return tuple(needs)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def absolute(text: str, folder: Path) -> str:
    """The absolute path of a file of a job; URLs stay unchanged."""
    return text if "://" in text else os.path.normpath(folder / text)
