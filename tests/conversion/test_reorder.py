"""Reordered stores are the same graph: every order equals its twin, ids stay what they are."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.certificates.parts import find_vertices
from emdiam.certificates.run import verify
from emdiam.conversion.convert import ConvertOptions, write_graph
from emdiam.conversion.order_bfs import by_bfs
from emdiam.conversion.orders import ORDERS, place_by_key
from emdiam.conversion.renumbering import check_rows
from emdiam.conversion.reorder import reorder
from emdiam.conversion.writing import ReorderReport
from emdiam.errors import InputError, StoreError
from emdiam.formats.source import SourceInfo
from emdiam.runs.task import execute, make_task
from emdiam.store.arc_runs import arc_runs, store_info
from emdiam.store.check import ArcCheck, check_store
from emdiam.store.edge_digest import edge_digest, vertex_hashes
from emdiam.store.store import open_store
from tests.helpers import naive
from tests.helpers.convert_twin import TINY, ListSource, rows_of
from tests.helpers.damage import edit_record, make_store, read_array, read_store, replace_chunk, some_graph
from tests.helpers.order_twins import TWINS, renumbered, write_in_order
from tests.helpers.stores import CHUNK, ENGINES, engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(4)

SETTINGS = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
OPTIONS = ConvertOptions(memory_bytes=2 << 30, chunk_ids=CHUNK, force=True)
ODD = odd_graphs()


def apply(source: Path, target: Path, order: str, **more: Any) -> ReorderReport:
    return reorder(source, target, order, options=replace(OPTIONS, **more))


def check_is(path: Path, graph: naive.Graph, order: str) -> None:
    """The store holds the graph in this order, by the twin, and is whole."""
    want = TWINS[order](graph)
    indptr, indices = naive.csr(renumbered(graph, want))
    with open_store(path) as store:
        check_store(store)
        assert store.record.ordering == order
        assert store.user_ids(np.arange(len(graph))) == want
        found = store.natural_ids()
        assert found is None if order == "natural" else found.tolist() == want
        assert [v for part in store.natural_pieces() for v in part.tolist()] == want
        assert read_array(store.indptr).tolist() == indptr.tolist()
        assert read_array(store.indices).tolist() == indices.tolist()
    assert ("natural_id" in read_store(path)) == (order != "natural")


@SETTINGS
@given(graph=graphs(60), order=st.sampled_from(list(TWINS)), data=st.data())
def test_any_order_from_any_other(tmp_path: Path, graph: naive.Graph, order: str, data: st.DataObject) -> None:
    """From the natural order and from a random one: both equal the twin, byte by byte the same."""
    shuffled = data.draw(st.permutations(range(len(graph))))
    first = apply(write_store(tmp_path / "g", graph), tmp_path / "a", order)
    check_is(tmp_path / "a", graph, order)
    second = apply(write_in_order(tmp_path / "h", graph, shuffled), tmp_path / "b", order, plan=TINY, threads=1)
    assert second.record.chunk_digest == first.record.chunk_digest
    check_is(tmp_path / "b", graph, order)


@pytest.mark.parametrize("order", TWINS)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, name: str, order: str) -> None:
    apply(write_store(tmp_path / "g", ODD[name]), tmp_path / "a", order, codec="none")
    check_is(tmp_path / "a", ODD[name], order)


def test_a_store_without_vertices(tmp_path: Path) -> None:
    write_store(tmp_path / "g", [])
    for order in ("degree", "bfs"):
        apply(tmp_path / "g", tmp_path / order, order)
        with open_store(tmp_path / order) as store:
            check_store(store)
            assert store.n_vertices == 0 and store.user_ids(np.empty(0)) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_breadth_first_on_every_engine(tmp_path: Path, engine: str) -> None:
    """Several components of one size, hubs with ties, levels that outgrow a column of a byte."""
    parts = [naive.graph_of(290, [(0, v) for v in range(1, 290)]), *[ODD["path"]] * 2, ODD["torus"], ODD["edge"]]
    edges, n = [], 3
    for part in parts:
        edges += [(v + n, w + n) for v, row in enumerate(part) for w in row]
        n += len(part)
    order = list(range(n))
    random.Random(3).shuffle(order)
    graph = renumbered(naive.graph_of(n, edges), order)
    for path in (write_store(tmp_path / "g", graph), write_in_order(tmp_path / "h", graph, order)):
        with engine_on(path, engine) as opened:
            place = by_bfs(opened, 0)
            assert place.dtype == opened.store.id_dtype
            ranks = opened.store.user_ids(np.argsort(place))
        assert ranks == TWINS["bfs"](graph)


def test_levels_that_outgrow_two_bytes(tmp_path: Path) -> None:
    n = 66_000
    graph = naive.graph_of(n + 9, [(v, v + 1) for v in range(n - 1)] + [(n, n + i) for i in range(1, 9)])
    with engine_on(write_store(tmp_path / "g", graph, chunk=1 << 16)) as opened:
        place = by_bfs(opened, 0)
    assert np.argsort(place).tolist() == [1, 0, *range(2, n), *range(n, n + 9)]


@given(st.lists(st.integers(0, 9), max_size=60), st.booleans())
def test_counting_sort(keys: list[int], wide: bool) -> None:
    found = place_by_key(np.array(keys, np.uint64 if wide else np.uint32), 10)
    assert np.argsort(found).tolist() == sorted(range(len(keys)), key=lambda v: keys[v])
    assert sorted(found.tolist()) == list(range(len(keys)))


def test_counting_sort_of_many_pieces() -> None:
    keys = np.random.default_rng(1).integers(0, 300, 200_000).astype(np.uint32)
    want = np.argsort(keys, kind="stable")
    assert np.array_equal(np.argsort(place_by_key(keys.copy(), 300)), want)


def test_options_make_no_difference_to_the_graph(tmp_path: Path) -> None:
    graph = some_graph()
    write_store(tmp_path / "g", graph)
    arrays = []
    for i, more in enumerate([{}, {"threads": 3}, {"plan": TINY}, {"codec": "pcodec"}, {"chunk_ids": 1024}]):
        report = apply(tmp_path / "g", tmp_path / f"{i}", "bfs", **more)
        arrays.append({name: values.tolist() for name, values in read_store(tmp_path / f"{i}").items()})
        assert arrays[-1] == arrays[0]
    assert report.record.chunk_ids == 1024 and report.sort.runs == 1


# -- ids ------------------------------------------------------------------------------------------
def pairs_of(graph: naive.Graph, name: Any) -> list[tuple[Any, Any]]:
    return [(name(v), name(w)) for v, row in enumerate(graph) for w in row if v <= w] + [(name(0), name(0))]


CONNECTED = naive.graph_of(150, [(v, v * 7 % (v + 1)) for v in range(150)] + [(v, v // 2) for v in range(150)])
KINDS: dict[str, tuple[Any, SourceInfo]] = {
    "identity": (int, SourceInfo(n_vertices=170, directed=False)),
    "offset": (lambda v: v + 1, SourceInfo(n_vertices=160, first_id=1, format="some")),
    "int": (lambda v: v * 11 + (1 << 40), SourceInfo()),
    "string": (lambda v: "é" * (v % 3) + str(v * 17 % 151), SourceInfo(id_kind="string")),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A kind of ids; tmp_path/g is a natural store with such ids, tmp_path/bfs the same reordered."""
    name, info = KINDS[request.param]
    write_graph(ListSource(pairs_of(CONNECTED, name), info), tmp_path / "g", options=OPTIONS)
    apply(tmp_path / "g", tmp_path / "bfs", "bfs")
    return request.param


