"""One job as a process of its own: started, watched, told to stop, waited for.

The process leads a group of its own, so that Ctrl-C on a terminal reaches it only through the batch, once.
It ends with the batch, however that ends (PR_SET_PDEATHSIG of Linux): no job runs without one that waits.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..units import peak_rss_bytes
from .results import TIME_LIMIT, USER

_PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>
# How long one that was told to stop is waited for, before it is killed.
END_SECONDS = 20.0


@dataclass(frozen=True)
class Exit:
    """code : negative for a signal. seconds : wall time. peak_rss_bytes : of the largest of its processes, if
    known. told : who told it to stop, or None."""

    code: int
    seconds: float
    peak_rss_bytes: int | None
    told: str | None


class Child:
    """A running job. deadline : seconds after its start at which it is told to stop."""

    def __init__(self, command: list[str], folder: Path, streams: tuple[Path, Path], environment: dict[str, str],
                 deadline: float | None) -> None:
        """Start it in `folder`. streams : files for its standard output (replaced) and error (added to)."""
        self._deadline, self._kill_at = deadline, 0.0
        self._told: str | None = None
        self._peak: int | None = None
        self.began = time.monotonic()
        with open(streams[0], "wb") as out, open(streams[1], "ab") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                start_new_session=True, preexec_fn=_end_with(os.getpid(), ctypes.CDLL(None)))

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def poll(self) -> Exit | None:
        """How it ended, or None while it runs. Sees to its deadline."""
        self._measure()
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid:
            return self._ended(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
        now = time.monotonic()
        if self._told is not None:
            if now > self._kill_at:
                self._signal(signal.SIGKILL)
        elif self._deadline is not None and now - self.began > self._deadline:
            self._tell(TIME_LIMIT, signal.SIGTERM)
        return None

    def interrupt(self) -> None:
        """Tell it to stop, as Ctrl-C would; by SIGTERM, of which Python says nothing if it has only just started."""
        if self._told is None:
            self._tell(USER, signal.SIGTERM)

    def kill(self) -> None:
        """End it and all it has started, now."""
        self._told = self._told or USER
        self._signal(signal.SIGKILL)

    def _tell(self, who: str, number: signal.Signals) -> None:
        self._told, self._kill_at = who, time.monotonic() + END_SECONDS
        self._signal(number)

    def _signal(self, number: signal.Signals) -> None:
        # Its helpers too, as a terminal does. It has not been waited for, so the number is still its own.
        os.killpg(self.pid, number)

    def _measure(self) -> None:
        """Note the peak by now: the kernel's own figure at the end may be that of the batch, from which the
        process was forked."""
        try:
            text = Path(f"/proc/{self.pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return  # it has ended
        for line in text.splitlines():
            if line.startswith("VmHWM:"):
                self._peak = max(self._peak or 0, int(line.split()[1]) * 1024)

    def _ended(self, code: int, largest: int) -> Exit:
        self._process.returncode = code  # it was waited for here, which Popen should know
        if largest > peak_rss_bytes():
            self._peak = max(self._peak or 0, largest)
        return Exit(code, time.monotonic() - self.began, self._peak, self._told)


def _end_with(parent: int, libc: ctypes.CDLL) -> Callable[[], None]:
    """What a process does before it becomes the job. SIGTERM rather than SIGKILL: it ends its own helpers."""

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:
            raise ChildProcessError("the batch has ended")

    return ask
