"""papers/002, Fast Exact Diameter Computation of Sparse Graphs (F-Diam): Tables 1 to 5, Figures 6 to 9.

Own F-Diam runs by the paper's rule of directions (10 % of the vertices), serial with one thread; beside it the programs
of the authors where they are built. A method is run up to nine times, fewer where that takes long, and the median
counts; of a run that the limit stopped there is what it had counted by then.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from emdiam.store.store import open_store

from ..graphs import Graph
from ..programs import AKIBA, FDIAM
from ..runs import facts_of, solve_timed
from .cases import SAME, SAME_CLASS, STAND_IN, Case, chosen, fetched, graph_named, label
from .lazy import Lazy
from .numbers import count, ratio, seconds, share, short
from .page import Figure, Page, Section, Series, Table
from .published_002 import GAIN_OF_32, SPEED_WITHOUT, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5
from .setting import FULL, TINY, Setting
from .solving import solved, timed

TITLE = "Paper 002: Fast Exact Diameter Computation of Sparse Graphs (F-Diam), beside ours"
SOURCE = ("Bradley, Mongandampulath Akathoott, Burtscher, ICPP 2025 (doi 10.1145/3754598.3754620). AMD Ryzen"
          " Threadripper 3970X, 32 cores; medians of 9 runs; limit 2.5 hours.")
LIMITS = {"tiny": 1.0, "small": 200.0, "full": 9000.0}
_MILD = {"a": 0.45, "b": 0.22, "c": 0.22}
CASES = (
    fetched("amazon0601", "amazon0601.egr"), fetched("as-skitter", "as-skitter.egr"),
    fetched("citationCiteseer", "citationCiteseer.egr"), fetched("cit-Patents", "cit-Patents.egr"),
    fetched("coPapersDBLP", "coPapersDBLP.egr"), fetched("delaunay_n24", "delaunay_n24.egr"),
    fetched("europe_osm", "europe_osm.egr"), fetched("in-2004", "in-2004.egr"),
    fetched("kron_g500-logn21", "kron_g500-logn21.egr"), fetched("rmat16.sym", "rmat16.sym.egr"),
    fetched("rmat22.sym", "rmat22.sym.egr"), fetched("soc-LiveJournal1", "soc-LiveJournal1.egr"),
    fetched("uk-2002", "uk-2002.egr"), fetched("USA-road-d.USA", "USA-road-d.USA.egr"),
    Case("internet", graph_named("internet"), SAME),
    Case("USA-road-d.NY", graph_named("USA-road-d.NY"), SAME),
    Case("2d-2e20.sym", Graph("grid-1024^2", "", "grid", None, {"sides": "1024x1024"}, diameters=(2046, 2046)), SAME,
         why="generated: every edge is the same, ids row by row"),
    Case("rmat16.sym", Graph("rmat-16-ef8-mild", "", "rmat", 2**16, {"edge_factor": 8, **_MILD}), SAME_CLASS,
         why="R-MAT of as many vertices, own random numbers"),
    Case("kron_g500-logn21", Graph("kronecker-16-ef48", "", "kronecker", 2**16, {"edge_factor": 48}), SAME_CLASS,
         why="2^16 vertices in place of 2^21, own random numbers"),
    Case("delaunay_n24", graph_named("delaunay_n16"), SAME_CLASS, why="2^16 points in place of 2^24, of the same"
                                                                      " collection"),
    Case("in-2004", graph_named("cnr-2000"), STAND_IN, why="a smaller web crawl"),
    Case("europe_osm", graph_named("luxembourg_osm"), STAND_IN, why="a smaller road map of the same source"),
    Case("cit-Patents", graph_named("cit-HepPh"), STAND_IN, why="citations of papers"),
    Case("soc-LiveJournal1", graph_named("MIT8"), STAND_IN, why="a small social network"),
    Case("rmat22.sym", Graph("rmat-22-ef8-mild", "", "rmat", 2**22, {"edge_factor": 8, **_MILD}), SAME_CLASS, FULL,
         "own random numbers"),
    Case("kron_g500-logn21", Graph("kronecker-21-ef48", "", "kronecker", 2**21, {"edge_factor": 48}), SAME_CLASS, FULL,
         "own random numbers"),
    Case("delaunay_n24", Graph("delaunay-2^24", "", "delaunay", 2**24), SAME_CLASS, FULL, "own random points"),
)
_TINY = (Case("2d-2e20.sym", Graph("tiny-grid-20x30", "", "grid", None, {"sides": "20x30"}, diameters=(48, 48)),
              SAME_CLASS),
         Case("rmat16.sym", Graph("tiny-rmat-8", "", "rmat", 2**8, {"edge_factor": 8}), SAME_CLASS))
PAPER = {"direction": "paper"}
# Name of a column -> method, whether on all threads, and its options.
RUNS: dict[str, tuple[str, bool, dict[str, Any]]] = {
    "fdiam serial": ("fdiam", False, {}), "fdiam parallel": ("fdiam", True, {}),
    "ifub serial": ("ifub", False, {}), "ifub parallel": ("ifub", True, {}),
    "graph-diameter": ("graph-diameter", False, {}),
    "no_winnow": ("fdiam", True, {"winnow": False}), "no_eliminate": ("fdiam", True, {"eliminate": False}),
    "no_u": ("fdiam", True, {"start": "first"}),
}
WITHOUT = {"no_winnow": "no Winnow", "no_eliminate": "no Eliminate", "no_u": "no 'u'"}
# Of F-Diam in random order, where a count is farther than this from the paper's, to see how far it depends on that.
SEEDS, OFF = range(1, 6), 0.05
# Runs that the limit of small scale stops, by graph: a limit up to it gives them SHORT seconds. iFUB needs 24,985 BFS
# of USA-road-d.NY at least, for the fringes beyond D / 2, and 522,753 of the grid; F-Diam about 521,800 there without
# Eliminate.
SHORT = 8.0
LONG = {
    "USA-road-d.NY": ("ifub serial", "ifub parallel"),
    "grid-1024^2": ("ifub serial", "ifub parallel", "no_eliminate"),
}
Row = dict[str, Any]
Cells = tuple[list[str], list[list[str]]]  # header and rows


def run(setting: Setting, names: tuple[str, ...] = ()) -> Page:
    """Measure what is not kept, and lay out the page."""
    cases = list(_TINY) if setting.scale == TINY else chosen(setting, CASES, names)
    rows = [_measure(setting, case) for case in cases]
    return Page("002", TITLE, [SOURCE, _LEGEND], [("limit of a run", _limits(setting))], [
        Section("Table 1: the graphs", [_table_1(rows)], [_GRAPHS]),
        Section("Table 2: seconds", [*_table_2(setting, rows)], [_SECONDS]),
        Section("Table 3: BFS traversals", [_table_3(rows)], [_COUNTING]),
        Section("Table 4: vertices removed by stage", [_table_4(rows)]),
        Section("Table 5: BFS without a stage", [_table_5(rows)], [_ORDER]),
        Section("Figure 6: throughput", [_figure_6(rows)], [_THROUGHPUT]),
        Section("Figure 7: threads", [_table_7(setting, rows)]),
        Section("Figure 8: seconds by stage", [_figure_8(rows)]),
        Section("Figure 9: throughput without a stage", [_figure_9(rows), _table_9(rows)]),
        Section("The pivots of this package beside them", [_pivots(rows)], [_PIVOTS]),
    ])


_LEGEND = ("A ratio is ours / the paper's, of counts, where the graph is the paper's. T/O: stopped by the limit."
           " The paper's seconds are those of another machine.")
_GRAPHS = ("Edges are arcs, in both directions, as the paper counts them.")
_SECONDS = ("Seconds to solve, without loading. Serial: one thread; the paper's parallel columns: 32 cores and 64"
            " threads. Authors: their program on this machine, compiled with g++ -O3 -fopenmp, by its own clock.")
_COUNTING = ("F-Diam counts eccentricity BFS and Winnow, as the paper does; Graph-Diameter as its authors' program"
             " counts, without its first double sweeps; iFUB every BFS. F-Diam evaluates vertices in ascending"
             " order here, in random order in the paper.")
_ORDER = ("The order of the columns of a row is to be compared. A timeout of the paper is one of 2.5 hours,"
          " ours one of the limit of this run, with the traversals by then.")
_PIVOTS = ("Not in the paper: the default method of `emdiam exact` on all threads. Traversals are BFS and"
           " batches of sources, each one traversal.")


_THROUGHPUT = ("The points are the vertices of Table 1 over the seconds of Table 2, and of the last table for pivots."
               " The paper's bars, of 32 cores, are drawn where the graph is its own.")


def _limits(setting: Setting) -> str:
    long = [f"{name} on {graph}" for graph, names in LONG.items() for name in names]
    return f"{setting.seconds:g} s" + ("" if setting.seconds > LIMITS["small"] or setting.scale == TINY else
                                       f"; {SHORT:g} s where {LIMITS['small']:g} s are not enough: {', '.join(long)}")


def _limit(setting: Setting, graph: str, name: str) -> float:
    """Of a run, seconds."""
    long = name in LONG.get(graph, ()) and setting.seconds <= LIMITS["small"]
    return min(SHORT, setting.seconds) if long else setting.seconds


def _measure(setting: Setting, case: Case) -> Row:
    path = setting.cache.store(case.graph)
    row: Row = {"case": case, "graph": case.graph.name, "paper": case.paper}
    with open_store(path) as store:
        row |= {"n": store.n_vertices, "arcs": store.n_arcs}
    for parallel in (False, True):
        threads = setting.threads if parallel else 1
        keys = {name: one for name, one in RUNS.items() if one[1] == parallel}
        with Lazy(partial(setting.engine, path, threads, **PAPER)) as engine:
            for name, (method, _, options) in keys.items():
                row[name] = setting.kept.cell(
                    engine.later(timed, method, _limit(setting, case.graph.name, name), **options),
                    paper="002", graph=case.graph.name, run=name, threads=threads)
            if parallel:
                row["random"] = {name: setting.kept.cell(
                    engine.later(random_counts, setting.seconds, keys[name][2]), paper="002", graph=case.graph.name,
                    run=f"{name} in random order") for name in ("fdiam parallel", *WITHOUT) if is_off(row, name)}
                row["degrees"] = setting.kept.cell(engine.later(degrees), paper="002", graph=case.graph.name,
                                                   run="degrees")
    with Lazy(partial(setting.engine, path, setting.threads)) as engine:
        for name, method in (("fdiam work", "fdiam"), ("pivots", "pivots")):
            row[name] = setting.kept.cell(
                engine.later(timed, method, setting.seconds),
                paper="002", graph=case.graph.name, run=name, threads=setting.threads)
    for name, call in _authors(setting, path).items():
        row[name] = setting.kept.cell(call, paper="002", graph=case.graph.name, run=name)
    answers = {row[name]["diameters"][1] for name in (*RUNS, "pivots") if row[name].get("exact")}
    answers |= {row[name]["diameter"] for name in ("authors serial", "authors parallel", "authors graph-diameter")
                if "diameter" in row[name]}
    if len(answers | set(case.graph.diameters[1:])) > 1:
        raise AssertionError(f"{case.graph.name}: diameters {sorted(answers)}, known {case.graph.diameters}")
    return {**row, "diameter": next(iter(answers), None)}


def _authors(setting: Setting, path: Any) -> dict[str, Callable[[], dict[str, Any]]]:
    programs, limit = setting.programs, setting.seconds + 30
    return {"authors serial": lambda: programs.diameter(FDIAM, path, 1, limit),
            "authors parallel": lambda: programs.diameter(FDIAM, path, setting.threads, limit),
            "authors graph-diameter": lambda: programs.diameter(AKIBA, path, 1, limit)}


def random_counts(engine: Any, limit: float, options: dict[str, Any]) -> dict[str, Any]:
    """BFS of F-Diam in random order, by seed; None of a run that was stopped."""
    found = [facts_of(solve_timed(engine, "fdiam", limit, order="random", seed=seed, **options)[0]) for seed in SEEDS]
    return {"counts": [one["bfs"] if one["exact"] else None for one in found]}


def degrees(engine: Any) -> dict[str, Any]:
    """Largest degree."""
    return {"largest": len(engine.rows(engine.highest_degrees(1))[0])}


# -- tables ------------------------------------------------------------------------------------------------------
def _table_1(rows: list[Row]) -> Table:
    header = ["paper's graph", "ours", "", "n, paper", "n", "edges, paper", "edges", "average degree, paper",
              "average degree", "largest degree, paper", "largest degree", "D, paper", "D", "what differs"]
    cells = []
    for row in rows:
        one, case = TABLE_1[row["paper"]], row["case"]
        cells.append([row["paper"], row["graph"], case.how, count(one.vertices), count(row["n"]), count(one.arcs),
                      count(row["arcs"]), f"{one.average:.1f}", f"{row['arcs'] / max(1, row['n']):.1f}",
                      count(one.largest), count(row["degrees"]["largest"]), count(one.diameter), count(row["diameter"]),
                      case.why or "nothing"])
    return Table("Table 1", header, cells, [_left_out(rows)])


def _left_out(rows: list[Row]) -> str:
    missing = [name for name in TABLE_1 if name not in {row["paper"] for row in rows}]
    return f"Not measured here, since their files are not there: {', '.join(missing)}." if missing else "All are here."


def _time(run: dict[str, Any]) -> str:
    if "failure" in run:
        return str(run["failure"])
    return seconds(run["median"]) if run["exact"] else "T/O"


def _published(row: Row, table: dict[str, Any], name: str) -> Any:
    return getattr(table[row["paper"]], name)


def _table_2(setting: Setting, rows: list[Row]) -> list[Table]:
    """F-Diam, and the others."""
    own = (("fdiam serial", "fdiam_serial"), ("fdiam parallel", "fdiam_parallel"))
    others = (("ifub serial", "ifub_serial"), ("ifub parallel", "ifub_parallel"), ("graph-diameter", "graph_diameter"))
    authors = {"authors serial": "authors' program, 1 thread", "authors parallel": "authors' program,"
                                                                                   f" {setting.threads} threads"}
    first = _times(rows, own, authors)
    header = [*first[0], "ours / authors', 1 thread", "ours / authors', parallel"]
    cells = [[*line, *(ratio(solved(row[f"fdiam {one}"]), row[f"authors {one}"].get("solve"))
                       for one in ("serial", "parallel"))]
             for row, line in zip(rows, first[1], strict=True)]
    return [Table("Table 2: F-Diam", header, cells, [_means(rows)]),
            Table("Table 2: iFUB and Graph-Diameter", *_times(rows, others,
                                                              {"authors graph-diameter": "authors' Graph-Diameter"}), [
                "The iFUB that the paper measures is not here; of ours, the traversals can be compared."])]


def _times(rows: list[Row], columns: Iterable[tuple[str, str]], authors: dict[str, str]) -> Cells:
    """Header and cells: the paper's seconds and ours of each column, then the authors' programs."""
    header, cells = ["paper's graph, ours"], []
    for name, _ in columns:
        header += [f"{name}, paper", name]
    for row in rows:
        line = [label(row)]
        for name, field in columns:
            theirs = _published(row, TABLE_2, field)
            line += ["T/O" if theirs is None else seconds(theirs), _time(row[name])]
        cells.append([*line, *(seconds(row[one]["solve"]) if "solve" in row[one] else str(row[one]["failure"])
                               for one in authors)])
    return [*header, *authors.values()], cells


def _means(rows: list[Row]) -> str:
    pairs = [(min(mine), min(theirs)) for row in rows
             if (mine := [s for name in ("fdiam serial", "fdiam parallel") if (s := solved(row[name]))])
             and (theirs := [row[name]["solve"] for name in ("authors serial", "authors parallel")
                             if "solve" in row[name]])]
    if not pairs:
        return "The authors' programs are not here (--programs)."
    return ("Ours / authors' F-Diam, the faster one of serial and parallel each: geometric mean"
            f" {_geometric(a / b for a, b in pairs):.2f} over {len(pairs)} graphs. The threads of their program wait in"
            " busy loops, so that one thread is faster where other processes use the cores.")


def _geometric(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(statistics.fmean(logs)) if logs else math.nan


def _counted(run: dict[str, Any], published: bool = False) -> str:
    """BFS; behind a timeout those until then."""
    if "failure" in run:
        return str(run["failure"])
    number = run["published_count"] if published and run["published_count"] is not None else run["bfs"]
    return count(number) if run["exact"] else f"T/O ({number:,})"


def _table_3(rows: list[Row]) -> Table:
    header = ["paper's graph, ours", "F-Diam, paper", "F-Diam", "ratio", "authors' F-Diam here", "iFUB, paper", "iFUB",
              "ratio", "Graph-Diameter, paper", "Graph-Diameter", "ratio", "authors' Graph-Diameter here"]
    cells = []
    for row in rows:
        theirs, line = TABLE_3[row["paper"]], [label(row)]
        for name, number, authors in (("fdiam parallel", theirs.fdiam, "authors serial"),
                                      ("ifub parallel", theirs.ifub, ""),
                                      ("graph-diameter", theirs.graph_diameter, "authors graph-diameter")):
            line += ["T/O" if number is None else count(number), _counted(row[name], published=True),
                     _count_ratio(row, name, number)]
            line += [count(row[authors].get("bfs"))] if authors else []
        cells.append(line)
    return Table("Table 3", header, cells, _explained(rows))


def _count_ratio(row: Row, name: str, theirs: int | None) -> str:
    """Where the graph is the paper's and both have ended."""
    run = row[name]
    if not row["case"].exact or not run.get("exact"):
        return "-"
    number = run["published_count"] if run["published_count"] is not None else run["bfs"]
    return ratio(number, theirs)


