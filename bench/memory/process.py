"""A process of the command line, and the peak of its resident memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Linux counts what the parent holds towards the peak of a process that it starts, so a parent that holds nothing starts
# it. The peak is that of the process (VmHWM, kept until it has ended), or of one that it started if that is larger.
_LAUNCHER = """
import json, os, sys
child = os.posix_spawn(sys.executable, [sys.executable, "-m", "emdiam", *sys.argv[2:]], os.environ)
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024], file)
"""
_GRACE_SECONDS = 20.0


@dataclass(frozen=True)
class Ended:
    """A process that has ended. code : exit code, negative for a signal; None where it was ended for its time.
    peak_bytes : resident memory. out, err : what it printed."""

    code: int | None
    peak_bytes: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """The last line of its complaints."""
        lines = [line for line in self.err.splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""


def call(arguments: Sequence[str], seconds: float | None = None) -> Ended:
    """Run emdiam with these arguments, for at most so long."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as told:
        command = [sys.executable, "-I", "-S", "-c", _LAUNCHER, told.name, *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as launcher:
            over = False
            try:
                out, err = launcher.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                over = True
                _end_child_of(launcher.pid)
                out, err = launcher.communicate(timeout=_GRACE_SECONDS)
        code, peak = json.load(told)
    return Ended(None if over else code, peak, out, err)


def _end_child_of(launcher: int) -> None:
    """SIGTERM to the process that the launcher waits for, which removes its temporary files then."""
    for child in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        os.kill(int(child), signal.SIGTERM)
