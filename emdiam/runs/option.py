"""What an option is: the kinds of values, and names that some of them take. It imports no library: --help reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..units import parse_count, parse_duration, parse_length, parse_size

# Kinds of values. OFF: a flag that turns off; ON: one that says nothing where it is not given; NAMED: a flag that may
# have a text. FILE to EITHER are written by the command.
SIZE, COUNT, DURATION, LENGTH, NATURAL, POSITIVE, INTEGER, REAL = (
    "size", "count", "duration", "length", "natural", "positive", "integer", "real")
TEXT, FLAG, ON, OFF, NAMED = "text", "flag", "on", "off", "named"
FILE, STORE, FOLDER, SCRATCH, EITHER = "file", "store", "folder", "scratch", "either"
PARSERS: dict[str, Callable[[Any], Any]] = {
    SIZE: parse_size, COUNT: lambda value: parse_count(value) if isinstance(value, str) else value,
    POSITIVE: lambda value: int(value) if isinstance(value, str) else value,
    DURATION: parse_duration, LENGTH: parse_length,
    FILE: Path, STORE: Path, FOLDER: Path, SCRATCH: Path, EITHER: Path}
_ANNOTATIONS = {
    SIZE: "int | str", COUNT: "int | str", DURATION: "float | str", LENGTH: "int | float", NATURAL: "int",
    POSITIVE: "int", INTEGER: "int", REAL: "float", FLAG: "bool", ON: "bool", OFF: "bool", NAMED: "str",
    TEXT: "str", **dict.fromkeys((FILE, STORE, FOLDER, SCRATCH, EITHER), "str | Path")}

# Names that the library has in modules with numpy, or numba; tests compare them.
CODECS = ("lz4", "pcodec", "none")
DIRECTIONS = ("work", "beamer", "paper")
ORDERS = ("natural", "degree", "bfs", "cluster")
AUTO, NEVER, ALWAYS = REORDER = ("auto", "never", "always")
PROBE_SECONDS = 10.0  # wall seconds that a probe may take, unless told otherwise
QUEUE = "queue"  # the variant of BFS that the processors have by name
_, RAM, DISK = STATES = (AUTO, "ram", "disk")  # where vertex state may be
SEARCHES = ("auto", "dijkstra", "bellman-ford", "frontier-bellman-ford", "delta-stepping", "light-heavy",
            "sorted-buckets", "near-far", "workfront-sweep", "h-bf")
# Of a device alone, beside those of SEARCHES that a device has.
DEVICE_SEARCHES = (
    "harish", "harish-pairs", "harish-lists", "harish-list-matrix", "harish-matrix", "harish-edges",
    "harish-paired-edges", "harish-reverse", "workfront-sweep-pairs", "near-far-pairs", "delta-stepping-pairs",
    "h-bf-pairs")
ALL_PAIRS = ("auto", "blocked", "recursive", "squaring", "lazy-minimum", "single-kernel", "floyd-warshall", "johnson",
             "harish", "ortega", "separators")
REPORTS = ("html", "md", "json", "png")
_FIELDS = {"path": "path_file", "chunk": "chunk_ids"}


class Option(NamedTuple):
    """An option of commands, and a keyword of functions.

    Parameters
    ----------
    name : of the value among those of a command; with flags on the command line, by default --NAME, and a keyword in
        Python, by default NAME.
    kind : what its texts mean, see above.
    help : for the command line; "": it is a keyword alone.
    metavar : of its value in the help.
    of : the command that it is of, where it is another option than that of this name of others.
    default : where it is not given; usual : the same, as a function of the machine, and how the help shows it.
    choices : the values that there are; offered : those that a shell completes.
    limits : of a number; for REAL they are no values themselves.
    required : whether the command needs it.
    annotation : of the keyword, where that of the kind is another.
    shared : whether all methods of exact, approx and ecc have it.
    arcs, weights, both : the commands that have it along arcs, along weights, and along weighted arcs.
    idle : values that say nothing there, so that an option that is not for such a run may have them.
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
        """The option as errors name it."""
        return self.flags[-1] if self.flags else f"--{self.name.replace('_', '-')}"

    @property
    def field(self) -> str:
        """The name of its parsed value in the library."""
        return f"{self.name}_bytes" if self.kind == SIZE else _FIELDS.get(self.name, self.name)

    @property
    def python_default(self) -> Any:
        """Where the keyword is not given."""
        return False if self.kind in (FLAG, NAMED) and self.default is None else self.default

    @property
    def python_annotation(self) -> str:
        """Of the keyword."""
        return self.annotation or _ANNOTATIONS[self.kind] + (" | None" if self.python_default is None else "")

    def parsed(self, value: Any) -> Any:
        """A value of the command line, or of Python, as the library takes it. Raises InputError."""
        parse = PARSERS.get(self.kind)
        return value if parse is None else parse(value)
