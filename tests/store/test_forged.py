"""A store may come from anyone: what is signed and whole but no graph is refused in a sentence, never believed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.reorder import reorder
from emdiam.errors import StoreError
from emdiam.runs.opening import open_engine
from emdiam.runs.task import execute, make_task
from emdiam.store.codec import open_remedy
from emdiam.store.layout import StoreRecord
from emdiam.store.store import open_store
from emdiam.stream import rows as stream_rows
from emdiam.traverse.paths import follow
from tests.helpers.damage import edit_json, edit_record, make_store, some_graph
from tests.helpers.forged import csr, forge

PATH = [[1], [0, 2], [1, 3], [2], []]


def refused(path: Path | str, engine: bool = False) -> str:
    """The sentence with which the store is refused on opening, or (`engine`) when a run begins."""
    with pytest.raises(StoreError) as error:
        with open_store(path) as store:
            assert engine, "it opens"
            with open_engine(store, memory_bytes=2 << 30):
                pass
    assert str(path) in str(error.value) and "; " in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("chunk", [7, 100, 1 << 25, 0, -64, 32])
def test_a_chunk_size_that_no_writer_has(tmp_path: Path, chunk: int):
    """Kernels divide by shifts: with chunks of 100 ids they read beyond the arrays."""
    path = forge(tmp_path / "g.zarr", *csr(PATH), chunk=chunk if chunk in (7, 100) else 64,
                 record={"chunk_ids": chunk})
    assert "not a power of two from 64 to 16777216" in refused(path)


@pytest.mark.parametrize("slots", [0, -1, 1 << 13, 1 << 40])
def test_a_shard_of_more_chunks_than_writers_make(tmp_path: Path, slots: int):
    path = forge(tmp_path / "g.zarr", *csr(PATH))

    def change(meta: dict[str, Any]) -> None:
        meta["chunk_grid"]["configuration"]["chunk_shape"] = [64 * slots]

    edit_json(path / "indptr" / "zarr.json", change)
    assert f"in shards of {64 * slots}" in refused(path)


@pytest.mark.parametrize(("field", "value"), [
    ("n_vertices", -1), ("n_vertices", 1 << 63), ("n_vertices", 5.0), ("n_arcs", True), ("n_arcs", 22), ("n_arcs", -6),
    ("n_edges", 4), ("max_degree", 5), ("n_isolated", 6), ("first_id", -1), ("first_id", 1 << 64), ("codec", "zip"),
    ("codec", ["lz4"]), ("id_kind", "uuid"), ("id_kind", None), ("source", "g.txt"), ("source", [1]), ("ordering", 3),
    ("shard_chunks", 1 << 20), ("shard_digests", {"indptr": 5}), ("shard_digests", {}), ("loops_dropped", -1),
    ("source", ["\ud800"]),
])
def test_a_signed_record_that_cannot_be_right(tmp_path: Path, field: str, value: Any):
    path = forge(tmp_path / "g.zarr", *csr(PATH), record={field: value})
    assert "store record" in refused(path)


@pytest.mark.parametrize(("field", "value"), [("n_isolated", 2), ("n_isolated", 0), ("max_degree", 1)])
def test_figures_that_the_offsets_do_not_have(tmp_path: Path, field: str, value: int):
    path = forge(tmp_path / "g.zarr", *csr(PATH), record={field: value})
    assert "the store record says" in refused(path, engine=True)


@pytest.mark.parametrize(("at", "value"), [(0, 3), (0, -1), (5, 7), (5, 5), (2, 0), (2, 1 << 62), (1, -(1 << 62))])
def test_offsets_that_are_none(tmp_path: Path, at: int, value: int):
    indptr, indices = csr(PATH)
    indptr[at] = value
    path = forge(tmp_path / "g.zarr", indptr, indices, record={"max_degree": 2, "n_isolated": 1})
    assert "indptr" in refused(path, engine=True)


@pytest.mark.parametrize("name", ["vertex_id", "indices", "indptr"])
@pytest.mark.parametrize("codec", ["lz4", "none"])
def test_an_array_of_another_store_is_foreign(tmp_path: Path, name: str, codec: str):
    """Of the same shape, and whole: only the digests of the record tell it."""
    graph, shift = some_graph(), {"one": 0, "two": 5}
    one, two = (make_store(tmp_path / f"{which}.zarr", some_graph(seed=shift[which] + 5), codec=codec,
                           ids=np.arange(len(graph)) * 7 + shift[which]) for which in ("one", "two"))
    assert open_store(one).n_vertices == open_store(two).n_vertices
    shutil.rmtree(one / name)
    shutil.copytree(two / name, one / name)
    assert name in refused(one)


def test_a_record_of_another_store_is_foreign(tmp_path: Path):
    graph = some_graph()
    one, two = (make_store(tmp_path / f"{first}.zarr", graph, ids=np.arange(len(graph)) * 7 + first)
                for first in (0, 5))
    shutil.copy(two / "zarr.json", one / "zarr.json")
    assert "vertex_id: the shards are not those of the store record" in refused(one)


def test_a_record_of_the_same_edges_without_names_is_foreign(tmp_path: Path):
    """All that it names is there, and something more."""
    graph = some_graph()
    names = [f"v{v:03}" for v in range(len(graph))]
    for ids, array in ((np.arange(len(graph)) * 7, "vertex_id"), (names, "vertex_id_offsets")):
        named = make_store(tmp_path / f"{array}.zarr", graph, ids=ids)
        plain = make_store(tmp_path / f"plain-{array}.zarr", graph)
        shutil.copy(plain / "zarr.json", named / "zarr.json")
        assert f"names no array {array}" in refused(named)


def test_a_store_of_format_version_1_opens(tmp_path: Path):
    """As the first version wrote them: without digests of shards."""
    path = make_store(tmp_path / "g.zarr", some_graph())

    def older(data: dict[str, Any]) -> None:
        record = data["attributes"]["emdiam"]
        record["format_version"] = 1
        del record["shard_digests"]
        record["record_digest"] = StoreRecord.from_dict(record).digest()

    edit_json(path / "zarr.json", older)
    with open_store(path) as store:
        assert store.record.format_version == 1 and "shard_digests" not in store.record.to_dict()
    edit_record(path, n_edges=3)
    assert "does not match its digest" in refused(path)


@pytest.mark.parametrize(("offsets", "text"), [
    ([0, 1, 2, 3, 4, 400], "do not rise"), ([0, 1, 2, 3, 1 << 62, 5], "do not rise"),
    ([0, 1, 2, 3, 4, 3], "do not rise"), ([-5, 1, 2, 3, 4, 5], "do not rise"), ([0, 1, 2, 3, 4, 6], "not UTF-8"),
])
def test_names_that_are_none(tmp_path: Path, offsets: list[int], text: str):
    ids = {"vertex_id_offsets": np.array(offsets, np.int64), "vertex_id_bytes": np.frombuffer(b"abcde\xff", np.uint8)}
    path = forge(tmp_path / "g.zarr", *csr(PATH), ids=ids, record={"id_kind": "string"})
    with open_store(path) as store, pytest.raises(StoreError, match=text):
        store.user_ids(np.arange(5))


@pytest.mark.parametrize("text", [
    '{"attributes": {"emdiam": {"format_version": ' + "9" * 5000 + "}}}",
    '{"attributes": {"emdiam": {"format_version": NaN}}}', '{"attributes": {"emdiam": []}}', "\ud800",
    '{"a": 1' + " " * (1 << 24) + "}", '{"attributes": {"emdiam": {"format_version": 2}}}',
])
def test_odd_metadata(tmp_path: Path, text: str):
    path = forge(tmp_path / "g.zarr", *csr(PATH))
    (path / "zarr.json").write_bytes(text.encode(errors="surrogatepass"))
    refused(path)


@pytest.mark.parametrize("change", [
    {"data_type": {"name": "int64"}}, {"data_type": "(("}, {"data_type": None}, {"shape": "5"}, {"shape": [True]},
    {"shape": [5.0]}, {"shape": [1 << 70]}, {"chunk_key_encoding": {"name": "default", "configuration": []}},
    {"chunk_key_encoding": {"name": ["default"]}}, {"codecs": {}}, {"codecs": [[]]},
])
def test_odd_metadata_of_an_array(tmp_path: Path, change: dict[str, Any]):
    path = forge(tmp_path / "g.zarr", *csr(PATH))
    edit_json(path / "indices" / "zarr.json", lambda meta: meta.update(change))
    refused(path)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO])
@pytest.mark.parametrize("name", ["zarr.json", "indices/zarr.json", "indptr/c/0"])
def test_what_the_system_refuses_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, name: str
):
    path = forge(tmp_path / "g.zarr", *csr(PATH))
    plain = open

    def refuse(file: Any, *rest: Any, **more: Any) -> Any:
        if str(file) == str(path / name):
            raise OSError(number, os.strerror(number))
        return plain(file, *rest, **more)

    monkeypatch.setattr("builtins.open", refuse)
    text = refused(path)
    assert os.strerror(number) in text and name in text and "damaged" not in text
    assert open_remedy(OSError(number, "")) in text


def test_a_folder_that_may_not_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "exists", refuse)
    assert "Permission denied); get the right to read it" in refused(tmp_path / "g.zarr")


def test_a_disk_that_fails_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = forge(tmp_path / "g.zarr", *csr(PATH))
    monkeypatch.setattr(os, "preadv", fail)
    assert "indptr/c/0: a shard file cannot be read (Input/output error)" in refused(path, engine=True)


def test_the_record_that_is_written_is_the_one_that_is_read(tmp_path: Path):
    path = make_store(tmp_path / "g.zarr", some_graph(), ids=[f"v{v:03}" for v in range(300)])
    with open_store(path) as store:
        assert sorted(store.record.shard_digests) == store.array_names()
        assert json.loads((path / "zarr.json").read_text())["attributes"]["emdiam"] == store.record.to_dict()


# -- rows ---------------------------------------------------------------------------------------------------------
# A tip whose walk along vertices of degree 2 comes to no end, were the way back not looked at.
ROUND = [[1], [2, 5], [3, 4], [1, 4], [3, 5], [2, 4], []]
# Edges into vertices without any, and out of a component.
ASTRAY = [[], [], [3, 0], [2, 4], [3], [6], [1, 5], [8], [7], []]


def one_way(path: Path, rows: list[list[int]], copies: int = 40) -> Path:
    """A store of so many copies of these rows, so that it takes several chunks."""
    shifted = [[v + i * len(rows) for v in sorted(row)] for i in range(copies) for row in rows]
    return forge(path, *csr(shifted))


def without_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in one direction are noticed late, as where not all blocks were read before."""
    plain = stream_rows.check_rows
    monkeypatch.setattr(stream_rows, "check_rows", lambda *given: (plain(*given)[0], 0))


