"""The files that a command reads and writes: an output may replace neither an input nor another output.

The check is made before a command begins, from its arguments and options by the names of the command line. Places are
compared with links resolved. Standard output, pipes, devices and addresses are no places.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError, is_url
from .option import EITHER, FILE, FOLDER, INPUT, STORE
from .options import COMMANDS, option_of

# Arguments that name what a command reads, and the argument that names what it writes. A graph may be written again to
# its own store.
_READ = ("inputs", "store", "certificate", "sources", "jobs")
_WRITTEN = {"convert": "store", "generate": "store", "apply": "target", "reorder": "target"}

# Ends of the names of files that a report reads in a folder, or beside a result.
_RESULTS = (".jsonl", "answer.json", "state.json", "tradeoff.json")


class _Output(NamedTuple):
    """name, path : in errors. kind : FILE, STORE, FOLDER or EITHER. place : with links resolved."""

    name: str
    kind: str
    path: str
    place: str


def check_outputs(command: str, asked: Mapping[str, Any], folder: str | Path = "") -> None:
    """Raise InputError if an output of a command would replace or change an input, or another output.

    command : its name. asked : its arguments and options; other values than paths and lists of paths are ignored.
    folder : relative paths begin there.
    """
    outputs, inputs = list[_Output](), list[str]()
    for name, value in asked.items():
        label, kind = _use(command, name)
        places = _places(value, folder) if kind else ()
        if kind == INPUT:
            inputs += [place for _, place in places]
        else:
            outputs += [_Output(label, kind, *named) for named in places]
    for number, output in enumerate(outputs):
        for place in inputs:
            _check_input(output, place, command)
        for other in outputs[:number]:
            _check_other(output, other)


def _use(command: str, name: str) -> tuple[str, str]:
    """The name of an argument or option in errors, and its kind; "" if it names no files."""
    if name == _WRITTEN.get(command):
        return "the new store", STORE
    option = option_of(command, name) if name in COMMANDS.get(command, ()) else None
    if option is not None:
        return option.flag, option.kind if option.kind in (INPUT, FILE, STORE, FOLDER, EITHER) else ""
    return name, INPUT if name in _READ else ""


def _places(value: Any, folder: str | Path) -> Iterator[tuple[str, str]]:
    """The paths in a value, and their places; of a pattern those of its files."""
    import glob

    value = getattr(value, "address", value)  # of a Store
    values: Iterable[Any] = value if isinstance(value, list | tuple) else (value,)
    for text in (str(one).removeprefix("file://") for one in values if isinstance(one, str | Path)):
        path = os.path.join(folder, text)
        if text in ("", "-") or is_url(text) or _is_special(path):
            continue
        found = glob.glob(path) if glob.has_magic(text) and not os.path.lexists(path) else [path]
        yield from ((text, os.path.realpath(one)) for one in found)


def _is_special(path: str) -> bool:
    """Whether there is a pipe or a device."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _check_input(output: _Output, place: str, command: str) -> None:
    """Raise InputError if an output would replace an input or a part of it."""
    is_store = place.endswith(".zarr") or os.path.isfile(os.path.join(place, "zarr.json"))
    if output.place == place:
        into_folder = os.path.isdir(place) and not is_store
        fault = not into_folder and not (is_store and output.kind == STORE and command in _WRITTEN)
    elif command == "report" and _is_within(output.place, place if os.path.isdir(place) else os.path.dirname(place)):
        fault = os.path.isfile(output.place) and output.place.endswith(_RESULTS)
    elif _is_within(output.place, place):
        fault = is_store or os.path.isfile(output.place)
    else:
        fault = output.kind != FOLDER and _is_within(place, output.place)
    if fault:
        raise InputError(f"{output.name} would overwrite what this command reads, or a part of it", path=output.path,
                         remedy="choose another place")


def _check_other(output: _Output, other: _Output) -> None:
    """Raise InputError if two outputs have one place, or one is in a store that is the other."""
    if output.place == other.place or any(one.kind == STORE and _is_within(two.place, one.place)
                                          for one, two in ((output, other), (other, output))):
        raise InputError(f"{other.name} and {output.name} have the same place", path=output.path,
                         remedy="choose another one for one of them")


def _is_within(place: str, folder: str) -> bool:
    return place.startswith(folder.rstrip(os.sep) + os.sep)
