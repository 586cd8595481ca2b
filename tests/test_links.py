"""Which links are followed to a place that is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from emdiam.links import followed
from tests.helpers.others import THIRD, as_other, needs_root, planted, shared_folder


def test_links_of_this_user_are_followed(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "first").symlink_to("inner/second")
    (tmp_path / "inner" / "second").symlink_to("third")
    assert followed(tmp_path / "first") == tmp_path / "inner" / "third"
    (tmp_path / "inner" / "third").write_text("")
    assert followed(tmp_path / "first") == tmp_path / "inner" / "third"
    assert followed(tmp_path / "none") == tmp_path / "none"
    (tmp_path / "far").symlink_to("/dev/null")
    assert followed(tmp_path / "far") == Path("/dev/null")


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels"):
        followed(tmp_path / "a")


def test_links_of_the_kernel_are_the_place() -> None:
    """They lead to an open file, which may have no name."""
    reading, writing = os.pipe()
    try:
        place = Path(f"/dev/fd/{writing}")
        assert followed(place) == place
    finally:
        os.close(reading)
        os.close(writing)


@needs_root
def test_links_of_another_user_are_not() -> None:
    with shared_folder() as folder:
        planted(folder / "file", folder / "victim")
        with pytest.raises(PermissionError, match="a link of another user is in the way"):
            followed(folder / "file")
        (folder / "mine").symlink_to("file")
        with pytest.raises(PermissionError, match="another user"):
            followed(folder / "mine")


@needs_root
def test_links_of_another_user_above_it_are_not_where_any_user_may_make_one() -> None:
    with shared_folder() as folder:
        (folder / "place").mkdir()
        planted(folder / "link", folder / "place")
        with pytest.raises(PermissionError, match="another user"):
            followed(folder / "link" / "file")
        folder.chmod(0o755)  # as a folder of a project, where the administrator has put a link
        assert followed(folder / "link" / "file") == folder / "link" / "file"


@needs_root
def test_another_user_follows_links_of_root_and_no_third_ones() -> None:
    with shared_folder() as folder:
        (folder / "of-root").symlink_to("there")
        planted(folder / "of-third", folder / "there", THIRD)
        assert as_other(lambda: followed(folder / "of-root")) == str(folder / "there")
        assert "a link of another user is in the way" in as_other(lambda: followed(folder / "of-third"))
