"""The plots of reports and trade-offs, drawn by matplotlib without pyplot: the caller's settings are not touched, and
the same data gives the same files.

Imports matplotlib, so import this module only if it is installed. Colours are also distinct for colour-blind people. In
PNG and SVG files they are constants; inside a page, variables of the style sheet replace them, for light and dark
styles. There, text remains text, and ids are unique.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ..durable import write_whole
from .parts import Point
from .records import ANSWERED, STARTUP, Track

_INK, _GRID = "#1a1b1c", "#dcdcdd"
_BLUE, _ORANGE, _GREEN, _PURPLE, _GREY = "#0a72b2", "#d55e01", "#019e73", "#b54c96", "#76777a"
_COLOURS = (_BLUE, _ORANGE, _GREEN, _PURPLE, _GREY)
_VARIABLES = {_INK: "currentColor", _GRID: "var(--grid)", _BLUE: "var(--blue)", _ORANGE: "var(--orange)",
              _GREEN: "var(--green)", _PURPLE: "var(--purple)", _GREY: "var(--grey)"}
_SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "emdiam"}
_SETTINGS: Any = {
    "text.parse_math": False, "font.size": 9,
    "axes.axisbelow": True, "text.color": _INK, "axes.labelcolor": _INK, "axes.edgecolor": _INK, "xtick.color": _INK,
    "ytick.color": _INK, "xtick.minor.pad": 5, "ytick.minor.pad": 5,  # aligned with major ones, whose marks are longer
    "axes.spines.top": False, "axes.spines.right": False, "hatch.color": _INK,
}
_styled = matplotlib.rc_context(_SETTINGS)  # a decorator, for the time of drawing a plot
# Inches. A page shows a plot between one and one and a half times as wide as a telephone, so that text is readable.
_WIDTH, _HEIGHT, _LOW = 4.0, 2.6, 1.9
_BAR, _FRAME = 0.25, 0.7  # heights of a bar, and of the rest of the figure
_LONGEST_LABEL, _LIMIT_PHASES, _LIMIT_MARKS = 24, 12, 40
_DECADES = 30.0  # values that differ by more than this factor get a logarithmic axis
_MARKS, _MOST_APART = "os^Dv*PX", 100  # more bars with gaps would look pale
_MIB, _LEAST_SECONDS = 2.0**-20, 1e-3
# (factor, digits): a logarithmic axis over less than the factor has numbers at minor marks with these leading digits.
_FINER = ((2.0, "123456789"), (30.0, "2357"), (300.0, "25"))


def _new(height: float = _HEIGHT, panels: tuple[int, int] = (1, 1), **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure of this height in inches, with panels (rows, columns) of axes."""
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = list(figure.subplots(*panels, squeeze=False, **options).flat)
    for one in axes:
        one.patch.set_alpha(0)
        one.grid(color=_GRID)
    return figure, axes


def _number(value: float, _: object = None) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def _plain(*axes: Axis) -> None:
    """Label axes with plain numbers; a short logarithmic axis also at some or all of its minor marks."""
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
    """Whether positive values differ enough for a logarithmic axis."""
    return bool(values) and min(values) > 0 and max(values) > _DECADES * min(values)


