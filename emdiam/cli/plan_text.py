"""The memory plan for people: the sum first, then what each phase asks for."""

from __future__ import annotations

from typing import Any

from ..units import format_size

_MOST_PER_VERTEX = 1000


def plan_text(plan: dict[str, Any]) -> str:
    """Lines for a plan as `MemoryPlan.to_dict()` gives it."""
    state = max(phase["bytes"] for phase in plan["phases"])
    sizes = {"program": plan["base_bytes"], "vertex state": state, "buffers": plan["buffer_bytes"],
             "batches and columns": plan["pool_bytes"], "arena": plan["arena_bytes"]}
    parts = " + ".join(f"{format_size(size)} {name}" for name, size in sizes.items() if size)
    lines = [
        f"memory limit: {format_size(plan['memory_limit_bytes'])}",
        f"planned peak: {format_size(plan['planned_rss_bytes'])} = {parts}",
        f"smallest limit that works: {format_size(plan['minimum_bytes'])}",
        f"edges: {_edges(plan)}",
        f"{'phase':<20} {'bytes a vertex':>14} {'vertex state':>14}",
    ]
    lines += [f"{phase['name']:<20} {_per_vertex(phase):>14} {format_size(phase['bytes']):>14}"
              for phase in plan["phases"]]
    return "\n".join(lines)


def _per_vertex(phase: dict[str, Any]) -> str:
    """Of a graph so small that fixed sizes outweigh its vertices, a share of a vertex says nothing."""
    per_vertex = phase["bytes_per_vertex"]
    return f"{per_vertex:.2f}" if per_vertex < _MOST_PER_VERTEX else "-"


def _edges(plan: dict[str, Any]) -> str:
    if plan["in_ram"]:
        return f"in RAM, the arena holds all blocks ({plan['n_blocks']:,})"
    share = 100 * plan["arena_blocks"] / plan["n_blocks"]
    return (f"streamed, {plan['arena_blocks']:,} of {plan['n_blocks']:,} blocks ({share:.0f} %) in the arena"
            " at a time")
