"""Writing a store: nothing opens before the end, nothing good is lost, nothing is left behind."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import zarr

from emdiam.errors import InputError, StoreError
from emdiam.store.array_writer import ArrayWriter
from emdiam.store.check import check_store
from emdiam.store.codec import ChunkCodec
from emdiam.store.layout import StoreRecord
from emdiam.store.place import remove_stale
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter
from tests.helpers.damage import make_store, some_graph
from tests.helpers.waiting import PATIENCE

GRAPH, OTHER = some_graph(), some_graph(seed=6)


class Killed(BaseException):
    """Stands for the end of the process: nothing after it runs."""


def digest_of(path: Path) -> str:
    """Digest of a store that is whole."""
    with open_store(path) as store:
        check_store(store)
        return store.digest


def kill_at(monkeypatch: pytest.MonkeyPatch, module: str, name: str, turn: int) -> None:
    """Let the `turn`-th call (from 0) of module.name be where the process ends."""
    real: Callable[..., object] = getattr(sys.modules[module], name)
    calls = iter(range(1 << 30))

    def call(*arguments: object, **keywords: object) -> object:
        if next(calls) == turn:
            raise Killed
        return real(*arguments, **keywords)

    monkeypatch.setattr(sys.modules[module], name, call)


def close_folders(parent: Path) -> None:
    """What the end of a process does: its open folders are closed, and their locks with them."""
    for name in os.listdir("/proc/self/fd"):
        try:
            place = Path(os.readlink(f"/proc/self/fd/{name}"))
        except FileNotFoundError:
            continue
        if place.is_dir() and parent in place.parents:
            os.close(int(name))


@pytest.mark.parametrize(("module", "name", "turn"), [
    ("emdiam.store.array_writer", "pack_index", 0), ("emdiam.store.array_writer", "pack_index", 1),
    *(("emdiam.store.writer", "write_whole", turn) for turn in range(1, 3)),
    *(("emdiam.durable", "sync_path", turn) for turn in range(1, 5)), ("os", "rename", 0),
])
def test_an_end_before_the_rename_leaves_only_the_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, turn: int
):
    target = tmp_path / "g.zarr"
    with monkeypatch.context() as patch:
        kill_at(patch, module, name, turn)
        with pytest.raises(Killed):
            make_store(target, GRAPH)
    close_folders(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr.partial"]
    for path in (target, tmp_path / "g.zarr.partial"):
        with pytest.raises(StoreError, match="unfinished conversion"):
            open_store(path)
    make_store(target, GRAPH)
    assert digest_of(target) and [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


@pytest.mark.parametrize(("module", "name", "turn", "old_stays"), [
    ("emdiam.store.array_writer", "pack_index", 1, True), ("emdiam.durable", "sync_path", 4, True),
    ("os", "rename", 0, True), ("os", "rename", 1, False), ("emdiam.store.place", "sync_path", 0, None),
])
def test_an_end_while_replacing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, turn: int, old_stays: bool | None
):
    """Under the target's name there is the old store, none, or the new one."""
    target = make_store(tmp_path / "g.zarr", GRAPH)
    new = digest_of(target)
    old = digest_of(make_store(target, OTHER, force=True))
    with monkeypatch.context() as patch:
        kill_at(patch, module, name, turn)
        with pytest.raises(Killed):
            make_store(target, GRAPH, force=True)
    close_folders(tmp_path)
    if old_stays is False:
        with pytest.raises(StoreError, match="unfinished conversion"):
            open_store(target)
    else:
        assert digest_of(target) == (old if old_stays else new)
    make_store(target, GRAPH, force=True)
    assert digest_of(target) == new
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


KILLED = """
import sys, numpy as np
from pathlib import Path
from emdiam.store.writer import StoreWriter
writer = StoreWriter(Path(sys.argv[1]), n_vertices=1 << 20, chunk_ids=1024)
print("writing", flush=True)
while True:
    writer.append_degrees(np.full(1000, 5))
    writer.append_neighbours(np.arange(5000, dtype=np.uint32))
"""


