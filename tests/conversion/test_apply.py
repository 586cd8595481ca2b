"""A store with changes is the store of the changed list of edges: to the byte without weights, else in all edges."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from bench.memory.cells import named_bytes
from bench.memory.process import call
from emdiam.conversion import changes
from emdiam.conversion.writing import ApplyReport
from emdiam.errors import InputError
from emdiam.store.check import check_store
from emdiam.store.edge_digest import edge_digest
from emdiam.store.store import open_store
from tests.helpers.waiting import PATIENCE

Edge = tuple[Any, Any]
OPTIONS: dict[str, Any] = {"memory": "2GiB", "threads": 1}
TEXT: dict[str, Any] = {"header": "none", "columns": "1,2", **OPTIONS}  # few ids are in all columns, by chance
CHUNK = 64  # so that a few hundred arcs are many pieces


def write(path: Path, edges: list[Edge], weights: dict[Edge, str] | None = None) -> Path:
    """A text of the edges, with weights behind them if there are any."""
    path.write_text("".join(" ".join([*map(str, edge), *([weights[edge]] if weights else [])]) + "\n"
                            for edge in edges))
    return path


def weighed(path: Path) -> dict[Edge, Decimal]:
    """The arcs of a store by the user's ids, with their weights."""
    with open_store(path, directed=None) as store:
        names = store.user_ids(np.arange(store.n_vertices))
        record = store.record.weights
        places = 0 if record is None else record.decimals
        return {(names[v], names[int(u)]): Decimal(str(weight)).scaleb(-places) for v in range(store.n_vertices)
                for u, weight in zip(store.neighbours(v), store.weights_of(v), strict=True)}


