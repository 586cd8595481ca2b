"""The page of peers: tables and figures of what was measured."""

from __future__ import annotations

import math
import statistics
from typing import Any

from ..papers.numbers import count, ratio, seconds
from ..papers.page import Figure, Page, Section, Series, Table
from ..papers.setting import Setting
from ..programs import DIAMETERS
from .measure import NOT_MEASURED, absent

TOOLS = (*DIAMETERS, "networkit", "igraph")
BFS, WEIGHTED = ("GAP", "networkit", "scipy", "igraph"), ("GAP", "scipy")
FACTOR, SLACK = 1.1, 0.02
Row = dict[str, Any]

_INTRO = ("The largest finite distance of a graph, one BFS and one search along weights, by this package and by"
          " others, on the same graphs in one run: the real graphs of the tests, and generated ones.")
_SOLVE = ("Solve: seconds of the search alone, with the graph in memory, by each tool's own clock (libraries:"
          " around the call); medians of up to nine runs of this package and three of others. Whole command: a"
          " process from its start to its end, with loading, kernels, the check of the path and the answer."
          " Files in the format of each program are made before and not timed: F-Diam reads CSR, the other programs"
          " text, libraries this package's store through zarr.")
_ANSWER = ("All gave the same answer, over all components (teexGraph and weighted-diameter: of the one with the most"
           " vertices). F-Diam's traversals are BFS and Winnow,"
           " Graph-Diameter's as it counts them, ours BFS and batches of sources. Left out: igraph, which does a"
           " BFS from every vertex, on larger graphs; Graph-Diameter on a text of 116,193,602 lines.")


def page(setting: Setting, rows: list[Row], total: int) -> Page:
    """The page of the rows that __main__.measured gives. total : graphs that there are."""
    return Page("peers", "Beside other programs and libraries", [_INTRO, _verdict(rows)], [
        ("limit of a command", f"{setting.seconds:g} s"), ("graphs", f"{len(rows)} of {total}"),
        *((name, ": ".join(absent(name))) for name in NOT_MEASURED)],
                [
        Section("Diameter: seconds to solve, traversals", [
            _solve(rows), _bars(rows, "solve", "seconds to solve"),
            _bars(rows, "traversals", "traversals", ("emdiam", *DIAMETERS))], [_SOLVE, _ANSWER]),
        Section("Diameter: seconds of whole commands", [_commands(rows),
                                                        _bars(rows, "seconds", "seconds of the command")]),
        Section("One BFS", [_searches(rows, "bfs", BFS, "One BFS with distances: milliseconds")], [
            "Milliseconds without loading: medians from the vertex of the largest degree and about three others. GAP"
            " gives parents in place of distances; igraph, which gives lists of Python, is left out of larger"
            " graphs."]),
        Section("One search along weights", [_searches(rows, "weighted", WEIGHTED, "Shortest paths from one vertex:"
                                                                                   " milliseconds")], [
            "Milliseconds from the vertex of the largest degree, on graphs of up to 4 million arcs; weights of the file"
            " of USA-road-d.NY, elsewhere 1 to 255 by the pair. GAP: Delta-stepping with the best of three Deltas;"
            " scipy: Dijkstra."]),
    ])


def faster(rows: list[Row]) -> list[tuple[str, str, float, float]]:
    """Where a peer is faster in `solve` by more than FACTOR and SLACK: graph, tool, its seconds, ours."""
    found = []
    for row in rows:
        mine = row["diameter"]["emdiam"].get("solve")
        for tool in TOOLS:
            theirs = row["diameter"][tool].get("solve")
            if mine is not None and theirs is not None and mine > FACTOR * theirs + SLACK:
                found.append((row["graph"], tool, theirs, mine))
    return found


def _verdict(rows: list[Row]) -> str:
    slower = faster(rows)
    rows = [row for row in rows if "solve" in row["diameter"]["emdiam"]]
    limit = f"{FACTOR} times its seconds to solve and {SLACK} s"
    if not slower:
        return f"On none of the {len(rows)} graphs does this package take more than {limit} of any of them."
    cases = "; ".join(f"{graph}: {tool} {theirs:.3f} s, here {mine:.3f} s" for graph, tool, theirs, mine in slower)
    return f"This package takes more than {limit} in {len(slower)} cases: {cases}."


