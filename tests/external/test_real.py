"""Vertex state on disk on real graphs and on large generated ones: the answers, distances and certificates of RAM, and
what a BFS reads and writes within twice the formula."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.certificates.run import verify
from emdiam.certificates.writing import claims_of, write_certificate
from emdiam.conversion.convert import convert
from emdiam.external.disk import Sizes
from emdiam.generators import generate
from emdiam.runs.opening import open_engine
from emdiam.runs.registry import METHODS, method_options
from emdiam.runs.task import execute, make_task
from emdiam.store.store import Store, open_store
from tests.external.cost_formula import Io, bfs_io
from tests.methods.approx.test_data import DIAMETERS, INDEX

pytestmark = pytest.mark.slow
# At 2^20 vertices 16 ranges of distances and 64 pages of a column, and pairs of more than a sixteenth of them in files.
SIZES = Sizes(1 << 18, 1 << 18, 1 << 12, 1 << 14)
# Of 2^20 vertices each; parameters where the class does not take their number.
GENERATED: dict[str, dict[str, str]] = {
    "path": {}, "star": {}, "hypercube": {"dimension": "20"}, "kronecker": {}, "watts-strogatz": {},
    "barabasi-albert": {}, "levels": {}, "grid": {"sides": "1024x1024"}, "torus": {"sides": "1024x1024"},
    "percolated": {"sides": "1024x1024"},
}


def on_disk(store: Store, scratch: Path) -> Any:
    """An engine with half of the blocks in its arena."""
    arena = max(store.n_arcs * store.id_dtype.itemsize // 2, 1 << 20)
    return open_engine(store, vertex_state="disk", memory_bytes=4 << 30, arena_bytes=arena, sizes=SIZES,
                       scratch=scratch)


def counted(engine: Any) -> Io:
    """What was read and written so far."""
    rows, scratch = engine.disk.rows, engine.disk.scratch
    return Io(rows.counters.snapshot().blocks_read, rows.offset_counters.snapshot().blocks_read,
              scratch.bytes_written, scratch.bytes_read)


def levels_of(engine: Any, distances: np.ndarray) -> list[tuple[int, int]]:
    """(vertices, arcs) of every level."""
    reached = np.flatnonzero(distances >= 0)
    vertices = np.bincount(distances[reached])
    arcs = np.bincount(distances[reached], engine.degrees(reached).astype(float)).astype(np.int64)
    return list(zip(vertices.tolist(), arcs.tolist(), strict=True))


def check(store: Store, folder: Path, diameter: int) -> None:
    """The distances from the vertex of the highest degree, the diameter and its certificate."""
    with open_engine(store, memory_bytes=4 << 30) as engine:
        source = int(engine.highest_degrees(1)[0])
        want = engine.bfs(source).distances.gather(np.arange(store.n_vertices))
        levels = levels_of(engine, want)
    with on_disk(store, folder) as engine:
        engine.bfs(source)  # after it all blocks are checked
        before = counted(engine)
        found = engine.bfs(source).distances
        after, formula = counted(engine), bfs_io(engine.disk, levels)
        for start in range(0, store.n_vertices, 1 << 16):
            part = np.arange(start, min(start + (1 << 16), store.n_vertices))
            assert np.array_equal(found.gather(part), want[part])
        for name, most in vars(formula).items():  # a bit a vertex beside
            assert getattr(after, name) - getattr(before, name) <= 2 * most + store.n_vertices // 32
        result = METHODS["pivots"].definition().solve(engine, method_options("pivots", {}))
    assert result.exact and result.diameter_max_component == diameter
    certificate = folder / "proof.json"
    write_certificate(certificate, result.proof, claims_of(result), store)
    assert verify(certificate, store).verified


@pytest.mark.skipif(not DIAMETERS, reason="the folder of real graphs (../shared/data) is absent")
@pytest.mark.parametrize("name", DIAMETERS)
def test_real_graphs(tmp_path: Path, name: str) -> None:
    convert([INDEX.parent / name], tmp_path / "g.zarr")
    with open_store(tmp_path / "g.zarr") as store:
        check(store, tmp_path, DIAMETERS[name])


@pytest.mark.parametrize("name", GENERATED)
def test_generated_graphs(tmp_path: Path, name: str) -> None:
    parameters = GENERATED[name]
    generate(name, tmp_path / "g.zarr", vertices=None if parameters else 1 << 20, parameters=parameters)
    with open_store(tmp_path / "g.zarr") as store:
        lengths = execute(store, make_task("pivots", memory_bytes=4 << 30))
        check(store, tmp_path, int(lengths.diameter_max_component or 0))
