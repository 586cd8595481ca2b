"""Approximations with vertex state on disk give what they give in RAM, also where the pool has room for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emdiam.runs.registry import METHODS, method_options
from tests.helpers.small_engine import limit_pool
from tests.helpers.stores import engine_on, odd_graphs, write_store

ODD = odd_graphs()
SWITCHES: dict[str, dict[str, Any]] = {"clusters": {"masters": 5}}


def figures(method: str, engine: Any) -> tuple[Any, ...]:
    result = METHODS[method].definition().solve(engine, method_options(method, SWITCHES.get(method, {})))
    assert "trees_left_out" not in result.details
    return result.estimate, result.lower, result.upper, result.witness, result.n_components, result.masters


@pytest.mark.parametrize("name", ["lollipop", "isolated-first", "clique-and-path"])
@pytest.mark.parametrize("method", ["sweep", "fringe", "clusters", "spanning"])
def test_as_in_ram(tmp_path: Path, name: str, method: str) -> None:
    store = write_store(tmp_path / "g.zarr", ODD[name])
    with engine_on(store) as engine:
        want = figures(method, engine)
    with engine_on(store, "external", method=method) as engine:
        limit_pool(engine, 0)
        assert figures(method, engine) == want
