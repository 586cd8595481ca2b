"""Shortest paths on a device: from one source, by name, and for methods along weights; for all pairs see
all_pairs.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from ...errors import InputError, no_such
from ...paths.arcs import ArcsInRam
from ...paths.methods import METHODS, narrowed, shortest_paths
from ...paths.paths import Paths, SearchOptions
from ...paths.rows import WeightedRows
from ..device import Device
from ..setting import DEVICE_FAULTS, Selection
from .delta_stepping import N_BUCKETS, delta_stepping
from .harish import LAYOUTS, harish
from .hbf import hbf
from .near_far import near_far, ortega, sorted_buckets, workfront_sweep
from .weighted_graph import WeightedGraph, check_room, graph_bytes, upload_rows

AUTO = "auto"
_DAVIDSON = "papers/004, section 3.1 (Davidson et al.)"
_MARGIN = 1 << 16
# Rounds from a queue: bytes a vertex for the length, a mark and sums of degrees; and two queues of ids.
_QUEUE_BYTES, _QUEUE_IDS = 20, 2

# The CPU searches from more sources than this, which are one in each of many components.
_MOST_SOURCES = 64

Search = Callable[[Device, WeightedGraph, int, SearchOptions], Paths]


@dataclass(frozen=True)
class DeviceSearch:
    """search : the function, for a resident graph. title : its name in the literature. section : of the paper.
    negative : whether weights may be negative. pairs : whether head and weight of an arc are adjacent in memory.
    state : bytes and ids a vertex, and bytes an arc, on the device without the graph; None if the layout decides."""

    search: Search
    title: str
    section: str
    negative: bool = False
    pairs: bool = False
    state: tuple[int, int, int] | None = None

    def bytes(self, rows: WeightedRows) -> int:
        """Device memory of a search; a lower bound if `state` is None."""
        a_vertex, ids, an_arc = self.state or (17, 0, 0)
        pairs = 8 * rows.n_arcs if self.pairs else 0
        n = rows.n_vertices
        return graph_bytes(rows) + (a_vertex + ids * rows.heads.itemsize) * n + an_arc * rows.n_arcs + pairs + _MARGIN


def _queued(search: Search, title: str, section: str, more: tuple[int, int, int] = (0, 0, 0),
            negative: bool = False) -> DeviceSearch:
    """A search from queues, with `more` memory in addition to the queues."""
    return DeviceSearch(search, title, section, negative,
                        state=(_QUEUE_BYTES + more[0], _QUEUE_IDS + more[1], more[2]))


_QUEUED = {
    "workfront-sweep": _queued(workfront_sweep, "Workfront sweep by merge path", _DAVIDSON, negative=True),
    "near-far": _queued(near_far, "Near-far pile", _DAVIDSON, (4, 2, 0)),
    "sorted-buckets": _queued(sorted_buckets, "Bucketing by sorting", _DAVIDSON, (4, 2, 0)),
    "ortega": _queued(ortega, "All that no path can shorten at once",
                      "papers/004, section 4.1 (Ortega et al.)", (12, 2, 0)),
    "delta-stepping": _queued(delta_stepping, "Delta-stepping by buckets",
                              "papers/004, section 3.1 (Meyer and Sanders)", (8, N_BUCKETS + 2, 0)),
    "h-bf": _queued(hbf, "H-BF", "papers/004, section 3.2 (Busato and Bombieri)", (4, 0, 1)),
}
SEARCHES: Mapping[str, DeviceSearch] = MappingProxyType({
    **_QUEUED,
    **{f"{name}-pairs": replace(one, title=f"{one.title}, arcs as pairs", pairs=True) for name, one in _QUEUED.items()},
    **{"harish" if layout == "rows" else f"harish-{layout}": DeviceSearch(
        partial(harish, layout=layout), f"Harish and Narayanan: {known.title}",
        f"papers/004, section 3.1; {known.section}", negative=True) for layout, known in LAYOUTS.items()},
})


class DeviceSearcher:
    """A Searcher (runs/sssp.py) on the selected device; with "auto", the CPU searches if the device cannot. name : of
    the device that has searched, for results."""

    def __init__(self, selection: Selection) -> None:
        self._selection, self.name = selection, selection.name

    def __call__(self, rows: WeightedRows, source: int, method: str, options: SearchOptions) -> Paths:
        """See device_paths."""
        selection = self._selection
        assert selection.device is not None
        if not selection.or_cpu:
            return device_paths(rows, source, selection.device, method, options)
        try:
            return device_paths(rows, source, selection.device, method, options)
        except (InputError, *DEVICE_FAULTS) as error:
            if method not in (AUTO, *METHODS):
                raise
            self.name = selection.without_gpu(error).name
            return shortest_paths(rows, source, method, options)


def searcher_on(selection: Selection) -> DeviceSearcher | None:
    """The searcher on the selected device; None for the CPU. Raises InputError for several devices."""
    selection.check_single("a search from one source")
    return None if selection.device is None else DeviceSearcher(selection)


def device_paths(rows: WeightedRows, source: int, device: Device, method: str = AUTO,
                 options: SearchOptions | None = None) -> Paths:
    """Distances from `source` along the arcs of `rows`, computed on `device`.

    method : a key of SEARCHES, or "auto": near-far, or workfront sweep for negative weights. Raises InputError for an
    unknown method, invalid weights, and a negative cycle; DeviceRoomError with the numbers if device memory is too
    small; OverflowError if a distance may not fit; ValueError for a source that is no vertex.
    """
    if not 0 <= source < rows.n_vertices:
        raise ValueError(f"the source must be a vertex, 0 to {rows.n_vertices - 1}")
    if method == AUTO:
        method = "near-far" if rows.least_weight >= 0 else "workfront-sweep"
    if method not in SEARCHES:
        raise no_such("method of shortest paths on a device", method, [AUTO, *SEARCHES])
    chosen = SEARCHES[method]
    if rows.least_weight < 0 and not chosen.negative:
        raise InputError(f"{method} needs weights that are not negative", remedy="use --method workfront-sweep")
    check_room(device, chosen.bytes(rows), f"{method} on {rows.n_vertices} vertices and {rows.n_arcs} arcs")
    weighted = upload_rows(device, rows, chosen.pairs)
    return replace(chosen.search(device, weighted, source, options or SearchOptions()), method=method)


class DeviceArcs(ArcsInRam):
    """Arcs in RAM whose searches run on a device: for diameters, bounds and eccentricities.

    The rows are copied to the device once. A search is near-far from all sources at once; its distances come back, 8
    bytes a vertex, and the CPU folds them into bounds. The CPU also checks longest pairs, so that a fault of the device
    does not check itself, and searches from more than _MOST_SOURCES.

    selected : the device. If the CPU may replace it and it fails, the CPU does this and all later searches. Raises
    InputError for several devices and as upload_rows does, DeviceRoomError with the numbers, DeviceError."""

    def __init__(self, rows: WeightedRows, options: SearchOptions, read: int, selected: Selection) -> None:
        super().__init__(rows, options, read)
        selected.check_single("a search along weights")
        self._selected, self.device = selected, selected.name
        self._on_device: WeightedGraph | None = None
        self._attempt(self._upload)

    def _attempt(self, work: Callable[[], object]) -> None:
        """Do work on the device, if there is one; if it fails and the CPU may replace it, there is none from now on."""
        try:
            if self._selected.device is not None:
                work()
        except (InputError, *DEVICE_FAULTS) as error:
            if not self._selected.or_cpu:
                raise
            self._selected, self._on_device = self._selected.without_gpu(error), None
            self.device = self._selected.name

    def _upload(self) -> None:
        device, self._on_device = self._selected.device, None
        assert device is not None
        what = f"a search on {self.n_vertices} vertices and {self.n_arcs} arcs with weights"
        check_room(device, SEARCHES["near-far"].bytes(self._rows), what)
        self._on_device = upload_rows(device, self._rows)

    def nearest(self, sources: np.ndarray, *, narrow: bool = False) -> tuple[np.ndarray, int]:
        """See Arcs."""
        found: list[Paths] = []

        def search() -> None:
            assert self._selected.device is not None and self._on_device is not None
            found.append(near_far(self._selected.device, self._on_device, sources, SearchOptions(tick=self.tick)))

        if 0 < len(sources) <= _MOST_SOURCES:
            self._attempt(search)
        if not found:
            return super().nearest(sources, narrow=narrow)
        paths, = found
        self.counters.searches += 1
        self.counters.arcs_scanned += paths.relaxations
        return narrowed(paths.distances) if narrow else paths.distances, paths.relaxations

    def round_down(self, exponent: int) -> None:
        """See Arcs."""
        super().round_down(exponent)
        self._attempt(self._upload)
