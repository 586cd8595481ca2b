"""What a result tells of the workers that a run was shared out to."""

from __future__ import annotations

from typing import Any

from ..units import format_size


def worker_lines(result: dict[str, Any]) -> list[str]:
    """How many, how even, how long they waited, what they told each other, and the losses; nothing for a run in one
    process."""
    details = result.get("details", {})
    workers = details.get("workers")
    if not workers:
        return []
    arcs = [worker["edges_scanned"] for worker in workers]
    mean = sum(arcs) / len(arcs)
    balance = f", the busiest with {max(arcs) / mean:.2f} times the mean of edges scanned" if mean else ""
    waits = [worker["wait_seconds"] for worker in workers]
    exchanged = sum(worker["payload_bytes"] + worker["fact_bytes"] for worker in workers)
    lines = [
        f"workers: {len(workers)}{balance}",
        f"exchanged: {format_size(exchanged)} in {max(worker['rounds'] for worker in workers):,} rounds;"
        f" waits of {min(waits):.2f} to {max(waits):.2f} s a worker",
        f"memory of a worker: peak {format_size(max(worker['peak_rss_bytes'] for worker in workers))},"
        f" planned {format_size(max(worker['planned_rss_bytes'] for worker in workers))}",
    ]
    losses = details.get("losses", ())
    if losses:
        seconds = sum(loss["seconds"] for loss in losses)
        lines.append(f"workers lost: {len(losses)}, {seconds:.1f} s until all was as before")
    return lines