def _explained(rows: list[Row]) -> list[str]:
    """Where our counts are those of the authors' program, and a sentence for each count of F-Diam on a graph of the
    paper that is more than 5 % off."""
    both = [(row["fdiam parallel"]["bfs"], row["authors serial"]["bfs"]) for row in rows
            if row["fdiam parallel"].get("exact") and "bfs" in row["authors serial"]]
    notes = [f"Our count is that of the authors' program, run here on the same file, on {sum(a == b for a, b in both)}"
             f" of {len(both)} graphs."] if both else []
    for row in rows:
        if is_off(row, "fdiam parallel"):
            here = row["authors serial"].get("bfs")
            notes.append(_off(row, "fdiam parallel") + (f" Their own program takes {here} here." if here else ""))
    notes += [sentence for row in rows if (sentence := _why_graph_diameter(row))]
    return [*notes, "Every other count of F-Diam on a graph of the paper is within 5 % of it."]


def _why_graph_diameter(row: Row) -> str:
    """A sentence for a count of Graph-Diameter on a graph of the paper that is more than 20 % off."""
    run, theirs = row["graph-diameter"], TABLE_3[row["paper"]].graph_diameter
    ours = run.get("published_count")
    if not row["case"].exact or not run.get("exact") or None in (ours, theirs) or abs(ours / theirs - 1) <= 0.2 + 1e-9:
        return ""
    here = row["authors graph-diameter"].get("bfs")
    program = f" Their own program takes {here} on the same file." if here is not None else ""
    return (f"{row['paper']}: Graph-Diameter takes {ours} in place of {theirs}.{program}")


