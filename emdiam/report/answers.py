"""The answers of a report: a section for each kind of answer, and a sentence and tiles for a single run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import texts
from .parts import Plot, ReportTable, Section, figure_of, folded, plots_of, table_of
from .records import ANSWERED, BOUNDED, FAILED, OPEN, STOPPED, Run
from .texts import NONE, text_of

WORDS = {ANSWERED: "answered", STOPPED: "stopped early", FAILED: "failed", OPEN: "not run"}
_STORES = ("convert", "apply", "reorder", "generate")
_SHOWN_IDS = 8
_LONGEST_HISTOGRAM = 24

Columns = dict[str, Callable[[Run], str]]


def ending(run: Run) -> str:
    """The end of a run, in words."""
    return "stopped with bounds" if run.status == STOPPED and run.number("lower") is not None else WORDS[run.status]


def sections(runs: Sequence[Run]) -> list[Section | None]:
    """A section for each kind of answer; None for kinds without a run."""
    units = {texts.unit(run) for run in runs}
    unit: Columns = {} if units <= {NONE, texts.EDGES} else {"distances": texts.unit}
    made: list[Section | None] = [_diameters(runs, unit)]
    for section, families in ((_eccentricities, ("ecc",)), (_distances, ("distances",)), (_paths, ("sssp",)),
                              (_pairs, ("apsp",)), (_certificates, ("verify",)), (_stores, _STORES)):
        shown = [run for run in runs if run.family in families and run.result is not None]
        made.append(section(shown, unit) if shown else None)
    return made


def units_text(runs: Sequence[Run]) -> str:
    """A sentence on the kind of distances."""
    units = sorted({texts.unit(run) for run in runs} - {NONE})
    if len(units) > 1:
        return "The tables say whether distances count edges or sum weights."
    return f"Distances are {units[0] if units else texts.EDGES}."


def headline(run: Run) -> str:
    """The answer of a single run, as a clause."""
    if run.family in BOUNDED and texts.bounds(run) != NONE:
        radius = run.number("radius")
        return ("" if radius is None else f"radius {texts.value(radius)}, ") + texts.bounds(run) + " is proved" + (
            ", stopped early" if run.status == STOPPED else "")
    figures = [f"{what} {value}" for value, what in tiles(run)]
    return ", ".join(figures) or WORDS[run.status]


def tiles(run: Run) -> list[tuple[str, str]]:
    """(figure, label) pairs of the answer of a run, without missing figures."""
    number = run.number
    largest = (texts.value(number("largest_distance")), "largest distance")
    of_kind: dict[str, list[tuple[str, str]]] = {
        "ecc": [(texts.value(number("radius")), "radius"), (texts.bounds(run), "proved"),
                (texts.count(number("center", "size")), "vertices in the centre"),
                (texts.count(number("periphery", "size")), "vertices in the periphery")],
        "distances": [(texts.rounded(number("mean")), "mean distance"),
                      (texts.rounded(number("effective_diameter")), "effective diameter")],
        "sssp": [largest, (texts.count(number("reached")), "vertices reached")],
        "apsp": [largest, (texts.count(number("unreachable_pairs")), "pairs without a path")],
        "verify": [(texts.verdict(run), "certificate")],
        **{command: [(texts.count(number("record", "n_vertices")), "vertices"),
                     (texts.count(number("record", "n_edges")), "edges")] for command in _STORES},
    }
    bounded = [(texts.bounds(run), "proved"), (texts.value(number("estimate")), "method's estimate")]
    return [tile for tile in of_kind.get(run.family, bounded) if tile[0] != NONE]


def _diameters(runs: Sequence[Run], unit: Columns) -> Section | None:
    """Bounds and witnesses."""
    shown = [run for run in runs if run.number("lower") is not None and run.family != "verify"]
    if not shown:
        return None
    meaning = "D is the diameter of the graph. Its bounds are proved."
    if any(run.value("connected") is False and run.value("directed") is not True for run in shown):
        meaning += " The diameter of a graph of several components is infinite; D is then the largest of any of them."
    if any(run.value("strongly_connected") is False for run in shown):
        meaning += (" Along arcs the diameter of a graph that is not strongly connected is infinite; D is then the"
                    " largest finite distance.")
    paths = [(run.name, line) for run in shown if (line := texts.path(run)) is not None]
    table = table_of(shown, 4 + len(unit), {
        "graph": texts.graph, **unit, "proved": texts.bounds, "witness": texts.witness,
        "method's estimate": figure_of(texts.value, "estimate"), "components": texts.components,
        "strong components": figure_of(texts.count, "n_strong_components"),
        "vertices": figure_of(texts.count, "n_vertices"), "edges": figure_of(texts.count, "n_edges")})
    return Section(
        "Answers", [meaning + " The witness is a pair of vertices as far apart as the lower bound."], [table],
        folded=folded(paths, "Shortest path"))


def _histograms(shown: Sequence[Run], name: str, of: tuple[str, str, str]) -> tuple[list[Plot], Any]:
    """The plots of a histogram in results with more than one bar, and its lines. of : the titles of the plots, of
    values, and of counts."""
    def data(run: Run) -> tuple[Any, ...] | None:
        found = _histogram(run, name)
        return (*found, *of[1:]) if found is not None and len(found[0]) > 1 else None

    lines = [(run.name, _counts_text(run, name)) for run in shown if _histogram(run, name)]
    return plots_of(shown, data, of[0], "draw_counts")[0], folded(lines, "Histogram")


def _eccentricities(shown: Sequence[Run], unit: Columns) -> Section:
    """Radius, centre, periphery, and the number of vertices by eccentricity."""
    plots, lines = _histograms(shown, "histogram", ("eccentricities", "eccentricity", "vertices"))
    return Section("Eccentricities", [
        "Radius and centre are the smallest eccentricity of the largest component and the vertices that have it,"
        " diameter and periphery the largest and its vertices. All are proved."], [table_of(shown, 4 + len(unit), {
            "graph": texts.graph, **unit, "centre": _vertices_of("center"), "periphery": _vertices_of("periphery"),
            "radius": figure_of(texts.value, "radius"), "diameter": _diameter_of_largest,
            "largest eccentricity": _largest, "not proved (vertices)": figure_of(texts.count, "unresolved")})],
        plots, "Vertices by eccentricity, in all components, without unproved ones.", lines)


def _diameter_of_largest(run: Run) -> str:
    """The diameter of the largest component, or along arcs that of the graph."""
    known = run.number("diameter_largest_component")
    return texts.value(run.number("diameter") if known is None else known)


def _largest(run: Run) -> str:
    """The largest eccentricity of any vertex, if proved."""
    lower, upper = run.number("lower"), run.number("upper")
    return texts.value(lower if lower == upper else None)


def _vertices_of(name: str) -> Callable[[Run], str]:
    """A function from a run to the number of vertices of a set, with the first ones."""
    def text(run: Run) -> str:
        size, ids = run.number(name, "size"), run.value(name, "ids")
        if size is None or not isinstance(ids, list):
            return NONE
        first = ", ".join(texts.shortened(one) for one in ids[:_SHOWN_IDS])
        return f"{size:,.0f}: {first}{', ...' if size > _SHOWN_IDS else ''}"
    return text


def _histogram(run: Run, name: str) -> tuple[list[float], list[float], float | None] | None:
    """The first value and the count of each bar of a histogram in a result, and the width of ranges (None for single
    values)."""
    table = run.value(name)
    if not isinstance(table, dict) or not table:
        return None
    try:
        bars = sorted((float(value), float(count)) for value, count in table.items())
    except (TypeError, ValueError):
        return None
    return [value for value, _ in bars], [count for _, count in bars], run.number("histogram_width")


def _counts_text(run: Run, name: str) -> str:
    """A histogram in a line, without the middle if it is long."""
    parts = [f"{text_of(value)}: {count:,}" for value, count in run.value(name).items()]
    half, width = _LONGEST_HISTOGRAM // 2, run.number("histogram_width")
    ranges = "" if width is None else f" (from the first of ranges of {text_of(width)})"
    return ", ".join(parts if len(parts) <= _LONGEST_HISTOGRAM else [*parts[:half], "...", *parts[-half:]]) + ranges


def _distances(shown: Sequence[Run], unit: Columns) -> Section:
    """The distribution of distances."""
    plots, lines = _histograms(shown, "pairs", ("distances", "distance", "pairs"))
    return Section("Distances", [
        "The mean is over pairs of different vertices that a path joins; the effective diameter is the distance within"
        " which a share of them is (0.9 unless another share is named). Errors are standard errors of a sample."], [
            table_of(shown, 3 + len(unit), {
                "graph": texts.graph, **unit, "counted": _counted, "mean": figure_of(texts.rounded, "mean"),
                "its error": lambda run: texts.rounded(run.number("standard_error", "mean") or None),
                "effective diameter": figure_of(texts.rounded, "effective_diameter"),
                "error of that": lambda run: texts.rounded(
                    run.number("standard_error", "effective_diameter") or None),
                "share": figure_of(texts.value, "quantile"), "pairs with a path": _joined,
                "pairs without": figure_of(texts.count, "unreachable_pairs")})],
        plots, "Pairs by distance; estimates, if only some vertices were sources.", lines)


def _counted(run: Run) -> str:
    """The sources of the counted pairs."""
    if run.value("method") == "hyperball":
        return f"HyperBall, {texts.count(run.number('registers'))} registers"
    all_of_them = run.number("samples") == run.number("n_vertices") or run.value("method") == "exact"
    return ("from all vertices" if all_of_them and run.value("complete") is not False else
            f"from {texts.count(run.number('samples'))} sources")


def _joined(run: Run) -> str:
    """The number of connected pairs."""
    pairs = run.value("pairs")
    return texts.count(sum(pairs.values()) if isinstance(pairs, dict) else None)


def _paths(shown: Sequence[Run], unit: Columns) -> Section:
    """Shortest paths from one vertex."""
    paths = [(run.name, line) for run in shown if (line := texts.path_in(run.value("path"))) is not None]
    return Section("Shortest paths", [], [table_of(shown, 5 + len(unit), {
        "graph": texts.graph, **unit, "source": text_at("source"), "farthest": text_at("farthest"),
        "target": text_at("target"), "largest distance": figure_of(texts.value, "largest_distance"),
        "distance to the target": _to_target, "vertices reached": figure_of(texts.count, "reached"),
        "vertices": figure_of(texts.count, "n_vertices")})],
        folded=folded(paths, "Shortest path"))


def text_at(name: str) -> Callable[[Run], str]:
    """A function from a run to the text of an id in its result."""
    return lambda run: NONE if run.value(name) is None else texts.shortened(run.value(name))


def _to_target(run: Run) -> str:
    """The requested distance."""
    return "infinite" if run.value("target") is not None and run.value("path") is None else texts.value(
        run.number("distance"))


def _pairs(shown: Sequence[Run], unit: Columns) -> Section:
    """Matrices of all distances."""
    return Section("All pairs", [], [table_of(shown, 3 + len(unit), {
        "graph": texts.graph, **unit, "matrix": text_at("out"), "vertices": figure_of(texts.count, "n_vertices"),
        "largest distance": figure_of(texts.value, "largest_distance"),
        "pairs without a path": figure_of(texts.count, "unreachable_pairs"),
        "size": figure_of(texts.size, "matrix_bytes")})])


def _certificates(shown: Sequence[Run], unit: Columns) -> Section:
    """Verified certificates."""
    return Section("Certificates", ["Verification proves a certificate again with code of its own."], [
        ReportTable(["run", "graph", "verdict", "claim", "traversals"], [
            [run.name, texts.graph(run), texts.verdict(run), texts.bounds(run), texts.count(run.number("traversals"))]
            for run in shown], 4)])


def _stores(shown: Sequence[Run], unit: Columns) -> Section:
    """Written stores."""
    def of_record(name: str) -> Callable[[Run], str]:
        return lambda run: texts.count(run.number("record", name))
    notes = [(run.name, "; ".join(map(str, run.value("notes")))) for run in shown if run.value("notes")]
    return Section("Stores", [], [table_of(shown, 2, {
        "graph": texts.graph, "vertices": of_record("n_vertices"), "edges": of_record("n_edges"),
        "loops dropped": of_record("loops_dropped"), "duplicates dropped": of_record("duplicates_dropped")})],
        folded=folded(notes, "Note"))