def test_kill_9_in_the_middle(tmp_path: Path):
    target = tmp_path / "g.zarr"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(target)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"writing\n"
    while not (tmp_path / "g.zarr.partial" / "indices" / "c" / "0").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    with pytest.raises(StoreError, match="unfinished"):
        open_store(target)
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr.partial"]
    make_store(target, GRAPH)
    assert digest_of(target) and [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


def test_abort_leaves_nothing_and_may_come_twice(tmp_path: Path):
    threads = threading.active_count()
    writer = StoreWriter(tmp_path / "g.zarr", n_vertices=100_000, chunk_ids=64)
    writer.append_degrees(np.full(50_000, 2))
    writer.append_neighbours(np.arange(100_000, dtype=np.uint32))
    assert (tmp_path / "g.zarr.partial").is_dir()
    writer.abort()
    writer.abort()
    assert list(tmp_path.iterdir()) == []
    assert threading.active_count() == threads


def test_abort_after_the_end_keeps_the_store(tmp_path: Path):
    writer = StoreWriter(tmp_path / "g.zarr", n_vertices=2)
    writer.append_degrees(np.array([1, 1]))
    writer.append_neighbours(np.array([1, 0], np.uint32))
    writer.finish(StoreRecord())
    writer.abort()
    assert digest_of(tmp_path / "g.zarr")


def test_an_error_in_a_thread_reaches_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*arguments: object) -> bytes:
        raise OSError(28, os.strerror(28))

    writer = StoreWriter(tmp_path / "g.zarr", n_vertices=1 << 20, chunk_ids=64)
    monkeypatch.setattr("emdiam.store.codec.ChunkCodec.encode", fail)
    with pytest.raises(OSError, match=os.strerror(28)):
        for _ in range(100):
            writer.append_neighbours(np.arange(64, dtype=np.uint32))
    writer.abort()
    assert list(tmp_path.iterdir()) == []


def test_an_existing_target_needs_force(tmp_path: Path):
    target = make_store(tmp_path / "g.zarr", OTHER)
    before = digest_of(target)
    with pytest.raises(InputError, match="the target exists; choose another name or use --force"):
        make_store(target, GRAPH)
    assert digest_of(target) == before
    assert digest_of(make_store(target, GRAPH, force=True)) != before


def test_a_target_that_comes_into_being_meanwhile_is_not_lost(tmp_path: Path):
    target = tmp_path / "g.zarr"
    writer = StoreWriter(target, n_vertices=1)
    other = make_store(tmp_path / "other.zarr", OTHER)
    before = digest_of(other)
    other.rename(target)
    writer.append_degrees(np.array([0]))
    with pytest.raises(InputError, match="the target exists"):
        writer.finish(StoreRecord())
    writer.abort()
    assert digest_of(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


def test_force_replaces_stores_only(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("ten years of work")
    (tmp_path / "file").write_text("x")
    (tmp_path / "loose").symlink_to(tmp_path / "absent")
    for name in ("folder", "file", "loose"):
        with pytest.raises(InputError, match="not a zarr store, so it is not replaced"):
            make_store(tmp_path / name, GRAPH, force=True)
    assert (tmp_path / "folder" / "thesis.tex").read_text() == "ten years of work"


def test_force_replaces_a_link_and_not_what_it_points_to(tmp_path: Path):
    old = make_store(tmp_path / "old.zarr", OTHER)
    before = digest_of(old)
    link = tmp_path / "g.zarr"
    link.symlink_to(old)
    assert digest_of(make_store(link, GRAPH, force=True)) != before
    assert not link.is_symlink() and digest_of(old) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zarr", "old.zarr"]


def test_only_leftovers_of_this_target_are_removed(tmp_path: Path):
    for name in ("g.zarr.123.deleting", "other.zarr.123.deleting", "g.zarr.mine.deleting", "gxzarr.1.deleting"):
        (tmp_path / name).mkdir()
    make_store(tmp_path / "g.zarr", GRAPH)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "g.zarr", "g.zarr.mine.deleting", "gxzarr.1.deleting", "other.zarr.123.deleting"]


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_no_partial_store_is_not_removed(tmp_path: Path, kind: str):
    partial = tmp_path / "g.zarr.partial"
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "a").write_text("x")
    if kind == "file":
        partial.write_text("x")
    elif kind == "folder":
        shutil.copytree(tmp_path / "precious", partial)
    else:
        partial.symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="in the way"):
        make_store(tmp_path / "g.zarr", GRAPH)
    assert partial.exists() and (tmp_path / "precious" / "a").read_text() == "x"


