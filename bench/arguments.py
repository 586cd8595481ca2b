"""Arguments of several programs, and types of them, for argparse."""

from __future__ import annotations

import argparse
from pathlib import Path

from emdiam.errors import InputError
from emdiam.units import parse_count

from .cache import Cache
from .programs import NAMED, Programs


def count(text: str) -> int:
    """A count like 2^22."""
    try:
        return parse_count(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_programs(parser: argparse.ArgumentParser) -> None:
    """The options that say where programs of other authors are."""
    parser.add_argument("--programs", type=Path, metavar="DIR", default=Path(__file__).parent / ".programs",
                        help="checkouts that are built, by the names of their repositories (default: bench/.programs)")
    parser.add_argument("--program", action="append", default=[], type=_named, metavar="NAME=PATH",
                        help=f"a program that is built elsewhere (again for more): {', '.join(NAMED)}")


def programs_of(arguments: argparse.Namespace, cache: Cache) -> Programs:
    """What these options say; files for the programs are kept in the cache."""
    return Programs(arguments.programs, cache.folder / "foreign", dict(arguments.program))


def _named(text: str) -> tuple[str, Path]:
    """A name of NAMED and the file of its program, of NAME=PATH. Raises ArgumentTypeError."""
    name, _, path = text.partition("=")
    if name not in NAMED:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(NAMED)}")
    if not Path(path).is_file():
        raise argparse.ArgumentTypeError(f"there is no program {path!r}")
    return name, Path(path).resolve()
