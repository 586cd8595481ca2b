"""A vector of numbers on a device with its verbs: the host code of columns.cu.

uint32[n]; the value with all bits set (UNREACHED) means unreached. traverse/columns.py defines the verbs; its Column is
the same on the CPU, but here returned values keep the sentinel. DeviceColumn (device_column.py) is a Column over it;
this module needs no kernels of the CPU.
Work: O(n) each, one or two passes; take and put: O(k). The host reads once a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .device import Device, DeviceArray
from .kernel_file import UNREACHED, ExclusiveSums, KernelFile, zeros

# Numbers of columns.cu.
PREDICATES: Mapping[str, int] = MappingProxyType({"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5})
# A predicate on reached values only, which columns in RAM do not have.
REACHED_ABOVE, _CODES = "reached >", {**PREDICATES, "reached >": 6}
# Vertices of a thread in a tile (ITEMS_OF_THREAD of columns.cu).
SELECT_ITEMS = 8
NO_VERTEX = int(np.iinfo(np.uint64).max)
# Vertices of a selection at a time, whose numbers have 32 bits. Words of a bitmap that are read at a time.
_MOST_SELECTED, _WORDS = 1 << 32, 1 << 15


def _compared(predicate: str, value: int) -> tuple[np.uint32, np.uint32] | bool:
    """A comparison for a kernel; or its constant result, if the number is no uint32."""
    code = _CODES[predicate]
    if 0 <= value <= UNREACHED:
        return np.uint32(code), np.uint32(value)
    if predicate == REACHED_ABOVE:
        return (np.uint32(PREDICATES["!="]), np.uint32(UNREACHED)) if value < 0 else False
    return predicate in (("!=", "<", "<=") if value > UNREACHED else ("!=", ">", ">="))


class DeviceVector:
    """The vector `array`, uint32[n], on `device`; a slice of it is one too: DeviceVector(device, array[start:stop])."""

    def __init__(self, device: Device, array: DeviceArray) -> None:
        self.device, self.array = device, array
        self._kernels = KernelFile(device, "columns.cu")

    def _run(self, entry: str, *args: Any) -> None:
        """Run an entry with about one thread an item."""
        self._kernels.launch(entry, self.array.size, self.array, self.array.size, *args)

    def _sum(self, entry: str, *args: Any) -> int:
        """Run an entry that raises a count, its last argument."""
        total = zeros(self.device, 1, np.uint64)
        self._run(entry, *args, total)
        return int(self.device.to_host(total)[0])

    def listed(self, values: Sequence[int]) -> tuple[DeviceArray, int]:
        """Values uint32[k] on the device, and k. Raises OverflowError for a value that is no uint32."""
        return self.device.array(np.array([*values, 0], np.uint32)), len(values)

    def _ids(self, ids: np.ndarray | Sequence[int]) -> tuple[DeviceArray, int]:
        """Vertices uint64[k] on the device, and k. Raises IndexError for an invalid vertex."""
        wanted, n = np.asarray(ids, np.int64), self.array.size
        if len(wanted) and (int(wanted.min()) < 0 or int(wanted.max()) >= n):
            raise IndexError(f"a column of {n} vertices has no vertex {int(wanted.min())} to {int(wanted.max())}")
        array = self.device.array(wanted.astype(np.uint64) if len(wanted) else np.zeros(1, np.uint64))
        return array, len(wanted)

    # -- reading --------------------------------------------------------------------------------
    def take(self, ids: np.ndarray | Sequence[int]) -> np.ndarray:
        """Values of vertices `ids`, uint32[k], with sentinels. Raises IndexError for an invalid vertex."""
        taken = self.device.empty(max(1, len(ids)), np.uint32)
        self._kernels.launch("column_gather", len(ids), self.array, *self._ids(ids), taken)
        return self.device.to_host(taken)[: len(ids)]

    def reached_bits(self) -> DeviceArray:
        """Bitmap of the reached vertices on the device, uint64[ceil(n/64)], at least 1."""
        return self._bits("!=", UNREACHED)

    def _bits(self, predicate: str, value: int) -> DeviceArray:
        """Bitmap of the vertices whose values fulfil the comparison with a uint32."""
        n = self.array.size
        bits = self.device.empty(max(1, -(-n // 64)), np.uint64)
        self._kernels.launch("column_bits", -(-n // 64) * self.device.warp, self.array, n,
                             np.uint32(_CODES[predicate]), np.uint32(value), bits)
        return bits

    def open_bitmap(self) -> np.ndarray:
        """Bitmap of the reached vertices on the host, uint64[ceil(n/64)]."""
        return self.device.to_host(self.reached_bits()) if self.array.size else np.empty(0, np.uint64)

    def above_bitmap(self, limit: int) -> np.ndarray:
        """Bitmap of the reached vertices with values above `limit`, a uint32, on the host, uint64[ceil(n/64)]."""
        return self.device.to_host(self._bits(REACHED_ABOVE, limit))[: -(-self.array.size // 64)]

    def count(self, value: int) -> int:
        """The number of vertices with exactly this value."""
        return self.count_where("==", value)

    def count_where(self, predicate: str, value: int) -> int:
        """The number of vertices whose values fulfil the predicate ("==", "!=", "<", "<=", ">", ">=") with `value`; the
        sentinel counts as the largest value. REACHED_ABOVE excludes unreached ones. Raises KeyError for another
        predicate."""
        compared = _compared(predicate, value)
        if isinstance(compared, bool):
            return self.array.size if compared else 0
        return self._sum("column_count", *compared)

    def best_value(self, largest: bool = True) -> int:
        """The largest (smallest) reached value, or -1."""
        best = zeros(self.device, 1, np.uint32)
        self._run("column_best", np.uint32(not largest), best)
        rank = int(self.device.to_host(best)[0]) - 1
        return rank if largest or rank < 0 else UNREACHED - 1 - rank

    def first_with(self, wanted: int | Sequence[int]) -> int:
        """The smallest vertex whose value is `wanted`, or one of `wanted`; -1 without one."""
        first = self.device.array(np.array([NO_VERTEX], np.uint64))
        self._run("column_first", *self.listed([wanted] if isinstance(wanted, int | np.integer) else wanted), first)
        return as_vertex(self.device.to_host(first))

    def reached_and_first(self, value: int) -> tuple[int, int]:
        """The number of reached vertices, and the smallest vertex with this value, or -1."""
        out = zeros(self.device, 2, np.uint64)
        self._run("column_reached", np.uint32(value), out)
        reached, first = (int(number) for number in self.device.to_host(out))
        return reached, NO_VERTEX - first if first else -1

    def histogram(self, largest: int | None = None) -> np.ndarray:
        """Numbers of vertices by value, int64[largest + 1], without larger values and unreached vertices. largest :
        default: the largest reached value (0 without one). Raises BudgetError if memory is too small."""
        top = max(0, self.best_value()) if largest is None else min(largest, UNREACHED - 1)
        counts = zeros(self.device, top + 1, np.uint64)
        self._run("column_histogram", top + 1, counts)
        return self.device.to_host(counts).astype(np.int64)

    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """The vertices whose values fulfil the predicate of count_where, ascending, int64[k]; at most the first `most`
        ones. They come to the host as a list or as a bitmap, whichever has fewer bytes."""
        n, compared = self.array.size, _compared(predicate, value)
        if isinstance(compared, bool):
            return np.arange((n if most is None else min(n, most)) if compared else 0, dtype=np.int64)
        found = [DeviceVector(self.device, self.array[start : start + _MOST_SELECTED])._selected(compared, most)[0]
                 + start for start in range(0, n, _MOST_SELECTED)]
        return np.concatenate([np.empty(0, np.int64), *found])[:most]

    def select_both(self, predicate: str, value: int) -> tuple[np.ndarray, DeviceArray | None]:
        """The vertices as from select, for a uint32 and at most 2^32 vertices; and as uint32[k] on the device (None:
        there is none)."""
        return self._selected((np.uint32(_CODES[predicate]), np.uint32(value)), None, both=True)

    def _selected(self, compared: tuple[np.uint32, np.uint32], most: int | None,
                  both: bool = False) -> tuple[np.ndarray, DeviceArray | None]:
        """The first `most` vertices with this comparison, and the list on the device if it was made, as for `both`."""
        n, device = self.array.size, self.device
        block = self._kernels.block("select_counts")
        tiles = -(-n // (block * SELECT_ITEMS))
        sums, bits = zeros(device, tiles + 1, np.uint64), device.empty(max(1, -(-n // 32)), np.uint32)
        self._kernels.launch("select_counts", tiles * block, self.array, n, *compared, sums, bits)
        ExclusiveSums(device).replace(sums)
        total = int(device.to_host(sums[tiles:])[0])
        k = total if most is None else min(total, most)
        if not k:
            return np.empty(0, np.int64), None
        vertices, in_bits = None, 4 * k > bits.nbytes
        if both or not in_bits:
            vertices = device.empty(k, np.uint32)
            self._kernels.launch("select_vertices", tiles * block, self.array, n, *compared, sums, vertices, k)
        if in_bits or vertices is None:
            return vertices_of_bits(device.to_host(bits))[:k], vertices
        return device.to_host(vertices).astype(np.int64), vertices

    # -- changing -------------------------------------------------------------------------------
    def put(self, ids: np.ndarray | Sequence[int], value: int) -> None:
        """Set the values of vertices `ids`. Raises IndexError for an invalid vertex."""
        self._kernels.launch("column_put", len(ids), self.array, *self._ids(ids), np.uint32(value))

    def fill_where(self, predicate: str, value: int, new: int) -> int:
        """Replace values that fulfil the predicate of count_where by `new`. Returns the number of changes."""
        compared = _compared(predicate, value)
        if isinstance(compared, bool):
            # A constant comparison: all values are >= 0, and none is < 0.
            compared = np.uint32(PREDICATES[">=" if compared else "<"]), np.uint32(0)
        return self._sum("column_fill_where", *compared, np.uint32(new))

    def recode(self, old: Sequence[int], new: int, within: Any = None) -> int:
        """Change every value in `old` to `new`, at set bits of the bitmap `within` only, if it is not None
        (uint64[ceil(n/64)], on the host or the device). Returns the number of changes."""
        bits = self.device.array(within) if isinstance(within, np.ndarray) and within.size else within
        any_bits = zeros(self.device, 1, np.uint64) if bits is None else bits
        return self._sum("column_recode", *self.listed(old), np.uint32(new), any_bits, np.uint32(bits is not None))

    def recode_where_reached(self, other: Any, old: Sequence[int], new: int) -> int:
        """Change every value in `old` to `new` at vertices that are reached in `other`, a vector of this device (else
        raises TypeError). Returns the number of changes."""
        return self._sum("column_recode_reached", on_device(other), *self.listed(old), np.uint32(new))


def vertices_of_bits(words: np.ndarray) -> np.ndarray:
    """The numbers of the set bits of a bitmap, uint32[k], ascending, int64[k]."""
    parts = [np.flatnonzero(np.unpackbits(words[start : start + _WORDS].view(np.uint8), bitorder="little")) + 32 * start
             for start in range(0, len(words), _WORDS)]
    return np.concatenate([np.empty(0, np.int64), *parts])


def as_vertex(returned: np.ndarray) -> int:
    """The vertex that a kernel returned as uint64[1]; -1 for NO_VERTEX."""
    vertex = int(returned[0])
    return vertex if vertex != NO_VERTEX else -1


def column_addresses(device: Device, n: int, columns: Sequence[DeviceArray] | DeviceArray, k: int) -> np.ndarray:
    """The device addresses of k columns of n vertices, uint64[k]. columns : k vectors uint32[n], or one uint32[k * n].
    Raises ValueError for others."""
    parts, each = (list(columns), 1) if isinstance(columns, Sequence) else ([columns], k)
    if len(parts) * each != k or any(one.dtype != np.uint32 or one.size != n * each for one in parts):
        raise ValueError(f"columns of {k} sources are {k} of uint32[{n}], or one uint32[{k * n}]")
    return np.array([device.address(one) + 4 * n * i for one in parts for i in range(each)], np.uint64)


def on_device(column: object) -> DeviceArray:
    """The vector of a column on a device. Raises TypeError for a column in RAM."""
    if not isinstance(column, DeviceVector):
        raise TypeError("this column is in RAM; columns of one engine live in one place")
    return column.array
