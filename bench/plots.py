"""Plots of the rows of section exact, as SVG: traversals, seconds, and bounds against traversals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "emdiam", "svg.fonttype": "none", "font.size": 9, "axes.axisbelow": True})

from matplotlib import pyplot as plt  # noqa: E402 (the backend is chosen first)
from matplotlib.figure import Figure  # noqa: E402

_ROW_INCHES, _WIDTH_INCHES = 0.26, 8.0
# The same mark and colour for one method in every plot; colours that colour-blind people tell apart.
_STYLES = {
    "pivots": ("o", "#d55e00"), "fdiam": ("s", "#0072b2"), "networkit": ("D", "#009e73"),
    "igraph": ("P", "#cc79a7"), "networkx": ("X", "#999999"), "bounding": ("v", "#56b4e9"),
    "ifub": ("^", "#e69f00"), "graph-diameter": ("<", "#7f6000"), "korf": (">", "#6a3d9a"), "apsp": ("d", "#000000"),
}
_TRACED = ("delaunay-2^20", "watts-strogatz-2^19", "p2p-Gnutella31")
_PANELS = 3

# (name, value, ended) of every method on one graph; what did not end is a lower bound.
Marks = list[tuple[str, float, bool]]


def draw(rows: Sequence[dict[str, Any]], folder: Path) -> list[Path]:
    """Write the plots of the rows of section exact into `folder` (made if absent); their files."""
    if not rows:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "traversals": _dots(rows, traversal_marks, "traversals (one source or a batch of them), log scale"),
        "seconds": _dots(rows, second_marks, "seconds to solve, log scale"),
        "bounds": _bounds(traced(rows)),
    }
    files = []
    for name, figure in figures.items():
        files.append(folder / f"{name}.svg")
        figure.savefig(files[-1], metadata={"Date": None})
        plt.close(figure)
    return files


def traversal_marks(row: dict[str, Any]) -> Marks:
    """Traversals of the own methods."""
    return [(name, max(1, run["traversals"]), run["exact"]) for name, run in row["runs"].items()]


def second_marks(row: dict[str, Any]) -> Marks:
    """Seconds of the own methods and the peers; of a peer that did not end only where its limit is
    known."""
    marks = [(name, run["median"], run["exact"]) for name, run in row["runs"].items()]
    for name, peer in row.get("peers", {}).items():
        limit = str(peer.get("failure", "")).split()
        if "median" in peer:
            marks.append((name, peer["median"], True))
        elif limit[:1] == [">"]:
            marks.append((name, float(limit[1]), False))
    return [(name, max(value, 1e-4), ended) for name, value, ended in marks]


def _dots(rows: Sequence[dict[str, Any]], marks_of: Callable[[dict[str, Any]], Marks], label: str) -> Figure:
    """A line a graph, sorted by what pivots needs; a mark a method, hollow with an arrow if it did not end."""
    shown = sorted(((row["graph"], marks_of(row)) for row in rows), key=lambda one: one[1][0][1])
    figure, axes = plt.subplots(figsize=(_WIDTH_INCHES, 1.5 + _ROW_INCHES * len(shown)), layout="constrained")
    for y, (_, marks) in enumerate(shown):
        values = [value for _, value, _ in marks]
        axes.plot([min(values), max(values)], [y, y], color="#dddddd", linewidth=1, zorder=1)
        for name, value, ended in reversed(marks):  # pivots last, on top
            marker, colour = _STYLES[name]
            axes.scatter([value], [y], marker=marker, s=30, edgecolors=colour, zorder=2,
                         facecolors=colour if ended else "white")
            if not ended:
                axes.annotate("\N{RIGHTWARDS ARROW}", (value, y), (4, 0), textcoords="offset points", va="center",
                              color=colour)
    axes.set_yticks(range(len(shown)), [graph for graph, _ in shown])
    axes.set_ylim(-0.7, len(shown) - 0.3)
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.grid(axis="x", color="#eeeeee")
    names = [name for name in _STYLES if any(name == mark[0] for _, marks in shown for mark in marks)]
    _legend(figure, names, any(not ended for _, marks in shown for _, _, ended in marks))
    return figure


def _legend(figure: Figure, names: Sequence[str], stopped: bool) -> None:
    handles = [plt.Line2D([], [], linestyle="", marker=_STYLES[name][0], color=_STYLES[name][1], label=name)
               for name in names]
    if stopped:
        handles.append(plt.Line2D([], [], linestyle="", marker="o", markerfacecolor="white", color="#555555",
                                  label="stopped: this or more"))
    figure.legend(handles=handles, loc="outside upper center", ncols=min(6, len(handles)), frameon=False)


def traced(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows whose bounds are drawn: three that are chosen, or those with most traversals."""
    chosen = [row for row in rows if row["graph"] in _TRACED]
    others = sorted((row for row in rows if row not in chosen), key=lambda row: -len(row["trace"]))
    return (chosen + others)[:_PANELS]


def _bounds(rows: Sequence[dict[str, Any]]) -> Figure:
    """Lower and upper bound after each traversal of pivots, a panel a graph."""
    figure, panels = plt.subplots(1, len(rows), figsize=(_WIDTH_INCHES * 1.25, 3.4), squeeze=False,
                                  layout="constrained")
    for axes, row in zip(panels[0], rows, strict=True):
        _, count, lower, upper, _ = zip(*(point for point in row["trace"] if point[1] > 0), strict=True)
        axes.step(count, upper, where="post", color="#d55e00", label="upper bound", marker=".", markersize=4)
        axes.step(count, lower, where="post", color="#0072b2", label="lower bound", marker=".", markersize=4)
        axes.fill_between(count, lower, upper, step="post", color="#f0f0f0", zorder=0)
        axes.set_title(row["graph"], fontsize=10)
        axes.set_xlabel("traversals of pivots")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.grid(color="#eeeeee")
    panels[0][0].set_ylabel("longest distance (edges)")
    panels[0][0].legend(frameon=False)
    return figure
