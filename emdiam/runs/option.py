"""The class of options, kinds of values, and names that some options take. It imports no library: --help reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..units import parse_count, parse_duration, parse_length, parse_size

# Kinds of values. OFF: a flag that turns something off; ON: a flag that is None when unset; NAMED: a flag that may have
# a text. The command writes the files of FILE to EITHER, and reads those of INPUT.
SIZE, COUNT, DURATION, LENGTH, NATURAL, POSITIVE, INTEGER, REAL = (
    "size", "count", "duration", "length", "natural", "positive", "integer", "real")
TEXT, FLAG, ON, OFF, NAMED = "text", "flag", "on", "off", "named"
FILE, STORE, FOLDER, SCRATCH, EITHER, INPUT = "file", "store", "folder", "scratch", "either", "input"
PARSERS: dict[str, Callable[[Any], Any]] = {
    SIZE: parse_size, COUNT: lambda value: parse_count(value) if isinstance(value, str) else value,
    **dict.fromkeys((POSITIVE, NATURAL), lambda value: int(value) if isinstance(value, str) else value),
    DURATION: parse_duration, LENGTH: parse_length,
    FILE: Path, STORE: Path, FOLDER: Path, SCRATCH: Path, EITHER: Path}
_PATHS = (FILE, STORE, FOLDER, SCRATCH, EITHER)
# The types that each kind takes in Python, and how a sentence says so. A bool is no number.
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    SIZE: ((Integral, str), "a number of bytes, or a text such as 4GiB"),
    COUNT: ((Integral, str), "a whole number, or a text such as 2^20"),
    DURATION: ((Real, str), "a number of seconds, or a text such as 10min"), LENGTH: ((Real, str), "a number"),
    **dict.fromkeys((NATURAL, POSITIVE, INTEGER), ((Integral, str), "a whole number")), REAL: ((Real, str), "a number"),
    **dict.fromkeys((FLAG, ON, OFF), ((bool,), "True or False")), TEXT: ((str,), "a text"),
    INPUT: ((str, os.PathLike), "a path"), **dict.fromkeys(_PATHS, ((str, os.PathLike), "a path"))}
_ANNOTATIONS = {
    SIZE: "int | str", COUNT: "int | str", DURATION: "float | str", LENGTH: "int | float", NATURAL: "int",
    POSITIVE: "int", INTEGER: "int", REAL: "float", FLAG: "bool", ON: "bool", OFF: "bool", NAMED: "str",
    TEXT: "str", INPUT: "str", **dict.fromkeys(_PATHS, "str | Path")}

# Names that modules of the library with numpy or numba also define; tests compare them.
CODECS = ("lz4", "pcodec", "none")
DIRECTIONS = ("work", "beamer", "paper")
ORDERS = ("natural", "degree", "bfs", "cluster")
AUTO, NEVER, ALWAYS = REORDER = ("auto", "never", "always")
PROBE_SECONDS = 10.0  # default wall seconds of a probe
QUEUE = "queue"  # the BFS variant of CPUs that can be named
_, RAM, DISK = STATES = (AUTO, "ram", "disk")  # where vertex state may be
SEARCHES = ("auto", "dijkstra", "bellman-ford", "frontier-bellman-ford", "delta-stepping", "light-heavy",
            "sorted-buckets", "near-far", "workfront-sweep", "h-bf")
# Searches of devices only, in addition to the members of SEARCHES that a device has.
DEVICE_SEARCHES = (
    "harish", "harish-pairs", "harish-lists", "harish-list-matrix", "harish-matrix", "harish-edges",
    "harish-paired-edges", "harish-reverse", "workfront-sweep-pairs", "near-far-pairs", "delta-stepping-pairs",
    "h-bf-pairs", "sorted-buckets-pairs", "ortega", "ortega-pairs")
ALL_PAIRS = ("auto", "blocked", "recursive", "squaring", "lazy-minimum", "single-kernel", "floyd-warshall", "johnson",
             "harish", "ortega", "separators")
REPORTS = ("html", "md", "json", "png")
_FIELDS = {"path": "path_file", "chunk": "chunk_ids"}


class Option(NamedTuple):
    """An option of commands, and a keyword of functions.

    Parameters
    ----------
    name : name of the value within a command. On the command line it has flags, by default --NAME; in Python it is a
        keyword, by default NAME.
    kind : how its texts are parsed, see above.
    help : for the command line; "": it is a keyword only.
    metavar : name of its value in the help.
    of : its command, if other commands have another option of this name.
    default : its value when unset; usual : the same as a function of the machine, with a text for the help.
    choices : all its values; offered : values that a shell completes.
    limits : smallest and largest number; for REAL the limits themselves are excluded.
    required : whether the command needs it.
    annotation : type of the keyword, if it is not the type of the kind.
    shared : whether all methods of exact, approx and ecc have it.
    arcs, weights, both : the commands that have it along arcs, along weights, and along weighted arcs.
    idle : values without an effect along these metrics, which are allowed there even if the option is not.
    """

    name: str
    kind: str = TEXT
    help: str = ""
    metavar: str | None = None
    of: str = ""
    default: Any = None
    usual: tuple[Callable[[], Any], str] | None = None
    flags: tuple[str, ...] = ()
    keyword: str = ""
    choices: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    limits: tuple[int | None, int | None] = (None, None)
    required: bool = False
    annotation: str = ""
    shared: bool = False
    arcs: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    both: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The name of the option in errors."""
        return self.flags[-1] if self.flags else f"--{self.name.replace('_', '-')}"

    @property
    def field(self) -> str:
        """The name of its parsed value in the library."""
        return f"{self.name}_bytes" if self.kind == SIZE else _FIELDS.get(self.name, self.name)

    @property
    def python_default(self) -> Any:
        """The default of the keyword."""
        return False if self.kind in (FLAG, NAMED) and self.default is None else self.default

    @property
    def python_annotation(self) -> str:
        """The type of the keyword, as text."""
        return self.annotation or _ANNOTATIONS[self.kind] + (" | None" if self.python_default is None else "")

    def parsed(self, value: Any) -> Any:
        """Parse a value of the command line or of Python. Raises InputError."""
        types, words = _TYPES.get(self.kind, ((), ""))
        parse = PARSERS.get(self.kind)
        try:
            if words and not self.annotation and not _is_of(value, types):
                raise TypeError
            return value if parse is None else parse(value)
        except (TypeError, ValueError):
            raise InputError(f"the value of {self.flag} is of another kind", text=str(value)[:80],
                             remedy=f"give {words}") from None


def _is_of(value: Any, types: tuple[type, ...]) -> bool:
    """Whether a value has one of these types, or is parsed already, such as a selected device. A bool is no number."""
    is_bool = type(value).__name__ in ("bool", "bool_")
    if is_bool or types == (bool,):
        return is_bool and types == (bool,)
    return isinstance(value, types) or type(value).__module__.startswith("emdiam.")
