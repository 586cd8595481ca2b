"""Cells of a table as dicts, kept as JSON after each of them, so that a run goes on from where another one ended."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self


@dataclass
class Kept:
    """path : the JSON file. kept : what is in it."""

    path: Path
    kept: dict[str, Any]

    @classmethod
    def begun(cls, path: Path, **about: Any) -> Self:
        """What there is, or no cells, with what is to be known about all of them."""
        return cls(path, json.loads(path.read_text(encoding="utf-8")) if path.exists() else {**about, "cells": []})

    @property
    def cells(self) -> list[dict[str, Any]]:
        """All cells so far."""
        cells: list[dict[str, Any]] = self.kept["cells"]
        return cells

    def add(self, cell: dict[str, Any]) -> None:
        """Keep one more cell."""
        self.cells.append(cell)
        partial = self.path.with_name(self.path.name + ".partial")
        partial.write_text(json.dumps(self.kept, indent=1) + "\n", encoding="utf-8")
        partial.replace(self.path)

    def show(self, text: str) -> None:
        """Write a text of all cells beside the file, and print it."""
        self.path.with_suffix(".md").write_text(text, encoding="utf-8")
        print(text)
