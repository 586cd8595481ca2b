"""Input that changes while it is converted or reordered: a sentence, and nothing that opens."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import emdiam
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.conversion.convert import Conversion, ConvertOptions, convert
from emdiam.conversion.reorder import _Reordering, reorder
from emdiam.errors import InputError
from emdiam.store.store import open_store
from tests.helpers.damage import make_store, some_graph

TEXT = "".join(f"{v} {v + 1}\n" for v in range(400))


def shrunk(path: Path) -> None:
    """Half of it is cut off."""
    os.truncate(path, path.stat().st_size // 2)


def grown(path: Path) -> None:
    """A line more."""
    with open(path, "ab") as file:
        file.write(b"7 8\n")


def touched(path: Path) -> None:
    """Written to, with an end as before."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


CHANGES = [shrunk, grown, touched, Path.unlink]


def text(folder: Path) -> list[Path]:
    (folder / "edges.txt").write_text(TEXT)
    return [folder / "edges.txt"]


def packed(folder: Path) -> list[Path]:
    (folder / "edges.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    return [folder / "edges.txt.gz"]


def in_archive(folder: Path) -> list[Path]:
    with tarfile.open(folder / "edges.tar", "w") as archive:
        member = tarfile.TarInfo("edges.txt")
        member.size = len(TEXT)
        archive.addfile(member, io.BytesIO(TEXT.encode()))
    return [folder / "edges.tar"]


def several(folder: Path) -> list[Path]:
    """The first is the one that changes, when it has been read."""
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.txt").write_text("500 501\n")
    return [folder / "a.txt", folder / "b.txt"]


@pytest.fixture
def changing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Callable[[Path], object]], None]:
    """Changes a file as soon as the first batch has been taken in."""

    def plan(path: Path, change: Callable[[Path], object]) -> None:
        made, done = Conversion._new_intake, []

        def new_intake(self, resumed=None):
            intake = made(self, resumed)
            add = intake.add

            def and_change(batch):
                add(batch)
                if not done:
                    done.append(change(path))
            monkeypatch.setattr(intake, "add", and_change)
            return intake

        monkeypatch.setattr(Conversion, "_new_intake", new_intake)

    return plan


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("make", [text, packed, in_archive, several])
def test_a_conversion_notices(make, change, tmp_path: Path, changing, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    files = make(tmp_path / "in")
    changing(files[0], change)
    assert run(group, ["convert", str(tmp_path / "in" / "*"), str(tmp_path / "g.zarr"), "-q"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith(f"emdiam: {files[0]}: this changed while it was read (")
    assert os.listdir(tmp_path) == ["in"]


def test_what_a_change_has_broken_is_told_as_the_change(tmp_path: Path, changing) -> None:
    """A reader that meets half a line, as the file was cut."""
    def cut(path: Path) -> None:
        shrunk(path)
        raise InputError("a line with fewer than two ids", path=path)

    file, = text(tmp_path)
    changing(file, cut)
    with pytest.raises(InputError, match="changed while it was read"):
        convert([file], tmp_path / "g.zarr")


def test_python_notices_too(tmp_path: Path, changing) -> None:
    """A graph that is converted in memory."""
    file, = text(tmp_path)
    changing(file, grown)
    with pytest.raises(InputError, match="changed while it was read"):
        emdiam.diameter(file)


def test_with_a_checkpoint_the_same_command_begins_anew(tmp_path: Path, changing) -> None:
    """What was read of input that changed is not gone on from."""
    file, = text(tmp_path)
    changing(file, grown)
    options = ConvertOptions(checkpoint=CheckpointOptions(resume=True))
    with pytest.raises(InputError, match="changed while it was read"):
        convert([file], tmp_path / "g.zarr", options=options)
    assert not (tmp_path / "g.zarr").exists()
    assert convert([file], tmp_path / "g.zarr", options=options).pairs_read == 401


def test_input_that_stays_is_converted(tmp_path: Path, changing) -> None:
    file, = text(tmp_path)
    changing(file, lambda path: None)
    convert([file], tmp_path / "g.zarr")
    with open_store(tmp_path / "g.zarr") as store:
        assert store.n_vertices == 401


@pytest.mark.parametrize("change", [
    lambda store: touched(store / "indices" / "c" / "0"), lambda store: (store / "zarr.json").unlink(),
    lambda store: make_store(store, some_graph(seed=9), force=True)], ids=["a shard", "no record", "another store"])
@pytest.mark.parametrize("order", ["degree", "bfs"])
def test_a_reordering_notices(
    order: str, change: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path / "g.zarr", some_graph())
    written = _Reordering._write_rows

    def and_change(self, dealer, writer) -> None:
        written(self, dealer, writer)
        change(store)

    monkeypatch.setattr(_Reordering, "_write_rows", and_change)
    with pytest.raises(InputError, match="this changed while it was read"):
        reorder(store, tmp_path / "new.zarr", order)
    assert os.listdir(tmp_path) == ["g.zarr"]
