"""Registry entries of the BFS algorithms of papers/004, section 2."""

from __future__ import annotations

from .entry import IDS, Entry, variants

_VERTICES = variants(VERTEX=IDS)

BUSATO: tuple[Entry, ...] = (
    Entry("bfs_harish.cu", "harish_expand", builds=_VERTICES),
    Entry("bfs_harish.cu", "harish_update", builds=_VERTICES),
    Entry("bfs_spmv.cu", "spmv_level", builds=_VERTICES),
    Entry("bfs_edges.cu", "arc_tails", builds=_VERTICES),
    Entry("bfs_edges.cu", "edges_level", builds=_VERTICES),
    Entry("bfs_directions.cu", "top_down_level", builds=_VERTICES),
    Entry("bfs_directions.cu", "bottom_up_level", builds=_VERTICES),
    Entry("bfs_directions.cu", "queue_of_level", builds=_VERTICES),
    Entry("bfs_luo.cu", "luo_level", builds=_VERTICES),
    Entry("bfs_luo.cu", "luo_levels_block", registers=40, builds=_VERTICES),
    Entry("bfs_luo.cu", "luo_levels_grid", registers=40, builds=_VERTICES, cooperative=True),
    Entry("bfs_merrill.cu", "merrill_expand", builds=_VERTICES),
    Entry("bfs_merrill.cu", "merrill_contract", builds=_VERTICES),
    Entry("bfs_merrill.cu", "merrill_expand_contract", builds=_VERTICES),
    Entry("bfs_merrill.cu", "merrill_contract_expand", registers=40, builds=_VERTICES),
    Entry("bfs_4k.cu", "bfs4k_virtual_warps", registers=40, builds=_VERTICES),
    Entry("bfs_4k.cu", "bfs4k_edge_discover", registers=40, builds=_VERTICES),
    Entry("bfs_4k.cu", "bfs4k_hubs", builds=_VERTICES),
    Entry("bfs_4k.cu", "bfs4k_block", registers=48, builds=_VERTICES),
)
