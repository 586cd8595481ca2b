"""Kernels that are compiled are told of, since seconds of silence look like a fault: to the logger "emdiam", and where
nobody has said what becomes of that, in a line of standard error that is a terminal or belongs to a notebook. The line
goes when the kernel is there. Nothing else of the library writes anything.

How many kernels there will be is known from the last process of the same purpose that has compiled some: the file
LAST in the folder of compiled kernels has its kernels, by module and file, and its seconds for each. Before there is
one, those of a usual run of the purpose count, which usual_kernels.json has by module and function
(scripts/make_kernels.py --usual).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .units import format_seconds

if TYPE_CHECKING:
    from logging import Logger

LAST = "last"
USUAL = Path(__file__).with_name("usual_kernels.json")
_INFO = 20  # logging.INFO
# Of this process: the command line has names of commands.
purpose = "python"


class Spent:
    """Of this process, so far. compiling : wall seconds in which kernels were compiled."""

    compiling = 0.0


def clock() -> float:
    """Wall seconds, from any start, in which no kernel was compiled: what parts of a run are measured by."""
    return time.perf_counter() - Spent.compiling


def sentence(done: int, total: int | None, left: float | None) -> str:
    """What is said while another kernel is compiled. total : of kernels to compile, left : seconds for the rest; None
    where nobody knows."""
    count = f"{done + 1:,}" + ("" if total is None else f" of {total:,}")
    more = "" if left is None else f" about {format_seconds(left)} more,"
    return f"compiling kernels for this machine: {count},{more} once"


@contextmanager
def told(done: int, total: int | None, left: float | None) -> Iterator[None]:
    """Around the compiling of one kernel, after `done` others. The record of the log has `kernels`, done and total."""
    text = sentence(done, total, left)
    _log().info(text, extra={"kernels": (done, total)})
    stream = None if _is_heard() else _interactive()
    if stream is not None:
        stream.write(f"\r{text}")
        stream.flush()
    try:
        yield
    finally:
        if stream is not None:
            stream.write(f"\r{' ' * len(text)}\r")
            stream.flush()


def _is_heard() -> bool:
    """Whether the program has said what becomes of what this package logs, or shows what any logs."""
    log = _log()
    return bool(log.level or log.handlers) or (log.isEnabledFor(_INFO) and log.hasHandlers())


def _log() -> Logger:
    """The logger of this package. Its module takes time to import."""
    from logging import getLogger

    return getLogger("emdiam")


def _interactive() -> Any:
    """Standard error, where somebody looks at it: a terminal, or the output of a notebook; else None."""
    stream = sys.stderr
    notebook = type(stream).__module__.partition(".")[0] == "ipykernel"
    return stream if notebook or (stream is not None and stream.isatty()) else None


def last(folder: Path | None) -> tuple[list[tuple[str, str]], float | None]:
    """Module and file of each kernel that the last process of this purpose called, and its seconds for one; empty and
    None where none is known."""
    try:
        kept = {} if folder is None else json.loads((folder / LAST).read_text(encoding="utf-8"))[purpose]
        return [(str(module), str(place)) for module, place in kept["kernels"]], float(kept["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return [], None


def usual() -> list[tuple[str, str]]:
    """Module and function of each kernel that a usual run of this purpose calls; empty where none is known."""
    named = json.loads(USUAL.read_text(encoding="utf-8")).get(purpose.partition(" ")[0], {})
    return [(module, name) for module, names in named.items() for name in names]


def keep(folder: Path | None, kernels: Sequence[tuple[str, str]], seconds: float) -> None:
    """Have `last` give these from now on. A folder that cannot be written is no fault: they only make a line better."""
    if folder is None:
        return
    file, beside = folder / LAST, folder / f"{LAST}.{os.getpid()}"
    with suppress(OSError):
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = {}
        mine = {purpose: {"kernels": sorted(set(kernels)), "seconds": round(seconds, 3)}}
        beside.write_text(json.dumps({**(kept if isinstance(kept, dict) else {}), **mine}), encoding="utf-8")
        beside.replace(file)
