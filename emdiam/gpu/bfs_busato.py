"""The BFS algorithms of papers/004, section 2, by name.

Every function takes (device, graph, source, block=None) and gives the distances (uint32[n] on the device,
all bits set where unreached) and the eccentricity of the source in its component.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .bfs_4k import bfs_4k
from .bfs_directions import bfs_bottom_up, bfs_direction_optimizing
from .bfs_luo import bfs_luo
from .bfs_merrill import bfs_contract_expand, bfs_expand_contract, bfs_hybrid, bfs_two_phase
from .bfs_topology import bfs_edges, bfs_harish, bfs_spmv

# name -> (function, name in the literature, section, work)
VARIANTS: Mapping[str, tuple[Callable[..., Any], str, str, str]] = {
    "harish": (bfs_harish, "Harish and Narayanan", "papers/004, section 2.1", "O(V D + E)"),
    "spmv": (bfs_spmv, "Matrix-vector product", "papers/004, section 2.1", "O(V + E D)"),
    "edges": (bfs_edges, "Edge parallelism", "papers/004, section 2.1", "O(E D)"),
    "bottom-up": (bfs_bottom_up, "Bottom-up", "papers/004, section 2.1", "O((V + E) D)"),
    "direction-optimizing": (
        bfs_direction_optimizing, "Beamer, Asanovic and Patterson", "papers/004, section 2.1", "O((V + E) D)"),
    "luo": (bfs_luo, "Hierarchical queue (Luo, Wong and Hwu)", "papers/004, section 2.1", "O(V + E)"),
    "expand-contract": (bfs_expand_contract, "Merrill, expand-contract", "papers/004, section 2.1", "O(V + E)"),
    "contract-expand": (bfs_contract_expand, "Merrill, contract-expand", "papers/004, section 2.1", "O(V + E)"),
    "two-phase": (bfs_two_phase, "Merrill, two-phase", "papers/004, section 2.1", "O(V + E)"),
    "hybrid": (bfs_hybrid, "Merrill, hybrid", "papers/004, section 2.1", "O(V + E)"),
    "bfs-4k": (bfs_4k, "BFS-4K", "papers/004, section 2.2", "O(V + E)"),
}
