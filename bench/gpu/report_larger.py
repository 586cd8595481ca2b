"""The tables of graphs larger than the device, of exact methods, and of predictions."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .dal_paper import TABLE_III
from .figure_7 import paper_points
from .report_cells import Row, Table, distinct, figure, note

MOST_LEVELS, SHORT = 40, 60
# Ways whose levels are shown; the JSON has all.
SHOWN = ("model", "copy")
MIB = 1 << 20
# Ways that arcs come by, in predictions.
BROUGHT = ("copy", "gather", "in-place", "up")


def _scaled(row: Row, name: str, factor: float) -> str:
    """A figure times a factor; a dash where there is none."""
    value = row.get(name)
    return figure(None if value is None else value * factor)


def paged(rows: Sequence[Row]) -> Iterator[Table]:
    """All ways, then the levels of some."""
    header = ("class", "from", "way", "limit MiB", "peak MiB", "ms", "CPU ms", "x (goal 3)", "pinned GB/s",
              "dense levels", "of pinned (goal 0.8)", "predicted / measured", "copied MiB", "gathered", "in place",
              "up", "note")
    yield Table("", header, [
        (row["class"], row["from"], row["way"], _scaled(row, "limit_bytes", 1 / MIB),
         _scaled(row, "peak_bytes", 1 / MIB), _scaled(row, "seconds", 1e3),
         _scaled(row, "cpu_seconds", 1e3), *(figure(row.get(what)) for what in (
             "speedup", "pinned_gb_s", "dense_levels", "dense_share", "predicted_share")),
         *(_scaled(row, f"bytes_{way}", 1 / MIB) for way in (
             "copied", "gathered", "in_place", "up")), note(row)[:SHORT]) for row in rows])
    for row in rows:
        if "levels" in row and row["way"] in SHOWN:
            yield Table(f"{row['class']} from {row['from']}, {row['way']}: levels (of {row['n_levels']})",
                        ("level", "rows", "ms", "predicted ms", "MiB copied", "gathered", "in place", "up", "GB/s",
                         "of pinned", "dense", "pages copied", "gathered", "in place", "kept", "skipped"),
                        [_level(level) for level in row["levels"][:MOST_LEVELS]])


def _level(level: Row) -> tuple[str, ...]:
    return (figure(level["level"]), figure(level["rows"]), _scaled(level, "seconds", 1e3),
            _scaled(level, "predicted_seconds", 1e3), *(_scaled(level, f"bytes_{way}", 1 / MIB) for way in (
                "copied", "gathered", "in_place", "up")), figure(level["rate_gb_s"]), figure(level["share"]),
            figure(level["dense"]), *(figure(level[f"pages_{what}"]) for what in (
                "copied", "gathered", "in_place", "kept", "skipped")))


def exact(rows: Sequence[Row]) -> Iterator[Table]:
    """Seconds on both, by class and method."""
    yield Table("", ("class", "n", "m", "method", "diameter", "traversals", "partial", "GPU ms", "CPU ms", "threads",
                     "x (goal 10 above 10 M arcs)", "upload ms", "most of the GPU's ms", "note"), [
        (row["class"], figure(row.get("n")), figure(row.get("m")), row["method"], figure(row.get("diameter")),
         figure(row.get("traversals")), figure(row.get("partial")), _scaled(row, "gpu_seconds", 1e3),
         _scaled(row, "cpu_seconds", 1e3), figure(row.get("cpu_threads")), figure(row.get("speedup")),
         _scaled(row, "upload_seconds", 1e3), _most_of(row.get("gpu_stages", {})),
         str(row.get("differ") or note(row))[:SHORT]) for row in rows])


def _most_of(stages: Mapping[str, float], count: int = 3) -> str:
    """The longest stages of a method, in ms."""
    longest = sorted(stages, key=lambda name: -stages[name])[:count]
    return ", ".join(f"{name} {figure(1e3 * stages[name])}" for name in longest)


def dal_exact(rows: Sequence[Row]) -> Iterator[Table]:
    """Table II, Table III beside the paper's, and the points of Figure 7."""
    cells = [row for row in rows if "variant" in row]
    yield Table("Table II", ("class", "n", "m", "variant", "D", "D90", "I", "ms", "serial ms", "x", "note"), [
        (row["class"], figure(row.get("n")), figure(row.get("m")), row["variant"], figure(row.get("diameter")),
         figure(row.get("effective")), figure(row.get("iterations")), _scaled(row, "seconds", 1e3),
         _scaled(row, "serial_seconds", 1e3), figure(row.get("speedup")), note(row)[:SHORT]) for row in cells])
    timed = [row for row in cells if "components" in row]
    yield Table("Table III: means over the graphs", (
        "variant", "component", "% of time, device", "serial", "x", "paper: % of time (Pointers)", "paper: x"), [
        line for variant in distinct(timed, "variant")
        for line in _components([row for row in timed if row["variant"] == variant], variant)])
    ours = [(f"{row['class']}, {row['variant']}", row["ratio"], row["speedup"], "here") for row in timed]
    paper = [(*point, "papers/001") for point in paper_points()]
    yield Table("Figure 7: speedup by effective diameter / diameter", ("graph", "D90 / D", "x", "from"), [
        (name, figure(ratio), figure(speedup), whose)
        for name, ratio, speedup, whose in sorted((*ours, *paper), key=lambda point: point[1]) if ours])


