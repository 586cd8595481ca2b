"""Figure 7 of papers/001 drawn: the speedup by effective diameter / diameter, ours and the paper's."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .dal_paper import TABLE_II
from .setting import Row, Skipped

NAME = "figure-7.svg"


def paper_points() -> list[tuple[str, float, float]]:
    """Graph, effective diameter / diameter, speedup, by the second."""
    found = [(name, row.effective / row.diameter, row.speedup) for name, row in TABLE_II.items()]
    return sorted(found, key=lambda point: point[1])


def draw(out: Path | None, rows: Sequence[Row]) -> dict[str, Any]:
    """NAME in the folder `out`. rows : of the part dal-exact; those without a speedup are passed over.

    Raises Skipped without a folder, a point or matplotlib.
    """
    points = [row for row in rows if "speedup" in row]
    if out is None or not points:
        raise Skipped("no folder for files" if out is None else "there is nothing to draw")
    if importlib.util.find_spec("matplotlib") is None:
        raise Skipped("matplotlib is not installed")
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "emdiam", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(6, 4), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        for variant in dict.fromkeys(row["variant"] for row in points):
            some = [row for row in points if row["variant"] == variant]
            axes.plot([row["ratio"] for row in some], [row["speedup"] for row in some], "o", label=variant)
        paper = paper_points()
        axes.plot([x for _, x, _ in paper], [y for _, _, y in paper], "kx", label="papers/001, Table II")
        axes.set(xlabel="effective diameter / diameter", ylabel="speedup over serial code", yscale="log")
        axes.legend(fontsize=7)
        figure.savefig(out / NAME, metadata={"Date": None})
    return {"file": NAME, "points": len(points)}
