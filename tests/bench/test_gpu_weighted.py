"""The part of the GPU benchmark for shortest paths along weights, at toy size over the shim."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bench.gpu import twins, weighted
from bench.gpu.report import markdown, n_wrong
from bench.gpu.setting import Row
from emdiam.gpu.paths import all_pairs, min_plus, registry
from emdiam.gpu.paths.all_pairs import ALL_PAIRS
from emdiam.gpu.paths.registry import SEARCHES
from tests.helpers.bench_gpu_toy import kept_of, toy
from tests.helpers.device_paths import dijkstra, random_arcs, rows_of_arcs


def few(monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """The rows of some searches, methods and products."""
    monkeypatch.setattr(registry, "SEARCHES", {name: SEARCHES[name] for name in ("near-far", "h-bf-pairs", "harish")})
    monkeypatch.setattr(all_pairs, "ALL_PAIRS", {name: ALL_PAIRS[name] for name in ("single-kernel", "harish")})
    monkeypatch.setattr(weighted, "CELLS", ("int32",))
    return list(weighted.run(toy()))


def test_weighted_paths_are_timed_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = few(monkeypatch)
    assert [(row["class"], row["method"]) for row in rows if "cells" not in row and "failure" not in row] == [
        *((name, method) for name in ("kronecker", "grid") for method in ("near-far", "h-bf-pairs", "harish")),
        ("matrix", "single-kernel"), ("matrix", "harish")]
    assert all(row["wrong"] == 0 and row["seconds"] > 0 for row in rows)
    for row in rows[:6]:
        assert row["gteps"] > 0 and row["work"] >= 0.5 and row["rounds"] > 0 and row["launches"] > row["rounds"]
    products = [row for row in rows if row["class"] == "product"]
    assert {(row["tile"], row["lazy"]) for row in products} == {*product((32, 64), (True, False))}
    assert all(row["giga_ops"] * 1e9 * row["seconds"] == pytest.approx(64**3) for row in products)
    text = markdown(kept_of(weighted=rows))
    assert "## Shortest paths along weights" in text and "Min-plus products" in text and "h-bf-pairs" in text


def test_a_wrong_distance_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = min_plus.MinPlus.product

    def halfway(self: min_plus.MinPlus, a: object, b: object, c: object, shape: tuple[int, int, int]) -> None:
        true(self, a, b, c, (shape[0], shape[1], max(1, shape[2] // 2)))  # type: ignore[arg-type]

    monkeypatch.setattr(min_plus.MinPlus, "product", halfway)
    rows = [row for row in few(monkeypatch) if row.get("tile") == 32]
    assert rows and all(row["wrong"] > 0 for row in rows) and n_wrong(kept_of(weighted=rows)) > 0


def test_the_twin_is_the_textbook() -> None:
    for seed in range(5):
        rows = rows_of_arcs(30, random_arcs(seed, 30, 70, range(5)), np.float64)
        found = twins.lengths(rows.offsets, rows.heads.astype(np.int64), rows.costs, 3)
        assert found.tolist() == dijkstra(rows, 3).tolist()
