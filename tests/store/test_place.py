"""Where a store is made: what is in the way is removed if a killed conversion of this user has left it, else not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from emdiam.errors import InputError
from emdiam.store.place import check_target, claim, make_partial, put_in_place, remove_replaced, remove_stale
from emdiam.store.store import open_store
from tests.helpers.damage import make_store, some_graph
from tests.helpers.others import OTHER, as_other, needs_root, planted, shared_folder

GRAPH, LATER = some_graph(), some_graph(seed=6)


def half(folder: Path) -> Path:
    """A store as a killed conversion leaves it."""
    folder.mkdir()
    (folder / "zarr.json").write_text("{}")
    return folder


def given_away(folder: Path) -> Path:
    """The folder and what is in it belong to another user now."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, OTHER, OTHER, follow_symlinks=False)
    return folder


def test_a_link_is_never_an_unfinished_store(tmp_path: Path) -> None:
    victim = half(tmp_path / "victim")
    (tmp_path / "g.partial").symlink_to("victim")
    for take in (remove_stale, make_partial):
        with pytest.raises(InputError, match="in the way and is not an unfinished store"):
            take(tmp_path / "g.partial")
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        claim(tmp_path / "g.partial")
    assert (victim / "zarr.json").exists()


def test_a_folder_that_was_exchanged_is_not_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its making and its claim."""
    made = os.mkdir
    (tmp_path / "victim").mkdir()

    def mkdir(path: Path, *mode: int) -> None:
        made(path, *mode)
        os.rename(path, tmp_path / "elsewhere")
        os.symlink("victim", path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", mkdir)
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            make_partial(tmp_path / "g.partial")
    assert not list((tmp_path / "victim").iterdir())


@needs_root
def test_an_unfinished_store_of_another_user_stays() -> None:
    with shared_folder() as folder:
        partial = given_away(half(folder / "g.partial"))
        for take, what in ((remove_stale, "in the way and"), (make_partial, "in the way and"), (claim, "or it")):
            with pytest.raises(InputError, match=f"{what} belongs to another user"):
                take(partial)
        assert (partial / "zarr.json").exists()


@needs_root
def test_what_another_user_calls_a_replaced_store_stays() -> None:
    with shared_folder() as folder:
        (folder / "victim").mkdir()
        given_away(half(folder / "g.17.deleting"))
        planted(folder / "g.18.deleting", folder / "victim")
        half(folder / "g.19.deleting")
        assert as_other(lambda: remove_replaced(folder / "g")) == "None"
        assert sorted(path.name for path in folder.iterdir()) == ["g.19.deleting", "victim"]


def test_only_stores_are_removed_as_replaced_ones(tmp_path: Path) -> None:
    half(tmp_path / "g.17.deleting")
    (tmp_path / "g.18.deleting").write_text("a file")
    (tmp_path / "g.19.deleting").mkdir()
    (tmp_path / "g.19.deleting" / "thesis.tex").write_text("x")
    (tmp_path / "g.20.deleting").symlink_to("g.19.deleting")
    remove_replaced(tmp_path / "g")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.18.deleting", "g.19.deleting"]
    assert (tmp_path / "g.19.deleting" / "thesis.tex").exists()


def test_a_store_whose_later_name_is_taken_gets_another(tmp_path: Path) -> None:
    target = make_store(tmp_path / "g", GRAPH)
    taken = tmp_path / f"g.{os.getpid()}.deleting"
    taken.mkdir()
    (taken / "thesis.tex").write_text("x")
    make_store(target, LATER, force=True)
    open_store(target).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g", taken.name]


def test_a_link_to_a_store_is_replaced_and_not_the_store(tmp_path: Path) -> None:
    """The name is what is replaced."""
    make_store(tmp_path / "first", GRAPH)
    with open_store(tmp_path / "first") as store:
        digest = store.digest
    (tmp_path / "g").symlink_to("first")
    make_store(tmp_path / "g", LATER, force=True)
    assert not (tmp_path / "g").is_symlink()
    with open_store(tmp_path / "first") as store, open_store(tmp_path / "g") as new:
        assert store.digest == digest != new.digest


@needs_root
def test_a_store_of_another_user_is_not_replaced() -> None:
    with shared_folder() as folder:
        folder.chmod(0o777)
        make_store(folder / "g", GRAPH)
        assert "the target belongs to another user, so it is not replaced" in as_other(
            lambda: check_target(folder / "g", True))
        check_target(folder / "g", True)


def test_what_came_into_being_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    half(tmp_path / "g.partial")
    make_store(tmp_path / "h", GRAPH).rename(tmp_path / "g")
    with pytest.raises(InputError, match="the target exists"):
        put_in_place(tmp_path / "g.partial", tmp_path / "g", force=False)


def test_a_new_store_has_no_ending_of_a_file(tmp_path: Path) -> None:
    for name in ("out.csv", "out.TXT", "edges.parquet"):
        with pytest.raises(InputError, match=r"is the ending of a file.*name the store to write last, such as"):
            check_target(tmp_path / name, force=False)
    check_target(half(tmp_path / "old.csv"), force=True)
    check_target(tmp_path / "g.zarr", force=False)
