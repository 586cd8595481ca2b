"""Lines that several answers share: traversals, device, workers, time, memory, and how far off the forecast was."""

from __future__ import annotations

from typing import Any

from ..units import format_seconds, format_size


def worker_lines(result: dict[str, Any]) -> list[str]:
    """How many, how even, how long they waited, what they sent each other, and the losses; nothing for a run in one
    process."""
    details = result.get("details", {})
    workers = details.get("workers")
    if not workers:
        return []

    def largest(name: str) -> Any:
        return max(worker[name] for worker in workers)

    arcs = [worker["edges_scanned"] for worker in workers]
    mean = sum(arcs) / len(arcs)
    balance = f", the busiest with {max(arcs) / mean:.2f} times the mean of edges scanned" if mean else ""
    waits = [worker["wait_seconds"] for worker in workers]
    exchanged = sum(worker["payload_bytes"] + worker["fact_bytes"] for worker in workers)
    lines = [
        f"workers: {len(workers)}{balance}",
        f"exchanged: {format_size(exchanged)} in {largest('rounds'):,} rounds;"
        f" waits of {min(waits):.2f} to {max(waits):.2f} s a worker",
        f"memory of a worker: peak {format_size(largest('peak_rss_bytes'))},"
        f" planned {format_size(largest('planned_rss_bytes'))}",
    ]
    losses = details.get("losses", ())
    if losses:
        seconds = sum(loss["seconds"] for loss in losses)
        lines.append(f"workers lost: {len(losses)}, {seconds:.1f} s until all was as before")
    return lines


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


def traversals_line(result: dict[str, Any]) -> str:
    """How many traversals of which kind, and what they looked at."""
    done = result["traversals"]
    counts = f"{done['bfs']:,} BFS"
    if done["multi_source"]:
        counts += f", {done['multi_source']:,} multi-source ({done['multi_source_sources']:,} sources)"
    if done["partial"]:
        counts += f", {done['partial']:,} partial"
    return (f"traversals: {counts}, for {result['n_vertices']:,} vertices and {result['n_edges']:,} edges;"
            f" {result['edges_scanned']:,} arcs scanned, {format_size(result['bytes_read'])} read")


def device_lines(result: dict[str, Any]) -> list[str]:
    """What traversals ran on, where that is not plainly the CPU of this process."""
    return worker_lines(result) if result["device"] == "cpu" else [f"device: {result['device']}"]


def seconds_line(result: dict[str, Any]) -> str:
    """Wall time in total (the sum, where the result has none) and by part."""
    seconds = dict(result["seconds"])
    total = seconds.pop("total") if "total" in seconds else sum(seconds.values())
    return f"time: {format_seconds(total)} ({seconds_text(seconds)})"


def seconds_text(seconds: dict[str, float]) -> str:
    """Seconds by name, with commas."""
    return ", ".join(f"{name} {format_seconds(value)}" for name, value in seconds.items())
