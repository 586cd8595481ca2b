"""What a jobs file says of the batch as a whole: its table [batch], and what the command line says instead."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..units import format_size, parse_duration, parse_size
from .job import Problem
from .lines import TableLines

_KEYS = ("memory", "parallel", "out", "defaults")
_DEFAULTS = ("memory", "time_limit", "options")


@dataclass(frozen=True)
class BatchOptions:
    """How to run a jobs file; None: as the file says. memory_bytes : for all jobs that run at once. parallel :
    jobs at once. out : folder for everything. keep_going : what is wrong with a job is its failure, and the
    others run. retry : run jobs again that failed or were stopped by their limit."""

    memory_bytes: int | None = None
    parallel: int | None = None
    out: Path | None = None
    keep_going: bool = False
    retry: bool = False


@dataclass
class Settings:
    """folder : of the jobs file, where its jobs run. out : absolute. memory : bytes in all, if limited.
    parallel : jobs at once. defaults : of jobs, as a table with the keys memory, time_limit and options."""

    folder: Path
    out: Path
    memory: int | None = None
    parallel: int = 1
    defaults: dict[str, Any] = field(default_factory=dict)

    def share(self) -> int | None:
        """Bytes of a job that says nothing of its memory."""
        return None if self.memory is None else self.memory // self.parallel


def parsed(value: Any, parse: Callable[[Any], Any]) -> Any:
    """A size or duration of a jobs file. Raises InputError, also for what is neither text nor number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError("not a text or number", text=str(value))
    if parse is parse_size and isinstance(value, float):
        raise InputError("a size must be whole", text=str(value), remedy='write it like "1.5GiB"')
    return parse(value)


def folder_of(path: Path, table: Mapping[str, Any], options: BatchOptions) -> Path:
    """The folder of a batch: that of the command line, of the file (from its own folder on), or beside it."""
    if options.out is not None:
        return options.out.absolute()
    named = table.get("out")
    name = named if isinstance(named, str) and named else path.stem + ".out"
    return Path(os.path.normpath(path.parent / name))


def read_settings(path: Path, table: Mapping[str, Any], options: BatchOptions, lines: TableLines,
                  problems: list[Problem]) -> Settings:
    """The settings of the absolute `path`; what is wrong is added to `problems`, and left out."""
    settings = Settings(path.parent, folder_of(path, table, options))

    def wrong(text: str, *keys: str) -> None:
        problems.append(Problem(f"[batch]: {text}", lines.of(*keys)))

    for key in table:
        if key not in _KEYS:
            wrong(f"there is no key {key!r}; known are {', '.join(_KEYS)}", key)
    if not isinstance(table.get("out", ""), str):
        wrong("out is not the name of a folder", "out")
    try:
        settings.memory = options.memory_bytes or _size(table.get("memory"))
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


def _size(value: Any) -> int | None:
    return None if value is None else int(parsed(value, parse_size))


def _defaults(table: Any, wrong: Callable[..., None]) -> dict[str, Any]:
    """The defaults that are valid, parsed."""
    found: dict[str, Any] = {}
    if not isinstance(table, dict):
        wrong("defaults is not a table", "defaults")
        return found
    for key, value in table.items():
        place = f"defaults.{key}"
        if key not in _DEFAULTS:
            wrong(f"there is no default {key!r}; known are {', '.join(_DEFAULTS)}", place)
        elif key == "options":
            if isinstance(value, dict):
                found[key] = value
            else:
                wrong("defaults.options is not a table", place)
        else:
            try:
                found[key] = parsed(value, parse_size if key == "memory" else parse_duration)
            except InputError as error:
                wrong(f"defaults.{key}: {error}", place)
    return found


def too_much(memory: int, settings: Settings) -> str | None:
    """A sentence, if a job of so much memory can never run."""
    if settings.memory is None or memory <= settings.memory:
        return None
    return (f"its memory, {format_size(memory)}, is more than the {format_size(settings.memory)} of the whole"
            " batch; give the job less, or the batch more")
