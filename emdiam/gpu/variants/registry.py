"""Every BFS variant by name: who runs it, what the literature calls it, where it stands, and its work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...errors import InputError
from ..bfs_auto import bfs_auto, prepare_auto
from ..bfs_persistent import bfs_persistent
from ..device import Device, DeviceArray
from .bfs_4k import bfs_4k
from .bfs_dal import bfs_busy_wait, bfs_lists, bfs_pointers, bfs_textures, bfs_warp
from .bfs_dal import bfs_hybrid as bfs_dal_hybrid
from .bfs_directions import bfs_bottom_up, bfs_direction_optimizing
from .bfs_frontier import bfs_frontier
from .bfs_hong import bfs_virtual_warps
from .bfs_luo import bfs_luo
from .bfs_merrill import bfs_contract_expand, bfs_expand_contract, bfs_hybrid, bfs_two_phase
from .bfs_standard import DeviceGraph, bfs_standard
from .bfs_topology import arc_tails, bfs_edges, bfs_harish, bfs_spmv
from .layouts import padded_lists, with_addresses

_TOPOLOGY = "O(V D + E)"
_LINEAR = "O(V + E)"
_DAL = "papers/001, section IV-D"
_RELATED = "papers/004, section 2.1"


@dataclass(frozen=True)
class Variant:
    """One way of breadth-first search on a device.

    run : run(device, graph, source, **options) gives the distances (uint32[n] on the device, all bits set where
    unreached) and the eccentricity of the source in its component. Every run takes block=THREADS or None, its
    other options are its own. title : its name in the literature. section : where it stands. work : for V
    vertices, E arcs and D levels. mapped : whether run takes mapping=NAME, one of MAPPINGS, and tuning={...}.
    prepare : prepare(device, graph) gives options that all sources of a graph can share; None where there is
    nothing to share.
    """

    run: Callable[..., tuple[DeviceArray, int]]
    title: str
    section: str
    work: str
    mapped: bool = False
    prepare: Callable[[Device, DeviceGraph], dict[str, Any]] | None = None


def _lists(device: Device, graph: DeviceGraph) -> dict[str, Any]:
    """The padded lists of papers/001."""
    return {"lists": padded_lists(device, graph)}


def _addressed_lists(device: Device, graph: DeviceGraph) -> dict[str, Any]:
    """The same with the addresses of the lists."""
    return {"lists": with_addresses(device, padded_lists(device, graph))}


def _tails(device: Device, graph: DeviceGraph) -> dict[str, Any]:
    """The arcs as pairs."""
    return {"tails": arc_tails(device, graph)}


VARIANTS: Mapping[str, Variant] = MappingProxyType({
    "standard": Variant(bfs_standard, "Standard, on rows", "papers/001, Algorithm 3", _TOPOLOGY),
    "dal-standard": Variant(bfs_lists, "Standard", "papers/001, Algorithm 3", _TOPOLOGY, prepare=_lists),
    "dal-pointers": Variant(bfs_pointers, "Pointers", _DAL, _TOPOLOGY, prepare=_addressed_lists),
    "dal-busy-wait": Variant(bfs_busy_wait, "Busy-Wait", _DAL, _TOPOLOGY, prepare=_lists),
    "dal-textures": Variant(bfs_textures, "Textures", _DAL, _TOPOLOGY, prepare=_lists),
    "dal-warp": Variant(bfs_warp, "Warp", "papers/001, Algorithm 4", _TOPOLOGY, prepare=_lists),
    "dal-hybrid": Variant(bfs_dal_hybrid, "Hybrid", "papers/001, sections IV-D and V-C", _TOPOLOGY, prepare=_lists),
    "harish": Variant(bfs_harish, "Harish and Narayanan", _RELATED, _TOPOLOGY),
    "virtual-warps": Variant(bfs_virtual_warps, "Virtual warps (Hong et al.)", _RELATED, _TOPOLOGY),
    "spmv": Variant(bfs_spmv, "Matrix-vector product", _RELATED, "O(V + E D)"),
    "edges": Variant(bfs_edges, "Edge parallelism", _RELATED, "O(E D)", prepare=_tails),
    "bottom-up": Variant(bfs_bottom_up, "Bottom-up", _RELATED, "O((V + E) D)"),
    "direction-optimizing": Variant(
        bfs_direction_optimizing, "Beamer, Asanovic and Patterson", _RELATED, "O((V + E) D)", mapped=True),
    "luo": Variant(bfs_luo, "Hierarchical queue (Luo, Wong and Hwu)", _RELATED, _LINEAR, mapped=True),
    "merrill-expand-contract": Variant(
        bfs_expand_contract, "Merrill, expand-contract", _RELATED, _LINEAR, mapped=True),
    "merrill-contract-expand": Variant(bfs_contract_expand, "Merrill, contract-expand", _RELATED, _LINEAR),
    "merrill-two-phase": Variant(bfs_two_phase, "Merrill, two-phase", _RELATED, _LINEAR, mapped=True),
    "merrill-hybrid": Variant(bfs_hybrid, "Merrill, hybrid", _RELATED, _LINEAR, mapped=True),
    "bfs-4k": Variant(bfs_4k, "BFS-4K", "papers/004, section 2.2", _LINEAR),
    "frontier": Variant(bfs_frontier, "Frontier with load balancing", "papers/004, sections 2 and 5", _LINEAR,
                        mapped=True),
    "persistent": Variant(bfs_persistent, "All levels in one launch", _RELATED, _LINEAR),
    "auto": Variant(bfs_auto, "Each level its own way", "papers/004, sections 2.1 and 5", "O((V + E) D)", mapped=True,
                    prepare=prepare_auto),
})


def find_variant(name: str) -> Variant:
    """The variant of that name. Raises InputError, with the names that there are, if there is none."""
    if name not in VARIANTS:
        raise InputError("there is no such variant of BFS", text=name, remedy=f"choose from {', '.join(VARIANTS)}")
    return VARIANTS[name]
