"""The cells of the grid of a trade-off (methods, numbers of masters, seeds): their processes and their records.

Each cell runs in a separate process, `emdiam approx STORE --json`, so that its memory peak, caches and failures do not
affect others. A cell that is killed for memory, or fails in any other way, becomes a row with a reason, and the next
one runs.

Each cell has a JSON file, so that a stopped grid resumes without repeating it. The file has the cell, the store's
digest, the options that affect its figures, the end of the run, and its result. It is written at the end of the run,
first under another name, so that it is complete or absent. Cells of another store or with other options are refused,
since one table cannot combine them.

Numbers of masters are a list with commas. Its items are those of methods/approx/masters.py, or ranges: "2^8..2^24:4" is
2^8, 2^10, ..., 2^24, each 4 times the previous one; the default factor is 4.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .._version import __version__
from ..batch.attempt import DONE, FAILED, PROGRAM, STOPPED, outcome
from ..batch.jobfile import option_words
from ..durable import write_whole
from ..errors import InputError
from ..methods.approx.masters import AUTO, one_item, parse_masters, resolve_masters
from ..runs.registry import entry_of
from ..runs.task import Task
from ..runs.tradeoff import ENDED
from ..runs.weights import methods_of
from ..units import parse_count

FOLDER = "cells"


# Defaults of the options of every run that are not fields of a Task.
_OWN = {"vertex_state": "auto", "reorder": "auto", "weighted": False, "device": "cpu"}


def cell_task(iterations: int | None = None, euler: bool = False, levels: int | None = None,
              scratch: str | None = None, own: Mapping[str, Any] | None = None, **fields: Any) -> Task:
    """The common task of all runs of a grid; each cell sets its method and seed.

    iterations : of sweep, spanning and fringe; None: each method's default. euler, levels : of clusters. own :
    vertex_state, reorder, weighted and device of all cells. fields : of Task; its checkpoint names the folder of the
    cells' checkpoints, from which stopped cells resume."""
    options = {"iterations": iterations, "euler": euler, "levels": levels, "scratch": scratch, **_OWN, **(own or {})}
    return Task("", options, "approx", **fields)


def identity_of(task: Task) -> dict[str, Any]:
    """The options that affect the figures, and the version. The time limit does not affect a finished cell."""
    own = {name: task.options[name] for name in ("iterations", "euler", "levels", *_OWN)}
    return {**{name: getattr(task, name) for name in ("memory_bytes", "arena_bytes", "threads", "evict_page_cache")},
            **own, "cluster": None if task.cluster is None else asdict(task.cluster), "version": __version__}


@dataclass(frozen=True)
class CellRecord:
    """The record of a cell after its run. options : see identity_of. status : ENDED; STOPPED by the time limit
    (`result` has the interval at that time, or is None); FAILED. reason : a clause, unless ENDED. result : output of
    the command with --json. wall_seconds : of the process, with its start."""

    cell: Cell
    store_digest: str
    options: dict[str, Any]
    status: str
    reason: str | None
    exit_code: int
    wall_seconds: float
    time_limit: float | None
    result: dict[str, Any] | None

    def counts(self, time_limit: float | None, retry: bool) -> bool:
        """Whether the record suffices. A stopped cell runs again if the time limit is longer now, and with `retry` all
        cells run again that are not ENDED."""
        if self.status == ENDED:
            return True
        more = self.time_limit is not None and (time_limit is None or time_limit > self.time_limit)
        return not retry and not (self.status == STOPPED and more)


def write_record(folder: Path, record: CellRecord) -> None:
    """Write the record to `folder`. Raises OSError."""
    write_whole(folder / f"{record.cell.name}.json", json.dumps(asdict(record), indent=1, allow_nan=False) + "\n")


def read_records(folder: Path, store_digest: str, options: dict[str, Any]) -> dict[str, CellRecord]:
    """The cells in `folder` by name, also those of another grid.

    Raises InputError for a foreign file, and for cells of another store or other options.
    """
    records = {}
    for path in sorted(folder.glob("*.json")):
        record = _read(path)
        if record.store_digest != store_digest:
            raise InputError("this folder holds runs of another store", path=folder.parent,
                             remedy="choose another folder, or delete this one")
        kept = {**_OWN, **record.options}
        differing = [f"{name} {kept.get(name)!r} instead of {value!r}"
                     for name, value in options.items() if kept.get(name) != value]
        if differing:
            raise InputError("this folder holds runs with other options: " + ", ".join(differing),
                             path=folder.parent, remedy="give the same ones, choose another folder, or delete this one")
        records[record.cell.name] = record
    return records


