"""Plots of a trade-off, as SVG and PNG: quality against its price, and what masters buy.

Imports matplotlib, so import this module where it is known to be there. The figures are made without
pyplot: nothing that the caller has set up is touched, and the same cells give the same files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from .cells import ENDED
from .grid import CLUSTERS, EXACT
from .summary import FRONTS, Tradeoff

Row = dict[str, Any]
FORMATS = ("svg", "png")
_SETTINGS: Any = {"svg.hashsalt": "emdiam", "svg.fonttype": "none", "font.size": 9, "axes.axisbelow": True}
# An axis over less than a factor has numbers at the finer marks with these leading digits.
_FINER = ((2.0, "123456789"), (30.0, "2357"), (300.0, "25"))
# Room beside the points, as a share of their range on a logarithmic axis, and as a factor at least.
_ROOM, _LEAST_ROOM = 0.08, 1.2
_LINEAR_BELOW = 4.0  # qualities that differ by less are on a linear axis
_INCHES, _PNG_DOTS = (7.0, 4.6), 150
# Colours that colour-blind people tell apart, and a mark of its own for each method.
_STYLES = {CLUSTERS: ("o", "#d55e00"), "sweep": ("s", "#0072b2"), "spanning": ("^", "#009e73"),
           "fringe": ("D", "#cc79a7"), EXACT: ("*", "#000000")}
_PRICES = {"seconds": "time (seconds, log scale)", "bytes_read": "read from disk (MB, log scale)"}
_SCALES = {"seconds": 1.0, "bytes_read": 1e-6}
_NAMES = {"seconds": "quality-seconds", "bytes_read": "quality-bytes"}


def draw(summary: Tradeoff, folder: Path) -> list[Path]:
    """Write the plots into `folder`; their files. Those that would be empty are left out. Raises OSError."""
    ended = [row for row in summary.rows if row["status"] == ENDED and row["estimate"] is not None]
    clusters = [row for row in ended if row["method"] == CLUSTERS and row["masters"]]
    clusters.sort(key=lambda row: (row["masters"], row["seed"]))
    files: list[Path] = []
    with matplotlib.rc_context(_SETTINGS):
        for column, price in FRONTS.items():
            if any(row[price] and row["estimate"] for row in ended):
                files += _save(_quality(summary, ended, price, column), folder / _NAMES[price])
        if clusters:
            files += _save(_masters(clusters), folder / "masters")
    return files


def _save(figure: Figure, path: Path) -> list[Path]:
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in FORMATS]
    figure.savefig(files[0], metadata={"Date": None, "Creator": None})
    figure.savefig(files[1], dpi=_PNG_DOTS, metadata={"Software": None})
    return files


def _quality(summary: Tradeoff, rows: Sequence[Row], price: str, column: str) -> Figure:
    """Ratio (or the estimate, while D is not known) against a price; bars: what a cell has proved."""
    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.add_subplot(xscale="log")
    unit, scale = summary.diameter or 1, _SCALES[price]
    shown = [row for row in rows if row[price] and row["estimate"]]
    axes.set_xlim(*_limits([row[price] * scale for row in shown]))
    low, high = _limits([max(row[name], 0.5) / unit for row in shown for name in ("estimate", "lower", "upper")])
    axes.set_yscale("log" if high > _LINEAR_BELOW * low else "linear")
    axes.set_ylim(low, high)
    for method in _STYLES:
        marker, colour = _STYLES[method]
        own = [row for row in shown if row["method"] == method]
        if own:
            costs = [row[price] * scale for row in own]
            axes.scatter(costs, [row["estimate"] / unit for row in own], marker=marker, s=34, color=colour,
                         label=method, zorder=3)
            axes.vlines(costs, [max(row["lower"], 0.5) / unit for row in own], [row["upper"] / unit for row in own],
                        color=colour, linewidth=1, alpha=0.35, zorder=1)
    for row in shown:
        if row["method"] == CLUSTERS:
            axes.annotate(row["masters_label"], (row[price] * scale, row["estimate"] / unit), (5, 4),
                          textcoords="offset points", fontsize=7, color="#555555")
    best = sorted((row for row in shown if row[column]), key=lambda row: float(row[price]))
    _draw_front(axes, [(row[price] * scale, row["estimate"] / unit) for row in best])
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            _plain(axis)
    axes.set_xlabel(_PRICES[price])
    if summary.diameter:
        axes.set_ylabel(f"ratio to D = {summary.diameter:,} (bars: proved bounds / D)")
        axes.axhline(1, color="#999999", linewidth=1, linestyle=":", zorder=0)
    else:
        axes.set_ylabel("estimate (edges; bars: proved bounds)")
    axes.grid(color="#eeeeee", which="both")
    figure.legend(loc="outside upper center", ncols=6, frameon=False)
    return figure


def _draw_front(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    """The cells that no other one beats, ringed, with a line from the cheapest to the best."""
    if points:
        costs, ratios = zip(*points, strict=True)
        axes.plot(costs, ratios, color="#333333", linewidth=1, linestyle="--", marker="o", markersize=11,
                  markerfacecolor="none", markeredgewidth=0.8, zorder=2, label="Pareto front")


def _masters(rows: Sequence[Row]) -> Figure:
    """The size of the condensed graph, and distances, against the number of masters."""
    figure = Figure(figsize=(_INCHES[0] * 1.35, _INCHES[1]), layout="constrained")
    sizes, distances = figure.subplots(1, 2)
    _panel(sizes, rows, {"condensed_vertices": "vertices", "condensed_edges": "edges"})
    _panel(distances, rows, {"max_master_gap": "d: masters whose clusters touch",
                             "max_master_distance": "a vertex and its master"})
    sizes.set_ylabel("size of the condensed graph (log scale)")
    distances.set_ylabel("largest distance (edges, log scale)")
    return figure


def _panel(axes: Axes, rows: Sequence[Row], lines: dict[str, str]) -> None:
    """Two columns against the number of masters; figures of 0, which a logarithm cannot show, are left out."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(*_limits([row["masters"] for row in rows]))
    axes.set_ylim(*_limits([row[column] for row in rows for column in lines if row[column]]))
    for (column, name), marker, colour in zip(lines.items(), "os", ("#d55e00", "#0072b2"), strict=True):
        shown = [row for row in rows if row[column]]
        axes.plot([row["masters"] for row in shown], [row[column] for row in shown], label=name, marker=marker,
                  markersize=5, color=colour, linewidth=1)
    axes.set_xlabel("masters (log scale)")
    _plain(axes.yaxis)
    axes.grid(color="#eeeeee")
    axes.legend(frameon=False)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a logarithmic axis for positive values, with some room; of 1 where there is no value."""
    low, high = min(values, default=1), max(values, default=1)
    room = max(_LEAST_ROOM, (high / low) ** _ROOM)
    return low / room, high * room


def _plain(axis: Axis) -> None:
    """Plain numbers on a logarithmic axis; where it is short, at some or all of its finer marks too."""
    low, high = axis.get_view_interval()
    digits = next((digits for factor, digits in _FINER if high < factor * low), "")
    axis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
    axis.set_minor_formatter(FuncFormatter(lambda value, _: _number(value) if f"{value:.0e}"[0] in digits else ""))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.6g}"
