"""Power failures: what may be on disk when the machine stops at any moment of a command, and what is made of it.

The layer records every change of files and names. A change lasts once its file, or the folder of its name, was synced
after it; of the others each may have reached the disk or not, whatever was done later (the system orders nothing), and
of a write only its first sectors. Names of nested folders are changes of their own: one that is lost takes all below
with it. An attack makes one such state of the folder, and asks the command for what it makes of it.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.faults.commands import Command
from tests.faults.judging import afterwards, fresh, said
from tests.faults.layer import RECORD, Layer
from tests.fuzz.outcome import FAULT, REFUSED, RIGHT, Outcome

_HEAD = struct.Struct("<6Q")
_SECTOR = 512


@dataclass(frozen=True)
class Change:
    """op : W(rite), T(runcate), S(ync), N(ew file), D (new folder), U(nlink), R(ename). a, b : the file and where, or
    the folder of the name and the file; of R both folders. name, other : of R the old one and the new one."""

    op: str
    a: int
    b: int
    name: str = ""
    other: str = ""
    data: bytes = b""

    @property
    def objects(self) -> tuple[int, ...]:
        """Files or folders of which any makes it last when it is synced."""
        return (self.a, self.b) if self.op == "R" else (self.a,)


@dataclass
class Disk:
    """files : content by number. folders : names and numbers by number. times : when files were modified that nobody
    has written to (nanoseconds), by which an input is known."""

    files: dict[int, bytearray] = field(default_factory=dict)
    folders: dict[int, dict[str, int]] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Disk:
        """What is on disk now."""
        disk = cls()
        for place, folders, files in os.walk(folder):
            names = disk.folders[os.stat(place).st_ino] = {}
            for name in (*folders, *files):
                path = Path(place) / name
                names[name] = path.stat().st_ino
                if path.is_file():
                    disk.files[names[name]] = bytearray(path.read_bytes())
                    disk.times[names[name]] = path.stat().st_mtime_ns
        return disk

    def copy(self) -> Disk:
        """One that may be changed."""
        return Disk({number: bytearray(data) for number, data in self.files.items()},
                    {number: dict(names) for number, names in self.folders.items()}, dict(self.times))

    def apply(self, change: Change, data: bytes) -> None:
        """Do it, with so much of its data, unless what it is about never came to be."""
        if change.op in "WT":
            self.times.pop(change.a, None)
        if change.op == "W":
            content = self.files.setdefault(change.a, bytearray())
            content.extend(bytes(max(0, change.b - len(content))))
            content[change.b : change.b + len(data)] = data
        elif change.op == "T":
            content = self.files.setdefault(change.a, bytearray())
            content.extend(bytes(max(0, change.b - len(content))))
            del content[change.b :]
        elif change.op in "ND":
            self.folders.setdefault(change.a, {})[change.name] = change.b
            if change.op == "N":
                self.files.setdefault(change.b, bytearray())
            else:
                self.folders.setdefault(change.b, {})
        elif change.op == "U":
            self.folders.setdefault(change.a, {}).pop(change.name, None)
        elif change.op == "R":
            moved = self.folders.setdefault(change.a, {}).pop(change.name, None)
            if moved is not None:
                self.folders.setdefault(change.b, {})[change.other] = moved

    def write(self, number: int, place: Path) -> None:
        """Make the folder of this number at `place`."""
        place.mkdir()
        for name, held in self.folders.get(number, {}).items():
            if held in self.folders:
                self.write(held, place / name)
            else:
                (place / name).write_bytes(self.files.get(held, b""))
                if held in self.times:
                    os.utime(place / name, ns=(self.times[held], self.times[held]))


def changes(record: Path) -> Iterator[Change]:
    """The changes in the file that the layer wrote."""
    data = record.read_bytes()
    at = 0
    while at < len(data):
        op, a, b, *sizes = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        parts = []
        for size in sizes:
            parts.append(data[at : at + size])
            at += size
        yield Change(chr(op), a, b, parts[0].decode(errors="surrogateescape"),
                     parts[1].decode(errors="surrogateescape"), parts[2])


def after_failure(disk: Disk, done: list[Change], rng: random.Random) -> Disk:
    """A state in which the disk may be, changed, when the power fails after the changes that were `done`."""
    last_sync = {change.a: i for i, change in enumerate(done) if change.op == "S"}
    share = rng.choice((0.0, 0.3, 0.7, 1.0))
    for i, change in enumerate(done):
        if change.op == "S":
            continue
        lasts = any(last_sync.get(number, -1) > i for number in change.objects)
        data = change.data
        if not lasts:
            if rng.random() >= share:
                continue
            if change.op == "W" and rng.random() < 0.3:
                data = data[: rng.randrange(len(data) // _SECTOR + 1) * _SECTOR]
        disk.apply(change, data)
    return disk


class PowerFailures:
    """Attacks on one command. It is run once in a while, and each run fails at many moments."""

    def __init__(self, layer: Layer, place: Path, command: Command) -> None:
        self._layer, self._place, self._command = layer, place, command
        self._before, self._root, self._changes = Disk(), 0, list[Change]()

    def _record(self) -> None:
        """Run it whole, and keep what it did."""
        fresh(self._place, self._command)
        self._before, self._root = Disk.of(self._place), os.stat(self._place).st_ino
        with tempfile.NamedTemporaryFile() as record:
            with self._layer.plan(RECORD, self._place, record.fileno()):
                self._command.run(self._place, False)
            self._changes = list(changes(Path(record.name)))
        assert any(change.op == "W" for change in self._changes) or not self._command.outputs

    def attack(self, rng: random.Random) -> Outcome:
        """One moment, and one state."""
        if not self._changes or rng.random() < 0.1:
            self._record()
        total = len(self._changes)
        moment = total if rng.random() < 0.15 else rng.randint(0, total)
        disk = after_failure(self._before.copy(), self._changes[:moment], rng)
        shutil.rmtree(self._place)
        disk.write(self._root, self._place)
        told = f"power failed after {moment} of {total} changes: "
        if moment == total and self._command.outputs and not self._command.is_whole(self._place):
            there = sorted(path.name for path in self._place.iterdir())
            return Outcome(FAULT, f"{told}it had ended well, and left {there}")
        left = said(partial(self._command.judge, self._place))
        if left.word != RIGHT:
            return Outcome(FAULT, f"{told}left: {left.text}")
        if self._command.is_whole(self._place) and self._command.outputs:
            return Outcome(RIGHT)
        return afterwards(self._place, self._command, Outcome(REFUSED), told)

