"""The plots of a report, drawn by matplotlib without pyplot: nothing that the caller has set up is touched.

Imports matplotlib, so import this module where it is known to be there. Colours are the ones that svg.py
turns into those of the page, which knows light and dark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .palette import BLUE, COLOURS, GRID, INK, ORANGE
from .records import ANSWERED, Track

if TYPE_CHECKING:
    from .tradeoffs import Point

SETTINGS: Any = {
    "svg.fonttype": "none", "svg.hashsalt": "emdiam", "text.parse_math": False, "font.size": 9,
    "axes.axisbelow": True, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "hatch.color": INK,
}
_WIDTH, _HEIGHT = 7.0, 2.9
_BAR, _FRAME = 0.28, 0.75  # inches a bar, and inches of the rest
_LONGEST_LABEL, _MOST_SHOWN_PHASES = 28, 12
_DECADES = 30.0  # figures further apart than this factor are on a logarithmic axis
_MARKS = "os^Dv*PX"
_MB = 1e-6


def _new(height: float = _HEIGHT, panels: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    figure.patch.set_alpha(0)
    found = figure.subplots(1, panels, squeeze=False, **options)
    for axes in found[0]:
        axes.patch.set_alpha(0)
        axes.grid(color=GRID)
    return figure, list(found[0])


def _styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """`draw`, with the settings of the report around it."""
    def styled(*arguments: Any) -> Figure:
        with matplotlib.rc_context(SETTINGS):
            return draw(*arguments)

    return styled


def _number(value: float, _: object = None) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _plain(axis: Axis) -> None:
    axis.set_major_formatter(FuncFormatter(_number))
    axis.set_minor_formatter(FuncFormatter(lambda value, _: ""))


def _whole(axis: Axis) -> None:
    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axis.set_major_formatter(FuncFormatter(_number))


def _spread(values: Sequence[float]) -> bool:
    """Whether positive values are so far apart that an axis for them is logarithmic."""
    return bool(values) and min(values) > 0 and max(values) > _DECADES * min(values)


def _label(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


@_styled
def draw_bounds(track: Track) -> Figure:
    """Steps of the interval against seconds (to the end of the run) and against traversals."""
    figure, (by_time, by_traversal) = _new(panels=2, sharey=True)
    told = [bound for bound in track.bounds if bound.lower is not None and bound.upper is not None]
    # At first there is only what the number of vertices says, which would dwarf all else.
    known = [bound for bound in told if bound.lower and (bound.upper or 0) < (told[0].upper or 0)] or told
    lower, upper = [bound.lower or 0 for bound in known], [bound.upper or 0 for bound in known]
    end = track.seconds
    counted = [max(bound.traversals or 0, 0) for bound in known]
    last = max([one.number for one in track.traversals] + counted, default=1)
    sides: tuple[tuple[Axes, Sequence[float], float], ...] = (
        (by_time, [bound.at for bound in known], end), (by_traversal, counted, last))
    for axes, moments, stop in sides:
        at, low, high = [*moments, stop], [*lower, *lower[-1:]], [*upper, *upper[-1:]]
        if known:
            axes.fill_between(at, low, high, step="post", color=BLUE, alpha=0.12, linewidth=0)
            axes.step(at, high, where="post", color=ORANGE, linewidth=1.6)
            axes.step(at, low, where="post", color=BLUE, linewidth=1.6)
            axes.plot(at[:-1], high[:-1], linestyle="", marker="v", markersize=4, color=ORANGE)
            axes.plot(at[:-1], low[:-1], linestyle="", marker="^", markersize=4, color=BLUE)
    log = _spread([value for value in (*lower, *upper) if value])
    by_time.set_yscale("log" if log and min(lower, default=0) else "linear")
    _plain(by_time.yaxis)
    _plain(by_time.xaxis)
    _whole(by_traversal.xaxis)
    by_time.set_ylabel("D (edges" + (", log scale)" if by_time.get_yscale() == "log" else ")"))
    by_time.set_xlabel("time (seconds)")
    by_traversal.set_xlabel("traversals (count)")
    return figure


@_styled
def draw_frontiers(track: Track) -> Figure:
    """Vertices a level, on a logarithmic axis; a line a traversal."""
    figure, (axes,) = _new()
    for i, (name, points) in enumerate(track.profiles):
        axes.plot([level for level, _ in points], [max(vertices, 0.5) for _, vertices in points], color=COLOURS[i % 5],
                  linewidth=1.3, marker=_MARKS[i] if len(points) < 40 else "", markersize=4, label=name)
    axes.set_yscale("log")
    _plain(axes.yaxis)
    _whole(axes.xaxis)
    axes.set_xlabel("level: distance from the source (edges)")
    axes.set_ylabel("vertices (count, log scale)")
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure


@_styled
def draw_phases(spells: Sequence[tuple[str, float, int | None]]) -> Figure:
    """Horizontal bars of seconds, and of megabytes where they are told; the longest phases where there are many."""
    longest = sorted(spells, key=lambda spell: -spell[1])[:_MOST_SHOWN_PHASES]
    shown = [spell for spell in spells if spell in longest]
    with_bytes = any(read is not None for _, _, read in shown)
    figure, panels = _new(_FRAME + _BAR * max(2, len(shown)), 2 if with_bytes else 1, sharey=True)
    names = [_label(name) for name, _, _ in shown]
    places = list(range(len(shown)))
    _bars(panels[0], places, [seconds for _, seconds, _ in shown], BLUE, "time (seconds)")
    if with_bytes:
        _bars(panels[1], places, [(read or 0) * _MB for _, _, read in shown], ORANGE, "read from disk (MB)")
    panels[0].set_yticks(places, names)
    panels[0].invert_yaxis()
    return figure


def _bars(axes: Axes, places: Sequence[int], values: Sequence[float], colour: str, label: str) -> None:
    axes.barh(places, values, color=colour, height=0.62)
    axes.set_xlabel(label)
    axes.grid(False, axis="y")
    axes.margins(x=0.16)
    _plain(axes.xaxis)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    for place, value in zip(places, values, strict=True):
        axes.annotate(f"{value:.3g}" if value < 1000 else f"{value:,.0f}", (value, place), (3, 0),
                      textcoords="offset points", va="center", fontsize=8)


@_styled
def draw_memory(rows: Sequence[tuple[str, float, float | None, float | None, float | None]]) -> Figure:
    """rows : (name, measured, planned, expected, limit), bytes."""
    figure, (axes,) = _new(_FRAME + 0.25 + _BAR * max(2, len(rows)))
    places = list(range(len(rows)))
    scale = 1 / (1 << 20)
    axes.barh(places, [row[1] * scale for row in rows], color=BLUE, height=0.62, label="measured peak")
    marks = (("planned", 2, "|", INK, 15), ("expected", 3, "D", ORANGE, 5), ("limit", 4, "x", INK, 5))
    most = max(max(row[1], row[2] or 0) for row in rows)
    figures: list[tuple[float | None, ...]] = [row[1:] for row in rows]
    for label, column, mark, colour, big in marks:
        told = [(value * scale, i) for i, row in enumerate(figures)
                if (value := row[column - 1]) is not None and value <= 1.5 * most]
        if told:
            axes.plot([value for value, _ in told], [i for _, i in told], linestyle="", marker=mark, color=colour,
                      markersize=big, markeredgewidth=2 if mark == "|" else 1, label=label)
    axes.set_yticks(places, [_label(row[0]) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("resident memory (MiB)")
    axes.grid(False, axis="y")
    _plain(axes.xaxis)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure


@_styled
def draw_times(rows: Sequence[tuple[str, float, str]]) -> Figure:
    """rows : (name, seconds, how it ended)."""
    figure, (axes,) = _new(_FRAME + _BAR * max(2, len(rows)))
    for place, (_, seconds, status) in enumerate(rows):
        answered = status == ANSWERED
        axes.barh(place, max(seconds, 1e-3), color=BLUE if answered else ORANGE, height=0.62,
                  hatch="" if answered else "//", linewidth=0)
        axes.annotate(f"{seconds:.3g}" if seconds < 1000 else f"{seconds:,.0f}", (max(seconds, 1e-3), place), (3, 0),
                      textcoords="offset points", va="center", fontsize=8)
    shown = [max(seconds, 1e-3) for _, seconds, _ in rows]
    log = _spread(shown)
    axes.set_xscale("log" if log else "linear")
    axes.set_xlim(min(shown) / 2 if log else 0, max(shown) * (2 if log else 1.12))
    _plain(axes.xaxis)
    axes.set_yticks(range(len(rows)), [_label(name) for name, _, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("time (seconds, log scale)" if log else "time (seconds)")
    axes.grid(False, axis="y")
    return figure


@_styled
def draw_quality(points: Sequence[Point]) -> Figure:
    """estimate / D against seconds; bars: proved bounds over D."""
    shown = [point for point in points if point.quality is not None]
    figure, axes = _scatter(shown, [point.quality or 0.0 for point in shown])
    for point in shown:
        if point.estimate and point.quality and point.lower is not None and point.upper is not None:
            unit = point.estimate / point.quality
            axes.vlines(max(point.seconds, 1e-3), point.lower / unit, point.upper / unit, color=INK, alpha=0.3,
                        linewidth=1)
    axes.axhline(1, color=INK, linewidth=1, linestyle=":")
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
        own = [at for at, point in enumerate(points) if point.method == method]
        axes.scatter([seconds[at] for at in own], [values[at] for at in own], color=COLOURS[i % 5], s=36, zorder=3,
                     marker=_MARKS[i % len(_MARKS)], label=_label(method))
    log = _spread(seconds)
    axes.set_xscale("log" if log else "linear")
    _plain(axes.xaxis)
    _plain(axes.yaxis)
    axes.set_xlabel("time (seconds, log scale)" if log else "time (seconds)")
    figure.legend(loc="outside upper center", ncols=5, frameon=False)
    return figure, axes
