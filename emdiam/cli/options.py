"""The options of the command line, made from the table of all options (runs/options.py), and the types of their
values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import InputError, closest
from ..runs import option as option_kinds
from ..runs.option import Option
from ..runs.options import COMMANDS, KEPT, PATHS, PRINTED, option_of
from ..runs.registry import CHOOSING
from .output import complain

if TYPE_CHECKING:
    from ..checkpoint.options import CheckpointOptions
    from ..gpu.setting import Selection
    from ..runs.task import Task

F = TypeVar("F", bound=Callable[..., Any])

LONGEST_SHOWN_PATH = 10_000
CPU = "cpu"
# Keys of a context's meta: the file of --events, and its EventLog.
EVENTS, EVENT_LOG = "emdiam.events", "emdiam.event_log"


class Parsed(click.ParamType):
    """A number read by the library's own parser, so that all places accept the same texts."""

    def __init__(self, name: str, parse: Callable[[Any], int | float]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        """The parsed value; an invalid text is a usage error."""
        try:
            return self._parse(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


def suggesting(message: str, name: str, known: Iterable[str]) -> str:
    """The message of click about an unknown name, with the closest known names, like the message of click about
    options."""
    close = closest(name, known)
    return message if close is None else f"{message} (Did you mean {close!r}?)"


class Choice(click.Choice[str]):
    """One of a set of names. The error for another name suggests the closest, as click does for options and
    commands."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value, if it is one of the names."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(suggesting(error.message, str(value), self.choices), param, ctx)


# The library says why a file cannot be read.
STORE = click.argument("store", type=click.Path(path_type=str, readable=False))
GRAPH = click.argument("store", metavar="GRAPH", type=click.Path(path_type=str, readable=False))
# Sentence in the help of commands with this argument.
OF_GRAPH = " GRAPH is a store, or a file of edges, which becomes a temporary store first."


class Written(click.Path):
    """A path that the command writes to. outcome.EmdiamCommand checks it before the command's body, not while the
    command line is parsed (`emdiam batch` parses those of later jobs).

    check : name of the checking function of durable.py.
    """

    def __init__(self, check: str, **options: Any) -> None:
        super().__init__(**options)
        self._check = check

    def check(self, path: str | Path) -> None:
        """Raise InputError if the path cannot be written."""
        from .. import durable

        if str(path) == "-":
            raise InputError("an output is a file or a folder, not standard output", text="-", remedy="give a name")
        getattr(durable, self._check)(path)


NEW_STORE = Written("check_name", path_type=str)
_TYPES: dict[str, click.ParamType] = {
    **{kind: Parsed(kind, option_kinds.PARSERS[kind])
       for kind in (option_kinds.SIZE, option_kinds.COUNT, option_kinds.DURATION, option_kinds.LENGTH)},
    option_kinds.NATURAL: click.IntRange(min=0), option_kinds.POSITIVE: click.IntRange(min=1),
    option_kinds.FILE: Written("check_file", dir_okay=False, path_type=Path), option_kinds.STORE: NEW_STORE,
    option_kinds.FOLDER: Written("check_folder", file_okay=False, path_type=Path),
    option_kinds.SCRATCH: Written("check_scratch", file_okay=False, path_type=Path),
    # The command's body, which knows the kind of the output, checks it too.
    option_kinds.EITHER: Written("check_above", path_type=Path)}
COUNT = _TYPES[option_kinds.COUNT]
# The settings of click for each kind of flag.
_FLAGS: dict[str, dict[str, Any]] = {
    option_kinds.FLAG: {"is_flag": True}, option_kinds.ON: {"is_flag": True, "default": None},
    option_kinds.OFF: {"flag_value": False, "default": None}, option_kinds.NAMED: {"is_flag": False, "flag_value": ""}}


def _keep_events(context: click.Context, _parameter: click.Parameter, file: Path | None) -> None:
    """Store the file of --events in the context. outcome.EmdiamCommand opens it, listener.listening passes events to
    it, and the command's body does not see it."""
    context.meta[EVENTS] = file


def made(option: Option, **more: Any) -> Callable[[F], F]:
    """An option of the table, for click. more : additional or replaced settings."""
    low, high = option.limits
    kinds: dict[str, Callable[[], click.ParamType]] = {
        option_kinds.INTEGER: lambda: click.IntRange(low, high),
        option_kinds.REAL: lambda: click.FloatRange(low, high, min_open=True, max_open=high is not None)}
    settings: dict[str, Any] = {"help": option.help, "metavar": option.metavar,
                                "required": option.required}
    if option.kind in _FLAGS:
        settings |= _FLAGS[option.kind]
    elif option.choices:
        settings["type"] = Choice(option.choices)
    else:
        settings["type"] = kinds[option.kind]() if option.kind in kinds else _TYPES.get(option.kind)
    if option.usual is not None:
        settings["default"], settings["show_default"] = option.usual
    elif option.default is not None:
        settings |= {"default": option.default, "show_default": True}
    if option.offered:
        settings["shell_complete"] = lambda _context, _option, begin: [
            name for name in option.offered if name.startswith(begin)]
    if option.name == "events":
        settings |= {"expose_value": False, "callback": _keep_events}
    return click.option(*(option.flags or (option.flag,)), option.name, **settings | more)


def of(command: str, *names: str, **more: Any) -> Callable[[F], F]:
    """One decorator for all options of a command, or for the named ones, in the order of the help. more : settings of
    click for them."""
    def decorate(function: F) -> F:
        # click collects the options of a function from the last decorator up, and appends those of a command.
        options = [option for name in names or COMMANDS[command]
                   if (option := option_of(command, name)) is not None]
        for option in options if isinstance(function, click.Command) else reversed(options):
            function = made(option, **more)(function)
        return function
    return decorate


def passed(values: Mapping[str, Any], *without: str) -> dict[str, Any]:
    """The arguments of the library's function of the same name: the command's options that the user has set, except
    those for printing and the names in `without`. The library has the same defaults."""
    context = click.get_current_context(silent=True)
    usual = {} if context is None else {  # --weight sets --weighted
        name: value for name, value in context.params.items() if value is not True
        and (source := context.get_parameter_source(name)) is not None and source.name == "DEFAULT"}
    return {name: value for name, value in values.items() if value is not None and name not in (*without, *PRINTED)
            and not (name in usual and value is usual[name])}


def with_device(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command, with the device chosen now, unless workers choose theirs, or distances follow arcs or
    weights, whose tasks choose it. Raises InputError."""
    elsewhere = any(values.get(name) for name in ("workers", "scheduler", *CHOOSING))
    device = values.get("device", CPU)
    return {**values, **({} if elsewhere or device == CPU else {"device": chosen_device(device)})}


def of_task(command: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command as tasks have them: one for the part of eccentricities; weights and directions of paths
    are those of the store."""
    if command in PATHS:
        return {name: value for name, value in asked.items() if name not in KEPT}
    if command == "ecc" and asked["directed"] is None:
        asked = dict(asked)
        radius, center = asked.pop("radius"), asked.pop("center")
        asked["what"] = "radius" if radius and not center else "center" if center else "all"
    return dict(asked)


def task_given(command: str, values: Mapping[str, Any], checkpoint: CheckpointOptions | None, **more: Any) -> Task:
    """The task of a command from its options. checkpoint : replaces the checkpoint options, if the task has one. more :
    options with other values. Raises InputError."""
    from ..runs.task import task_of

    asked = {**passed(values, "store", "weight"), **more}
    if checkpoint is not None and not any(asked.get(name) for name in CHOOSING):
        asked["checkpoint"] = checkpoint
    return task_of(command, asked)


def chosen_device(text: str) -> Selection:
    """The device. If auto finds no GPU, a line on standard error says why. Raises InputError."""
    from ..gpu.setting import select_device

    selected = select_device(text)
    if selected.note:
        complain(f"emdiam: computing on the CPU: {selected.note}")
    return selected
