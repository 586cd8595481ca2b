"""Files that are read: what changed them is noticed, and what did not is not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from emdiam.errors import InputError, StoreError
from emdiam.unchanged import Watched


def moved_over(path: Path) -> None:
    """Another file of equal content and times gets the name."""
    shutil.copy2(path, path.with_name("other"))
    os.replace(path.with_name("other"), path)


def rewritten(path: Path) -> None:
    """The same number of bytes, later."""
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


CHANGES: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: path.write_text("12"), "it had 4 bytes and has 2"),
    (lambda path: path.write_text("123456"), "it had 4 bytes and has 6"),
    (rewritten, "it was written to"), (moved_over, "another file has its name"), (Path.unlink, "it no longer exists"),
]


@pytest.mark.parametrize(("change", "what"), CHANGES, ids=[what for _, what in CHANGES])
def test_changes_are_noticed(change: Callable[[Path], object], what: str, tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for file in files:
        file.write_text("1234")
    watched = Watched(files)
    watched.check()
    change(files[1])
    with pytest.raises(InputError, match=f"b: this changed while it was read .{what}"):
        watched.check()


def test_what_reads_and_names_leave_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1234")
    watched = Watched([tmp_path / "a"])
    (tmp_path / "a").read_text()
    os.link(tmp_path / "a", tmp_path / "b")
    (tmp_path / "a").chmod(0o600)
    watched.check()


def test_a_fault_that_comes_of_a_change_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1234")
    watched = Watched([tmp_path / "a"])
    with pytest.raises(StoreError, match="damaged"), watched.blamed():
        raise StoreError("damaged")
    with pytest.raises(InputError, match="changed while it was read"), watched.blamed():
        (tmp_path / "a").write_text("1")
        raise StoreError("damaged")
