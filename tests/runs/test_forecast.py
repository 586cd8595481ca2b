"""Plans as a table, forecasts, and how far off they were."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emdiam import exact
from emdiam.cli.answer_lines import memory_lines
from emdiam.cli.plan import methods_text
from emdiam.conversion.convert import ConvertOptions
from emdiam.errors import InputError
from emdiam.generators import generate
from emdiam.methods.approx.cost_model import growing_rounds
from emdiam.methods.exact.candidates import MANY_BOXED
from emdiam.methods.forecast import CostInputs, Forecast, Probe
from emdiam.runs.locality import Locality
from emdiam.runs.opening import open_engine
from emdiam.runs.plan import Planned, forecast_of, plan_all, plan_one, plan_run
from emdiam.runs.registry import METHODS
from emdiam.runs.task import make_task
from emdiam.store.store import Store, open_store
from emdiam.stream.plan import UNUSED_BYTES, MemoryPlan
from tests.conftest import Run
from tests.helpers.stores import odd_graphs, write_store

GENEROUS = 4 << 30


def runs(*methods: str, **fields: Any) -> list[Any]:
    """Of these methods, or of all."""
    return [make_task(method, **fields) for method in methods or METHODS]


def pivots(store: Store, plan: MemoryPlan, probe: Probe | None = None) -> Forecast:
    """The forecast of a run by pivots."""
    return forecast_of(store, make_task("pivots"), plan, probe)


OF_SMALL_GRAPHS = ("takafuji",)


def of_large_graphs(planned: list[Planned]) -> list[Planned]:
    """Those of methods that take graphs of this size."""
    return [one for one in planned if one.method not in OF_SMALL_GRAPHS]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("forecast") / "grid.zarr"
    generate("grid", path, parameters={"sides": "200x300"}, options=ConvertOptions(chunk_ids=4096))
    return path


def test_every_method_is_in_the_table(grid: Path):
    planned = plan_all(grid, runs(memory_bytes=GENEROUS))
    assert [one.method for one in planned] == list(METHODS)
    for one in planned:
        assert (one.refused is not None) == (one.method in OF_SMALL_GRAPHS)
    for one in of_large_graphs(planned):
        assert one.plan is not None and one.forecast is not None
        assert one.plan.base_bytes - UNUSED_BYTES < one.forecast.predicted_rss_bytes <= one.plan.planned_rss_bytes
        assert one.forecast.certain and one.forecast.reads == 1
        assert one.forecast.vram_bytes > 4 * 2 * 119_500
    text = methods_text({"methods": [one.to_dict() for one in planned]})
    names = [name for name in METHODS if name not in OF_SMALL_GRAPHS]
    assert [line.split()[0] for line in text.splitlines()[1:len(names) + 1]] == names
    assert "depend on the graph" not in text


def test_a_streamed_table_has_ranges(grid: Path):
    planned = plan_all(grid, runs(memory_bytes=GENEROUS, arena_bytes=4 * 4096 * 4))
    for one in of_large_graphs(planned):
        assert one.plan is not None and one.forecast is not None and not one.forecast.certain
        forecast = one.forecast
        assert 1 < forecast.least_reads <= forecast.reads
        assert forecast.least_bytes_read is not None and forecast.predicted_bytes_read is not None
        assert forecast.least_bytes_read <= forecast.predicted_bytes_read
    text = methods_text({"methods": [one.to_dict() for one in planned], "probe": None})
    assert "depend on the graph" in text and "on graphs of small diameter" in text and "\nprobe: none" in text
    assert "--probe" not in text
    looked = methods_text({"methods": [one.to_dict() for one in planned], "probe": None,
                           "locality": {**Locality(1.5, 40.0, 0.2).to_dict(), "text": ""}})
    assert "; --probe 4min is enough" in looked


@pytest.mark.parametrize(("name", "vertices", "dense"), [("web", 1 << 14, True), ("rmat", 1 << 13, True),
                                                         ("barabasi-albert", 20_000, False)])
def test_reads_without_a_probe(tmp_path: Path, name: str, vertices: int, dense: bool):
    """Many arcs a vertex: the forecast is near. Few: it is anywhere below the largest of those that were measured."""
    path = tmp_path / "g.zarr"
    generate(name, path, vertices=vertices, options=ConvertOptions(chunk_ids=256))
    with open_store(path) as store:
        stored, arena = store.indices.stored_bytes, store.n_arcs * 4 // 8
    planned = plan_one(path, make_task("pivots", memory_bytes=GENEROUS, arena_bytes=arena))
    assert planned.forecast is not None and stored is not None and planned.forecast.most_reads is not None
    found = exact(path, arena=arena, method="pivots").bytes_read / stored
    assert planned.forecast.least_reads / 2 < found < planned.forecast.most_reads
    if dense:
        assert found / 2.5 < planned.forecast.reads < 2.5 * found
    assert f"(up to {planned.forecast.most_reads:.0f})" in methods_text({"methods": [planned.to_dict()], "probe": None})


def test_methods_that_the_budget_is_too_small_for_are_told(grid: Path):
    with open_store(grid) as store:
        least = plan_run(store, make_task("clusters", memory_bytes=GENEROUS)).minimum_bytes
    planned = {one.method: one for one in plan_all(grid, runs(memory_bytes=least - (30 << 20)))}
    assert planned["clusters"].plan is None and "the least is" in str(planned["clusters"].refused)
    assert planned["pivots"].plan is not None
    text = methods_text({"methods": [one.to_dict() for one in planned.values()]})
    assert "\nclusters: --memory" in text and "give at least --memory" in text


def test_bytes_read_are_known_where_the_arena_holds_the_graph(grid: Path):
    with open_store(grid) as store, open_engine(store, memory_bytes=GENEROUS) as engine:
        engine.bfs(0)
        assert pivots(store, engine.plan).predicted_bytes_read == engine.reporter.stats().bytes_read


def test_an_easy_streamed_traversal_reads_no_less_than_the_least(tmp_path: Path):
    path = tmp_path / "path.zarr"
    generate("path", path, vertices=50_000, options=ConvertOptions(chunk_ids=4096))
    with open_store(path) as store:
        with open_engine(store, memory_bytes=GENEROUS, arena_bytes=4 * 4096 * 4) as engine:
            for source in (25_000, 0, 49_999):  # a sweep as pivots begins, which is a proof here
                engine.bfs(source)
            forecast = pivots(store, engine.plan)
            assert forecast.least_bytes_read is not None
            bytes_read = engine.reporter.stats().bytes_read
            assert 0.5 * forecast.least_bytes_read <= bytes_read <= 2 * forecast.least_bytes_read


@pytest.mark.parametrize("name", ["empty", "one_vertex", "path", "star"])
def test_odd_graphs_have_forecasts(tmp_path: Path, name: str):
    graphs = odd_graphs()
    if name not in graphs:
        name = next(iter(graphs))
    path = write_store(tmp_path / "g.zarr", graphs[name])
    for one in plan_all(path, runs(memory_bytes=GENEROUS)):
        assert one.forecast is not None and one.forecast.predicted_bytes_read is not None
        assert one.forecast.predicted_bytes_read >= 0 and one.forecast.scratch_bytes == 0


def test_apsp_is_counted_by_batches(grid: Path):
    with open_store(grid) as store:
        plan = plan_run(store, make_task("apsp", memory_bytes=GENEROUS, arena_bytes=4 * 4096 * 4))
        one, many = (forecast_of(store, make_task("apsp", {"batch": batch}), plan) for batch in (1, 64))
        assert 50 < one.least_reads / many.least_reads < 65
        with pytest.raises(InputError, match="no option"):
            forecast_of(store, make_task("sweep", {"batch": 2}), plan)


# -- after a look at the graph --------------------------------------------------------------------
STREAMED = 4 * 4096 * 4


@pytest.fixture(scope="module")
def probed(grid: Path) -> dict[str, Planned]:
    """The table of the streamed grid, probed."""
    planned = plan_all(grid, runs(memory_bytes=GENEROUS, arena_bytes=STREAMED), probe_seconds=60.0)
    return {one.method: one for one in of_large_graphs(planned)}


def test_a_probed_table_has_one_probe_for_all(probed: dict[str, Planned]):
    probe = probed["pivots"].probe
    assert probe is not None and probe.lower_bound == 498 and probe.reads > 1
    for one in probed.values():
        assert one.probe is probe and one.plan is not None and one.forecast is not None
        forecast = one.forecast
        assert forecast.probed and not forecast.certain and forecast.least_reads <= forecast.reads
        # Rows of a grid lie in few blocks, its fronts in all of them: windows of levels read a block for several.
        assert one.locality is not None and one.locality.local is True and one.locality.reads >= probe.reads
        assert one.comparison is not None
        assert one.comparison.reordered_seconds > one.comparison.reorder_seconds > 0
        assert one.plan.base_bytes - UNUSED_BYTES < forecast.predicted_rss_bytes <= one.plan.planned_rss_bytes
    text = methods_text({"methods": [one.to_dict() for one in probed.values()], "probe": probe.to_dict()})
    assert "\nprobe: four BFS" in text and "at least 498; a BFS reads" in text and "small diameter" not in text


def test_reads_are_traversals_times_what_one_reads(grid: Path, probed: dict[str, Planned]):
    """Twice the reads of a BFS, twice the traversals: the scans beside them stay."""
    probe, plan = probed["pivots"].probe, probed["pivots"].plan
    assert probe is not None and plan is not None
    scan = 1 - plan.arena_blocks / plan.n_blocks
    more = replace(probe, reads=2 * probe.reads, spread_reads=2 * probe.spread_reads)
    with open_store(grid) as store:
        for method, scans in (("pivots", 1), ("fdiam", 1), ("sweep", 3), ("bounding", 1)):
            once, twice = (forecast_of(store, make_task(method), plan, probe=one).reads for one in (probe, more))
            assert twice - scans * scan == pytest.approx(2 * (once - scans * scan))
        few = replace(probe, evaluations=0.0)
        assert forecast_of(store, make_task("fdiam"), plan, probe=few).reads == pytest.approx(2 * probe.reads + scan)
        settled = replace(probe, unsettled=1)
        assert pivots(store, plan, probe=settled).reads == pytest.approx(4 * probe.reads + scan)


def uncut(plan: MemoryPlan) -> MemoryPlan:
    """The plan with a promise that is above every prediction."""
    return replace(plan, planned_rss_bytes=1 << 50)


def test_memory_goes_by_the_widest_column(grid: Path, probed: dict[str, Planned]):
    """F-Diam holds two columns of 1, 2 or 4 bytes, and labels of 4 for vertices of other components."""
    probe, plan, n = probed["fdiam"].probe, probed["fdiam"].plan, 60_000
    assert probe is not None and plan is not None
    with open_store(grid) as store:
        def predicted(**changes: Any) -> int:
            seen = replace(probe, **changes)
            return forecast_of(store, make_task("fdiam"), uncut(plan), seen).predicted_rss_bytes

        narrow = predicted(longest=254)
        wider = [predicted(longest=longest) - narrow for longest in (255, 65_534, 65_535)]
        assert wider == pytest.approx([2 * n * 1.02, 2 * n * 1.02, 6 * n * 1.02], abs=1)
        others = predicted(longest=254, connected=False, n_reached=n - 1000) - narrow
        assert others == pytest.approx((4 * 1000 + n * 5 // 32) * 1.02, abs=2)


def test_open_vertices_are_candidates_of_pivots(grid: Path, probed: dict[str, Planned]):
    probe, plan = probed["pivots"].probe, probed["pivots"].plan
    assert probe is not None and plan is not None
    with open_store(grid) as store:
        found = [replace(probe, longest=300, unsettled=k) for k in (0, 10_000, 1 << 40)]
        few, many, most = (pivots(store, uncut(plan), probe=one).predicted_rss_bytes for one in found)
        assert many - few == pytest.approx(10_000 * (24 + 2 * 24) * 1.02, abs=1)
        assert plan.pool_bytes > MANY_BOXED * (24 + 2 * 24)
        assert most - few == pytest.approx(MANY_BOXED * (24 + 2 * 24) * 1.02, abs=1)  # boxes leave few of very many
        promise = replace(plan, planned_rss_bytes=plan.base_bytes - UNUSED_BYTES + (1 << 20))
        assert pivots(store, promise, probe=probe).predicted_rss_bytes == promise.planned_rss_bytes


@pytest.mark.parametrize("balls, lower_bound, expected", [
    ([1] + [60_000] * 32, 9, 1),  # all in the first round
    ([min(60_000, 2 * r * r + 1) for r in range(33)], 400, None),
    ([r + 1 for r in range(33)], 59_999, None),
])
def test_rounds_of_growing_follow_the_balls(
    grid: Path, probed: dict[str, Planned], balls: list[int], lower_bound: int, expected: int | None
):
    """Attempts with 8 times as many masters each, 32 rounds each in vain, until n / K ln n / 2 vertices are near."""
    probe, plan = probed["clusters"].probe, probed["clusters"].plan
    assert probe is not None and plan is not None
    n, rounds = 60_000, 0
    masters = min(4096, math.isqrt(((16 << 20) + plan.pool_bytes // 3) // 8))
    while masters < 4096 and 2 * balls[32] < n / masters * math.log(n):
        rounds, masters = rounds + 32, min(4096, 8 * masters)
    needed = n / masters * math.log(n) / 2
    within = [r for r in range(33) if balls[r] >= needed]
    rounds += within[0] if within else int(min(lower_bound, 32 * needed / balls[32]))
    with open_store(grid) as store:
        found = growing_rounds(CostInputs(store, plan), replace(probe, balls=tuple(balls), lower_bound=lower_bound))
    assert found == rounds and expected in (None, found)


def test_a_probe_in_ram_changes_no_reads(grid: Path):
    for one in plan_all(grid, runs("pivots", "clusters", memory_bytes=GENEROUS), probe_seconds=60.0):
        assert one.forecast is not None and one.forecast.certain and one.forecast.probed and one.forecast.reads == 1


# -- the command ----------------------------------------------------------------------------------
@pytest.mark.slow
def test_the_command_probes_unless_told_not_to(command: Run, grid: Path):
    streamed = ("--memory", "2GiB", "--arena", "64KiB", "--quiet")
    probed = command("plan", grid, *streamed, "--method", "fdiam").stdout.splitlines()
    assert probed[0].startswith("planned peak: ") and probed[1].startswith("predicted peak: ")
    assert any(line.startswith("probe: four BFS in ") for line in probed)
    bare = json.loads(command("plan", grid, *streamed, "--method", "fdiam", "--no-probe", "--json").stdout)
    late = json.loads(command("plan", grid, *streamed, "--method", "fdiam", "--probe", "1ms", "--json").stdout)
    assert bare["probe"] is late["probe"] is None and not bare["forecast"]["probed"]
    table = json.loads(command("plan", grid, *streamed, "--json").stdout)
    assert table["probe"]["lower_bound"] == 498 and all(one["forecast"]["probed"] for one in table["methods"])


def test_the_command_prints_table_and_json(command: Run, grid: Path):
    done = command("plan", grid, "--memory", "2GiB", "--json", "--quiet")
    methods = json.loads(done.stdout)["methods"]
    assert [one["method"] for one in methods] == list(METHODS)
    alone = json.loads(command("plan", grid, "--memory", "2GiB", "--method", "sweep", "--json", "--quiet").stdout)
    beside = next(one for one in methods if one["method"] == "sweep")
    assert alone["phases"] == beside["plan"]["phases"]
    assert alone["forecast"]["vram_bytes"] == beside["forecast"]["vram_bytes"]


def test_options_of_one_method_need_its_name(command: Run, grid: Path):
    done = command("plan", grid, "--batch", "4", "--quiet")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--method" in done.stderr


@pytest.mark.slow
def test_a_result_says_how_far_off_its_plan_was(emdiam: Run, grid: Path):
    result = json.loads(emdiam("exact", grid, "--json", "--quiet", "--memory", "2GiB").stdout)
    assert result["planned_bytes_read"] == result["bytes_read"]
    assert result["expected_rss_bytes"] <= result["planned_rss_bytes"]


def test_plan_and_prediction_are_shown_where_they_are_asked_for():
    result = {"memory_limit_bytes": 400, "peak_rss_bytes": 200, "planned_rss_bytes": 300, "expected_rss_bytes": 210,
              "planned_bytes_read": 100}
    plan = "memory: peak 200 B, planned 300 B, limit 400 B"
    assert memory_lines(result, False) == ["memory: peak 200 B"]
    assert memory_lines(result, True) == [plan, "predicted: peak 210 B, 100 B read"]
    assert memory_lines({**result, "planned_bytes_read": None}, True) == [plan, "predicted: peak 210 B"]
    assert memory_lines({**result, "expected_rss_bytes": None}, True) == [plan, "predicted: 100 B read"]
    assert memory_lines({**result, "expected_rss_bytes": None, "planned_bytes_read": None}, True) == [plan]
    assert memory_lines({"memory_limit_bytes": 400, "peak_rss_bytes": 200}, True) == [
        "memory: peak 200 B, limit 400 B"]


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True], ids=["in-ram", "streamed"])
@pytest.mark.parametrize("kind", [("path", "--vertices", "2^20"), ("grid", "--sides", "800x800"),
                                  ("kronecker", "--vertices", "2^18", "--seed", "1")], ids=lambda kind: kind[0])
@pytest.mark.parametrize("method", ["pivots", "fdiam", "sweep", "clusters"])
def test_peaks_are_below_the_prediction_and_near(emdiam: Run, kind: tuple[str, ...], method: str, streamed: bool):
    """Never below the peak and at most 15 % above; bytes within a factor of 2."""
    assert emdiam("generate", kind[0], "g.zarr", *kind[1:], "--quiet").returncode == 0
    budget = ["--memory", "2GiB", "--json", "--quiet"]
    plan = json.loads(emdiam("plan", "g.zarr", "--method", method, "--no-probe", *budget).stdout)
    if streamed:
        budget += ["--arena", str(-(-plan["n_blocks"] // 8) * (1 << 18))]
    forecast = json.loads(emdiam("plan", "g.zarr", "--method", method, "--probe", "60s", *budget).stdout)["forecast"]
    command = "exact" if method in ("pivots", "fdiam") else "approx"
    result: dict[str, Any] = {"seconds": {"compile": 1.0}}
    while result["seconds"]["compile"]:  # a first run takes more: the plan has room for it, no prediction counts it
        result = json.loads(emdiam(command, "g.zarr", "--method", method, *budget).stdout)
    assert forecast["probed"] and result["peak_rss_bytes"] <= result["planned_rss_bytes"]
    assert 1 <= forecast["predicted_rss_bytes"] / result["peak_rss_bytes"] <= 1.15
    assert 0.5 <= forecast["predicted_bytes_read"] / result["bytes_read"] <= 2
