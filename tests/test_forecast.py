"""Plans as a table, forecasts, and how far off they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emdiam.api_plan import ALL_METHODS, plan_all
from emdiam.cli.forecast_text import forecast_lines
from emdiam.cli.plan_text import table_text
from emdiam.errors import InputError
from emdiam.forecast import forecast_of
from emdiam.graph.convert import ConvertOptions
from emdiam.graph.generate import generate
from emdiam.graph.store import open_store
from emdiam.session import open_engine, plan_run
from emdiam.store_run import StoreRun
from tests.conftest import Run
from tests.stores import odd_graphs, write_store

GENEROUS = 4 << 30


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("forecast") / "grid.zarr"
    generate("grid", path, parameters={"sides": "200x300"}, options=ConvertOptions(chunk_ids=4096))
    return path


def test_every_method_is_in_the_table(grid: Path):
    planned = plan_all(grid, StoreRun("all", memory_bytes=GENEROUS))
    assert [one.method for one in planned] == list(ALL_METHODS)
    for one in planned:
        assert one.plan is not None and one.forecast is not None and one.refused is None
        assert one.plan.base_bytes < one.forecast.expected_rss_bytes <= one.plan.planned_rss_bytes
        assert one.forecast.certain and one.forecast.reads == 1
        assert one.forecast.vram_bytes > 4 * 2 * 119_500
    text = table_text({"methods": [one.to_dict() for one in planned]})
    assert [line.split()[0] for line in text.splitlines()[3:]] == list(ALL_METHODS)
    assert "depend on the graph" not in text


def test_a_streamed_table_has_ranges(grid: Path):
    planned = plan_all(grid, StoreRun("all", memory_bytes=GENEROUS, arena_bytes=4 * 4096 * 4))
    for one in planned:
        assert one.plan is not None and one.forecast is not None and not one.forecast.certain
        forecast = one.forecast
        assert 1 < forecast.least_reads <= forecast.reads
        assert forecast.least_bytes_read is not None and forecast.expected_bytes_read is not None
        assert forecast.least_bytes_read <= forecast.expected_bytes_read
    assert "depend on the graph" in table_text({"methods": [one.to_dict() for one in planned]})


def test_methods_that_the_budget_is_too_small_for_are_told(grid: Path):
    with open_store(grid) as store:
        least = plan_run(store, memory_bytes=GENEROUS, method="clusters").minimum_bytes
    planned = {one.method: one for one in plan_all(grid, StoreRun("all", memory_bytes=least - (30 << 20)))}
    assert planned["clusters"].plan is None and "the least is" in str(planned["clusters"].refused)
    assert planned["pivots"].plan is not None
    text = table_text({"methods": [one.to_dict() for one in planned.values()]})
    assert "\nclusters: --memory" in text and "give at least --memory" in text


def test_bytes_read_are_known_where_the_arena_holds_the_graph(grid: Path):
    with open_store(grid) as store, open_engine(store, memory_bytes=GENEROUS) as engine:
        engine.bfs(0)
        assert forecast_of(store, "pivots", engine.plan).expected_bytes_read == engine.stats().bytes_read


def test_an_easy_streamed_traversal_reads_no_less_than_the_least(tmp_path: Path):
    path = tmp_path / "path.zarr"
    generate("path", path, vertices=50_000, options=ConvertOptions(chunk_ids=4096))
    with open_store(path) as store:
        with open_engine(store, memory_bytes=GENEROUS, arena_bytes=4 * 4096 * 4) as engine:
            for source in (25_000, 0, 49_999):  # a sweep as pivots begins, which is a proof here
                engine.bfs(source)
            forecast = forecast_of(store, "pivots", engine.plan)
            assert forecast.least_bytes_read is not None
            assert 0.5 * forecast.least_bytes_read <= engine.stats().bytes_read <= 2 * forecast.least_bytes_read


@pytest.mark.parametrize("name", ["empty", "one_vertex", "path", "star"])
def test_odd_graphs_have_forecasts(tmp_path: Path, name: str):
    graphs = odd_graphs()
    if name not in graphs:
        name = next(iter(graphs))
    path = write_store(tmp_path / "g.zarr", graphs[name])
    for one in plan_all(path, StoreRun("all", memory_bytes=GENEROUS)):
        assert one.forecast is not None and one.forecast.expected_bytes_read is not None
        assert one.forecast.expected_bytes_read >= 0 and one.forecast.scratch_bytes == 0


def test_apsp_is_counted_by_batches(grid: Path):
    with open_store(grid) as store:
        plan = plan_run(store, memory_bytes=GENEROUS, arena_bytes=4 * 4096 * 4, method="apsp")
        one, many = (forecast_of(store, "apsp", plan, {"batch": batch}) for batch in (1, 64))
        assert 50 < one.least_reads / many.least_reads < 65
        with pytest.raises(InputError, match="no option"):
            forecast_of(store, "sweep", plan, {"batch": 2})


# -- the command ----------------------------------------------------------------------------------
def test_the_command_prints_table_and_json(emdiam: Run, grid: Path):
    done = emdiam("plan", grid, "--memory", "2GiB", "--json", "--quiet")
    methods = json.loads(done.stdout)["methods"]
    assert [one["method"] for one in methods] == list(ALL_METHODS)
    alone = json.loads(emdiam("plan", grid, "--memory", "2GiB", "--method", "sweep", "--json", "--quiet").stdout)
    beside = next(one for one in methods if one["method"] == "sweep")
    assert alone["phases"] == beside["plan"]["phases"]
    assert alone["forecast"]["vram_bytes"] == beside["forecast"]["vram_bytes"]


def test_options_of_one_method_need_its_name(emdiam: Run, grid: Path):
    done = emdiam("plan", grid, "--batch", "4", "--quiet")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--method" in done.stderr


def test_a_result_says_how_far_off_its_plan_was(emdiam: Run, grid: Path):
    result = json.loads(emdiam("exact", grid, "--json", "--quiet", "--memory", "2GiB").stdout)
    assert result["planned_bytes_read"] == result["bytes_read"]
    assert result["expected_rss_bytes"] <= result["planned_rss_bytes"]
    out = emdiam("exact", grid, "--quiet", "--memory", "2GiB").stdout.splitlines()
    assert out[-1].startswith("forecast: planned 1.") and out[-1].endswith("expected 1.00 of the bytes read")


def test_the_line_is_of_what_is_known():
    result = {"peak_rss_bytes": 200, "planned_rss_bytes": 300, "expected_rss_bytes": 210, "bytes_read": 50,
              "planned_bytes_read": 100}
    assert forecast_lines(result) == [
        "forecast: planned 1.50 of the peak, expected 1.05 of the peak, expected 2.00 of the bytes read"]
    assert forecast_lines({**result, "planned_bytes_read": None}) == [
        "forecast: planned 1.50 of the peak, expected 1.05 of the peak"]
    assert forecast_lines({**result, "expected_rss_bytes": None}) == []
    assert forecast_lines({}) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", [("path", "--vertices", "2^20"), ("grid", "--sides", "800x800"),
                                  ("kronecker", "--vertices", "2^18", "--seed", "1")])
@pytest.mark.parametrize("method", ["pivots", "fdiam", "sweep", "clusters"])
def test_peaks_are_below_the_plan_and_near_the_forecast(emdiam: Run, kind: tuple[str, ...], method: str):
    assert emdiam("generate", kind[0], "g.zarr", *kind[1:], "--quiet").returncode == 0
    command = "exact" if method in ("pivots", "fdiam") else "approx"
    result = json.loads(emdiam(command, "g.zarr", "--method", method, "--json", "--quiet", "--memory", "2GiB").stdout)
    assert result["peak_rss_bytes"] <= result["planned_rss_bytes"]
    assert 0.9 <= result["expected_rss_bytes"] / result["peak_rss_bytes"] <= 1.25
    assert 0.5 <= result["planned_bytes_read"] / result["bytes_read"] <= 2
