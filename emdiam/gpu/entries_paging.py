"""Registry entries of the kernels for graphs whose arcs are paged."""

from __future__ import annotations

from .entries_mapping import mapping_builds
from .entry import IDS, Entry, variants
from .mappings import MAPPINGS

ENTRIES_PAGING: tuple[Entry, ...] = (
    Entry("paging.cu", "page_activity", registers=48, builds=variants(VERTEX=IDS)),
    Entry("paging.cu", "rows_of_range", builds=variants(VERTEX=IDS)),
    Entry("paging.cu", "frontier_words", builds=variants(VERTEX=IDS)),
    Entry("paging.cu", "read_sectors", builds=variants(VERTEX=IDS)),
    Entry("bfs_paged.cu", "reach_words", registers=80, builds=mapping_builds(*MAPPINGS.values())),
    Entry("bfs_paged.cu", "reach_words_deferred", registers=40,
          builds=mapping_builds(*(one for one in MAPPINGS.values() if one.defers))),
)
