"""Rows dealt to ranges of new numbers, and brought back: each range is small, and all rows are there in order."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from emdiam.conversion import dealing
from emdiam.conversion import dealing as ranges
from emdiam.conversion.convert import ConvertOptions, write_graph
from emdiam.conversion.dealing import NumberRanges, ranges_of
from emdiam.conversion.renumbering import SHORT, count_rows, sort_short_rows
from emdiam.conversion.reorder import reorder
from emdiam.errors import InputError
from emdiam.formats.source import SourceInfo
from emdiam.sorting.plan import SortPlan
from emdiam.store.arc_runs import arc_runs
from emdiam.store.check import check_store
from emdiam.store.store import open_store
from tests.helpers import naive
from tests.helpers.convert_twin import TINY, ListSource
from tests.helpers.damage import read_array, read_store
from tests.helpers.order_twins import renumbered
from tests.helpers.stores import write_store

# A hub of 400 neighbours, one of 60, and rows of a few; 500 vertices, of which 50 have no edge.
HUBS = naive.graph_of(500, [(7, v) for v in range(20, 420)] + [(9, v) for v in range(30, 90)]
                      + [(v, v * 7 % 450) for v in range(10, 450) if v != v * 7 % 450])


def _shuffled(n: int) -> np.ndarray:
    return np.random.default_rng(n).permutation(n).astype(np.uint32)


@pytest.mark.parametrize("bin_bits", [16, 5, 2])
@pytest.mark.parametrize("most", [1, 40, 1 << 20])
def test_ranges_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bin_bits: int, most: int) -> None:
    """Each number is in one range; one with more arcs or numbers than asked for is a single number, or a bin of few
    arcs."""
    monkeypatch.setattr(ranges, "_MOST_BIN_BITS", bin_bits)
    new_of = _shuffled(len(HUBS))
    degrees = np.empty(len(HUBS), np.int64)
    degrees[new_of] = [len(row) for row in HUBS]
    with open_store(write_store(tmp_path / "g", HUBS)) as store:
        found = ranges_of(store, new_of, most)
        runs = list(arc_runs(store, 1))
    width = 1 << found.shift
    assert found.bounds[0] == 0 and found.bounds[-1] == len(HUBS) and (np.diff(found.bounds) > 0).all()
    assert found.arcs.tolist() == [degrees[a:b].sum() for a, b in _pairs(found)]
    for (low, high), arcs in zip(_pairs(found), found.arcs.tolist(), strict=True):
        assert high - low == 1 or arcs <= most
        assert high - low <= max(most, width)
    counts = np.zeros((2, len(found)), np.int64)
    for run in runs:
        of = np.empty(len(run.rows), np.int32)
        count_rows(run.rows, run.starts, new_of, found.lookup, of, counts)
        assert of.tolist() == (np.searchsorted(found.bounds, new_of[run.rows], side="right") - 1).tolist()
    assert counts[0].tolist() == found.arcs.tolist()


def _pairs(found: NumberRanges) -> list[tuple[int, int]]:
    return list(zip(found.bounds.tolist(), found.bounds[1:].tolist(), strict=False))


def test_no_more_ranges_than_can_be_kept_in_mind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MOST_RANGES", 8)
    with open_store(write_store(tmp_path / "g", HUBS)) as store:
        assert len(ranges_of(store, _shuffled(len(HUBS)), 1)) <= 8


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_sorted(weighted: bool) -> None:
    """Rows of all lengths, with their weights."""
    rng, sizes = np.random.default_rng(4), [*range(SHORT + 3), 0, 1]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    ids = np.concatenate([rng.permutation(1000)[:size] for size in sizes]).astype(np.uint32)
    weights = ids.astype(np.float64) / 2 if weighted else np.empty(0, np.uint8)
    rows = np.split(ids.copy(), starts[1:-1])
    assert sort_short_rows(starts, ids, weights) == 2
    for size, before, row in zip(sizes, rows, np.split(ids, starts[1:-1]), strict=True):
        assert row.tolist() == (sorted(before.tolist()) if size <= SHORT else before.tolist())
    assert not weighted or weights.tolist() == (ids / 2).tolist()


@pytest.mark.parametrize("plan", [TINY, None, SortPlan(run_keys=1 << 8, n_buffers=2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_hands_make_no_difference(tmp_path: Path, plan: SortPlan | None, weighted: bool) -> None:
    """On disk and in RAM, with hubs and weights: the same bytes, and the weights of the same edges."""
    pairs = [(v, w) for v, row in enumerate(HUBS) for w in row if v < w]
    weights = [(v * 31 + w) % 1000 for v, w in pairs]
    source = ListSource(pairs, SourceInfo(n_vertices=len(HUBS), directed=False))
    if weighted:
        (tmp_path / "e.txt").write_text("".join(f"{v} {w} {x}\n" for (v, w), x in zip(pairs, weights, strict=True)))
        import emdiam

        emdiam.convert(tmp_path / "e.txt", tmp_path / "g", weights=True, chunk=64, order="natural")
    else:
        write_graph(source, tmp_path / "g", options=ConvertOptions(chunk_ids=64))
    options = ConvertOptions(memory_bytes=2 << 30, chunk_ids=64)
    whole = reorder(tmp_path / "g", tmp_path / "a", "degree", options=options)
    parts = reorder(tmp_path / "g", tmp_path / "b", "degree", options=replace(options, plan=plan, threads=3))
    assert whole.sort.disk_runs == 0 and (plan is None) == (parts.sort.disk_runs == 0)
    assert whole.record.chunk_digest == parts.record.chunk_digest
    with open_store(tmp_path / "b") as store:
        check_store(store)
        names = store.user_ids(np.arange(store.n_vertices))
        indptr, ids = read_array(store.indptr), read_array(store.indices)
    if weighted:
        found = read_store(tmp_path / "b")["data"]
        rows = np.repeat(np.arange(len(names)), np.diff(indptr))
        want = dict(zip(pairs, weights, strict=True))
        for row, other, weight in zip(rows.tolist(), ids.tolist(), found.tolist(), strict=True):
            assert want[tuple(sorted((names[row], names[other])))] == weight
    else:
        order = sorted(range(len(HUBS)), key=lambda v: (-len(HUBS[v]), v))
        assert ids.tolist() == naive.csr(renumbered(HUBS, order))[1].tolist()


def test_a_damaged_scratch_file_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_store(tmp_path / "g", HUBS)
    read = os.preadv

    def flipped(handle: int, views: list[memoryview], offset: int) -> int:
        got = read(handle, views, offset)
        if dealing_reads:
            views[0][0] ^= 1
        return got

    dealing_reads: list[int] = []
    part = dealing._Laid.part

    def noted(self: dealing._Laid, *given: object) -> object:
        dealing_reads.append(1)
        return part(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(dealing._Laid, "part", noted)
    monkeypatch.setattr(os, "preadv", flipped)
    with pytest.raises(InputError, match="wrong checksum"):
        reorder(tmp_path / "g", tmp_path / "a", "degree", options=ConvertOptions(plan=TINY, memory_bytes=2 << 30))
    assert not (tmp_path / "a").exists()
