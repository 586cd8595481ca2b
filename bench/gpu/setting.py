"""What every part of a run is given, and the cells that its figures come in."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from emdiam.gpu.device import Device

from .sizes import SIZES, Sizes

Row = dict[str, Any]


class TooSlow(Exception):
    """A cell has used up its time."""


class Skipped(Exception):
    """A cell cannot be had on this machine; the text says why."""


class BrokenDevice(Exception):
    """The device does not answer any more: the process has to be started anew."""


# A variant or a driver, and its mapping ("" for none).
Subject = tuple[str, str]
NO_TIME = "no time was left"
NOT_CUDA = "the device is not CUDA's"
# So many subjects of a mapping have to have ended a process for all of them to be passed over.
DEADLY = 2


def _nothing(name: str, subject: Subject | None = None) -> None:
    """Note the beginning of no cell."""


@dataclass
class Setting:
    """device : to measure. xp : numpy, or cupy to make inputs on the GPU. cuda : what only CUDA can tell
    (cuda.Cuda), or None with the reason in `no_cuda`. seconds : left for this part from now on. out : folder
    for files beside the report, or None. done : cells that were begun in an earlier attempt, which are passed
    over. earlier : rows of such attempts. dead : subjects that have ended a process. named : the device, as programs of
    this folder are told it. begin : is told the name of each cell before it runs, and its
    subject.
    """

    device: Device
    sizes: Sizes = field(default_factory=lambda: SIZES["full"])
    xp: ModuleType = np
    cuda: Any = None
    no_cuda: str = NOT_CUDA
    seconds: float = 540.0
    out: Path | None = None
    done: Container[str] = frozenset()
    earlier: Sequence[Row] = ()
    dead: frozenset[Subject] = frozenset()
    named: str = "gpu"
    begin: Callable[[str, Subject | None], None] = _nothing
    started: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Seconds left for the part."""
        return self.seconds - (time.monotonic() - self.started)

    def forget(self) -> None:
        """Give back the device memory that is kept for reuse, so that a limit counts what is held from now on."""
        if self.cuda is not None:
            self.cuda.forget()

    def is_dead(self, subject: Subject) -> bool:
        """Whether it has ended a process, or others with its mapping have."""
        return subject in self.dead or (
            subject[1] != "" and sum(mapping == subject[1] for _, mapping in self.dead) >= DEADLY)

    def cell(self, key: Mapping[str, Any], work: Callable[[], Mapping[str, Any]],
             subject: Subject | None = None) -> Iterator[Row]:
        """The row of one cell: its key, and what `work` found, or why there is nothing.

        "skipped": no time was left, before it or for it, the machine lacks something, or the subject is dead. "slow":
        stopped by its limit. "failure": the error; if the device is lost with it, BrokenDevice is raised after the
        row. No row for a cell that is `done`. subject : of the cell, if it is to be passed over once it has ended a
        process.
        """
        name = " ".join(map(str, key.values()))
        if name in self.done:
            return
        if self.left() <= 0:
            yield {**key, "skipped": NO_TIME}
            return
        if subject is not None and self.is_dead(subject):
            yield {**key, "skipped": f"{' '.join(subject).strip()} has ended a process"}
            return
        self.begin(name, subject)
        try:
            yield {**key, **work()}
        except TooSlow as slow:
            yield {**key, "slow": str(slow)}
        except Skipped as skipped:
            yield {**key, "skipped": str(skipped)}
        except Exception as error:  # of any kind: it is a finding, and the cells after it are to run
            yield {**key, "failure": describe(error)}
            self._check_device(error)

    def _check_device(self, error: Exception) -> None:
        """Raise BrokenDevice if the device does nothing any more after an error."""
        try:
            self.device.to_host(self.device.array(np.zeros(1, np.uint32)))
        except Exception as second:  # whatever it is, the device does not answer
            raise BrokenDevice(describe(second)) from error


def describe(error: BaseException) -> str:
    """An error in one line of at most 300 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
