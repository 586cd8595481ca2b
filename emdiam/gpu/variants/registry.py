"""Every BFS variant by name: who runs it, what the literature calls it, where it stands, and its work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...errors import InputError, no_such
from ..bfs_auto import MOST_THREADS as MOST_THREADS_AT_ONCE
from ..bfs_auto import AutoBfs, bfs_auto, bfs_persistent
from ..bfs_whole import WholeBfs, bfs_whole
from ..device import Device, DeviceArray
from ..graph import DeviceBfs, DeviceGraph
from ..kernel_file import MOST_THREADS, UNREACHED, check_block
from ..mappings import find_mapping, read_knobs
from ..setting import AUTO, OnDevice
from ..vector import DeviceVector
from .bfs_4k import bfs_4k
from .bfs_dal import bfs_busy_wait, bfs_lists, bfs_pointers, bfs_standard, bfs_textures, bfs_warp
from .bfs_dal import bfs_hybrid as bfs_dal_hybrid
from .bfs_directions import bfs_bottom_up, bfs_direction_optimizing
from .bfs_frontier import FrontierBfs, bfs_frontier
from .bfs_luo import bfs_luo
from .bfs_merrill import bfs_contract_expand, bfs_expand_contract, bfs_hybrid, bfs_two_phase
from .bfs_topology import arc_tails, bfs_edges, bfs_harish, bfs_spmv, bfs_virtual_warps
from .layouts import AdjacencyLists, list_matrix, padded_lists, with_addresses

_TOPOLOGY = "O(V D + E)"
_LINEAR = "O(V + E)"
_DAL = "papers/001, section IV-D"
_RELATED = "papers/004, section 2.1"
FRONTIER = "frontier"

@dataclass(frozen=True)
class Variant:
    """One way of breadth-first search on a device.

    run : run(device, graph, source, **options) gives the distances (uint32[n] on the device, all bits set where
    unreached) and the eccentricity of the source in its component. Every run takes block=THREADS or None, its other
    options are its own. title : its name in the literature. section : where it stands. work : for V vertices, E arcs
    and D levels. mapped : whether run takes mapping=NAME, one of MAPPINGS. prepare : prepare(device, graph, **options)
    gives options that all sources of a graph can share; None where there is nothing to share. knobs : options that a
    text can name, and what reads them. most_threads : of a block.
    """

    run: Callable[..., tuple[DeviceArray, int]]
    title: str
    section: str
    work: str
    mapped: bool = False
    prepare: Callable[..., dict[str, Any]] | None = None
    knobs: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    most_threads: int = MOST_THREADS

    def prepared(self, device: Device, graph: DeviceGraph, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a search from any source of the graph."""
        return dict(options) if self.prepare is None else self.prepare(device, graph, **options)


# Figure 4 of papers/001: lists that are padded each on its own, or as a matrix.
LAYOUTS: Mapping[str, Callable[[Device, DeviceGraph], AdjacencyLists]] = MappingProxyType(
    {"lists": padded_lists, "matrix": list_matrix})


def _lists(device: Device, graph: DeviceGraph, layout: Any = padded_lists, **options: Any) -> dict[str, Any]:
    """The lists of papers/001. layout : what makes them."""
    return {"lists": layout(device, graph), **options}


def _addressed(device: Device, graph: DeviceGraph, layout: Any = padded_lists, **options: Any) -> dict[str, Any]:
    """The same with the addresses of the lists."""
    return {"lists": with_addresses(device, layout(device, graph)), **options}


