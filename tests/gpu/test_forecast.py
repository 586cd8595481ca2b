"""Plans and forecasts of runs on a GPU, and how far its upload is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from emdiam.cli.plan import methods_text, plan_text
from emdiam.gpu.setting import OnDevice, Selection
from emdiam.gpu.upload import upload
from emdiam.progress import Event
from emdiam.runs.plan import plan_all
from emdiam.runs.task import execute, make_task
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store
from tests.simt.devices import open_device

SIDE = 40


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    n = SIDE * SIDE
    edges = [(v, v + 1) for v in range(n) if v % SIDE != SIDE - 1] + [(v, v + SIDE) for v in range(n - SIDE)]
    return write_store(tmp_path / "g.zarr", naive.graph_of(n, edges))


def test_a_graph_that_stays_on_the_device_is_read_once(grid: Path) -> None:
    """However little of it the host holds; the plan says so, and the run reads hardly more."""
    run = make_task("pivots", device=Selection(open_device("shim-0")), memory_bytes=4 << 30, arena_bytes=1 << 10)
    planned, = plan_all(grid, [run])
    assert planned.vram is not None and planned.vram.resident and planned.plan is not None
    assert planned.forecast is not None and not planned.plan.in_ram and not planned.forecast.certain
    assert planned.forecast.reads == planned.forecast.least_reads == 1
    shown = planned.to_dict()
    text = plan_text({**shown["plan"], "forecast": shown["forecast"], "vram": shown["vram"]})
    assert "\nmemory of this GPU: " in text and text.count("edges stay there") == 1
    assert "(paged)" not in methods_text({"methods": [shown]})
    result = execute(grid, run)
    assert result.diameter == 2 * SIDE - 2 and result.expected_rss_bytes is None
    assert result.planned_bytes_read is not None
    assert result.planned_bytes_read <= result.bytes_read < 3 * result.planned_bytes_read


def test_a_device_that_is_too_small_is_said_to_page(grid: Path) -> None:
    planned, = plan_all(grid, [make_task("ifub", device=Selection(open_device("shim-0")), memory_bytes=4 << 30)])
    assert planned.vram is not None
    shown = replace(planned, vram=replace(planned.vram, resident=False, kept_pages=3)).to_dict()
    text = plan_text({**shown["plan"], "forecast": shown["forecast"], "vram": shown["vram"]})
    assert "edges come in pages, 3 of them stay; the least --vram is 1.1 MiB" in text
    assert "(paged)" in methods_text({"methods": [shown]})


def test_an_upload_says_how_far_it_is(grid: Path) -> None:
    events: list[Event] = []
    with engine_on(grid, "streamed", device=OnDevice(open_device("shim-0")), progress=events.append) as engine:
        blocks, told = engine.core.table.n_blocks, list[dict[str, int]]()
        again = upload(engine.device, engine.core, lambda: told.append(engine.core.position()))
        assert np.array_equal(engine.device.to_host(again.neighbours), engine.device.to_host(engine.graph.neighbours))
        assert [place["pass_total"] for place in told] == [blocks] * len(told) and len(told) > 1
        done = [place["pass_done"] for place in told]
        assert done == sorted(done) and done[-1] == blocks and engine.core.position() == {}
    assert "upload" in {event.phase for event in events}
