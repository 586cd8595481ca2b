"""`emdiam distances`: the distribution of the distances of a store."""

from __future__ import annotations

from typing import Any

import click

from ..units import format_count, format_size, mean_text
from . import options
from .answer_lines import certificate_lines, device_lines, memory_lines, seconds_line, task_lines
from .checkpoint import running
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.GRAPH
@options.of("distances")
def command(**values: Any) -> int:
    """Count pairs of vertices by distance, and centralities.

    Pairs are unordered, of two different vertices. Pairs without a path are counted separately and exactly.

    With --sources it writes a table of the distances between chosen vertices instead, to --out.
    """
    table = values["sources"] is not None or values["targets"] is not None
    with running("distances", values, table_text if table else distances_text) as (solve, end):
        end(solve())
    return 0


_MOST_LEVELS = 24
_WAYS = {"exact": "counted from all {samples} vertices{edge}",
         "sample": "estimated from {samples} sources, drawn at random (seed {seed})",
         "hyperball": "estimated by HyperBall with {registers} registers a vertex, {runs} (seed {seed})"}


def distances_text(result: dict[str, Any], verbose: bool = False) -> str:
    """Lines for a result of `Distances.to_dict()`."""
    runs = None if result["runs"] is None else format_count(result["runs"], "run")
    way = _WAYS[result["method"]].format(
        samples=f"{result['samples']:,}", seed=result["seed"], registers=result["registers"], runs=runs,
        edge="" if result.get("directed") else " with an edge")
    width = result["histogram_width"]
    lines = [
        f"mean distance: {_figure(result, 'mean')}",
        f"effective diameter ({100 * result['quantile']:g} % of the pairs): {_figure(result, 'effective_diameter')}"
        + ("" if width is None else f", off by less than {width:,}"),
        f"pairs: {sum(result['pairs'].values()):,} connected, {result['unreachable_pairs']:,} not,"
        f" in {format_count(result['n_components'], 'component')}",
        f"method: {way}",
        *_levels(result["pairs"], width),
        *_proved(result["proved_mean"]),
    ]
    quantiles = result.get("quantiles")
    if quantiles:
        lines.append("quantiles: " + ", ".join(f"{100 * float(share):g} %: {value:,.6g}"
                                               for share, value in quantiles.items()))
    lines += task_lines(result)
    unit = result["details"].get("rounded_to")
    if unit:
        lines.append(f"rounding: each distance is less than {max(1, result['n_vertices'] - 1) * unit:.2g} longer,"
                     " since sums of these weights are not exact")
    if result["out"] is not None:
        lines.append(f"centralities: in {result['out']}")
    lines += certificate_lines(result)
    work = (f"work: {format_count(result['levels'], 'level')}, {format_count(result['edges_scanned'], 'arc')} scanned,"
            f" {format_size(result['bytes_read'])} read")
    return "\n".join([*lines, work, *device_lines(result, verbose), seconds_line(result),
                      *memory_lines(result, verbose)])


def _proved(interval: dict[str, Any] | None) -> list[str]:
    """The proved interval of the mean."""
    if interval is None:
        return []
    by = "" if interval["lower"] is None else f", by {format_count(interval['sources'], 'source')}"
    return [f"proved: {mean_text(interval['lower'], interval['upper'])}{by}"]


def table_text(result: dict[str, Any], verbose: bool = False) -> str:
    """Lines for a table of chosen distances, from `DistanceRows.to_dict()`."""
    longest = result["largest_distance"]
    lines = [f"table: {format_count(result['n_pairs'], 'distance')} from"
             f" {format_count(result['n_sources'], 'source')} to {format_count(result['n_targets'], 'target')}",
             f"pairs without a path: {result['unreachable_pairs']:,}",
             *([] if longest is None else [f"largest distance: {longest:,}"]), *task_lines(result)]
    if result["out"] is not None:
        lines.append(f"distances: in {result['out']}")
    return "\n".join([*lines, seconds_line(result), *memory_lines(result, verbose)])


def _figure(result: dict[str, Any], name: str) -> str:
    """A figure with its interval or its standard error, if it has one."""
    value, error, confidence = result[name], result["standard_error"][name], result["confidence"]
    if value is None:
        return "none, since no two vertices are connected"
    if confidence is not None:
        low, high = confidence[name]
        return f"{value:.4f} ({100 * confidence['level']:g} % interval {low:.4f} to {high:.4f})"
    return f"{value:.4f}" + (f" (standard error {error:.2g})" if error else "")


def _levels(pairs: dict[str, int], width: int | None) -> list[str]:
    """A line of pairs by distance, or by the start of ranges of this width; without the middle if the line is
    long."""
    parts = [f"{distance}: {count:,}" for distance, count in pairs.items()]
    if len(parts) > _MOST_LEVELS:
        parts = [*parts[: _MOST_LEVELS // 2], "...", *parts[-_MOST_LEVELS // 2 :]]
    ranges = "" if width is None else f", from the first of ranges of {width:,}"
    return [f"pairs by distance{ranges}: " + ", ".join(parts)] if parts else []
