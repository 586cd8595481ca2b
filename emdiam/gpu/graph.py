"""A graph on a device, as traversals see it, and what a BFS on it offers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import DTypeLike

from .device import Device, DeviceArray
from .registry import KERNEL_TYPES
from .source import Define

if TYPE_CHECKING:
    from .frontier import FrontierLauncher


# Rows of at most so many arcs have offsets of 32 bits: a kernel looks up to 2^10 arcs behind the end of a row, which
# must not wrap (simt.cuh, INDEX).
MOST_NARROW = (1 << 32) - (1 << 16)


def offsets_dtype(n_arcs: int, id_bytes: int) -> np.dtype[Any]:
    """Type of the offsets of rows of that many arcs: uint32 where they fit, uint64 else and beside ids of 8 bytes."""
    return np.dtype(np.uint32 if n_arcs <= MOST_NARROW and id_bytes == 4 else np.uint64)


def graph_macros(ids: np.dtype[Any], offsets: np.dtype[Any]) -> dict[str, Define]:
    """The macros of kernels for these types of a vertex and of an offset, a dict of one's own."""
    return {"VERTEX": KERNEL_TYPES[ids.name], "INDEX": KERNEL_TYPES[offsets.name]}


@dataclass
class ScannedArcs:
    """arcs : that traversals of a graph on a device have looked at so far; named variants of BFS count none."""

    arcs: int = 0


@dataclass(frozen=True)
class DeviceGraph:
    """Adjacency in rows on a device: offsets offsets_dtype[n + 1], neighbours uint32 or uint64[m]. Raises OverflowError
    for more arcs than the offsets are for.

    resident : whether `neighbours` holds all arcs; where not, only a launcher sees them. usual_mapping : the load
    balancing of a traversal that is given none. scanned : raised by traversals.
    """

    resident: ClassVar[bool] = True
    usual_mapping: ClassVar[str] = "two-phase"
    offsets: DeviceArray
    neighbours: DeviceArray
    scanned: ScannedArcs = field(default_factory=ScannedArcs, compare=False, repr=False, kw_only=True)
    _shared: dict[str, DeviceArray] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.offsets.dtype.itemsize < 8 and self.n_arcs > MOST_NARROW:
            raise OverflowError(f"offsets of 32 bits are for up to {MOST_NARROW} arcs, not {self.n_arcs}")

    def shared(self, device: Device, name: str, n: int, dtype: DTypeLike) -> DeviceArray:
        """A vector of n items with any content, the same for all who ask by that name: for what a traversal of
        this graph needs from its beginning to its end, of which there is one at a time."""
        held = self._shared.get(name)
        if held is None or held.size < n or held.dtype != np.dtype(dtype):
            self._shared.pop(name, None)  # before the new one, so that the device need not hold both
            held = self._shared[name] = device.empty(n, dtype)
        return held[:n]

    def queues(self, device: Device) -> tuple[DeviceArray, DeviceArray]:
        """Two shared vectors of n ids, for a frontier and the next one."""
        first, second = (self.shared(device, f"queue-{i}", self.n_vertices, self.id_dtype) for i in range(2))
        return first, second

    def planes(self, device: Device, count: int, words: int) -> list[DeviceArray]:
        """So many shared vectors of `words` words of 64 bits a vertex, in one piece of memory for batches of all
        widths."""
        size = self.n_vertices * words
        held = self.shared(device, "planes", count * size, np.uint64)
        return [held[i * size : (i + 1) * size] for i in range(count)]

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
        """The macros of kernels for its types, a dict of one's own."""
        return graph_macros(self.id_dtype, self.offsets.dtype)

    @property
    def launch_limits(self) -> tuple[int, int]:
        """Most rows and arcs of one launch over a frontier."""
        return self.n_vertices, self.n_arcs

    def close(self) -> None:
        """Let go of what it holds of the host's memory."""

    def launcher(self, device: Device, mapping: str | None = None, block: int | None = None) -> FrontierLauncher:
        """What runs kernels on frontiers of this graph, by that load balancing (None: the usual one); see
        FrontierLauncher."""
        from .frontier import FrontierLauncher  # which knows this class

        return FrontierLauncher(device, self, mapping or self.usual_mapping, block)


class DeviceBfs(Protocol):
    """BFS on one graph, ready for any number of sources."""

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """(distances, largest of them, whether that is the eccentricity) of a BFS that goes `radius` levels at
        most. distances : uint32[n], all bits set where unreached, the caller's from then on."""