def _theirs(row: Row, name: str) -> int | None:
    """The paper's BFS of F-Diam, or without a stage."""
    number = getattr(TABLE_5[row["paper"]], name) if name in WITHOUT else TABLE_3[row["paper"]].fdiam
    return None if number is None else int(number)


def is_off(row: Row, name: str) -> bool:
    """Whether a count on a graph of the paper is farther from the paper's than OFF."""
    theirs = _theirs(row, name)
    return (row["case"].exact and row[name].get("exact", False) and theirs is not None
            and abs(row[name]["bfs"] / theirs - 1) > OFF + 1e-9)


def _off(row: Row, name: str) -> str:
    """How far a count is from the paper's, and how far it depends on the order of evaluation."""
    ours, theirs = row[name]["bfs"], _theirs(row, name)
    assert theirs is not None
    counts = [one for one in row["random"].get(name, {}).get("counts", ()) if one is not None]
    option = {"no_winnow": " --no-winnow", "no_eliminate": " --no-eliminate", "no_u": " --start first"}.get(name, "")
    order = (f" `exact --method fdiam --direction paper{option} --order random --seed S` takes {min(counts):,} to"
             f" {max(counts):,} for S from {SEEDS[0]} to {SEEDS[-1]}." if counts else "")
    return (f"{row['paper']}, {WITHOUT.get(name, 'F-Diam')}: {ours:,} in place of {theirs:,}"
            f" ({ours / theirs - 1:+.0%}).{order}")


