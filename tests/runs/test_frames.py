"""From a command to the first kernel of its traversal there are few steps, in few files: a reader can follow them."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import emdiam
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.paths import dijkstra
from emdiam.traverse import bfs_whole

PACKAGE = Path(emdiam.__file__).parent


@pytest.mark.parametrize(("words", "place", "kernel", "most_frames", "most_files"), [
    ("exact", bfs_whole, "bfs_whole", 9, 6),
    ("sssp --source 3", dijkstra, "settle", 8, 5),
    ("exact --weighted", dijkstra, "settle", 8, 6)], ids=["exact", "sssp", "weighted"])
def test_few_steps_lead_from_the_command_to_the_first_kernel(
    words: str, place: ModuleType, kernel: str, most_frames: int, most_files: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the command's function on; what comes before it is the parser's. The kernel itself does not count."""
    stacks: list[list[traceback.FrameSummary]] = []

    def first_kernel(*arguments: Any) -> Any:
        if not stacks:
            stacks.append(traceback.extract_stack()[:-1])
        return real(*arguments)

    real = getattr(place, kernel)
    monkeypatch.setattr(place, kernel, first_kernel)
    name, *options = words.split()
    weights = ["--weights", "uniform:1,9"] if place is dijkstra else []
    assert run(group, ["generate", "grid", str(tmp_path / "g.zarr"), "--sides", "8x8", "--quiet", *weights]) == 0
    assert run(group, [name, str(tmp_path / "g.zarr"), *options, "--json", "--quiet"]) == 0
    frames = [(Path(frame.filename).relative_to(PACKAGE), frame.name) for frame in stacks[0]
              if Path(frame.filename).is_relative_to(PACKAGE)]
    frames = frames[frames.index((Path(f"cli/{name}.py"), "command")):]
    files = list(dict.fromkeys(file for file, _ in frames))
    print("\n".join(f"{file}: {function}" for file, function in frames))
    assert files[0] == Path(f"cli/{name}.py") and PACKAGE / files[-1] == Path(str(place.__file__))
    assert len(frames) <= most_frames and len(files) <= most_files
