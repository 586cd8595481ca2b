"""Figures that are kept in bench/results: each is named by a document or a program, and each that is named is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from bench.papers.recorded import recorded_runs
from tests.conftest import ROOT

RESULTS = ROOT / "bench" / "results"
# Names of files of figures: those of a day, and those of the programs for GPUs.
DATED = re.compile(r"20\d\d-\d\d-\d\d-[\w.-]+?\.(?:json|md)\b")
OF_GPU = re.compile(r"results/gpu/([\w.-]+?\.(?:json|md))\b")


@cache
def texts() -> dict[Path, str]:
    """Documents and programs that may name figures, without what the programs for GPUs wrote."""
    files = [*(path for folder in (".", "tests", "bench") for path in (ROOT / folder).glob("*.md")),
             *(ROOT / "docs").rglob("*.md"), *(RESULTS / "reproduction").glob("*.md"),
             *(path for folder in ("bench", "emdiam", "scripts") for path in (ROOT / folder).rglob("*.py")),
             *(RESULTS / "gpu").glob("measured.md")]
    return {path: path.read_text(encoding="utf-8") for path in files}


def kept() -> list[Path]:
    """All files of figures."""
    return sorted(path for path in RESULTS.rglob("*") if path.suffix in (".json", ".md"))


def test_every_file_is_named() -> None:
    assert [path.name for path in kept() if not any(
        path.name in text for place, text in texts().items() if place != path)] == []


def test_what_is_named_is_there() -> None:
    names = {path.name for path in kept()}
    assert [f"{place.relative_to(ROOT)}: {name}" for place, text in texts().items()
            for name in (*DATED.findall(text), *OF_GPU.findall(text)) if name not in names] == []


def test_long_runs_are_shown_as_they_were_kept() -> None:
    """The page of paper 003 has the files of the long runs, and no others."""
    page = (RESULTS / "reproduction" / "003.md").read_text(encoding="utf-8")
    assert set(DATED.findall(page)) == {run.file for run in recorded_runs(RESULTS)}
