"""Messages about kernels being compiled, since seconds of silence look like a fault. They go to the logger "emdiam"
and, if the program has not configured that, to a line of standard error if it is a terminal or belongs to a notebook
(there for the first kernel). The line disappears when the kernel is ready. The library writes nothing else.

The number of kernels is estimated from the last process with the same purpose that compiled some: the file LAST in the
folder of compiled kernels has its kernels, by module and file, and its seconds for each. Before it exists, the kernels
of a usual run of the purpose count, listed in usual_kernels.json by module and function (scripts/make_kernels.py
--usual).
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
# The purpose of this process; the command line sets the name of the command.
purpose = "python"


class Spent:
    """Totals of this process. compiling : wall seconds spent on compiling kernels."""

    compiling = 0.0


def clock() -> float:
    """Wall seconds, from an arbitrary start, without time for compiling kernels: used to measure parts of a run."""
    return time.perf_counter() - Spent.compiling


def sentence(done: int, total: int | None, left: float | None) -> str:
    """The message while another kernel is compiled. total : number of kernels to compile, left : seconds for the rest;
    None if unknown."""
    count = f"{done + 1:,}" + ("" if total is None else f" of {total:,}")
    more = "" if left is None else f", about {format_seconds(left)} left"
    return f"compiling kernel {count} for this machine, once{more}"


@contextmanager
def shown(done: int, total: int | None, left: float | None) -> Iterator[None]:
    """Context for compiling one kernel, after `done` others; shows the message. The log record has `kernels`, (done,
    total)."""
    text = sentence(done, total, left)
    _log().info(text, extra={"kernels": (done, total)})
    stream = None if _is_heard() else _interactive(done)
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
    """Whether the program has configured the logging of this package, or shows all logging."""
    log = _log()
    return bool(log.level or log.handlers) or (log.isEnabledFor(_INFO) and log.hasHandlers())


def _log() -> Logger:
    """The logger of this package; imported late, as the module takes time."""
    from logging import getLogger

    return getLogger("emdiam")


def _interactive(done: int) -> Any:
    """Standard error if it is a terminal, else None. In a notebook, which keeps every message, for the first kernel."""
    stream = sys.stderr
    notebook = type(stream).__module__.partition(".")[0] == "ipykernel" and not done
    return stream if notebook or (stream is not None and stream.isatty()) else None


def last(folder: Path | None) -> tuple[list[tuple[str, str]], float | None]:
    """Module and file of each kernel that the last process with this purpose called, and its seconds for one; empty and
    None if unknown."""
    try:
        kept = {} if folder is None else json.loads((folder / LAST).read_text(encoding="utf-8"))[purpose]
        return [(str(module), str(place)) for module, place in kept["kernels"]], float(kept["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return [], None


def usual() -> list[tuple[str, str]]:
    """Module and function of each kernel that a usual run of this purpose calls; empty if unknown."""
    named = json.loads(USUAL.read_text(encoding="utf-8")).get(purpose.partition(" ")[0], {})
    return [(module, name) for module, names in named.items() for name in names]


def keep(folder: Path | None, kernels: Sequence[tuple[str, str]], seconds: float) -> None:
    """Store these for `last`. Errors of writing are ignored, as the data only improve a message."""
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
