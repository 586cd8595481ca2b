"""Labels: the check in one pass accepts exactly the columns that obey the rules."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.certificates.components import Labelling
from emdiam.certificates.labels import DistanceGroup, LabelColumn, LabelGroup, Potentials, halve, label_dtype
from emdiam.errors import EmdiamError
from emdiam.store import arc_runs
from emdiam.store.store import open_store
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(4, sampled=("dtype",))

SETTINGS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def obeys(graph: naive.Graph, members: list[int], labels: list[int], column: LabelColumn) -> bool:
    """The rules of emdiam.certificates.labels for one column; -1 is no label."""
    for v in members:
        if labels[v] < 0 or (labels[v] == 0) != (v == column.vertex):
            return False
        if v != column.vertex and not any(labels[w] == labels[v] - 1 for w in graph[v]):
            return False
        if column.level and any(abs(labels[w] - labels[v]) > 1 for w in graph[v]):
            return False
    return True


@st.composite
def labelled(draw: st.DrawFn) -> tuple[naive.Graph, list[LabelColumn], list[list[int]], bool]:
    """A graph, columns on it, and their labels, some of them tampered with; whether they obey."""
    graph = draw(graphs(most=30))
    components = naive.components(graph)
    draw(st.randoms()).shuffle(components)
    components = components[: draw(st.integers(1, 3))]
    columns, labels, good = [], [], True
    for number, members in enumerate(components, start=1):
        level_taken = False
        for _ in range(draw(st.integers(0, 9))):
            level = not level_taken and draw(st.booleans())
            level_taken |= level
            column = LabelColumn(draw(st.sampled_from(members)), number, len(graph), level=level)
            found = naive.distances(graph, column.vertex)
            for _ in range(draw(st.integers(0, 2)) if draw(st.integers(0, 3)) == 0 else 0):
                found[draw(st.integers(0, len(graph) - 1))] = draw(st.integers(-1, 6))
            good &= obeys(graph, members, found, column)
            columns.append(column)
            labels.append(found)
    return graph, columns, labels, good


def group_of(graph: naive.Graph, columns: list[LabelColumn], labels: list[list[int]], dtype: type,
             potentials: Potentials | None = None) -> LabelGroup:
    member = np.zeros(len(graph), np.uint32)
    for column in columns:
        member[[v for v, d in enumerate(naive.distances(graph, column.vertex)) if d >= 0]] = column.component
    matrix = np.array(labels, np.int64).reshape(len(columns), len(graph)).T
    return LabelGroup(columns, np.ascontiguousarray(matrix.astype(dtype)), member, potentials)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@SETTINGS
@given(case=labelled(), run_arcs=st.sampled_from([64, 128, 1 << 17]), threads=st.integers(1, 3))
def test_exactly_the_rules(tmp_path: Path, dtype: type, case: tuple, run_arcs: int, threads: int) -> None:
    graph, columns, labels, good = case
    group = group_of(graph, columns, labels, dtype)
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(arc_runs, "RUN_ARCS", run_arcs)
        if good:
            group.check(store, threads, roomy=bool(threads % 2))
            ecc = [max(naive.distances(graph, column.vertex)) for column in columns]
            reach = group.reach.tolist()
            assert all(r >= e for r, e in zip(reach, ecc, strict=True))
            assert all(r == e for r, e, c in zip(reach, ecc, columns, strict=True) if c.level)
        else:
            with pytest.raises(EmdiamError, match="no distance"):
                group.check(store, threads, roomy=bool(threads % 2))


@pytest.mark.parametrize("hub", [0, 150, 200])
@pytest.mark.parametrize("source", [3, 190])
def test_rows_that_are_cut_between_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: int, source: int
) -> None:
    """Two hubs whose rows fill several runs, each with its parent in one of them only."""
    monkeypatch.setattr(arc_runs, "RUN_ARCS", 64)
    n, other = 201, 100
    graph = naive.graph_of(n, [(h, v) for h in (hub, other) for v in range(n) if v not in (hub, other)])
    columns = [LabelColumn(v, 1, n) for v in (source, 77)]
    labels = [naive.distances(graph, column.vertex) for column in columns]
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        group_of(graph, columns, labels, np.uint8).check(store, 2)
        # At 2 the hub alone has no parent: the source has 0, its other neighbours 2, theirs is `other`.
        labels[0][hub] = 2
        for order in (slice(None, 1), slice(None), slice(None, None, -1)):
            with pytest.raises(EmdiamError, match=f"vertex {source} says of vertex {hub} is no distance"):
                group_of(graph, columns[order], labels[order], np.uint8).check(store, 2)


def test_every_single_wrong_label_is_found(tmp_path: Path) -> None:
    """A level column is the distances or nothing: any change anywhere is noticed."""
    graph = odd_graphs()["lollipop"]
    true = naive.distances(graph, 5)
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        for vertex, distance in enumerate(true):
            for wrong in {0, 1, distance - 1, distance + 1, distance + 2, 200, -1} - {distance}:
                labels = [*true]
                labels[vertex] = wrong
                with pytest.raises(EmdiamError):
                    group_of(graph, [LabelColumn(5, 1, 99, level=True)], [labels], np.uint8).check(store, 2)


def test_distances_leave_out_no_step(tmp_path: Path) -> None:
    """Behind any edge of a path, all distances from its end are larger by one: each has the right one beside it, but
    along that edge they differ by two."""
    with open_store(write_store(tmp_path / "g.zarr", naive.graph_of(9, [(v, v + 1) for v in range(8)]))) as store:
        for edge in range(9):
            labels = np.array([[v + (v > edge)] for v in range(9)], np.uint8)
            with nullcontext() if edge == 8 else pytest.raises(EmdiamError, match="says of vertex"):
                DistanceGroup([LabelColumn(0, 1, 99)], labels, np.ones(9, np.uint32)).check(store, 2)


@SETTINGS
@given(graph=graphs(most=30), data=st.data(), threads=st.integers(1, 3))
def test_potentials_prove_a_witness(
    tmp_path: Path, graph: naive.Graph, data: st.DataObject, threads: int
) -> None:
    """Any potentials that are right at the ends and differ by at most 1 across every edge, and no others."""
    members = data.draw(st.sampled_from(naive.components(graph)))
    source, other = data.draw(st.sampled_from(members)), data.draw(st.sampled_from(members))
    labels, back = naive.distances(graph, source), naive.distances(graph, other)
    length, middle = labels[other], labels[other] // 2
    near = np.array([d if 0 <= d < length - middle else 255 for d in back], np.uint8)
    halve(np.array(labels).astype(np.uint8).reshape(-1, 1), 0, length, near)
    assert near.tolist() == [length - e if 0 <= e < length - middle else min(d, middle) if d >= 0 else middle
                             for d, e in zip(labels, back, strict=True)]
    for _ in range(data.draw(st.integers(0, 2))):
        near[data.draw(st.sampled_from(members))] = data.draw(st.integers(0, length + 1))
    good = near[source] == 0 and near[other] == length and all(
        abs(int(near[v]) - int(near[w])) <= 1 for v in members for w in graph[v])
    column = LabelColumn(source, 1, len(graph), level=True, other=other)
    group = group_of(graph, [column], [labels], np.uint8, Potentials(near, middle))
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(arc_runs, "RUN_ARCS", data.draw(st.sampled_from([64, 1 << 17])))
        with nullcontext() if good else pytest.raises(EmdiamError, match="no distance"):
            group.check(store, threads)


def test_a_step_beyond_the_middle_of_a_witness_is_found(tmp_path: Path) -> None:
    graph = naive.graph_of(10, [*((v, v + 1) for v in range(8)), (7, 9)])
    labels = naive.distances(graph, 0)
    column = LabelColumn(0, 1, 9, level=True, other=8)
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        for last in (6, 8, 5, 4):
            values = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, last], np.uint8)
            with nullcontext() if last in (6, 8) else pytest.raises(EmdiamError, match="no distance"):
                group_of(graph, [column], [labels], np.uint8, Potentials(values, 4)).check(store, 1)


@pytest.mark.parametrize("of", [[1, 1, 1, 0], [0, 1, 1, 1], [2, 1, 1, 1], [1, 1, 1, 2], [2, 2, 1, 1]])
def test_an_arc_that_leads_out_of_a_set(of: list[int]) -> None:
    indptr, indices = naive.csr(naive.graph_of(4, [(0, 1), (1, 2), (2, 3)]))
    labelling = Labelling(4, np.dtype(np.uint32), symmetric=True)
    labelling.connect(np.array(of, np.uint8), 2, 1)
    labelling.add(arc_runs.ArcRun(0, 1, np.arange(4), indptr, False, False), indices.astype(np.uint32))
    assert labelling.leaving


@SETTINGS
@given(graph=graphs(most=30), data=st.data())
def test_settling(tmp_path: Path, graph: naive.Graph, data: st.DataObject) -> None:
    components = naive.components(graph)
    columns = [LabelColumn(data.draw(st.sampled_from(members)), number, len(graph), settles=data.draw(st.booleans()))
               for number, members in enumerate(components, start=1) for _ in range(2)]
    labels = [naive.distances(graph, column.vertex) for column in columns]
    limits = [0, *(data.draw(st.integers(0, 2 * len(members))) for members in components)]
    group = group_of(graph, columns, labels, np.uint8)
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        group.check(store, 2)
    settled = np.zeros(len(graph), np.uint8)
    group.settle(np.array(limits, np.int64), settled)
    want = [any(column.settles and labels[j][v] >= 0 and labels[j][v] + max(labels[j]) <= limits[column.component]
                for j, column in enumerate(columns)) for v in range(len(graph))]
    assert settled.astype(bool).tolist() == want


def test_dtypes_keep_one_value_for_none() -> None:
    assert [label_dtype(most).itemsize for most in (0, 253, 254, 65533, 65534, 2**32 - 3)] == [1, 1, 2, 2, 4, 4]
    with pytest.raises(OverflowError):
        label_dtype(2**32 - 2)


def test_columns_out_of_order_are_refused() -> None:
    columns = [LabelColumn(0, 2, 1), LabelColumn(1, 1, 1)]
    with pytest.raises(ValueError, match="sorted"):
        LabelGroup(columns, np.zeros((2, 2), np.uint8), np.array([1, 2], np.uint32))
    with pytest.raises(ValueError, match="one level column"):
        LabelGroup([LabelColumn(v, 1, 1, level=True) for v in (0, 1)], np.zeros((2, 2), np.uint8),
                   np.array([1, 1], np.uint32))


@pytest.mark.slow
@pytest.mark.parametrize("ids", ["uint32", "uint64"])
@pytest.mark.parametrize("items", ["uint8", "uint16", "uint32"])
def test_kernels_for_all_dtypes(ids: str, items: str) -> None:
    """Stores with 64-bit ids are too large for a test; their kernels are not."""
    graph = odd_graphs()["path-and-star"]
    indptr, indices = naive.csr(graph)
    run = arc_runs.ArcRun(0, 1, np.arange(len(graph)), indptr, False, False)
    labelling = Labelling(len(graph), np.dtype(ids))
    labelling.add(run, indices.astype(ids))
    members = labelling.members(np.array([21, 3]))
    assert (members.sizes, members.n_components, members.largest, members.largest_other) == ([81, 21], 2, 81, 0)
    assert members.of.dtype == np.uint8 and members.of.tolist() == [2] * 21 + [1] * 81
    true = naive.distances(graph, 30)
    for wrong in (None, (25, 3), (21, 2), (30, 1)):
        labels = [*true]
        if wrong is not None:
            labels[wrong[0]] = wrong[1]
        matrix = np.array(labels, np.int64).astype(items).reshape(-1, 1)
        group, fault = LabelGroup([LabelColumn(30, 1, 9, settles=True, level=True)], matrix, members.of), np.full(2, -1)
        passed = group.check_ends(fault)
        group.scan_run(run, indices.astype(ids), fault)
        assert (passed and fault[0] < 0) == (wrong is None)
    settled = np.zeros(len(graph), np.uint8)
    group = LabelGroup([LabelColumn(30, 1, 9, settles=True)], np.array(true).astype(items).reshape(-1, 1), members.of)
    assert group.check_ends(fault) and group.reach.tolist() == [2]
    group.settle(np.array([0, 3, 99]), settled)
    assert np.flatnonzero(settled).tolist() == [21, 30]


@pytest.mark.parametrize("diameter", [253, 254, 255])
def test_the_longest_labels_of_a_byte_are_proposed(tmp_path: Path, diameter: int) -> None:
    """A BFS looks one level beyond its farthest vertex."""
    store = write_store(tmp_path / "g.zarr", naive.graph_of(diameter + 1, [(v, v + 1) for v in range(diameter)]))
    for solve in (emdiam.exact, emdiam.eccentricities):
        solve(store, certificate=tmp_path / "c.json")
        assert emdiam.verify(tmp_path / "c.json", store).verified
