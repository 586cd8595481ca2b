#!/usr/bin/env python3
"""Write the reference of the command line, each option once, from the options of every command.

    python scripts/make_cli_reference.py [FILE]      # by default build/cli-reference.md

scripts/docs puts it in the place of docs/cli-reference.md, as the reference of Python is made of docstrings.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import click

from emdiam.cli.main import group
from emdiam.cli.outcome import WHOLE
from emdiam.cli.short_help import ANSWER, SECTIONS

TARGET = Path(__file__).resolve().parent.parent / "build" / "cli-reference.md"
# So many commands share an option before it moves to the first section.
SHARED_BY = 3
_WIDTH = 100
_HEAD = """# Command line reference

Written by scripts/make_cli_reference.py from the options of the commands (click {click}); edit those, not this file.
[Commands](commands/README.md) has a page with examples for each. Options that several commands share come first, once;
each command lists its own, and names the shared ones. `emdiam COMMAND --help-all` prints both together.
"""
Record = tuple[str, str]


def click_version() -> str:
    """Major and minor version of click: its help looks alike within one."""
    return ".".join(metadata.version("click").split(".")[:2])


def children(command: click.Command, context: click.Context) -> list[tuple[click.Command, click.Context]]:
    """The subcommands of a command, each with its context."""
    found: list[tuple[click.Command, click.Context]] = []
    if not isinstance(command, click.Group):
        return found
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        found.append((inner, click.Context(inner, parent=context, info_name=name, **inner.context_settings)))
    return found


def records(command: click.Command, context: click.Context) -> dict[str, Record]:
    """What the help says of each option of a command, by its name; --help, which all have, is left out."""
    return {option.name: record for option in command.params
            if isinstance(option, click.Option) and option.name and (record := option.get_help_record(context))}


def common(command: click.Command, context: click.Context) -> dict[str, Record]:
    """The options of a command; of a group those that all of its subcommands have."""
    every = [records(*child) for child in children(command, context)] or [records(command, context)]
    return {name: record for name, record in every[0].items() if all(one.get(name) == record for one in every)}


def shared_options(commands: Iterable[tuple[click.Command, click.Context]]) -> dict[str, Record]:
    """The options that several commands have with the same text: of each name its most frequent one."""
    counts = Counter(item for one in commands for item in common(*one).items())
    return {name: record for (name, record), count in reversed(counts.most_common()) if count >= SHARED_BY}


def listed(options: Iterable[Record]) -> str:
    """Options and their texts in two columns."""
    formatter = click.HelpFormatter(width=_WIDTH)
    formatter.write_dl(list(options))
    return formatter.getvalue()


def shared_section(shared: dict[str, Record]) -> Iterator[str]:
    """The shared options, in the sections of the help."""
    sections = {ANSWER: [name for name in shared if not any(name in names for names in SECTIONS.values())],
                **{title: [name for name in names if name in shared] for title, names in SECTIONS.items()}}
    yield "## Shared options\n"
    for title, names in sections.items():
        if names:
            yield f"{title}:\n\n```text\n{listed(shared[name] for name in names)}```\n"


def in_sections(names: list[str], shared: dict[str, Record]) -> Iterator[str]:
    """The shared options of a command: the title of a section of which it has all, else their names."""
    for title, options in SECTIONS.items():
        whole = [name for name in options if name in shared]
        if len(whole) > 1 and set(whole) <= set(names):
            yield f"all of *{title}*"
            names = [name for name in names if name not in whole]
    yield from (f"`{shared[name][0].replace(',', '').split()[0]}`" for name in names)


def section(command: click.Command, context: click.Context, known: dict[str, Record], depth: str = "##"
            ) -> Iterator[str]:
    """Usage, purpose and options of a command, but for those of `known`, which are named; then its subcommands."""
    formatter = click.HelpFormatter(width=_WIDTH)
    context.meta[WHOLE] = depth != "##"  # of a class of graphs all, of a command what its page does not say
    if depth == "##":
        command.format_usage(context, formatter)
    command.format_help_text(context, formatter)
    has = common(command, context)
    own = [record for name, record in has.items() if known.get(name) != record]
    if own:
        formatter.write_paragraph()
        formatter.write_dl(own)
    yield f"{depth} {context.command_path}\n\n```text\n{formatter.getvalue()}```\n"
    names = [name for name, record in has.items() if known.get(name) == record]
    if names and depth == "##":
        yield f"Shared: {', '.join(in_sections(names, known))}.\n"
    for child in children(command, context):
        yield from section(*child, known | has, "###")


def reference() -> str:
    """The whole file."""
    context = click.Context(group, info_name="emdiam", **group.context_settings)
    commands = children(group, context)
    shared = shared_options(commands)
    text = [_HEAD.format(click=click_version()), *shared_section(shared)]
    formatter = click.HelpFormatter(width=_WIDTH)
    group.format_usage(context, formatter)
    group.format_help_text(context, formatter)
    text.append(f"## emdiam\n\n```text\n{formatter.getvalue()}```\n")
    for one in commands:
        text += section(*one, shared)
    return "\n".join(text)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(reference(), encoding="utf-8")
