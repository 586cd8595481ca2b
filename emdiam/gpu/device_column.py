"""Columns that live on a device: the verbs of traverse.columns.Column over column_ops.

Values are uint32 there, whatever range they were asked for; what is handed out as numbers is the same as from
a Column in RAM.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..traverse.columns import Column
from ..traverse.ram_column import first_labelled, fitted
from . import column_ops as ops
from .device import Device, DeviceArray
from .kernel_file import KernelFile, zeros

_PIECE, _OPEN_PIECE = 1 << 17, 1 << 20


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

    def __len__(self) -> int:
        return self.array.size

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
            self.device.copy(fitted(other.part(start, start + _PIECE), self.dtype), self.array[start : start + _PIECE])

    def clear(self) -> None:
        """See Column.clear."""
        self.device.fill(self.array, self.unreached)

    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """See Column.select."""
        return ops.select(self.device, self.array, predicate, value, most)

    def first(
        self, wanted: Sequence[int], start: int = 0, stop: int | None = None,
        labels: Any = None, label: int = 0,
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

    def recode(self, old: Sequence[int], new: int, within: Any = None) -> int:
        """See Column.recode."""
        return ops.recode(self.device, self.array, old, new, within)

    def recode_where_reached(self, other: Column, old: Sequence[int], new: int) -> int:
        """See Column.recode_where_reached; `other` is on the device too."""
        return ops.recode_where_reached(self.device, self.array, on_device(other), old, new)

    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """See Column.argbest."""
        vertex, _ = ops.argbest(self.device, self.array[start : len(self) if stop is None else stop], largest)
        return vertex if vertex < 0 else start + vertex

    def raw(self) -> np.ndarray:
        """A copy in RAM, which cannot be written to: changes of it would be lost."""
        values = self.device.to_host(self.array)
        values.flags.writeable = False
        return values

    # -- folds: one pass each over the vertices start..stop-1 (papers/001, Algorithm 2) -----------
    def _fold(self, entry: str, start: int, stop: int, *args: Any) -> None:
        """Run an entry of bounds.cu on a range; arrays among `args` are cut to it, numbers follow their count."""
        arrays = [self.array, *(arg for arg in args if not isinstance(arg, np.generic))]
        numbers = [arg for arg in args if isinstance(arg, np.generic)]
        n = max(0, stop - start)
        parts = (array[start:stop] for array in arrays)
        KernelFile(self.device, "bounds.cu").launch(entry, n, *parts, np.uint64(n), *numbers)

    def open_vertices(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """See Column.open_vertices."""
        for begin in range(start, stop, _OPEN_PIECE):
            part = self.array[begin : min(begin + _OPEN_PIECE, stop)]
            ids = ops.select(self.device, part, "!=", ops.UNREACHED) + begin
            if len(ids):
                yield ids

    def open_bitmap(self) -> np.ndarray:
        """See Column.open_bitmap."""
        return ops.reached_bitmap(self.device, self.array)

    def open_at(self, reached: Column, value: int, start: int, stop: int) -> None:
        """See Column.open_at."""
        self._fold("open_where", start, stop, on_device(reached), np.uint32(value))

    def close(self, start: int, stop: int) -> None:
        """See Column.close."""
        if stop > start:
            self.device.fill(self.array[start:stop], ops.UNREACHED)

    def tighten_upper(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """See Column.tighten_upper."""
        self._fold("tighten_upper", start, stop, on_device(distances), np.uint32(eccentricity))

    def tighten_lower(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """See Column.tighten_lower."""
        self._fold("tighten_lower", start, stop, on_device(distances), np.uint32(eccentricity))

    def largest(self, start: int, stop: int) -> int:
        """See Column.largest."""
        return ops.best_value(self.device, self.array[start:stop])

    def close_at_most(self, bound: int, start: int, stop: int) -> None:
        """See Column.close_at_most."""
        ops.fill_where(self.device, self.array[start:stop], "<=", bound, ops.UNREACHED)

    def close_known(self, lower: Column, bound: int, widest: int, start: int, stop: int) -> int:
        """See Column.close_known."""
        left = zeros(self.device, 1, np.uint64)
        n, arrays = max(0, stop - start), (on_device(lower)[start:stop], self.array[start:stop])
        KernelFile(self.device, "bounds.cu").launch("close_known", n, *arrays, np.uint64(n), np.uint32(bound),
                    np.uint32(widest), left)
        return int(self.device.to_host(left)[0])

    def contenders(
        self, values: Column | None, count: int, smallest: bool, start: int, stop: int
    ) -> Iterator[np.ndarray]:
        """Of the open vertices those whose value is at least as good as that of the `count`-th best."""
        if values is None:
            yield from self.open_vertices(start, stop)
            return
        n, device = max(0, stop - start), self.device
        open_values = device.empty(max(1, n), np.uint32)[:n]
        device.copy(on_device(values)[start:stop], open_values)
        KernelFile(device, "bounds.cu").launch("close_where", n, open_values, self.array[start:stop], np.uint64(n))
        counts = ops.histogram(device, open_values)
        if not counts.any():
            return
        ahead = np.cumsum(counts if smallest else counts[::-1])
        worst = int(np.searchsorted(ahead, min(count, int(ahead[-1]))))
        if smallest:
            yield ops.select(device, open_values, "<=", worst) + start
            return
        least = len(counts) - 1 - worst
        # The sentinel takes part as the largest value: out of the way with it, where that is below the least.
        ops.fill_where(device, open_values, "==", ops.UNREACHED, 0 if least else ops.UNREACHED)
        ids = ops.select(device, open_values, ">=", least)
        yield (ids if least else ids[ops.gather(device, open_values, ids) != ops.UNREACHED]) + start


def on_device(column: Column) -> DeviceArray:
    """The vector of a column that is on a device. Raises TypeError for one in RAM."""
    if not isinstance(column, DeviceColumn):
        raise TypeError("this column is in RAM; columns of one engine live in one place")
    return column.array
