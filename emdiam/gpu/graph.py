"""A graph on a device, for traversals, and the interface of a BFS on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import DTypeLike

from .device import Device, DeviceArray
from .registry import KERNEL_TYPES
from .source import Define

if TYPE_CHECKING:
    from .frontier import FrontierLauncher


# Graphs of at most this number of arcs have offsets of 32 bits: a kernel computes positions up to 2^10 arcs after the
# end of a row, which must not wrap (simt.cuh, INDEX).
MOST_NARROW = (1 << 32) - (1 << 16)


def offsets_dtype(n_arcs: int, id_bytes: int) -> np.dtype[Any]:
    """The type of offsets for a number of arcs: uint32 if they fit and ids have 4 bytes, else uint64."""
    return np.dtype(np.uint32 if n_arcs <= MOST_NARROW and id_bytes == 4 else np.uint64)


def graph_macros(ids: np.dtype[Any], offsets: np.dtype[Any]) -> dict[str, Define]:
    """The macros of kernels for these types of a vertex and of an offset, as a new dict."""
    return {"VERTEX": KERNEL_TYPES[ids.name], "INDEX": KERNEL_TYPES[offsets.name]}


@dataclass
class ScannedArcs:
    """arcs : number of arcs scanned by traversals of a graph on a device so far; named BFS variants do not count."""

    arcs: int = 0


@dataclass(frozen=True)
class DeviceGraph:
    """Adjacency in rows on a device: offsets offsets_dtype[n + 1], neighbours uint32 or uint64[m]. Raises OverflowError
    for more arcs than the type of offsets allows.

    resident : whether `neighbours` has all arcs; if not, only a launcher has access to arcs. usual_mapping : the
    default load balancing of traversals. scanned : counter of traversals. into : the rows of arcs into vertices; None:
    the graph is undirected.
    """

    resident: ClassVar[bool] = True
    usual_mapping: ClassVar[str] = "two-phase"
    offsets: DeviceArray
    neighbours: DeviceArray
    into: DeviceGraph | None = field(default=None, compare=False, repr=False, kw_only=True)
    scanned: ScannedArcs = field(default_factory=ScannedArcs, compare=False, repr=False, kw_only=True)
    _shared: dict[str, DeviceArray] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.offsets.dtype.itemsize < 8 and self.n_arcs > MOST_NARROW:
            raise OverflowError(f"offsets of 32 bits are for up to {MOST_NARROW} arcs, not {self.n_arcs}")

    def shared(self, device: Device, name: str, n: int, dtype: DTypeLike) -> DeviceArray:
        """An uninitialised vector of n items, the same one for all calls with this name: for buffers of a traversal,
        since only one traversal of the graph runs at a time."""
        buffer = self._shared.get(name)
        if buffer is None or buffer.size < n or buffer.dtype != np.dtype(dtype):
            self._shared.pop(name, None)  # freed first, so that the device never has both
            buffer = self._shared[name] = device.empty(n, dtype)
        return buffer[:n]

    @property
    def incoming(self) -> DeviceGraph:
        """The graph whose rows have the arcs into each vertex."""
        return self.into or self

    def both_ways(self, back: DeviceGraph) -> tuple[DeviceGraph, DeviceGraph]:
        """The graph along its arcs, and against them. back : of its reverse. Only one of both is traversed at a time,
        so they share vectors and the counter."""
        return replace(self, into=back), replace(back, into=self, scanned=self.scanned, _shared=self._shared)

    def queues(self, device: Device) -> tuple[DeviceArray, DeviceArray]:
        """Two shared vectors of n ids, for a frontier and the next one."""
        first, second = (self.shared(device, f"queue-{i}", self.n_vertices, self.id_dtype) for i in range(2))
        return first, second

    def planes(self, device: Device, count: int, words: int) -> list[DeviceArray]:
        """`count` shared vectors of `words` words of 64 bits a vertex, from one piece of memory for batches of all
        widths."""
        size = self.n_vertices * words
        buffer = self.shared(device, "planes", count * size, np.uint64)
        return [buffer[i * size : (i + 1) * size] for i in range(count)]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.offsets.size - 1

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return self.neighbours.size

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Type of a vertex number."""
        return self.neighbours.dtype

    @property
    def macros(self) -> dict[str, Define]:
        """The macros of kernels for its types, as a new dict."""
        return graph_macros(self.id_dtype, self.offsets.dtype)

    @property
    def launch_limits(self) -> tuple[int, int]:
        """The largest numbers of rows and arcs of a launch over a frontier."""
        return self.n_vertices, self.n_arcs

    def close(self) -> None:
        """Unlock host memory that the graph uses."""

    def launcher(self, device: Device, mapping: str | None = None, block: int | None = None) -> FrontierLauncher:
        """A launcher of kernels on frontiers of this graph, with this load balancing (None: the default); see
        FrontierLauncher."""
        from .frontier import FrontierLauncher  # imports this module

        return FrontierLauncher(device, self, mapping or self.usual_mapping, block)


class DeviceBfs(Protocol):
    """BFS on one graph, ready for any number of sources."""

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """(distances, largest distance, whether it is the eccentricity) of a BFS of at most `radius` levels. distances
        : uint32[n], all bits set for unreached, owned by the caller."""
