"""Keys of arcs: stores do not depend on the order of pairs, and of sorted sources with both directions nothing is
sorted."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdiam
from emdiam.conversion import arc_keys
from emdiam.conversion.arc_keys import ArcKeys
from emdiam.conversion.convert import ConvertOptions, convert
from emdiam.sorting import sort
from emdiam.sorting.plan import SortPlan
from tests.helpers.convert_twin import TINY, Pairs, convert_pairs
from tests.helpers.formats_naive import pack_sg

# Pairs that fit in RAM; and so few buffers that everything goes to disk.
PLANS = {"in RAM": replace(TINY, run_keys=64, least_run_keys=64, n_buffers=40), "on disk": TINY,
         "few buffers": replace(TINY, run_keys=64, least_run_keys=64, n_buffers=3)}
IDS: dict[str, tuple[int, dict[str, Any]]] = {
    "declared": (1, {"n_vertices": 4000}), "compact": (3, {}), "wide": (1 << 40, {})}


def listed(kind: str, seed: int) -> Pairs:
    """Pairs of 60 vertices, sorted by their first ones; of rows as they come in the other kind."""
    rng = random.Random(f"{kind}{seed}")
    pairs = [(rng.randrange(60), rng.randrange(60)) for _ in range(rng.choice([1, 30, 250]))]
    if kind != "one way":
        pairs += [pair[::-1] for pair in pairs]
    if kind == "one is missing":
        pairs.remove(rng.choice([pair for pair in pairs if pair[0] != pair[1]] or pairs))
    if kind == "rows that are no rows":
        pairs = sorted(pairs)
        return [*pairs[: len(pairs) // 2], *pairs[len(pairs) // 2 :][::-1]]
    return sorted(pairs, key=lambda pair: (pair[0], rng.random()))


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("look", [1 << 18, 40])
@pytest.mark.parametrize("kind", ["both", "one way", "one is missing", "rows that are no rows"])
def test_sorted_pairs_give_the_store_of_their_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, look: int, turn: int
) -> None:
    """However large buffers are, whatever ids there are, and whether or not the first pairs are looked at; the counts
    too, which the twin compares. Duplicates and loops are among the pairs."""
    monkeypatch.setattr(arc_keys, "_LOOK", look)
    monkeypatch.setattr(arc_keys, "BLOCK", 16)
    ids = list(IDS.values())
    for number, plan in enumerate(PLANS.values()):
        factor, about = ids[(number + turn) % len(ids)]
        pairs = [(factor * a, factor * b) for a, b in listed(kind, number + 3 * turn)]
        report = convert_pairs(pairs, tmp_path, plan, **about)
        if kind == "both" and report.record.n_edges:
            assert report.record.directions == "both"


def weighted_edges(ways: int) -> list[tuple[int, int, float]]:
    """Edges in one or both directions, sorted; one in eight twice, with another weight the second time."""
    rng = random.Random(ways)
    edges = {(a, b): rng.randrange(1, 9) / 4 for a, b in ((rng.randrange(50), rng.randrange(50)) for _ in range(300))}
    more = [(a, b, weight) for (a, b), weight in edges.items() if a < b]
    more += [(a, b, weight + 1) for a, b, weight in more[::8]]
    return sorted(more if ways == 1 else [*more, *((b, a, weight) for a, b, weight in more)])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("ways", [1, 2])
def test_weights_and_directions_of_sorted_pairs(tmp_path: Path, ways: int, directed: bool) -> None:
    """The same store from sorted and from shuffled ones."""
    edges = weighted_edges(ways)
    for name, pairs in (("a", edges), ("b", random.Random(7).sample(edges, len(edges)))):
        emdiam.convert(pairs, tmp_path / name, weights=True, directed=directed)
    assert len({emdiam.open(tmp_path / name).record.chunk_digest for name in "ab"}) == 1


def test_both_directions_with_other_weights_are_not_taken_for_the_same(tmp_path: Path) -> None:
    emdiam.convert([(0, 1, 5), (1, 0, 3), (1, 2, 4), (2, 1, 4)], tmp_path / "g.zarr", weights=True)
    with emdiam.open(tmp_path / "g.zarr") as store:
        assert [store.weights_of(v).tolist() for v in range(3)] == [[3], [3, 4], [4]]


def sorted_graph(folder: Path, symmetric: bool = True) -> Path:
    """A .sg file of 300 vertices."""
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 300, (2, 2000))
    rows = [sorted({*ends[1][ends[0] == v].tolist(), *ends[0][ends[1] == v].tolist()}) for v in range(300)]
    if not symmetric:
        rows = [[b for b in row if b >= v] for v, row in enumerate(rows)]
    (folder / "g.sg").write_bytes(pack_sg(rows, directed=not symmetric))
    return folder / "g.sg"


def test_nothing_is_sorted_of_rows_with_both_directions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair is one key, and all that is given to a sort ascends already, in threads and in the merge. A file with
    one direction is known by its first pairs."""
    path, plan = sorted_graph(tmp_path), replace(SortPlan(), run_keys=512, least_run_keys=512, block_keys=16,
                                                 n_buffers=4, merge_keys=1024, merge_keys_alone=1024)
    put, in_order = list[int](), list[bool]()
    put_one, sort_entries = arc_keys.put_one_direction, sort.sort_entries

    def counted(sorter: Any, src: Any, *others: Any) -> None:
        put.append(len(src))
        put_one(sorter, src, *others)

    def watched(entries: Any) -> None:
        in_order.append(bool((entries[1:] >= entries[:-1]).all()))
        sort_entries(entries)

    monkeypatch.setattr(arc_keys, "put_one_direction", counted)
    monkeypatch.setattr(sort, "sort_entries", watched)
    monkeypatch.setattr(sort, "sort_parts", lambda entries, front: watched(entries))
    with monkeypatch.context() as patch:
        patch.setattr(arc_keys, "put_both_directions", None)
        patch.setattr(ArcKeys, "_put_back", None)
        report = convert([path], tmp_path / "g.zarr", options=ConvertOptions(plan=plan, scratch=tmp_path))
    assert sum(put) == report.pairs_read - report.record.loops_dropped == 2 * report.record.n_edges
    assert all(in_order) and report.scratch_bytes > 0
    put.clear()
    monkeypatch.setattr(arc_keys, "_LOOK", 500)
    monkeypatch.setattr(arc_keys, "BLOCK", 100)
    report = convert([sorted_graph(tmp_path, False)], tmp_path / "g.zarr",
                     options=ConvertOptions(plan=plan, scratch=tmp_path, force=True))
    assert sum(put) == 500 < report.pairs_read and report.record.directions == "one"


def test_the_half_of_a_sorted_source_that_ascends_is_not_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its keys are at the front of every run, those of the other direction behind them."""
    plan = replace(SortPlan(), run_keys=512, least_run_keys=512, block_keys=16, n_buffers=4, merge_keys=1024,
                   merge_keys_alone=1024)
    fronts, behind, sort_parts = list[bool](), 0, sort.sort_parts

    def watched(entries: Any, front: int) -> None:
        nonlocal behind
        fronts.append(front < 2 or bool((entries[1:front] >= entries[: front - 1]).all()))
        behind += len(entries) - front
        sort_parts(entries, front)

    monkeypatch.setattr(sort, "sort_parts", watched)
    report = convert([sorted_graph(tmp_path, False)], tmp_path / "g.zarr",
                     options=ConvertOptions(plan=plan, scratch=tmp_path))
    assert len(fronts) > 3 and all(fronts) and behind == report.record.n_edges
