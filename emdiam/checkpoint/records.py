"""Records of values and arrays on a file of frames: data first, then the frame that names them.

A record is any number of DATA frames, pieces of arrays packed by blosc (lz4 after a byte shuffle), and one
RECORD frame, JSON, that says what they are. Without it they count as not written. Memory: pieces of
PIECE_BYTES, whatever the size of an array.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numcodecs import blosc

from ..errors import InputError
from .frames import DATA, RECORD, Frame, FrameFile, Mark

PIECE_BYTES = 1 << 20
_LEVEL = 1


def warm_up() -> None:
    """Have the codec take its memory now, so that it counts as the program's own in the memory plan."""
    piece = np.arange(PIECE_BYTES // 8)
    blosc.decompress(pack(piece), np.empty_like(piece))


def pack(values: np.ndarray) -> bytes:
    """A piece of an array, packed."""
    return bytes(blosc.compress(np.ascontiguousarray(values), b"lz4", _LEVEL, blosc.SHUFFLE, 0))


def pieces_of(values: np.ndarray) -> Iterator[np.ndarray]:
    """The array (1-D) in pieces of at most PIECE_BYTES; none if it is empty."""
    step = PIECE_BYTES // values.dtype.itemsize
    for start in range(0, len(values), step):
        yield values[start : start + step]


@dataclass(frozen=True)
class Record:
    """A record that was read. head : what the writer gave to commit. after : the place behind it."""

    head: dict[str, Any]
    after: Mark
    _file: FrameFile
    _frames: dict[str, list[tuple[Frame, int]]]
    _dtypes: dict[str, str]

    def names(self) -> list[str]:
        """Names of its arrays."""
        return list(self._frames)

    def shape(self, name: str) -> tuple[np.dtype[Any], int]:
        """dtype and length of an array."""
        return np.dtype(self._dtypes[name]), sum(items for _, items in self._frames[name])

    def pieces(self, name: str) -> Iterator[np.ndarray]:
        """The pieces of an array as they were written."""
        dtype = np.dtype(self._dtypes[name])
        for frame, _ in self._frames[name]:
            yield np.frombuffer(blosc.decompress(self._file.payload(frame)), dtype)

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
            blosc.decompress(self._file.payload(frame), out[at : at + items])
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
        """Bytes written so far."""
        return self._file.end.offset - self._begin.offset

    def add(self, name: str, values: np.ndarray) -> None:
        """Append values to the array `name`, 1-D."""
        meta = self._arrays.setdefault(name, [values.dtype.str, []])
        for piece in pieces_of(values):
            self._file.append(DATA, pack(piece))
            meta[1].append(len(piece))

    def commit(self, head: dict[str, Any], sync: bool = True) -> None:
        """Finish the record. sync : wait until it, and all before it, lasts. Arrays must have been added one
        after another. Data that did not last are told by their crc32c, so one wait is enough."""
        text = json.dumps({"head": head, "arrays": self._arrays}, separators=(",", ":"))
        self._file.append(RECORD, text.encode())
        self._committed = True
        if sync:
            self._file.sync()

    def abort(self) -> None:
        """Drop what was written, unless the record is whole; it can be begun again."""
        if not self._committed:
            self._file.cut(self._begin)
            self._arrays = {}


def records(file: FrameFile, mark: Mark | None = None) -> Iterator[Record]:
    """The whole records from `mark` on (default: all). What follows the last one is no record."""
    waiting: list[Frame] = []
    for frame in file.frames(mark):
        if frame.kind == DATA:
            waiting.append(frame)
            continue
        content = json.loads(file.payload(frame))
        frames: dict[str, list[tuple[Frame, int]]] = {}
        used = 0
        for name, (_, lengths) in content["arrays"].items():
            frames[name] = list(zip(waiting[used : used + len(lengths)], lengths, strict=True))
            used += len(lengths)
        yield Record(content["head"], frame.after, file, frames, {n: d for n, (d, _) in content["arrays"].items()})
        waiting = []
