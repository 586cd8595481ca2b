"""A report by graph: a row for each, with the combined results of all its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import texts
from .parts import MOST_OPEN, Section, halved, table_of
from .records import BOUNDED, Run
from .texts import NONE

_ANSWERS = (*BOUNDED, "distances", "tradeoff")


@dataclass(frozen=True)
class Found:
    """The results of runs on one graph. name : of the graph. runs : with answers about its distances."""

    name: str
    runs: tuple[Run, ...]

    def first(self, text: Callable[[float | None], str], *path: str) -> str:
        """The value of the first run that has it."""
        return next((text(figure) for run in self.runs if (figure := run.number(*path)) is not None), NONE)

    @property
    def bounds(self) -> str:
        """The best bounds proved by any run; a dash if runs contradict each other, like those of two graphs with the
        same name and size."""
        proved = [(lower, upper) for run in self.runs
                  if None not in (lower := run.number("lower"), upper := run.number("upper"))]
        if not proved:
            return NONE
        lower, upper = max(low for low, _ in proved if low is not None), min(up for _, up in proved if up is not None)
        return texts.interval(lower, upper) if lower <= upper else NONE

    @property
    def central(self) -> str:
        """The vertices of the centre: their number, and one of them."""
        for run in self.runs:
            ids = run.value("center", "ids")
            if isinstance(ids, list) and ids:
                size = run.number("center", "size") or len(ids)
                return texts.shortened(ids[0]) if size == 1 else f"{size:,.0f}, such as {texts.shortened(ids[0])}"
        return NONE


def graphs(runs: Sequence[Run]) -> list[Found]:
    """The graphs of the runs, in order, with a row for each kind of distances, such as with and without weights."""
    found: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        if run.family in _ANSWERS and run.result is not None:
            size = run.number("n_vertices"), run.number("n_edges")
            unit = texts.EDGES if run.family == "tradeoff" else texts.unit(run)
            found.setdefault((texts.graph(run), size, unit), []).append(run)
    return [Found(str(key[0]), tuple(some)) for key, some in found.items()]


def section(runs: Sequence[Run]) -> Section | None:
    """The table of graphs; None for a single run, which has tiles instead."""
    rows = graphs(runs)
    if len(runs) < 2 or not rows:
        return None
    units = {texts.unit(run) for run in runs} - {NONE}
    table = table_of(rows, 1, {
        **({"distances": lambda one: texts.unit(one.runs[0])} if len(units) > 1 else {}),
        "diameter": lambda one: one.bounds, "radius": lambda one: one.first(texts.value, "radius"),
        "centre": lambda one: one.central, "mean distance": lambda one: one.first(texts.rounded, "mean"),
        "effective diameter": lambda one: one.first(texts.rounded, "effective_diameter"),
        "components": lambda one: max(map(texts.components, one.runs), key=lambda text: (text != NONE, len(text))),
        "vertices": lambda one: one.first(texts.count, "n_vertices"),
        "edges": lambda one: one.first(texts.count, "n_edges")}, "graph")
    return Section("Graphs", [
        "D is the proved diameter; with several components, the largest of any one; along arcs, the largest finite"
        " distance. The others are from the runs that computed them."], halved(table, "graphs"), most_plots=MOST_OPEN)
