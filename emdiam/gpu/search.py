"""One way of BFS on one graph of a device, ready for any number of sources."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from . import column_ops as ops
from .bfs_auto import AutoBfs
from .device import DeviceArray
from .mappings import find_mapping
from .paged import PagedBfs, PagedGraph
from .setting import AUTO, OnDevice
from .variants.bfs_frontier import FrontierBfs
from .variants.bfs_standard import DeviceGraph
from .variants.registry import find_variant

FRONTIER = "frontier"


class Search:
    """BFS on `graph` by the variant and the load balancing of `setting`.

    Raises InputError for a variant or a mapping that there is not, a mapping that the variant does not take, and a
    variant that needs all edges on the device where they are paged.
    """

    def __init__(self, graph: DeviceGraph, setting: OnDevice) -> None:
        self._device, self._graph = setting.device, graph
        self._variant = find_variant(setting.bfs)
        mapping, tuning = setting.mapping, setting.tuning
        if mapping is not None:
            find_mapping(mapping, tuning)
            if not self._variant.mapped:
                raise InputError(f"the BFS variant {setting.bfs} has a load balancing of its own", text=mapping,
                                 remedy="leave the mapping out, or choose another variant")
        self._options: dict[str, Any] = {} if mapping is None else {"mapping": mapping, "tuning": tuning}
        self._kept: AutoBfs | FrontierBfs | PagedBfs | None = None
        if isinstance(graph, PagedGraph):
            if setting.bfs not in (AUTO, FRONTIER):
                raise InputError("the edges do not fit the device, and this variant of BFS needs them there",
                                 text=setting.bfs, remedy=f"use {AUTO} or {FRONTIER}, or raise --vram")
            self._kept = PagedBfs(self._device, graph, mapping or graph.usual_mapping, tuning)
        elif setting.bfs == AUTO:
            self._kept = AutoBfs(self._device, graph, mapping, tuning)
        elif setting.bfs == FRONTIER:
            self._kept = FrontierBfs(self._device, graph, **self._options)
        elif self._variant.prepare is not None:
            self._options |= self._variant.prepare(self._device, graph)

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """(distances, largest of them, whether that is the eccentricity) of a BFS that goes `radius` levels
        at most. distances : uint32[n], the caller's from then on."""
        if self._kept is not None:
            return self._kept.run(source, radius)
        distances, levels = self._variant.run(self._device, self._graph, source, **self._options)
        if radius is None or levels < radius:
            return distances, levels, True
        if levels > radius:
            ops.cut(self._device, distances, radius)
        return distances, radius, False
