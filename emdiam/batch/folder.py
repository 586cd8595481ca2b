"""The folder of a batch: its lock, what is under way, and a folder for every job.

    lock            held while a batch runs; its process id
    state.json      jobs that are under way, and files that this batch has made
    results.jsonl   see results.py
    jobs/NAME/      answer.json, log.txt, events.jsonl and checkpoint/ of a job
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..durable import sync_path
from ..errors import InputError

_LOCK, _STATE, _FORMAT = "lock", "state.json", 1


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder, which is made if absent. Raises InputError if another batch has it."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
            raise InputError(f"another batch (process {who or 'unknown'}) is being run in this folder now",
                             path=folder, remedy="wait for it, or choose another folder with --out") from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


class JobFolder:
    """The folder of one job."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answer, self.log = path / "answer.json", path / "log.txt"
        self.events, self.checkpoint = path / "events.jsonl", path / "checkpoint"

    def has_checkpoint(self) -> bool:
        """Whether an earlier attempt has left something to go on from."""
        return self.checkpoint.is_dir() and any(self.checkpoint.iterdir())

    def forget(self) -> None:
        """Remove the checkpoint."""
        if self.checkpoint.is_dir():
            shutil.rmtree(self.checkpoint)

    def make(self, *, empty: bool) -> None:
        """Make the folder if it is absent. empty : nothing of earlier attempts is left."""
        if empty and self.path.is_dir():
            shutil.rmtree(self.path)
        self.path.mkdir(parents=True, exist_ok=True)


class State:
    """What a batch knows of its jobs beside their results, on disk after every change.

    under_way : name -> (digest, attempts) of jobs that were started and have not ended. owned : absolute
    paths that jobs have begun to make, where there was nothing before; they may be made again.
    """

    def __init__(self, folder: Path) -> None:
        """Read it. Raises InputError for a file that is none of ours."""
        self._path = folder / _STATE
        self.under_way: dict[str, tuple[str, int]] = {}
        self.owned: set[str] = set()
        if not self._path.exists():
            return
        try:
            data: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
            if data["format"] != _FORMAT:
                raise ValueError(f"format {data['format']!r}")
            self.under_way = {str(name): (str(digest), int(attempts))
                              for name, (digest, attempts) in data["under_way"].items()}
            self.owned = set(map(str, data["owned"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"this is not the state of a batch ({error})", path=self._path,
                             remedy="choose another folder, or delete this file: jobs that were under way then begin"
                                    " anew, and stores in their way are yours to delete") from None

    def begin(self, name: str, digest: str, attempts: int, makes: tuple[str, ...]) -> None:
        """A job is about to start, and will make these paths."""
        self.under_way[name] = (digest, attempts)
        self.owned |= {path for path in makes if "://" not in path and not os.path.lexists(path)}
        self._write()

    def end(self, name: str) -> None:
        """The result of a job has been written."""
        if self.under_way.pop(name, None) is not None:
            self._write()

    def _write(self) -> None:
        text = json.dumps({"format": _FORMAT, "under_way": self.under_way, "owned": sorted(self.owned)}, indent=1)
        partial = self._path.with_name(_STATE + ".partial")
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, self._path)
        sync_path(self._path.parent)
