"""Checkpoints of a conversion or reordering: states of its phases, and the scratch files that they refer to.

A state has, beside what the conversion says of itself, size and checksum of every scratch file. It is written after
these were synced; and they stay as long as one of the states (checkpoint/folder.py) refers to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..checkpoint.folder import DamagedError, Folder
from ..checkpoint.options import CheckpointOptions
from ..checkpoint.records import State, arrays_of, state_of
from ..durable import check_name
from ..errors import InputError
from .scratch import Mark, NamedScratch, check_of


class Checkpoint:
    """The checkpoint in the folder at `path`, locked until `finish` or `release`.

    identity : see Folder. state : the newest good state, None where there is nothing to go on from. notes : what the
    user should know of that, one sentence each. scratch : where its scratch files lie. Raises InputError as Folder,
    and where no state is good.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], options: CheckpointOptions) -> None:
        check_name(path)
        self.path, self.options = path, options
        self.state: State | None = None
        self.notes: list[str] = []
        # Number of a state -> marks of the scratch files that it refers to.
        self._marks: dict[int, dict[str, Mark]] = {}
        self._folder = Folder(path, identity, options)
        try:
            self._load()
            self.scratch = NamedScratch(path, path)
            self.scratch.sweep(self._referred())
        except BaseException:
            self._folder.close()
            raise

    def _load(self) -> None:
        """Read the states; damaged ones are removed, so that they never pass for the newest again."""
        numbers = self._folder.states()
        for number in numbers:
            try:
                with self._folder.state(number) as record:
                    state = state_of(record)
                self._check_files(number, state["files"], whole=self.state is None)
            except (DamagedError, OSError) as error:
                self._folder.damage.append(str(error))
                continue
            self._marks[number] = state["files"]
            self.state = self.state or state
        damage = "; ".join(self._folder.damage)
        if damage and self.state is None:
            raise InputError(f"no checkpoint here can be used ({damage})", path=self.path,
                             remedy="remove the folder and begin anew")
        self._folder.drop([number for number in numbers if number not in self._marks])
        if damage:
            self.notes.append(f"a checkpoint was damaged ({damage}); went on from another one")

    def _check_files(self, number: int, marks: Mapping[str, Mark], whole: bool) -> None:
        """Raise DamagedError or OSError unless the scratch files are there and long enough. whole : and hold what
        was written, which takes reading them."""
        for name, (size, check) in marks.items():
            there = (self.path / name).stat().st_size
            if there < size:
                raise DamagedError(f"state-{number}: the scratch file {name} has {there} of {size} bytes")
            if whole and check_of(self.path / name, size) != check:
                raise DamagedError(f"state-{number}: the scratch file {name} has changed")

    def _referred(self) -> set[str]:
        return {name for marks in self._marks.values() for name in marks}

    @property
    def has_state(self) -> bool:
        """Whether there is something to go on from."""
        return bool(self._marks)

    @property
    def due(self) -> bool:
        """Whether the time between states has gone by."""
        return self._folder.due

    def file_marks(self) -> dict[str, Mark]:
        """Marks of the scratch files that `state` refers to."""
        return {} if self.state is None else dict(self.state["files"])

    def save(self, state: State) -> None:
        """Make `state` the newest. Nobody may be appending to a scratch file.

        Raises BudgetError if the disk is full; the states before are then as they were.
        """
        self.scratch.sync()
        marks = self.scratch.open_marks()
        self._marks[self._folder.save({}, arrays_of({**state, "files": marks}))] = marks
        self._forget(set(self._marks) - set(self._folder.states()))

    def _forget(self, numbers: set[int]) -> None:
        """Remove states, and the scratch files that no other refers to."""
        for number in numbers:
            del self._marks[number]
        self._folder.drop(list(numbers))
        self.scratch.sweep(self._referred())

    def finish(self, done: State) -> None:
        """The work is done: remove the folder, unless it is to stay. done : a last state that needs no scratch file,
        for whoever is killed in here."""
        self.scratch.close()
        self.save(done)
        self._forget(set(self._marks) - {max(self._marks)})
        if not self.options.keep:
            self._folder.remove()
        self.release()

    def release(self) -> None:
        """Let go of the folder and leave all in it, but nothing where there is no state yet. May be called again."""
        try:
            self.scratch.close()
            if not self._marks and self.path.exists():
                self._folder.remove()
        finally:
            self._folder.close()


class SafePoints:
    """The points of a conversion at which its state can be read, and where it is saved.

    checkpoint : None: nothing is saved and every call is free.
    """

    def __init__(self, checkpoint: Checkpoint | None = None) -> None:
        self.checkpoint = checkpoint
        self._state: Callable[[], State] = dict

    @property
    def active(self) -> bool:
        """Whether there are checkpoints."""
        return self.checkpoint is not None

    @property
    def due(self) -> bool:
        """Whether `reached` would save a state now."""
        return self.checkpoint is not None and self.checkpoint.due

    def save_by(self, state: Callable[[], State]) -> None:
        """state() -> State of what the whole conversion has done, with nothing under way in any thread."""
        self._state = state

    def reached(self, *, always: bool = False) -> None:
        """The conversion is at a safe point: save its state if it is time, or `always`.
        Raises BudgetError if the disk is full."""
        checkpoint = self.checkpoint
        if checkpoint is not None and (always or checkpoint.due):
            checkpoint.save(self._state())
