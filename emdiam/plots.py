"""Plots of results: small SVG pictures for notebooks, and plots with matplotlib if it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from .errors import InputError

_WIDTH, _HEIGHT, _MOST_BARS = 320, 80, 64
# Bounds are drawn on a logarithmic scale if the largest one is this many times the last lower bound.
_LINEAR_BELOW = 20
_COLOUR, _OTHER = "#4477aa", "#cc6633"


def axes_for(axes: Any) -> Any:
    """The axes to draw on; None: new ones. Raises InputError without matplotlib."""
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError("plots need matplotlib, which is not installed", remedy="pip install matplotlib") from None
    return pyplot.subplots(figsize=(6, 3.5), layout="constrained")[1]


def draw_bars(counts: Mapping[Any, float], labels: tuple[str, str], width: Any = None, axes: Any = None) -> Any:
    """Counts by number as bars; returns the axes. width : of ranges that start at the numbers; None: single numbers."""
    axes = axes_for(axes)
    numbers = [float(number) for number in counts]
    size, align = (0.8, "center") if width is None else (float(width), "edge")
    if width is None and len(numbers) > 1:
        size *= min(second - first for first, second in pairwise(numbers))
    axes.bar(numbers, list(counts.values()), width=size, align=align, color=_COLOUR)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    if all(number.is_integer() for number in numbers):
        axes.locator_params(axis="x", integer=True)
    return axes


def draw_bounds(history: Sequence[tuple[float, Any, Any]], estimate: Any = None, axes: Any = None) -> Any:
    """Lower and upper bounds over the seconds of a run; returns the axes. estimate : height of an additional line, or
    None."""
    axes = axes_for(axes)
    for place, name, colour in ((2, "upper bound", _OTHER), (1, "lower bound", _COLOUR)):
        known = [(row[0], float(row[place])) for row in history if row[place] is not None]
        axes.plot([second for second, _ in known], [value for _, value in known], drawstyle="steps-post", marker=".",
                  color=colour, label=name)
    if estimate is not None:
        axes.axhline(float(estimate), color="black", linestyle=":", label="estimate")
    highest = max((row[2] for row in history if row[2] is not None), default=0)
    axes.set(xlabel="seconds", ylabel="diameter",
             yscale="symlog" if history and highest > _LINEAR_BELOW * max(1, history[-1][1]) else "linear")
    axes.legend()
    return axes


def draw_prices(rows: Sequence[Mapping[str, Any]], diameter: Any = None, axes: Any = None) -> Any:
    """Estimates over the seconds of runs, a colour per method, with a line from each lower to each upper bound; returns
    the axes. rows : with method, seconds, estimate, lower and upper. diameter : height of an additional line, or
    None."""
    axes = axes_for(axes)
    for number, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        some = [row for row in rows if row["method"] == method and row["estimate"] is not None]
        seconds = [row["seconds"] for row in some]
        axes.scatter(seconds, [row["estimate"] for row in some], color=f"C{number}", label=method, zorder=3)
        axes.vlines(seconds, [row["lower"] for row in some], [row["upper"] for row in some], color=f"C{number}",
                    alpha=0.4, linewidth=3)
    if diameter is not None:
        axes.axhline(diameter, color="black", linestyle=":", label="diameter")
    axes.set(xlabel="seconds", ylabel="estimate", xscale="log")
    axes.legend()
    return axes


def bars_svg(counts: Mapping[Any, float], label: str) -> str:
    """A small picture of counts by number: bars, of ranges if there are many numbers, with the first and the last
    number below; "" without counts."""
    if not counts:
        return ""
    numbers, heights = [float(number) for number in counts], [float(count) for count in counts.values()]
    low, high = numbers[0], numbers[-1]
    n_bars = int(min(_MOST_BARS, high - low + 1 if high > low else 1)) if all(map(float.is_integer, numbers)) else (
        min(_MOST_BARS, len(numbers)))
    sums, span = [0.0] * n_bars, (high - low) or 1.0
    for number, height in zip(numbers, heights, strict=True):
        sums[min(n_bars - 1, int((number - low) / span * n_bars))] += height
    step, most = _WIDTH / n_bars, max(sums) or 1.0
    bars = "".join(
        f"<rect x='{step * i + step * 0.1:.1f}' y='{_HEIGHT * (1 - one / most):.1f}' width='{step * 0.8:.1f}'"
        f" height='{_HEIGHT * one / most:.1f}' fill='{_COLOUR}'/>" for i, one in enumerate(sums) if one)
    ends = list(counts)
    texts = "".join(f"<text x='{x}' y='{_HEIGHT + 14}' text-anchor='{anchor}' font-size='11' fill='currentColor'>{text}"
                    f"</text>" for x, anchor, text in (
                        (0, "start", f"{ends[0]:,}"), (_WIDTH / 2, "middle", label), (_WIDTH, "end", f"{ends[-1]:,}")))
    return (f"<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-label='{label}' width='{_WIDTH}'"
            f" height='{_HEIGHT + 20}' viewBox='0 0 {_WIDTH} {_HEIGHT + 20}'>{bars}{texts}</svg>")
