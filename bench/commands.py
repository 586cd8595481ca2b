"""Whole commands: a process from its start to its end, with its peak of memory and a time limit."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """seconds : from start to end, wall. cpu_seconds : of the process. peak_bytes : largest resident memory.
    code : exit status, negative for a signal; None where the time limit ended it. out, err : what it printed."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    code: int | None
    out: str
    err: str

    @property
    def failure(self) -> str | None:
        """Why it has no answer, in a few words; None if it came to its end with 0."""
        if self.code is None:
            return f"> {self.seconds:.0f} s"
        if self.code == 0:
            return None
        last = (self.err.strip().splitlines() or ["no message"])[-1]
        return f"failed ({self.code}): {last[-160:]}"


def run_command(words: Sequence[str | Path], limit: float, environment: Mapping[str, str] | None = None,
                folder: Path | None = None) -> Finished:
    """Run a command. limit : wall seconds, after which it is killed. environment : beside that of this process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        child = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 cwd=folder, env={**os.environ, **(environment or {})})
        late = threading.Event()

        def end() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(limit, end)
        timer.start()
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)  # it is no longer there to be waited for
        for file in (out, err):
            file.seek(0)
        return Finished(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024,
                        None if late.is_set() else child.returncode, out.read().decode(errors="replace"),
                        err.read().decode(errors="replace"))
