"""Columns on a device, the bounds of pivots as device columns, and the table of boxes of candidates (boxes.cu).

Values are uint32 on the device for any requested range; numbers returned to the host equal those of a Column in RAM.

Boxes group the vertices with limit < upper < unreached by their distances divided by 2^q. Only boxes that are not
certified against all others are copied to the host. Device memory: slots * (4 k + 8) bytes, at most the same again for
remaining boxes, and 4 bytes a vertex while members are listed.
Source: methods/exact/candidates.py, coarse candidates, which does the same in RAM.

Candidates are listed without certified ones: 4 bytes a vertex meanwhile. Their list stays on the device (4 bytes each);
the host gets it as a bitmap if that is smaller, distances in the narrowest type that has them, and answers as bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..stream.uncompiled import put_bits
from ..traverse.columns import BoxTable, Column, ListedVertices, smallest_dtype
from ..traverse.pivot_bounds import Folded, PivotBounds
from ..traverse.ram_column import first_labelled, fitted
from .components import DeviceLabels
from .device import Device, DeviceArray
from .graph import DeviceGraph
from .kernel_file import UNREACHED, KernelFile, zeros
from .vector import REACHED_ABOVE, DeviceVector, column_addresses, on_device


class DeviceBoxTable:
    """A BoxTable (traverse/columns.py) of vectors on `device`.

    upper : uint32[n]. columns : k distance vectors of the same size. limit : bound of certified vertices. q : int64[k];
    63 makes all distances equal. slots : a power of two.
    """

    def __init__(self, device: Device, upper: DeviceArray, columns: Sequence[DeviceArray], limit: int, q: np.ndarray,
                 slots: int) -> None:
        self._device, self._upper, self._limit = device, upper, limit
        self._k, self._slots, self._n = len(columns), slots, upper.size
        self._kernels = KernelFile(device, "boxes.cu")
        # Owners, counts and maxima, initially zero.
        state = zeros(device, slots * (self._k + 2), np.uint32)
        self._owners, self._counts, self._maxima = state[:slots], state[slots : 2 * slots], state[2 * slots :]
        addresses = device.array(column_addresses(device, self._n, columns, self._k))
        self._boxes = (addresses, device.array(q.astype(np.uint32)), self._k, slots, self._owners)
        self._columns = columns  # keeps the arrays alive for their addresses

    def fill(self) -> bool:
        """See BoxTable.fill."""
        taken = zeros(self._device, 1, np.uint64)
        self._kernels.launch("fill_boxes", self._n, self._upper, self._n, np.uint32(self._limit), *self._boxes,
                             self._maxima, self._counts, taken)
        return 2 * int(self._device.to_host(taken)[0]) <= self._slots

    def left(self) -> tuple[np.ndarray, np.ndarray]:
        """See BoxTable.left."""
        device, k = self._device, self._k
        extent, n_left = zeros(device, k, np.uint32), zeros(device, 1, np.uint64)
        self._kernels.launch("box_extent", self._slots, self._counts, self._slots, self._maxima, k, extent)
        # Of distances above the limit it is enough that they are above it.
        dtype = _narrowest(self._limit)
        parts, most = 4 // dtype.itemsize, self._slots // 2
        row_bytes = 4 + k * dtype.itemsize
        self._left, rows = device.empty(most, np.uint32), device.empty(most * row_bytes, np.uint8)
        self._kernels.launch("left_boxes", self._slots, self._counts, self._slots, self._maxima, k, extent, self._limit,
                             np.uint32(dtype.itemsize), self._left, rows, n_left)
        boxes = int(device.to_host(n_left)[0])
        table = device.to_host(rows[: boxes * row_bytes]).view(dtype).reshape(boxes, parts + k)
        self._sizes = np.ascontiguousarray(table[:, :parts]).view(np.uint32).reshape(boxes).astype(np.int64)
        return np.ascontiguousarray(table[:, parts:]), self._sizes

    def members(self, is_open: np.ndarray, room: int) -> ListedVertices | None:
        """See BoxTable.members."""
        n_members = int(self._sizes[is_open].sum())
        if n_members > room:
            return None
        if n_members == 0:
            return DeviceVertices(self._device, np.empty(0, np.int64))
        device, boxes = self._device, len(is_open)
        bits = np.empty(-(-boxes // 32), np.uint32)
        put_bits(is_open, bits)
        marks = device.empty(self._slots, np.uint32)
        device.fill(marks, UNREACHED)
        self._kernels.launch("mark_boxes", boxes, self._left, boxes, device.array(bits), marks)
        members = device.empty(self._n, np.uint32)
        self._kernels.launch("box_members", self._n, self._upper, self._n, np.uint32(self._limit), *self._boxes, marks,
                             members)
        return DeviceVertices.of(device, members)


# Another pass follows if a pass drops at least one in _WORTH candidates (WORTH of methods/exact/candidates.py).
_WORTH = 8


def uncertified(device: Device, upper: DeviceArray, columns: Sequence[DeviceArray], limit: int) -> ListedVertices:
    """The vertices with limit < upper < unreached that passes have not certified against all remaining others.
    upper, columns : uint32[n]. The host reads two numbers a pass. Work: O(k n) a pass."""
    n, k, kernels = upper.size, len(columns), KernelFile(device, "boxes.cu")
    addresses = device.array(column_addresses(device, n, columns, k))
    members, left, dropped, begins = device.empty(n, np.uint32), 1, 1, True
    while left and dropped * _WORTH > left:
        extent, counts = zeros(device, k, np.uint32), zeros(device, 2, np.uint64)
        kernels.launch("member_extent", n, upper, n, np.uint32(limit), addresses, k, np.uint32(begins), members, extent)
        kernels.launch("drop_members", n, n, limit, addresses, k, extent, members, counts)
        left, dropped = (int(count) for count in device.to_host(counts))
        begins = False
    return DeviceVertices.of(device, members)


def _narrowest(largest: int) -> np.dtype[Any]:
    """The narrowest type of values up to `largest`; larger ones come as its largest number."""
    return smallest_dtype(min(largest, UNREACHED - 2))


class DeviceVertices(ListedVertices):
    """ListedVertices for columns on `device`, for vertices below 2^32.

    listed : the same as uint32[m] on the device; None: it is copied there when it is needed.
    """

    def __init__(self, device: Device, ids: np.ndarray, listed: DeviceArray | None = None) -> None:
        super().__init__(ids)
        self._device, self._listed, self._kernels = device, listed, KernelFile(device, "boxes.cu")

    @classmethod
    def of(cls, device: Device, members: DeviceArray) -> DeviceVertices:
        """The vertices where `members`, uint32[n], is 0."""
        return cls(device, *DeviceVector(device, members).select_both("==", 0))

    def _on_device(self) -> DeviceArray:
        if self._listed is None:
            self._listed = self._device.array(self.ids.astype(np.uint32))
        return self._listed

    def keep(self, mask: np.ndarray) -> None:
        """See ListedVertices."""
        super().keep(mask)
        self._listed = None

    def _gathered(self, entry: str, first: tuple[Any, ...], k: int, largest: int) -> np.ndarray:
        """The result of a kernel that gathers k values of each vertex. first : its first arguments."""
        device, m, dtype = self._device, len(self), _narrowest(largest)
        if m == 0:
            return np.empty(0, dtype)
        out = device.empty(m * k * dtype.itemsize, np.uint8)
        self._kernels.launch(entry, m * k, *first, self._on_device(), m, np.uint32(dtype.itemsize), out)
        return device.to_host(out).view(dtype)

    def values(self, column: Any, largest: int) -> np.ndarray:
        """See ListedVertices."""
        if not isinstance(column, DeviceColumn):
            return super().values(column, largest)
        return self._gathered("gather_values", (column.array,), 1, largest)

    def put_points(self, columns: Sequence[Any], largest: int, points: np.ndarray) -> None:
        """See ListedVertices."""
        arrays, k = _arrays(columns), len(columns)
        if arrays is None:
            super().put_points(columns, largest, points)
        elif len(self):
            addresses = self._device.array(column_addresses(self._device, arrays[0].size, arrays, k))
            points[:] = self._gathered("gather_points", (addresses, k), k, largest).reshape(len(self), k)

    def above(self, column: Any, limit: int) -> np.ndarray:
        """See ListedVertices."""
        m = len(self)
        if not isinstance(column, DeviceColumn) or m == 0:
            return super().above(column, limit) if m else np.zeros(0, bool)
        bits = self._device.empty(-(-m // 32), np.uint32)
        self._kernels.launch("gather_above", m, column.array, self._on_device(), m, np.uint32(limit), bits)
        words = self._device.to_host(bits).view(np.uint8)
        return np.unpackbits(words, count=m, bitorder="little").astype(bool)


_PIECE, _OPEN_PIECE = 1 << 17, 1 << 20
# Bytes a vertex while candidates are listed: a mark, a bit, and the number of a remaining one; and a margin.
_LISTED_BYTES, _MARGIN = 9, 1 << 16
_ALL_BITS = 0xFFFFFFFFFFFFFFFF
_MOST_VERTICES = 1 << 32


class DeviceColumn(DeviceVector, Column):
    """A column on `device`. array : uint32[n_vertices], all bits set for unreached, not shared."""

    many = 1 << 10  # lists are copied to the host, boxes stay on the device
    has_spare = False  # whether the plan includes a copy of a column

    @classmethod
    def new(cls, device: Device, n_vertices: int, value: int | None = None) -> DeviceColumn:
        """A column filled with `value` (default: unreached). Raises BudgetError if memory is too small."""
        array = device.empty(n_vertices, np.uint32)
        device.fill(array, UNREACHED if value is None else value)
        return cls(device, array)

    @property
    def dtype(self) -> np.dtype[Any]:
        """dtype of the values."""
        return np.dtype(np.uint32)

    def __len__(self) -> int:
        return self.array.size

    def between(self, start: int, stop: int | None) -> DeviceVector:
        """The entries of vertices start..stop-1."""
        return DeviceVector(self.device, self.array[start : len(self) if stop is None else stop])

    def part(self, start: int, stop: int) -> np.ndarray:
        """See Column.part; a copy."""
        return self.device.to_host(self.array[start:stop])

    def set_part(self, start: int, values: np.ndarray) -> None:
        """Overwrite the values from `start` on with uint32[k]."""
        self.device.copy(np.ascontiguousarray(values), self.array[start : start + len(values)])

    def raw(self) -> np.ndarray:
        """A read-only copy in RAM: changes of a copy would be lost."""
        values = self.device.to_host(self.array)
        values.flags.writeable = False
        return values

    def copy_from(self, other: Column) -> None:
        """See Column.copy_from. `other` may be in RAM."""
        if isinstance(other, DeviceColumn):
            self.device.copy(other.array, self.array)
            return
        for start in range(0, len(self), _PIECE):
            self.device.copy(fitted(other.part(start, start + _PIECE), self.dtype), self.array[start : start + _PIECE])

    def duplicate(self, old: Column | None = None) -> DeviceColumn | None:
        """See Column.duplicate."""
        if not self.has_spare:
            return None
        copy = old
        if not isinstance(copy, DeviceColumn):
            copy = DeviceColumn(self.device, self.device.empty(len(self), np.uint32))
        copy.copy_from(self)
        return copy

    def box_table(self, columns: Sequence[Any], limit: int, q: np.ndarray, slots: int) -> BoxTable | None:
        """See Column.box_table."""
        arrays = _arrays(columns)
        if arrays is None or len(self) >= _MOST_VERTICES:
            return None
        return DeviceBoxTable(self.device, self.array, arrays, limit, q, slots)

    def uncertified(self, columns: Sequence[Any], limit: int) -> ListedVertices | None:
        """See Column.uncertified. Also None if the list does not fit device memory."""
        arrays = _arrays(columns)
        if arrays is None or self.device.memory().free < _LISTED_BYTES * len(self) + _MARGIN:
            return None
        return uncertified(self.device, self.array, arrays, limit)

    def clear(self) -> None:
        """See Column.clear."""
        self.device.fill(self.array, UNREACHED)

    def first(self, wanted: Sequence[int], start: int = 0, stop: int | None = None, labels: Any = None,
              label: int = 0) -> int:
        """See Column.first. Labels in RAM are scanned in pieces from `start` on, since the vertex is usually near."""
        end = len(self) if stop is None else min(stop, len(self))
        if labels is None or len(labels) == 0 or isinstance(labels, DeviceLabels):
            part = self.between(start, max(start, end))
            at = (labels.first(part, wanted, start, label) if isinstance(labels, DeviceLabels)
                  else part.first_with(wanted))
            return start + at if at >= 0 else -1
        for begin in range(start, end, _PIECE):
            values = self.part(begin, min(begin + _PIECE, end))
            at = int(first_labelled(values, np.array(wanted, np.uint32), labels[begin : begin + len(values)], label, 0,
                                    len(values)))
            if at >= 0:
                return begin + at
        return -1

    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """See Column.argbest."""
        part = self.between(start, stop)
        value = part.best_value(largest)
        return start + part.first_with(value) if value >= 0 else -1

    # -- folds: one pass each over the vertices start..stop-1 (papers/001, Algorithm 2) -----------
    def _fold(self, entry: str, start: int, stop: int, other: Column, *numbers: Any) -> None:
        """Run an entry of bounds.cu on a range of this column and another."""
        part, n = self.array[start:stop], max(0, stop - start)
        KernelFile(self.device, "bounds.cu").launch(entry, n, part, on_device(other)[start:stop], n, *numbers)

    def open_vertices(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """See Column.open_vertices."""
        for begin in range(start, stop, _OPEN_PIECE):
            ids = self.between(begin, min(begin + _OPEN_PIECE, stop)).select("!=", UNREACHED) + begin
            if len(ids):
                yield ids

    def open_at(self, reached: Column, value: int, start: int, stop: int) -> None:
        """See Column.open_at."""
        self._fold("open_where", start, stop, reached, np.uint32(value))

    def close(self, start: int, stop: int) -> None:
        """See Column.close."""
        if stop > start:
            self.device.fill(self.array[start:stop], UNREACHED)

    def tighten_upper(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """See Column.tighten_upper."""
        self._fold("tighten_upper", start, stop, distances, np.uint32(eccentricity))

    def tighten_lower(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """See Column.tighten_lower."""
        self._fold("tighten_lower", start, stop, distances, np.uint32(eccentricity))

    def largest(self, start: int, stop: int) -> int:
        """See Column.largest."""
        return self.between(start, stop).best_value()

    def close_at_most(self, bound: int, start: int, stop: int) -> None:
        """See Column.close_at_most."""
        self.between(start, stop).fill_where("<=", bound, UNREACHED)

    def close_known(self, lower: Column, bound: int, widest: int, start: int, stop: int) -> int:
        """See Column.close_known."""
        left = zeros(self.device, 1, np.uint64)
        self._fold("close_known", start, stop, lower, np.uint32(bound), np.uint32(widest), left)
        return int(self.device.to_host(left)[0])

    def contenders(self, values: Column | None, count: int, smallest: bool, start: int,
                   stop: int) -> Iterator[np.ndarray]:
        """The open vertices whose value is at least as good as the `count`-th best value."""
        if values is None:
            yield from self.open_vertices(start, stop)
            return
        n, device = max(0, stop - start), self.device
        open_values = DeviceColumn(device, device.empty(max(1, n), np.uint32)[:n])
        device.copy(on_device(values)[start:stop], open_values.array)
        among = DeviceColumn(device, self.array[start:stop])
        open_values._fold("close_where", 0, n, among)
        counts = open_values.histogram()
        if not counts.any():
            return
        ahead = np.cumsum(counts if smallest else counts[::-1])
        worst = int(np.searchsorted(ahead, min(count, int(ahead[-1]))))
        if smallest:
            yield open_values.select("<=", worst) + start
            return
        least = len(counts) - 1 - worst
        # The sentinel would count as the largest value: replace it by 0 if the least value is above 0.
        open_values.fill_where("==", UNREACHED, 0 if least else UNREACHED)
        ids = open_values.select(">=", least)
        yield (ids if least else ids[open_values.take(ids) != UNREACHED]) + start


def _arrays(columns: Sequence[Any]) -> list[DeviceArray] | None:
    """The vectors of columns, if there are some and all are on a device; else None."""
    arrays = [column.array for column in columns if isinstance(column, DeviceColumn)]
    return arrays if arrays and len(arrays) == len(columns) else None


class DevicePivotBounds(PivotBounds):
    """As PivotBounds, with lower, upper and far as DeviceColumns; distances must be a DeviceColumn too.

    graph : on the device. largest : the largest possible eccentricity, the initial upper bound.
    Raises OverflowError for 2^32 vertices or more. Source and ties: kernels/pivots.cu.
    """

    def __init__(self, device: Device, graph: DeviceGraph, largest: int) -> None:
        n = graph.n_vertices
        if n >= _MOST_VERTICES:
            raise OverflowError(f"bounds on a device are for fewer than 2^32 vertices, not {n}")
        self._device, self._graph, self._largest = device, graph, largest
        self._kernels = KernelFile(device, "pivots.cu", {"INDEX": graph.macros["INDEX"]})
        self._columns = [DeviceColumn.new(device, n) for _ in range(3)]
        self.lower, self.upper, self.far = self._columns

    def fold(self, source: int, distances: Column, eccentricity: int, limit: int) -> Folded:
        """See PivotBounds.fold."""
        device, n, values = self._device, self._graph.n_vertices, on_device(distances)
        columns = [column.array for column in self._columns]
        out = zeros(device, 6, np.uint64)
        self._kernels.launch("fold_pivot", n, values, n, source, np.uint32(eccentricity),
                             np.uint32(limit), np.uint32(self._largest), *columns, out)
        self._kernels.launch("choose_pivots", n, self._graph.offsets, values, n, *columns, out)
        unsettled, highest, _, _, centre, periphery = (int(value) for value in device.to_host(out))
        # Keys have all bits inverted; 0 means none.
        return Folded(unsettled, ~centre & 0xFFFFFFFF if centre else -1, ~periphery & _ALL_BITS if periphery else -1,
                      highest)

    def unsettled(self, limit: int) -> np.ndarray:
        """See PivotBounds.unsettled."""
        return self.upper.select(REACHED_ABOVE, limit)
