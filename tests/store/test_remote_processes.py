"""Commands and servers as processes of their own: one that answers range requests, and one that does not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from emdiam.errors import StoreError
from emdiam.generators import generate
from tests.conftest import ROOT, Run
from tests.helpers.damage import read_store
from tests.helpers.waiting import PATIENCE

pytest.importorskip("obstore")


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """The address of the server that `python -m arguments` starts and names in its first line."""
    process = subprocess.Popen([sys.executable, "-u", "-m", *arguments], cwd=ROOT, text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        found = re.search(r"http://[\d.]+:\d+", process.stdout.readline())
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the store of a grid of 20 x 30."""
    (tmp_path / "served").mkdir()
    generate("grid", tmp_path / "served" / "g.zarr", parameters={"sides": "20x30"})
    return tmp_path / "served"


def test_a_command_and_a_server(folder: Path, emdiam: Run):
    with server("tests.helpers.http_faulty", str(folder)) as url:
        done = emdiam("exact", f"{url}/g.zarr", "--json", "--quiet")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["diameter"] == 48 and result["peak_rss_bytes"] <= result["planned_rss_bytes"] + (64 << 20)
        (folder / "g.zarr/indices/c/0").unlink()
        done = emdiam("exact", f"{url}/g.zarr", "--quiet")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.strip().splitlines()[-1].startswith(
        f"emdiam: {url}/g.zarr/indices/c/0: the object is missing (404 Not Found); check")


def test_a_server_without_ranges(folder: Path):
    with server("http.server", "--bind", "127.0.0.1", "--directory", str(folder), "0") as url:
        with pytest.raises(StoreError, match="c/0: the server does not answer range requests; serve the store with"):
            read_store(f"{url}/g.zarr")
