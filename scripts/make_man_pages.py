#!/usr/bin/env python3
"""Write pages for `man`, emdiam(1) and one a command as emdiam-exact(1), from the tables of the command line.

    python scripts/make_man_pages.py [FOLDER]      # by default build/man

A wheel has them in its data (setup.py), so that `man emdiam-exact` finds them beside the installed command.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from emdiam._version import __version__
from emdiam.cli import short_help
from emdiam.cli.main import COMMANDS, group

TARGET = Path(__file__).resolve().parent.parent / "build" / "man"
EXIT_CODES = (("0", "answered"), ("1", "a fault of emdiam itself"), ("2", "the input or the options are at fault"),
              ("3", "stopped early; the answer has the bounds proved so far"))


def escaped(text: str) -> str:
    """A text for roff: no character of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def paragraphs(text: str) -> Iterator[str]:
    """A docstring, paragraph by paragraph."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        yield ".PP"
        yield escaped(" ".join(paragraph.split()))


def items(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names in bold, each with its text. A long list of choices breaks between two of them, not inside one."""
    for name, text in rows:
        yield ".TP"
        yield f".B {escaped(name)}".replace("|", "|\\:")
        yield escaped(text)


def option_rows(options: Iterable[click.Option], context: click.Context) -> Iterator[tuple[str, str]]:
    """What the help says of options."""
    return (record for one in options if (record := one.get_help_record(context)) is not None)


def head(name: str, summary: str, synopsis: str) -> Iterator[str]:
    """The first sections of a page. No word is hyphenated: it may be a name to copy."""
    yield from (f'.TH {name.upper()} 1 "" "emdiam {__version__}" "emdiam"', ".nh", ".ad l")
    yield from (".SH NAME", f"{escaped(name)} \\- {escaped(summary)}", ".SH SYNOPSIS", f".B {escaped(synopsis)}")


def tail(examples: Iterable[str], others: Iterable[str]) -> Iterator[str]:
    """The last sections of a page."""
    yield from (".SH EXAMPLES", ".EX", *map(escaped, examples), ".EE", ".nh", ".SH EXIT STATUS", *items(EXIT_CODES))
    yield from (".SH SEE ALSO", *(f".BR {escaped(name)} (1)" for name in others))


def page(name: str, command: click.Command, parent: click.Context) -> str:
    """The page of a command."""
    context = click.Context(command, parent=parent, info_name=name)
    words = " ".join(command.collect_usage_pieces(context))
    lines = [*head(f"emdiam-{name}", command.get_short_help_str(200).rstrip("."), f"emdiam {name} {words}"),
             ".SH DESCRIPTION", *paragraphs(command.help or ""), ".SH OPTIONS"]
    if isinstance(command, click.Group):
        lines += class_options(command, context)
    for title, options in short_help.grouped(command, context):
        lines += [f".SS {escaped(title)}", *items(option_rows(options, context))]
    return "\n".join([*lines, *tail(short_help.EXAMPLES[name], ("emdiam",))]) + "\n"


def class_options(command: click.Group, context: click.Context) -> Iterator[str]:
    """The options of the classes of graphs, then those that all of them have."""
    shared: list[click.Option] = []
    for name in command.list_commands(context):
        kind = command.get_command(context, name)
        assert kind is not None
        inner = click.Context(kind, parent=context, info_name=name)
        options = short_help.options_of(kind, inner)
        own = [one for one in options if one.name not in short_help.SHARED_OF_CLASSES]
        shared = [one for one in options if one.name in short_help.SHARED_OF_CLASSES]
        yield from (f".SS {escaped(name)}", *paragraphs(kind.help or ""), *items(option_rows(own, inner)))
    yield from (".SS All classes", *items(option_rows(shared, context)))


def first_page() -> str:
    """The page of emdiam itself."""
    context = click.Context(group, info_name="emdiam")
    rows = [(name, command.get_short_help_str(200)) for name in COMMANDS
            if (command := group.get_command(context, name)) is not None]
    lines = [*head("emdiam", "diameters of graphs that fit neither in RAM nor in VRAM", "emdiam COMMAND [OPTIONS] ..."),
             ".SH DESCRIPTION", *paragraphs(group.help or ""), ".SH COMMANDS", *items(rows)]
    examples = [short_help.EXAMPLES[name][0] for name in ("convert", "exact")]
    return "\n".join([*lines, *tail(examples, [f"emdiam-{name}" for name in COMMANDS])]) + "\n"


def pages() -> dict[str, str]:
    """Name of the file and text of every page."""
    context = click.Context(group, info_name="emdiam")
    found = {"emdiam.1": first_page()}
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        found[f"emdiam-{name}.1"] = page(name, command, context)
    return found


def write_pages(folder: Path) -> list[Path]:
    """Write all pages to a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


if __name__ == "__main__":
    print(*write_pages(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET), sep="\n")