class Case:
    """A graph and its changes, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.directed, self.weighted = chance.random() < 0.5, chance.random() < 0.5
        span = chance.choice([3, 12, 60])
        first, wide = chance.choice([0, 0, 7]), chance.choice([1, 1, 1000, 1 << 33])
        ids: list[Any] = [first + wide * k for k in range(span)]
        if chance.random() < 0.3:
            ids = [f"v{chance.randrange(10 * span)}" for _ in range(span)]
        few = chance.sample(ids, max(2, span // 2)) if chance.random() < 0.7 else ids

        def edges(ends: list[Any], most: int) -> list[Edge]:
            return [(chance.choice(ends), chance.choice(ends)) for _ in range(chance.randrange(1, most))]

        self.old, self.add = edges(few, 12 * span), edges(ids, chance.choice([3, 8 * span]))
        self.remove = chance.sample(self.old, chance.randrange(len(self.old) + 1)) + edges(ids, 4)
        digits = chance.choice([0, 0, 2])
        draw = [f"{chance.randrange(3 * 10**digits) / 10**digits + 1:.{digits}f}" for _ in range(5)]
        self.weights = {edge: chance.choice(draw) for edge in (*self.old, *self.add)}

    def key(self, edge: Edge) -> Any:
        return edge if self.directed else frozenset(edge)

    def convert(self, path: Path, edges: list[Edge]) -> Path:
        weights = {**dict.fromkeys(edges, "1"), **self.weights} if self.weighted else None
        emdiam.convert(str(write(path.with_suffix(".txt"), edges, weights)), path, directed=self.directed,
                       weights=self.weighted, chunk=CHUNK, ids="string" if isinstance(edges[0][0], str) else "auto",
                       **TEXT)
        return path

    def changed(self) -> list[Edge]:
        """The list that was changed. All vertices stay, by a loop that is dropped; an edge that was there and comes
        again has the weight that comes."""
        gone, come = ({self.key(edge) for edge in edges} for edges in (self.remove, self.add))
        stays = [edge for edge in self.old if self.key(edge) not in gone | (come if self.weighted else set())]
        return stays + self.add + [(v, v) for edge in self.old for v in edge]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30))
def test_it_is_the_store_of_the_changed_list(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder, case = tmp_path_factory.mktemp("apply"), Case(seed)
    old, want = case.convert(folder / "old.zarr", case.old), case.convert(folder / "want.zarr", case.changed())
    weights = case.weights if case.weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "_KEY_BITS", seed % 2 * 63)  # as if there were too many vertices
        report = emdiam.apply(old, folder / "new.zarr", add=write(folder / "add.txt", case.add, weights),
                              remove=write(folder / "remove.txt", case.remove), **TEXT)
    with open_store(folder / "new.zarr", directed=None) as store, open_store(want, directed=None) as other:
        check_store(store)
        assert edge_digest(store) == edge_digest(other)
        record, wanted = store.record, other.record
        for name in ("n_vertices", "n_edges", "max_degree", "n_isolated", "id_kind", "first_id", "reverse"):
            assert getattr(record, name) == getattr(wanted, name)
        assert case.weighted or record.chunk_digest == wanted.chunk_digest
    assert weighed(folder / "new.zarr") == weighed(want)
    check_counts(case, report)


def check_counts(case: Case, report: ApplyReport) -> None:
    old, add, remove = ({case.key(edge) for edge in edges if edge[0] != edge[1]}
                        for edges in (case.old, case.add, case.remove))
    assert (report.removed, report.absent) == (len(old & remove), len(remove - old))
    assert (report.present, report.added) == (len(add & old - remove), len(add - (old - remove)))
    assert report.record.n_edges == len(old) - report.removed + report.added
    assert any("not in the store" in note for note in report.notes) == bool(report.absent)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write(tmp_path / "old.txt", [(v, v + 1) for v in range(3000)])
    emdiam.convert(str(tmp_path / "old.txt"), tmp_path / "old.zarr", chunk=CHUNK, **OPTIONS)
    return tmp_path / "old.zarr"


def test_lists_may_be_graphs_in_memory_and_the_store_may_be_replaced(store: Path) -> None:
    report = emdiam.apply(store, store, add=[(0, 9), (9, 5000)], remove=[(7, 8)], force=True, **OPTIONS)
    assert (report.added, report.removed, report.new_vertices, report.record.n_edges) == (2, 1, 1, 3001)
    assert (0, 9) in weighed(store) and (8, 7) not in weighed(store)


@pytest.mark.parametrize(("options", "said"), [
    ({}, "there is nothing to change"),
    ({"remove": [(1, 2), (5, 9)], "strict": True}, "1 edge to remove not in the store, such as this: '5 9'"),
    ({"remove": [(1, 2), (5, 90_000)], "strict": True}, "such as this: '5 90000'"),
    ({"add": [("a", "b")]}, "the ids of the store are integers, and those of a list are not"),
    ({"add": [(1, 3)], "weights": "km"}, "this store has no weights"),
    ({"add": "none.txt"}, "none.txt"),
])
def test_what_cannot_be_applied_is_refused_and_leaves_nothing(store: Path, options: dict[str, Any], said: str) -> None:
    before = sorted(store.parent.iterdir())
    with pytest.raises(InputError) as refused:
        emdiam.apply(store, store.with_name("new.zarr"), **options, **OPTIONS)
    assert said in str(refused.value)
    assert sorted(store.parent.iterdir()) == before


def test_the_refusal_of_an_edge_that_is_not_there_names_its_list(store: Path) -> None:
    gone = write(store.with_name("gone.txt"), [(1, 2), (5, 9)])
    with pytest.raises(InputError, match=r"gone\.txt: 1 edge to remove not in the store, such as this: '5 9'"):
        emdiam.apply(store, store.with_name("new.zarr"), remove=gone, strict=True, **OPTIONS)


def test_an_id_that_is_none_is_said_with_its_line(store: Path) -> None:
    (store.parent / "add.txt").write_text("1 2\n3 x\n")
    with pytest.raises(InputError, match=r"add\.txt, line 2"):
        emdiam.apply(store, store.with_name("new.zarr"), add=store.parent / "add.txt", **OPTIONS)


def test_a_store_in_another_order_is_refused_with_the_way_back(store: Path) -> None:
    emdiam.reorder(store, store.with_name("near.zarr"), "degree", **OPTIONS)
    with pytest.raises(InputError, match="natural order, and this store is in the order degree"):
        emdiam.apply(store.with_name("near.zarr"), store.with_name("new.zarr"), add=[(1, 9)], **OPTIONS)


KILLED = """
import os, signal, sys
from emdiam import apply
from emdiam.conversion import apply as applying
from emdiam.conversion import changes
from emdiam.store.writer import StoreWriter
moment, folder = sys.argv[1:]
where, name = {"lists": (applying, "places_of"), "rows": (applying, "_piece"), "name": (StoreWriter, "_rename")}[moment]
setattr(where, name, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
apply(f"{folder}/old.zarr", f"{folder}/new.zarr", add=[(1, 9), (3, 7)], remove=[(4, 5)], memory="2GiB")
"""


@pytest.mark.parametrize("moment", ["lists", "rows", "name"])
def test_a_killed_run_leaves_nothing_that_opens_and_the_next_one_cleans_up(store: Path, moment: str) -> None:
    new, environment = store.with_name("new.zarr"), {**os.environ, "PYTHONPATH": os.getcwd()}
    done = subprocess.run([sys.executable, "-c", KILLED, moment, str(store.parent)], env=environment, check=False,
                          timeout=PATIENCE)
    assert done.returncode == -signal.SIGKILL
    assert (store.parent / "new.zarr.changes.partial").is_dir() and not new.exists()
    report = emdiam.apply(store, new, add=[(1, 9), (3, 7)], remove=[(4, 5)], **OPTIONS)
    assert report.record.n_edges == 3001
    assert not list(store.parent.glob("*.partial"))


def test_the_least_memory_that_is_named_works(store: Path) -> None:
    write(store.parent / "add.txt", [(v, v + 7) for v in range(0, 3000, 5)])
    words = ["apply", str(store), str(store.with_name("new.zarr")), "--add", str(store.parent / "add.txt"), "--json",
             "--threads", "1", "--memory"]
    memory, ended = 1 << 20, call([*words, "1MiB"])
    for _ in range(3):  # the merge is planned, then the conversion of each list
        if (named := named_bytes(ended.said)) is not None:
            memory, ended = named, call([*words, str(named)])
    assert ended.code == 0 and ended.peak_bytes <= memory, ended.err
    assert json.loads(ended.out)["added"] == 600
