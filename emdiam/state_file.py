"""The state of an unfinished conversion as one file: JSON with arrays behind it, and a checksum.

    8 bytes magic, uint64 length of the JSON, the JSON, the arrays one after another, crc32c of all

Little-endian throughout. A state is made of dicts, lists, strings, numbers, None and numpy arrays;
tuples come back as lists. A file that was cut or changed anywhere is noticed before any of it is used.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from crc32c import crc32c

State = dict[str, Any]

_MAGIC = b"emdiamS1"
_CRC_BYTES = 4
_PIECE = 1 << 20
_ARRAY = "__array__"


class DamagedStateError(Exception):
    """A state file that is cut, changed or not one; the text says which."""


def write_state(path: Path, state: State) -> None:
    """Write `state` to a new file at `path` and sync it to disk. Raises OSError."""
    arrays: list[np.ndarray] = []
    head = json.dumps({"state": _without_arrays(state, arrays),
                       "arrays": [[array.dtype.str, list(array.shape)] for array in arrays]}).encode()
    with open(path, "wb") as file:
        check = 0
        parts: list[bytes | memoryview] = [_MAGIC, len(head).to_bytes(8, "little"), head, *map(_bytes_of, arrays)]
        for part in parts:
            file.write(part)
            check = crc32c(part, check)
        file.write(check.to_bytes(_CRC_BYTES, "little"))
        file.flush()
        os.fsync(file.fileno())


def read_state(path: Path) -> State:
    """The state in the file at `path`. Raises DamagedStateError, OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        _check(file, size)
        file.seek(len(_MAGIC))
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        arrays = []
        for dtype, shape in head["arrays"]:
            array = np.empty(shape, np.dtype(dtype))
            if array.size:
                file.readinto(array.data.cast("B"))
            arrays.append(array)
    state: State = _with_arrays(head["state"], arrays)
    return state


def _check(file: BinaryIO, size: int) -> None:
    """Raise DamagedStateError unless magic and checksum are right."""
    if size < len(_MAGIC) + 8 + _CRC_BYTES:
        raise DamagedStateError(f"it ends after {size} bytes")
    left, check, first = size - _CRC_BYTES, 0, True
    while left:
        part = file.read(min(left, _PIECE))
        if first and not part.startswith(_MAGIC):
            raise DamagedStateError("it does not begin as one")
        check, left, first = crc32c(part, check), left - len(part), False
    if file.read(_CRC_BYTES) != check.to_bytes(_CRC_BYTES, "little"):
        raise DamagedStateError("its checksum does not match")


def _without_arrays(value: Any, arrays: list[np.ndarray]) -> Any:
    """`value` with every array moved to the end of `arrays` and its place there put instead."""
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value))
        return {_ARRAY: len(arrays) - 1}
    if isinstance(value, dict):
        return {name: _without_arrays(part, arrays) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(part, arrays) for part in value]
    return value


def _with_arrays(value: Any, arrays: list[np.ndarray]) -> Any:
    """What _without_arrays was given."""
    if isinstance(value, dict):
        if value.keys() == {_ARRAY}:
            return arrays[value[_ARRAY]]
        return {name: _with_arrays(part, arrays) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_arrays(part, arrays) for part in value]
    return value


def _bytes_of(array: np.ndarray) -> memoryview:
    """The memory of a contiguous array (empty ones cannot be cast)."""
    return array.data.cast("B") if array.size else memoryview(b"")