def test_ids_stay_what_they_are(tmp_path: Path, kind: str) -> None:
    names, rows = rows_of(tmp_path / "g")
    apply(tmp_path / "bfs", tmp_path / "degree", "degree")
    for order in ("bfs", "degree"):
        found, near = rows_of(tmp_path / order)
        assert found != names and sorted(found) == sorted(names)
        assert {name: sorted(row) for name, row in near.items()} == {name: sorted(row) for name, row in rows.items()}
        with open_store(tmp_path / "g") as old, open_store(tmp_path / order) as new:
            check_store(new)
            assert edge_digest(new) == edge_digest(old)
            mine, theirs = vertex_hashes(new), vertex_hashes(old)
            if len(theirs):
                assert mine[find_vertices(new, names, mine)].tolist() == theirs.tolist()
            info, other = store_info(new), store_info(old)
            assert info["id_range"] == other["id_range"] and info["ordering"] == order
            kept = ("id_kind", "first_id", "source", "source_format", "directed_input", "loops_dropped",
                    "duplicates_dropped", "n_vertices", "n_edges", "codec", "chunk_ids", "degree")
            assert {key: info[key] for key in kept} == {key: other[key] for key in kept}
            assert new.record.loops_dropped == 1


def test_natural_undoes_every_order(tmp_path: Path, kind: str) -> None:
    apply(tmp_path / "bfs", tmp_path / "degree", "degree")
    for order in ("g", "bfs", "degree"):
        apply(tmp_path / order, tmp_path / "again", "natural")
        with open_store(tmp_path / "g") as old, open_store(tmp_path / "again") as new:
            assert new.digest == old.digest and new.record == old.record


