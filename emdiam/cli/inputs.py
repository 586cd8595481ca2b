"""A file with edges in place of a store: it is first converted to a temporary store. A line on standard error says so,
with the command that makes a permanent one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from ..errors import BudgetError, InputError, StoreError, is_url
from ..progress import Listener
from ..runs.options import KEPT, PATHS
from .answer_lines import counts_line, dropped_text
from .outcome import options_of

if TYPE_CHECKING:
    from ..caller import Origin
    from ..formats.weights import WeightChoice
    from ..runs.task import Task
    from ..store.store import Store


def is_input(name: str) -> bool:
    """Whether `name` is a file with edges, a folder of these, or standard input, rather than a store."""
    if is_url(name) or name.endswith(".zarr") or (Path(name) / "zarr.json").is_file():
        return False
    from ..caller import is_store  # imports the readers of files

    return not is_store(name)


def _check_kept(command: str, asked: Mapping[str, Any]) -> None:
    """Check that a store has the named weights, and, for a command of PATHS, the requested weights or directions.
    Raises InputError."""
    from ..store.store import check_weighted, open_store

    named = asked.get("weight") is not None
    weighted, directed = (command in PATHS and asked[one] for one in KEPT)
    if named or weighted or directed:
        choice = _choice(command, asked)
        with open_store(asked["store"], directed=directed or None) as store:
            if choice is not None:
                check_weighted(store, choice.column)


Finish = Callable[["Store | str | Path", "Task", Listener], Any]


def _no_task(place: Store | str | Path, task: Task, progress: Listener) -> Any:
    """Replaces the executor of tasks, whose import takes time, in a command without a task."""
    raise TypeError("this command has no task")


@contextmanager
def stored(command: str, asked: Mapping[str, Any], listener: Listener, alone: bool = True
           ) -> Iterator[tuple[Store | str | Path, Finish]]:
    """A context with the store of a command: the named one, or a temporary one made from a file. Also yields a function
    that executes a task on it in the remaining time; its result names the file, not the temporary store.

    alone : whether no other process opens it. Raises InputError if the file is refused, like `emdiam convert`."""
    name = asked["store"]
    if not is_input(name):
        _check_kept(command, asked)
        if command == "info":
            yield name, _no_task
            return
        from ..runs.task import execute

        yield name, execute
        return
    import logging
    from dataclasses import replace

    from ..caller import Means, as_store, deadline_of, named, seconds_left
    from ..runs.task import execute

    deadline, keeping = deadline_of(asked.get("time_limit")), _convert_command(asked)
    means = Means(asked.get("memory"), asked.get("threads"), asked.get("scratch"), alone, deadline)
    shown = "standard input" if name == "-" else name
    logging.getLogger("emdiam").info(f"{shown} is no store: it is converted to a temporary one; to keep one: {keeping}")
    with _refusing(command, keeping, shown), as_store(name, means, listener, _kept(command, asked)) as (store, origin):
        logging.getLogger("emdiam").info(_what(shown, origin))
        if command != "info" and origin.record is not None and origin.record.unread:  # info shows it itself
            logging.getLogger("emdiam").warning(f"{shown}: {origin.record.unread}")

        def finish(place: Store | str | Path, task: Task, progress: Listener) -> Any:
            limited = replace(task, time_limit=seconds_left(deadline))
            return named(lambda: execute(place, limited, progress), name, origin)

        yield store, finish


@contextmanager
def opened(command: str, asked: Mapping[str, Any], listener: Listener, directed: bool | None = None
           ) -> Iterator[tuple[Store, Finish]]:
    """Like `stored`, with the store opened. directed : whether a named store must have directions."""
    from ..store.store import Store, open_store

    with stored(command, asked, listener) as (place, finish):
        if isinstance(place, Store):
            yield place, finish
            return
        with open_store(place, evict_page_cache=asked.get("evict_page_cache", False), directed=directed) as store:
            yield store, finish


def _kept(command: str, asked: Mapping[str, Any]) -> Any:
    """The additions to edges that the temporary store keeps."""
    from ..caller import Kept

    return Kept(bool(asked.get("directed")) or (command == "info" and asked["components"]), _choice(command, asked))


def _choice(command: str, asked: Mapping[str, Any]) -> WeightChoice | None:
    """The requested weights. Raises InputError for an invalid name."""
    from ..formats.weights import named_weights

    name = asked.get("weight")
    return named_weights(name, name is None and bool(asked.get("weighted")), command in PATHS)


def _convert_command(asked: Mapping[str, Any]) -> str:
    """The command that converts the file to a permanent store."""
    path = Path(asked["store"])
    target = (path.name.partition(".")[0] if path.is_file() and str(path) != "-" else "") or "graph"
    column = asked.get("weight")
    weights = " --weights" if column is None else f" --weights={quote(column)}"
    flags = [flag for option, flag in (("directed", " --directed"), ("weighted", weights)) if asked.get(option)]
    return f"emdiam convert {quote(asked['store'])} {quote(target + '.zarr')}{''.join(flags)}"


def _what(name: str, origin: Origin) -> str:
    """A line about the conversion of the file."""
    assert origin.record is not None
    record = vars(origin.record)
    own = options_of(click.get_current_context().command)
    keeper = "--directed" if "--directed" in own else "emdiam convert --directed"
    dropped = any(record[f"{one}_dropped"] for one in ("loops", "duplicates", "reverse"))
    return "; ".join([counts_line(name, record), f"read as {record['reading'] or record['source_format']}",
                      *([dropped_text(record)] if dropped else []),
                      *([f"directions are dropped ({keeper} keeps them)"] if origin.directions_dropped else [])])


def _as_asked(text: str, own: Collection[str]) -> str:
    """A message of convert, with the command's own option for weights without a name."""
    return re.sub(r"(?<![\w-])--weights(?![\w=-])", "--weighted", text) if "--weighted" in own else text


@contextmanager
def _refusing(command: str, keeping: str, shown: str) -> Iterator[None]:
    """A context for errors that name options of `emdiam convert`: an option that the running command lacks is marked as
    an option of convert. The option --weights of convert corresponds to two options of other commands."""
    try:
        yield
    except InputError as error:
        from ..terms import CONVERT_FIRST, TEMPORARY, in_options, options_in, reword

        own = options_of(click.get_current_context().command)
        reword(error, lambda text: in_options(_as_asked(TEMPORARY.sub(lambda _: shown, text), own), command, own, {}))
        error.path = None if error.path is None else TEMPORARY.sub(lambda _: shown, str(error.path))
        lacking = [one for one in options_in(str(error)) if one.replace("=", " ").partition(" ")[0] not in own
                   and not (" " in one and f"as in {one}" in str(error))]  # an example, not a reading
        if lacking and not isinstance(error, BudgetError | StoreError):
            value = f" {lacking[0]}" if len(lacking) == 1 and " " in lacking[0] else ""
            which = "" if value else ", with one of these options" if len(lacking) > 1 else ", with this option"
            more = f"; {CONVERT_FIRST}{which}: {keeping}{value}"
            error.remedy = f"{error.remedy or ''}{more}".removeprefix("; ")
            error.args = (f"{error}{more}", *error.args[1:])
        raise
