"""Records of values and arrays in an append-only file that tells what of it is whole.

A file is a header and frames. The header is 16 bytes of magic, 16 that say which run it belongs to, and a crc32c of
them. A frame is 12 bytes (kind, length, crc32c: uint32, little-endian) and its payload. The crc32c goes over kind,
length and payload and begins with that of the frame before (the first with that of the header), so that a frame in a
wrong place, or of another run, does not fit either. What follows the first frame that does not fit counts as not
written.

A record is any number of DATA frames, pieces of arrays packed by blosc (lz4 after a byte shuffle), and one RECORD
frame, JSON, that says what they are. Without it they count as not written. Memory: pieces of PIECE_BYTES, whatever
the size of an array.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..compression import compress, crc32c, decompress, decompressed
from ..durable import sync_path
from ..errors import InputError

MAGIC = b"emdiam frames 3\n"
OWNER_BYTES = 16
NOBODY = bytes(OWNER_BYTES)
# Dicts with names of text, lists, strings, numbers, None and arrays within each other; tuples come back as lists.
State = dict[str, Any]
PIECE_BYTES = 1 << 20
_DATA, _RECORD = 1, 2
_PAYLOAD_BYTES = 1 << 22
_LEVEL = 1
_ARRAY, _REST = "__array__", "rest"
_HEADER = struct.Struct("<III")
# Of a packed piece: four bytes, its size unpacked, four more, its size packed. And the kinds of its dtype.
_BLOSC, _BLOSC_BYTES, _KINDS = struct.Struct("<4xI4xI"), 16, "biuf"
_HEAD_BYTES = len(MAGIC) + OWNER_BYTES + 4


class ForeignFileError(InputError):
    """A file of frames that another run has left."""


@dataclass(frozen=True)
class Mark:
    """A place between two frames: offset in bytes, and the crc32c of the frame before."""

    offset: int
    crc: int


@dataclass(frozen=True)
class Frame:
    """kind : _DATA or _RECORD. offset, length : of the payload. after : the place behind it."""

    kind: int
    offset: int
    length: int
    after: Mark


class FrameFile:
    """Frames in the file at `path`, which is made if absent. Raises OSError throughout, and ForeignFileError.

    owner : OWNER_BYTES that tell whose it is. begin : where the first frame goes. end : where the next one does.
    """

    def __init__(self, path: Path, owner: bytes = NOBODY) -> None:
        check = crc32c(MAGIC + owner)
        self._head = MAGIC + owner + check.to_bytes(4, "little")
        self.begin = self.end = Mark(_HEAD_BYTES, check)
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            self._begin(path)
        except BaseException:
            self.close()
            raise

    def _begin(self, path: Path) -> None:
        """Write the head of a new file, or look at that of one that is there."""
        if os.fstat(self._handle).st_size < _HEAD_BYTES:
            os.truncate(self._handle, 0)
            self._write(self._head, 0)
            self.sync()
            sync_path(path.parent)
        there = self._read(0, _HEAD_BYTES)
        if there != self._head and crc32c(there[:-4]) == int.from_bytes(there[-4:], "little"):
            raise ForeignFileError("this is of another run, or of another version", path=path,
                                   remedy="delete the folder to begin again")

    @property
    def size(self) -> int:
        return os.fstat(self._handle).st_size

    def frames(self) -> Iterator[Frame]:
        """The frames that fit, each checked."""
        at = self.begin
        if self._read(0, _HEAD_BYTES) != self._head:
            return
        while True:
            header = self._read(at.offset, _HEADER.size)
            if len(header) < _HEADER.size:
                return
            kind, length, crc = _HEADER.unpack(header)
            if kind not in (_DATA, _RECORD) or length > _PAYLOAD_BYTES:
                return
            offset = at.offset + _HEADER.size
            payload = self._read(offset, length)
            if len(payload) < length or _crc(kind, payload, at.crc) != crc:
                return
            at = Mark(offset + length, crc)
            yield Frame(kind, offset, length, at)

    def beginning(self, frame: Frame, size: int) -> bytes:
        """The first `size` bytes of the payload of a frame."""
        return self._read(frame.offset, min(size, frame.length))

    def payload(self, frame: Frame) -> bytes:
        """The payload of a frame that `frames` gave."""
        return self._read(frame.offset, frame.length)

    def append(self, kind: int, payload: bytes) -> Frame:
        """Write a frame behind the last one; it lasts after `sync`."""
        if len(payload) > _PAYLOAD_BYTES:
            raise ValueError(f"a frame holds {_PAYLOAD_BYTES} bytes, not {len(payload)}")
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
        os.fsync(self._handle)

    def close(self) -> None:
        os.close(self._handle)

    def __enter__(self) -> FrameFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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


def warm_up() -> None:
    """Have the codec take its memory now, so that it counts as the program's own in the memory plan."""
    piece = np.arange(PIECE_BYTES // 8)
    decompress(pack(piece), np.empty_like(piece))


def pack(values: np.ndarray) -> bytes:
    """A piece of an array, packed."""
    return bytes(compress(np.ascontiguousarray(values), _LEVEL))


@dataclass(frozen=True)
class Record:
    """A record that was read. head : what the writer gave to commit. after : the place behind it."""

    head: dict[str, Any]
    after: Mark
    _file: FrameFile
    _frames: dict[str, list[tuple[Frame, int]]]
    _dtypes: dict[str, str]

    def shape(self, name: str) -> tuple[np.dtype[Any], int]:
        """dtype and length of an array."""
        return np.dtype(self._dtypes[name]), sum(items for _, items in self._frames[name])

    def pieces(self, name: str) -> Iterator[np.ndarray]:
        """The pieces of an array as they were written."""
        dtype = np.dtype(self._dtypes[name])
        for frame, _ in self._frames[name]:
            yield decompressed(self._file.payload(frame)).view(dtype)

    def read(self, name: str, out: np.ndarray | None = None) -> np.ndarray:
        """The array `name`, into `out` if given. Raises InputError if it does not fit there."""
        dtype = np.dtype(self._dtypes[name])
        packed = self._frames[name]
        length = sum(items for _, items in packed)
        if out is None:
            out = np.empty(length, dtype)
        if out.dtype != dtype or len(out) != length:
            raise InputError(f"the checkpoint has {length:,} values of {dtype} in place of {len(out):,} of {out.dtype}",
                             remedy="begin again without it")
        at = 0
        for frame, items in packed:
            decompress(self._file.payload(frame), out[at : at + items])
            at += items
        return out


class RecordWriter:
    """Writes one record: arrays, then `commit`; or `abort`, and nothing was written. Raises OSError."""

    def __init__(self, file: FrameFile) -> None:
        self._file, self._begin = file, file.end
        self._arrays: dict[str, list[Any]] = {}
        self._committed = False

    @property
    def nbytes(self) -> int:
        return self._file.end.offset - self._begin.offset

    def add(self, name: str, values: np.ndarray) -> None:
        """Append values to the array `name`, 1-D."""
        meta = self._arrays.setdefault(name, [values.dtype.str, []])
        step = PIECE_BYTES // values.dtype.itemsize
        for start in range(0, len(values), step):
            piece = values[start : start + step]
            self._file.append(_DATA, pack(piece))
            meta[1].append(len(piece))

    def commit(self, head: Mapping[str, Any], sync: bool = True) -> None:
        """Finish the record. sync : wait until it, and all before it, lasts. Arrays must have been added one
        after another. Data that did not last are told by their crc32c, so one wait is enough."""
        text = json.dumps({"head": head, "arrays": self._arrays}, separators=(",", ":"))
        self._file.append(_RECORD, text.encode())
        self._committed = True
        if sync:
            self._file.sync()

    def abort(self) -> None:
        """Drop what was written, unless the record is whole; it can be begun again."""
        if not self._committed:
            self._file.cut(self._begin)
            self._arrays = {}


def records(file: FrameFile) -> Iterator[Record]:
    """The whole records. What follows the last one is no record."""
    waiting: list[Frame] = []
    for frame in file.frames():
        if frame.kind == _DATA:
            waiting.append(frame)
            continue
        record = _record(file, frame, waiting)
        if record is None:
            return
        yield record
        waiting = []


def _record(file: FrameFile, last: Frame, waiting: list[Frame]) -> Record | None:
    """The record of which `last` is the RECORD frame and `waiting` are those before it. None where it is none: arrays
    of what no writer has, or with other pieces than their frames hold, whatever the checksums say."""
    try:
        content = json.loads(file.payload(last))
        head, arrays = content["head"], content["arrays"]
        frames: dict[str, list[tuple[Frame, int]]] = {}
        used = 0
        for name, (dtype, lengths) in arrays.items():
            if np.dtype(dtype).kind not in _KINDS or type(dtype) is not str or type(lengths) is not list:
                return None
            frames[name] = list(zip(waiting[used : used + len(lengths)], lengths, strict=True))
            if not all(_holds(file, frame, items, np.dtype(dtype).itemsize) for frame, items in frames[name]):
                return None
            used += len(lengths)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    if not isinstance(head, dict):
        return None
    return Record(head, last.after, file, frames, {name: dtype for name, (dtype, _) in arrays.items()})


def _holds(file: FrameFile, frame: Frame, items: Any, item_bytes: int) -> bool:
    """Whether the frame holds a packed piece of so many items; blosc itself trusts the header of the piece."""
    if type(items) is not int or not 0 < items * item_bytes <= PIECE_BYTES or frame.length < _BLOSC_BYTES:
        return False
    size, packed = _BLOSC.unpack(file.beginning(frame, _BLOSC_BYTES))
    return bool(size == items * item_bytes and packed == frame.length)


def arrays_of(state: State) -> dict[str, np.ndarray]:
    """A state as arrays of one dimension, for RecordWriter.add."""
    arrays: list[np.ndarray] = []
    text = json.dumps(_without_arrays(state, arrays)).encode()
    return {_REST: np.frombuffer(text, np.uint8), **{str(i): array.ravel() for i, array in enumerate(arrays)}}


def state_of(record: Record) -> State:
    """The state of whose arrays_of the record was made."""
    state: State = _with_arrays(json.loads(record.read(_REST).tobytes()), record)
    return state


def _without_arrays(value: Any, arrays: list[np.ndarray]) -> Any:
    """`value` with every array moved to the end of `arrays`, and its place there and its shape put instead."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {_ARRAY: [len(arrays) - 1, *value.shape]}
    if isinstance(value, dict):
        return {name: _without_arrays(part, arrays) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(part, arrays) for part in value]
    return value


def _with_arrays(value: Any, record: Record) -> Any:
    """What _without_arrays was given."""
    if isinstance(value, dict):
        if value.keys() == {_ARRAY}:
            number, *shape = value[_ARRAY]
            return record.read(str(number)).reshape(shape)
        return {name: _with_arrays(part, record) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_arrays(part, record) for part in value]
    return value
