"""One cell as a process of its own: its peak of memory, its caches and its failures are its own.

The command line is used rather than the library: `emdiam approx STORE --json`. So a cell that is killed
for memory, or fails in any other way, is a row with a reason, and the next one runs.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ..errors import InputError
from .cells import ENDED, FAILED, STOPPED, CellOptions, CellRecord
from .grid import CLUSTERS, EXACT, Cell

# A process looks at its clock now and then, not always: so much longer than its limit it may take.
_GRACE_FACTOR, _GRACE_SECONDS = 1.5, 60.0
# How long one is waited for that is to end: first for its own answer to Ctrl-C, then for that to SIGTERM.
_OWN_SECONDS, _END_SECONDS = 2.0, 20.0
_STOPPED_EARLY = 3


def command_of(store: str, cell: Cell, options: CellOptions) -> list[str]:
    """The command line that runs a cell on the store at a path."""
    if cell.method == EXACT:
        line = ["exact", store]
    else:
        line = ["approx", store, "--method", cell.method, "--seed", str(cell.seed)]
    if cell.method == CLUSTERS:
        line += ["--masters", str(cell.masters)]
        line += ["--euler"] if options.euler else []
        line += _given("--levels", options.levels)
    elif cell.method != EXACT:
        line += _given("--iterations", options.iterations)
    if cell.method in (CLUSTERS, EXACT):
        line += _given("--scratch", options.scratch)
    line += _given("--memory", options.memory_bytes) + _given("--arena", options.arena_bytes)
    line += ["--threads", str(options.threads)]
    if options.cluster is not None:
        cluster = options.cluster
        line += _given("--scheduler", cluster.scheduler) + _given("--workers", cluster.workers)
        line += _given("--worker-memory", cluster.worker_memory_bytes)
        line += _given("--worker-threads", cluster.worker_threads)
    line += ["--time-limit", f"{options.time_limit:f}s"] if options.time_limit is not None else []
    line += ["--evict-page-cache"] if options.evict_page_cache else []
    if options.checkpoints is not None:
        line += ["--checkpoint", str(Path(options.checkpoints) / cell.name), "--resume"]
        line += _given("--checkpoint-every", options.checkpoint_every)
    return [sys.executable, "-m", "emdiam", *line, "--json", "--quiet"]


def run_cell(store: str, digest: str, cell: Cell, options: CellOptions) -> CellRecord:
    """Run one cell and wait for it.

    digest : of the store. Raises InputError if the cell has met another store, and KeyboardInterrupt;
    then its process has ended. No other failure of the process is an error.
    """
    begin = time.monotonic()
    code, out, err = _finished(command_of(store, cell, options), options.time_limit)
    status, reason, result = outcome(code, out, err)
    if result is not None and result["store_digest"] != digest:
        raise InputError("the store has changed since the first cell", path=store,
                         remedy="delete the folder of the cells and begin again")
    return CellRecord(cell, digest, options.identity(), status, reason, code, time.monotonic() - begin,
                      options.time_limit, result)


def outcome(code: int, out: str, err: str) -> tuple[str, str | None, dict[str, Any] | None]:
    """(status, reason, result) of a process that left with `code`, having printed `out` and `err`."""
    result: dict[str, Any] | None = None
    if code in (0, _STOPPED_EARLY) and out.strip():
        try:
            result = json.loads(out)
        except ValueError:
            return FAILED, "its answer is not JSON", None
    if code == 0 and result is not None:
        return ENDED, None, result
    status = STOPPED if code == _STOPPED_EARLY else FAILED
    return status, _reason(code, err), result


def _given(option: str, value: Any) -> list[str]:
    return [] if value is None else [option, str(value)]


def _finished(command: list[str], time_limit: float | None) -> tuple[int, str, str]:
    """(exit code, standard output, standard error); the process has ended, whatever happens here."""
    patience = None if time_limit is None else _GRACE_FACTOR * time_limit + _GRACE_SECONDS
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        out, err = _end(process)
        err += f"\nemdiam: it did not stop by itself within {patience:.0f} s"
    except BaseException:
        _end(process)
        raise
    return process.returncode, out, err


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a process that has had Ctrl-C too, ask one that has not (SIGTERM, so that it removes its
    scratch files), and kill it if that does not help; its standard output and error."""
    for patience in (_OWN_SECONDS, _END_SECONDS):
        try:
            return process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.terminate()
        except KeyboardInterrupt:  # a second one: no more waiting
            break
    process.kill()
    return process.communicate()


def _reason(code: int, err: str) -> str:
    """The last sentence of the process, or what its exit code says."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    own = [line.removeprefix("emdiam: ") for line in lines if line.startswith("emdiam: ")]
    if own or lines:
        return (own or lines)[-1]
    if code < 0:
        hint = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
        return f"ended by {signal.Signals(-code).name}{hint}"
    return f"left with exit code {code} and no answer"
