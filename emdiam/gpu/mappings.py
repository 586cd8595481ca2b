"""Load balancing: the ways to assign the arcs of a frontier to threads, by name. Kernels: kernels/mapping.cuh.

A text names a mapping, with knobs that differ from their defaults: virtual-warps:lanes=16, or
cta-warp-scan:block-row=512,warp-row=64. Variants of BFS have names of the same form.
Source: papers/004, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..errors import InputError, no_such


@dataclass(frozen=True)
class LoadBalancing:
    """One mapping of work to threads.

    macro : value of the macro MAPPING. needs_sums : whether it reads the exclusive sums of the degrees. section : of
    papers/004. title : its name there. knobs : by name, (macro, default). grid : the size of a launch: by "rows", by
    "units" (arcs), or "resident" (the number of threads that fit the device at once). n_phases : 2 if chunks of units
    are computed before the launch. defers : whether big rows have a separate launch.
    """

    macro: str
    needs_sums: bool
    section: str
    title: str
    knobs: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    grid: str = "rows"
    n_phases: int = 1
    defers: bool = False

    @property
    def tuning(self) -> dict[str, int]:
        """Its other macros with their defaults, as a new dict."""
        return dict(self.knobs.values())


# The macro of the second launch, for deferred rows.
DEFERRED_ROWS = "MAPPING_DEFERRED_ROWS"
MAPPINGS: Mapping[str, LoadBalancing] = MappingProxyType({
    "threads": LoadBalancing("MAPPING_THREADS", False, "5.1.1", "Work-items to threads"),
    "virtual-warps": LoadBalancing(
        "MAPPING_VIRTUAL_WARPS", False, "5.1.2", "Virtual warps", {"lanes": ("VIRTUAL_WARP", 8)}),
    "dynamic-warps": LoadBalancing(
        "MAPPING_DYNAMIC_WARPS", False, "5.2.1", "Dynamic virtual warps + dynamic parallelism",
        {"big-row": ("BIG_ROW", 4096), "least-lanes": ("LEAST_WARP", 2)}, grid="resident", defers=True),
    "cta-warp-scan": LoadBalancing("MAPPING_CTA_WARP_SCAN", False, "5.2.2", "CTA+Warp+Scan",
                                   {"block-row": ("CTA_ROW", 256), "warp-row": ("WARP_ROW", 32)}),
    "direct-search": LoadBalancing("MAPPING_DIRECT_SEARCH", True, "5.3.1", "Direct search", grid="units"),
    "warp-search": LoadBalancing("MAPPING_WARP_SEARCH", True, "5.3.2", "Local warp search"),
    "block-search": LoadBalancing(
        "MAPPING_BLOCK_SEARCH", True, "5.3.3", "Block search", {"sums": ("WINDOW_ROWS", 1024)}),
    "two-phase": LoadBalancing("MAPPING_TWO_PHASE", True, "5.3.4", "Two-phase search",
                               {"arcs": ("UNITS_PER_THREAD", 8)}, grid="units", n_phases=2),
    "multi-phase": LoadBalancing(
        "MAPPING_MULTI_PHASE", True, "5.4", "Multi-phase search",
        {"arcs": ("UNITS_PER_THREAD", 4), "searches": ("SEARCHES", 2)}, grid="units", n_phases=2),
})

# Largest values of knobs, limited by the lanes of a warp, or by 48 KiB of shared memory for 256 threads.
MOST: Mapping[str, int] = MappingProxyType({"lanes": 32, "least-lanes": 32, "sums": 4096, "arcs": 8, "searches": 16})
MOST_UNITS = 16


def read_knobs(kind: str, text: str, known: Mapping[str, Callable[[str], Any]],
               usual: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The values of knobs in "NAME:KNOB=VALUE,KNOB=VALUE". known : a parser for each knob, which raises ValueError.

    kind : the kind of NAME, for errors; usual : defaults, for errors. Raises InputError for an unknown knob or an
    invalid value."""
    name, _, listed = text.partition(":")
    values = {}
    for one in listed.split(",") if listed else ():
        knob, _, value = one.partition("=")
        try:
            values[knob] = known[knob](value)
        except (KeyError, ValueError):
            has = ", ".join(f"{known}={value}" for known, value in (usual or dict.fromkeys(known, "...")).items())
            raise InputError(f"the {kind} {name} has no such knob", text=one,
                             remedy=f"it has {has}" if has else "it has none") from None
    return values


def _reader(knob: str) -> Callable[[str], int]:
    """The parser of the value of a knob."""
    def read(text: str) -> int:
        value = int(text)
        if not 1 <= value <= MOST.get(knob, (1 << 31) - 1) or (knob == "lanes" and value not in (2, 4, 8, 16, 32)):
            raise ValueError
        return value

    return read


def find_mapping(text: str) -> tuple[LoadBalancing, dict[str, int]]:
    """The mapping of a text, and its macros with the values of its knobs.

    Raises InputError for an unknown name or knob, and for an invalid value.
    """
    name = text.partition(":")[0]
    if name not in MAPPINGS:
        raise no_such("load balancing", name, MAPPINGS)
    mapping = MAPPINGS[name]
    usual = {knob: value for knob, (_, value) in mapping.knobs.items()}
    chosen = usual | read_knobs("load balancing", text, {knob: _reader(knob) for knob in usual}, usual)
    units = chosen.get("arcs", 1) * chosen.get("searches", 1)
    if units > MOST_UNITS:
        raise InputError(f"a thread has room for {MOST_UNITS} arcs, not {units}", text=text,
                         remedy="lower arcs or searches")
    return mapping, {mapping.knobs[knob][0]: value for knob, value in chosen.items()}
