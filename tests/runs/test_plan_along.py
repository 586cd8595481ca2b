"""Plans of runs along arcs, along weights and along both, beside what runs say that they have planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import emdiam
from emdiam.errors import BudgetError, InputError
from emdiam.runs.registry import ALONG_ARCS, ALONG_WEIGHTS
from emdiam.runs.weights import methods_of
from tests.conftest import Run
from tests.helpers.weighted_arcs import stored, streets
from tests.helpers.weighted_stores import write_rows


@pytest.mark.parametrize(("directed", "weighted"), [(True, False), (False, True), (True, True)])
def test_plans_are_those_of_runs(tmp_path: Path, directed: bool, weighted: bool) -> None:
    place = tmp_path / "g.zarr"
    if directed:
        write_rows(place, streets(8), directed=True)
    else:
        emdiam.generate("grid", place, sides="8x8", weights="uniform:1,9")
    along: dict[str, Any] = {"directed": directed, "weighted": weighted, "memory": "2GiB", "threads": 1}
    plans = emdiam.plan(place, **along)
    assert [one.method for one in plans] == list(ALONG_ARCS if directed else ALONG_WEIGHTS)
    for one in plans:
        plan, forecast = one.plan, one.forecast
        assert plan is not None and forecast is not None and one.probe is None
        assert plan.in_ram and forecast.certain and forecast.reads == 1
        assert 0 < plan.minimum_bytes <= 2 << 30 and plan.planned_rss_bytes <= 2 << 30
    result = emdiam.exact(place, **along)
    assert plans[0].plan is not None
    # Along weights alone a run gives its bounds what is left.
    assert plans[0].plan.planned_rss_bytes <= 1.2 * result.planned_rss_bytes
    if directed:
        assert plans[0].plan.planned_rss_bytes >= 0.8 * result.planned_rss_bytes
    with pytest.raises(BudgetError, match="too small"):
        emdiam.plan(place, **{**along, "memory": "1MiB"}, method="pivots")
    assert all(one.refused for one in emdiam.plan(place, **{**along, "memory": "1MiB"}))


def test_methods_that_there_are() -> None:
    assert {name for command in ("exact", "approx", "ecc") for name in methods_of(command)} == set(ALONG_WEIGHTS)


def test_from_the_shell(tmp_path: Path, command: Run) -> None:
    with stored(tmp_path, streets(8)):
        pass
    text = command("plan", tmp_path / "g.zarr", "--directed", "--weighted").stdout
    assert [line.split()[0] for line in text.splitlines()[1:6]] == list(ALONG_ARCS)
    one = command("plan", tmp_path / "g.zarr", "--directed", "--method", "sweep").stdout
    assert "least --memory that works" in one and "probe: none" in one
    with pytest.raises(InputError, match="clusters is for undirected graphs"):
        emdiam.plan(tmp_path / "g.zarr", directed=True, method="clusters")
