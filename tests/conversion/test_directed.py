"""Stores with directions: rows of arcs out and their reverse, from one sort, whatever way the ids take."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import emdiam
from emdiam.cli.info import info_text
from emdiam.conversion.convert import ConvertOptions, write_graph
from emdiam.conversion.writing import DONE
from emdiam.errors import InputError, StoreError
from emdiam.formats.source import SourceInfo
from emdiam.networkx.stored import StoredGraph
from emdiam.progress import Meter
from emdiam.sorting.plan import SortPlan
from emdiam.store.arc_runs import store_info
from emdiam.store.check import _check_array, check_store
from emdiam.store.store import Store, open_store
from tests.helpers.convert_twin import ROOMY, TINY, ListSource, Pairs
from tests.helpers.directed_twins import odd_digraphs, random_arcs, write_arcs
from tests.helpers.resume_attempts import Stop, attempt, files_of, plan_of, source_of, stop_after


def rows_of(store: Store) -> dict[Any, list[Any]]:
    """Neighbours of every vertex, in the user's ids."""
    names = store.user_ids(np.arange(store.n_vertices))
    return {name: [names[u] for u in store.neighbours(v)] for v, name in enumerate(names)}


def compare(pairs: Pairs, path: Path, plan: SortPlan, **about: Any) -> None:
    """Convert, and compare both directions with what the pairs say."""
    report = write_arcs(pairs, path, plan=plan, n=about.pop("n_vertices", None), **about)
    arcs = {(a, b) for a, b in pairs if a != b}
    loops = sum(a == b for a, b in pairs)
    with open_store(path, directed=True) as store:
        out, back, record = rows_of(store), rows_of(store.reverse), store.record
        assert {(a, b) for a, row in out.items() for b in row} == arcs
        assert {(b, a) for a, row in back.items() for b in row} == arcs
        for rows, figures in ((out, record), (back, store.reverse.record)):
            degrees = [len(row) for row in rows.values()]
            assert all(len(set(row)) == len(row) for row in rows.values())
            assert (figures.max_degree, figures.n_isolated) == (max(degrees), degrees.count(0))
        assert check_store(store)["arcs"] == len(arcs) == record.n_arcs == record.n_edges
        assert store.directed and record.directed and not record.symmetric and record.directions == "kept"
        assert (record.loops_dropped, record.duplicates_dropped) == (loops, len(pairs) - loops - len(arcs))
        assert store.reverse.reverse.record.max_degree == record.max_degree
    assert report.record.pairs_read == len(pairs) == report.pairs_read


@pytest.mark.parametrize("ids", ["declared", "partitions", "compact", "gaps", "widened", "wide", "strings"])
@pytest.mark.parametrize("plan", [TINY, ROOMY], ids=["tiny", "roomy"])
def test_both_directions_are_there_whatever_way_the_ids_take(tmp_path: Path, ids: str, plan: SortPlan) -> None:
    rng = random.Random(ids)
    pairs: list[tuple[Any, Any]] = [(rng.randrange(30), rng.randrange(30)) for _ in range(150)]
    pairs += [pair[::-1] for pair in pairs[:40]] + pairs[:5] + [(30, 31), (31, 30)]
    about: dict[str, Any] = {}
    if ids in ("declared", "partitions"):
        about = {"n_vertices": 2000}
        plan = replace(plan, key_bits=20 if ids == "partitions" else 64)
    if ids == "gaps":
        pairs = [(3 * a, 3 * b) for a, b in pairs]
    if ids == "wide":
        pairs = [(a << 40, b << 40) for a, b in pairs]
    if ids == "widened":
        pairs.append((3, 1 << 40))
    if ids == "strings":
        pairs, about = [(f"v{a}", f"v{b}") for a, b in pairs], {"id_kind": "string"}
    compare(pairs, tmp_path / "g.zarr", plan, **about)


def test_odd_and_random_digraphs(tmp_path: Path) -> None:
    rng = random.Random(21)
    graphs = [(n, arcs) for _, n, arcs in odd_digraphs()] + [random_arcs(rng) for _ in range(20)]
    for n, arcs in graphs:
        compare(arcs, tmp_path / "g.zarr", TINY, n_vertices=n)


