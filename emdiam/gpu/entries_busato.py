"""Registry entries of the BFS algorithms of papers/004, section 2."""

from __future__ import annotations

from .entries_mapping import mapping_builds
from .entry import IDS, Entry, variants
from .mappings import MAPPINGS

_VERTICES = variants(VERTEX=IDS)
_MAPPED = mapping_builds(*MAPPINGS.values())
_DEFERRED = mapping_builds(*(one for one in MAPPINGS.values() if one.defers))

BUSATO: tuple[Entry, ...] = (
    Entry("bfs_harish.cu", "harish_expand", builds=_VERTICES),
    Entry("bfs_harish.cu", "harish_update", builds=_VERTICES),
    Entry("bfs_spmv.cu", "spmv_level", builds=_VERTICES),
    Entry("bfs_edges.cu", "arc_tails", builds=_VERTICES),
    Entry("bfs_edges.cu", "edges_level", builds=_VERTICES),
    Entry("bfs_directions.cu", "top_down_level", builds=_VERTICES),
    Entry("bfs_directions.cu", "bottom_up_level", builds=_VERTICES),
    Entry("bfs_directions.cu", "queue_of_level", builds=_VERTICES),
    Entry("bfs_hong.cu", "hong_level", builds=_VERTICES),
    # 80 registers are for multi-phase search of wide ids, as in expand_frontier.
    Entry("bfs_luo_level.cu", "luo_level", registers=80, builds=_MAPPED),
    Entry("bfs_luo_level.cu", "luo_level_deferred", builds=_DEFERRED),
    Entry("bfs_luo.cu", "luo_levels_block", registers=40, builds=_VERTICES),
    Entry("bfs_luo.cu", "luo_levels_grid", registers=40, builds=_VERTICES, cooperative=True),
    Entry("bfs_merrill_mapped.cu", "merrill_expand", registers=80, builds=_MAPPED),
    Entry("bfs_merrill_mapped.cu", "merrill_expand_contract", registers=80, builds=_MAPPED),
    Entry("bfs_merrill_mapped.cu", "merrill_expand_deferred", builds=_DEFERRED),
    Entry("bfs_merrill_mapped.cu", "merrill_expand_contract_deferred", builds=_DEFERRED),
    Entry("bfs_merrill.cu", "merrill_contract", builds=_VERTICES),
    Entry("bfs_merrill.cu", "merrill_contract_expand", builds=_VERTICES),
    Entry("bfs_4k.cu", "bfs4k_virtual_warps", registers=40, builds=_VERTICES),
    Entry("bfs_4k.cu", "bfs4k_edge_discover", registers=40, builds=_VERTICES),
    Entry("bfs_4k.cu", "bfs4k_hubs", builds=_VERTICES),
    Entry("bfs_4k.cu", "bfs4k_block", registers=48, builds=_VERTICES),
)
