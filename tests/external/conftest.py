"""Scratch files of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from emdiam.sorting.scratch import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    """A scratch space that is empty again in the end, but for files that are still in use."""
    made = Scratch(tmp_path, tmp_path / "g.zarr")
    yield made
    made.close()
    assert list(tmp_path.glob("emdiam-scratch*")) == []
