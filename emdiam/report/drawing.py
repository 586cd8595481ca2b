"""The plots of reports and trade-offs, drawn by matplotlib without pyplot: nothing that the caller has set up is
touched, and the same figures give the same files.

Imports matplotlib, so import this module where it is known to be there. Colours are distinct for colour-blind people
too. On paper, in PNG and in a file of SVG they are as written; inside a page, variables of the style sheet take their
place, so that they suit light and dark. There, text stays text, and no name comes twice.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .records import ANSWERED, Track

if TYPE_CHECKING:
    from .sections import Point

_INK, _GRID = "#1a1b1c", "#dcdcdd"
_BLUE, _ORANGE, _GREEN, _PURPLE, _GREY = "#0a72b2", "#d55e01", "#019e73", "#b54c96", "#76777a"
_COLOURS = (_BLUE, _ORANGE, _GREEN, _PURPLE, _GREY)
_VARIABLES = {_INK: "currentColor", _GRID: "var(--grid)", _BLUE: "var(--blue)", _ORANGE: "var(--orange)",
              _GREEN: "var(--green)", _PURPLE: "var(--purple)", _GREY: "var(--grey)"}
_SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "emdiam"}
_SETTINGS: Any = {
    "text.parse_math": False, "font.size": 9,
    "axes.axisbelow": True, "text.color": _INK, "axes.labelcolor": _INK, "axes.edgecolor": _INK, "xtick.color": _INK,
    "ytick.color": _INK, "axes.spines.top": False, "axes.spines.right": False, "hatch.color": _INK,
}
_styled = matplotlib.rc_context(_SETTINGS)  # as a decorator: while a plot is drawn
_WIDTH, _HEIGHT = 7.0, 2.9
_BAR, _FRAME = 0.28, 0.75  # inches a bar, and inches of the rest
_LONGEST_LABEL, _LIMIT_PHASES = 28, 12
_DECADES = 30.0  # figures further apart than this factor are on a logarithmic axis
_MARKS = "os^Dv*PX"
_MB = 1e-6
# A logarithmic axis over less than a factor has numbers at the finer marks with these leading digits.
_FINER = ((2.0, "123456789"), (30.0, "2357"), (300.0, "25"))


def _new(height: float = _HEIGHT, panels: int = 1, width: float = _WIDTH, **options: Any) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = list(figure.subplots(1, panels, squeeze=False, **options)[0])
    for one in axes:
        one.patch.set_alpha(0)
        one.grid(color=_GRID)
    return figure, axes


def _number(value: float, _: object = None) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def _plain(*axes: Axis) -> None:
    """Plain numbers; on a short logarithmic axis at some or all of its finer marks too."""
    for axis in axes:
        low, high = axis.get_view_interval()
        digits = next((digits for factor, digits in _FINER if high < factor * low), "")
        axis.set_major_formatter(FuncFormatter(_number))
        axis.set_minor_formatter(FuncFormatter(
            lambda value, _, digits=digits: _number(value) if f"{value:.0e}"[0] in digits else ""))


def _whole(axis: Axis) -> None:
    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axis.set_major_formatter(FuncFormatter(_number))


def _spread(values: Sequence[float]) -> bool:
    """Whether positive values are so far apart that an axis for them is logarithmic."""
    return bool(values) and min(values) > 0 and max(values) > _DECADES * min(values)


def _label(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _legend(figure: Figure, columns: int) -> None:
    figure.legend(loc="outside upper center", ncols=columns, frameon=False)


def _bars(axes: Axes, values: Sequence[float], label: str, **options: Any) -> None:
    """Horizontal bars from the top down, each with its figure at its end."""
    axes.barh(range(len(values)), values, height=0.62, **options)
    for place, value in enumerate(values):
        axes.annotate(f"{value:.3g}" if value < 1000 else f"{value:,.0f}", (value, place), (3, 0),
                      textcoords="offset points", va="center", fontsize=8)
    axes.set_xlabel(label)
    axes.grid(False, axis="y")


def _name_bars(axes: Axes, names: Sequence[str]) -> None:
    """Names beside the bars, the first one at the top."""
    axes.set_yticks(range(len(names)), [_label(name) for name in names])
    axes.invert_yaxis()


@_styled
def draw_bounds(track: Track) -> Figure:
    """Steps of the interval against seconds (to the end of the run) and against traversals."""
    figure, (by_time, by_traversal) = _new(panels=2, sharey=True)
    both = [bound for bound in track.bounds if bound.lower is not None and bound.upper is not None]
    # At first there is only what the number of vertices says, which would dwarf all else.
    known = [bound for bound in both if bound.lower and (bound.upper or 0) < (both[0].upper or 0)] or both
    lower, upper = [bound.lower or 0 for bound in known], [bound.upper or 0 for bound in known]
    counted = [max(bound.traversals or 0, 0) for bound in known]
    last = max([one.number for one in track.traversals] + counted, default=1)
    sides: tuple[tuple[Axes, Sequence[float], float], ...] = (
        (by_time, [bound.at for bound in known], track.seconds), (by_traversal, counted, last))
    for axes, moments, stop in sides if known else ():
        at, low, high = [*moments, stop], [*lower, lower[-1]], [*upper, upper[-1]]
        axes.fill_between(at, low, high, step="post", color=_BLUE, alpha=0.12, linewidth=0)
        for ends, colour in ((high, _ORANGE), (low, _BLUE)):
            axes.step(at, ends, where="post", color=colour, linewidth=1.6)
        for ends, colour, marker in ((high, _ORANGE, "v"), (low, _BLUE, "^")):
            axes.plot(at[:-1], ends[:-1], linestyle="", marker=marker, markersize=4, color=colour)
    log = _spread([value for value in (*lower, *upper) if value])
    by_time.set_yscale("log" if log and min(lower, default=0) else "linear")
    _plain(by_time.yaxis, by_time.xaxis)
    _whole(by_traversal.xaxis)
    by_time.set(xlabel="time (seconds)", ylabel=f"D (edges{', log scale' if by_time.get_yscale() == 'log' else ''})")
    by_traversal.set_xlabel("traversals (count)")
    return figure


@_styled
def draw_frontiers(track: Track) -> Figure:
    """Vertices a level, on a logarithmic axis; a line a traversal."""
    figure, (axes,) = _new()
    for i, (name, points) in enumerate(track.profiles):
        axes.plot([level for level, _ in points], [max(vertices, 0.5) for _, vertices in points],
                  color=_COLOURS[i % 5], linewidth=1.3, marker=_MARKS[i] if len(points) < 40 else "", markersize=4,
                  label=name)
    axes.set_yscale("log")
    _plain(axes.yaxis)
    _whole(axes.xaxis)
    axes.set(xlabel="level: distance from the source (edges)", ylabel="vertices (count, log scale)")
    _legend(figure, 4)
    return figure


@_styled
def draw_phases(spells: Sequence[tuple[str, float, int | None]]) -> Figure:
    """spells : (phase, seconds, bytes read or None). Bars of seconds, and of megabytes where any are given; the
    longest phases where there are many."""
    longest = sorted(spells, key=lambda spell: -spell[1])[:_LIMIT_PHASES]
    shown = [spell for spell in spells if spell in longest]
    columns: list[tuple[list[float], str, str]] = [([seconds for _, seconds, _ in shown], "time (seconds)", _BLUE)]
    if any(read is not None for _, _, read in shown):
        columns.append(([(read or 0) * _MB for _, _, read in shown], "read from disk (MB)", _ORANGE))
    figure, panels = _new(_FRAME + _BAR * max(2, len(shown)), len(columns), sharey=True)
    for axes, (values, label, colour) in zip(panels, columns, strict=True):
        _bars(axes, values, label, color=colour)
        axes.margins(x=0.16)
        _plain(axes.xaxis)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    _name_bars(panels[0], [name for name, _, _ in shown])
    return figure


@_styled
def draw_memory(rows: Sequence[tuple[str, float, float | None, float | None, float | None]]) -> Figure:
    """rows : (name, measured, planned, predicted, limit), bytes."""
    figure, (axes,) = _new(_FRAME + 0.25 + _BAR * max(2, len(rows)))
    scale = 1 / (1 << 20)
    axes.barh(range(len(rows)), [row[1] * scale for row in rows], color=_BLUE, height=0.62, label="measured peak")
    marks = (("planned", "|", _INK, 15), ("predicted", "D", _ORANGE, 5), ("limit", "x", _INK, 5))
    largest = max(max(row[1], row[2] or 0) for row in rows)
    for (label, mark, colour, big), values in zip(marks, list(zip(*rows, strict=True))[2:], strict=True):
        shown = [(value * scale, i) for i, value in enumerate(values) if value is not None and value <= 1.5 * largest]
        if shown:
            axes.plot(*zip(*shown, strict=True), linestyle="", marker=mark, color=colour, markersize=big,
                      markeredgewidth=2 if mark == "|" else 1, label=label)
    axes.set_xlim(left=0)
    axes.set_xlabel("resident memory (MiB)")
    axes.grid(False, axis="y")
    _name_bars(axes, [row[0] for row in rows])
    _plain(axes.xaxis)
    _legend(figure, 4)
    return figure


@_styled
def draw_times(rows: Sequence[tuple[str, float, str]]) -> Figure:
    """rows : (name, seconds, how it ended)."""
    figure, (axes,) = _new(_FRAME + _BAR * max(2, len(rows)))
    shown = [max(seconds, 1e-3) for _, seconds, _ in rows]
    log = _time_axis(axes, shown)
    answered = [status == ANSWERED for _, _, status in rows]
    _bars(axes, shown, axes.get_xlabel(), color=[_BLUE if one else _ORANGE for one in answered],
          hatch=["" if one else "//" for one in answered], linewidth=0)
    axes.set_xlim(min(shown) / 2 if log else 0, max(shown) * (2 if log else 1.12))
    _plain(axes.xaxis)
    _name_bars(axes, [name for name, _, _ in rows])
    return figure


def _time_axis(axes: Axes, seconds: Sequence[float]) -> bool:
    """Make the x axis one of seconds; whether it is logarithmic."""
    log = _spread(seconds)
    axes.set_xscale("log" if log else "linear")
    axes.set_xlabel("time (seconds, log scale)" if log else "time (seconds)")
    return log


@_styled
def draw_quality(points: Sequence[Point]) -> Figure:
    """estimate / D against seconds; bars: proved bounds over D."""
    shown = [point for point in points if point.quality is not None]
    figure, axes = _scatter(shown, [point.quality or 0.0 for point in shown])
    for point in shown:
        if point.estimate and point.quality and point.lower is not None and point.upper is not None:
            unit = point.estimate / point.quality
            axes.vlines(max(point.seconds, 1e-3), point.lower / unit, point.upper / unit, color=_INK, alpha=0.3,
                        linewidth=1)
    axes.axhline(1, color=_INK, linewidth=1, linestyle=":")
    axes.set_ylabel("estimate / D (ratio)")
    return figure


@_styled
def draw_widths(points: Sequence[Point]) -> Figure:
    """(upper - lower) / lower against seconds."""
    shown = [point for point in points if point.width is not None]
    figure, axes = _scatter(shown, [point.width or 0.0 for point in shown])
    axes.set_ylim(bottom=0)
    axes.set_ylabel("(upper - lower) / lower (share)")
    return figure


def _scatter(points: Sequence[Point], values: Sequence[float]) -> tuple[Figure, Axes]:
    """Values against seconds, a mark and a colour a method."""
    figure, (axes,) = _new(3.4)
    seconds = [max(point.seconds, 1e-3) for point in points]
    for i, method in enumerate(dict.fromkeys(point.method for point in points)):
        places = [at for at, point in enumerate(points) if point.method == method]
        axes.scatter([seconds[at] for at in places], [values[at] for at in places], color=_COLOURS[i % 5], s=36,
                     zorder=3, marker=_MARKS[i % len(_MARKS)], label=_label(method))
    _time_axis(axes, seconds)
    _plain(axes.xaxis, axes.yaxis)
    _legend(figure, 5)
    return figure, axes


def inline_svg(figure: Figure, name: str, title: str) -> str:
    """The figure as an <svg> element of a page. name : put before all ids in it, unique on the page. title : for
    those who do not see it."""
    text = io.StringIO()
    with matplotlib.rc_context(_SVG):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", text.getvalue(), flags=re.DOTALL)
    box = re.search(r'viewBox="[^"]+"', body)
    assert box is not None, "matplotlib writes a viewBox"
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body[body.index(">", body.index("<svg")) + 1 :])
    body = re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{name}-", body)
    # Colours only in tags: a label may read like a colour.
    body = re.sub(r"<[^>]*>", lambda tag: re.sub("#[0-9a-f]{6}", lambda colour: _VARIABLES.get(colour[0], colour[0]),
                                                 tag[0]), body)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" {box[0]}'
            f' aria-label="{escape(title)}">{body}')


# -- trade-offs -----------------------------------------------------------------------------------
Row = dict[str, Any]
_TALL, _DOTS = 4.6, 150
# Room beside the points, as a share of their range on a logarithmic axis, and as a factor at least.
_ROOM, _LEAST_ROOM = 0.08, 1.2
_LINEAR_BELOW = 4.0  # qualities that differ by less are on a linear axis
_STYLES = {"clusters": ("o", _ORANGE), "sweep": ("s", _BLUE), "spanning": ("^", _GREEN), "fringe": ("D", _PURPLE),
           "exact": ("*", _INK)}
_PRICES = {"seconds": ("time (seconds, log scale)", 1.0), "bytes_read": ("read from disk (MB, log scale)", _MB)}


def write_figure(figure: Figure, path: Path) -> list[Path]:
    """Write the figure as `path` with .svg and with .png at its end; both files. Raises OSError."""
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in ("svg", "png")]
    with matplotlib.rc_context(_SVG):
        figure.savefig(files[0], facecolor="white", metadata={"Date": None, "Creator": None})
        figure.savefig(files[1], facecolor="white", dpi=_DOTS, metadata={"Software": None})
    return files


@_styled
def draw_prices(rows: Sequence[Row], price: str, front: str, diameter: int | None) -> Figure:
    """Ratio (or the estimate, while D is not known) against a price; bars: what a cell has proved.

    rows : of cells, with a price and an estimate above 0. price, front : columns, a cost and who is on its front.
    """
    figure, (axes,) = _new(_TALL)
    unit, (label, scale) = diameter or 1, _PRICES[price]
    low, high = _limits([max(row[name], 0.5) / unit for row in rows for name in ("estimate", "lower", "upper")])
    axes.set(xscale="log", xlim=_limits([row[price] * scale for row in rows]), xlabel=label,
             yscale="log" if high > _LINEAR_BELOW * low else "linear", ylim=(low, high))
    for method, (marker, colour) in _STYLES.items():
        shown = [row for row in rows if row["method"] == method]
        if shown:
            costs = [row[price] * scale for row in shown]
            axes.scatter(costs, [row["estimate"] / unit for row in shown], marker=marker, s=34, color=colour,
                         label=method, zorder=3)
            axes.vlines(costs, [max(row["lower"], 0.5) / unit for row in shown], [row["upper"] / unit for row in shown],
                        color=colour, linewidth=1, alpha=0.35, zorder=1)
    for row in rows:
        if row["masters_label"] is not None:
            axes.annotate(row["masters_label"], (row[price] * scale, row["estimate"] / unit), (5, 4),
                          textcoords="offset points", fontsize=7, color=_GREY)
    best = sorted((row for row in rows if row[front]), key=lambda row: float(row[price]))
    if best:  # ringed, with a line from the cheapest to the best
        axes.plot([row[price] * scale for row in best], [row["estimate"] / unit for row in best], color=_INK,
                  linewidth=1, linestyle="--", marker="o", markersize=11, markerfacecolor="none", markeredgewidth=0.8,
                  zorder=2, label="Pareto front")
    _plain(*(axis for axis in (axes.xaxis, axes.yaxis) if axis.get_scale() == "log"))
    if diameter:
        axes.set_ylabel(f"ratio to D = {diameter:,} (bars: proved bounds / D)")
        axes.axhline(1, color=_GREY, linewidth=1, linestyle=":", zorder=0)
    else:
        axes.set_ylabel("estimate (edges; bars: proved bounds)")
    _legend(figure, 6)
    return figure


@_styled
def draw_masters(rows: Sequence[Row]) -> Figure:
    """The size of the condensed graph, and distances, against the number of masters. rows : of cells of clusters, by
    masters; figures of 0, which a logarithm cannot show, are left out."""
    panels = (
        ("size of the condensed graph (log scale)", {"condensed_vertices": "vertices", "condensed_edges": "edges"}),
        ("largest distance (edges, log scale)", {"max_master_gap": "d: masters whose clusters touch",
                                                 "max_master_distance": "a vertex and its master"}))
    figure, both = _new(_TALL, 2, 1.35 * _WIDTH)
    for axes, (label, columns) in zip(both, panels, strict=True):
        axes.set_xscale("log", base=2)
        axes.set(yscale="log", xlim=_limits([row["masters"] for row in rows]),
                 ylim=_limits([row[column] for row in rows for column in columns if row[column]]))
        for (column, name), marker, colour in zip(columns.items(), "os", (_ORANGE, _BLUE), strict=True):
            shown = [row for row in rows if row[column]]
            axes.plot([row["masters"] for row in shown], [row[column] for row in shown], label=name, marker=marker,
                      markersize=5, color=colour, linewidth=1)
        axes.set(xlabel="masters (log scale)", ylabel=label)
        _plain(axes.yaxis)
        axes.legend(frameon=False)
    return figure


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a logarithmic axis for positive values, with some room; of 1 where there is no value."""
    low, high = min(values, default=1), max(values, default=1)
    room = max(_LEAST_ROOM, (high / low) ** _ROOM)
    return low / room, high * room
