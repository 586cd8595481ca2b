"""Scratch files with names, in the folder of a checkpoint: they outlive the process.

What a checkpoint refers to is never changed: files only grow, one that is closed stays on disk until
no checkpoint kept refers to it any more, and one taken up again is cut to the size that the checkpoint
knows. They count as scratch as long as they lie there.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..checkpoint.folder import SCRATCH
from .scratch import Scratch, ScratchFile, checksum, disk_full_is_said

# Bytes of a file, and the checksum of them; a list, as JSON has it.
Mark = list[int]
_PIECE = 1 << 20


def check_of(path: Path, size: int) -> int:
    """`checksum` of the first `size` bytes of a file. Raises OSError."""
    check = 0
    with open(path, "rb") as file:
        while size and (part := file.read(min(size, _PIECE))):
            check, size = checksum(part, check), size - len(part)
    return check


class NamedScratch(Scratch):
    """The scratch space of one conversion with checkpoints in `folder`; see Scratch.

    `close` closes the files and leaves them there.
    """

    def __init__(self, folder: Path, target: Path) -> None:
        super().__init__(folder, target)
        self._sizes = {path.name: path.stat().st_size for path in self.folder.iterdir()
                       if SCRATCH.fullmatch(path.name)}
        self._next = 1 + max((int(name.split(".")[0]) for name in self._sizes), default=0)
        self._by_name: dict[str, ScratchFile] = {}
        self.grew(sum(self._sizes.values()))
        self.bytes_written = 0

    def _create(self) -> ScratchFile:
        with self._lock:
            name = f"{self._next:06d}.scratch"
            self._next += 1
        with disk_full_is_said(self.folder, "scratch files"):
            made = ScratchFile(self, open(self.folder / name, "x+b", buffering=0), name=name)
        with self._lock:
            self._sizes[name] = 0
            self._by_name[name] = made
        return made

    def restored(self, name: str, mark: Mark) -> ScratchFile:
        """The file of this name as it was at `mark`; the same one each time.

        Raises OSError if it is not there or has become shorter.
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
        """How far every file has come that is open. Nobody may be appending."""
        with self._lock:
            return {file.name: [file.size, file.check] for file in self._files}

    def sync(self) -> None:
        """Sync all open files and the folder to disk."""
        with self._lock:
            files = list(self._files)
        for file in files:
            file.sync()

    def closed(self, file: ScratchFile) -> None:
        """Note that nobody uses `file` any more; it stays on disk until `sweep`."""
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
