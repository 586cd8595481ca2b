"""The notebook of examples/: it runs as it is, in at most 20 lines, and shows tables and pictures."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.helpers.waiting import PATIENCE

NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
MOST_LINES = 20


def sources() -> list[str]:
    """What its cells of code are."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_it_is_short_and_has_no_outputs() -> None:
    """Those would be of another release."""
    lines = [line for source in sources() for line in source.splitlines() if line.strip()]
    assert 10 < len(lines) <= MOST_LINES
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert all(cell.get("outputs", []) == [] and cell.get("execution_count") is None for cell in cells)


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, Any]]]:
    """The outputs of its cells of code, run in this folder by this Python."""
    for name in ("ipykernel", "pandas", "matplotlib"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    import nbformat

    kernel = folder / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "language": "python",
        "display_name": "Python 3"}))
    for name, value in {"JUPYTER_PATH": str(folder / "jupyter"), "PYTHONPATH": f"{ROOT}:{':'.join(sys.path)}"}.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3",
                            resources={"metadata": {"path": str(folder)}}).execute()
    return [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_it_runs_and_shows_tables_and_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = run(tmp_path, monkeypatch)
    texts = ["".join(one.get("text", "") for one in cell) for cell in outputs]
    shown = [[one["data"] for one in cell if "data" in one] for cell in outputs]
    assert {one["output_type"] for cell in outputs for one in cell} <= {"stream", "execute_result", "display_data"}
    assert [one["text"] for cell in outputs for one in cell if one.get("name") == "stderr"] == []
    diameter, found, joined, distances, stored = shown
    assert "text/html" in diameter[0] and "diameter=5" in diameter[0]["text/plain"]
    assert texts[1].startswith("10 ") and "Valjean" in texts[1] and "<svg" in found[0]["text/html"]
    assert "Valjean" in joined[0]["text/html"] and "eccentricity" in joined[0]["text/html"]
    assert "2: " in texts[3] and "Valjean" in texts[3] and texts[4] == "3 5 True\n"
    assert "image/png" in distances[-1] and "image/png" in stored[-1]
