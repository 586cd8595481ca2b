"""Two writers of one target: the second is told, the first is not disturbed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from emdiam.errors import InputError
from emdiam.store.layout import StoreRecord
from emdiam.store.place import claim, remove_stale
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter


def test_a_live_conversion_is_not_disturbed(tmp_path: Path) -> None:
    first = StoreWriter(tmp_path / "g.zarr", n_vertices=2)
    with pytest.raises(InputError, match="another conversion"):
        StoreWriter(tmp_path / "g.zarr", n_vertices=2)
    first.append_degrees(np.array([1, 1]))
    first.append_neighbours(np.array([1, 0], np.uint32))
    first.finish(StoreRecord())
    open_store(tmp_path / "g.zarr").close()


def test_an_aborted_conversion_can_be_repeated(tmp_path: Path) -> None:
    first = StoreWriter(tmp_path / "g.zarr", n_vertices=2)
    first.abort()
    first.abort()
    assert list(tmp_path.iterdir()) == []
    StoreWriter(tmp_path / "g.zarr", n_vertices=2).abort()


def test_a_stale_folder_goes(tmp_path: Path) -> None:
    partial = tmp_path / "g.zarr.partial"
    partial.mkdir()
    (partial / "zarr.json").write_text("{}")
    handle = claim(partial)
    with pytest.raises(InputError, match="another conversion"):
        remove_stale(partial)
    os.close(handle)
    remove_stale(partial)
    assert not partial.exists()
