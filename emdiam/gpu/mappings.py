"""Load balancing: the ways to hand the arcs of a frontier to threads, by name. Kernels: kernels/mapping.cuh.

Source: papers/004, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..errors import InputError, no_such

_NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class LoadBalancing:
    """One mapping of work to threads.

    macro : value of the macro MAPPING. needs_sums : whether it reads the exclusive sums of the degrees. section : of
    papers/004. title : what it is called there. tuning : its other macros with their usual values. grid : what a launch
    is sized by: "rows", "units" (arcs), or "resident" (as many threads as fit the device at once). n_phases : 2 if the
    chunks of units are cut before the launch. defers : whether big rows get a launch of their own.
    """

    macro: str
    needs_sums: bool
    section: str
    title: str
    tuning: Mapping[str, int] = field(default_factory=lambda: _NONE)
    grid: str = "rows"
    n_phases: int = 1
    defers: bool = False

    def lanes_of_row(self, tuning: Mapping[str, int]) -> int:
        """Threads that share a row, where that is fixed before the launch; else 1."""
        return tuning.get("VIRTUAL_WARP", 1)

    def units_of_thread(self, tuning: Mapping[str, int]) -> int:
        """Arcs for each thread of a chunk."""
        return tuning.get("UNITS_PER_THREAD", 1) * tuning.get("SEARCHES", 1)


# The macro of a second launch, for the rows that a mapping which defers has left out.
DEFERRED_ROWS = "MAPPING_DEFERRED_ROWS"
MAPPINGS: Mapping[str, LoadBalancing] = MappingProxyType({
    "threads": LoadBalancing("MAPPING_THREADS", False, "5.1.1", "Work-items to threads"),
    "virtual-warps": LoadBalancing("MAPPING_VIRTUAL_WARPS", False, "5.1.2", "Virtual warps", {"VIRTUAL_WARP": 8}),
    "dynamic-warps": LoadBalancing(
        "MAPPING_DYNAMIC_WARPS", False, "5.2.1", "Dynamic virtual warps + dynamic parallelism",
        {"BIG_ROW": 4096, "LEAST_WARP": 2}, grid="resident", defers=True),
    "cta-warp-scan": LoadBalancing(
        "MAPPING_CTA_WARP_SCAN", False, "5.2.2", "CTA+Warp+Scan", {"CTA_ROW": 256, "WARP_ROW": 32}),
    "direct-search": LoadBalancing("MAPPING_DIRECT_SEARCH", True, "5.3.1", "Direct search", grid="units"),
    "warp-search": LoadBalancing("MAPPING_WARP_SEARCH", True, "5.3.2", "Local warp search"),
    "block-search": LoadBalancing("MAPPING_BLOCK_SEARCH", True, "5.3.3", "Block search", {"WINDOW_ROWS": 1024}),
    "two-phase": LoadBalancing(
        "MAPPING_TWO_PHASE", True, "5.3.4", "Two-phase search", {"UNITS_PER_THREAD": 8}, grid="units", n_phases=2),
    "multi-phase": LoadBalancing(
        "MAPPING_MULTI_PHASE", True, "5.4", "Multi-phase search", {"UNITS_PER_THREAD": 4, "SEARCHES": 2},
        grid="units", n_phases=2),
})


# Largest values: what the lanes of a warp, or 48 KiB of shared memory for 256 threads, can serve.
MOST: Mapping[str, int] = MappingProxyType(
    {"VIRTUAL_WARP": 32, "WINDOW_ROWS": 4096, "UNITS_PER_THREAD": 8, "SEARCHES": 16})
MOST_UNITS = 16


def _can_be(macro: str, value: int) -> bool:
    """Whether a macro of some mapping may have that value."""
    if macro == "VIRTUAL_WARP" and (value < 2 or value & (value - 1)):
        return False
    return 1 <= value <= MOST.get(macro, (1 << 31) - 1)


def find_mapping(name: str, tuning: Mapping[str, int] | None = None) -> tuple[LoadBalancing, dict[str, int]]:
    """The mapping of that name, and its tuning with these values in the place of the usual ones.

    Raises InputError for a name that is none, and for a macro or a value that the mapping cannot have.
    """
    if name not in MAPPINGS:
        raise no_such("load balancing", name, MAPPINGS)
    known = MAPPINGS[name]
    for macro, value in (tuning or {}).items():
        if macro not in known.tuning or not _can_be(macro, value):
            usual = ", ".join(f"{one}={number}" for one, number in known.tuning.items()) or "nothing to tune"
            raise InputError(f"the load balancing {name} has no such tuning", text=f"{macro}={value}",
                             remedy=f"it has, with the usual values: {usual}")
    chosen = {**known.tuning, **(tuning or {})}
    if known.units_of_thread(chosen) > MOST_UNITS:
        raise InputError(f"a thread has room for {MOST_UNITS} arcs, not {known.units_of_thread(chosen)}",
                         remedy="lower UNITS_PER_THREAD or SEARCHES")
    return known, chosen
