"""Histograms of eccentricities, each by itself or in ranges; a long path, whose certificate has ranges too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdiam
from emdiam import histogram as module
from emdiam.histogram import MOST_VALUES, histogram


def test_each_by_itself() -> None:
    assert histogram(np.array([0, 0, 3, 0, 1])) == ({2: 3, 4: 1}, None)
    counts = np.ones(MOST_VALUES, np.int64)
    assert histogram(counts) == (dict.fromkeys(range(MOST_VALUES), 1), None)


@pytest.mark.parametrize(("levels", "width"), [(7, 10), (79, 10), (81, 100), (801, 1000)])
def test_ranges(levels: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_VALUES", 8 if levels > 7 else 5)
    counts = np.arange(levels)
    counts[levels // 2] = 1
    want: dict[int, int] = {}
    for value, count in enumerate(counts.tolist()):
        want[value // width * width] = want.get(value // width * width, 0) + count
    assert histogram(counts) == (want, width)


def test_a_path_and_its_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_VALUES", 60)
    emdiam.generate("path", tmp_path / "g.zarr", vertices=901)
    file = tmp_path / "c.json"
    result: Any = emdiam.eccentricities(tmp_path / "g.zarr", certificate=file)
    each = [max(v, 900 - v) for v in range(901)]
    want = {first: sum(first <= e < first + 100 for e in each) for first in range(400, 1000, 100)}
    assert (result.histogram, result.histogram_width, result.unresolved) == (want, 100, 0)
    report = emdiam.verify(file, tmp_path / "g.zarr")
    assert report.verified and report.histogram == {str(first): count for first, count in want.items()}
