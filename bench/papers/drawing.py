"""Figures as SVG, by matplotlib."""

from __future__ import annotations

import io
import re
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from .page import Figure

_WIDTH, _HEIGHT, _BAR_HEIGHT = 9.0, 4.2, 0.13
# Colours that colour-blind people tell apart.
_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c564b", "#7f7f7f",
            "#bcbd22")
_STYLE: Any = {"svg.hashsalt": "emdiam", "svg.fonttype": "none", "font.size": 9, "axes.axisbelow": True,
          "font.family": "sans-serif"}


def svg(figure: Figure) -> str:
    """The drawing as an element for a page of HTML."""
    categories = list(dict.fromkeys(str(x) for series in figure.series for x in series.x))
    height = _HEIGHT
    if figure.kind == "bars":
        height = max(2.2, 1.1 + len(categories) * (len(figure.series) * _BAR_HEIGHT + 0.12))
    with rc_context(_STYLE):
        canvas = Canvas(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasSVG(canvas)
        axes = canvas.subplots()
        if figure.kind == "bars":
            _bars(axes, figure, categories)
        else:
            _curves(axes, figure)
        axes.grid(True, color="#dddddd", linewidth=0.6)
        canvas.legend(loc="outside upper left", ncols=4, fontsize=8, frameon=False)
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg"):], flags=re.DOTALL)


def _bars(axes: Axes, figure: Figure, categories: list[str]) -> None:
    """Bars to the right, a group a category, the first one on top."""
    place = {name: number for number, name in enumerate(categories)}
    drawn = [series for series in figure.series if any(series.y)]  # the legend gives others a colour that is not theirs
    width = 0.82 / max(1, len(drawn))
    for number, series in enumerate(drawn):
        shown = [(place[str(x)] + (number + 0.5) * width - 0.41, y)
                 for x, y in zip(series.x, series.y, strict=True) if y]
        axes.barh([at for at, _ in shown], [y for _, y in shown], width, label=series.name,
                  color=_COLOURS[number % len(_COLOURS)], alpha=0.45 if series.paper else 1.0,
                  hatch="//" if series.paper else None, edgecolor="white", linewidth=0.3)
    axes.set_yticks(range(len(categories)), categories)
    axes.set_ylim(len(categories) - 0.5, -0.5)
    axes.set_xlabel(figure.y)
    if figure.logarithmic:
        axes.set_xscale("log")


def _curves(axes: Axes, figure: Figure) -> None:
    line = "-" if figure.kind == "lines" else ""
    for number, series in enumerate(figure.series):
        shown = [(x, y) for x, y in zip(series.x, series.y, strict=True) if y is not None]
        axes.plot([x for x, _ in shown], [y for _, y in shown], marker="x" if series.paper else "o", markersize=5,
                  linestyle="--" if line and series.paper else line or "none", label=series.name,
                  color=_COLOURS[number % len(_COLOURS)])
    axes.set(xlabel=figure.x, ylabel=figure.y)
    if "x" in figure.logarithmic:
        axes.set_xscale("log")
    if "y" in figure.logarithmic:
        axes.set_yscale("log")
