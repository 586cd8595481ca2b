"""The steps of traverse/folds.py over columns on a device; importing this registers them.

Each is one pass over the vertices start..stop-1. Source: papers/001, Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..traverse import folds
from ..traverse.columns import Column
from . import column_ops as ops
from .device_column import DeviceColumn, on_device
from .vector_kernels import launch_over

_PIECE = 1 << 20


def _over(column: DeviceColumn, entry: str, start: int, stop: int, *args: Any) -> None:
    """Run an entry of folds.cu on a range; arrays among `args` are cut to it, numbers follow their count."""
    arrays = [column.array, *(arg for arg in args if not isinstance(arg, np.generic))]
    numbers = [arg for arg in args if isinstance(arg, np.generic)]
    n = max(0, stop - start)
    launch_over(column.device, "folds.cu", entry, n, *(array[start:stop] for array in arrays), np.uint64(n), *numbers)


@folds.open_vertices.register
def _open_vertices(column: DeviceColumn, start: int, stop: int) -> Iterator[np.ndarray]:
    for begin in range(start, stop, _PIECE):
        part = column.array[begin : min(begin + _PIECE, stop)]
        ids = ops.select(column.device, part, "!=", ops.UNREACHED) + begin
        if len(ids):
            yield ids


@folds.open_bitmap.register
def _open_bitmap(column: DeviceColumn) -> np.ndarray:
    return ops.reached_bitmap(column.device, column.array)


@folds.open_at.register
def _open_at(column: DeviceColumn, reached: Column, value: int, start: int, stop: int) -> None:
    _over(column, "open_where", start, stop, on_device(reached), np.uint32(value))


@folds.close.register
def _close(column: DeviceColumn, start: int, stop: int) -> None:
    if stop > start:
        column.device.fill(column.array[start:stop], ops.UNREACHED)


@folds.tighten_upper.register
def _tighten_upper(upper: DeviceColumn, distances: Column, eccentricity: int, start: int, stop: int) -> None:
    _over(upper, "tighten_upper", start, stop, on_device(distances), np.uint32(eccentricity))


@folds.tighten_lower.register
def _tighten_lower(lower: DeviceColumn, distances: Column, eccentricity: int, start: int, stop: int) -> None:
    _over(lower, "tighten_lower", start, stop, on_device(distances), np.uint32(eccentricity))


@folds.largest.register
def _largest(column: DeviceColumn, start: int, stop: int) -> int:
    return ops.best_value(column.device, column.array[start:stop])


@folds.close_at_most.register
def _close_at_most(upper: DeviceColumn, bound: int, start: int, stop: int) -> None:
    ops.fill_where(upper.device, upper.array[start:stop], "<=", bound, ops.UNREACHED)


@folds.close_known.register
def _close_known(lower: DeviceColumn, upper: Column, bound: int, widest: int, start: int, stop: int) -> int:
    left = lower.device.array(np.zeros(1, np.uint64))
    n, arrays = max(0, stop - start), (lower.array[start:stop], on_device(upper)[start:stop])
    launch_over(lower.device, "folds.cu", "close_known", n, *arrays, np.uint64(n), np.uint32(bound),
                np.uint32(widest), left)
    return int(lower.device.to_host(left)[0])


@folds.contenders.register
def _contenders(
    among: DeviceColumn, values: Column | None, most: int, smallest: bool, start: int, stop: int
) -> Iterator[np.ndarray]:
    """Of the open vertices those whose value is at least as good as that of the `most`-th best."""
    if values is None:
        yield from folds.open_vertices(among, start, stop)
        return
    n, device = max(0, stop - start), among.device
    open_values = device.empty(max(1, n), np.uint32)[:n]
    device.copy(on_device(values)[start:stop], open_values)
    launch_over(device, "folds.cu", "close_where", n, open_values, among.array[start:stop], np.uint64(n))
    counts = ops.histogram(device, open_values)
    if not counts.any():
        return
    ahead = np.cumsum(counts if smallest else counts[::-1])
    worst = int(np.searchsorted(ahead, min(most, int(ahead[-1]))))
    if smallest:
        yield ops.select(device, open_values, "<=", worst) + start
        return
    least = len(counts) - 1 - worst
    # The sentinel takes part as the largest value: out of the way with it, where that is below the least.
    ops.fill_where(device, open_values, "==", ops.UNREACHED, 0 if least else ops.UNREACHED)
    ids = ops.select(device, open_values, ">=", least)
    yield (ids if least else ids[ops.gather(device, open_values, ids) != ops.UNREACHED]) + start