@pytest.mark.parametrize("rows", [ROUND, ASTRAY], ids=["round", "astray"])
@pytest.mark.parametrize("method", ["fdiam", "pivots", "clusters", "spanning", "sweep"])
@pytest.mark.parametrize("noticed", ["early", "late"])
def test_edges_in_one_direction_end_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[list[int]], method: str, noticed: str
):
    """Never a crash, a hang or a fault of ours: what is wrong is the store."""
    path = one_way(tmp_path / "g.zarr", rows)
    if noticed == "late":
        without_sums(monkeypatch)
    expected: Any = pytest.raises(StoreError, match="in one direction only")
    # Nobody has to see both directions then: a forest may be found all the same, and bounds by clusters.
    if noticed == "late" and method in ("spanning", "clusters"):
        expected = contextlib.suppress(StoreError)
    with expected:
        execute(path, make_task(method, memory_bytes=2 << 30))


def test_trees_of_vertices_without_an_edge_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """There are more trees then than were counted, and their tables have no room for them."""
    path = one_way(tmp_path / "g.zarr", [*([v + 300] for v in range(300)), *([] for _ in range(300))])
    without_sums(monkeypatch)
    with pytest.raises(StoreError, match="vertex 300 is stored in one direction only"):
        execute(path, make_task("spanning", memory_bytes=2 << 30))


