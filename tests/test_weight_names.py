"""Every function goes by the weights that are named, whatever else the edges have; other names are refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import parquet

import emdiam
from emdiam.errors import InputError
from emdiam.networkx import Graph
from emdiam.store.store import open_store

# Along km 5.5, along weight 200.
TABLE = {"src": [0, 1], "dst": [1, 2], "weight": [100, 100], "km": [2.25, 3.25]}


def network(kind: type[nx.Graph] = nx.Graph) -> nx.Graph:
    graph = kind()
    for src, dst, weight, km in zip(*TABLE.values(), strict=True):
        graph.add_edge(src, dst, weight=weight, km=km)
    return graph


def igraph() -> Any:
    library = pytest.importorskip("igraph")
    graph = library.Graph(list(zip(TABLE["src"], TABLE["dst"], strict=True)))
    graph.es["weight"], graph.es["km"] = TABLE["weight"], TABLE["km"]
    return graph


def polars() -> Any:
    return pytest.importorskip("polars").DataFrame(TABLE)


GRAPHS: dict[str, Callable[[], Any]] = {
    "networkx": network, "multigraph": lambda: network(nx.MultiGraph), "igraph": igraph, "polars": polars,
    "pandas": lambda: pd.DataFrame(TABLE), "pyarrow": lambda: pa.table(TABLE),
}
DIAMETERS: dict[str, Callable[..., Any]] = {
    "diameter": lambda graph, **asked: emdiam.diameter(graph, **asked).diameter,
    "exact": lambda graph, **asked: emdiam.exact(graph, **asked).diameter,
    "bounding": lambda graph, **asked: emdiam.exact(graph, method="bounding", **asked).diameter,
    "eccentricities": lambda graph, **asked: emdiam.eccentricities(graph, **asked).diameter,
    "approximate": lambda graph, **asked: emdiam.approximate(graph, **asked).upper,
    "sweep": lambda graph, **asked: emdiam.approximate(graph, method="sweep", **asked).lower,
    "shortest_paths": lambda graph, **asked: emdiam.shortest_paths(graph, 0, **asked).largest_distance,
    "all_pairs": lambda graph, **asked: emdiam.all_pairs(graph, **asked).largest_distance,
}


@pytest.mark.parametrize("library", GRAPHS)
@pytest.mark.parametrize("function", DIAMETERS)
def test_the_attribute_that_is_named_counts(function: str, library: str) -> None:
    run, graph = DIAMETERS[function], GRAPHS[library]()
    assert run(graph, weight="km") == run(graph, weighted="km") == run(graph, weight="km", weighted=True) == 5.5
    assert run(graph, weight="weight") == run(graph, weighted=True) == 200
    with pytest.raises(InputError, match=r"no (attribute|column) nosuch.*weight.*km"):
        run(graph, weight="nosuch")


@pytest.mark.parametrize("name", ["g.csv", "g.parquet", "g.txt"])
@pytest.mark.parametrize("function", DIAMETERS)
def test_the_column_of_a_file_that_is_named_counts(tmp_path: Path, function: str, name: str) -> None:
    path = tmp_path / name
    if name == "g.parquet":
        parquet.write_table(pa.table(TABLE), path)
    else:
        pd.DataFrame(TABLE).to_csv(path, index=False, header=name == "g.csv", sep="," if name == "g.csv" else " ")
    run = DIAMETERS[function]
    assert run(path, weight="4" if name == "g.txt" else "km") == 5.5
    assert run(path, weight="3" if name == "g.txt" else "weight") == 200


@pytest.mark.parametrize("function", DIAMETERS)
def test_a_store_has_the_weights_that_were_converted_by_their_name(tmp_path: Path, function: str) -> None:
    run, place = DIAMETERS[function], tmp_path / "g.zarr"
    emdiam.convert(pd.DataFrame(TABLE), place, weight="km")
    assert run(place, weight="km") == run(place, weighted=True) == 5.5
    with open_store(place) as store:
        assert store.record.weights is not None and store.record.weights.name == "km"
        with pytest.raises(InputError, match="has no weights that are called weight: they are called km"):
            run(store, weight="weight")
    emdiam.convert(TABLE_WITHOUT_NAMES, place, weights=True, force=True)
    with pytest.raises(InputError, match="has no weights that are called km: they have no name"):
        run(place, weight="km")
    emdiam.convert([(0, 1), (1, 2)], place, force=True)
    for asked in ({"weighted": True}, {"weight": "km"}):
        with pytest.raises(InputError, match="this store has no weights"):
            run(place, **asked)


TABLE_WITHOUT_NAMES = [(0, 1, 5), (1, 2, 7)]


@pytest.mark.parametrize("graph", [TABLE_WITHOUT_NAMES, sp.csr_matrix(np.eye(3, k=1)), np.array([[0, 1, 5]])])
@pytest.mark.parametrize("function", ["exact", "eccentricities", "approximate", "all_pairs"])
def test_what_has_no_names_is_refused(function: str, graph: Any) -> None:
    with pytest.raises(InputError, match="no columns of weights to choose from: 'km'"):
        DIAMETERS[function](graph, weight="km")


@pytest.mark.parametrize("asked", [
    {"weight": "km", "weighted": "weight"}, {"weight": ""}, {"weighted": ""}, {"weight": 3}, {"weighted": 3},
    {"weight": True},
])
def test_names_that_are_none(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="weights have one name"):
        emdiam.exact(network(), **asked)


def test_the_usual_names_of_attributes() -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", length=2.5, name="here")
    assert emdiam.exact(graph, weighted=True).diameter == 2.5
    graph.add_edge("b", "c", length=1, cost=4)
    with pytest.raises(InputError, match="have not one attribute of weights; they have length, name, cost"):
        emdiam.exact(graph, weighted=True)
    with pytest.raises(InputError, match="edge number 0 of networkx has no attribute cost"):
        emdiam.exact(graph, weight="cost")
    lonely = nx.empty_graph(3)
    assert emdiam.exact(lonely, weight="km").n_components == 3
    narrow = nx.Graph()
    narrow.add_edge(0, 1, km=np.float32(0.1))
    assert emdiam.exact(narrow, weight="km").diameter == 0.1


def test_distances_along_weights_by_their_name() -> None:
    graph = network()
    by_name = emdiam.distances(graph, weight="km", exact=True)
    assert by_name.weight == "km" and by_name.mean == emdiam.distances(graph, weighted="km", exact=True).mean
    assert emdiam.distances(graph, weighted=False).mean > 1


def test_columns_of_decimals() -> None:
    """Of databases: by their digits, which no product of floats rounds."""
    for value in ("0.3", "231.361", "123456.789012345"):
        column = pa.array([Decimal(value)] * 2, pa.decimal128(20, 12))
        table = pa.table({"src": [0, 1], "dst": [1, 2], "km": column})
        assert emdiam.exact(table.slice(0, 1), weight="km").diameter == float(value)


def test_a_certificate_is_verified_along_the_same_weights(tmp_path: Path) -> None:
    graph, file = network(), tmp_path / "c.json"
    emdiam.exact(graph, weight="km", certificate=file)
    assert emdiam.verify(file, graph, weight="km").verified
    assert not emdiam.verify(file, graph, weighted=True).verified
    assert not emdiam.verify(file, graph).verified


def test_a_store_converted_again_keeps_its_weights(tmp_path: Path) -> None:
    emdiam.convert(pd.DataFrame(TABLE), tmp_path / "g.zarr", weights="km")
    emdiam.convert(tmp_path / "g.zarr", tmp_path / "h.zarr", order="degree", weight="km")
    assert emdiam.exact(tmp_path / "h.zarr", weight="km").diameter == 5.5
    with pytest.raises(InputError, match="they are called km"):
        emdiam.convert(tmp_path / "g.zarr", tmp_path / "i.zarr", order="degree", weight="weight")


def test_networkx_over_a_store(tmp_path: Path) -> None:
    """"weight" is the usual name there; other names have to be right."""
    emdiam.convert(pd.DataFrame(TABLE), tmp_path / "g.zarr", weights="km")
    with Graph(tmp_path / "g.zarr") as graph:
        for name in ("km", "weight"):
            assert nx.diameter(graph, weight=name) == 5.5
            assert nx.single_source_dijkstra_path_length(graph, 0, weight=name) == {0: 0, 1: 2.25, 2: 5.5}
        with pytest.raises(NotImplementedError, match="is not implemented by"):
            nx.diameter(graph, weight="length")
        with pytest.raises(InputError, match="they are called km"):
            graph.along("length")