def _read(path: Path) -> CellRecord:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        record = CellRecord(**{**data, "cell": Cell(**data["cell"])})
        if path.stem != record.cell.name or record.status not in (ENDED, STOPPED, FAILED):
            raise ValueError(f"{record.cell.name}, {record.status}")
        if record.status == ENDED and record.result is None:
            raise ValueError("no result")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"this is not a run of a trade-off ({error})", path=path,
                         remedy="delete it, and it will be run again") from None
    return record


# A process checks its clock only at intervals: factor and seconds by which it may exceed its limit.
_GRACE_FACTOR, _GRACE_SECONDS = 1.5, 60.0
# Waits for the end of a process: first after Ctrl-C, then after SIGTERM.
_ANSWER_SECONDS, _END_SECONDS = 2.0, 20.0


def command_of(store: str, cell: Cell, task: Task) -> list[str]:
    """The command line that runs a cell on the store at a path."""
    exact, clusters, own, cluster = cell.method == EXACT, cell.method == CLUSTERS, task.options, task.cluster
    values: dict[str, Any] = {} if exact else {"method": cell.method, "seed": cell.seed}
    if own["weighted"] and not clusters:  # a sweep along weights has no random choices
        values.pop("seed", None)
    if clusters:
        values |= {"masters": cell.masters, "euler": own["euler"], "levels": own["levels"]}
    elif not exact:
        values["iterations"] = own["iterations"]
    values |= {name.replace("_", "-"): own[name] for name, usual in _OWN.items() if own[name] != usual}
    values |= {"scratch": own["scratch"], "memory": task.memory_bytes, "arena": task.arena_bytes,
              "threads": task.threads}
    if cluster is not None:
        values |= {"scheduler": cluster.scheduler, "workers": cluster.workers,
                  "worker-memory": cluster.worker_memory_bytes, "worker-threads": cluster.worker_threads}
    values |= {"time-limit": None if task.time_limit is None else f"{task.time_limit:f}s",
              "evict-page-cache": task.evict_page_cache}
    if task.checkpoint is not None and task.checkpoint.folder is not None:
        values |= {"checkpoint": task.checkpoint.folder / cell.name, "resume": True,
                  "checkpoint-every": task.checkpoint.every}
    values |= {"json": True, "quiet": True}
    return [*PROGRAM, "exact" if exact else "approx", store, *option_words(values)]


def run_cell(store: str, digest: str, cell: Cell, task: Task) -> CellRecord:
    """Run one cell and wait for it.

    digest : of the store. Raises InputError if the cell found another store, and KeyboardInterrupt after the end of its
    process. Other failures of the process are recorded, not raised.
    """
    begin = time.monotonic()
    limit = task.time_limit
    patience = None if limit is None else _GRACE_FACTOR * limit + _GRACE_SECONDS
    code, out, err, ended = _finished(command_of(store, cell, task), patience)
    status, _, reason, result = outcome(code, out, err)
    if not ended and status != DONE:
        reason = f"it did not stop by itself within {patience:.0f} s"
    if result is not None and result["store_digest"] != digest:
        raise InputError("the store has changed since the first run", path=store,
                         remedy="delete the folder and begin again")
    return CellRecord(cell, digest, identity_of(task), ENDED if status == DONE else status, reason, code,
                      time.monotonic() - begin, limit, result)


