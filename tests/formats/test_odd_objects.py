"""Graphs of Python programs, and binary files, that could be read as another graph: the right one, or a refusal."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import emdiam
from emdiam.errors import InputError
from emdiam.formats.objects import as_source
from emdiam.formats.weights import WeightChoice

NEGATIVE = nx.Graph([(-5, -4), (-4, 10), (10, 20)])
TUPLES = nx.Graph([((0, 1), "x"), ("x", 3)])


def edges_of(graph: Any, weighted: bool = False, **how: Any) -> list[Any]:
    """The edges of a graph in memory, by its ids, as sorted tuples; with weights triples."""
    source = as_source(graph, WeightChoice() if weighted else None, **how)
    labels, found = source.info().labels, []
    for batch in source.batches(1 << 16):
        ends = [ids.tolist() if hasattr(ids, "tolist") else ids.to_pylist() for ids in (batch.src, batch.dst)]
        if labels is not None:
            names = labels.tolist() if hasattr(labels, "tolist") else labels.to_pylist()
            ends = [[names[end] for end in some] for some in ends]
        found += list(zip(*ends, *([batch.weights.tolist()] if weighted else []), strict=True))
    return sorted(found)


def refused(graph: Any, what: str, weighted: bool = False, **how: Any) -> None:
    with pytest.raises(InputError, match=what) as caught:
        edges_of(graph, weighted, **how)
    assert caught.value.remedy


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text().splitlines()))[1:]


# Vertices with names that are no ids of a store.


@pytest.mark.parametrize("ask", [
    lambda out: emdiam.shortest_paths(NEGATIVE, 1),
    lambda out: emdiam.shortest_paths(NEGATIVE, -5, target=2),
    lambda out: emdiam.shortest_paths(NEGATIVE, [-5]),
    lambda out: emdiam.approximate(NEGATIVE, method="spanning", root=2),
    lambda out: emdiam.distances(NEGATIVE, sources=[0, 1], targets=[2], out=out),
    lambda out: emdiam.distances(NEGATIVE, sources=[-5], targets=["10"], out=out),
])
def test_positions_are_no_names(ask: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such vertex.*such as -5, -4, 10, 20"):
        ask(tmp_path / "d.csv")


def test_names_are_found_and_written(tmp_path: Path) -> None:
    assert emdiam.shortest_paths(NEGATIVE, -5, target=20, out=tmp_path / "s.csv").path == [-5, -4, 10, 20]
    assert sorted(rows_of(tmp_path / "s.csv"))[1] == ["-5", "0", ""]
    assert emdiam.approximate(NEGATIVE, method="spanning", root=-5).upper == 3
    assert emdiam.approximate(NEGATIVE, method="spanning", root="random").upper >= 3
    emdiam.distances(NEGATIVE, sources=[-5], targets=[10, 20], out=tmp_path / "d.csv")
    assert rows_of(tmp_path / "d.csv") == [["-5", "10", "2"], ["-5", "20", "3"]]
    emdiam.eccentricities(TUPLES, out=tmp_path / "e.csv")
    assert {row[0] for row in rows_of(tmp_path / "e.csv")} == {"(0, 1)", "x", "3"}
    (part,) = emdiam.exact(NEGATIVE, components=2).details["components"]
    assert part["vertex"] in (-4, 10)


@pytest.mark.parametrize("graph", [NEGATIVE, TUPLES, nx.Graph([(0.5, 1), (1, 2)]), nx.Graph([(1, "1"), ("1", 2)])])
def test_texts_of_names_are_ids_of_a_store(graph: Any, tmp_path: Path) -> None:
    report = emdiam.convert(graph, tmp_path / "g.zarr")
    assert "the ids are their texts" in " ".join(report.notes)
    with emdiam.open(tmp_path / "g.zarr") as store:
        names = store.user_ids(np.arange(store.n_vertices))
    assert set(names) in ({str(node) for node in graph}, {repr(node) for node in graph})
    assert emdiam.eccentricities(graph).by_vertex().to_dict() == nx.eccentricity(graph)


def test_names_that_are_ids_need_no_note(tmp_path: Path) -> None:
    for place, graph in enumerate((nx.path_graph(3), nx.Graph([("a", "b")]))):
        assert not emdiam.convert(graph, tmp_path / f"{place}.zarr").notes


def test_names_of_igraph_that_occur_twice_are_numbers(tmp_path: Path) -> None:
    graph = pytest.importorskip("igraph").Graph(4, [(0, 1), (1, 2), (2, 3)])
    graph.vs["name"] = ["a", "b", "a", "c"]
    assert emdiam.eccentricities(graph).by_vertex().to_dict() == {0: 3, 1: 2, 2: 2, 3: 3}
    assert "occur twice" in " ".join(emdiam.convert(graph, tmp_path / "g.zarr").notes)
    emdiam.convert(nx.path_graph(4), tmp_path / "old.zarr")
    for changes in (graph, NEGATIVE, TUPLES):
        with pytest.raises(InputError, match="can be no ids of a store"):
            emdiam.apply(tmp_path / "old.zarr", tmp_path / "new.zarr", remove=changes)
    assert emdiam.apply(tmp_path / "old.zarr", tmp_path / "new.zarr", remove=nx.path_graph(2)).removed == 1


@pytest.mark.parametrize("name", [0.5, True, [1], None, (1,), "1_0", "x", float("nan")])
def test_what_is_no_id_is_no_vertex(name: Any, tmp_path: Path) -> None:
    emdiam.convert(nx.path_graph(11), tmp_path / "g.zarr")
    for ask in (lambda: emdiam.shortest_paths(tmp_path / "g.zarr", name),
                lambda: emdiam.distances(tmp_path / "g.zarr", sources=[name], out=tmp_path / "d.csv")):
        with pytest.raises(InputError, match="there is no vertex|begin at a vertex"):
            ask()


def test_equal_numbers_are_one_id(tmp_path: Path) -> None:
    emdiam.convert(nx.path_graph(3), tmp_path / "g.zarr")
    for name in (2, 2.0, np.int64(2), "2"):
        assert emdiam.shortest_paths(tmp_path / "g.zarr", name, target=np.uint8(0)).path == [2, 1, 0]
