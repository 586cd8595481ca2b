"""Entries of the variants, the layouts and the bounds of papers/001 (Dal, Kusters, Takes)."""

from __future__ import annotations

from .entry import DISTANCES, IDS, Entry, variants

_BFS = ("bfs_lists", "bfs_pointers", "bfs_busy_wait", "bfs_textures", "bfs_warp", "count_left")
_BOUNDS = ("open_bounds", "update_bounds", "largest_bounds", "update_candidates", "select_rank", "select_vertex")
_LAYOUTS = ("copy_rows", "row_addresses")

ENTRIES_DAL: tuple[Entry, ...] = (
    *(Entry("bfs_dal.cu", name, builds=variants(VERTEX=IDS, DISTANCE=DISTANCES, MATRIX=(0, 1))) for name in _BFS),
    *(Entry("bounds.cu", name, builds=variants(DISTANCE=DISTANCES)) for name in _BOUNDS),
    *(Entry("layouts.cu", name, builds=variants(VERTEX=IDS)) for name in _LAYOUTS),
)
