"""The environment of processes that a batch starts, and how those of an earlier batch are found."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

_FOLDER = "EMDIAM_BATCH_FOLDER"
# How long processes without their batch are waited for: they have been told already (SIGTERM), then they are
# told again, then ended.
_OWN_SECONDS, _TERM_SECONDS = 3.0, 5.0
_TICK = 0.05


def library_environment() -> dict[str, str]:
    """An environment in which this package is found from every folder, whatever is in that folder."""
    package = str(Path(__file__).resolve().parents[2])
    given = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": package if not given else package + os.pathsep + given}


def job_environment(folder: Path) -> dict[str, str]:
    """The same, with the mark of the batch in `folder`; what a job starts inherits it."""
    return {**library_environment(), _FOLDER: str(folder.resolve())}


def processes_of(folder: Path) -> list[int]:
    """Ids of the processes of this user that carry the mark of the batch in `folder`, this one not among them."""
    mark = f"{_FOLDER}={folder.resolve()}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "environ").read_bytes().split(b"\0")
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue  # it has ended, or is another user's
            if mark in words:
                found.append(int(entry.name))
    return found


def end_leftovers(folder: Path) -> int:
    """See to it that no process of an earlier batch in `folder` is left; their number when this began.

    A job whose batch was killed has had SIGTERM from the system at that moment, so that it is given time to
    leave a checkpoint; what a job had started itself has not.
    """
    left = _surely(folder)
    if not left or _ended(folder, _OWN_SECONDS):
        return len(left)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes_of(folder):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue  # it has ended since
        if _ended(folder, _TERM_SECONDS):
            break
    return len(left)


def _ended(folder: Path, seconds: float) -> bool:
    """Whether they all have ended within so much time."""
    patience = time.monotonic() + seconds
    while _surely(folder):
        if time.monotonic() > patience:
            return False
        time.sleep(_TICK)
    return True


def _surely(folder: Path) -> list[int]:
    """As processes_of, asked again before the answer is none: a process that is just being started shows its
    environment a moment later."""
    found = processes_of(folder)
    if not found:
        time.sleep(_TICK)
        found = processes_of(folder)
    return found
