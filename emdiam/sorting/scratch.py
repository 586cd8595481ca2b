"""Scratch files of a conversion: append-only, and limited to the free space on disk.

A scratch file has no name (O_TMPFILE, or unlinked as soon as it is open), so that nothing remains however the process
ends, `kill -9` included, and two conversions never collide. The folder is the target's unless the user names one.
Memory file systems are refused unless named, since files there take RAM outside the budget.

In the folder of a checkpoint scratch files have names (NamedScratch) and outlive the process. Data that a checkpoint
refers to never changes: files only grow, a closed file stays on disk until no remaining checkpoint refers to it, and a
resumed one is cut to the size in the checkpoint. They count as scratch as long as they exist.

Also here: checkpoints of a conversion or reordering, with states of its phases and the scratch files that they refer
to. A state contains, beside the conversion's own values, size and checksum of every scratch file. It is written after
these were synced, and they stay as long as one of the states (checkpoint/folder.py) refers to them.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np

from ..checkpoint.folder import SCRATCH, DamagedError, Folder
from ..checkpoint.options import CheckpointOptions
from ..checkpoint.records import State, arrays_of, state_of
from ..durable import check_name, check_scratch
from ..errors import BudgetError, InputError
from ..units import format_size

MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs", "devtmpfs")
# Size of a named file in bytes, and the checksum of these bytes; a list, as in JSON.
Mark = list[int]
_PIECE = 1 << 20
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def file_system(folder: Path) -> str:
    """Type of the file system of `folder`, e.g. "ext4"; "" if the kernel does not say."""
    device = os.stat(folder).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        mount, _, rest = line.partition(" - ")
        if mount.split()[2] == wanted:
            return rest.split()[0]
    return ""


@contextmanager
def disk_faults_are_said(folder: Path, what: str) -> Iterator[None]:
    """Turn "disk full", "quota exceeded" and "file too large" into a BudgetError about `folder`, and other system
    errors about files into an InputError."""
    try:
        yield
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise BudgetError(
                f"no room left for {what} ({os.strerror(error.errno)}; {format_size(free_bytes(folder))} free)",
                path=folder, remedy="make room there or name another folder",
            ) from error
        remedy = "raise the limit of open files (ulimit -n)" if error.errno in (errno.EMFILE, errno.ENFILE) else (
            "check the disk, or name another folder")
        raise InputError(f"reading or writing {what} failed ({error.strerror or error})",
                         path=error.filename or folder, remedy=remedy) from error


def checksum(data: bytes | memoryview, before: int = 0) -> int:
    """Checksum of scratch files: the CRC-32 of `data`, continued from `before`.

    Blocks of runs end with their own crc32c, and the crc32c over a block together with its crc32c is the same for all
    blocks of one length. So files can only be distinguished with another polynomial.
    """
    return zlib.crc32(data, before)


def check_of(path: Path, size: int) -> int:
    """`checksum` of the first `size` bytes of a file. Raises OSError."""
    check = 0
    with open(path, "rb") as file:
        while size and (part := file.read(min(size, _PIECE))):
            check, size = checksum(part, check), size - len(part)
    return check


def free_bytes(folder: Path) -> int:
    """Free bytes in `folder` for ordinary users."""
    figures = os.statvfs(folder)
    return figures.f_bavail * figures.f_frsize


class Scratch:
    """The scratch space of one conversion.

    Parameters
    ----------
    folder : folder for the files, named by the user; None: the folder of the target.
    target : the store that will be written.
    likely : whether files are expected, so that the folder is tested now.

    Raises InputError if the folder is missing or not writable. `bytes_written` and `bytes_read` count all files since
    the start; `peak_bytes` is the largest size on disk at a time.
    """

    def __init__(self, folder: Path | None, target: Path, likely: bool = True) -> None:
        self.named = folder is not None
        self.folder = Path(target).absolute().parent if folder is None else Path(folder)
        if likely:
            check_scratch(self.folder)
        self._lock = Lock()
        self._files: set[ScratchFile] = set()
        self._bytes = 0
        self.bytes_written = self.bytes_read = 0
        self.peak_bytes = 0

    @cached_property
    def in_memory(self) -> bool:
        """Whether the folder is on a memory file system."""
        return file_system(self.folder) in MEMORY_FILE_SYSTEMS

    def file(self) -> ScratchFile:
        """A new empty file. Raises InputError on a memory file system that the user did not name."""
        if self.in_memory and not self.named:
            raise InputError(
                "scratch files would be on a memory file system, that is in RAM outside --memory", path=self.folder,
                remedy="name a folder on disk with --scratch DIR, or this one if you mean it",
            )
        made = self._create()
        with self._lock:
            self._files.add(made)
        return made

    def _create(self) -> ScratchFile:
        import tempfile

        with disk_faults_are_said(self.folder, "scratch files"):
            handle = tempfile.TemporaryFile(dir=self.folder, prefix="emdiam-scratch-", buffering=0)
        return ScratchFile(self, handle)

    def check_room(self, need_bytes: int, store_bytes: int, target: Path) -> None:
        """Raise BudgetError if the planned scratch does not fit, together with the store if both are on the same file
        system."""
        place = Path(target).absolute().parent
        same = os.stat(place).st_dev == os.stat(self.folder).st_dev
        for folder, need, what in ((self.folder, need_bytes + (store_bytes if same else 0), "scratch files"),
                                   (place, store_bytes, "the store")):
            free = free_bytes(folder)
            if need > free:
                detail = " and the store" if same and what == "scratch files" and need_bytes else ""
                raise BudgetError(
                    f"about {format_size(need)} are needed for {what}{detail}, {format_size(free)} are free",
                    path=folder, remedy="make room there or name another folder",
                )

    def grew(self, size: int) -> None:
        """Add `size` (may be negative) to the bytes on disk."""
        with self._lock:
            self._bytes += size
            self.bytes_written += max(0, size)
            self.peak_bytes = max(self.peak_bytes, self._bytes)

    def was_read(self, size: int) -> None:
        with self._lock:
            self.bytes_read += size

    def closed(self, file: ScratchFile) -> None:
        """Forget `file`, which has been closed and thereby removed."""
        self.grew(-file.size)
        with self._lock:
            self._files.discard(file)

    def close(self) -> None:
        """Close, and thereby remove, all files. Threads that use them must have ended."""
        for file in list(self._files):
            file.close()


class ScratchFile:
    """One file, nameless unless it belongs to a NamedScratch. One thread appends at a time; any number may read.

    size : bytes at the start. name : in its folder, "" without a name. check : checksum of the initial bytes and, for a
    named file, of all appended ones.
    """

    def __init__(self, scratch: Scratch, handle: IO[bytes], size: int = 0, name: str = "", check: int = 0) -> None:
        self._scratch, self._handle = scratch, handle
        self.size, self.name, self.check = size, name, check
        self._synced = -1

    def append(self, data: bytes | np.ndarray) -> int:
        """Write `data` (bytes, or a contiguous array) at the end; returns its offset in bytes.

        Raises BudgetError if the disk, the quota or the file size limit is exhausted.
        """
        offset = self.size
        view = _bytes_of(data) if isinstance(data, np.ndarray) else memoryview(data)
        if len(view) > free_bytes(self._scratch.folder):
            raise BudgetError(
                f"no room left for scratch files: {format_size(self._scratch.peak_bytes)} were written,"
                f" {format_size(free_bytes(self._scratch.folder))} are free",
                path=self._scratch.folder, remedy="make room there or choose another folder with --scratch",
            )
        self._write(view, offset)
        if self.name:
            self.check = checksum(view, self.check)
        self.size = offset + len(view)
        self._scratch.grew(len(view))
        return offset

    def overwrite(self, data: np.ndarray, offset: int) -> None:
        """Overwrite written bytes with a contiguous array, in a file without a name."""
        view = _bytes_of(data)
        if self.name:
            raise ValueError(f"{self.name} only grows, since a checkpoint may refer to it")
        if offset + len(view) > self.size:
            raise ValueError(f"{offset}+{len(view)} is beyond the end {self.size} of a scratch file")
        self._write(view, offset)

    def _write(self, view: memoryview, offset: int) -> None:
        with disk_faults_are_said(self._scratch.folder, "scratch files"):
            while view:
                written = os.pwrite(self._handle.fileno(), view, offset)
                view, offset = view[written:], offset + written

    def read(self, offset: int, size: int) -> np.ndarray:
        """Exactly `size` bytes from `offset`, uint8[size]."""
        data = np.empty(size, np.uint8)
        self.read_array(offset, data)
        return data

    def read_array(self, offset: int, out: np.ndarray) -> None:
        """Fill the contiguous array `out` from `offset`."""
        view = _bytes_of(out)
        with disk_faults_are_said(self._scratch.folder, "scratch files"):
            while view:
                got = os.preadv(self._handle.fileno(), [view], offset)
                if not got:
                    raise OSError(f"one ends at byte {offset}, {len(view)} bytes are missing")
                view, offset = view[got:], offset + got
        self._scratch.was_read(out.nbytes)

    def sync(self) -> None:
        """Sync the bytes appended since the last call to disk."""
        size = self.size
        if size != self._synced:
            with disk_faults_are_said(self._scratch.folder, "scratch files"):
                os.fsync(self._handle.fileno())
            self._synced = size

    def close(self) -> None:
        """Close the file, which removes it unless it has a name. May be called again."""
        if not self._handle.closed:
            self._handle.close()
            self._scratch.closed(self)


def _bytes_of(array: np.ndarray) -> memoryview:
    """The memory of a contiguous array as bytes (empty ones cannot be cast)."""
    return array.data.cast("B") if array.size else memoryview(b"")


class NamedScratch(Scratch):
    """The scratch space of one conversion with checkpoints in `folder`; see Scratch.

    `close` closes the files and keeps them.
    """

    def __init__(self, folder: Path, target: Path) -> None:
        super().__init__(folder, target)
        self._sizes = {path.name: path.stat().st_size for path in self.folder.iterdir() if SCRATCH.fullmatch(path.name)}
        self._next = 1 + max((int(name.split(".")[0]) for name in self._sizes), default=0)
        self._by_name: dict[str, ScratchFile] = {}
        self.grew(sum(self._sizes.values()))
        self.bytes_written = 0

    def _create(self) -> ScratchFile:
        with self._lock:
            name = f"{self._next:06d}.scratch"
            self._next += 1
        with disk_faults_are_said(self.folder, "scratch files"):
            made = ScratchFile(self, open(self.folder / name, "x+b", buffering=0), name=name)
        with self._lock:
            self._sizes[name] = 0
            self._by_name[name] = made
        return made

    def restored(self, name: str, mark: Mark) -> ScratchFile:
        """The file with this name as it was at `mark`; the same object each time.

        Raises OSError if it is missing or has become shorter.
        """
        if name not in self._by_name:
            size, check = mark
            handle = open(self.folder / name, "r+b", buffering=0)
            there = os.fstat(handle.fileno()).st_size
            if there < size:
                handle.close()
                raise OSError(f"the scratch file {name} has {there} of {size} bytes")
            os.ftruncate(handle.fileno(), size)
            file = ScratchFile(self, handle, size, name, check)
            with self._lock:
                self._files.add(file)
                self._by_name[name] = file
            self.grew(size - there)
        return self._by_name[name]

    def open_marks(self) -> dict[str, Mark]:
        """Marks of all open files. No thread may be appending."""
        with self._lock:
            return {file.name: [file.size, file.check] for file in self._files}

    def sync(self) -> None:
        """Sync all open files and the folder to disk."""
        with self._lock:
            files = list(self._files)
        for file in files:
            file.sync()

    def closed(self, file: ScratchFile) -> None:
        """Note that `file` is closed; it stays on disk until `sweep`."""
        with self._lock:
            self._files.discard(file)
            self._by_name.pop(file.name, None)
            self._sizes[file.name] = file.size

    def sweep(self, keep: set[str]) -> None:
        """Remove every file that is neither open nor in `keep`."""
        with self._lock:
            gone = [name for name in self._sizes if name not in keep and name not in self._by_name]
            freed = sum(self._sizes.pop(name) for name in gone)
        for name in gone:
            (self.folder / name).unlink(missing_ok=True)
        self.grew(-freed)


_FIRST_SECONDS = 10.0


class Checkpoint:
    """The checkpoint in the folder at `path`, locked until `finish` or `release`.

    identity : see Folder. state : the newest undamaged state, or None. notes : sentences about it for the user. scratch
    : the space of its scratch files. Raises InputError like Folder, and if all states are damaged.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], options: CheckpointOptions) -> None:
        check_name(path)
        self.path, self.options = path, options
        self.state: State | None = None
        self.notes: list[str] = []
        # Number of a state -> marks of its scratch files.
        self._marks: dict[int, dict[str, Mark]] = {}
        self._saved_seconds = 0.0  # of the work that is in the last state
        self._folder = Folder(path, identity, options)
        try:
            self._load()
            self.scratch = NamedScratch(path, path)
            self.scratch.sweep(self._referred())
        except BaseException:
            self._folder.close()
            raise

    def _load(self) -> None:
        """Read the states; damaged ones are removed, so that they are never taken for the newest again."""
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
        """Raise DamagedError or OSError unless the scratch files exist and are long enough. whole : also read them to
        verify their checksums."""
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
        """Whether there is a state to resume from."""
        return bool(self._marks)

    @property
    def due(self) -> bool:
        """Whether it is time for a state: as long after the last one as the work before it took, so that a stop in its
        first minutes costs at most half of them; at least _FIRST_SECONDS, at most the time between states."""
        return self._folder.unsaved_seconds >= min(self.options.every, max(_FIRST_SECONDS, self._saved_seconds))

    def file_marks(self) -> dict[str, Mark]:
        """Marks of the scratch files of `state`."""
        return {} if self.state is None else dict(self.state["files"])

    def save(self, state: State) -> None:
        """Save `state` as the newest. No thread may be appending to a scratch file.

        Raises BudgetError if the disk is full; the earlier states are then unchanged.
        """
        self._saved_seconds += self._folder.unsaved_seconds
        self.scratch.sync()
        marks = self.scratch.open_marks()
        self._marks[self._folder.save({}, arrays_of({**state, "files": marks}))] = marks
        self._forget(set(self._marks) - set(self._folder.states()))

    def _forget(self, numbers: set[int]) -> None:
        """Remove states, and the scratch files that no other state refers to."""
        for number in numbers:
            del self._marks[number]
        self._folder.drop(list(numbers))
        self.scratch.sweep(self._referred())

    def finish(self, done: State) -> None:
        """Remove the folder after the work, unless it is kept. done : a last state that needs no scratch file, in case
        the process is killed in this function."""
        self.scratch.close()
        self.save(done)
        self._forget(set(self._marks) - {max(self._marks)})
        if not self.options.keep:
            self._folder.remove()
        self.release()

    def release(self) -> None:
        """Unlock the folder and keep its content; without a state, remove it. May be called again."""
        try:
            self.scratch.close()
            if not self._marks and self.path.exists():
                self._folder.remove()
        finally:
            self._folder.close()


class SafePoints:
    """The points of a conversion at which its state is consistent and can be saved.

    checkpoint : None: nothing is saved, and calls cost nothing.
    """

    def __init__(self, checkpoint: Checkpoint | None = None) -> None:
        self.checkpoint = checkpoint
        self._state: Callable[[], State] = dict

    @property
    def active(self) -> bool:
        """Whether checkpoints are saved."""
        return self.checkpoint is not None

    @property
    def due(self) -> bool:
        """Whether `reached` would save a state now."""
        return self.checkpoint is not None and self.checkpoint.due

    def save_by(self, state: Callable[[], State]) -> None:
        """Set the function state() -> State, which returns the progress of the whole conversion while no thread is
        working."""
        self._state = state

    def reached(self, *, always: bool = False) -> None:
        """Save the state at a safe point, if it is time, or `always`. Raises BudgetError if the disk is full."""
        checkpoint = self.checkpoint
        if checkpoint is not None and (always or checkpoint.due):
            checkpoint.save(self._state())