def _table_4(rows: list[Row]) -> Table:
    names = ("winnow", "eliminate", "chain", "degree_0")
    titles = ("Winnow", "Eliminate", "Chain", "degree 0")
    header = ["paper's graph, ours", *(text for title in titles for text in (f"{title}, paper", title))]
    cells = []
    for row in rows:
        removed, line = row["fdiam parallel"].get("removed") or {}, [label(row)]
        for name, theirs in zip(names, TABLE_4[row["paper"]], strict=True):
            line += [f"{theirs:.2f} %", share(removed.get(name))]
        cells.append(line)
    return Table("Table 4", header, cells, [
        "A vertex counts for the stage that dropped it first."])


def _table_5(rows: list[Row]) -> Table:
    header = ["paper's graph, ours", "F-Diam, paper", "F-Diam"]
    for title in WITHOUT.values():
        header += [f"{title}, paper", title]
    cells = []
    for row in rows:
        theirs, line = TABLE_5[row["paper"]], [label(row), count(TABLE_3[row["paper"]].fdiam),
                                               _counted(row["fdiam parallel"])]
        for name in WITHOUT:
            number = getattr(theirs, name)
            line += ["T/O" if number is None else count(number), _counted(row[name])]
        cells.append(line)
    return Table("Table 5", header, cells, _orders(rows))


