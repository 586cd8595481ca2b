"""What a conversion makes of checkpoints that are damaged, foreign or of something else."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emdiam.checkpoint.folder import Folder
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.checkpoint.records import RecordWriter, state_of
from emdiam.conversion.convert import ConvertOptions, convert, write_graph
from emdiam.errors import BudgetError, InputError
from emdiam.formats.source import SourceInfo
from emdiam.progress import Event
from tests.conversion.test_stages import SMALL, random_pairs
from tests.helpers.convert_twin import TINY, ListSource, rows_of
from tests.helpers.resume_attempts import (
    INPUTS,
    Stop,
    attempt,
    files_of,
    plan_of,
    rows_begun,
    source_of,
    stop_after,
    stop_at,
    unbroken,
)

pytestmark = pytest.mark.thin(4)


@pytest.mark.parametrize("kind", INPUTS)
def test_a_store_that_is_gone_is_written_again(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, kind, tmp_path, rows_begun)
    shutil.rmtree(tmp_path / "g.zarr.partial")
    report = attempt(kind, tmp_path)
    assert any("is not there; it was written again" in note for note in report.notes)
    assert files_of(tmp_path / "g.zarr") == unbroken(kind)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "scratch", "foreign"])
@pytest.mark.parametrize("kind", INPUTS)
def test_a_damaged_newest_state_falls_back_to_the_one_before(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    seen: list[int] = []
    stop_at(monkeypatch, kind, tmp_path, lambda state: bool(seen.append(1)) or len(seen) == 4)
    spoil(tmp_path / "kept", damage)
    report = attempt(kind, tmp_path)
    assert any("a checkpoint was damaged (state-4" in note for note in report.notes)
    assert any("went on from a checkpoint" in note for note in report.notes)
    assert files_of(tmp_path / "g.zarr") == unbroken(kind)


def spoil(folder: Path, damage: str, number: int = 4) -> None:
    """Damage a state, or a scratch file that only it refers to in that length."""
    path = folder / f"state-{number}"
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "changed":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        opened = Folder(folder)
        with opened.state(number - 1) as last, opened.state(number) as newest:
            before, after = state_of(last)["files"], state_of(newest)["files"]
        opened.close()
        for name, (size, _) in after.items():
            was, _ = before.get(name, (0, 0))
            if size > was and damage == "foreign":
                (folder / name).write_bytes((folder / name).read_bytes()[:was] + bytes(size - was))
                return
            if size > was:
                os.truncate(folder / name, was)
                return
        raise AssertionError("no scratch file grew between the states")


def test_two_damaged_states_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    stop_at(monkeypatch, "compact", tmp_path, lambda state: bool(seen.append(1)) or len(seen) == 4)
    spoil(tmp_path / "kept", "cut", 3)
    spoil(tmp_path / "kept", "changed", 4)
    with pytest.raises(InputError, match="no checkpoint here can be used.*state-4 is.*state-3 is damaged.*begin anew"):
        attempt("compact", tmp_path)


def test_a_state_that_was_not_finished_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the writing of a state and its renaming."""
    stop_at(monkeypatch, "compact", tmp_path, rows_begun)
    (tmp_path / "kept" / "state-9.partial").write_bytes(b"half")
    assert attempt("compact", tmp_path).pairs_read == len(INPUTS["compact"][0])
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(("change", "what"), [
    ({"codec": "none"}, "codec"), ({"chunk_ids": 128}, "chunk size"), ({"fmt": "edgelist"}, "format"),
    ({"ids": "string"}, "kind of ids"),
])
def test_other_options_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], what: str
) -> None:
    stop_at(monkeypatch, "declared", tmp_path, rows_begun)
    before = files_of(tmp_path / "kept")
    options = ConvertOptions(plan=plan_of("declared"), chunk_ids=64,
                             checkpoint=CheckpointOptions(tmp_path / "kept", resume=True))
    with pytest.raises(InputError, match=f"of another run: {what} .* instead of .*give the same inputs and options"):
        write_graph(source_of("declared"), tmp_path / "g.zarr", options=replace(options, **change))
    assert files_of(tmp_path / "kept") == before


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_at(monkeypatch, "declared", tmp_path, rows_begun)
    monkeypatch.setattr("emdiam.checkpoint.folder.__version__", "999")
    with pytest.raises(InputError, match="of another run: version"):
        attempt("declared", tmp_path)


def test_another_target_and_another_source_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_at(monkeypatch, "declared", tmp_path, rows_begun)
    options = ConvertOptions(plan=TINY, chunk_ids=64, checkpoint=CheckpointOptions(tmp_path / "kept", resume=True))
    with pytest.raises(InputError, match="of another run: (another )?target"):
        write_graph(source_of("declared"), tmp_path / "other.zarr", options=options)
    with pytest.raises(InputError, match="of another run: (another )?input"):
        attempt("compact", tmp_path)


def test_a_checkpoint_is_not_overwritten_without_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_at(monkeypatch, "declared", tmp_path, rows_begun)
    with pytest.raises(InputError, match="this folder already has the checkpoint of a run; continue it with --resume"):
        attempt("declared", tmp_path, resume=False)
    assert attempt("declared", tmp_path).record.complete


