"""Weights through the conversion: the least of every edge, whatever the ids, the buffers and the order of the input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.checkpoint.options import CheckpointOptions
from emdiam.conversion.convert import ConvertOptions, graph_in_memory, write_graph
from emdiam.conversion.keys import WeightEnds, numbers_of, weights_of
from emdiam.conversion.reorder import reorder
from emdiam.conversion.writing import DONE
from emdiam.errors import InputError
from emdiam.formats.source import SourceInfo
from emdiam.sorting.plan import SortPlan
from emdiam.store.check import check_store
from emdiam.store.store import open_store
from emdiam.store.weights import WeightForm, WeightRecord
from tests.helpers.convert_twin import ROOMY, TINY
from tests.helpers.resume_attempts import Stop, plan_of, stop_after
from tests.helpers.weighted_twin import WeightedSource, arcs_of, convert_weighted, least_weights

many = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
FINITE = st.floats(allow_nan=False, allow_infinity=False)
FEW = st.integers(0, 3) | st.integers(0, 300)
PLANS = st.sampled_from([TINY, ROOMY])


@given(st.lists(FINITE, max_size=30))
def test_numbers_are_in_the_order_of_the_weights(values: list[float]):
    weights = np.array(values, np.float64)
    numbers = numbers_of(weights)
    assert weights_of(numbers, WeightForm(np.dtype(np.float64))).tolist() == weights.tolist()
    assert weights[np.argsort(numbers, kind="stable")].tolist() == sorted(values)
    assert numbers_of(np.array([-0.0])) == numbers_of(np.array([0.0]))


@many
@given(triples=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), FEW), max_size=60), plan=PLANS,
       directed=st.booleans())
def test_declared_ids(tmp_path: Path, triples: list[Any], plan: SortPlan, directed: bool):
    convert_weighted(triples, tmp_path, plan, directed, n_vertices=13)


@many
@given(triples=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), FINITE), min_size=1, max_size=60), plan=PLANS)
def test_compact_ids_and_floats(tmp_path: Path, triples: list[Any], plan: SortPlan):
    report = convert_weighted(triples, tmp_path, plan, weights="float64")
    assert report.record.weights is not None


@many
@given(triples=st.lists(st.tuples(st.integers(0, 9) | st.integers(1 << 40, (1 << 40) + 5), st.integers(0, 9), FEW),
                        min_size=1, max_size=60), plan=PLANS, directed=st.booleans())
def test_ids_that_become_wide(tmp_path: Path, triples: list[Any], plan: SortPlan, directed: bool):
    convert_weighted(triples, tmp_path, plan, directed)


@pytest.mark.parametrize("directed", [False, True])
def test_several_weights_are_not_forgotten_where_ids_become_wide(tmp_path: Path, directed: bool):
    report = convert_weighted([(1, 2, 5), (1, 2, 7)] * 8 + [(1 << 40, 3, 1)], tmp_path, directed=directed)
    assert report.record.weights is not None and report.record.weights.edges_with_several == 1


@many
@given(triples=st.lists(st.tuples(*[st.text("abc", max_size=3)] * 2, FEW), min_size=1, max_size=50), plan=PLANS,
       rewindable=st.booleans())
def test_strings(tmp_path: Path, triples: list[Any], plan: SortPlan, rewindable: bool):
    convert_weighted(triples, tmp_path, plan, id_kind="string")
    # Few hashes, so that all is taken in again with another salt.
    source = WeightedSource(triples, SourceInfo(id_kind="string"), rewindable=rewindable)
    options = ConvertOptions(plan=replace(plan, hash_bits=8), scratch=tmp_path, force=True, chunk_ids=64)
    write_graph(source, tmp_path / "h.zarr", options=options)
    with open_store(str(tmp_path / "h.zarr")) as store:
        assert arcs_of(store) == least_weights(triples)[0]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [1025, 1 << 15])
def test_keys_too_narrow_for_two_ids_need_partitions(tmp_path: Path, n: int, directed: bool):
    random = np.random.default_rng(n)
    triples = [(a, b, w) for a, b, w in zip(*random.integers(0, n, (2, 200)).tolist(),
                                            random.integers(0, 9, 200).tolist(), strict=True)]
    triples += [(a, b, w + 1) for a, b, w in triples[:40]] + [(0, n - 1, 3), (n - 1, 0, 2)]
    report = convert_weighted(triples, tmp_path, replace(TINY, key_bits=20), directed, n_vertices=n)
    assert report.sort.partitions == 1 << (2 * (n - 1).bit_length() + 2 - 20)


@pytest.mark.parametrize(("weights", "kind", "dtype"), [
    ([0, 255], "int", "uint8"), ([1, 256], "int", "uint16"), ([2**32 - 1, 7], "int", "uint32"),
    ([-1, 2**31 - 1], "int", "int32"), ([2.0**-20, 1.5], "float32", "float32"), ([1, 2e-10], "float64", "float64"),
    ([0.5, 1.5], "float32", "uint8"), ([0.25, 10.5], "float64", "uint16"), ([-0.1, 1e8], "float64", "int32"),
    ([1, 2], "float64", "uint8"), ([0.1, 1e9], "float64", "int64"), ([1e15 + 0.1, 1.0], "float64", "int64"),
    ([1e15 + 0.1, 1e17], "float64", "float64"), ([2.0**53, 0.5], "float64", "float64"),
])
def test_the_dtype_is_the_least_that_holds_them(tmp_path: Path, weights: list[float], kind: str, dtype: str):
    report = convert_weighted([(0, 1, weights[0]), (1, 2, weights[1]), (2, 2, 1e9)], tmp_path, weights=kind)
    assert report.record.weights is not None and report.record.weights.dtype == dtype


@pytest.mark.parametrize("weights", [[0.125, 0.5, 1.0], [1.0, 0.125, 7.0], [1e8, 1e-9, 2.5]])
def test_places_are_the_most_of_any_batch(tmp_path: Path, weights: list[float]):
    triples = [(v, v + 1, weight) for v, weight in enumerate(weights)]
    source = WeightedSource(triples, SourceInfo(weights="float64"), per_batch=1)
    write_graph(source, tmp_path / "h.zarr", options=ConvertOptions(plan=TINY, chunk_ids=64))
    with open_store(str(tmp_path / "h.zarr")) as store:
        assert store.record.weights is not None
        assert store.record.weights.decimals == max(len(f"{weight:.9f}".rstrip("0").partition(".")[2])
                                                    for weight in weights)
        assert arcs_of(store) == least_weights(triples)[0]


def test_64_bits_are_for_weights_whose_sums_fit_them(tmp_path: Path):
    few = [(0, 1, 1e8), (1, 2, 1e-9)]
    assert convert_weighted(few, tmp_path, weights="float64").record.weights == WeightRecord(
        "int64", 1, 10**17, 5e16, 0, 9)
    many = convert_weighted([*few, *((v, v + 1, 0.5) for v in range(2, 40))], tmp_path, weights="float64")
    assert many.record.weights is not None and many.record.weights.dtype == "float64"


def test_whole_weights_that_fit_no_dtype_together(tmp_path: Path):
    with pytest.raises(InputError, match=r"list: whole weights from -1 to 4294967295 fit no dtype; keep them"):
        convert_weighted([(0, 1, -1), (1, 2, 2**32 - 1)], tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert WeightEnds().form(SourceInfo(weights="int"), 3, "") == WeightForm(np.dtype(np.uint8))


def test_a_graph_of_loops_has_no_weights(tmp_path: Path):
    report = convert_weighted([(3, 3, 9), (4, 4, 1)], tmp_path)
    assert report.record.weights is not None and report.record.weights.mean == 0.0


@pytest.mark.thin(2)
@pytest.mark.parametrize("ids", ["declared", "compact", "wide", "strings"])
def test_bytes_depend_on_nothing_but_the_edges(tmp_path: Path, ids: str):
    random = np.random.default_rng(5)
    pairs = random.integers(0, 90, (300, 2)).tolist()
    about: dict[str, Any] = {"n_vertices": 100} if ids == "declared" else {}
    if ids == "wide":
        pairs = [(a << 40, b << 40) for a, b in pairs]
    if ids == "strings":
        pairs, about = [(f"v{a}", f"v{b}") for a, b in pairs], {"id_kind": "string"}
    triples = [(a, b, w) for (a, b), w in zip(pairs, random.integers(0, 5, 300).tolist(), strict=True)]
    first = convert_weighted(triples, tmp_path, SortPlan(), **about).record
    again = convert_weighted([(b, a, w) for a, b, w in reversed(triples)], tmp_path, TINY, **about).record
    assert first.chunk_digest == again.chunk_digest and first.weights == again.weights
    assert first.weights is not None and first.weights.edges_with_several > 0


@pytest.mark.thin(3)
@pytest.mark.parametrize("ids", ["declared", "compact", "widened", "wide", "strings"])
def test_a_stop_after_every_state(tmp_path: Path, ids: str, monkeypatch: pytest.MonkeyPatch):
    triples: list[Any] = [(a, b, a * b % 5 + (a > b)) for a in range(9) for b in range(0, 9, 2)]
    about: dict[str, Any] = {"n_vertices": 12} if ids == "declared" else {}
    if ids == "wide":
        triples = [(a << 40, b, w) for a, b, w in triples]
    if ids == "widened":
        triples += [(1 << 40, 3, 7), (3, 1 << 40, 5)]
    if ids == "strings":
        triples, about = [(f"v{a}", f"v{b}", w) for a, b, w in triples], {"id_kind": "string"}
    want = convert_weighted(triples, tmp_path, **about).record
    stop_after(monkeypatch, lambda state: DONE not in state)
    report, states = None, 0
    while report is None:
        checkpoint = CheckpointOptions(tmp_path / "kept", every=0, resume=True)
        options = ConvertOptions(plan=plan_of(ids), chunk_ids=64, checkpoint=checkpoint)
        source = WeightedSource(triples, SourceInfo(**about), per_batch=20)
        try:
            report = write_graph(source, tmp_path / "h.zarr", options=options)
        except Stop:
            states += 1
            assert states < 100
    assert states > 5 and replace(report.record, record_digest="") == replace(want, record_digest="")
    with open_store(str(tmp_path / "h.zarr")) as store:
        assert arcs_of(store) == least_weights(triples)[0]


@pytest.mark.thin(4)
@pytest.mark.parametrize("order", ["degree", "bfs", "cluster", "natural"])
@pytest.mark.parametrize("kind", ["int", "float64"])
def test_reordering_carries_weights_along(tmp_path: Path, order: str, kind: str):
    random = np.random.default_rng(7)
    triples = [(a, b, w / 2 if kind == "float64" else w) for a, b, w in random.integers(0, 60, (300, 3)).tolist()]
    convert_weighted(triples, tmp_path, weights=kind)
    reorder(tmp_path / "g.zarr", tmp_path / "r.zarr", order, options=ConvertOptions(chunk_ids=64))
    with open_store(str(tmp_path / "g.zarr")) as before, open_store(str(tmp_path / "r.zarr")) as after:
        assert arcs_of(after) == arcs_of(before) and after.record.weights == before.record.weights
        check_store(after)


def test_a_graph_in_memory(tmp_path: Path):
    source = WeightedSource([(0, 1, 5), (1, 0, 3), (1, 2, 7)], SourceInfo(n_vertices=4))
    store = graph_in_memory(source, tmp_path, ConvertOptions(threads=1))
    assert arcs_of(store) == {(0, 1): 3, (1, 0): 3, (1, 2): 7, (2, 1): 7}
    assert store.weights_of(1).tolist() == [3, 7] and store.weights_of(3).tolist() == []


def test_weights_stay_with_their_edges_where_strings_share_a_hash(tmp_path: Path):
    """Of a source that cannot start over the batches are stored: each weight comes again with its edge."""
    random = np.random.default_rng(5)
    triples = [(f"v{a}", f"v{b}", float(weight)) for a, b, weight in random.integers(0, 9, (40, 3))]
    source = WeightedSource(triples, SourceInfo(id_kind="string"), rewindable=False, per_batch=7)
    # 9 strings and 64 hashes: some salts collide, one of the first 16 does not.
    options = ConvertOptions(plan=replace(TINY, hash_bits=6), scratch=tmp_path)
    write_graph(source, tmp_path / "g.zarr", options=options)
    with open_store(str(tmp_path / "g.zarr")) as store:
        assert arcs_of(store) == least_weights(triples)[0]
