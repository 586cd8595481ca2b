"""Checkpoints of a conversion or reordering: a folder with its scratch files and its last two states.

    NNNNNN.scratch   scratch files (named_scratch.py)
    state.N          what was done by then (state_file.py), with size and crc32c of every scratch file; N rises

A state is written beside the others, synced, and renamed, after the scratch files that it refers to were
synced. The last two are kept, and with them all files that either refers to; so a newest one that is
damaged costs the time since the one before, and nothing else. The folder is locked while it is in use.
A state goes with one conversion: inputs, options, target and version of the program are its key.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from .._version import __version__
from ..checkpoints import check_own, check_resumed, lock_checkpoint
from ..durable import check_name, sync_path
from ..errors import InputError
from ..state_file import DamagedStateError, State, read_state, write_state
from .named_scratch import Mark, NamedScratch, check_of, is_scratch_name
from .scratch import disk_full_is_said

# Raised with every change of what a state holds.
FORMAT = 3
KEPT = 2
_STATE = re.compile(r"state\.(\d+)")
_NEW = "state.new"


class Checkpoint:
    """The checkpoint folder of one conversion, locked until `finish` or `release`.

    state : the newest good state, None where there is nothing to go on from. notes : what the user
    should know of that, one sentence each. scratch : where its scratch files lie.
    """

    def __init__(self, folder: Path, every_seconds: float, resume: bool = False) -> None:
        self.folder, self._every, self.asked_to_resume = folder, every_seconds, resume
        self.state: State | None = None
        self.notes: list[str] = []
        self._lock: int | None = lock_checkpoint(folder)
        # Number of a state kept -> marks of the scratch files that it refers to.
        self._kept: dict[int, dict[str, Mark]] = {}
        self._last = perf_counter()
        try:
            self.scratch = NamedScratch(folder, folder)
        except BaseException:
            os.close(self._lock)
            raise

    @classmethod
    def open(cls, folder: Path, key: Mapping[str, Any], *, every_seconds: float, resume: bool) -> Checkpoint:
        """Open, or make, the checkpoint folder.

        key : names of what must be the same to go on, as a sentence calls them, and their values
        (JSON). every_seconds : the time between states inside long phases. resume : go on from the
        state there, if there is one.

        Raises InputError where the folder is in use, holds other files, has a state but `resume` is
        False, or where the state has another key or is damaged like the one before it.
        """
        folder = Path(folder)
        _make(folder)
        made = cls(folder, every_seconds, resume)
        try:
            numbers = made._numbers()
            if numbers:
                check_resumed(folder, resume)
            made._load(numbers)
            made._take(key)
        except BaseException:
            made.release()
            raise
        return made

    def _numbers(self) -> list[int]:
        """Numbers of the states there, the newest first."""
        found = (_STATE.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def _load(self, numbers: list[int]) -> None:
        """Read the states; damaged ones are removed, so that they never pass for the newest again."""
        faults = []
        for number in numbers:
            path = self._path(number)
            try:
                state = read_state(path)
                self._check_files(state["files"], whole=self.state is None)
            except (DamagedStateError, OSError) as error:
                faults.append(f"{path.name}: {error}")
                continue
            self._kept[number] = state["files"]
            if self.state is None:
                self.state = state
        if faults and self.state is None:
            raise InputError(f"no checkpoint here can be used ({'; '.join(faults)})", path=self.folder,
                             remedy="remove the folder and begin anew")
        for number in set(numbers) - self._kept.keys():
            self._path(number).unlink()
        if faults:
            self.notes.append(f"a checkpoint was damaged ({'; '.join(faults)}); went on from another one")

    def _check_files(self, marks: Mapping[str, Mark], whole: bool) -> None:
        """Raise DamagedStateError or OSError unless the scratch files are there and long enough. whole : and hold
        what was written, which takes reading them."""
        for name, (size, check) in marks.items():
            there = (self.folder / name).stat().st_size
            if there < size:
                raise DamagedStateError(f"the scratch file {name} has {there} of {size} bytes")
            if whole and check_of(self.folder / name, size) != check:
                raise DamagedStateError(f"the scratch file {name} has changed")

    def _take(self, key: Mapping[str, Any]) -> None:
        """Compare the key of the state with `key`, and drop files that no state refers to."""
        self._key: dict[str, Any] = json.loads(json.dumps({"version": [__version__, FORMAT], **key}))
        if self.state is not None:
            old = self.state["key"]
            for name in dict.fromkeys((*self._key, *old)):
                if self._key.get(name) != old.get(name):
                    raise InputError(f"the checkpoint was made with another {name}", path=self.folder,
                                     remedy=_difference(old.get(name), self._key.get(name)))
        self.scratch.sweep(self._referred())

    def _referred(self) -> set[str]:
        return {name for marks in self._kept.values() for name in marks}

    def _path(self, number: int) -> Path:
        return self.folder / f"state.{number}"

    @property
    def has_state(self) -> bool:
        """Whether there is something to go on from."""
        return bool(self._kept)

    @property
    def due(self) -> bool:
        """Whether the time between states has gone by."""
        return perf_counter() - self._last >= self._every

    def file_marks(self) -> dict[str, Mark]:
        """Marks of the scratch files that `state` refers to."""
        return {} if self.state is None else dict(self.state["files"])

    def save(self, state: State) -> None:
        """Make `state` the newest. Nobody may be appending to a scratch file.

        Raises BudgetError if the disk is full; the states before are then as they were.
        """
        self.scratch.sync()
        marks = self.scratch.open_marks()
        number = 1 + max(self._kept, default=0)
        new = self.folder / _NEW
        with disk_full_is_said(self.folder, "a checkpoint"):
            write_state(new, {**state, "key": self._key, "files": marks})
            os.rename(new, self._path(number))
            sync_path(self.folder)
        self._kept[number] = marks
        for old in sorted(self._kept)[:-KEPT]:
            del self._kept[old]
            self._path(old).unlink(missing_ok=True)
        self.scratch.sweep(self._referred())
        self._last = perf_counter()

    def finish(self, done: State, *, keep: bool = False) -> None:
        """The work is done: remove the folder. done : a last state that needs no scratch file, for
        whoever is killed in here. keep : leave that state."""
        self.scratch.close()
        self.save(done)
        last = max(self._kept)
        for number in sorted(self._kept.keys() - {last}):
            del self._kept[number]
            self._path(number).unlink()
        self.scratch.sweep(set())
        if not keep:
            self._path(last).unlink()
        self.release()

    def release(self) -> None:
        """Let go of the folder and leave all in it, but nothing where there is no state yet. May be
        called again."""
        try:
            self.scratch.close()
            if self._lock is not None and not self._numbers():
                self.scratch.sweep(set())
                (self.folder / _NEW).unlink(missing_ok=True)
                self.folder.rmdir()
        finally:
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None


def make_folder(folder: Path) -> None:
    """Make the folder unless it is there. Raises InputError if something else is, or it cannot be made."""
    check_name(folder)
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise InputError("this is no folder", path=folder, remedy="name another one with --checkpoint") from None


def _make(folder: Path) -> None:
    """The same. Raises InputError also if something else lies in it."""
    make_folder(folder)
    check_own(folder, lambda name: is_scratch_name(name) or _STATE.fullmatch(name) is not None or name == _NEW)


def _difference(old: Any, new: Any) -> str:
    """What was and what is, short enough for a sentence."""
    before, now = (json.dumps(value) for value in (old, new))
    told = f"it was {before} and is {now}; " if len(before) + len(now) < 400 else ""
    return f"{told}give what it was made with, or remove the folder to begin anew"


class SafePoints:
    """The points of a conversion at which its state can be told, and where it is kept.

    checkpoint : None: nothing is kept and every call is free. `tell` is set by the conversion: what
    the whole of it has done, as a State, with nothing under way in any thread.
    """

    def __init__(self, checkpoint: Checkpoint | None = None) -> None:
        self.checkpoint = checkpoint
        self._tell: Callable[[], State] = dict

    @property
    def active(self) -> bool:
        """Whether there are checkpoints."""
        return self.checkpoint is not None

    @property
    def due(self) -> bool:
        """Whether `reached` would keep a state now."""
        return self.checkpoint is not None and self.checkpoint.due

    def told_by(self, tell: Callable[[], State]) -> None:
        """tell() -> State of the whole, called at safe points."""
        self._tell = tell

    def reached(self, *, always: bool = False) -> None:
        """The conversion is at a safe point: keep its state if it is time, or `always`.
        Raises BudgetError if the disk is full."""
        checkpoint = self.checkpoint
        if checkpoint is not None and (always or checkpoint.due):
            checkpoint.save(self._tell())
