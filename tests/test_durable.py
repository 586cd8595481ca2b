"""Files that are written: asked about before the work, and whole or not there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from emdiam.durable import check_file, check_folder, check_name, remove_folder, whole_file, write_whole
from emdiam.errors import InputError
from emdiam.store.writer import remove_stale


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a file, a folder and links."""
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "lost").symlink_to("folder/absent")
    return tmp_path


@pytest.mark.parametrize("name", ["new", "file", "link", "folder/new", "/dev/null", "x" * 247])
def test_files_that_can_be_written(place: Path, name: str):
    before = sorted(place.rglob("*"))
    check_file(place / name)
    assert sorted(place.rglob("*")) == before
    write_whole(place / name, "text")
    assert name == "/dev/null" or (place / name).read_text() == "text"
    assert (place / "link").is_symlink() and not list(place.rglob("*.partial"))


@pytest.mark.parametrize(("name", "why"), [
    ("", "folder, not a file"), ("folder", "folder, not a file"), ("absent/x", "does not exist"),
    ("file/x", "no folder"), ("/proc/x", "cannot be written"), ("x" * 250, "name too long"),
])
def test_files_that_cannot(place: Path, name: str, why: str):
    with pytest.raises(InputError, match=f"(?i){why}"):
        check_file(place / name)
    with pytest.raises(OSError):
        write_whole(place / name, "text")


@pytest.mark.parametrize(("name", "why"), [
    ("absent/x", "does not exist"), ("file/x", "no folder"), ("/proc/x", "cannot be written"),
    ("x" * 250, "name too long")])
def test_names_that_cannot_be_given(place: Path, name: str, why: str):
    with pytest.raises(InputError, match=f"(?i){why}"):
        check_name(place / name)
    check_name(place / "new")


@pytest.mark.parametrize("name", ["", "folder", "new", "new/inner/most"])
def test_folders_that_can_be_written_to(place: Path, name: str):
    check_folder(place / name)
    assert not (place / "new").exists()


@pytest.mark.parametrize(("name", "why"), [
    ("file", "no folder"), ("file/x", "no folder"), ("lost", "no folder"), ("/proc/x/y", "cannot be written")])
def test_folders_that_cannot(place: Path, name: str, why: str):
    with pytest.raises(InputError, match=why):
        check_folder(place / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folders_of_others(place: Path):
    (place / "folder").chmod(0o555)
    for check, name in ((check_file, "folder/x"), (check_name, "folder/x"), (check_folder, "folder")):
        with pytest.raises(InputError, match="Permission denied"):
            check(place / name)


def test_a_file_that_is_not_ended_is_not_there(place: Path):
    with pytest.raises(KeyboardInterrupt), whole_file(place / "file") as file:
        file.write(b"half")
        assert (place / "file").read_text() == "old"
        raise KeyboardInterrupt
    assert (place / "file").read_text() == "old" and not (place / "file.partial").exists()


def test_a_folder_goes_with_what_others_write_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that appears after a folder was listed, twice."""
    folder = tmp_path / "g.partial"
    (folder / "c").mkdir(parents=True)
    (folder / "zarr.json").touch()
    removed, late = shutil.rmtree, ["a", "b"]

    def rmtree(path: Path) -> None:
        if late:
            (path / late.pop()).touch()
            path.rmdir()  # as rmtree ends where a file has come
        removed(path)

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    remove_folder(folder, "zarr.json")
    assert not folder.exists() and not late


def test_what_a_removal_leaves_is_known_for_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "g.partial"
    (folder / "c").mkdir(parents=True)
    (folder / "zarr.json").touch()

    def stopped(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", stopped)
        with pytest.raises(KeyboardInterrupt):
            remove_folder(folder, "zarr.json")
    assert (folder / "zarr.json").exists()
    remove_stale(folder)
    assert not folder.exists()


def test_what_cannot_be_removed_is_an_error() -> None:
    with pytest.raises(NotADirectoryError):
        remove_folder(Path("/dev/null"), "zarr.json")
