"""That counting distances keeps to --memory where there are very many of them, in processes of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import emdiam
from bench.memory.cells import named_bytes
from bench.memory.process import call

# Vertices, the width of ranges, and options.
WAYS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "sample": (1 << 22, 100, ("--sample", "8")), "directed": (1 << 22, 100, ("--sample", "8", "--directed")),
    "hyperball": (1 << 17, 10, ("--hyperball", "4"))}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_paths_at_the_least_budget(tmp_path: Path, way: str) -> None:
    """4 million distances took 1.7 GiB."""
    n, width, options = WAYS[way]
    if way == "directed":
        write_arcs(tmp_path / "arcs.txt", n)
        emdiam.convert(tmp_path / "arcs.txt", tmp_path / "g.zarr", directed=True)
    else:
        emdiam.generate("path", tmp_path / "g.zarr", vertices=n)
    arguments = ("distances", str(tmp_path / "g.zarr"), "--json", "--quiet", *options)
    least = named_bytes(call((*arguments, "--memory", "1MiB")).said)
    assert least is not None
    ended = call((*arguments, "--memory", str(least)))
    assert ended.code == 0, ended.said
    result = json.loads(ended.out)
    assert ended.peak_bytes <= least and result["planned_rss_bytes"] <= least
    assert result["histogram_width"] == width and n // width // 4 < len(result["pairs"]) <= n // width + 1
    if way != "directed":
        assert abs(result["mean"] - (n + 1) / 3) < 5 * result["standard_error"]["mean"]


def write_arcs(path: Path, n: int) -> None:
    """A path, each arc to the next vertex."""
    with path.open("w") as file:
        file.writelines(f"{v} {v + 1}\n" for v in range(n - 1))