def _made(search: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """A search that is made once for all sources; block, mapping : of it."""
    return lambda device, graph, **options: {"search": search(device, graph, **options)}


def _dal(run: Callable[..., tuple[DeviceArray, int]], title: str, section: str = _DAL,
         prepare: Callable[..., dict[str, Any]] = _lists, **knobs: Callable[[str], Any]) -> Variant:
    """A variant of papers/001 on lists."""
    return Variant(run, title, section, _TOPOLOGY, prepare=prepare, knobs={"layout": LAYOUTS.__getitem__, **knobs})


VARIANTS: Mapping[str, Variant] = MappingProxyType({
    "standard": Variant(bfs_standard, "Standard, on rows", "papers/001, Algorithm 3", _TOPOLOGY),
    "dal-standard": _dal(bfs_lists, "Standard", "papers/001, Algorithm 3"),
    "dal-pointers": _dal(bfs_pointers, "Pointers", prepare=_addressed),
    "dal-busy-wait": _dal(bfs_busy_wait, "Busy-Wait"),
    "dal-textures": _dal(bfs_textures, "Textures"),
    "dal-warp": _dal(bfs_warp, "Warp", "papers/001, Algorithm 4"),
    "dal-hybrid": _dal(bfs_dal_hybrid, "Hybrid", "papers/001, sections IV-D and V-C", warp_share=float),
    "harish": Variant(bfs_harish, "Harish and Narayanan", _RELATED, _TOPOLOGY),
    "virtual-warps": Variant(
        bfs_virtual_warps, "Virtual warps (Hong et al.)", _RELATED, _TOPOLOGY, knobs={"lanes": int}),
    "spmv": Variant(bfs_spmv, "Matrix-vector product", _RELATED, "O(V + E D)"),
    "edges": Variant(bfs_edges, "Edge parallelism", _RELATED, "O(E D)",
                     prepare=lambda device, graph, **options: {"tails": arc_tails(device, graph), **options}),
    "bottom-up": Variant(bfs_bottom_up, "Bottom-up", _RELATED, "O((V + E) D)"),
    "direction-optimizing": Variant(
        bfs_direction_optimizing, "Beamer, Asanovic and Patterson", _RELATED, "O((V + E) D)", mapped=True,
        knobs={"alpha": float, "beta": float}),
    "luo": Variant(bfs_luo, "Hierarchical queue (Luo, Wong and Hwu)", _RELATED, _LINEAR, mapped=True,
                   knobs={"in_block": int, "in_grid": int}),
    "merrill-expand-contract": Variant(
        bfs_expand_contract, "Merrill, expand-contract", _RELATED, _LINEAR, mapped=True),
    "merrill-contract-expand": Variant(bfs_contract_expand, "Merrill, contract-expand", _RELATED, _LINEAR),
    "merrill-two-phase": Variant(bfs_two_phase, "Merrill, two-phase", _RELATED, _LINEAR, mapped=True),
    "merrill-hybrid": Variant(
        bfs_hybrid, "Merrill, hybrid", _RELATED, _LINEAR, mapped=True, knobs={"limit": int}),
    "bfs-4k": Variant(bfs_4k, "BFS-4K", "papers/004, section 2.2", _LINEAR,
                      knobs=dict.fromkeys(("least_warp", "hub_arcs", "in_block", "discover_from"), int)),
    FRONTIER: Variant(
        bfs_frontier, "Frontier with load balancing", "papers/004, sections 2 and 5", _LINEAR, mapped=True),
    "persistent": Variant(bfs_persistent, "All levels in one launch", _RELATED, _LINEAR, knobs={"solo": int},
                          most_threads=MOST_THREADS_AT_ONCE),
    "by-level": Variant(bfs_auto, "Each level its own way", "papers/004, sections 2.1 and 5", "O((V + E) D)",
                        mapped=True, prepare=_made(AutoBfs)),
    AUTO: Variant(bfs_whole, "All levels in one launch, down or up", _RELATED, "O((V + E) D)",
                  prepare=_made(WholeBfs), most_threads=MOST_THREADS_AT_ONCE),
})


def find_variant(text: str) -> tuple[Variant, dict[str, Any]]:
    """The variant that a text names, and the values of its knobs (see mappings.py). Raises InputError, with what there
    is, for another."""
    name = text.partition(":")[0]
    if name not in VARIANTS:
        raise no_such("variant of BFS", name, VARIANTS)
    known: dict[str, Callable[[str], Any]] = {"block": int, **VARIANTS[name].knobs}
    values = read_knobs("variant of BFS", text, {knob.replace("_", "-"): read for knob, read in known.items()})
    return VARIANTS[name], {knob.replace("-", "_"): value for knob, value in values.items()}


class _VariantBfs:
    """A variant on one graph that is on the device, for any number of sources; see DeviceBfs."""

    def __init__(self, variant: Variant, device: Device, graph: DeviceGraph, options: dict[str, Any]) -> None:
        self._run, self._device, self._graph = variant.run, device, graph
        self._options = variant.prepared(device, graph, options)

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """See DeviceBfs.run; all levels are done, whatever the radius."""
        distances, levels = self._run(self._device, self._graph, source, **self._options)
        if radius is None or levels < radius:
            return distances, levels, True
        if levels > radius:
            DeviceVector(self._device, distances).fill_where(">", radius, UNREACHED)
        return distances, radius, False


def named_bfs(graph: DeviceGraph, setting: OnDevice) -> DeviceBfs:
    """BFS on `graph` by the variant and the load balancing of `setting`.

    Raises InputError for a variant, a mapping or a knob that there is not, a mapping that the variant does not take,
    and a variant that needs all edges on the device where they are paged.
    """
    device, mapping = setting.device, setting.mapping
    variant, options = find_variant(setting.bfs)
    check_block(device, options.get("block"), variant.most_threads)
    if mapping is not None:
        find_mapping(mapping)
        if not variant.mapped:
            raise InputError(f"the BFS variant {setting.bfs} has a load balancing of its own", text=mapping,
                             remedy="leave the mapping out, or choose another variant")
        options["mapping"] = mapping
    if variant is VARIANTS[FRONTIER]:
        if graph.resident:
            return FrontierBfs(device, graph, **options)
        # Not above: it brings kernels of the host, which the benchmark of variants does without.
        from ..paged import PagedBfs, PagedGraph

        assert isinstance(graph, PagedGraph)
        return PagedBfs(device, graph, **options)
    if not graph.resident:
        raise InputError("the edges do not fit the device, and this variant of BFS needs them there",
                         text=setting.bfs, remedy=f"use {AUTO} or {FRONTIER}, or raise --vram")
    return _VariantBfs(variant, device, graph, options)
