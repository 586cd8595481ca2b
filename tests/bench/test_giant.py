"""Stores as BVGraphs: what is written is the graph that plain readers find, in fewer bits where rows are alike."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import emdiam
from bench import giant
from emdiam.store.store import open_store
from tests.helpers import naive
from tests.helpers.bvgraph import Choices, Twin, drawn_rows, encoded
from tests.helpers.formats_naive import read_pairs
from tests.helpers.stores import write_store


@pytest.mark.parametrize("block", [1, 40, 1 << 20])
def test_random_rows(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giant, "_BLOCK_ARCS", block)
    monkeypatch.setattr(giant, "_BLOCK_ROWS", block)
    for number in range(10):
        drawn = drawn_rows(random.Random(number), 90)
        rows = naive.graph_of(len(drawn), [(v, w) for v, row in enumerate(drawn) for w in row if v != w])
        arcs, n_bits = giant.write_bvgraph(write_store(tmp_path / "g.zarr", rows), tmp_path / "g.graph", 2)
        data = (tmp_path / "g.graph").read_bytes()
        assert arcs == sum(map(len, rows)) and len(data) == (n_bits + 7) // 8
        assert Twin(data, len(rows), arcs, Choices()).rows() == rows
        assert read_pairs(tmp_path / "g.graph", threads=2) == [(v, w) for v, row in enumerate(rows) for w in row]
        if block > 40:  # all rows in one block: no more bits than by the rows with the most ids in common
            assert n_bits <= len(encoded(rows, Choices())[0])


@pytest.mark.parametrize("both", [0.0, 0.17, 1.0])
def test_a_web_and_back(both: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    emdiam.generate("web", tmp_path / "web.zarr", vertices=1 << 14, arcs=200_000, seed=1)
    words = ["write", str(tmp_path / "web.zarr"), str(tmp_path / "web.graph"), "--both", str(both)]
    assert giant.main(words) == 0
    arcs = int(capsys.readouterr().out.split()[0].replace(",", ""))
    emdiam.convert(tmp_path / "web.graph", tmp_path / "again.zarr")
    with open_store(tmp_path / "web.zarr") as store, open_store(tmp_path / "again.zarr") as again:
        assert again.digest == store.digest
        assert abs(arcs - (1 + both) * store.n_edges) <= (0.01 * store.n_edges if 0 < both < 1 else 0)


@pytest.mark.slow
def test_a_real_web(data_folder: Path, tmp_path: Path) -> None:
    """In about the bits an arc that WebGraph took, 2.897, where loops, which a store drops, cost most."""
    emdiam.convert(data_folder / "cnr-2000.graph", tmp_path / "cnr.zarr", directed=True)
    arcs, n_bits = giant.write_bvgraph(tmp_path / "cnr.zarr", tmp_path / "cnr.graph", 2)
    assert arcs == 3_128_710 and 2.8 < n_bits / arcs < 2.9
    emdiam.convert(tmp_path / "cnr.graph", tmp_path / "again.zarr", directed=True)
    with open_store(tmp_path / "cnr.zarr", directed=True) as store, \
            open_store(tmp_path / "again.zarr", directed=True) as again:
        assert again.digest == store.digest
