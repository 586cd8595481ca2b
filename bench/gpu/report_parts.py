"""The tables of each part, from its rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .report_cells import Row, Table, distinct, figure, note

# A figure by level of more levels is cut in the report; the JSON has more.
MOST_LEVELS = 40
SHORT = 60


def smoke(rows: Sequence[Row]) -> Iterator[Table]:
    """What was right, and what was wrong with the rest."""
    yield Table("", ("", "s", "note"), [
        (str(row["what"]), figure(row.get("seconds")), note(row) or "right") for row in rows])


def compiling(rows: Sequence[Row]) -> Iterator[Table]:
    """How many builds, and in what time."""
    yield Table("", ("", "builds", "threads", "s", "note"), [
        (str(row["what"]), figure(row.get("builds")), figure(row.get("threads")), figure(row.get("seconds")),
         note(row)[:SHORT]) for row in rows])


def facts(rows: Sequence[Row]) -> Iterator[Table]:
    """All facts in one table, child launches in another."""
    plain = [row for row in rows if not isinstance(row.get("value"), list)]
    yield Table("", ("", "value", "unit", "note"), [
        (str(row["what"]), _value(row), str(row.get("unit", "")), note(row) or str(row.get("how", "")))
        for row in plain])
    for row in rows:
        if isinstance(row.get("value"), list):
            header = tuple(row["value"][0])
            yield Table(str(row["what"]), header, [tuple(figure(one[name]) for name in header) for one in row["value"]])


def _value(row: Row) -> str:
    value = row.get("value")
    return json.dumps(value) if isinstance(value, dict) else figure(value)


def verify(rows: Sequence[Row]) -> Iterator[Table]:
    """Results by subject and mapping, over all classes and ids."""
    lines = []
    for subject, mapping in dict.fromkeys((row["subject"], row["mapping"]) for row in rows):
        some = [row for row in rows if (row["subject"], row["mapping"]) == (subject, mapping)]
        lines.append((subject, mapping, figure(sum(row.get("checked", 0) for row in some)),
                      figure(sum(row.get("wrong", 0) for row in some)), figure(sum("failure" in row for row in some)),
                      figure(sum("skipped" in row for row in some))))
    yield Table("", ("subject", "mapping", "results", "wrong", "graphs failed", "graphs skipped"), lines)


def tools(rows: Sequence[Row]) -> Iterator[Table]:
    """What each tool found; the end of what it printed where that is anything."""
    yield Table("", ("tool", "errors", "note"), [
        (str(row["tool"]), figure(row.get("errors")), note(row) or json.dumps(row.get("counts", ""))) for row in rows])
    for row in rows:
        if "tail" in row and row.get("errors") != 0:
            yield Table(f"{row['tool']}, end of its output", (), [], row["tail"])


def variants(rows: Sequence[Row]) -> Iterator[Table]:
    """A table a class; `x` is the time over that of the fastest."""
    for name in distinct(rows, "class"):
        some = [row for row in rows if row["class"] == name]
        timed = [row for row in some if "seconds" in row]
        least = min((row["seconds"] for row in timed), default=0.0)
        size = f": n = {figure(timed[0]['n'])}, m = {figure(timed[0]['m'])}" if timed else ""
        header = ("variant", "mapping", "ms", "GTEPS", "x", "levels", "us a level", "launches", "note")
        yield Table(f"{name}{size}", header, [
            (row["variant"], row["mapping"], *_timing(row, least), note(row)[:SHORT]) for row in some])


def _timing(row: Row, least: float) -> tuple[str, ...]:
    if "seconds" not in row:
        return ("-",) * 6
    return (figure(row["seconds"] * 1e3), figure(row["gteps"]), figure(row["seconds"] / least), figure(row["levels"]),
            figure(row["us_per_level"]), figure(row["launches"]))


def floor(rows: Sequence[Row]) -> Iterator[Table]:
    """All classes, then the steps of each."""
    yield Table("", ("class", "n", "m", "ms", "GTEPS", "steps us", "floor us", "share", "copy GB/s",
                     "auto GTEPS", "auto share", "note"), [
        (row["class"], figure(row.get("n")), figure(row.get("m")),
         figure(row["seconds"] * 1e3 if "seconds" in row else None), *(figure(row.get(key)) for key in (
             "gteps", "us", "floor_us", "share", "copy_gb_s", "auto_gteps", "auto_share")),
         note(row)[:SHORT]) for row in rows])
    header = ("level", "levels", "direction", "mapping", "rows", "arcs", "looked", "found", "bytes", "us", "floor_us",
              "share")
    for row in rows:
        if "steps" in row:
            yield Table(str(row["class"]), header, [
                tuple(figure(step[key]) for key in header) for step in row["steps"][:MOST_LEVELS]])


def dal(rows: Sequence[Row]) -> Iterator[Table]:
    """Figure 9 as a matrix of speedups, Figure 10 by level."""
    nine = [row for row in rows if row["figure"] == 9]
    actives = distinct(nine, "active")
    speedups = {(row["length"], row["active"]): row.get("speedup") for row in nine}
    yield Table("Figure 9: seconds by threads / seconds by warps, list length by active vertices",
                ("length", *map(figure, actives)),
                [(figure(length), *(figure(speedups.get((length, active))) for active in actives))
                 for length in distinct(nine, "length")])
    header = ("level", "left", "active", "thread", "warp", "warp_wins")
    for row in rows:
        if row["figure"] == 10 and "levels" in row:
            yield Table(f"Figure 10, {row['class']}: per cent by level (of {row['n_levels']})", header, [
                tuple(figure(level[key]) for key in header) for level in row["levels"][:MOST_LEVELS]])


def regimes(rows: Sequence[Row]) -> Iterator[Table]:
    """Milliseconds by mapping and regime; microseconds by frontier and mapping; the direction table."""
    graphs = [row for row in rows if "class" in row]
    names, mappings = distinct(graphs, "class"), distinct(rows, "mapping")
    spent = {(row["mapping"], row["class"]): row.get("seconds") for row in graphs}
    yield Table("Expansions of one BFS, ms", ("mapping", *names), [
        (mapping, *(_marked(spent, mapping, name, mappings) for name in names)) for mapping in mappings if graphs])
    frontiers = [row for row in rows if "rows" in row and "arcs" in row]
    times = {(row["mapping"], (row["rows"], row["arcs"])): row["us"] / 1e3 for row in frontiers if "us" in row}
    yield Table("One expansion, us", ("rows", "arcs a row", *mappings), [
        (figure(size[0]), figure(size[1]), *(_marked(times, mapping, size, mappings) for mapping in mappings))
        for size in dict.fromkeys((row["rows"], row["arcs"]) for row in frontiers)])
    for row in rows:
        if "text" in row:
            yield Table("direction_table.json", (), [], row["text"])


def _marked(spent: Mapping[Any, float | None], mapping: str, where: object, mappings: Sequence[str]) -> str:
    """A thousand times a time, bold if it is the least of all mappings'."""
    mine = spent.get((mapping, where))
    if mine is None:
        return "-"
    least = min(value for other in mappings if (value := spent.get((other, where))) is not None)
    return f"**{figure(mine * 1e3)}**" if mine == least else figure(mine * 1e3)