def test_a_chain_on_workers_comes_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """None of them knows all rows."""
    without_sums(monkeypatch)
    walks = np.array([[0, 0, -1, 0]])
    with open_store(one_way(tmp_path / "g.zarr", ROUND)) as store, open_engine(store, memory_bytes=2 << 30) as engine:
        core = engine.core
        span = np.array([0, 280])
        asked = follow(walks, np.ones(1, np.uint8), core.paging, core.offsets, span, np.empty(2, np.int64))
    assert asked == -1 - 0  # vertex 1 does not know it


@pytest.mark.parametrize("order", ["natural", "degree", "bfs", "cluster"])
@pytest.mark.parametrize("rows", [
    ROUND, ASTRAY, [[1], [0], [3], [], [], [4]], [[2, 1], [2, 0], [0, 1]], [[1, 1], [0, 0]], [[1], [0], [2, 3], [2, 2]],
], ids=["round", "astray", "crossed", "unsorted", "twice", "loop"])
def test_reorder_writes_no_store_of_rows_that_are_no_graph(tmp_path: Path, order: str, rows: list[list[int]]):
    path = forge(tmp_path / "g.zarr", *csr(rows))
    with pytest.raises(StoreError):
        reorder(path, tmp_path / "h.zarr", order, options=ConvertOptions(memory_bytes=4 << 30))
    assert not (tmp_path / "h.zarr").exists()


@pytest.mark.parametrize("ids", [[0] * 80, [79] * 80])
def test_reorder_by_clusters_of_rows_of_one_neighbour(tmp_path: Path, ids: list[int]):
    path = forge(tmp_path / "g.zarr", np.arange(81), np.array(ids))
    with pytest.raises(StoreError, match="do not ascend"):
        reorder(path, tmp_path / "h.zarr", "cluster", options=ConvertOptions(memory_bytes=4 << 30))


def test_ranks_that_are_no_permutation(tmp_path: Path):
    """Kernels take them for indices."""
    ranks = np.array([1, 0, 1, 2, 3], np.uint32)
    path = forge(tmp_path / "g.zarr", *csr(PATH), ids={"natural_id": ranks}, record={"ordering": "bfs"})
    with pytest.raises(StoreError, match="natural_id does not hold every vertex once"):
        execute(path, make_task("clusters", memory_bytes=2 << 30))


def test_a_fault_of_ours_is_not_blamed_on_a_good_store(tmp_path: Path):
    path = make_store(tmp_path / "g.zarr", some_graph())
    with pytest.raises(ZeroDivisionError), open_store(path) as store, open_engine(store, memory_bytes=2 << 30):
        raise ZeroDivisionError
    bad = one_way(tmp_path / "h.zarr", ASTRAY)
    with pytest.raises(StoreError, match="in one direction only"):
        with open_store(bad) as store, open_engine(store, memory_bytes=2 << 30, arena_bytes=6 * 64 * 4):
            raise ZeroDivisionError
