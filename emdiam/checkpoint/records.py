"""Records of values and arrays in an append-only file whose complete part can be recognised.

A file is a header and frames. The header is 16 bytes of magic, 16 that identify the run, and a crc32c of both. A frame
is 12 bytes (kind, length, crc32c: uint32, little-endian) and its payload. The crc32c covers kind, length and payload,
and starts from the crc32c of the previous frame (the first from that of the header); so a misplaced frame, or one of
another run, is invalid too. Everything from the first invalid frame on counts as not written.

A record is any number of DATA frames, which are pieces of arrays packed by blosc (lz4 after a byte shuffle), and one
RECORD frame, JSON, which describes them. Without it they count as not written. Memory: pieces of PIECE_BYTES, for
arrays of any size.
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
# Nested dicts with text keys, lists, strings, numbers, None and arrays; tuples come back as lists.
State = dict[str, Any]
PIECE_BYTES = 1 << 20
_DATA, _RECORD = 1, 2
_PAYLOAD_BYTES = 1 << 22
_LEVEL = 1
_ARRAY, _REST = "__array__", "rest"
_HEADER = struct.Struct("<III")
# Header of a packed piece: four bytes, its unpacked size, four more, its packed size. And the allowed kinds of dtypes.
_BLOSC, _BLOSC_BYTES, _KINDS = struct.Struct("<4xI4xI"), 16, "biuf"
_HEAD_BYTES = len(MAGIC) + OWNER_BYTES + 4


class ForeignFileError(InputError):
    """A file of frames that belongs to another run."""


@dataclass(frozen=True)
class Mark:
    """A position between two frames: offset in bytes, and the crc32c of the previous frame."""

    offset: int
    crc: int


@dataclass(frozen=True)
class Frame:
    """kind : _DATA or _RECORD. offset, length : of the payload. after : the position after the frame."""

    kind: int
    offset: int
    length: int
    after: Mark


class FrameFile:
    """Frames in the file at `path`, which is made if absent. Methods raise OSError, and ForeignFileError.

    owner : OWNER_BYTES that identify the run. begin : the position of the first frame. end : the position of the next
    one.
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
        """Write the header of a new file, or check that of an existing one."""
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
        """The valid frames, each checked."""
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
        """The first `size` bytes of a frame's payload."""
        return self._read(frame.offset, min(size, frame.length))

    def payload(self, frame: Frame) -> bytes:
        """The payload of a frame from `frames`."""
        return self._read(frame.offset, frame.length)

    def append(self, kind: int, payload: bytes) -> Frame:
        """Append a frame; it is durable after `sync`."""
        if len(payload) > _PAYLOAD_BYTES:
            raise ValueError(f"a frame holds {_PAYLOAD_BYTES} bytes, not {len(payload)}")
        crc = _crc(kind, payload, self.end.crc)
        self._write(_HEADER.pack(kind, len(payload), crc) + payload, self.end.offset)
        offset = self.end.offset + _HEADER.size
        self.end = Mark(offset + len(payload), crc)
        return Frame(kind, offset, len(payload), self.end)

    def cut(self, mark: Mark) -> None:
        """Drop everything after `mark`, which becomes the end."""
        os.truncate(self._handle, mark.offset)
        if self._read(0, _HEAD_BYTES) != self._head:  # the header was damaged
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
    """Make the codec allocate its memory now, so that the memory plan counts it as the program's."""
    piece = np.arange(PIECE_BYTES // 8)
    decompress(pack(piece), np.empty_like(piece))


def pack(values: np.ndarray) -> bytes:
    """The packed bytes of a piece of an array."""
    return bytes(compress(np.ascontiguousarray(values), _LEVEL))


@dataclass(frozen=True)
class Record:
    """A record that was read. head : the argument of the writer's commit. after : the position after the record."""

    head: dict[str, Any]
    after: Mark
    _file: FrameFile
    _frames: dict[str, list[tuple[Frame, int]]]
    _dtypes: dict[str, str]

    def shape(self, name: str) -> tuple[np.dtype[Any], int]:
        """dtype and length of an array."""
        return np.dtype(self._dtypes[name]), sum(items for _, items in self._frames[name])

    def pieces(self, name: str) -> Iterator[np.ndarray]:
        """The pieces of an array, as written."""
        dtype = np.dtype(self._dtypes[name])
        for frame, _ in self._frames[name]:
            yield decompressed(self._file.payload(frame)).view(dtype)

    def read(self, name: str, out: np.ndarray | None = None) -> np.ndarray:
        """The array `name`, read into `out` if passed. Raises InputError if dtype or length differ."""
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
    """Writes one record: call `add` for arrays, then `commit`, or `abort` to write nothing. Raises OSError."""

    def __init__(self, file: FrameFile) -> None:
        self._file, self._begin = file, file.end
        self._arrays: dict[str, list[Any]] = {}
        self._committed = False

    @property
    def nbytes(self) -> int:
        return self._file.end.offset - self._begin.offset

    def add(self, name: str, values: np.ndarray) -> None:
        """Append values to the 1-D array `name`."""
        meta = self._arrays.setdefault(name, [values.dtype.str, []])
        step = PIECE_BYTES // values.dtype.itemsize
        for start in range(0, len(values), step):
            piece = values[start : start + step]
            self._file.append(_DATA, pack(piece))
            meta[1].append(len(piece))

    def commit(self, head: Mapping[str, Any], sync: bool = True) -> None:
        """Finish the record. sync : wait until it, and everything before it, is durable. Arrays must have been added
        one after another. One wait is enough, since lost data are detected through the crc32c."""
        text = json.dumps({"head": head, "arrays": self._arrays}, separators=(",", ":"))
        self._file.append(_RECORD, text.encode())
        self._committed = True
        if sync:
            self._file.sync()

    def abort(self) -> None:
        """Drop the record, unless it was committed; it can be started again."""
        if not self._committed:
            self._file.cut(self._begin)
            self._arrays = {}


def records(file: FrameFile) -> Iterator[Record]:
    """The complete records; anything after the last one is ignored."""
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
    """The record with the RECORD frame `last` and the DATA frames `waiting`. None if it is invalid despite its
    checksums: dtypes that no writer uses, or pieces that do not match their frames."""
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
    """Whether the frame contains a packed piece of this number of items; blosc itself trusts the piece's header."""
    if type(items) is not int or not 0 < items * item_bytes <= PIECE_BYTES or frame.length < _BLOSC_BYTES:
        return False
    size, packed = _BLOSC.unpack(file.beginning(frame, _BLOSC_BYTES))
    return bool(size == items * item_bytes and packed == frame.length)


def arrays_of(state: State) -> dict[str, np.ndarray]:
    """A state as 1-D arrays, for RecordWriter.add."""
    arrays: list[np.ndarray] = []
    text = json.dumps(_without_arrays(state, arrays)).encode()
    return {_REST: np.frombuffer(text, np.uint8), **{str(i): array.ravel() for i, array in enumerate(arrays)}}


def state_of(record: Record) -> State:
    """The state that arrays_of turned into the record's arrays."""
    state: State = _with_arrays(json.loads(record.read(_REST).tobytes()), record)
    return state


def _without_arrays(value: Any, arrays: list[np.ndarray]) -> Any:
    """`value` with every array appended to `arrays`, and replaced with its index in them and its shape."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {_ARRAY: [len(arrays) - 1, *value.shape]}
    if isinstance(value, dict):
        return {name: _without_arrays(part, arrays) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(part, arrays) for part in value]
    return value


def _with_arrays(value: Any, record: Record) -> Any:
    """The inverse of _without_arrays."""
    if isinstance(value, dict):
        if value.keys() == {_ARRAY}:
            number, *shape = value[_ARRAY]
            return record.read(str(number)).reshape(shape)
        return {name: _with_arrays(part, record) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_arrays(part, record) for part in value]
    return value
