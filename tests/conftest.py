"""Fixtures that several test files share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real graphs beside the repository; skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder of real graphs (../shared/data) is absent")
    return folder


@pytest.fixture
def emdiam(tmp_path: Path) -> Run:
    """Run the command line in a process of its own, in the folder tmp_path; returns the completed
    process with stdout and stderr as text."""

    def run(
        *arguments: str | Path, timeout: float = 120, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "emdiam", *map(str, arguments)], cwd=tmp_path, text=True,
            capture_output=True, timeout=timeout, env={**os.environ, **environment},
        )

    return run


@pytest.fixture
def two_components(tmp_path: Path) -> Path:
    """An edge list with ids 10..: a path of 5 vertices (diameter 4) and a triangle (diameter 1)."""
    file = tmp_path / "edges.txt"
    file.write_text("10 11\n11 12\n12 13\n13 14\n20 21\n21 22\n22 20\n")
    return file