def _orders(rows: list[Row]) -> list[str]:
    """Whether the columns of a graph of the paper have its order."""
    notes = []
    for row in rows:
        if not row["case"].exact:
            continue
        theirs = {"F-Diam": TABLE_3[row["paper"]].fdiam,
                  **{title: getattr(TABLE_5[row["paper"]], name) for name, title in WITHOUT.items()}}
        ours = {"F-Diam": row["fdiam parallel"], **{title: row[name] for name, title in WITHOUT.items()}}
        notes.append(f"{row['paper']}: paper"
                     f" {_ranking({k: v if v is not None else math.inf for k, v in theirs.items()})};"
                     f" ours {_ranking({k: _rank(v) for k, v in ours.items()})}.")
        notes += [_off(row, name) for name in WITHOUT if is_off(row, name)]
    return notes


def _rank(run: dict[str, Any]) -> float:
    """Its BFS; infinite if it did not end."""
    return float(run["bfs"]) if run.get("exact") else math.inf


def _ranking(numbers: dict[str, float]) -> str:
    """Names in order of their numbers, with = between equal ones."""
    order = sorted(numbers, key=lambda name: numbers[name])
    text = order[0]
    for before, name in itertools.pairwise(order):
        text += (" = " if numbers[before] == numbers[name] else " < ") + name
    return text


