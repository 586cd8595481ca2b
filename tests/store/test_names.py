"""Vertices of ids, in stores of any order and kind of ids."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.store import store as stores
from emdiam.store.names import found_vertices, vertex_of, vertices_of
from emdiam.store.store import open_store


@pytest.mark.parametrize("names", ["integers", "strings"])
@pytest.mark.parametrize("order", ["natural", "bfs"])
def test_many_at_once_are_those_of_each(tmp_path: Path, names: str, order: str,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """In any order, some of them twice; ranks are read once."""
    name = str if names == "strings" else int
    pairs = [(name(3 * v), name(3 * ((v * 7 + 1) % 150))) for v in range(150)]
    emdiam.convert(pairs, tmp_path / "g.zarr", order=order, chunk=64)
    with open_store(tmp_path / "g.zarr") as store:
        asked = [name(3 * v) for v in random.Random(1).choices(range(150), k=30)] + [name(0), name(147), name(0)]
        want = [store.user_ids(np.arange(150)).index(one) for one in asked]
        passes = []
        pieces = stores.Store.natural_pieces
        monkeypatch.setattr(stores.Store, "natural_pieces", lambda self: (passes.append(1), pieces(self))[1])
        assert vertices_of(store, asked).tolist() == want and len(passes) == (order != "natural")
        assert [vertex_of(store, one) for one in asked] == want
        assert vertices_of(store, []).tolist() == []
        with pytest.raises(InputError, match="no such vertex.*: '1'"):
            vertices_of(store, [name(0), name(1)])


@pytest.mark.parametrize("order", ["natural", "bfs"])
@pytest.mark.parametrize("pairs", [[(0, 1), (1, 2)], [(5, 6), (6, 7)], [(3, 9), (9, 80)], [("a", "b"), ("b", "zz")]])
def test_those_that_there_are_are_found(tmp_path: Path, pairs: list[tuple[int | str, int | str]], order: str) -> None:
    emdiam.convert(pairs, tmp_path / "g.zarr", order=order)
    with open_store(tmp_path / "g.zarr") as store:
        ids = list(store.user_ids(np.arange(3)))
        absent = ["", "c"] if isinstance(ids[0], str) else [4, 1 << 63]
        assert found_vertices(store, [*ids, *absent]).tolist() == [0, 1, 2, -1, -1]
        assert found_vertices(store, [7.5 if isinstance(ids[0], str) else "x"]).tolist() == [-1]  # type: ignore[list-item]
        assert found_vertices(store, []).tolist() == []
