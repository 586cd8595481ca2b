"""Results as data: sequences and mapping by the caller's names, tables of other libraries, plots and small pictures."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import emdiam
from emdiam.by_vertex import ByVertex
from emdiam.methods.eccentricity.result import VertexSet
from emdiam.plots import bars_svg, draw_prices
from emdiam.runs.options import FUNCTIONS, keywords_of

ROADS = nx.Graph()
ROADS.add_weighted_edges_from([
    ("Bonn", "Köln", 1.5), ("Köln", "Aachen", 2.0), ("Bonn", "Aachen", 9.0), ("x", "y", 1.0)])


def kinds(graph: nx.Graph, folder: Path) -> dict[str, Any]:
    """The graph as every kind of input that has its names."""
    pairs = [(str(one), str(other)) for one, other in graph.edges]
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{one},{other}\n" for one, other in pairs))
    emdiam.convert(folder / "edges.csv", folder / "g.zarr")
    return {"networkx": graph, "pandas": pd.DataFrame(pairs, columns=["source", "target"]), "pairs": pairs,
            "file": folder / "edges.csv", "store": folder / "g.zarr"}


def test_eccentricities_of_every_input_are_a_mapping(tmp_path: Path):
    graph = nx.les_miserables_graph()
    want = nx.eccentricity(graph)
    for kind, given in kinds(graph, tmp_path).items():
        found = emdiam.eccentricities(given)
        values = found.by_vertex()
        assert values == want and values.to_dict() == want and len(values) == 77, kind
        assert values["Valjean"] == 4 - ("Valjean" in found.center) and "nobody" not in values
        assert found.histogram == {e: [*want.values()].count(e) for e in sorted({*want.values()})}
        assert sorted(found.center) == sorted(nx.center(graph)) and len(found.periphery) == len(nx.periphery(graph))
        assert found.to_dict()["histogram"] == {str(e): count for e, count in found.histogram.items()}
    with emdiam.open(tmp_path / "g.zarr") as store:
        assert emdiam.eccentricities(store).by_vertex() == want
        with pytest.raises(ValueError, match="give keep=True"):
            emdiam.eccentricities(store, keep=False).by_vertex()


def test_tables_are_joined_by_name():
    found = emdiam.eccentricities(ROADS, weight="weight")
    nodes = pd.DataFrame({"size": [1, 2, 3]}, index=["Bonn", "Köln", "Aachen"])
    joined = nodes.join(found.to_pandas())
    assert joined["eccentricity"].to_dict() == {"Bonn": 3.5, "Köln": 2.0, "Aachen": 3.5}
    table = pl.DataFrame({"vertex": ["x", "Köln"]}).join(found.to_polars(), on="vertex")
    assert sorted(table.rows()) == [("Köln", 2.0), ("x", 1.0)]
    assert found.to_arrow().column_names == ["vertex", "eccentricity"]
    assert found.histogram == {1.0: 2, 2.0: 1, 3.5: 2} and list(found.to_dict()["histogram"]) == ["1", "2", "3.5"]


def test_values_that_are_missing_are_null():
    values = ByVertex([(0, 1), "b", 3], {"eccentricity": np.array([5, 0, 7], np.uint8), "lower": np.array([5, 4, 7])},
                      np.array([True, False, True]))
    assert values == {(0, 1): 5, 3: 7} and "b" not in values and len(values) == 2
    assert values.to_pandas()["eccentricity"].isna().tolist() == [False, True, False]
    assert values.to_pandas().loc["b", "lower"] == 4 and (0, 1) in values.to_pandas().index
    assert values.to_arrow().to_pylist()[1] == {"vertex": "b", "eccentricity": None, "lower": 4}
    assert values.to_polars()["vertex"].to_list() == ["(0, 1)", "b", "3"]
    assert values.column("lower") == {(0, 1): 5, 3: 7}
    floats = ByVertex(["a", "b"], {"distance": np.array([0.5, np.inf])}, np.array([True, False]))
    assert floats.to_pandas()["distance"].isna().tolist() == [False, True] and floats.to_dict() == {"a": 0.5}
    assert "first={'a': 0.5}" in repr(floats)


def test_a_stopped_run_has_bounds_by_name():
    with pytest.raises(emdiam.StoppedEarly) as stop:
        emdiam.eccentricities(nx.random_regular_graph(3, 100, 1), progress=_interrupted)
    found = stop.value.result
    assert found.unresolved and set(found.to_pandas().columns) == {"eccentricity", "lower", "upper"}
    assert (found.to_pandas()["lower"] <= found.to_pandas()["upper"]).all()
    assert len(found.by_vertex()) == 100 - found.unresolved


def _interrupted(event: emdiam.Event) -> None:
    if event.kind == "traversal" and event.facts["number"] >= 3:
        raise KeyboardInterrupt


def test_center_and_periphery_are_sequences():
    ring = emdiam.eccentricities(nx.cycle_graph(1500))
    assert len(ring.center) == 1500 and ring.center[1499] == 1499 and 1400 in ring.center
    assert ring.to_dict()["center"] == {"size": 1500, "ids": list(range(1000))}
    some = VertexSet(5, ["a", "b"])
    assert len(some) == 5 and some[:2] == ["a", "b"] and some[1] == "b" and "a" in some and some != ["a", "b"]
    for ask in (lambda: some[-1], lambda: "c" in some, lambda: list(some)):
        with pytest.raises(ValueError, match="first 2 of 5 vertices are known: give keep=True"):
            ask()
    whole = VertexSet(2, ["a", "b"])
    assert whole == ["a", "b"] and whole[-1] == "b" and "c" not in whole and [*reversed(whole)] == ["b", "a"]
    with pytest.raises(IndexError):
        whole[2]


def test_centralities_are_a_mapping(tmp_path: Path):
    graph = nx.karate_club_graph()
    close, harmonic = nx.closeness_centrality(graph), nx.harmonic_centrality(graph)
    store = tmp_path / "g.zarr"
    emdiam.convert(graph, tmp_path / "natural.zarr")
    emdiam.reorder(tmp_path / "natural.zarr", store, "degree")
    for given in (graph, store):
        found = emdiam.distances(given, exact=True, keep=True)
        assert found.by_vertex() == pytest.approx(close)
        assert found.by_vertex().column("harmonic") == pytest.approx(harmonic)
        assert list(found.to_pandas().columns) == ["closeness", "harmonic"] and "closeness" not in found.to_dict()
    with pytest.raises(ValueError, match="no centralities: give keep=True"):
        emdiam.distances(graph).by_vertex()


def test_paths_are_a_mapping(tmp_path: Path):
    found = emdiam.shortest_paths(ROADS, "Bonn", weight="weight")
    assert found.by_vertex() == {"Bonn": 0.0, "Köln": 1.5, "Aachen": 3.5}
    assert dict(found.paths) == {"Bonn": ["Bonn"], "Köln": ["Bonn", "Köln"], "Aachen": ["Bonn", "Köln", "Aachen"]}
    assert found.to_pandas().loc["Aachen", "predecessor"] == "Köln" and "names" not in found.to_dict()
    grid = nx.grid_2d_graph(3, 4)
    found = emdiam.shortest_paths(grid, (0, 0), target=(2, 3))
    assert found.source == (0, 0) and found.path[-1] == (2, 3) and len(found.path) == 6 == len(found.paths[2, 3])
    assert found.by_vertex() == nx.single_source_shortest_path_length(grid, (0, 0))
    with pytest.raises(emdiam.InputError, match="no such vertex: '0'"):  # a position is no name
        emdiam.shortest_paths(grid, 0)
    emdiam.convert(nx.path_graph(["a", "b", "c"]), tmp_path / "g.zarr")
    assert emdiam.shortest_paths(tmp_path / "g.zarr", "a").by_vertex() == {"a": 0, "b": 1, "c": 2}
    with pytest.raises(ValueError, match="no distances: give keep=True"):
        emdiam.shortest_paths(tmp_path / "g.zarr", "a", keep=False).by_vertex()


def test_all_pairs_are_a_table(tmp_path: Path):
    graph = nx.Graph([((0, 0), "b"), ("b", "c"), (5, 6)])
    table = emdiam.all_pairs(graph).to_pandas()
    assert table.index.tolist() == table.columns.tolist() == sorted(graph, key=str)
    assert table.at["c", (0, 0)] == 2 and np.isinf(table.at["c", 5])
    emdiam.convert([("a", "b")], tmp_path / "g.zarr")
    assert emdiam.all_pairs(tmp_path / "g.zarr", out=tmp_path / "m.zarr").to_pandas().loc["a", "b"] == 1


def test_bounds_over_time_are_kept(tmp_path: Path):
    emdiam.generate("path", tmp_path / "g.zarr", vertices=300)
    found = emdiam.exact(tmp_path / "g.zarr")
    assert found.history and all(low <= 299 <= high for _, low, high in found.history)
    assert [row[0] for row in found.history] == sorted(row[0] for row in found.history)
    assert "history" not in found.to_dict()
    with pytest.raises(emdiam.StoppedEarly) as stop:
        emdiam.exact(nx.random_regular_graph(3, 100, 1), progress=_interrupted)
    assert stop.value.result.history


def test_results_are_drawn(monkeypatch: pytest.MonkeyPatch):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    graph = nx.path_graph(60)
    axes = emdiam.eccentricities(graph).plot()
    assert [bar.get_height() for bar in axes.patches] == [2] * 30 and axes.get_xlabel() == "eccentricity"
    few = emdiam.eccentricities(nx.les_miserables_graph()).plot()
    assert all(tick.is_integer() for tick in few.get_xticks()) and len(few.patches) == 3
    assert len(emdiam.distances(graph, exact=True).plot(axes).patches) == 30 + 59
    assert emdiam.shortest_paths(graph, 0).plot().get_ylabel() == "vertices"
    found = emdiam.diameter(graph)
    found.history.append((found.seconds["total"] + 1, found.lower, found.upper))  # after the total, as with compiling
    assert all(sorted(xs := line.get_xdata().tolist()) == xs for line in found.plot().get_lines())
    lines = emdiam.approximate(graph, method="sweep").plot().get_lines()
    assert [line.get_label() for line in lines] == ["upper bound", "lower bound", "estimate"]
    assert lines[0].get_ydata()[-1] == lines[1].get_ydata()[-1] == 59
    rows = [{"method": name, "seconds": 1.0, "estimate": 7, "lower": 5, "upper": 9} for name in ("sweep", "clusters")]
    assert [one.get_label() for one in draw_prices(rows, 6).get_lines()] == ["diameter"]
    pyplot.close("all")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delattr(sys.modules["matplotlib.pyplot"], "__name__", raising=False)
    with pytest.raises(emdiam.InputError, match="plots need matplotlib, which is not installed; pip install"):
        emdiam.distances(graph).plot()


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    found = emdiam.eccentricities(nx.path_graph(3))
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(emdiam.InputError, match="polars is not installed; pip install polars"):
        found.to_polars()


def test_notebooks_show_a_histogram():
    found = emdiam.eccentricities(nx.path_graph(6))
    for shown in (found._repr_html_(), emdiam.distances(nx.path_graph(6))._repr_html_()):
        assert shown.count("<svg") == 1 and shown.endswith("</svg>")
    assert found._repr_html_().count("<rect") == 3
    assert bars_svg({}, "x") == "" and bars_svg({7: 2}, "x").count("<rect") == 1
    assert bars_svg(dict.fromkeys(range(1000), 1), "x").count("<rect") == 64
    assert bars_svg({0.5: 1, 1.25: 3}, "x").count("<rect") == 2


def test_editors_see_every_keyword():
    """Of the functions, and of the stubs that editors read in place of them."""
    stubs = Path(emdiam.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    for name in FUNCTIONS:
        shown = inspect.signature(getattr(emdiam, name)).parameters
        written = stubs.partition(f"def {name}(")[2].partition("->")[0]
        for keyword in keywords_of(name):
            assert keyword in shown and f"{keyword}:" in written
