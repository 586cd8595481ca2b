"""After a run: how far off its plan and its forecast were."""

from __future__ import annotations

from typing import Any


def forecast_lines(result: dict[str, Any]) -> list[str]:
    """A line for the result of exact or approx; none where it has no forecast."""
    parts = []
    peak = result.get("peak_rss_bytes")
    for name, what in (("planned_rss_bytes", "planned"), ("expected_rss_bytes", "predicted")):
        if peak and result.get(name):
            parts.append(f"{what} {result[name] / peak:.2f} of the peak")
    read, planned = result.get("bytes_read"), result.get("planned_bytes_read")
    if read and planned is not None:
        parts.append(f"predicted {planned / read:.2f} of the bytes read")
    return ["forecast: " + ", ".join(parts)] if result.get("expected_rss_bytes") and parts else []
