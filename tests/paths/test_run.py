"""`emdiam sssp` and `emdiam.shortest_paths`: stores with and without weights, names, files, memory, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest

import emdiam
from emdiam.cli.main import group
from emdiam.cli.outcome import run as run_cli
from emdiam.errors import BudgetError, InputError
from emdiam.paths.methods import METHODS
from emdiam.paths.negative_cycle import NegativeCycle
from emdiam.store.store import open_store
from tests.helpers.weighted_stores import make_weighted_store, some_weighted_graph


def networkx_graph(edges: dict[tuple[int, int], int | float], n: int) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in edges.items())
    return graph


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "float32", "float64"])
def test_a_store_with_weights(tmp_path: Path, dtype: str) -> None:
    edges = {pair: abs(weight) for pair, weight in some_weighted_graph(dtype).items()}
    store = make_weighted_store(tmp_path / "g.zarr", edges, n_vertices=40, dtype=dtype)
    result = emdiam.shortest_paths(store, 5, out=tmp_path / "paths.parquet", target=17)
    distances, paths = nx.single_source_dijkstra(networkx_graph(edges, 40), 5)
    assert result.distances is not None and result.predecessors is not None
    table = pq.read_table(tmp_path / "paths.parquet").to_pydict()
    assert {v: d for v, d in zip(table["id"], table["distance"], strict=True) if d is not None} == {
        v: pytest.approx(d, rel=1e-12) for v, d in distances.items()}
    assert table["predecessor"] == [None if p < 0 else p for p in result.predecessors.tolist()]
    assert result.reached == len(distances) and result.weights == dtype
    assert result.distance == pytest.approx(distances[17], rel=1e-12) and result.path[0] == 5
    assert nx.path_weight(networkx_graph(edges, 40), result.path, "weight") == pytest.approx(distances[17], rel=1e-12)
    assert result.largest_distance == pytest.approx(max(distances.values()), rel=1e-12)
    assert len(paths[17]) >= 2


def test_directions_and_names(tmp_path: Path) -> None:
    file = tmp_path / "edges.txt"
    file.write_text("ada bob\nbob cid\ncid ada\ncid eve\n")
    emdiam.convert(file, tmp_path / "g.zarr", directed=True)
    result = emdiam.shortest_paths(tmp_path / "g.zarr", "eve", target="ada")
    assert (result.reached, result.distance, result.path, result.farthest) == (1, None, None, "eve")
    result = emdiam.shortest_paths(tmp_path / "g.zarr", "ada", target="eve")
    assert result.directed and result.path == ["ada", "bob", "cid", "eve"] and result.distance == 3


def test_ids_of_a_store_in_another_order(tmp_path: Path) -> None:
    file = tmp_path / "edges.txt"
    file.write_text("10 20\n20 35\n35 70\n35 41\n")
    emdiam.convert(file, tmp_path / "g.zarr")
    emdiam.reorder(tmp_path / "g.zarr", tmp_path / "r.zarr", "degree")
    for store in ("g.zarr", "r.zarr"):
        result = emdiam.shortest_paths(tmp_path / store, 10, target="70")
        assert result.path == [10, 20, 35, 70] and result.source == 10
        with pytest.raises(InputError, match="no such vertex"):
            emdiam.shortest_paths(tmp_path / store, 36)
        with pytest.raises(InputError, match="ids of this graph are numbers"):
            emdiam.shortest_paths(tmp_path / store, "ada")


def test_negative_weights(tmp_path: Path) -> None:
    store = make_weighted_store(tmp_path / "g.zarr", {(0, 1): 4, (1, 2): -1}, n_vertices=4, dtype="int32")
    with pytest.raises(NegativeCycle, match="cycle of weight -2") as shown:
        emdiam.shortest_paths(store, 0)
    assert sorted(set(shown.value.cycle)) == [1, 2] and shown.value.weight == -2
    assert emdiam.shortest_paths(store, 3).reached == 1
    for method in METHODS:
        if not METHODS[method].negative:
            with pytest.raises(InputError, match=f"{method} needs weights that are not negative"):
                emdiam.shortest_paths(store, 0, method=method)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(make_weighted_store(tmp_path / "g.zarr", {(0, 1): 4, (1, 2): 1, (0, 2): 9}, n_vertices=4))
    assert run_cli(group, ["sssp", store, "--source", "0", "--json", "--quiet"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {name: result[name] for name in ("source", "reached", "largest_distance", "farthest")} == {
        "source": 0, "reached": 3, "largest_distance": 5, "farthest": 2}
    assert {"method", "relaxations", "rounds", "peak_rss_bytes", "seconds", "version", "store_digest"} <= set(result)
    assert run_cli(group, ["sssp", store, "--source", "0", "--target", "3", "--quiet"]) == 0
    assert "distance to 3: infinite" in capsys.readouterr().out
    assert run_cli(group, ["sssp", store, "--source", "0", "--delta", "inf", "--method", "near-far", "--quiet"]) == 0
    assert "weights are uint8" in capsys.readouterr().out
    assert run_cli(group, ["sssp", store, "--source", "9", "--quiet"]) == 2


def test_memory_that_cannot_do(tmp_path: Path) -> None:
    store = make_weighted_store(tmp_path / "g.zarr", {(0, 1): 4}, n_vertices=4)
    with pytest.raises(BudgetError, match="is too small: the least is"):
        emdiam.shortest_paths(store, 0, memory="1MiB")


def test_weights_that_the_record_does_not_say(tmp_path: Path) -> None:
    """A search trusts that none is negative, so the record is compared with what is read."""
    store = make_weighted_store(tmp_path / "g.zarr", {(0, 1): 4, (1, 2): -1}, n_vertices=3, dtype="int32")
    with open_store(store) as opened:
        assert opened.record.weights is not None
        opened.record.weights = opened.record.weights._replace(least=0)
        with pytest.raises(InputError, match="weights are from 0 to 4"):
            emdiam.shortest_paths(opened, 0)


def test_distances_that_may_not_fit() -> None:
    from emdiam.paths.methods import shortest_paths
    from emdiam.paths.rows import WeightedRows

    rows = WeightedRows.from_edges(3, [0, 1], [1, 2], np.array([1, 1 << 62], np.int64))
    with pytest.raises(OverflowError, match="64 bits"):
        shortest_paths(rows, 0, "bellman-ford")
