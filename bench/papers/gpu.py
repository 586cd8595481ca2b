"""Figures of a GPU, as python -m bench.gpu has kept them."""

from __future__ import annotations

import json
from pathlib import Path

from ..gpu.report import SECTIONS
from .page import Figure, Section, Table

# What the parts of a page together take at full size, the start of the machine left out.
_MINUTES = 4
ABSENT = ("Not run on a GPU yet: `python -m bench.gpu --only {parts}` measures it in about {minutes} minutes, and the"
          " page then shows it. The tests run the same systems on a simulated device, which has no seconds.")


def recorded(folder: Path, title: str, *parts: str) -> Section:
    """A section with the tables of these parts, from gpu/gpu.json in the folder; a sentence where it has none."""
    file = folder / "gpu" / "gpu.json"
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"parts": {}}
    missing = [part for part in parts if not kept["parts"].get(part, {}).get("rows")]
    if len(missing) == len(parts):
        return Section(title, [], [ABSENT.format(parts=",".join(parts), minutes=_MINUTES)])
    tables: list[Table | Figure] = [
        Table(one.title, list(one.header), [[str(cell) for cell in row] for row in one.rows])
        for part in parts if part not in missing for one in SECTIONS[part][1](kept["parts"][part]["rows"])]
    left = [f"Without: {', '.join(missing)}; `python -m bench.gpu --only {','.join(missing)}` measures them in about"
            f" {_MINUTES} minutes."]
    return Section(title, tables, [f"By `python -m bench.gpu` on {kept.get('device', 'a GPU')},"
                                   f" {kept.get('started', '')}.", *left[:len(missing)]])
