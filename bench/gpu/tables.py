"""The direction table of `auto` from measured frontiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from emdiam.gpu.direction_table import PERSISTENT, table_from_measurements, usual_table

from .setting import Row, Setting


def write(setting: Setting, measured: Sequence[Row]) -> dict[str, Any]:
    """The table as text, and in direction_table.json of the folder for files, if there is one.

    measured : rows of the part regimes with rows, arcs, mapping and us; others are passed over. Expansions say
    nothing of the persistent kernel, so its rules are those of the package's table.
    """
    seconds = {(row["mapping"], row["rows"], row["arcs"]): row["us"] / 1e6 for row in measured if "us" in row}
    found = table_from_measurements(seconds, f"expansion of random frontiers on {setting.device.name}")
    kept = tuple(rule for rule in usual_table().rules if rule.way == PERSISTENT)
    text = replace(found, rules=(*kept, *found.rules)).text()
    if setting.out is not None:
        (setting.out / "direction_table.json").write_text(text, encoding="utf-8")
    return {"measurements": len(seconds), "rules": len(kept) + len(found.rules), "text": text}
