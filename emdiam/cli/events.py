"""`--events FILE.jsonl`: what a command was asked, every event, and how it ended, a JSON object a line.

Schema in docs/events.md. A line is one write to a file opened for appending, so several runs may share
a file and a killed run leaves whole lines, but for the last one at most; the next run begins a new
line. A disk that is full ends the record with one warning and never the run. Events of one phase are
thinned to one a second, after a burst at the start that short runs keep whole.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from .._version import __version__
from ..addresses import plain
from ..durable import open_to_append, write_all
from ..errors import InputError
from ..progress import Allowance, Event
from .output import complain
from .unanswered import stored_record

SCHEMA = 1
AT_ONCE, RATE = 100, 1.0
TURNS_AT_ONCE, TURN_RATE = 400, 5.0
_JSON = json.JSONEncoder(allow_nan=False)


class EventLog:
    """A listener that writes records; begin_log makes one, and `end` closes it. Any thread may call it.

    path : the file, appended to. Raises InputError if it cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            self._file = open_to_append(path)
        except OSError as error:
            raise InputError(f"events cannot be written ({error.strerror})", path=path,
                             remedy="name a file in a folder that you may write to") from error
        self._path, self._run = str(path), os.urandom(4).hex()
        self._began, self._lock = time.monotonic(), threading.Lock()
        self._open, self._phase = True, ""
        self._all, self._turns = Allowance(AT_ONCE, RATE), Allowance(TURNS_AT_ONCE, TURN_RATE)
        self._torn = self._ends_torn()

    def __call__(self, event: Event) -> None:
        """Record one event, unless there were too many lately."""
        if event.kind == "traversal":  # the library bounds their rate
            facts = {"phase": event.phase, **event.facts}
            profile = {"profile": facts.pop("profile")} if "profile" in facts else {}
            self.write("traversal", facts, **profile)
            return
        turn = event.finished or event.phase != self._phase
        if self._all.take() or (turn and self._turns.take()):
            self._phase = event.phase
            self.write("progress", {name: getattr(event, name) for name in (
                "phase", "done", "total", "unit", "finished", "facts")})

    def end(self, exit_code: int, sentence: str | None) -> None:
        """The last record, and the file is closed. sentence : what was complained of, if anything."""
        self.write("end", {"exit_code": exit_code, "sentence": sentence})
        with self._lock:
            self._close()

    def write(self, record: str, rest: dict[str, Any], **profile: list[list[int]]) -> None:
        """One record. profile : plain as it is; to look at all of it would take six times as long as to write it."""
        with self._lock:
            if not self._open:
                return
            data = {"record": record, "run": self._run, "at": round(time.monotonic() - self._began, 6),
                    "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                    "kernel_seconds": round(_kernel_seconds(), 6), **plain(rest), **profile}
            line = (b"\n" if self._torn else b"") + _JSON.encode(data).encode() + b"\n"
            self._torn = False
            try:
                write_all(partial(os.write, self._file), line)
            except OSError as error:
                self._close()
                complain(f"warning: no more events are written to {self._path} ({error.strerror})")

    def _close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._file)

    def _ends_torn(self) -> bool:
        """Whether the file ends within a line, as a killed run may leave it."""
        try:
            size = os.fstat(self._file).st_size
            return size > 0 and os.pread(self._file, 1, size - 1) != b"\n"
        except OSError:  # a pipe or a terminal has no end to look at
            return False


def _kernel_seconds() -> float:
    """jit.kernel_seconds; a command that runs no kernel must not import numba for it."""
    jit = sys.modules.get("emdiam.jit")
    return 0.0 if jit is None else float(jit.kernel_seconds())


def begin_log(path: str | Path, command: str, arguments: dict[str, Any]) -> EventLog:
    """A log at `path` whose first record has the command and its arguments (by the names of its options). Raises
    InputError if the file cannot be opened."""
    log = EventLog(path)
    store = None if command in ("convert", "generate") else arguments.get("store")
    log.write("begin", {"schema": SCHEMA, "command": command, "version": __version__, "arguments": arguments,
                        "store_digest": None if store is None else store_digest(str(store)), "process": os.getpid()})
    return log


def store_digest(store: str) -> str | None:
    """The digest in the record of a store, without opening it; None for what is no store on a disk
    (the command will say what is wrong with it)."""
    digest = stored_record(store).get("chunk_digest")
    return None if digest is None else str(digest)
