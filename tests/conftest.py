"""Fixtures that several test files share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The marker thin(k): with the quick tests run the first, the k + 1st, ... case of a function; the others are
    slow ones."""
    seen: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("thin")
        if marker is None:
            continue
        name = item.nodeid.partition("[")[0]
        if seen[name] % marker.args[0]:
            item.add_marker(pytest.mark.slow)
        seen[name] += 1


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