def _label(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _legend(figure: Figure, columns: int) -> None:
    figure.legend(loc="outside upper center", ncols=columns, frameon=False)


def _short(value: float) -> str:
    """A figure beside a mark: two digits, nothing below a thousandth."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}" if value >= _LEAST_SECONDS else "0"


def _bars(axes: Axes, values: Sequence[float], label: str, **options: Any) -> None:
    """Draw horizontal bars from the top down, each with its value at its end."""
    axes.barh(range(len(values)), values, height=0.62, **options)
    for place, value in enumerate(values):
        axes.annotate(_short(value), (value, place), (3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xlabel(label)
    axes.grid(False, axis="y")


def _name_bars(axes: Axes, names: Sequence[str]) -> None:
    """Write names beside the bars, the first one at the top."""
    axes.set_yticks(range(len(names)), [_label(name) for name in names])
    axes.set_ylim(len(names) - 0.45, -0.55)


@_styled
def draw_bounds(track: Track) -> Figure:
    """The interval as steps over seconds of the search (to its end) and, below, over traversals."""
    figure, (by_time, by_traversal) = _new(3.4, (2, 1), sharey=True)
    both = [bound for bound in track.bounds if bound.lower is not None and bound.upper is not None]
    # The first bounds follow from the number of vertices alone, and would dominate the plot.
    known = [bound for bound in both if bound.lower and (bound.upper or 0) < (both[0].upper or 0)] or both
    lower, upper = [bound.lower or 0 for bound in known], [bound.upper or 0 for bound in known]
    counted = [max(bound.traversals or 0, 0) for bound in known]
    last = max([one.number for one in track.traversals] + counted, default=1)
    sides: tuple[tuple[Axes, Sequence[float], float], ...] = (
        (by_time, [bound.search for bound in known], track.search), (by_traversal, counted, last))
    for axes, moments, stop in sides if known else ():
        at, low, high = [*moments, stop], [*lower, lower[-1]], [*upper, upper[-1]]
        axes.fill_between(at, low, high, step="post", color=_BLUE, alpha=0.12, linewidth=0)
        for ends, colour, marker in ((high, _ORANGE, "v"), (low, _BLUE, "^")):
            axes.step(at, ends, where="post", color=colour, linewidth=1.6)
            axes.plot(at[:-1], ends[:-1], linestyle="", marker=marker, markersize=4, color=colour)
        axes.set_xlim(0, 1.03 * stop if stop else 1)
    log = _spread([value for value in (*lower, *upper) if value]) and min(lower, default=0) > 0
    by_time.set_yscale("log" if log else "linear")
    _plain(by_time.yaxis, by_time.xaxis)
    if not log and all(isinstance(value, int) for value in (*lower, *upper)):
        _whole(by_time.yaxis)
    _whole(by_traversal.xaxis)
    for axes, label in ((by_time, "search (seconds)"), (by_traversal, "traversals, spreads included (count)")):
        axes.set(xlabel=label, ylabel="D (log scale)" if log else "D")
    return figure


@_styled
def draw_frontiers(track: Track) -> Figure:
    """Vertices by level, on a logarithmic axis; a line per traversal."""
    figure, (axes,) = _new()
    marked = all(len(points) <= _LIMIT_MARKS for _, points in track.profiles)
    for i, (name, points) in enumerate(track.profiles):
        axes.plot([level for level, _ in points], [max(vertices, 0.5) for _, vertices in points],
                  color=_COLOURS[i % 5], linewidth=1.3, marker=_MARKS[i] if marked else "", markersize=4,
                  label=name)
    axes.set_yscale("log")
    _plain(axes.yaxis)
    _whole(axes.xaxis)
    axes.set(xlabel="level: distance from the source (edges)", ylabel="vertices (log scale)")
    _legend(figure, 2)
    return figure


@_styled
def draw_phases(spells: Sequence[tuple[str, float, int | None]]) -> Figure:
    """Bars of seconds, and of megabytes if the search read any; the longest phases if there are many. spells : (phase,
    seconds, bytes read or None)."""
    longest = sorted(spells, key=lambda spell: -spell[1])[:_LIMIT_PHASES]
    shown = [spell for spell in spells if spell in longest]
    columns: list[tuple[list[float], str]] = [([seconds for _, seconds, _ in shown], "time (seconds)")]
    if any(read for phase, _, read in shown if phase not in STARTUP):
        columns.append(([(read or 0) * _MIB for _, _, read in shown], "read (MiB)"))
    figure, panels = _new(_FRAME + _BAR * max(1, len(shown)), (1, len(columns)), sharey=True)
    for axes, (values, label) in zip(panels, columns, strict=True):
        _bars(axes, values, label, color=[_GREY if phase in STARTUP else _BLUE for phase, _, _ in shown])
        axes.set_xlim(0, (max(values) or 1) * (1.22 if len(columns) == 1 else 1.45))
        _plain(axes.xaxis)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6 if len(columns) == 1 else 3))
    _name_bars(panels[0], [name for name, _, _ in shown])
    return figure


@_styled
def draw_memory(rows: Sequence[tuple[str, float, float | None, float | None, float | None]]) -> Figure:
    """Measured against planned memory. rows : (name, measured, planned, predicted, limit), bytes."""
    figure, (axes,) = _new(_FRAME + 0.4 + _BAR * max(1, len(rows)))
    axes.barh(range(len(rows)), [row[1] * _MIB for row in rows], color=_BLUE, height=0.62, label="measured peak")
    marks = (("planned", "|", _INK, 15), ("predicted", "D", _ORANGE, 5), ("limit", "x", _INK, 5))
    largest = max(max(row[1], row[2] or 0) for row in rows)
    for (label, mark, colour, big), values in zip(marks, list(zip(*rows, strict=True))[2:], strict=True):
        shown = [(value * _MIB, i) for i, value in enumerate(values) if value is not None and value <= 1.5 * largest]
        if shown:
            axes.plot(*zip(*shown, strict=True), linestyle="", marker=mark, color=colour, markersize=big,
                      markeredgewidth=2 if mark == "|" else 1, label=label)
    axes.set_xlim(left=0)
    axes.set_xlabel("resident memory (MiB)")
    axes.grid(False, axis="y")
    _name_bars(axes, [row[0] for row in rows])
    _plain(axes.xaxis)
    _legend(figure, 2)
    return figure


@_styled
def draw_times(rows: Sequence[tuple[str, float, float | None, str]]) -> Figure:
    """Times of runs as dots and bars: dots since a bar on a logarithmic axis has no length. rows : (name, seconds of
    the search, of start-up or None, status)."""
    figure, (axes,) = _new(_FRAME + _BAR * max(1, len(rows)))
    shown = [max(seconds, _LEAST_SECONDS) for _, seconds, _, _ in rows]
    starts = [(place, max(row[2], _LEAST_SECONDS)) for place, row in enumerate(rows) if row[2]]
    every = [*shown, *(seconds for _, seconds in starts)]
    log = _time_axis(axes, every)
    axes.plot([seconds for _, seconds in starts], [place for place, _ in starts], linestyle="", marker="|", color=_GREY,
              markersize=10, markeredgewidth=2.5)
    for place, (seconds, row) in enumerate(zip(shown, rows, strict=True)):
        answered = row[3] == ANSWERED
        axes.plot([seconds], [place], linestyle="", marker="o", markersize=7, color=_BLUE if answered else _ORANGE,
                  markerfacecolor=_BLUE if answered else "none", markeredgewidth=1.5)
        figures = _short(row[1]) + (f" + {_short(row[2])}" if row[2] is not None else "")
        axes.annotate(figures, (1, place), (4, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                      va="center", fontsize=8, annotation_clip=False)
    axes.set_xlim(min(every) / 2 if log else -0.03 * max(every), max(every) * (2 if log else 1.05))
    _plain(axes.xaxis)
    _name_bars(axes, [row[0] for row in rows])
    return figure


def _time_axis(axes: Axes, seconds: Sequence[float]) -> bool:
    """Set up the x axis for seconds; return whether it is logarithmic."""
    log = _spread(seconds)
    axes.set_xscale("log" if log else "linear")
    axes.set_xlabel("time (seconds, log scale)" if log else "time (seconds)")
    return log


def inline_svg(figure: Figure, name: str, title: str) -> str:
    """The figure as an <svg> element of a page. name : prefix of all its ids, unique on the page. title : for screen
    readers."""
    text = io.StringIO()
    with matplotlib.rc_context(_SVG):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", text.getvalue(), flags=re.DOTALL)
    box = re.search(r'viewBox="[^"]+"', body)
    assert box is not None, "matplotlib writes a viewBox"
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body[body.index(">", body.index("<svg")) + 1 :])
    body = re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{name}-", body)
    # Only inside tags, since a label may look like a colour.
    body = re.sub(r"<[^>]*>", lambda tag: re.sub("#[0-9a-f]{6}", lambda colour: _VARIABLES.get(colour[0], colour[0]),
                                                 tag[0]), body)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" {box[0]}'
            f' aria-label="{escape(title)}">{body}')


# -- properties of a graph -----------------------------------------------------------------------
@_styled
def draw_degrees(degrees: Mapping[int, int]) -> Figure:
    """Vertices by degree, both axes logarithmic. degrees : number of vertices of each; the number with degree 0, which
    a logarithm cannot show, is written as text."""
    figure, (axes,) = _new()
    shown = {degree: count for degree, count in degrees.items() if degree}
    axes.plot(list(shown), list(shown.values()), linestyle="", marker="o", markersize=3.5, color=_BLUE)
    axes.set(xscale="log", yscale="log", xlim=_limits(list(shown)), ylim=_limits(list(shown.values())),
             xlabel="degree (log scale)", ylabel="vertices (log scale)")
    _plain(axes.xaxis, axes.yaxis)
    if degrees.get(0):
        axes.set_title(f"and {degrees[0]:,} of degree 0", fontsize=8, loc="right")
    return figure


@_styled
def draw_distances(pairs: Mapping[int, int], mean: float | None, effective: float | None) -> Figure:
    """Shares of connected pairs by distance, with lines at the mean and the effective diameter."""
    figure, (axes,) = _new()
    total, last = max(1, sum(pairs.values())), max(pairs, default=1)
    axes.stairs([100 * pairs.get(distance, 0) / total for distance in range(1, last + 1)],
                [distance - 0.5 for distance in range(1, last + 2)], fill=True, color=_BLUE, alpha=0.5)
    for value, name, colour, style in ((mean, "mean", _INK, "-"), (effective, "D90", _ORANGE, "--")):
        if value is not None:
            axes.axvline(value, color=colour, linestyle=style, linewidth=1.3, label=f"{name} {value:.2f}")
    axes.set(xlabel="distance (edges)", ylabel="connected pairs (%)", ylim=(0, None))
    _whole(axes.xaxis)
    if mean is not None:
        _legend(figure, 2)
    return figure


@_styled
def draw_counts(data: tuple[Sequence[float], Sequence[float], float | None, str, str]) -> Figure:
    """A histogram. data : the first values and counts of the bars, the width of a bar (None: single values), and the
    labels of values and counts."""
    values, counts, width, what, of_what = data
    figure, (axes,) = _new(_LOW)
    if width is None and all(value == int(value) for value in values):
        axes.bar(values, counts, width=0.8 if len(values) <= _MOST_APART else 1.0, color=_BLUE)
        _whole(axes.xaxis)
    elif width is None:
        axes.vlines(values, 0, counts, color=_BLUE, linewidth=2)
        _plain(axes.xaxis)
    else:
        axes.bar(values, counts, width=width, align="edge", color=_BLUE)
        _plain(axes.xaxis)
    _whole(axes.yaxis)
    axes.set(xlabel=what, ylabel=of_what, ylim=(0, None))
    return figure


# -- quality and price ----------------------------------------------------------------------------
Row = dict[str, Any]
_DOTS = 200
# Margin beside the points, as a share of their range on a logarithmic axis, and at least as a factor.
_ROOM, _LEAST_ROOM = 0.1, 1.25
# Sizes in a plot of quality, in points: panel, half a mark, line height and letter width of a label.
_PANEL, _MARK, _LINE, _LETTER = (225.0, 165.0), 4.0, 10.0, 5.2
_LINEAR_BELOW = 4.0  # a linear axis for qualities that differ by less than this factor
_STYLES = {"clusters": ("o", _ORANGE), "sweep": ("s", _BLUE), "spanning": ("^", _GREEN), "fringe": ("D", _PURPLE),
           "exact": ("*", _INK)}
SECONDS, MEBIBYTES = ("search (seconds, log scale)", 1.0), ("read from disk (MiB, log scale)", _MIB)


def write_image(figure: Figure, path: Path, **options: Any) -> None:
    """Write the figure to a file, in the format of its suffix. options : of savefig. Raises OSError."""
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix[1:], facecolor="white", **options)
    write_whole(path, image.getvalue())


def write_figure(figure: Figure, path: Path) -> list[Path]:
    """Write the figure as `path` with the suffixes .svg and .png; return both files. Raises OSError."""
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in ("svg", "png")]
    with matplotlib.rc_context(_SVG):
        write_image(figure, files[0], metadata={"Date": None, "Creator": None})
        write_image(figure, files[1], dpi=_DOTS, metadata={"Software": None})
    return files


@_styled
def draw_quality(points: Sequence[Point], price: tuple[str, float] = SECONDS, title: str = "") -> Figure:
    """Estimates over D (or in edges, if D is unknown) against their price, with bars for the proved bounds.

    points : of one graph, with an estimate and bounds. price : label and scale of its axis.
    """
    figure, (axes,) = _new(3.6)
    axes.set_title(title, fontsize=9, loc="left")
    unit, (label, scale) = points[0].diameter or 1, price
    costs = [max(point.price * scale, 1e-6) for point in points]
    heights = [max(value, 0.5) / unit for point in points for value in (point.estimate, point.lower, point.upper)
               if value is not None]
    low, high = _limits(heights)
    log = high > _LINEAR_BELOW * low
    axes.set(xscale="log", xlim=_limits(costs), xlabel=label, yscale="log" if log else "linear", ylim=(low, high))
    styles = _STYLES | {point.method: (_MARKS[5 + i % 3], _GREY) for i, point in enumerate(points)
                        if point.method not in _STYLES}
    for method, (marker, colour) in styles.items():
        shown = [(cost, point) for cost, point in zip(costs, points, strict=True) if point.method == method]
        axes.scatter([cost for cost, _ in shown], [(point.estimate or 0) / unit for _, point in shown], marker=marker,
                     s=36, color=colour, label=method if shown else None, zorder=3)
        for cost, point in shown:
            if point.lower is not None and point.upper is not None:
                axes.vlines(cost, max(point.lower, 0.5) / unit, point.upper / unit, color=colour, linewidth=3,
                            alpha=0.4, zorder=1)
    _name_points(axes, points, costs, unit)
    best = sorted((cost, (point.estimate or 0) / unit)
                  for cost, point in zip(costs, points, strict=True) if point.front)
    if best:  # ringed, with a line from the cheapest to the best
        axes.plot(*zip(*best, strict=True), color=_INK, linewidth=1, linestyle="--", marker="o", markersize=11,
                  markerfacecolor="none", markeredgewidth=0.8, zorder=2, label="Pareto front")
    _plain(*(axis for axis in (axes.xaxis, axes.yaxis) if axis.get_scale() == "log"))
    axes.set_ylabel("estimate (edges)" if unit == 1 else f"estimate / D (D = {unit:,.0f})")
    if unit != 1:
        axes.axhline(1, color=_INK, linewidth=1, linestyle=":", zorder=0)
    _legend(figure, 3)
    return figure


def _name_points(axes: Axes, points: Sequence[Point], costs: Sequence[float], unit: float) -> None:
    """Write labels of points beside their marks, if possible without covering other labels and marks. Positions are in
    points on a panel of the usual size, since the layout is known only while drawing."""
    def at(value: float, axis: Axis, length: float) -> float:
        low, high = axis.get_view_interval()
        if axis.get_scale() == "log":
            value, low, high = math.log(value), math.log(low), math.log(high)
        return length * (value - low) / (high - low)

    marks = [(at(cost, axes.xaxis, _PANEL[0]), at(max((point.estimate or 0) / unit, 1e-9), axes.yaxis, _PANEL[1]))
             for point, cost in zip(points, costs, strict=True)]
    taken = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in marks]
    for point, cost, (x, y) in zip(points, costs, marks, strict=True):
        if not point.label:
            continue
        wide = _LETTER * len(point.label)
        places = [((x + dx if side == "left" else x - dx - wide, y + dy - _LINE / 2), (dx, dy, side))
                  for dy in (0, _LINE, -_LINE, 2 * _LINE, -2 * _LINE) for dx, side in ((7, "left"), (7, "right"))]
        covered = [sum(max(0.0, min(left + wide, box[2]) - max(left, box[0]))
                       * max(0.0, min(low + _LINE, box[3]) - max(low, box[1])) for box in taken)
                   + 1e3 * (left < 0 or left + wide > _PANEL[0]) for (left, low), _ in places]
        (left, low), (dx, dy, side) = places[covered.index(min(covered))]
        taken.append((left, low, left + wide, low + _LINE))
        axes.annotate(point.label, (cost, (point.estimate or 0) / unit), (dx if side == "left" else -dx, dy), ha=side,
                      va="center", textcoords="offset points", fontsize=8, color=_INK)


def draw_seconds(points: Sequence[Point]) -> Figure:
    """Quality against the time of the search."""
    return draw_quality(points)


def draw_bytes(points: Sequence[Point]) -> Figure:
    """Quality against bytes read."""
    return draw_quality(points, MEBIBYTES)


@_styled
def draw_masters(rows: Sequence[Row], title: str = "") -> Figure:
    """The size of the condensed graph, and distances, against the number of masters. rows : of cells of clusters, by
    masters. Values of 0, which a logarithm cannot show, are omitted."""
    panels = (
        ("condensed graph (log scale)", {"condensed_vertices": "vertices", "condensed_edges": "edges"}),
        ("distance (edges, log scale)", {"max_master_gap": "between masters whose clusters touch (d)",
                                         "max_master_distance": "of a vertex from its master"}))
    figure, both = _new(4.4, (2, 1), sharex=True)
    figure.suptitle(title, fontsize=9)
    for axes, (label, columns) in zip(both, panels, strict=True):
        axes.set_xscale("log", base=2)
        axes.set(yscale="log", xlim=_limits([row["masters"] for row in rows]),
                 ylim=_limits([row[column] for row in rows for column in columns if row[column]]))
        for (column, name), marker, colour in zip(columns.items(), "os", (_ORANGE, _BLUE), strict=True):
            shown = [row for row in rows if row[column]]
            axes.plot([row["masters"] for row in shown], [row[column] for row in shown], label=name, marker=marker,
                      markersize=5, color=colour, linewidth=1)
        axes.set_ylabel(label)
        _plain(axes.yaxis)
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, fontsize=8)
    both[-1].set_xlabel("masters (log scale)")
    return figure


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a logarithmic axis for positive values, with a margin; around 1 without values."""
    low, high = min(values, default=1), max(values, default=1)
    room = max(_LEAST_ROOM, (high / low) ** _ROOM)
    return low / room, high * room