def test_vertices_by_their_ids(tmp_path: Path, kind: str) -> None:
    with open_store(tmp_path / "bfs") as store:
        names: list[Any] = store.user_ids(np.arange(store.n_vertices))
        strangers = ["stranger"] if kind == "string" else [2**63 + 5, 10**6]
        found = find_vertices(store, names + strangers, vertex_hashes(store))
        assert found.tolist() == [*range(store.n_vertices), *[-1] * len(strangers)]
        other: list[Any] = [3] if kind == "string" else ["3"]
        assert find_vertices(store, other, vertex_hashes(store)).tolist() == [-1]


def test_the_diameter_and_its_certificate(tmp_path: Path, kind: str) -> None:
    """Proved on either store, the certificate proves it on the other one."""
    _, rows = rows_of(tmp_path / "g")
    most = {}
    for name, other in (("g", "bfs"), ("bfs", "g")):
        result = execute(tmp_path / name, make_task("pivots", memory_bytes=2 << 30, certificate=tmp_path / "c.json"))
        assert result.witness is not None and result.witness.path is not None
        path = result.witness.path
        assert (path[0], path[-1]) == (result.witness.source, result.witness.target)
        assert all(b in rows[a] for a, b in itertools.pairwise(path))
        assert len(path) == result.diameter_max_component + 1
        assert verify(tmp_path / "c.json", tmp_path / other, memory_bytes=2 << 30).verified
        most[name] = (result.diameter_max_component, result.diameter_largest_component, result.n_components)
    assert most["g"] == most["bfs"]
    assert most["g"][0] == naive.diameters(CONNECTED)[1]


def test_another_graph_is_not_verified(tmp_path: Path) -> None:
    write_store(tmp_path / "g", some_graph())
    execute(tmp_path / "g", make_task("pivots", memory_bytes=2 << 30, certificate=tmp_path / "c.json"))
    write_in_order(tmp_path / "h", some_graph(), [1, 0, *range(2, 300)])
    assert verify(tmp_path / "c.json", tmp_path / "h", memory_bytes=2 << 30).verified
    swapped = renumbered(some_graph(), [1, 0, *range(2, 300)])
    write_in_order(tmp_path / "h", swapped, [1, 0, *range(2, 300)])
    assert not verify(tmp_path / "c.json", tmp_path / "h", memory_bytes=2 << 30).verified


# -- damage ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("change", "text"), [
    ((3, 4), "natural_id holds 299 of 300 vertices"), ((3, 300), "natural_id holds 300, which is no vertex"),
    ((3, 2**32 - 1), "which is no vertex"),
])
def test_ranks_that_are_no_permutation(tmp_path: Path, change: tuple[int, int], text: str) -> None:
    path = write_in_order(tmp_path / "g", some_graph(), range(300))
    ranks = np.arange(64, dtype=np.uint32)
    ranks[change[0]] = change[1]
    replace_chunk(path, "natural_id", 0, ranks)
    with open_store(path) as store:
        with pytest.raises(StoreError, match=text):
            check_store(store)
        if change[1] >= 300:
            with pytest.raises(StoreError, match="no vertex"):
                store.user_ids(np.array([change[0]]))
            with pytest.raises(StoreError, match="no vertex"):
                edge_digest(store)
    for order in TWINS:
        with pytest.raises(StoreError, match=text):
            apply(path, tmp_path / "new", order)
    assert not (tmp_path / "new").exists()


def test_a_chunk_of_ranks_that_is_missing(tmp_path: Path) -> None:
    replace_chunk(write_in_order(tmp_path / "g", some_graph(), range(300)), "natural_id", 2, None)
    with pytest.raises(StoreError, match="missing"):
        open_store(tmp_path / "g")


def test_an_order_without_ranks(tmp_path: Path) -> None:
    edit_record(make_store(tmp_path / "g", some_graph()), redo_digest=True, ordering="bfs")
    with pytest.raises(StoreError, match="natural_id is missing"):
        open_store(tmp_path / "g")


@pytest.mark.parametrize("rows", [[[0, 1, 2], [0], []], [[1, 2], [], []], [[], [0], [0]], [[1, 1], [0, 0]]])
def test_rows_of_no_graph(tmp_path: Path, rows: naive.Graph) -> None:
    write_store(tmp_path / "g", rows)
    with pytest.raises(StoreError, match="undirected simple graph|the store record is damaged"):
        apply(tmp_path / "g", tmp_path / "new", "degree")
    assert not (tmp_path / "new").exists()


