"""The page of a trade-off: quality against cost with its Pareto front, the effect of masters, and how to read both.

The explanations follow Ajwani, Beckmann, Meyer, Veith (2012), section 4, with the figures of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..runs.tradeoff import ENDED, FRONTS
from ..units import format_fine_seconds, format_size
from . import texts
from .cells import CLUSTERS
from .parts import Plot, Point, ReportTable, Section, row_point
from .records import Run
from .texts import NONE
from .tradeoff_table import OF_CLUSTERS, OF_STAGES, PRICE, Line, loss

_WHAT = {"seconds_search": "the time of the search", "bytes_read": "the bytes read"}
_SEVERAL = 2
_PAPER = ("The paper finds both trends. On a web graph, whose distances are short, few masters gave the best estimate,"
          " 1.05 times D, in the least time, and more masters made both worse. On graphs of long distances the largest"
          " number of masters whose condensed graph fits memory was best, within 0.14 % of D; too few need many rounds."
          " Where quality counts most, the paper recommends double sweeps (section 4, Tables 2 to 4).")


def title(run: Run) -> str:
    """The title of the page."""
    return f"Trade-off: {texts.graph(run)}"


def lead(run: Run) -> str:
    """One sentence on the run."""
    count = len(run.result["rows"]) if run.result else 0
    return (f"{count:,} runs on a graph of {texts.count(run.number('n_vertices'))} vertices and"
            f" {texts.count(run.number('n_edges'))} edges; {texts.bounds(run)} is proved.")


def sections(run: Run) -> list[Section | None]:
    """All sections of the page."""
    rows = [row for row in run.result["rows"] if row.get("status") == ENDED] if run.result else []
    return [_quality(run, rows), _cells("All runs", rows, OF_CLUSTERS[:6]), _cells("Cost", rows, (*PRICE, *OF_STAGES))]


def _quality(run: Run, rows: Sequence[dict[str, Any]]) -> Section | None:
    """Estimates against their costs, and the effect of masters, side by side; None without plots."""
    found = Section("Quality against cost")
    for front, column in FRONTS.items():
        shown = [point for row in rows if row.get("estimate") is not None
                 and (point := row_point(row, run.number("diameter"), texts.graph(run), price=column, front=front))]
        if len({point.price for point in shown}) >= _SEVERAL:
            _against(column, shown, bool(run.number("diameter")), found)
    masters = sorted((row for row in rows if row.get("method") == CLUSTERS and row.get("masters")
                      and row.get("estimate") is not None), key=lambda row: (row["masters"], row.get("seed") or 0))
    if len({row["masters"] for row in masters}) >= _SEVERAL:
        found.paragraphs += _trend(masters[0], masters[-1])
        found.plots.append(Plot("masters", "Quality with more masters", "Above, vertices and edges of the condensed"
                                " graph; below, distances, both against the number of masters.", "draw_masters",
                                masters))
    return found if found.plots else None


def _against(column: str, shown: Sequence[Point], known: bool, found: Section) -> None:
    """Add the plot against one cost, its front as a table, and an explanation."""
    text = format_size if column == "bytes_read" else format_fine_seconds
    best = sorted((point for point in shown if point.front), key=lambda point: point.price)
    if best:
        found.paragraphs.append(f"By {_WHAT[column]}: {_reading(best, text)}")
        found.tables.append(ReportTable([f"front by {_WHAT[column]}", "estimate / D", "proved", "cost"], [
            [point.name, texts.ratio(point.quality), NONE if point.lower is None or point.upper is None else
             texts.interval(point.lower, point.upper), text(point.price)] for point in best]))
    found.plots.append(Plot(
        f"quality-{column.replace('_', '-')}", f"Quality against {_WHAT[column]}", "To the left is cheaper; closer to "
        + ("1, the diameter itself," if known else "the bars") + " is better. Rings and the dashed line: the Pareto"
        " front, runs that no other one beats in both. Bars: the proved interval of a run.",
        "draw_seconds" if column == "seconds_search" else "draw_bytes", shown))


def _reading(best: Sequence[Point], text: Callable[[float], str]) -> str:
    """The front in a sentence."""
    cheapest, closest = best[0], best[-1]
    if len(best) == 1 or cheapest.quality is None or closest.quality is None:
        return f"{cheapest.name} is both the cheapest and the closest run ({text(cheapest.price)})."
    return (f"{cheapest.name} is cheapest ({text(cheapest.price)}, {cheapest.quality:.4g} times D), {closest.name} is"
            f" closest ({text(closest.price)}, {closest.quality:.4g} times D) and costs"
            f" {texts.ratio(closest.price, cheapest.price)} times the cheapest.")


def _trend(first: dict[str, Any], last: dict[str, Any]) -> list[str]:
    """The effect of more masters in this run, and in the paper."""
    if not first.get("ratio") or not last.get("ratio"):
        return [_PAPER]
    better = loss(last["ratio"]) < loss(first["ratio"])
    return [f"More masters made the estimate {'closer' if better else 'no closer'}: {first['ratio']:.4g} times D with"
            f" {first['masters']:,} ({format_fine_seconds(first['seconds_search'])}), {last['ratio']:.4g} times D with"
            f" {last['masters']:,} ({format_fine_seconds(last['seconds_search'])}).", _PAPER]


def _cells(name: str, rows: Sequence[dict[str, Any]], lines: Sequence[Line]) -> Section | None:
    used = [line for line in lines if any(row.get(line[1]) is not None for row in rows)]
    table = ReportTable(["run", *(what for what, _, _ in used)], [
        [str(row["cell"]), *(NONE if row.get(column) is None else text(row[column]) for _, column, text in used)]
        for row in rows])
    return Section(name, tables=[table], closed=True) if rows else None
