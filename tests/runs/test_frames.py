"""From `emdiam exact` to the first kernel there are few steps, in few files, so that a reader can follow them."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

import emdiam
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.traverse import bfs
from tests.helpers.stores import odd_graphs, write_store

PACKAGE = Path(emdiam.__file__).parent
MOST_FRAMES, MOST_FILES = 11, 6


def test_few_steps_lead_from_the_command_to_the_first_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the command's function on; what comes before it is the parser's. The kernel itself does not count."""
    stacks: list[list[traceback.FrameSummary]] = []

    def first_kernel(*arguments: Any) -> int:
        if not stacks:
            stacks.append(traceback.extract_stack()[:-1])
        return int(kernel(*arguments))

    kernel = bfs.sparse_bfs
    monkeypatch.setattr(bfs, "sparse_bfs", first_kernel)
    store = write_store(tmp_path / "g.zarr", odd_graphs()["torus"])
    assert run(group, ["exact", str(store), "--json", "--quiet"]) == 0
    frames = [(Path(frame.filename).relative_to(PACKAGE), frame.name) for frame in stacks[0]
              if Path(frame.filename).is_relative_to(PACKAGE)]
    frames = frames[frames.index((Path("cli/exact.py"), "command")):]
    files = list(dict.fromkeys(file for file, _ in frames))
    print("\n".join(f"{file}: {name}" for file, name in frames))
    assert files[0] == Path("cli/exact.py") and files[-1] == Path("traverse/bfs.py")
    assert len(frames) <= MOST_FRAMES and len(files) <= MOST_FILES