# -- the library and the command line -------------------------------------------------------------
def test_the_library(tmp_path: Path) -> None:
    write_store(tmp_path / "g", some_graph())
    report = emdiam.reorder(tmp_path / "g", tmp_path / "new", "degree", memory="4GiB", threads=1)
    assert report.record.chunk_ids == CHUNK and report.memory_limit_bytes == 4 << 30
    assert set(report.seconds) == {"order", "ids", "read", "sort", "merge", "write"}
    other = emdiam.reorder(str(tmp_path / "g"), tmp_path / "other", "degree", codec="none", chunk=1024)
    assert (other.record.codec, other.record.chunk_ids) == ("none", 1024)
    check_is(tmp_path / "new", some_graph(), "degree")
    emdiam.reorder(tmp_path / "new", tmp_path / "new", "natural", force=True)
    check_is(tmp_path / "new", some_graph(), "natural")


def test_converting_into_an_order(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs_of(CONNECTED, KINDS["string"][0])))
    report = emdiam.convert(tmp_path / "e.txt", tmp_path / "g", memory="4GiB", ids="string", order="bfs")
    plain = emdiam.convert(tmp_path / "e.txt", tmp_path / "h", memory="4GiB", ids="string", order="natural")
    emdiam.reorder(tmp_path / "h", tmp_path / "i", "bfs")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.txt", "g", "h", "i"]
    with open_store(tmp_path / "g") as mine, open_store(tmp_path / "i") as theirs:
        assert mine.digest == theirs.digest and mine.record == report.record == theirs.record
    assert (report.pairs_read, report.min_id, report.notes) == (plain.pairs_read, plain.min_id, plain.notes)
    assert set(report.seconds) > set(plain.seconds) and report.scratch_bytes > plain.scratch_bytes


@pytest.mark.parametrize("call", [
    lambda g, t: emdiam.reorder(g, t, "sideways"), lambda g, t: emdiam.convert(g, t, order="sideways"),
    lambda g, t: emdiam.reorder(g, t, "bfs", seed=-1), lambda g, t: emdiam.reorder(g, t, "bfs", threads=0),
    lambda g, t: emdiam.reorder(g, g, "bfs"), lambda g, t: emdiam.reorder(g, t, "bfs", chunk=100),
])
def test_wrong_options(tmp_path: Path, call: Any) -> None:
    write_store(tmp_path / "g", some_graph())
    with pytest.raises(InputError):
        call(tmp_path / "g", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["g"]


def test_the_command_line_knows_every_order() -> None:
    from emdiam.runs import option

    assert set(ORDERS) <= set(option.ORDERS)


def test_the_command(command: Any, tmp_path: Path) -> None:
    make_store(tmp_path / "g", some_graph(), ids=np.arange(300) * 2)
    done = command("reorder", "g", "new", "--order", "degree", "--quiet")
    assert done.returncode == 0 and "order: degree\nids: integers with gaps" in done.stdout
    assert command("info", "new", "--check").stdout.count("order: degree") == 1
    again = command("reorder", "g", "new", "--order", "degree", "--quiet")
    assert again.returncode == 2 and "the target exists" in again.stderr
    wrong = command("reorder", "g", "other", "--order", "sideways")
    assert wrong.returncode == 2 and "sideways" in wrong.stderr and not (tmp_path / "other").exists()


def test_compiled_check_is_that_of_the_other_way(tmp_path: Path) -> None:
    """The same fingerprints, and the same row is refused."""
    path = write_store(tmp_path / "g.zarr", ODD["grid"])
    with open_store(path) as store:
        first = next(values.copy() for values in store.values("indices"))
        run = next(arc_runs(store, 1))
        ids, rows = first[: run.starts[-1]], np.repeat(run.rows, np.diff(run.starts))
        plain, compiled, sums = ArcCheck(store), ArcCheck(store), np.zeros(2, np.uint64)
        n_up, wrong = check_rows(run.rows, run.starts, ids, sums)
        assert (n_up, wrong) == (np.count_nonzero(rows < ids), -1)
        plain.add(run, rows, ids)
        compiled.join(run, ids, sums)
        assert plain.state(1) == compiled.state(1)
        begin = next(int(begin) for begin, end in zip(run.starts, run.starts[1:], strict=False) if end - begin > 1)
        row = int(rows[begin])
        for other in (ids[begin + 1], row):
            ids[begin] = other
            assert check_rows(run.rows, run.starts, ids, sums)[1] == row
            with pytest.raises(StoreError, match=f"of vertex {row} do not ascend"):
                plain.add(run, rows, ids)