def _cell(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return _absent(found) if value is None else seconds(value)


def _absent(found: dict[str, Any]) -> str:
    """Why there is no figure; the texts above the tables say why something was left out."""
    why = str(found.get("failure", found.get("stopped", "-")))
    return "left out" if why.startswith("left out") else why


def _solve(rows: list[Row]) -> Table:
    header = ["graph", "n", "arcs", "D", "emdiam s", "traversals"]
    for tool in TOOLS:
        header += [f"{tool} s", *(["its traversals"] if tool in DIAMETERS else [])]
    cells = []
    for row in rows:
        mine = row["diameter"]["emdiam"]
        line = [row["graph"], count(row["n"]), count(row["arcs"]), count(mine.get("diameter")) + (" WRONG"
                                                                                                  if row["wrong"]
                                                                                                  else ""),
                _cell(mine, "solve"), count(mine.get("traversals"))]
        for tool in TOOLS:
            found = row["diameter"][tool]
            line += [_cell(found, "solve"), *([count(found.get("traversals"))] if tool in DIAMETERS else [])]
        cells.append([*line, _fastest(row)])
    return Table("Seconds to solve", [*header, "fastest other / emdiam"], cells, _means(rows, "solve", "to solve"))


def _fastest(row: Row) -> str:
    mine = row["diameter"]["emdiam"].get("solve")
    others = [found["solve"] for tool, found in row["diameter"].items() if tool != "emdiam" and "solve" in found]
    return ratio(min(others), mine) if others and mine else "-"


def _means(rows: list[Row], name: str, what: str) -> list[str]:
    """Geometric means of each tool's seconds over ours, where both have ended."""
    notes = []
    for tool in TOOLS:
        pairs = [(found[name], mine) for row in rows
                 if name in (found := row["diameter"][tool]) and "failure" not in found
                 and (mine := row["diameter"]["emdiam"].get(name))]
        stopped = sum(str(row["diameter"][tool].get("failure", "")).startswith(">") for row in rows)
        if pairs:
            mean = math.exp(statistics.fmean(math.log(max(a, 1e-6) / b) for a, b in pairs))
            notes.append(f"{tool} / emdiam, seconds {what}: geometric mean {mean:.2f} over {len(pairs)}"
                         f" graph{'s' * (len(pairs) != 1)}"
                         + (f"; stopped by the limit on {stopped} more." if stopped else "."))
    return notes


def _commands(rows: list[Row]) -> Table:
    tools = ("emdiam", *TOOLS)
    return Table("Seconds of whole commands", ["graph", *tools], [
        [row["graph"], *(_cell({key: value for key, value in row["diameter"][tool].items()
                                if key != "seconds" or "failure" not in row["diameter"][tool]}, "seconds")
                         for tool in tools)]
        for row in rows], _means(rows, "seconds", "of the command"))


def _bars(rows: list[Row], name: str, y: str, tools: tuple[str, ...] = ("emdiam", *TOOLS)) -> Figure:
    names = [row["graph"] for row in rows]
    return Figure(y.capitalize(), "bars", "graph", y, [
        Series(tool, names, [None if "failure" in (found := row["diameter"][tool]) or found.get(name) is None
                             else max(found[name], 1e-4) for row in rows]) for tool in tools], "y",
                  ["No bar: stopped by the limit, left out, or not here."], tabled=True)


def _searches(rows: list[Row], name: str, tools: tuple[str, ...], title: str) -> Table:
    measured = [row for row in rows if row[name]]
    tools = ("emdiam", *tools)
    return Table(title, ["graph", *tools], [[row["graph"], *(_milliseconds(row[name][tool]) for tool in tools)]
                                            for row in measured])


def _milliseconds(found: dict[str, Any]) -> str:
    value = found.get("solve")
    return _absent(found) if value is None else f"{1000 * value:,.2f}"