def test_targets_that_cannot_be(tmp_path: Path):
    with pytest.raises(InputError, match="its folder does not exist"):
        make_store(tmp_path / "absent" / "g.zarr", GRAPH)
    with pytest.raises(InputError, match="unfinished stores"):
        make_store(tmp_path / "g.partial", GRAPH)
    assert list(tmp_path.iterdir()) == []


def test_a_whole_shard_of_another_store_is_not_gone_on_from(tmp_path: Path):
    """Its size tells nothing: the checksums at its end do."""
    def writer() -> ArrayWriter:
        return ArrayWriter(tmp_path, "a", ChunkCodec("none", np.dtype(np.int64)), chunk_items=64, shard_chunks=2,
                           fill_value=0, pool=pool)

    with ThreadPoolExecutor(1) as pool:
        states = []
        for first in (0, 7):
            one = writer()
            one.append(np.arange(first, first + 200))
            states.append(one.state())
            one.abort()
        writer().go_on_from(states[1])
        with pytest.raises(StoreError, match="a/c/0: a shard of the unfinished store is another one"):
            writer().go_on_from(states[0])


def test_metadata_of_an_attempt_before_are_written_again(tmp_path: Path):
    zarr.open_group(str(tmp_path), mode="w", zarr_format=3)
    with ThreadPoolExecutor(1) as pool:
        for length in (100, 200):
            array = ArrayWriter(tmp_path, "a", ChunkCodec("none", np.dtype(np.int64)), chunk_items=64, shard_chunks=2,
                                fill_value=0, pool=pool)
            array.append(np.arange(length))
            array.close()
    assert np.array_equal(zarr.open_group(str(tmp_path), mode="r")["a"][:], np.arange(200))


@pytest.mark.parametrize("n_shards", [1, 3])
def test_a_shard_that_cannot_be_brought_to_disk_ends_the_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_shards: int
):
    """Threads bring shards to disk; whatever goes wrong there is an error of the next shard, or of the end."""
    def fails(handle: int) -> None:
        raise OSError(errno.EIO, "the disk is broken")

    with ThreadPoolExecutor(1) as pool:
        one = ArrayWriter(tmp_path, "a", ChunkCodec("none", np.dtype(np.int64)), chunk_items=64, shard_chunks=2,
                          fill_value=0, pool=pool)
        monkeypatch.setattr(os, "fsync", fails)
        with pytest.raises(OSError, match="the disk is broken"):
            one.append(np.arange(n_shards * 128))
            one.close()
        one.abort()
    assert not (tmp_path / "a" / "zarr.json").exists()


def test_what_zarr_writes_first_is_an_unfinished_store(tmp_path: Path):
    """A power failure may leave no more of it."""
    partial = tmp_path / "g.zarr.partial"
    partial.mkdir()
    (partial / "zarr.0a1b2c.partial").write_bytes(b"")
    make_store(tmp_path / "g.zarr", GRAPH)
    partial.mkdir()
    (partial / "mine.txt").write_bytes(b"")
    with pytest.raises(InputError, match="in the way and is not an unfinished store"):
        remove_stale(partial)


def test_the_names_of_shards_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced: list[Path] = []
    monkeypatch.setattr("emdiam.store.array_writer.sync_path", synced.append)
    make_store(tmp_path / "g.zarr", GRAPH)
    assert {path.relative_to(tmp_path).as_posix() for path in synced} >= {
        "g.zarr.partial/indptr/c", "g.zarr.partial/indices/c"}