class TestFiles:
    """Conversions of files, which are pinned."""

    @pytest.fixture
    def edges(self, tmp_path: Path) -> Path:
        path = tmp_path / "edges.txt"
        path.write_text("".join(f"{a} {b}\n" for a, b in random_pairs(200, 20_000)))
        return path

    def options(self, folder: Path, **more: Any) -> ConvertOptions:
        plan = replace(SMALL, block_keys=256, merge_keys_alone=1 << 17)
        return ConvertOptions(plan=plan, checkpoint=CheckpointOptions(folder / "kept", 0.0, True), **more)

    def stopped(self, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[int] = []
        with monkeypatch.context() as patch, pytest.raises(Stop):
            stop_after(patch, lambda state: bool(seen.append(1)) or len(seen) == 3)
            convert([edges], edges.with_name("g.zarr"), options=self.options(edges.parent))

    def test_go_on_in_the_middle_of_a_file(self, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stopped(edges, monkeypatch)
        report = convert([edges], edges.with_name("g.zarr"), options=self.options(edges.parent))
        (note,) = (note for note in report.notes if "went on" in note)
        assert 0 < int(note.split("; ")[1].split()[0]) < 20_000 == report.pairs_read
        convert([edges], edges.with_name("whole.zarr"))
        assert rows_of(edges.with_name("g.zarr")) == rows_of(edges.with_name("whole.zarr"))

    @pytest.mark.parametrize("change", ["longer", "touched", "middle"])
    def test_a_changed_file_is_refused(self, edges: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
        self.stopped(edges, monkeypatch)
        status = edges.stat()
        if change == "longer":
            edges.write_text(edges.read_text() + "1 2\n")
        if change == "middle":
            text = edges.read_text()
            edges.write_text(("2" if text[0] == "1" else "1") + text[1:])
        if change != "touched":
            os.utime(edges, ns=(status.st_atime_ns, status.st_mtime_ns))
        else:
            os.utime(edges, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
        with pytest.raises(InputError, match="of another run: (another )?input"):
            convert([edges], edges.with_name("g.zarr"), options=self.options(edges.parent))

    def test_less_memory_is_refused_and_none_named_is_not(self, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        options = replace(self.options(edges.parent), plan=None, memory_bytes=3 << 30)
        with monkeypatch.context() as patch, pytest.raises(Stop):
            stop_after(patch, lambda state: True)
            convert([edges], edges.with_name("g.zarr"), options=options)
        with pytest.raises(BudgetError, match="made with 3.0 GiB of memory, not 2.0 GiB.*--memory 3072MiB"):
            convert([edges], edges.with_name("g.zarr"), options=replace(options, memory_bytes=2 << 30))
        report = convert([edges], edges.with_name("g.zarr"), options=replace(options, memory_bytes=None))
        assert report.memory_limit_bytes >= 3 << 30

    def test_the_folder_of_something_else_is_left_alone(self, edges: Path) -> None:
        (edges.parent / "kept").mkdir()
        (edges.parent / "kept" / "letter.txt").write_text("dear")
        with pytest.raises(InputError, match="not a checkpoint: 'letter.txt'"):
            convert([edges], edges.with_name("g.zarr"), options=self.options(edges.parent))
        assert (edges.parent / "kept" / "letter.txt").read_text() == "dear"

    def test_a_scratch_folder_beside_a_checkpoint_is_refused(self, edges: Path) -> None:
        with pytest.raises(InputError, match="leave out --scratch"):
            convert([edges], edges.with_name("g.zarr"), options=self.options(edges.parent, scratch=edges.parent))

    def test_two_at_once_are_refused(self, edges: Path) -> None:
        def again(event: Event) -> None:
            with pytest.raises(InputError, match="another run keeps its checkpoint here now"):
                convert([edges], edges.with_name("g.zarr"), options=self.options(edges.parent))
            refused.append(event)

        refused: list[Event] = []
        convert([edges], edges.with_name("g.zarr"), options=self.options(edges.parent, progress=again))
        assert refused


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    options = ConvertOptions(checkpoint=CheckpointOptions(tmp_path / "kept"))
    with pytest.raises(InputError, match="pipe cannot be read again.*save it as a file"):
        write_graph(ListSource([(0, 1)], SourceInfo(), rewindable=False), tmp_path / "g.zarr", options=options)


@pytest.mark.parametrize("nth", [1, 4, 12])
@pytest.mark.parametrize("kind", INPUTS)
def test_a_full_disk_while_a_state_is_kept(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    calls, commit = iter(range(1, 10**6)), RecordWriter.commit

    def full(self: RecordWriter, head: dict[str, Any]) -> None:
        if next(calls) == nth:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        commit(self, head)

    with monkeypatch.context() as patch:
        patch.setattr(RecordWriter, "commit", full)
        with pytest.raises(BudgetError, match="the checkpoint cannot be written .No space left.*go on with --resume"):
            attempt(kind, tmp_path)
    attempt(kind, tmp_path)
    assert files_of(tmp_path / "g.zarr") == unbroken(kind)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zarr"]


@pytest.mark.parametrize("kind", INPUTS)
def test_the_metadata_of_the_unfinished_store_are_empty(kind: str, tmp_path: Path) -> None:
    """As a power failure leaves a file that was renamed before its content was on disk."""
    renamed = os.rename

    def killed(source: Any, target: Any) -> None:
        if str(source).endswith(".zarr.partial"):
            raise KeyboardInterrupt
        renamed(source, target)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "rename", killed)
        attempt(kind, tmp_path)
    (tmp_path / "g.zarr.partial" / "zarr.json").write_bytes(b"")
    attempt(kind, tmp_path)
    assert files_of(tmp_path / "g.zarr") == unbroken(kind)
