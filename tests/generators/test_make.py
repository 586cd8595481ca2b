"""make_source: defaults, parsing and every refusal; generate: a store with the same edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.conversion.convert import ConvertOptions
from emdiam.errors import BudgetError, InputError
from emdiam.generators import CLASSES, generate, make_source
from emdiam.store.store import open_store
from tests.generators.test_protocol import SMALL, build, case_name, edge_set, pairs
from tests.helpers.convert_twin import counts_of


def test_registry_entries_are_complete():
    for name, graph_class in CLASSES.items():
        assert graph_class.name == name and graph_class.summary and graph_class.paper and graph_class.vertices
        for parameter in graph_class.parameters:
            assert parameter.kind in ("count", "real", "sides", "choice", "levels", "fans") and parameter.help
            assert (parameter.kind == "choice") == bool(parameter.choices)


def test_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        CLASSES["path"] = CLASSES["star"]


def test_defaults_are_those_of_the_registry():
    explicit = {"a": 0.57, "b": 0.19, "c": 0.19, "edge_factor": 16}
    assert edge_set(make_source("rmat", vertices=64)) == edge_set(
        make_source("rmat", vertices=64, parameters=explicit))
    assert make_source("erdos-renyi", vertices=100).info().n_entries == 400
    assert "p=0.65, kind=bond" in make_source("percolated", vertices=9).name


@pytest.mark.parametrize("key,text,value", [
    ("edge-factor", "2^3", 8), ("edge_factor", 8.0, 8), ("edge_factor", "8", 8), ("a", "0.5", 0.5),
    ("a", 0, 0.0),
])
def test_texts_and_numbers_are_parsed_alike(key, text, value):
    given = make_source("rmat", vertices=32, parameters={key: text})
    assert given.name == make_source("rmat", vertices=32, parameters={key: value}).name


@pytest.mark.parametrize("name,vertices,parameters,message", [
    ("rmatt", 8, {}, "no such graph class.*did you mean 'rmat'"),
    ("blob", 8, {}, "no such graph class.*choose from: path, cycle"),
    ("rmat", 8, {"edge_facto": 3}, "no such parameter of rmat.*did you mean 'edge_factor'"),
    ("path", 8, {"degree": 3}, "no such parameter of path.*there are none"),
    ("path", None, {}, "needs its number of vertices"),
    ("path", 0, {}, "positive whole number"),
    ("path", True, {}, "positive whole number"),
    ("cycle", 2, {}, "at least 3 vertices"),
    ("delaunay", 2, {}, "at least 3 vertices"),
    ("delaunay", 1 << 40, {}, "at most"),
    ("rmat", 100, {}, r"power of two: '100'; ask for 2\^6 or 2\^7"),
    ("rmat", 1, {}, "at least 2"),
    ("rmat", 8, {"a": 0.9}, r"a \+ b \+ c exceeds 1"),
    ("rmat", 8, {"a": -0.1}, "a must be from 0 to 1"),
    ("rmat", 8, {"a": "x"}, "a must be a number"),
    ("rmat", 8, {"a": "nan"}, "a must be a number"),
    ("rmat", 8, {"edge_factor": 0}, "edge_factor must be at least 1"),
    ("rmat", 8, {"edge_factor": 1.5}, "edge_factor must be a whole number"),
    ("rmat", 8, {"edge_factor": True}, "edge_factor must be a whole number"),
    ("rmat", 1 << 61, {}, r"more than 2\^62"),
    ("clique", 1 << 40, {}, r"more than 2\^62"),
    ("grid", 50, {}, "not a square: '50'; ask for 49 or 64"),
    ("grid", None, {}, "needs its sides"),
    ("grid", None, {"sides": "5y5"}, "not the sides of a grid"),
    ("grid", None, {"sides": "0x5"}, "every side must be at least 1"),
    ("grid", 24, {"sides": "5x5"}, "disagree: the sides make 25"),
    ("torus", None, {"sides": "x".join(["1"] * 63)}, "at most 62 sides"),
    ("hypercube", None, {}, "needs its dimension"),
    ("hypercube", 12, {}, r"power of two: '12'; ask for 2\^3 or 2\^4"),
    ("hypercube", 16, {"dimension": 5}, "disagree"),
    ("hypercube", None, {"dimension": 63}, "dimension must be from 0 to 62"),
    ("regular", 7, {"degree": 3}, "odd number of vertices"),
    ("regular", 8, {"degree": 5}, "at least 10 vertices"),
    ("regular", 4000, {"degree": 200}, "degree must be from 1 to 128"),
    ("watts-strogatz", 20, {"k": 5}, "even and less"),
    ("watts-strogatz", 6, {"k": 6}, "choose an even k from 2 to 4"),
    ("watts-strogatz", 20, {"p": 1.1}, "p must be from 0 to 1"),
    ("barabasi-albert", 3, {"m": 3}, "at least 4 vertices"),
    ("erdos-renyi", 5, {"edges": 11}, "only 10 pairs"),
    ("erdos-renyi", 5, {"edges": 3, "average_degree": 2}, "both edges and average_degree"),
    ("erdos-renyi", 1 << 33, {}, "at most 3037000500"),
    ("geometric", 5, {"radius": 0.1, "average_degree": 2}, "both radius and average_degree"),
    ("geometric", 5, {"radius": -1}, "radius must be from 0 to 1.5"),
    ("percolated", 9, {"kind": "edge"}, "kind is one of bond, site"),
    ("percolated", 9, {"p": 2}, "p must be from 0 to 1"),
])
def test_impossible_orders_are_refused_with_a_sentence(name, vertices, parameters, message):
    with pytest.raises(InputError, match=message):
        make_source(name, vertices=vertices, parameters=parameters)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True])
def test_impossible_seeds_are_refused(seed):
    with pytest.raises(InputError, match="seed"):
        make_source("path", vertices=5, seed=seed)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SMALL), st.integers(0, 2**64 - 1), st.integers(1, 3000))
def test_any_seed_and_batch_size_gives_ids_in_range(case, seed, batch_bytes):
    source = build(case, seed=seed)
    got = pairs(source, batch_bytes)
    assert got.min(initial=0) >= 0 and got.max(initial=0) < source.n_vertices
    assert source.info().n_entries in (None, len(got))


def store_edges(path: Path):
    """Set of (smaller id, larger id) in a store, through plain zarr."""
    import zarr

    group = zarr.open_group(path, mode="r")
    indptr, indices = group["indptr"][:], group["indices"][:].astype(np.int64)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return {(u, v) for u, v in zip(rows.tolist(), indices.tolist(), strict=True) if u < v}


@pytest.mark.parametrize("case", SMALL, ids=case_name)
def test_generate_writes_a_store_with_the_edges(case, tmp_path):
    name, vertices, parameters = case
    target = tmp_path / "graph.zarr"
    report = generate(name, target, vertices=vertices, seed=7, parameters=parameters)
    source = build(case)
    expected = {(u, v) for u, v in edge_set(source) if u != v}
    assert store_edges(target) == expected
    record = report.report.record
    assert (record.n_vertices, record.n_edges) == (source.n_vertices, len(expected))
    counts = counts_of([tuple(pair) for pair in pairs(source).tolist()])
    assert (record.n_edges, record.loops_dropped, record.duplicates_dropped, record.reverse_dropped) == counts
    assert report.known_diameter == source.known_diameter
    assert report.to_dict()["known_diameter"] == source.known_diameter


def test_generate_keeps_vertices_without_edges(tmp_path):
    generate("percolated", tmp_path / "g.zarr", vertices=100, parameters={"p": 0.0})
    with open_store(tmp_path / "g.zarr") as store:
        assert (store.record.n_vertices, store.record.n_edges, store.record.n_isolated) == (100, 0, 100)


def test_a_generator_beyond_the_budget_is_refused_at_once(tmp_path):
    with pytest.raises(BudgetError, match="generating delaunay.*more than the memory budget of 1.0 GiB"):
        generate("delaunay", tmp_path / "g.zarr", vertices=1 << 24,
                 options=ConvertOptions(memory_bytes=1 << 30))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("case", SMALL, ids=case_name)
def test_progress_of_reading_comes_to_its_total(case, tmp_path):
    """Edges that are not counted before are read by vertices, or by triangles."""
    name, vertices, parameters = case
    events = []
    generate(name, tmp_path / "g", vertices=vertices, parameters=parameters,
             options=ConvertOptions(progress=events.append))
    last = [event for event in events if event.phase == "read"][-1]
    assert last.finished and last.done == last.total > 0
    known = make_source(name, vertices=vertices, parameters=parameters).info().n_entries is not None
    assert known == (last.unit == "edges")
