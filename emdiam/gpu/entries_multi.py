"""Registry entries of multi-source BFS, spread, and the verbs of columns."""

from __future__ import annotations

from .entry import IDS, Entry, variants
from .mappings import MAPPINGS, LoadBalancing
from .source import Defines

WORDS = (1, 2, 4, 8)
NARROW = ("u8", "u16")
_VERTICES = variants(VERTEX=IDS)
_VERTEX_WORDS = variants(VERTEX=IDS, WORDS=WORDS)
_ALL = tuple(MAPPINGS.values())
_DEFERRING = tuple(one for one in _ALL if one.defers)


def _builds(mappings: tuple[LoadBalancing, ...], others: tuple[Defines, ...]) -> tuple[Defines, ...]:
    """The macros of each mapping with its usual tuning, with each of the other sets."""
    return tuple({**other, "MAPPING": mapping.macro, **mapping.tuning} for mapping in mappings for other in others)


ENTRIES_MULTI: tuple[Entry, ...] = (
    # 80 registers are for multi-phase search of wide ids; see entries_mapping.py.
    Entry("multi_source.cu", "push_bits", registers=80, builds=_builds(_ALL, _VERTEX_WORDS)),
    Entry("multi_source.cu", "push_deferred_bits", registers=40, builds=_builds(_DEFERRING, _VERTEX_WORDS)),
    Entry("multi_source_levels.cu", "seed_bits", builds=_VERTEX_WORDS),
    Entry("multi_source_levels.cu", "pull_bits", registers=48, builds=_VERTEX_WORDS),
    Entry("multi_source_levels.cu", "settle_bits", registers=40, builds=_VERTEX_WORDS),
    Entry("multi_source_levels.cu", "column_addresses", builds=_VERTEX_WORDS),
    Entry("multi_source_levels.cu", "write_levels", builds=_VERTEX_WORDS),
    Entry("spread.cu", "spread_level", registers=80, builds=_builds(_ALL, _VERTICES)),
    Entry("spread.cu", "spread_deferred", builds=_builds(_DEFERRING, _VERTICES)),
    Entry("spread_seeds.cu", "admit_seeds", builds=_VERTICES),
    Entry("spread_seeds.cu", "queue_of_bound", builds=_VERTICES),
    Entry("columns.cu", "column_bits"),
    Entry("columns.cu", "column_best"),
    Entry("columns.cu", "column_first"),
    Entry("columns.cu", "column_count"),
    Entry("columns.cu", "column_histogram"),
    Entry("columns.cu", "column_gather"),
    Entry("columns.cu", "column_put"),
    Entry("columns.cu", "column_fill_where"),
    Entry("columns.cu", "column_recode"),
    Entry("columns.cu", "column_recode_reached"),
    Entry("columns.cu", "column_fold"),
    Entry("columns.cu", "column_range_max"),
    Entry("column_select.cu", "select_counts"),
    Entry("column_select.cu", "select_vertices"),
    Entry("column_widths.cu", "column_narrow", builds=variants(NARROW=NARROW)),
    Entry("column_widths.cu", "column_widen", builds=variants(NARROW=NARROW)),
)