def test_bytes_do_not_depend_on_the_buffers(tmp_path: Path) -> None:
    n, arcs = 500, [(v, (v * v + k) % 500) for v in range(500) for k in range(4)]
    digests = {write_arcs(arcs, tmp_path / "g.zarr", n, plan=plan).record.record_digest
               for plan in (TINY, ROOMY, replace(ROOMY, key_bits=16))}
    assert len(digests) == 1


def test_others_read_both(tmp_path: Path) -> None:
    import anndata  # seconds, of one process of the suite

    write_arcs([(0, 1), (1, 2), (2, 0), (2, 3)], tmp_path / "g.zarr", 5)
    group = zarr.open_group(tmp_path / "g.zarr", mode="r")
    matrix = np.zeros((5, 5), int)
    matrix[[0, 1, 2, 2], [1, 2, 0, 3]] = 1
    assert (anndata.io.read_elem(group).toarray() == matrix).all()
    assert (anndata.io.read_elem(group["reverse"]).toarray() == matrix.T).all()


def test_undirected_stores_are_what_they_were(tmp_path: Path) -> None:
    report = write_graph(ListSource([(0, 1)], SourceInfo()), tmp_path / "g.zarr", options=ConvertOptions(plan=ROOMY))
    assert report.record.format_version == 2 and not {"directed", "reverse"} & report.record.to_dict().keys()
    with open_store(tmp_path / "g.zarr", directed=None) as store:
        assert store.reverse is store and not store.directed
    with pytest.raises(InputError, match="have no directions"):
        open_store(tmp_path / "g.zarr", directed=True)


def test_what_is_undirected_refuses_directions(tmp_path: Path) -> None:
    path = tmp_path / "g.zarr"
    write_arcs([(0, 1), (1, 2)], path, 3)
    with emdiam.open(path) as store:
        for act in (lambda: open_store(path), lambda: emdiam.diameter(path), lambda: emdiam.diameter(store),
                    lambda: emdiam.approximate(store), lambda: emdiam.reorder(store, tmp_path / "r.zarr", "degree"),
                    lambda: emdiam.profile(store), lambda: StoredGraph(store),
                    lambda: emdiam.convert(path, tmp_path / "r.zarr", directed=True)):
            with pytest.raises(InputError, match="directions"):
                act()
        assert "directions: kept" in info_text(store_info(store))
    with pytest.raises(InputError, match="have no directions"):
        write_arcs([(0, 1)], path, 3, directed=False)


def test_another_reverse_is_found(tmp_path: Path) -> None:
    """Arrays of another graph with as many arcs, each of them whole."""
    write_arcs([(0, 1), (1, 0), (2, 3)], tmp_path / "g.zarr", 4)
    write_arcs([(2, 3), (3, 2), (0, 1)], tmp_path / "h.zarr", 4)
    with open_store(tmp_path / "g.zarr", directed=True) as store, open_store(tmp_path / "h.zarr", directed=True) as one:
        arrays = {name: (one if name.startswith("reverse") else store).array(name) for name in store.array_names()}
        mixed = Store(store.path, store.record, arrays)
        with pytest.raises(StoreError, match="chunks are not those"):
            check_store(mixed)
        mixed.record.chunk_digest = _digest_of(mixed)
        with pytest.raises(StoreError, match="reverse is that of another graph"):
            check_store(mixed)


def _digest_of(store: Store) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in store.array_names():
        digest.update(name.encode() + _check_array(store, name, Meter(None))[0])
    return digest.hexdigest()


@pytest.mark.parametrize("kind", ["declared", "strings", "partitions"])
def test_a_stop_after_every_single_state(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attempt gets one state further than the one before it, and the bytes are those without a stop."""
    options = ConvertOptions(plan=plan_of(kind), chunk_ids=64, directed=True, scratch=tmp_path)
    write_graph(source_of(kind), tmp_path / "whole.zarr", options=options)
    stop_after(monkeypatch, lambda state: DONE not in state)
    report, n_stops = None, 0
    while report is None:
        try:
            report = attempt(kind, tmp_path, directed=True)
        except Stop:
            n_stops += 1
        assert n_stops < 500
    assert n_stops >= 8
    assert files_of(tmp_path / "g.zarr") == files_of(tmp_path / "whole.zarr")
    with pytest.raises(Stop):
        attempt("declared", tmp_path, directed=True, force=True)
    with pytest.raises(InputError, match="directions"):
        attempt("declared", tmp_path, force=True)
