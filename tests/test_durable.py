"""Files that are written: asked about before the work, and whole or not there."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from emdiam.durable import (
    check_file,
    check_folder,
    check_name,
    open_to_append,
    remove_folder,
    whole_file,
    write_whole,
)
from emdiam.errors import InputError
from emdiam.store.place import remove_stale
from tests.helpers.others import OTHER, THIRD, as_other, needs_root, planted, shared_folder
from tests.helpers.waiting import PATIENCE


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a file, a folder and links."""
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "lost").symlink_to("folder/absent")
    return tmp_path


@pytest.mark.parametrize("name", ["new", "file", "link", "folder/new", "/dev/null", "x" * 255])
def test_files_that_can_be_written(place: Path, name: str):
    before = sorted(place.rglob("*"))
    check_file(place / name)
    assert sorted(place.rglob("*")) == before
    write_whole(place / name, "text")
    assert name == "/dev/null" or (place / name).read_text() == "text"
    assert (place / "link").is_symlink() and not list(place.rglob("*.partial"))


@pytest.mark.parametrize(("name", "why"), [
    ("", "folder, not a file"), ("folder", "folder, not a file"), ("absent/x", "does not exist"),
    ("file/x", "no folder"), ("/proc/x", "cannot be written"), ("x" * 256, "name too long"),
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
    assert (place / "file").read_text() == "old" and not list(place.glob("*.partial"))


def test_an_unfinished_name_that_is_a_link_is_not_written_through(place: Path) -> None:
    """Whatever names somebody else expects."""
    (place / "victim").write_text("mine")
    for name in ("new.partial", "new.00000000.partial"):
        (place / name).symlink_to("victim")
    write_whole(place / "new", "text")
    assert (place / "victim").read_text() == "mine" and (place / "new").read_text() == "text"
    assert not (place / "new").is_symlink()


def test_a_name_that_is_taken_is_not_written_to(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link that was guessed."""
    names = iter(["0000aaaa", "0000bbbb"])
    monkeypatch.setattr(secrets, "token_hex", lambda size: next(names))
    (place / "new.0000aaaa.partial").symlink_to("file")
    write_whole(place / "new", "text")
    assert (place / "file").read_text() == "old" and (place / "new").read_text() == "text"


def test_a_file_behind_a_link_is_whole_too(place: Path) -> None:
    with pytest.raises(KeyboardInterrupt), whole_file(place / "link") as file:
        file.write(b"half")
        assert (place / "file").read_text() == "old"
        raise KeyboardInterrupt
    before = (place / "file").stat().st_ino
    write_whole(place / "link", "text")
    assert (place / "link").is_symlink() and (place / "file").read_text() == "text"
    assert (place / "file").stat().st_ino != before
    write_whole(place / "lost", "text")
    assert (place / "lost").is_symlink() and (place / "folder" / "absent").read_text() == "text"


def test_a_file_has_the_mode_of_a_new_one(place: Path) -> None:
    for mask, mode in ((0o027, 0o640), (0o000, 0o666)):
        before = os.umask(mask)
        try:
            write_whole(place / "new", "text")
        finally:
            os.umask(before)
        assert (place / "new").stat().st_mode & 0o777 == mode


def test_what_a_killed_writer_has_left_goes_and_what_one_at_work_has_stays(place: Path) -> None:
    (place / "new.0123abcd.partial").write_text("left")
    (place / "new.old.partial").write_text("of the user")
    (place / "new.01234567.partial").symlink_to("file")
    with whole_file(place / "new") as first:
        first.write(b"first")
        names = {path.name for path in place.glob("new.*")}
        assert len(names) == 3 and "new.0123abcd.partial" not in names
        write_whole(place / "new", "second")
        assert (place / "new").read_text() == "second" and {path.name for path in place.glob("new.*")} == names
    assert (place / "new").read_text() == "first" and (place / "file").read_text() == "old"
    assert {path.name for path in place.glob("new.*")} == {"new.old.partial", "new.01234567.partial"}


def test_a_new_name_that_another_writer_takes_for_left_is_not_used(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was looked at after it was made and before it was locked."""
    locked, turns = fcntl.flock, []

    def flock(handle: int, how: int) -> None:
        if not turns:
            turns.append(handle)
            left, = place.glob("new.*.partial")
            left.unlink()
        locked(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    write_whole(place / "new", "text")
    assert turns and (place / "new").read_text() == "text"


WRITER = """
import sys, time
from emdiam.durable import whole_file
target, letter = sys.argv[1:]
for _ in range(20):
    with whole_file(target) as file:
        for _ in range(50):
            file.write(letter.encode() * 4096)
            file.flush()
"""


def test_of_two_writers_the_last_whole_one_stays(tmp_path: Path) -> None:
    target = tmp_path / "out"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(target), letter]) for letter in "ab"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if target.exists():
            text = target.read_text()
            assert len(text) == 50 * 4096 and len(set(text)) == 1
            seen.add(text[0])
    assert [writer.wait(PATIENCE) for writer in writers] == [0, 0]
    assert seen <= {"a", "b"} and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("redirected", [False, True])
def test_standard_output_is_written_to(tmp_path: Path, redirected: bool) -> None:
    """/dev/stdout leads to a pipe, or to a file that the shell has opened."""
    words = [sys.executable, "-c", "from emdiam.durable import check_file, write_whole; check_file('/dev/stdout');"
             " write_whole('/dev/stdout', 'text')"]
    if redirected:
        with open(tmp_path / "out", "w") as file:
            subprocess.run(words, stdout=file, check=True, timeout=PATIENCE)
        assert (tmp_path / "out").read_text() == "text"
    else:
        assert subprocess.run(words, stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout == b"text"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE)
    check_file(tmp_path / "pipe")
    write_whole(tmp_path / "pipe", "text")
    assert reader.communicate(timeout=PATIENCE)[0] == b"text" and os.listdir(tmp_path) == ["pipe"]


def test_appending_follows_a_link_of_this_user(place: Path) -> None:
    for name in ("link", "new"):
        handle = open_to_append(place / name)
        os.write(handle, b" and more")
        os.close(handle)
    assert (place / "file").read_text() == "old and more" and (place / "new").read_text() == " and more"


@needs_root
def test_nothing_of_another_user_is_written_to_where_any_user_may_make_files() -> None:
    with shared_folder() as folder:
        victim = folder / "victim"
        victim.write_text("mine")
        planted(folder / "link", victim)
        os.mkfifo(folder / "pipe")
        (folder / "log").write_text("")
        for name in ("pipe", "log"):
            os.chown(folder / name, OTHER, OTHER)
        for name in ("link", "pipe"):
            with pytest.raises(InputError, match="of another user"):
                check_file(folder / name)
            with pytest.raises(PermissionError, match="of another user"):
                write_whole(folder / name, "text")
        for name in ("link", "pipe", "log"):
            with pytest.raises(PermissionError, match="of another user"):
                open_to_append(folder / name)
        assert victim.read_text() == "mine" and (folder / "log").read_text() == ""
        write_whole(folder / "log", "text")  # replaced, as root may
        assert (folder / "log").stat().st_uid == 0


@needs_root
def test_what_the_sticky_bit_keeps_is_refused_before_the_work() -> None:
    def write(name: str) -> str:
        def attempt() -> None:
            check_file(folder / name)
            write_whole(folder / name, "text")
        return as_other(attempt)

    with shared_folder() as folder:
        for name, user in (("of-third", THIRD), ("own", OTHER)):
            (folder / name).write_text("")
            os.chown(folder / name, user, user)
        assert "this belongs to another user, and its folder does not let you replace it" in write("of-third")
        for name in ("own", "new"):
            assert write(name) == "None" and (folder / name).read_text() == "text"


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
