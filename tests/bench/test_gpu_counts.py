"""What is counted of real runs on a device: launches, round trips and bytes; and how many there may be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.gpu import counts, inputs, tiles
from bench.gpu.counting import CountingDevice
from emdiam.gpu.kernel_file import zeros
from tests.helpers import naive
from tests.helpers.stores import write_store
from tests.simt import runner
from tests.simt.devices import open_device


def test_each_call_is_counted_once() -> None:
    device = CountingDevice(open_device("shim-0"))
    there = device.array(np.arange(100, dtype=np.uint32))
    device.copy(there, device.empty(100, np.uint32))
    zeros(device, 5, np.uint64)
    assert device.to_host(there).tolist() == list(range(100))
    kernel = device.kernel("columns.cu", "column_best", {})
    device.launch(kernel, 1, 32, [there, np.uint64(100), np.uint32(0), device.empty(1, np.uint32)])
    host = np.zeros(10, np.uint32)
    device.register(host)
    device.copy_behind(host, there[:10], device.stream())
    device.wait_here(device.record())
    device.synchronize()
    device.elapsed(device.record(), device.record())
    device.release(host)
    assert device.counts.to_dict() == {"launches": 1, "fills": 2, "reads": 1, "sends": 1, "waits": 3, "bytes_down": 400,
                                       "bytes_up": 400, "bytes_behind": 40}
    assert (device.counts.round_trips, device.counts.host_bytes) == (5, 840)


@pytest.mark.parametrize("name", ["kronecker:9", "grid:20"])
def test_a_search_is_one_launch_and_one_wait(name: str) -> None:
    row, folded = counts.measure(counts.graph_named(name), open_device("shim-0"), ("bfs", "fold"))
    assert (row["launches"], row["fills"], row["round_trips"], row["host_bytes"]) == (1, 0, 1, 64)
    assert (folded["launches"], folded["round_trips"]) == (3, 2)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = write_store(tmp_path / "g.zarr", naive.graph_of(90, [(v, v + 1) for v in range(80)]))
    out = tmp_path / "rows.json"
    assert counts.main([str(store), "--out", str(out), "--title", "Now"]) == 0
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert [row["path"] for row in rows] == list(counts.PATHS) and rows[0]["class"] == "g" and rows[0]["m"] == 80
    assert "### Now" in capsys.readouterr().out
    assert counts.main([str(store), "--paths", "bfs", "--requests", "--steady", "--sms", "1"]) == 0
    assert "### Requests for the device's memory" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "a_traversal"), [("web:16384", 16 << 10), ("regular:1024", 8 << 10)])
def test_candidates_bring_few_bytes(name: str, a_traversal: int) -> None:
    """Graphs whose pairs of candidates are bounded on the host: far less than what is allowed."""
    row, = counts.measure(counts.graph_named(name), open_device("shim-0", resident=2048), ("exact",), steady=True)
    assert row["traversals"] > 5
    assert row["host_bytes"] <= counts.SHARE * row["graph_bytes"] + a_traversal * row["traversals"]
    assert row["launches"] <= 2 * row["levels"]


def test_graphs_by_name() -> None:
    made = counts.graph_named("grid:5")
    offsets, neighbours = inputs.rows_of(np, *inputs.grid(np, 5))
    assert np.array_equal(made.offsets, offsets) and np.array_equal(made.neighbours, neighbours)


def test_no_warp_does_a_long_row_alone() -> None:
    """Rows of a thousand arcs that a batch pulls: the busiest warp has a few times what warps have on average."""
    device = open_device("shim-0", n_sms=4, resident=2048)
    row, = counts.measure(counts.graph_named("circuit:100"), device, ("batch",), runner.Traffic)
    warps = device.n_sms * 2048 // device.warp
    assert 0 < row["device_chain"] * warps < 6 * (row["device_loads"] + row["device_atomics"])
    assert row["device_bytes"] / counts.SECTOR < row["device_sectors"] * 8


def test_bit_matrices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a clique of 16 all rows of a slice share their columns; on a path two of eight do at most."""
    clique = write_store(tmp_path / "clique.zarr", naive.graph_of(16, [(v, w) for v in range(16) for w in range(v)]))
    assert tiles.distinct(counts.graph_named(str(clique)), 8, 1) == 32
    assert tiles.distinct(counts.graph_named(str(clique)), 8, 128) == 2
    assert tiles.gain(240, 32, 8, 64) == pytest.approx(240 * 36 / (32 * 37))
    assert tiles.main([str(clique)]) == 0 and "| clique | 16 | 240 | 120 | 7.5 |" in capsys.readouterr().out
