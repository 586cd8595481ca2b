"""A graph with weights on a device, and lengths of paths as the words that kernels lower (kernels/paths/lengths.cuh).

Weights are uint32 with lengths uint64, or float32 and float64 with lengths float64. Signed integers become float64, if
all their sums are exact.

QueueRounds are rounds of relaxations from a queue, which workfront sweep, near-far, H-BF and delta-stepping share. A
Matrix has distances, or weights, as the adjacency matrix with a pitch of papers/004, section 1.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ...errors import DeviceRoomError, InputError
from ...paths.rows import WeightedRows, unreached
from ...units import format_size
from ..device import Device, DeviceArray
from ..graph import DeviceGraph, offsets_dtype
from ..kernel_file import KernelFile, zeros
from ..source import Define

NO_PATH = np.uint64(0xFFFFFFFFFFFFFFFF)
WEIGHT_TYPES = {"uint32": "u32", "float32": "float", "float64": "double"}
# All integers up to this are exact in float64.
_EXACT = 1 << 53
_SIGN = np.uint64(1 << 63)
_PIECE = 1 << 20


@dataclass(frozen=True)
class PairedGraph(DeviceGraph):
    """A graph whose `neighbours` are pairs, uint32[2 m]: the head of an arc, and the bits of its weight.
    Source: papers/004, section 1.2 (array of structures)."""

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return self.neighbours.size // 2


@dataclass(frozen=True)
class WeightFacts:
    """Facts of the weights on the host. distance_dtype : of returned distances, see WeightedRows. least, largest, mean
    : of the weights."""

    distance_dtype: np.dtype[Any]
    least: float
    largest: float
    mean: float

    @classmethod
    def of(cls, rows: WeightedRows) -> WeightFacts:
        """The facts of rows in RAM."""
        mean = float(np.mean(rows.costs, dtype=np.float64)) if rows.n_arcs else 1.0
        return cls(rows.distance_dtype, rows.least_weight, rows.largest_weight, mean)


@dataclass(frozen=True)
class WeightedGraph:
    """graph : offsets and heads. weights : uint32, float32 or float64[m]; if arcs are pairs, [1], unused."""

    graph: DeviceGraph
    weights: DeviceArray
    facts: WeightFacts

    @property
    def is_paired(self) -> bool:
        """Whether arcs are pairs of head and weight."""
        return isinstance(self.graph, PairedGraph)

    @property
    def along_floats(self) -> bool:
        """Whether a length is a float64, not a uint64."""
        return self.weights.dtype.kind == "f"

    @property
    def macros(self) -> dict[str, Define]:
        """The macros of kernels for its types, as a new dict."""
        paired: dict[str, Define] = {"PAIRS": 1} if self.is_paired else {}
        return {**self.graph.macros, "WEIGHT": WEIGHT_TYPES[self.weights.dtype.name], **paired}

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.graph.n_vertices

    def word(self, length: float) -> np.uint64:
        """The word of a length."""
        return float_words(np.array([length]))[0] if self.along_floats else np.uint64(length)

    def length(self, word: np.uint64) -> np.generic:
        """The length of a word, as a kernel argument: uint64 or float64."""
        return words_as_floats(np.array([word]))[0] if self.along_floats else word

    def start(self, device: Device, sources: int | np.ndarray) -> DeviceArray:
        """Words uint64[n] before the first round: length 0 at the sources, no path elsewhere. A call for each."""
        words = device.empty(self.n_vertices, np.uint64)
        device.fill(words, NO_PATH)
        for source in np.atleast_1d(sources).tolist():
            device.fill(words[source : source + 1], self.word(0))
        return words

    def distances(self, words: np.ndarray) -> np.ndarray:
        """The lengths of words, uint64[n], as distances of the rows' type, the largest value or infinity without a
        path. Raises OverflowError for a path so long that its length is infinite."""
        dtype, there = self.facts.distance_dtype, words != NO_PATH
        lengths = words_as_floats(words) if self.along_floats else words
        if self.along_floats and not np.isfinite(lengths[there]).all():
            raise OverflowError("a distance does not fit float64")
        found = np.full(len(words), unreached(dtype), dtype)
        found[there] = lengths[there]
        return found

    @property
    def usual_delta(self) -> float:
        """32 times the mean weight over the mean degree; 32 are the lanes of a warp.
        Source: papers/004, section 3.1, after Davidson et al."""
        return 32 * self.facts.mean * self.n_vertices / max(1, self.graph.n_arcs)

    def delta(self, asked: float | None) -> np.generic:
        """A width of intervals of lengths, as a kernel argument: `asked`, or the default; at least the smallest
        possible one. Raises InputError if it is not positive."""
        delta = self.usual_delta if asked is None else asked
        if not (asked is None or delta > 0):
            raise InputError("delta is a distance above 0", text=str(asked), remedy="give for example 1, or inf")
        if self.along_floats:
            return np.float64(delta if delta > 0 else 1.0)
        return np.uint64(NO_PATH if delta >= float(NO_PATH) else max(1, int(delta)))


def float_words(lengths: np.ndarray) -> np.ndarray:
    """The words of float64 lengths: uint64, in the order of the numbers."""
    bits = np.asarray(lengths, np.float64).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def words_as_floats(words: np.ndarray) -> np.ndarray:
    """The float64 lengths of words."""
    return np.where(words & _SIGN, words & ~_SIGN, ~words).view(np.float64)


def weight_dtype(rows: WeightedRows) -> np.dtype[Any]:
    """The type of the weights of rows on a device: uint32, float32 or float64.

    Raises InputError for integers that fit none of these exactly, and OverflowError if the length of a path may be
    infinite.
    """
    dtype = rows.costs.dtype
    most = max(abs(rows.least_weight), abs(rows.largest_weight)) * max(1, rows.n_vertices - 1)
    if dtype.kind == "f":
        if not np.isfinite(np.float64(most)):
            raise OverflowError(f"distances up to {most} do not fit float64")
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    if rows.least_weight >= 0 and rows.largest_weight < 1 << 32:
        return np.dtype(np.uint32)
    if most >= _EXACT:
        raise InputError(f"a device takes integer weights from 0 to 2^32 - 1, or distances below 2^53, not {most}",
                         remedy="compute on the CPU with --device cpu")
    return np.dtype(np.float64)


def _upload(device: Device, host: np.ndarray, dtype: np.dtype[Any]) -> DeviceArray:
    """A host vector on the device, with items of another type; copied in pieces, since the plan has no second host
    vector."""
    array = device.empty(len(host), dtype)
    for begin in range(0, len(host), _PIECE):
        end = min(begin + _PIECE, len(host))
        device.copy(host[begin:end].astype(dtype), array[begin:end])
    return array


def upload_rows(device: Device, rows: WeightedRows, pairs: bool = False) -> WeightedGraph:
    """Rows and their weights on a device. pairs : store arcs as pairs of head and weight.

    Raises as weight_dtype does, BudgetError if memory is too small, and InputError for pairs of more than 32 bits each.
    """
    weights = weight_dtype(rows)
    graph = DeviceGraph(_upload(device, rows.offsets, offsets_dtype(rows.n_arcs, rows.heads.itemsize)),
                        _upload(device, rows.heads, rows.heads.dtype))
    plain = WeightedGraph(graph, _upload(device, rows.costs, weights), WeightFacts.of(rows))
    return paired(device, plain) if pairs else plain


def paired(device: Device, plain: WeightedGraph) -> WeightedGraph:
    """The same graph with arcs as pairs of head and weight. Raises InputError for more than 32 bits each."""
    graph, weights = plain.graph, plain.weights
    if graph.id_dtype.itemsize > 4 or weights.dtype.itemsize > 4:
        raise InputError("ids and weights of 32 bits can be pairs, wider ones cannot", remedy="use the layout rows")
    pairs = device.empty(2 * graph.n_arcs, np.uint32)
    kernels = KernelFile(device, "paths/layouts.cu", layout_macros(plain))
    kernels.launch("pair_arcs", graph.n_arcs, graph.neighbours, weights, graph.n_arcs, pairs)
    return WeightedGraph(PairedGraph(graph.offsets, pairs), device.empty(1, weights.dtype), plain.facts)


def layout_macros(weighted: WeightedGraph, cell: str | None = None) -> dict[str, Define]:
    """The macros of layouts.cu. cell : type of a cell of a matrix (None: the default for these weights)."""
    return {**weighted.macros, "CELL": cell or ("double" if weighted.along_floats else "i64")}


def check_room(device: Device, needed: int, what: str) -> None:
    """Raise DeviceRoomError, with the numbers, if the device has less than `needed` bytes free."""
    free = device.memory().free
    if needed > free:
        raise DeviceRoomError(f"{what} takes {format_size(needed)}, {format_size(free)} are free on {device.name}",
                              remedy="use a smaller graph, or compute on the CPU with --device cpu")


def graph_bytes(rows: WeightedRows) -> int:
    """Bytes of offsets, heads and weights on a device."""
    wide = rows.costs.dtype == np.float64 or rows.least_weight < 0
    offset = offsets_dtype(rows.n_arcs, rows.heads.itemsize).itemsize
    return offset * (rows.n_vertices + 1) + (rows.heads.itemsize + (8 if wide else 4)) * rows.n_arcs


# A vertex is marked with the round in which it last entered a queue; rounds start at 1.
_MOST_ROUNDS = (1 << 32) - 2


class QueueRounds:
    """Relaxations of the arcs of one queue after another on one graph.

    kernel : its file and entry, with FRONTIER_PARAMETERS and the weights. defines : macros in addition to those of
    graph and mapping. queue, following : ids[n], current and next. counts : uint64[2], results of a round, read by
    `relax`. relaxed : arcs tried, on the device. Bytes a vertex on the device: two ids, 4, and the sums of the mapping.
    """

    def __init__(self, device: Device, weighted: WeightedGraph, kernel: tuple[str, str], mapping: str,
                 block: int | None = None, defines: Mapping[str, Define] | None = None) -> None:
        graph, n = weighted.graph, weighted.n_vertices
        self.device, self.weighted, self.round = device, weighted, 0
        self._launcher = graph.launcher(device, mapping, block)
        self.macros = {**self._launcher.defines, **weighted.macros, **(defines or {})}
        # The second launch, for deferred rows, has its own macros.
        file, entry = kernel
        self._kernels = self._launcher.kernels(file, entry, **{**weighted.macros, **(defines or {})})
        self.rounds = zeros(device, n, np.uint32)
        self.queue, self.following = graph.queues(device)
        self.counts, self._relaxed = device.empty(2, np.uint64), zeros(device, 1, np.uint64)
        self._size, self._arcs = device.empty(1, np.uint64), KernelFile(device, "frontier.cu", graph.macros, block)
        device.fill(self.counts, 0)

    def begin(self, sources: int | np.ndarray) -> None:
        """Make the sources the queue."""
        ids = np.atleast_1d(sources).astype(self.queue.dtype)
        self.device.copy(ids, self.queue[: len(ids)])

    def relax(self, queue: DeviceArray, arguments: tuple[Any, ...]) -> np.ndarray:
        """Relax the arcs of a queue of at least one vertex; return the counts.

        arguments : of the kernel after the weights; ROUND stands for the number of this round.
        """
        device = self.device
        self.round += 1
        if self.round > _MOST_ROUNDS:
            raise OverflowError("the rounds of relaxations do not fit 32 bits")
        device.fill(self._size, queue.size)
        self._arcs.launch("arcs_of_queue", queue.size, queue, self._size, self.weighted.graph.offsets, self._relaxed)
        words = [np.uint32(self.round) if one is ROUND else one for one in arguments]
        self._launcher.launch(self._kernels, queue, (self.weighted.weights, *words))
        return device.to_host(self.counts)

    def swap(self) -> None:
        """Make the next queue the current one."""
        self.queue, self.following = self.following, self.queue

    @property
    def relaxed(self) -> int:
        """The number of relaxed arcs so far."""
        return int(self.device.to_host(self._relaxed)[0])


ROUND = object()


def negative_cycle() -> InputError:
    """The error for a negative cycle."""
    return InputError("there is a cycle of negative length, so that some distances are not finite",
                      remedy="--device cpu --method bellman-ford shows the cycle")


def check_not_negative(weighted: WeightedGraph, method: str) -> None:
    """Raise InputError for negative weights."""
    if weighted.facts.least < 0:
        raise InputError(f"{method} needs weights that are not negative",
                         remedy="use --method workfront-sweep or --method harish")


# Rows of a matrix start at multiples of PITCH cells.
PITCH = 32
CELL_TYPES: Mapping[str, str] = MappingProxyType({"int32": "i32", "int64": "i64", "float64": "double"})


@dataclass(frozen=True)
class Matrix:
    """cells : int32, int64 or float64[rows * pitch]. pitch : cells from a row to the next."""

    cells: DeviceArray
    n_vertices: int
    pitch: int

    @property
    def rows(self) -> int:
        """Number of rows, with padding to whole tiles."""
        return self.cells.size // max(1, self.pitch)

    @property
    def macros(self) -> dict[str, Define]:
        """The macro of its cells."""
        return {"CELL": CELL_TYPES[self.cells.dtype.name]}

    def like(self, device: Device) -> Matrix:
        """A copy on the device."""
        cells = device.empty(self.cells.size, self.cells.dtype)
        device.copy(self.cells, cells)
        return Matrix(cells, self.n_vertices, self.pitch)


def no_path(dtype: np.dtype[Any]) -> int | float:
    """The cell of a pair without a path: infinity, or an integer that stays above every distance after adding a
    negative one, and whose double does not overflow."""
    return np.inf if dtype.kind == "f" else (int(np.iinfo(dtype).max) - 1) // 2


def adjacency_matrix(device: Device, weighted: WeightedGraph) -> Matrix:
    """The weights as a matrix with a pitch, int64 or float64; the diagonal is at most 0, and parallel arcs have their
    least weight. O(n^2). Raises DeviceRoomError, with the numbers, if it does not fit the device."""
    n, cell = weighted.n_vertices, np.dtype(np.float64 if weighted.along_floats else np.int64)
    pitch = -(-n // PITCH) * PITCH
    check_room(device, n * pitch * cell.itemsize, f"a matrix of {n} x {n} distances")
    matrix = Matrix(device.empty(n * pitch, cell), n, pitch)
    device.fill(matrix.cells, no_path(cell))
    graph = weighted.graph
    kernels = KernelFile(device, "paths/layouts.cu", layout_macros(weighted, CELL_TYPES[cell.name]))
    kernels.launch("fill_matrix", n, graph.offsets, graph.neighbours, weighted.weights, n, np.uint64(pitch),
                   matrix.cells)
    return matrix