def _finished(command: list[str], patience: float | None) -> tuple[int, str, str, bool]:
    """Run a process; its exit code, standard output, standard error, and whether it ended by itself within `patience`
    seconds. The process has ended on return, also after an exception."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    ended = True
    try:
        out, err = process.communicate(timeout=patience)
    except BaseException as stop:
        out, err = _end(process)
        if not isinstance(stop, subprocess.TimeoutExpired):
            raise
        ended = False
    return process.returncode, out, err, ended


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """End a process; return its standard output and error. Wait first, since it may have received Ctrl-C too; then send
    SIGTERM, so that it removes its scratch files; and kill it if it does not end."""
    for patience in (_ANSWER_SECONDS, _END_SECONDS):
        try:
            return process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.terminate()
        except KeyboardInterrupt:  # a second Ctrl-C ends the wait
            break
    process.kill()
    return process.communicate()


CLUSTERS, EXACT = "clusters", "exact"
FACTOR = 4
_RANGE = re.compile(r"^([^:]*?)\.\.([^:]*)(?::(.*))?$")
_REMEDY = "write it like 2^8..2^24:4, first and last number, and their factor"


@dataclass(frozen=True)
class Cell:
    """One run. method : of runs.registry.APPROXIMATIONS, or EXACT. masters : expected number of masters, AUTO, or None
    for methods without masters. seed : None for EXACT. label : heading of the masters in a table."""

    method: str
    masters: int | str | None = None
    seed: int | None = None
    label: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """A unique name, valid as a file name."""
        parts = [self.method]
        if self.masters is not None:
            parts.append(f"masters-{self.masters}")
        if self.seed is not None:
            parts.append(f"seed-{self.seed}")
        return "-".join(parts)


@dataclass(frozen=True)
class Grid:
    """cells : in run order. left_out : a sentence for every number of masters that is impossible for the graph."""

    cells: tuple[Cell, ...]
    left_out: tuple[str, ...]


def parse_grid(text: str) -> list[int | str]:
    """The distinct numbers of masters in the order of the text: an int for a count, "10%" for a share, "auto". Raises
    InputError like parse_masters, and for an invalid range."""
    items: list[int | str] = []
    for part in text.split(","):
        items += _range(part.strip()) if ".." in part else parse_masters(part)
    return list(dict.fromkeys(items))


def make_grid(methods: Sequence[str], masters: Sequence[int | str], seeds: Sequence[int], n_vertices: int, *,
              exact: bool = False, weighted: bool = False) -> Grid:
    """The cells for a graph with n_vertices >= 1: the exact run first, if requested, then the methods in their order,
    for each seed; clusters with each number of masters (items of parse_grid). weighted : whether distances follow
    weights, which only some methods support.

    Raises InputError for an unknown method, and if there is no method, no seed or no cell.
    """
    for method in methods:
        entry_of(method, "approx")
    if not methods and not exact:
        raise InputError("there is no method to run", remedy="name one, or ask for the exact run")
    if not seeds or min(seeds) < 0:
        raise InputError("a seed is a whole number from 0 on", text=", ".join(map(str, seeds)))
    columns, left_out = _columns(masters, n_vertices) if CLUSTERS in methods else ([], [])
    if weighted:
        along = methods_of("approx")
        left_out += [f"{method} does not go along weights" for method in methods if method not in along]
        methods = [method for method in methods if method in along]
    cells = [Cell(EXACT)] if exact else []
    for seed in dict.fromkeys(seeds):
        for method in dict.fromkeys(methods):
            cells += [Cell(method, count, seed, label) for count, label in (
                columns if method == CLUSTERS else [(None, "")])]
    if not cells:
        raise InputError("no run is possible: " + "; ".join(left_out), remedy="ask for fewer masters")
    return Grid(tuple(cells), tuple(left_out))


def _columns(masters: Sequence[int | str], n_vertices: int) -> tuple[list[tuple[int | str, str]], list[str]]:
    """(masters, label) of every number that is possible for the graph, each count once; sentences for the others."""
    columns: dict[int | str, str] = {}
    left_out = []
    for item in masters:
        if isinstance(item, int) and item > n_vertices:
            left_out.append(f"{_label(item)} masters are more than the {n_vertices:,} vertices")
        elif item == AUTO:
            columns.setdefault(AUTO, AUTO)
        else:
            columns.setdefault(resolve_masters(item, n_vertices), _label(item))
    return list(columns.items()), left_out


def _label(item: int | str) -> str:
    """"~2^10" for a power of two, "~1,000" for another count ("~" since it is an expected number); "10%" unchanged."""
    if isinstance(item, str):
        return item
    power = item.bit_length() - 1
    return f"~2^{power}" if item == 1 << power else f"~{item:,}"


def _range(text: str) -> list[int | str]:
    match = _RANGE.match(text)
    if match is None:
        raise InputError("not a range of masters", text=text, remedy=_REMEDY)
    first, last = one_item(match.group(1).strip()), one_item(match.group(2).strip())
    factor = FACTOR if match.group(3) is None else parse_count(match.group(3))
    if not isinstance(first, int) or not isinstance(last, int):
        raise InputError("a range of masters goes from one count to another", text=text, remedy=_REMEDY)
    for fault, what in ((first > last, "a range of masters goes upwards"),
                        (factor < 2, "the factor of a range is 2 or more")):
        if fault:
            raise InputError(what, text=text, remedy=_REMEDY)
    items: list[int | str] = []
    while first <= last:
        items.append(first)
        first *= factor
    return items
