"""The folder of a checkpoint: what comes back from it, what is damaged, foreign or of another version."""

from __future__ import annotations

import errno
import json
import os
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.checkpoint.folder import DamagedError, Folder
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.checkpoint.records import FrameFile, RecordWriter, arrays_of, pack, records, state_of
from emdiam.errors import BudgetError, InputError
from tests.helpers.open_files import open_files


def state_in(path: Path, identity: dict[str, Any] | None, number: int = 1) -> Any:
    """The state of this number in a folder."""
    folder = Folder(path, identity)
    try:
        with folder.state(number) as record:
            return state_of(record)
    finally:
        folder.close()


def saved(path: Path, identity: dict[str, Any], state: dict[str, Any]) -> int:
    """Save a state in a folder; its number."""
    folder = Folder(path, identity)
    try:
        return folder.save({}, arrays_of(state))
    finally:
        folder.close()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2**70, 2**70) | st.text()
    | st.lists(st.integers(0, 2**64 - 1)).map(lambda values: np.array(values, np.uint64))
    | st.lists(st.integers(-9, 9)).map(lambda values: np.array([values, values], np.int16)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9,
)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b and type(a) is type(b))


# Inputs are slow to make on a machine that is busy.
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(), VALUES), st.data())
def test_a_state_comes_back_and_any_damage_is_noticed(state: dict[str, Any], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        saved(path, {"run": 1}, state)
        assert same(state_in(path, {"run": 1}), state)
        whole = bytearray((path / "state-1").read_bytes())
        at = data.draw(st.integers(0, len(whole) - 1))
        (path / "state-1").write_bytes(whole[:at])
        with pytest.raises(DamagedError):
            state_in(path, {"run": 1})
        whole[at] ^= 1 << data.draw(st.integers(0, 7))
        (path / "state-1").write_bytes(whole)
        with pytest.raises(DamagedError):
            state_in(path, {"run": 1})


def test_the_newest_two_states_stay(tmp_path: Path) -> None:
    assert [saved(tmp_path, {}, {"at": i}) for i in range(4)] == [1, 2, 3, 4]
    assert sorted(os.listdir(tmp_path)) == ["manifest.json", "state-3", "state-4"]
    assert state_in(tmp_path, {}, 4) == {"at": 3}


def test_a_state_of_another_run_is_none(tmp_path: Path) -> None:
    for name in ("a", "b"):
        saved(tmp_path / name, {"run": name}, {})
    (tmp_path / "a" / "state-1").replace(tmp_path / "b" / "state-1")
    with pytest.raises(DamagedError, match="state-1 is of another run"):
        state_in(tmp_path / "b", {"run": "b"})


@pytest.mark.parametrize(("name", "content", "sentence"), [
    ("manifest.json", '{"format": 2, "identity": {}}', "this version can read \\(format 2\\)"),
    ("state.7", "", "this version can read \\(state.7 is of an earlier one\\)"),
    ("half-1", "", "this version can read \\(half-1 is of an earlier one\\)"),
    ("journal", "", "this version can read \\(it has journal and no manifest.json\\)"),
    ("state-3", "", "this version can read \\(it has state-3 and no manifest.json\\)"),
    ("notes.txt", "", "this folder is not a checkpoint: 'notes.txt'"),
])
def test_what_an_earlier_version_or_somebody_else_has_left_is_refused(
    tmp_path: Path, name: str, content: str, sentence: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=sentence):
        Folder(tmp_path, {"run": 1}, CheckpointOptions(resume=True))
    assert os.listdir(tmp_path) == [name]


def test_what_is_left_before_the_first_record_is_no_checkpoint_yet(tmp_path: Path) -> None:
    for name in ("000001.scratch", "manifest.json.0a1b2c3d.partial", "state-1.partial"):
        (tmp_path / name).write_text("x")
    folder = Folder(tmp_path, {"run": 1}, CheckpointOptions(resume=False))
    folder.remove()
    folder.close()
    assert not tmp_path.exists()


def test_a_full_disk_leaves_the_states_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, {}, {"at": 1})

    def full(self: FrameFile, kind: int, payload: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(FrameFile, "append", full)
        with pytest.raises(BudgetError, match="the checkpoint cannot be written .No space left.*go on with --resume"):
            saved(tmp_path, {}, {"at": 2})
    assert sorted(os.listdir(tmp_path)) == ["manifest.json", "state-1"]
    assert state_in(tmp_path, {}) == {"at": 1}


def test_a_record_that_was_dropped_leaves_nothing(tmp_path: Path) -> None:
    with FrameFile(tmp_path / "frames") as file:
        writer = RecordWriter(file)
        writer.add("a", np.arange(9))
        writer.abort()
        assert file.size == file.begin.offset


def test_the_others_are_gone_for_good_before_the_manifest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power failure may leave a journal without a manifest, from which nobody goes on."""
    saved(tmp_path / "kept", {}, {"at": 1})
    synced: list[list[str]] = []
    monkeypatch.setattr("emdiam.checkpoint.folder.sync_path", lambda path: synced.append(os.listdir(path)))
    folder = Folder(tmp_path / "kept", {})
    folder.remove()
    folder.close()
    assert synced == [["manifest.json"]] and not (tmp_path / "kept").exists()


@pytest.mark.parametrize("call", ["fsync", "pwrite"])
def test_a_file_that_cannot_be_begun_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def broken(*arguments: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    files = open_files()
    monkeypatch.setattr(os, call, broken)
    with pytest.raises(OSError, match="Input/output error"):
        FrameFile(tmp_path / "frames")
    assert not open_files() - files


def test_folders_and_files_of_others_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a checkpoint says is believed. (Only root can give files away, so the others are made of owners seen.)"""
    saved(tmp_path / "kept", {"run": 1}, {"at": 1})
    real, foreign = Path.lstat, tmp_path / "kept" / "state-1"

    def seen(path: Path) -> Any:
        facts = real(path)
        return os.stat_result([*facts[:4], facts.st_uid + 1, *facts[5:10]]) if path == foreign else facts

    with monkeypatch.context() as patch, pytest.raises(InputError, match="state-1: this belongs to another user, and"):
        patch.setattr(Path, "lstat", seen)
        Folder(tmp_path / "kept", {"run": 1})
    (tmp_path / "kept").chmod(0o777)
    with pytest.raises(InputError, match="kept: any user may write here.*chmod o-w"):
        Folder(tmp_path / "kept", {"run": 1})
    (tmp_path / "kept").chmod(0o775)
    assert state_in(tmp_path / "kept", {"run": 1}) == {"at": 1}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", ["", "manifest.json", "state-1"])
def test_folders_and_files_that_were_given_away(tmp_path: Path, name: str) -> None:
    saved(tmp_path / "kept", {"run": 1}, {"at": 1})
    os.chown(tmp_path / "kept" / name, 12345, -1)
    with pytest.raises(InputError, match="belongs to another user"):
        Folder(tmp_path / "kept", {"run": 1})


@pytest.mark.parametrize(("arrays", "items"), [
    ({"a": ["<i8", [1 << 57]]}, None), ({"a": ["<i8", [-9]]}, None), ({"a": ["<i8", [True]]}, None),
    ({"a": ["|O", [9]]}, None), ({"a": ["<M8[s]", [9]]}, None), ({"a": ["<i8", [8]]}, None), ({"a": [7, [9]]}, None),
    ({"a": ["<i8", 9]}, None), ({"a": ["<i8", [9, 9]]}, None), ({"a": ["<i4", [9]]}, None), ([], None), ({}, 1 << 40),
    ({"a": ["<i8", [9]]}, (1 << 31) - 1),
])
def test_sizes_are_checked_before_memory_is_taken(
    tmp_path: Path, arrays: Any, items: int | None
) -> None:
    """Of frames with the right checksums, which anybody can make."""
    piece = pack(np.arange(9))
    if items is not None:
        piece = piece[:4] + (items & 0xFFFFFFFF).to_bytes(4, "little") + piece[8:]
    with FrameFile(tmp_path / "frames") as file:
        file.append(1, piece)
        file.append(2, json.dumps({"head": {}, "arrays": arrays or {"a": ["<i8", [9]]}}
                                  if arrays != [] else {"head": {}, "arrays": []}).encode())
    tracemalloc.start()
    with FrameFile(tmp_path / "frames") as file:
        assert list(records(file)) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize("content", [b"{}", b"[]", b"7", b"{", b"[" * 100_000, b'{"head": 1, "arrays": {}}'])
def test_a_record_of_something_else_is_none(tmp_path: Path, content: bytes) -> None:
    with FrameFile(tmp_path / "frames") as file:
        file.append(2, content)
    with FrameFile(tmp_path / "frames") as file:
        assert list(records(file)) == []
