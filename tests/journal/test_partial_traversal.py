"""Traversals that are kept half done: taken up where they were, whatever kind of step they were in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from emdiam.checkpoint.folder import Folder
from emdiam.traverse import labels as label_growth
from tests.helpers import naive
from tests.helpers.checkpoint_runs import Kept, Planted
from tests.helpers.stores import engine_on, odd_graphs, write_store

ODD = odd_graphs()
GRID = nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 20))
GRAPHS = {"path": ODD["path"], "grid": naive.graph_of(len(GRID), GRID.edges)}
# Steps on queues, on bitmaps, in windows: what yields between steps differs.
KINDS = ("streamed", "streamed-windows", "streamed-dense", "in-ram-dense")


def halves_in(path: Path) -> list[Path]:
    folder = Folder(path)
    try:
        return [path / f"state-{number}" for number in folder.states()]
    finally:
        folder.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", GRAPHS)
def test_a_bfs_goes_on_from_where_it_was(kind: str, shape: str, tmp_path: Path) -> None:
    path = write_store(tmp_path / "g.zarr", GRAPHS[shape])
    with engine_on(path, kind) as engine:
        want = Kept(engine, tmp_path / "whole", "fdiam").run()
        taken_up = []
        for half in (1, 4, 9):
            kept = Kept(engine, tmp_path / f"half-{half}", "fdiam", every=0.0)
            try:
                assert without_work(kept.run(half=half)) == without_work(want)  # fewer than `half` of them
                break
            except Planted:
                assert 1 <= len(halves_in(tmp_path / f"half-{half}")) <= 2
            found = kept.run()
            assert without_work(found) == without_work(want)
            taken_up.append(kept.engine.resumed_inside)
            assert found["levels"] == want["levels"]
            assert not halves_in(tmp_path / f"half-{half}")
        assert taken_up and all(taken_up)


def without_work(result: dict[str, Any]) -> dict[str, Any]:
    """Without arcs looked at: a traversal in windows that is taken up chooses others."""
    return {name: value for name, value in result.items() if name not in ("edges_scanned", "levels")}


@pytest.mark.parametrize("kind", ["streamed", "in-ram", "in-ram with labels that widen"])
def test_clusters_go_on_growing(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, _, widen = kind.partition(" ")
    if widen:
        monkeypatch.setattr(label_growth, "bits_of", lambda n_groups: 28)
    path = write_store(tmp_path / "g.zarr", GRAPHS["path"])
    with engine_on(path, kind) as engine:
        want = Kept(engine, tmp_path / "whole", "clusters").run()
        taken_up = 0
        for half in (1, 4, 9):
            kept = Kept(engine, tmp_path / f"half-{half}", "clusters", every=0.0)
            try:
                assert kept.run(half=half) == want
                break
            except Planted:
                assert kept.run() == want
                taken_up += kept.engine.resumed_inside
        assert taken_up >= 2


def test_a_damaged_half_falls_back_to_the_one_before_and_says_so(tmp_path: Path) -> None:
    path = write_store(tmp_path / "g.zarr", GRAPHS["grid"])
    with engine_on(path, "in-ram-dense") as engine:
        want = Kept(engine, tmp_path / "whole", "fdiam").run()
        for damage in ("newest", "both"):
            folder = tmp_path / damage
            kept = Kept(engine, folder, "fdiam", every=0.0)
            with pytest.raises(Planted):
                kept.run(half=8)
            newest, before = halves_in(folder)
            damaged = (newest, before) if damage == "both" else (newest,)
            for file in damaged:
                data = bytearray(file.read_bytes())
                data[len(data) // 2] ^= 1
                file.write_bytes(data)
            assert kept.run() == want
            assert kept.engine.resumed_inside == (damage == "newest")
            assert kept.damage == [f"{file.name} is damaged" for file in damaged]


def test_one_of_an_earlier_verb_is_not_taken_up(tmp_path: Path) -> None:
    path = write_store(tmp_path / "g.zarr", GRAPHS["grid"])
    with engine_on(path, "in-ram-dense") as engine:
        want = Kept(engine, tmp_path / "whole", "fdiam").run()
        kept = Kept(engine, tmp_path / "kept", "fdiam", every=0.0)
        with pytest.raises(Planted):
            kept.run(half=3)
        old = halves_in(tmp_path / "kept")[0]
        data = old.read_bytes()
        with pytest.raises(Planted):
            kept.run(stop=1, before=False)
        old.write_bytes(data)  # it is there still if the machine stops before it is removed
        assert kept.run() == want
        assert not kept.engine.resumed_inside
