"""The verbs of a column on a device: the host's side of columns.cu.

A column is uint32[n] on the device; the value with all bits set (UNREACHED) means unreached. What the verbs mean
is said by traverse/columns.py, whose Column is the same on the CPU; unlike there, values that are handed out
keep the sentinel. A part of a column is one too: argbest(device, values[start:stop]), plus start.
Work: O(n) each, one or two passes; gather and put: O(k). Numbers are read back once a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .device import Device, DeviceArray
from .kernel_file import UNREACHED, ExclusiveSums, KernelFile, zeros
from .registry import find_entry

# Numbers of columns.cu.
PREDICATES: Mapping[str, int] = MappingProxyType({"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5})
# Vertices of a thread in a tile (ITEMS_OF_THREAD of columns.cu).
SELECT_ITEMS = 8
_NO_VERTEX = int(np.iinfo(np.uint64).max)


def _launch(device: Device, name: str, items: int, *args: Any) -> None:
    """Run an entry of columns.cu on about a thread an item."""
    KernelFile(device, "columns.cu").launch(name, items, *args)


def _read(device: Device, number: DeviceArray) -> int:
    return int(device.to_host(number)[0])


def _list(device: Device, values: Sequence[int]) -> tuple[DeviceArray, np.uint64]:
    """Values uint32[k] on the device, and k. Raises OverflowError for one that is no uint32."""
    return device.array(np.array([*values, 0], np.uint32)), np.uint64(len(values))


def _compared(device: Device, predicate: str, value: int) -> tuple[np.uint32, np.uint32] | bool:
    """A comparison for a kernel; or its result, if the number is no uint32."""
    code = PREDICATES[predicate]
    if 0 <= value <= UNREACHED:
        return np.uint32(code), np.uint32(value)
    return predicate in (("!=", "<", "<=") if value > UNREACHED else ("!=", ">", ">="))


def _ids(device: Device, values: DeviceArray, ids: np.ndarray | Sequence[int]) -> DeviceArray:
    """Vertices uint64[k] on the device. Raises IndexError for one that there is not."""
    wanted = np.asarray(ids, np.int64)
    if len(wanted) and (int(wanted.min()) < 0 or int(wanted.max()) >= values.size):
        raise IndexError(f"a column of {values.size} vertices has no vertex {int(wanted.min())} to {int(wanted.max())}")
    return device.array(wanted.astype(np.uint64) if len(wanted) else np.zeros(1, np.uint64))


def reached_bitmap(device: Device, values: DeviceArray) -> np.ndarray:
    """Bitmap of the reached vertices on the host, uint64[ceil(n/64)]."""
    return device.to_host(reached_bits(device, values)) if values.size else np.empty(0, np.uint64)


def reached_bits(device: Device, values: DeviceArray) -> DeviceArray:
    """The same on the device, for recode(within=...)."""
    n = values.size
    bits = device.empty(max(1, -(-n // 64)), np.uint64)
    _launch(device, "column_bits", -(-n // 64) * device.warp, values, np.uint64(n), bits)
    return bits


def count_reached(device: Device, values: DeviceArray) -> int:
    """How many vertices are reached."""
    return count_where(device, values, "!=", UNREACHED)


def count(device: Device, values: DeviceArray, value: int) -> int:
    """How many vertices have exactly this value."""
    return count_where(device, values, "==", value)


def count_where(device: Device, values: DeviceArray, predicate: str, value: int) -> int:
    """How many vertices compare so ("==", "!=", "<", "<=", ">", ">=") with `value`; the sentinel takes part as
    the largest value. KeyError for another predicate."""
    compared = _compared(device, predicate, value)
    if isinstance(compared, bool):
        return values.size if compared else 0
    total = zeros(device, 1, np.uint64)
    _launch(device, "column_count", values.size, values, np.uint64(values.size), *compared, total)
    return _read(device, total)


def best_value(device: Device, values: DeviceArray, largest: bool = True) -> int:
    """The largest (smallest) reached value, or -1."""
    best = zeros(device, 1, np.uint32)
    _launch(device, "column_best", values.size, values, np.uint64(values.size), np.uint32(not largest), best)
    rank = _read(device, best) - 1
    return rank if largest or rank < 0 else UNREACHED - 1 - rank


def argbest(device: Device, values: DeviceArray, largest: bool = True) -> tuple[int, int]:
    """(smallest vertex with the largest (smallest) reached value, that value); (-1, -1) if none is reached."""
    value = best_value(device, values, largest)
    return (first_with(device, values, value), value) if value >= 0 else (-1, -1)


def first_with(device: Device, values: DeviceArray, wanted: int | Sequence[int]) -> int:
    """The smallest vertex whose value is `wanted`, or one of them; -1 if there is none."""
    codes = _list(device, [wanted] if isinstance(wanted, int | np.integer) else wanted)
    first = device.array(np.array([_NO_VERTEX], np.uint64))
    _launch(device, "column_first", values.size, values, np.uint64(values.size), *codes, first)
    vertex = _read(device, first)
    return vertex if vertex != _NO_VERTEX else -1


def histogram(device: Device, values: DeviceArray, largest: int | None = None) -> np.ndarray:
    """Vertices per value, int64[largest + 1], larger values and unreached ones left out. largest : if not given,
    the largest reached value (0 if there is none). Raises BudgetError if the counts have no room."""
    top = max(0, best_value(device, values)) if largest is None else min(largest, UNREACHED - 1)
    counts = device.empty(top + 1, np.uint64)
    device.fill(counts, 0)
    _launch(device, "column_histogram", values.size, values, np.uint64(values.size), np.uint64(top + 1), counts)
    return device.to_host(counts).astype(np.int64)


def gather(device: Device, values: DeviceArray, ids: np.ndarray | Sequence[int]) -> np.ndarray:
    """Values of vertices `ids`, uint32[k], sentinel included. IndexError for a vertex that there is not."""
    k = len(ids)
    taken = device.empty(max(1, k), np.uint32)
    _launch(device, "column_gather", k, values, _ids(device, values, ids), np.uint64(k), taken)
    return device.to_host(taken)[:k]


def put(device: Device, values: DeviceArray, ids: np.ndarray | Sequence[int], value: int) -> None:
    """Set the values of vertices `ids`. IndexError for a vertex that there is not."""
    _launch(device, "column_put", len(ids), values, _ids(device, values, ids), np.uint64(len(ids)), np.uint32(value))


def fill_where(device: Device, values: DeviceArray, predicate: str, value: int, new: int) -> int:
    """Values that compare so with `value` become `new`, as count_where compares. Returns how many changed."""
    compared = _compared(device, predicate, value)
    if isinstance(compared, bool):
        # No uint32 says what holds for all; what is at least 0 does, and nothing is below 0.
        compared = np.uint32(PREDICATES[">=" if compared else "<"]), np.uint32(0)
    changed = zeros(device, 1, np.uint64)
    _launch(device, "column_fill_where", values.size, values, np.uint64(values.size), *compared, np.uint32(new),
            changed)
    return _read(device, changed)


def cut(device: Device, values: DeviceArray, limit: int) -> int:
    """Values above `limit` become unreached. Returns how many."""
    return fill_where(device, values, ">", limit, UNREACHED)


def recode(
    device: Device, values: DeviceArray, old: Sequence[int], new: int, within: np.ndarray | DeviceArray | None = None
) -> int:
    """Change every value in `old` to `new`, only at set bits of the bitmap `within` if given (uint64[ceil(n/64)],
    of the host or the device). Returns how many."""
    bits = device.array(within) if isinstance(within, np.ndarray) and within.size else within
    changed = zeros(device, 1, np.uint64)
    _launch(device, "column_recode", values.size, values, np.uint64(values.size), *_list(device, old), np.uint32(new),
            changed if bits is None else bits, np.uint32(bits is not None), changed)
    return _read(device, changed)


def recode_where_reached(device: Device, values: DeviceArray, other: DeviceArray, old: Sequence[int], new: int) -> int:
    """Change every value in `old` to `new` where `other` (uint32[n]) is reached. Returns how many."""
    changed = zeros(device, 1, np.uint64)
    _launch(device, "column_recode_reached", values.size, values, np.uint64(values.size), other, *_list(device, old),
            np.uint32(new), changed)
    return _read(device, changed)


def select(device: Device, values: DeviceArray, predicate: str, value: int, most: int | None = None) -> np.ndarray:
    """Vertices whose value compares so with `value`, as count_where compares, ascending, int64[k]. At most
    `most`, the first ones."""
    n = values.size
    compared = _compared(device, predicate, value)
    if isinstance(compared, bool):
        return np.arange((n if most is None else min(n, most)) if compared else 0, dtype=np.int64)
    block = find_entry("columns.cu", "select_counts").block
    tiles = -(-n // (block * SELECT_ITEMS))
    sums = device.empty(tiles + 1, np.uint64)
    device.fill(sums[:1], 0)
    _launch(device, "select_counts", tiles * block, values, np.uint64(n), *compared, sums)
    ExclusiveSums(device).replace(sums)
    total = _read(device, sums[tiles:])
    k = total if most is None else min(total, most)
    if not k:
        return np.empty(0, np.int64)
    vertices = device.empty(k, np.uint64)
    _launch(device, "select_vertices", tiles * block, values, np.uint64(n), *compared, sums, vertices, np.uint64(k))
    return device.to_host(vertices).astype(np.int64)
