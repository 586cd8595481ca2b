"""Columns that live on a device: the verbs of traverse.columns.Column over column_ops.

Values are uint32 there, whatever range they were asked for; what is handed out as numbers is the same as from
a Column in RAM.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..traverse.columns import Column, first_labelled
from . import column_ops as ops
from .device import Device, DeviceArray

_PIECE = 1 << 17


class DeviceColumn(Column):
    """A column on `device`. array : uint32[n_vertices], all bits set where unreached; the column's own."""

    def __init__(self, device: Device, array: DeviceArray) -> None:
        self.device, self.array = device, array

    @classmethod
    def new(cls, device: Device, n_vertices: int, value: int | None = None) -> DeviceColumn:
        """A column filled with `value` (default: unreached). Raises BudgetError if there is no room."""
        array = device.empty(n_vertices, np.uint32)
        device.fill(array, ops.UNREACHED if value is None else value)
        return cls(device, array)

    @property
    def dtype(self) -> np.dtype[Any]:
        """dtype of the values."""
        return np.dtype(np.uint32)

    @property
    def unreached(self) -> int:
        """The sentinel."""
        return ops.UNREACHED

    def __len__(self) -> int:
        return self.array.size

    def gather(self, ids: np.ndarray | Sequence[int]) -> np.ndarray:
        """See Column.gather."""
        found = ops.gather(self.device, self.array, ids).astype(np.int64)
        found[found == self.unreached] = -1
        return found

    def take(self, ids: np.ndarray) -> np.ndarray:
        """See Column.take."""
        return ops.gather(self.device, self.array, ids)

    def part(self, start: int, stop: int) -> np.ndarray:
        """See Column.part; a copy."""
        return self.device.to_host(self.array[start:stop])

    def copy_from(self, other: Column) -> None:
        """See Column.copy_from. `other` may be in RAM."""
        if isinstance(other, DeviceColumn):
            self.device.copy(other.array, self.array)
            return
        for start in range(0, len(self), _PIECE):
            values = other.part(start, start + _PIECE)
            wide = values.astype(np.uint32)
            wide[values == other.unreached] = self.unreached
            self.device.copy(wide, self.array[start : start + _PIECE])

    def clear(self) -> None:
        """See Column.clear."""
        self.device.fill(self.array, self.unreached)

    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """See Column.select."""
        return ops.select(self.device, self.array, predicate, value, most)

    def first(
        self, wanted: Sequence[int], start: int = 0, stop: int | None = None,
        labels: np.ndarray | None = None, label: int = 0,
    ) -> int:
        """See Column.first. Looks at pieces from `start` on: what is asked for is mostly near."""
        end, codes = len(self) if stop is None else min(stop, len(self)), np.array(wanted, np.uint32)
        for begin in range(start, end, _PIECE):
            values = self.part(begin, min(begin + _PIECE, end))
            some = np.empty(0, np.uint8) if labels is None else labels[begin : begin + len(values)]
            at = int(first_labelled(values, codes, some, label, 0, len(values)))
            if at >= 0:
                return begin + at
        return -1

    def count(self, value: int) -> int:
        """See Column.count."""
        return ops.count(self.device, self.array, value)

    def put(self, ids: np.ndarray | Sequence[int], value: int) -> None:
        """See Column.put."""
        ops.put(self.device, self.array, ids, value)

    def recode(self, old: Sequence[int], new: int, within: np.ndarray | None = None) -> int:
        """See Column.recode."""
        return ops.recode(self.device, self.array, old, new, within)

    def recode_where_reached(self, other: Column, old: Sequence[int], new: int) -> int:
        """See Column.recode_where_reached; `other` is on the device too."""
        return ops.recode_where_reached(self.device, self.array, on_device(other), old, new)

    def fold_bounds(self, other: Column, shift: int) -> None:
        """See Column.fold_bounds; `other` is on the device too."""
        ops.fold_bounds(self.device, self.array, on_device(other), shift)

    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """See Column.argbest."""
        vertex, _ = ops.argbest(self.device, self.array[start : len(self) if stop is None else stop], largest)
        return vertex if vertex < 0 else start + vertex

    def block_max(self, starts: np.ndarray) -> np.ndarray:
        """See Column.block_max."""
        return ops.block_max(self.device, self.array, starts)

    def histogram(self) -> np.ndarray:
        """See Column.histogram."""
        return ops.histogram(self.device, self.array)

    def save(self, path: str | Path) -> None:
        """See Column.save."""
        Column(self.raw()).save(path)

    def raw(self) -> np.ndarray:
        """A copy in RAM, which cannot be written to: changes of it would be lost."""
        values = self.device.to_host(self.array)
        values.flags.writeable = False
        return values


def on_device(column: Column) -> DeviceArray:
    """The vector of a column that is on a device. Raises TypeError for one in RAM."""
    if not isinstance(column, DeviceColumn):
        raise TypeError("this column is in RAM; columns of one engine live in one place")
    return column.array
