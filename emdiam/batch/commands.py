"""From the tables of a job to a command line, checked by the parser that will read it.

What a command takes is asked of the command itself, so that a jobs file can say what the command line
can, and nothing else. Only what its files are for is written down here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from ..errors import clause

WORK = ("convert", "generate", "reorder", "exact", "approx", "tradeoff", "verify")
# Arguments and options that name files, by what happens to them.
READS: dict[str, tuple[str, ...]] = {
    "convert": ("inputs",), "generate": (), "reorder": ("store",), "exact": ("store",), "approx": ("store",),
    "tradeoff": ("store",), "verify": ("certificate", "store"),
}
WRITES: dict[str, tuple[str, ...]] = {
    "convert": ("store",), "generate": ("store",), "reorder": ("target",),
    "exact": ("certificate", "path", "keep-reordered"), "approx": ("keep-reordered",), "tradeoff": ("out",),
    "verify": (),
}
# Options that a job may not give: a key of the job does, or the batch.
_KEYS = {"memory": "memory", "method": "method"}
OF_BATCH = ("json", "csv", "events", "verbose", "quiet", "log-interval", "checkpoint", "resume", "help")
# Commands that end by their own --time-limit, with an answer; that of tradeoff is for each of its cells.
LIMITS_ITSELF = ("exact", "approx")


def find_command(group: click.Group, name: str, kind: str | None) -> tuple[list[str], click.Command] | None:
    """The words that name a command on the command line, and the command; None if there is none such.
    kind : the subcommand of a command that has some (the class of `generate`)."""
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
    """Options of a table as texts (True: a flag that is set), and what is wrong with the others, by key.

    Underscores stand for dashes. A list is joined with commas, as options that take several read it; a
    flag that is false is left out.
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
            if known is not None and not known.is_flag:
                wrong[key] = f"{name} wants a value, not {str(value).lower()}"
            elif value:
                values[name] = True
        elif not isinstance(value, str | int | float | list):
            wrong[key] = f"{name} wants a text, a number, a list or true"
        elif known is not None and known.is_flag:
            wrong[key] = f"{name} is a flag: write true, or leave it out"
        else:
            values[name] = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return values, wrong


def option_words(values: Mapping[str, Any]) -> list[str]:
    """Words of a command line that give the options; True: a flag. None and False: left out."""
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in values.items()
            if value is not None and value is not False]


def argument_words(words: Sequence[str]) -> list[str]:
    """Words of a command line that give the positional arguments; none passes for an option."""
    return [f"./{word}" if word.startswith("-") else word for word in words]


def complaints(command: click.Command, words: Sequence[str], values: Mapping[str, Any]) -> dict[str, str]:
    """What the command's own parser says against the command line, by option ("" for the whole).

    words : the positional arguments. Each option is tried alone, because the parser stops at the first
    fault; then all together, for what is missing.
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