def _components(rows: Sequence[Row], variant: str) -> Iterator[tuple[str, ...]]:
    """Means of shares and speedups over the graphs, as the paper has them."""
    for k, (name, (share, speedup)) in enumerate(TABLE_III.items()):
        parts = [row["components"][k] for row in rows]
        faster = [part["speedup"] for part in parts if part["speedup"] is not None]
        yield (variant, name, figure(statistics.mean(part["gpu_share"] for part in parts)),
               figure(statistics.mean(part["cpu_share"] for part in parts)),
               figure(statistics.mean(faster) if faster else None), figure(share), figure(speedup))


def predicted(kept: Mapping[str, Any]) -> Iterator[Table]:
    """Paged BFS by way, its levels, and exact methods."""
    first = kept["paged"][0]
    yield Table(
        f"Paged BFS, n = {figure(first['n'])}, {figure(first['arcs'])} arcs, {figure(first['limit_bytes'] / MIB)} MiB "
        f"of device memory ({figure(first['held_bytes'] / MIB)} MiB state and ring)",
        ("way", "ms", "copied MiB", "gathered", "in place", "up", "this CPU ms", "threads", "x"), [
            (row["way"], figure(row["seconds"] * 1e3), *(
                figure(sum(level[way] for level in row["levels"]) / MIB) for way in BROUGHT),
             figure(row["cpu_seconds"] * 1e3), figure(row["cpu_threads"]), figure(row["speedup"]))
            for row in kept["paged"]])
    yield Table("Levels, the way that the model chooses", (
        "level", "rows", "ms", "copied MiB", "gathered", "in place", "up", "GB/s"), [
        (figure(level["level"]), figure(level["rows"]), figure(level["seconds"] * 1e3), *(
            figure(level[way] / MIB) for way in BROUGHT),
         figure(sum(level[way] for way in BROUGHT) / level["seconds"] / 1e9))
        for level in first["levels"]])
    size = f"n = {figure(kept['exact'][0]['n'])}, {figure(kept['exact'][0]['arcs'])} arcs"
    yield Table(f"Exact methods, resident, {size}", (
        "method", "traversals", "levels", "launches and fills", "round trips", "MiB to and from host",
        "arcs looked at", "at least ms", "this CPU ms", "threads", "x at most"), [
        (row["method"], *(figure(row[name]) for name in ("traversals", "n_levels", "launches", "round_trips")),
         figure(row["host_bytes"] / MIB), figure(row["edges_scanned"]),
         figure(row["floor_seconds"] * 1e3), figure(row["cpu_seconds"] * 1e3), figure(row["cpu_threads"]),
         figure(row["most_speedup"])) for row in kept["exact"]])


def weighted(rows: Sequence[Row]) -> Iterator[Table]:
    """Searches by class; methods for all pairs; products."""
    for name in distinct([row for row in rows if row["class"] not in ("matrix", "product")], "class"):
        yield Table(str(name), ("search", "ms", "GTEPS", "work", "rounds", "launches", "note"), [
            (row["method"], _scaled(row, "seconds", 1e3), *(figure(row.get(what)) for what in (
                "gteps", "work", "rounds", "launches")), note(row)[:SHORT]) for row in rows if row["class"] == name])
    yield Table("All pairs", ("method", "n", "ms", "giga-operations a second", "rounds", "note"), [
        (row["method"], figure(row.get("n")), _scaled(row, "seconds", 1e3), figure(row.get("giga_ops")),
         figure(row.get("rounds")), note(row)[:SHORT]) for row in rows if row["class"] == "matrix"])
    yield Table("Min-plus products", ("cells", "tile", "lazy", "n", "ms", "giga-operations a second", "note"), [
        (row["cells"], figure(row["tile"]), str(row["lazy"]), figure(row.get("n")), _scaled(row, "seconds", 1e3),
         figure(row.get("giga_ops")), note(row)[:SHORT]) for row in rows if row["class"] == "product"])
