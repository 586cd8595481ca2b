"""The shape of the paper's tables (Ajwani, Beckmann, Meyer, Veith 2012) at sizes that run in minutes:
estimates by the number of masters on its graph classes, out of core, within the planned memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.reorder import reorder
from emdiam.engine.interface import max_degree_vertex
from emdiam.generators import generate
from emdiam.runs.opening import open_engine
from emdiam.store.layout import StoreRecord
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter
from tests.conftest import Run

# Vertices a master, from few masters to many.
SHARES = [1 << power for power in (12, 10, 8, 6, 4)]


def estimates(emdiam: Run, store: Path, diameter: int) -> list[dict[str, Any]]:
    """One run for every number of masters: arena 1/8 of the arcs, page cache evicted, --memory as planned."""
    with open_store(store) as opened:
        n, arena = opened.n_vertices, str(opened.n_arcs * 4 // 8)
    found = []
    for share in SHARES:
        options = ["--masters", str(n // share), "--arena", arena]
        planned = json.loads(emdiam("plan", store, "--method", "clusters", *options, "--json", "-q").stdout)
        memory = str(planned["planned_rss_bytes"])
        done = emdiam("approx", store, *options, "--memory", memory, "--known-diameter", str(diameter),
                      "--evict-page-cache", "--json", "-q", timeout=1200)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["peak_rss_bytes"] <= int(memory)
        assert result["lower"] <= diameter <= result["upper"]
        found.append(result)
    return found


def made(tmp_path: Path, graph_class: str, vertices: int, **parameters: Any) -> Path:
    store = tmp_path / "g.zarr"
    generate(graph_class, store, vertices=vertices, seed=1, parameters=parameters,
             options=ConvertOptions(memory_bytes=3 << 30, chunk_ids=1 << 10 if vertices < 1 << 20 else 1 << 16))
    return store


def diameter_in_ram(emdiam: Run, store: Path) -> int:
    done = emdiam("exact", store, "--json", "-q", timeout=1200)
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout)["diameter"])


SIZES = [pytest.param(1 << 16, id="2^16"), pytest.param(1 << 22, id="2^22", marks=pytest.mark.slow),
         pytest.param(1 << 24, id="2^24", marks=pytest.mark.slow)]


@pytest.mark.slow
@pytest.mark.parametrize("vertices", SIZES[1:])
def test_sqrt_levels(emdiam: Run, tmp_path: Path, vertices: int):
    """More masters, fewer rounds and better ratios; within 2 % at the best."""
    store = made(tmp_path, "levels", vertices, levels="sqrt")
    runs = estimates(emdiam, store, diameter_in_ram(emdiam, store))
    ratios, gaps = [run["ratio"] for run in runs], [run["max_master_gap"] for run in runs]
    assert min(ratios) <= 1.02
    assert ratios[-1] < ratios[0] and gaps == sorted(gaps, reverse=True)
    grow = [run["details"]["stage_seconds"]["grow"] for run in runs]
    assert all(seconds > 0 for seconds in grow)


@pytest.mark.slow
@pytest.mark.parametrize("vertices", SIZES[1:])
def test_linear_levels(emdiam: Run, tmp_path: Path, vertices: int):
    """Within 1 % for every number of masters."""
    store = made(tmp_path, "levels", vertices, levels="linear")
    runs = estimates(emdiam, store, diameter_in_ram(emdiam, store))
    assert all(abs(run["ratio"] - 1) <= 0.01 for run in runs)


@pytest.mark.slow
@pytest.mark.parametrize("vertices", SIZES)
def test_worst_case(emdiam: Run, tmp_path: Path, vertices: int):
    """The ratio has a peak of at least 4 at 256 vertices a master and is lower at both ends."""
    store = made(tmp_path, "worst-case", vertices, fans="10,100")
    ratios = [run["ratio"] for run in estimates(emdiam, store, vertices // 110 - 1 + 20)]
    peak = ratios[SHARES.index(256)]
    assert peak >= 4
    assert ratios[0] < peak and ratios[-1] < peak


def shuffled(store: Path, target: Path) -> Path:
    """The same graph with numbers drawn at random."""
    with open_store(store) as opened:
        n = opened.n_vertices
        indptr = np.concatenate([np.empty(0, np.int64), *_pieces(opened.indptr)])
        indices = np.concatenate([np.empty(0, opened.id_dtype), *_pieces(opened.indices)])
    new = np.random.default_rng(7).permutation(n).astype(np.uint64)
    arcs = new[np.repeat(np.arange(n), np.diff(indptr))] << np.uint64(32) | new[indices]
    arcs.sort()
    writer = StoreWriter(target, n_vertices=n)
    writer.append_degrees(np.bincount((arcs >> np.uint64(32)).astype(np.int64), minlength=n))
    writer.append_neighbours((arcs & np.uint64(0xFFFFFFFF)).astype(writer.id_dtype))
    writer.finish(StoreRecord())
    return target


def _pieces(array: Any) -> Any:
    for chunk in range(array.n_chunks):
        buffer = np.empty((1, array.chunk_items), array.dtype)
        array.fetch(chunk, list(buffer))
        yield buffer[0][: min(array.chunk_items, array.length - chunk * array.chunk_items)]


@pytest.mark.slow
@pytest.mark.parametrize("graph_class", ["levels", "delaunay"])
def test_the_cluster_order_saves_reading(tmp_path: Path, graph_class: str):
    """One streamed BFS reads at most a fifth of what it reads in the shuffled layout, arena 1/10."""
    if graph_class == "levels":
        store = made(tmp_path, "levels", 1 << 22, levels="sqrt")
    else:
        store = shuffled(made(tmp_path, "delaunay", 1 << 20), tmp_path / "shuffled.zarr")
    reorder(store, tmp_path / "c.zarr", "cluster", options=ConvertOptions(memory_bytes=4 << 30))
    read = []
    for path in (store, tmp_path / "c.zarr"):
        with open_store(path, evict_page_cache=True) as opened, open_engine(
                opened, memory_bytes=2 << 30, arena_bytes=opened.n_arcs * 4 // 10) as engine:
            before = engine.reporter.stats()
            engine.bfs(max_degree_vertex(engine))
            read.append((engine.reporter.stats() - before).bytes_read)
    assert read[0] >= 5 * read[1]
