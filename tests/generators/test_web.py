"""The web: both ends find every edge, rows ascend, and it has the shape that it is for."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from bench import web as bench_web
from emdiam.conversion.arc_keys import ArcKeys
from emdiam.errors import InputError
from emdiam.generators import generate, make_source
from tests.generators.test_protocol import pairs


def listed(n: int, seed: int = 3, **parameters: Any) -> np.ndarray:
    """Pairs in their order, int64[m, 2]."""
    return pairs(make_source("web", vertices=n, seed=seed, parameters=parameters), 1 << 20)


@pytest.mark.parametrize("parameters", [{}, {"dangling": 0.6, "tendrils": 0.4}, {"arcs": 0}, {"tendrils": 0.0}])
@pytest.mark.parametrize("n", [64, 77, 1000, 5001])
def test_both_ends_find_every_edge_and_rows_ascend(n: int, parameters: dict[str, Any]) -> None:
    """A row of a hub is made by going through its block, that of a page by its hubs: so each checks the other."""
    for seed in range(3):
        found = listed(n, seed, **parameters)
        keys = found[:, 0] * n + found[:, 1]
        assert (np.diff(keys) > 0).all() and (found[:, 0] != found[:, 1]).all()
        assert np.array_equal(np.sort(found[:, 1] * n + found[:, 0]), keys)


def test_it_has_a_giant_component_with_tendrils_and_dangling_pages() -> None:
    n = 20_000
    found = listed(n, dangling=0.2, tendrils=0.1)
    degrees = np.bincount(found[:, 0], minlength=n)
    graph = nx.from_edgelist(found.tolist())
    parts = sorted(map(len, nx.connected_components(graph)), reverse=True)
    assert 0.95 < parts[0] / n < 1 and len(parts) > 10 and max(parts[1:]) < 100
    assert 0.18 < (degrees == 1).mean() < 0.27
    assert abs(len(found) / (17 * n) - 1) < 0.1
    # A power law: each power of two has between a quarter and nine tenths of the vertices of the one before.
    shares = [(degrees >= 1 << k).mean() for k in range(5, 10)]
    assert all(0.1 < after / before < 0.9 for before, after in pairwise(shares))
    near = np.abs(found[:, 0] - found[:, 1]) < 1 << 10
    assert 0.4 < near.mean() < 0.95


def test_a_conversion_sorts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ArcKeys, "_put_back", None)
    report = generate("web", tmp_path / "g.zarr", vertices=3000, parameters={"arcs": 40_000}).report
    assert report.record.directions == "both" and report.record.duplicates_dropped == 0


def test_more_arcs_than_there_can_be() -> None:
    with pytest.raises(InputError, match="a web of 1,000 vertices has at most about .* arcs"):
        make_source("web", vertices=1000, parameters={"arcs": "1e6"})
    with pytest.raises(InputError, match="at least 64 vertices"):
        make_source("web", vertices=63)


def test_a_web_beside_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The program of bench: shares are those of the graph, and the figure is there."""
    generate("star", tmp_path / "star.zarr", vertices=100)
    found = bench_web.distributions(tmp_path / "star.zarr")
    assert found["depth"] == ([0, 1], [0.01, 0.99]) and found["degree"][1][:2] == [1.0, 0.01]
    assert found["apart"][0][:3] == [1, 2, 4] and np.isclose(found["apart"][1][:3], [1 / 99, 2 / 99, 4 / 99]).all()
    assert bench_web.main([str(tmp_path / "star.zarr"), "--plots", str(tmp_path / "plots")]) == 0
    assert "generated" in capsys.readouterr().out and (tmp_path / "plots" / "web.svg").read_text().startswith("<?xml")
