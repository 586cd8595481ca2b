"""An append-only file of frames that tells what of it is whole.

A frame is 12 bytes (kind, length, crc32c: uint32, little-endian) and its payload. The
crc32c goes over kind, length and payload and begins with that of the frame before, so that a frame in a
wrong place does not fit either. What follows the first frame that does not fit counts as not written.
The file begins with a header: 16 bytes of magic, 16 that say whose it is, and a crc32c of them, with which the
first frame begins; so what another run wrote is never taken for what this one did.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crc32c import crc32c

from ..durable import sync_path
from ..errors import InputError

MAGIC = b"emdiam frames 2\n"
OWNER_BYTES = 16
NOBODY = bytes(OWNER_BYTES)
DATA, RECORD = 1, 2
MOST_PAYLOAD = 1 << 22
_HEADER = struct.Struct("<III")
_HEAD_BYTES = len(MAGIC) + OWNER_BYTES + 4


class ForeignFrames(InputError):
    """A file of frames that another run has left."""


@dataclass(frozen=True)
class Mark:
    """A place between two frames: offset in bytes, and the crc32c of the frame before."""

    offset: int
    crc: int


@dataclass(frozen=True)
class Frame:
    """kind : DATA or RECORD. offset, length : of the payload. after : the place behind it."""

    kind: int
    offset: int
    length: int
    after: Mark


class FrameFile:
    """Frames in the file at `path`, which is made if absent. Raises OSError throughout, and ForeignFrames.

    owner : OWNER_BYTES that tell whose it is. begin : where the first frame goes. end : where the next one does.
    """

    def __init__(self, path: Path, owner: bytes = NOBODY) -> None:
        check = crc32c(MAGIC + owner)
        self._head = MAGIC + owner + check.to_bytes(4, "little")
        self.begin = self.end = Mark(_HEAD_BYTES, check)
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if os.fstat(self._handle).st_size < _HEAD_BYTES:
            os.truncate(self._handle, 0)
            self._write(self._head, 0)
            self.sync()
            sync_path(path.parent)
        there = self._read(0, _HEAD_BYTES)
        if there != self._head and crc32c(there[:-4]) == int.from_bytes(there[-4:], "little"):
            self.close()
            raise ForeignFrames("this was left by another run, or by another version", path=path,
                                remedy="delete the folder and begin again")

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self._handle).st_size

    def frames(self, mark: Mark | None = None) -> Iterator[Frame]:
        """The frames from `mark` on (default: all) that fit, each checked."""
        at = mark or self.begin
        if mark is None and self._read(0, _HEAD_BYTES) != self._head:
            return
        while True:
            header = self._read(at.offset, _HEADER.size)
            if len(header) < _HEADER.size:
                return
            kind, length, crc = _HEADER.unpack(header)
            if kind not in (DATA, RECORD) or length > MOST_PAYLOAD:
                return
            offset = at.offset + _HEADER.size
            payload = self._read(offset, length)
            if len(payload) < length or _crc(kind, payload, at.crc) != crc:
                return
            at = Mark(offset + length, crc)
            yield Frame(kind, offset, length, at)

    def payload(self, frame: Frame) -> bytes:
        """The payload of a frame that `frames` gave."""
        return self._read(frame.offset, frame.length)

    def append(self, kind: int, payload: bytes) -> Frame:
        """Write a frame behind the last one; it lasts after `sync`."""
        if len(payload) > MOST_PAYLOAD:
            raise ValueError(f"a frame holds {MOST_PAYLOAD} bytes, not {len(payload)}")
        crc = _crc(kind, payload, self.end.crc)
        self._write(_HEADER.pack(kind, len(payload), crc) + payload, self.end.offset)
        offset = self.end.offset + _HEADER.size
        self.end = Mark(offset + len(payload), crc)
        return Frame(kind, offset, len(payload), self.end)

    def cut(self, mark: Mark) -> None:
        """Drop all behind `mark`, which is the end from now on."""
        os.truncate(self._handle, mark.offset)
        if self._read(0, _HEAD_BYTES) != self._head:  # that was damaged
            self._write(self._head, 0)
        self.end = mark

    def sync(self) -> None:
        """Wait until what was written is on disk."""
        os.fsync(self._handle)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._handle)

    def _write(self, data: bytes, offset: int) -> None:
        rest = memoryview(data)
        while rest:
            done = os.pwrite(self._handle, rest, offset)
            rest, offset = rest[done:], offset + done

    def _read(self, offset: int, length: int) -> bytes:
        parts = []
        while length and (part := os.pread(self._handle, length, offset)):
            parts.append(part)
            offset, length = offset + len(part), length - len(part)
        return b"".join(parts)


def _crc(kind: int, payload: bytes, before: int) -> int:
    return int(crc32c(payload, crc32c(struct.pack("<II", kind, len(payload)), before)))
