"""The direction table of `auto` from measured frontiers: how it is made, written, and read again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

from emdiam.errors import InputError
from emdiam.gpu.direction_table import PERSISTENT, TABLE, WAYS, DirectionTable, Rule, usual_table

from .setting import Row, Setting

_LIMITS = ("most_rows", "most_mean", "most_degree")
# (mapping or "persistent", rows, arcs a row) -> seconds of one level
Seconds = Mapping[tuple[str, int, int], float]


def write(setting: Setting, measured: Sequence[Row]) -> dict[str, Any]:
    """The table as text, and in direction_table.json of the folder for files, if there is one.

    measured : rows of the part regimes with rows, arcs, mapping and us; others are passed over. Expansions say
    nothing of the persistent kernel, so its rules are those of the package's table.
    """
    seconds = {(row["mapping"], row["rows"], row["arcs"]): row["us"] / 1e6 for row in measured if "us" in row}
    found = table_from_measurements(seconds, f"expansion of random frontiers on {setting.device.name}")
    kept = tuple(rule for rule in usual_table().rules if rule.way == PERSISTENT)
    text = text_of(replace(found, rules=(*kept, *found.rules)))
    if setting.out is not None:
        (setting.out / "direction_table.json").write_text(text, encoding="utf-8")
    return {"measurements": len(seconds), "rules": len(kept) + len(found.rules), "text": text}


def text_of(table: DirectionTable) -> str:
    """The table as the text of direction_table.json."""
    rules = [{"way": rule.way, **{name: value for name in _LIMITS if (value := getattr(rule, name)) is not None},
              "why": rule.why} for rule in table.rules]
    content = {"measured": table.measured, "alpha": table.alpha, "beta": table.beta, "rules": rules}
    return json.dumps(content, indent=2) + "\n"


def _number(record: Mapping[str, Any], name: str, path: Path, least: float = 0) -> float:
    """A finite number of a record, at least `least`; InputError if it is none."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < least:
        raise InputError(f"{name} of a direction table is a number from {least} on", path=path, text=repr(value),
                         remedy="fix the table, or make it again from measurements")
    return value


def _rule(record: Any, path: Path) -> Rule:
    """One rule as it stands in a table."""
    if not isinstance(record, dict) or record.get("way") not in WAYS:
        raise InputError("a rule of a direction table has no way that there is", path=path, text=str(record),
                         remedy=f"choose from {', '.join(WAYS)}")
    if unknown := record.keys() - {"way", "why", *_LIMITS}:
        raise InputError("a rule of a direction table has a limit that there is not", path=path,
                         text=", ".join(sorted(unknown)), remedy=f"the limits are {', '.join(_LIMITS)}")
    limits = {name: _number(record, name, path) for name in _LIMITS if record.get(name) is not None}
    return Rule(record["way"], **limits, why=str(record.get("why", "")))


def read_table(path: Path = TABLE) -> DirectionTable:
    """The table in a file, JSON as direction_table.json is.

    Raises InputError for a file that is missing or no such table, with a way, a limit or a number that cannot
    be, or whose last rule has limits or is not a mapping, so that some level would find no way.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"a direction table cannot be read ({error})", path=path,
                         remedy="give a file as bench/gpu prints it") from error
    rules = table.get("rules") if isinstance(table, dict) else None
    if not isinstance(rules, list) or not rules:
        raise InputError("a direction table has a list of rules", path=path, remedy="give at least one rule")
    known = tuple(_rule(record, path) for record in rules)
    last = known[-1]
    if last.way == PERSISTENT or any(getattr(last, name) is not None for name in _LIMITS):
        raise InputError("the last rule of a direction table is a mapping without limits", path=path, text=last.way,
                         remedy="end the table with a rule for all other levels")
    alpha, beta = _number(table, "alpha", path), _number(table, "beta", path)
    return DirectionTable(alpha, beta, known, str(table.get("measured", "")))


def _bounds(values: Sequence[int]) -> list[float | None]:
    """Upper bound of what each of some ascending values stands for: the geometric mean with the next."""
    return [sqrt(low * high) for low, high in pairwise(values)] + [None]


def _steps(seconds: Seconds, rows: int) -> tuple[tuple[float | None, str], ...]:
    """(upper bound of arcs a row, fastest way) for one number of rows, ascending; neighbours with one way made one."""
    means = sorted({mean for _, some, mean in seconds if some == rows})
    ways = [min((time, way) for (way, some, arcs), time in seconds.items() if (some, arcs) == (rows, mean))[1]
            for mean in means]
    bounded = zip(_bounds(means), ways, strict=True)
    return tuple([list(group)[-1] for _, group in groupby(bounded, key=lambda step: step[1])])


def table_from_measurements(seconds: Seconds, measured: str, alpha: float = 14, beta: float = 24) -> DirectionTable:
    """The table of what was fastest.

    seconds : (mapping or "persistent", rows of the frontier, arcs of each row) -> seconds of one level, on a grid of
    rows and arcs; each cell stands for all levels up to the geometric mean with the next cell, the last for all above.
    measured : on what and how, for the table. alpha, beta : of the rule of turning. Raises InputError if there are no
    measurements, for a way that there is not, and where the largest cell was not measured with any mapping.
    """
    if not seconds or any(way not in WAYS for way, _, _ in seconds):
        raise InputError("a direction table needs measurements of known ways", remedy=f"measure {', '.join(WAYS)}")
    sizes = sorted({rows for _, rows, _ in seconds})
    table = [(bound, _steps(seconds, rows)) for rows, bound in zip(sizes, _bounds(sizes), strict=True)]
    # Numbers of rows that lead to the same ways are one.
    merged = [list(group)[-1] for _, group in groupby(table, key=lambda row: row[1])]
    why = f"fastest of the measured ways: {measured}"
    rules = tuple(Rule(way, bound, mean, None, why) for bound, steps in merged for mean, way in steps)
    if rules[-1].way == PERSISTENT:
        raise InputError("the largest measured level was fastest in the persistent kernel",
                         remedy="measure larger levels, for which a mapping is faster")
    return DirectionTable(alpha, beta, rules, measured)
