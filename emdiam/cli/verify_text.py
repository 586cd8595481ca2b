"""The answer of `emdiam verify` for people."""

from __future__ import annotations

from typing import Any

from .memory_text import memory_lines
from .phases import seconds_text


def report_text(report: dict[str, Any]) -> str:
    """Lines for a report that is verified, as `VerifyReport.to_dict()` gives it."""
    effort = f"{_count(report['traversals'], 'traversal')}, {_count(report['scans'], 'scan')}"
    lines = [f"verified: {_claim(report)} (lower and upper re-proved with {effort})"]
    if not report["connected"] and report["diameter_largest_component"] is not None:
        lines.append(f"verified: diameter of the largest component {report['diameter_largest_component']}")
    seconds = report["seconds"]
    parts = [f"{name} {seconds_text(value)}" for name, value in seconds.items() if name != "total"]
    lines.append(f"pairs: {_count(report['pairs'], 'look')} for"
                 f" {_count(report['unsettled'], 'unsettled vertex', 'unsettled vertices')}")
    lines.append(f"time: {seconds_text(seconds['total'])} ({', '.join(parts)})")
    return "\n".join([*lines, *memory_lines(report)])


def _claim(report: dict[str, Any]) -> str:
    lower, upper = report["lower"], report["upper"]
    value = f"{lower}" if lower == upper else f"{lower} to {upper}"
    if report["connected"]:
        return f"diameter {value}"
    return f"largest distance {value} over {report['n_components']:,} components"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
