"""Registry entries of the persistent kernel, of levels over bitmaps, and of levels with claims in bitmaps."""

from __future__ import annotations

from .entries_mapping import mapping_builds
from .entry import IDS, Entry, variants
from .mappings import MAPPINGS

_VERTICES = variants(VERTEX=IDS)
_COUNTING = variants(VERTEX=IDS, COUNT_ARCS=(0, 1))

ENTRIES_AUTO: tuple[Entry, ...] = (
    # One block a multiprocessor: 64 registers are half of what its threads may have.
    Entry("bfs_persistent.cu", "persistent_levels", block=512, registers=64, builds=_VERTICES, cooperative=True),
    Entry("bfs_bitmaps.cu", "bottom_up_words", registers=40, builds=_COUNTING),
    Entry("bfs_bitmaps.cu", "isolated_words", builds=_COUNTING),
    Entry("bfs_bitmaps.cu", "start_search", builds=_COUNTING),
    Entry("bfs_bitmaps.cu", "visited_words", builds=_COUNTING),
    Entry("bfs_bitmaps.cu", "words_of_queue", builds=_COUNTING),
    Entry("bfs_bitmaps.cu", "queue_of_words", builds=_COUNTING),
    Entry("bfs_directions.cu", "arcs_of_queue", builds=_VERTICES),
    # 80 registers are for multi-phase search of wide ids, as in frontier.cu.
    Entry("bfs_top_down.cu", "top_down_bits", registers=80, builds=mapping_builds(*MAPPINGS.values())),
    Entry("bfs_top_down.cu", "top_down_bits_deferred",
          builds=mapping_builds(*(one for one in MAPPINGS.values() if one.defers))),
)
