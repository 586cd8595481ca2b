"""Registry entries of the kernels that work on frontiers by a mapping (papers/004, section 5)."""

from __future__ import annotations

from .entry import IDS, Entry, variants
from .mappings import MAPPINGS, LoadBalancing
from .source import Defines


def mapping_builds(*mappings: LoadBalancing) -> tuple[Defines, ...]:
    """The macros of each mapping with its usual tuning, for both types of vertex."""
    return tuple({**ids, "MAPPING": mapping.macro, **mapping.tuning}
                 for mapping in mappings for ids in variants(VERTEX=IDS))


ENTRIES_MAPPING: tuple[Entry, ...] = (
    Entry("scan.cu", "scan_totals_of_parts"),
    Entry("scan.cu", "scan_parts"),
    Entry("frontier_sums.cu", "frontier_degrees", builds=variants(VERTEX=IDS)),
    Entry("frontier_sums.cu", "partition_rows", builds=variants(VERTEX=IDS)),
    # 80 registers are for multi-phase search of wide ids; its arcs wait in registers. Others take 22 to 40.
    Entry("frontier.cu", "expand_frontier", registers=80, builds=mapping_builds(*MAPPINGS.values())),
    Entry("frontier.cu", "expand_deferred", builds=mapping_builds(*(one for one in MAPPINGS.values() if one.defers))),
)
