#!/usr/bin/env python3
"""Write docs/cli-reference.md from the --help of every command.

Run it after a change of the command line; the tests compare. The text depends on click's way of
writing help, so the file names the version of click that wrote it.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import click

from emdiam.cli.main import group

TARGET = Path(__file__).resolve().parent.parent / "docs" / "cli-reference.md"
_HEAD = """# Command line reference

Written by scripts/make_cli_reference.py from `--help` (click {click}); edit the commands, not this
file. What the commands are for, with examples: [commands](commands/README.md).
"""


def click_version() -> str:
    """Major and minor version of click: its help looks alike within one."""
    return ".".join(metadata.version("click").split(".")[:2])


def sections(command: click.Command, parent: click.Context | None, name: str) -> list[str]:
    """The help of a command and of its subcommands, depth first, as Markdown sections."""
    context = click.Context(command, parent=parent, info_name=name, terminal_width=80,
                            **command.context_settings)
    title = "##" if parent is None or parent.parent is None else "###"
    text = [f"{title} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            inner = command.get_command(context, child)
            assert inner is not None
            text += sections(inner, context, child)
    return text


def reference() -> str:
    """The whole file."""
    return "\n".join([_HEAD.format(click=click_version()), *sections(group, None, "emdiam")])


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
