"""`emdiam generate`: write a graph of a known class directly to a store. Each class has a subcommand, built from the
registry of classes, so that options and help always match the library."""

from __future__ import annotations

from typing import Any

import click

from ..generators.make import CLASSES, GraphClass, Parameter
from ..runs.options import COMMANDS
from . import options
from .checkpoint import answered_writing
from .outcome import EmdiamCommand, Suggesting

_KINDS: dict[str, click.ParamType] = {"count": options.COUNT, "real": click.FLOAT, "sides": click.STRING,
                                     "levels": click.STRING, "fans": click.STRING}
_METAVARS = {"count": "COUNT", "real": "REAL", "sides": "SIDES", "levels": "sqrt|linear|COUNT", "fans": "K1,K2[,K3]"}


class ClassGroup(Suggesting):
    """A group with one subcommand per class."""

    kind = "class"

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the classes, in the order of the registry."""
        return list(CLASSES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of a class; None for an unknown class."""
        return class_command(CLASSES[cmd_name]) if cmd_name in CLASSES else None


@click.group(cls=ClassGroup, subcommand_metavar="CLASS STORE [OPTIONS]...")
def command() -> None:
    """Generate a graph of a known class into a store.

    Equal classes, parameters and seeds give equal graphs. The options of a class: `emdiam generate CLASS --help`.
    """


def class_command(kind: GraphClass) -> click.Command:
    """The subcommand of one class."""
    def body(store: str, **values: Any) -> int:
        from ..api import generate
        from .convert import report_text

        return answered_writing(values, store, lambda listener: generate(
            kind.name, store, progress=listener, **options.passed(values)), report_text)

    facts = f"Diameter: {kind.diameter_formula or 'no formula is known'}. Source: {kind.paper}."
    built = EmdiamCommand(kind.name, callback=body, params=[click.Argument(["store"], type=options.NEW_STORE)],
                          short_help=kind.summary.removeprefix(kind.name + ": "),
                          help=f"{kind.summary[0].upper()}{kind.summary[1:]}.\n\n{facts}")
    vertices, *others = COMMANDS["generate"]
    options.of("generate", vertices, help=f"Number of vertices: {kind.vertices}.",
               required=kind.vertices_required)(built)
    built.params += map(_class_option, kind.parameters)
    return options.of("generate", *others)(built)


def _class_option(parameter: Parameter) -> click.Option:
    """The option of a class parameter. The library has its default and checks its range."""
    kind = options.Choice(parameter.choices) if parameter.kind == "choice" else _KINDS[parameter.kind]
    text = parameter.help[0].upper() + parameter.help[1:]
    if parameter.default is not None:
        text += f". [default: {parameter.default}]"
    return click.Option(["--" + parameter.name.replace("_", "-"), parameter.name], type=kind, help=text,
                        metavar=_METAVARS.get(parameter.kind))