# -- figures -----------------------------------------------------------------------------------------------------
def _rate(row: Row, time: float | None) -> float | None:
    """Vertices a second."""
    return None if not time else row["n"] / time


def _figure_6(rows: list[Row]) -> Figure:
    names = [label(row) for row in rows]
    series = [Series(name, names, [_rate(row, solved(row[name])) for row in rows])
              for name in ("fdiam parallel", "fdiam serial", "ifub parallel", "ifub serial", "graph-diameter",
                           "pivots")]
    series.append(Series("authors' F-Diam, parallel", names, [_rate(row, row["authors parallel"].get("solve"))
                                                              for row in rows]))
    series.append(Series("F-Diam parallel, paper", names, [
        TABLE_1[row["paper"]].vertices / TABLE_2[row["paper"]].fdiam_parallel if row["case"].exact else None
        for row in rows], True))
    return Figure("Figure 6: throughput of diameter codes", "bars", "graph", "vertices / second", series, "y",
                  tabled=True)


def _table_7(setting: Setting, rows: list[Row]) -> Table:
    gains = [(a, b) for row in rows if (a := solved(row["fdiam serial"])) and (b := solved(row["fdiam parallel"]))]
    serial, parallel = (_geometric(_rate(row, solved(row[name])) or math.nan for row in rows if solved(row[name]))
                        for name in ("fdiam serial", "fdiam parallel"))
    gain = _geometric(a / b for a, b in gains)
    return Table("Figure 7: geometric mean of the throughput by threads",
                 ["threads", "vertices / second", "gain", "gain, paper"], [
        ["1", short(serial), "1", "1"], [str(setting.threads), short(parallel), f"{gain:.2f}", "-"],
        ["32 (paper)", "-", "-", f"{GAIN_OF_32}"]], [
        "The paper prints no points between 1 and 32 threads. Its gain is 1.45 on USA-road-d.NY and 20.7 on"
        " coPapersDBLP."])


