"""What a report says of memory, for people."""

from __future__ import annotations

from typing import Any

from ..units import format_size


def memory_lines(report: dict[str, Any], more: str = "") -> list[str]:
    """Peak, plan (where there is one) and limit in a line, with `more` at its end; another line if the limit was
    passed."""
    peak, limit = report["peak_rss_bytes"], report["memory_limit_bytes"]
    planned = f" planned {format_size(report['planned_rss_bytes'])}," if "planned_rss_bytes" in report else ""
    lines = [f"memory: peak {format_size(peak)},{planned} limit {format_size(limit)}{more}"]
    if report.get("memory_limit_exceeded"):
        lines.append(f"warning: the peak passed the limit by {format_size(peak - limit)}: this is a fault of emdiam,"
                     " please report it with the command line and the store")
    return lines
