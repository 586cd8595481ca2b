"""Rates of streamed passes: every arc is decoded once where it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import emdiam
from bench import passes
from emdiam.store.store import open_store


def test_all_blocks_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    emdiam.generate("web", tmp_path / "web.zarr", vertices=1 << 14, arcs=200_000, seed=1)
    with open_store(tmp_path / "web.zarr") as store:
        one, other = passes.disk(store, 2), passes.decoded(store, 2)
        assert one.n_bytes == other.n_bytes == store.indices.stored_bytes and other.arcs == store.n_arcs
    assert passes.main([str(tmp_path / "web.zarr"), "--memory", "4GiB"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:5]] == ["disk", "disk and LZ4", "BFS, rows checked",
                                                           "BFS"]