def _figure_8(rows: list[Row]) -> Figure:
    stages = ("eccentricity", "winnow", "eliminate", "chain")
    kept = [row for row in rows if row["fdiam parallel"].get("exact")]
    names, series = [label(row) for row in kept], []
    for stage in (*stages, "other"):
        values = []
        for row in kept:
            run = row["fdiam parallel"]
            told, whole = run["stage_seconds"], max(run["solve_seconds"], 1e-9)
            part = told.get(stage, 0.0) if stage != "other" else max(0.0, whole - sum(told.get(s, 0.0) for s in stages))
            values.append(100 * part / whole)
        series.append(Series(stage, list(names), values))
    return Figure("Figure 8: per cent of the seconds by stage", "bars", "graph", "per cent of the run", series, notes=[
        "The paper prints no shares; it says that eccentricity computations take the majority on all inputs. Other:"
        " components, the choice of vertices, opening of columns."])


def _figure_9(rows: list[Row]) -> Figure:
    names = [label(row) for row in rows]
    series = [Series(title, names, [_rate(row, solved(row[name])) for row in rows])
              for name, title in (("fdiam parallel", "F-Diam"), *WITHOUT.items())]
    return Figure("Figure 9: throughput of F-Diam without a stage", "bars", "graph", "vertices / second", series, "y",
                  ["-: stopped by the limit."])


def _table_9(rows: list[Row]) -> Table:
    cells = []
    for name, title in WITHOUT.items():
        both = [(a, b) for row in rows if (a := solved(row["fdiam parallel"])) and (b := solved(row[name]))]
        stopped = sum(solved(row["fdiam parallel"]) is not None and solved(row[name]) is None for row in rows)
        cells.append([title, f"{100 * SPEED_WITHOUT[name]:.0f} %",
                      f"{100 * _geometric(a / b for a, b in both):.0f} %" if both else "-", str(len(both)),
                      str(stopped)])
    return Table("Speed without a stage: geometric means of the throughput over that of F-Diam",
                 ["version", "paper", "ours", "graphs", "stopped by the limit"], cells,
                 ["Both means leave out runs that were stopped, so a shorter limit makes them higher."])


def _pivots(rows: list[Row]) -> Table:
    header = ["paper's graph, ours", "pivots: traversals", "pivots s", "F-Diam here s", "F-Diam, rule `work` s",
              "F-Diam / pivots"]
    cells = [[label(row), count(row["pivots"].get("traversals")), _time(row["pivots"]), _time(row["fdiam parallel"]),
              _time(row["fdiam work"]), ratio(solved(row["fdiam parallel"]), solved(row["pivots"]))] for row in rows]
    return Table("Pivots", header, cells, [
        "The columns of F-Diam differ in `--direction`: the paper's rule of 10 % of the vertices, and the default."])
