"""Bitmap and ranks, hashes and sorting of strings, spool and join: each against plain Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.conversion.relabel import IdTable, PairSpool, join, sorted_table
from emdiam.conversion.strings import TOP_BIT, StoredBatches, StringSorter, hash_strings, sorted_distinct
from emdiam.formats.source import EdgeBatch
from emdiam.sorting.plan import SortPlan
from emdiam.sorting.runs import Keys, Presence, Ranks
from emdiam.sorting.scratch import Scratch
from emdiam.sorting.sort import KeySorter, SortContext

TOP = (1 << 64) - 1
TINY = SortPlan(
    run_keys=8, least_run_keys=8, n_buffers=2, block_keys=2, merge_keys=12, merge_keys_alone=12, table_ids=3,
    string_bytes=100, string_block_bytes=40,
)
many = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
BINARY = pa.large_binary()


@pytest.fixture
def context(tmp_path: Path) -> Iterator[SortContext]:
    scratch = Scratch(tmp_path, tmp_path / "g.zarr")
    yield SortContext(TINY, scratch)
    scratch.close()


def keys_of(values: list[int]) -> Keys:
    return np.array(values, np.uint64)


@many
@given(ids=st.sets(st.integers(0, 3000) | st.integers(60, 70)), loops=st.sets(st.integers(0, 3000)))
def test_presence_and_ranks(ids: set[int], loops: set[int]) -> None:
    presence = Presence(3001)
    presence.add_sources(keys_of(sorted(v << 20 | low for v in ids for low in (0, 5))), 20)
    presence.add(keys_of(sorted(loops)))
    want = sorted(ids | loops)
    assert [v for part in presence.ids() for v in part.tolist()] == want
    ranks = Ranks(presence)
    assert (ranks.n, ranks.first, ranks.last) == (len(want), want[0] if want else 0, want[-1] if want else -1)
    assert ranks.contiguous == (want == list(range(ranks.first, ranks.last + 1)))
    assert ranks.rank(keys_of(want)).tolist() == list(range(len(want)))
    assert ranks.rank(np.array(want[::-1], np.uint32)).tolist() == list(range(len(want)))[::-1]
    assert presence.n_used == (want[-1] // 64 + 1 if want else 0), "words beyond the last id are never looked at"
    again = Presence.restored(presence.state())
    assert again.n_used == presence.n_used and again.words.tolist() == presence.words.tolist()


def test_presence_far_beyond_one_block_of_words() -> None:
    presence = Presence(1 << 27)
    chosen = keys_of([0, 63, 64, (1 << 21) - 1, 1 << 21, (1 << 26) + 7, (1 << 27) - 1])
    presence.add(chosen)
    ranks = Ranks(presence)
    assert [v for part in presence.ids() for v in part.tolist()] == chosen.tolist()
    assert (ranks.n, ranks.first, ranks.last) == (7, 0, (1 << 27) - 1)
    assert ranks.rank(chosen).tolist() == list(range(7))


@many
@given(pairs=st.lists(st.tuples(*[st.integers(0, 9) | st.integers(0, TOP) | st.just(TOP)] * 2), max_size=40))
def test_join_with_an_increasing_table(context: SortContext, pairs: list[tuple[int, int]]) -> None:
    endpoints = KeySorter(context)
    endpoints.add(keys_of([v for pair in pairs for v in pair]))
    table = sorted_table(endpoints.finish(), context)
    ids = sorted({v for pair in pairs for v in pair})
    assert [v for part in table.blocks() for v in part.tolist()] == ids
    assert table.ends() == ((ids[0], ids[-1]) if ids else (0, -1))
    assert joined(pairs, table, context) == [(ids.index(a), ids.index(b)) for a, b in pairs]


@many
@given(
    ids=st.lists(st.integers(TOP_BIT, TOP), unique=True, min_size=1, max_size=12),
    picks=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
)
def test_join_with_hashes_in_any_order(
    context: SortContext, ids: list[int], picks: list[tuple[int, int]]
) -> None:
    table = IdTable(context.scratch.file(), increasing=False)
    table.append(keys_of(ids))
    want = [(a % len(ids), b % len(ids)) for a, b in picks]
    assert joined([(ids[a], ids[b]) for a, b in want], table, context) == want


def joined(pairs: list[tuple[int, int]], table: IdTable, context: SortContext) -> list[tuple[int, int]]:
    """What `join` gives for the pairs, in their order."""
    spool = PairSpool(context.scratch, 4)
    for start in range(0, len(pairs), 3):
        part = pairs[start : start + 3]
        spool.add(keys_of([a for a, _ in part]), keys_of([b for _, b in part]))
    spool.flush()
    got: list[tuple[int, int]] = []
    join(spool, table, context, lambda src, dst: got.extend(zip(src.tolist(), dst.tolist(), strict=True)))
    return got


def test_an_id_that_is_not_in_the_table_is_an_error(context: SortContext) -> None:
    table = IdTable(context.scratch.file())
    table.append(keys_of([3, 5]))
    with pytest.raises(RuntimeError, match="3 of 4 endpoints"):
        joined([(3, 5), (5, 7)], table, context)


@many
@given(strings=st.lists(st.binary(max_size=30), min_size=1, max_size=20), cut=st.integers(0, 5))
def test_hashes_depend_on_the_string_alone(strings: list[bytes], cut: int) -> None:
    column = pa.array(strings, BINARY)
    hashes = hash_strings(column, 1, 63)
    assert (hashes >= TOP_BIT).all()
    alone = [int(hash_strings(pa.array([text], BINARY), 1, 63)[0]) for text in strings]
    assert hashes.tolist() == alone
    assert hash_strings(column.slice(cut), 1, 63).tolist() == alone[cut:]
    assert len(set(alone)) == len(set(strings))


def test_hashes_differ_by_salt_and_keep_to_their_bits() -> None:
    column = pa.array([f"vertex {i}".encode() for i in range(20_000)], BINARY)
    first, second = hash_strings(column, 0, 63), hash_strings(column, 1, 63)
    assert len(np.unique(first)) == len(np.unique(second)) == 20_000 and not (first == second).any()
    few = hash_strings(column, 0, 4)
    counts = np.bincount((few - np.uint64(TOP_BIT)).astype(np.int64))
    assert len(counts) == 16 and counts.min() > 1000


@many
@given(
    strings=st.lists(st.text(max_size=6).map(str.encode) | st.binary(max_size=200), max_size=60),
    plan=st.sampled_from([TINY, replace(TINY, string_bytes=300, string_block_bytes=8), SortPlan()]),
)
def test_sorting_strings(tmp_path: Path, strings: list[bytes], plan: SortPlan) -> None:
    scratch = Scratch(tmp_path, tmp_path / "g.zarr")
    sorter = StringSorter(SortContext(plan, scratch))
    for start in range(0, len(strings), 5):
        sorter.add(pa.array(strings[start : start + 5], BINARY))
    pieces = list(sorter.sorted())
    sorter.abort()
    scratch.close()
    assert all(len(piece) for piece in pieces)
    assert [text for piece in pieces for text in piece.to_pylist()] == sorted(set(strings))


def test_many_runs_of_strings_need_extra_passes(context: SortContext) -> None:
    strings = [f"v{i:05}".encode() for i in range(500)]
    sorter = StringSorter(context)
    chance = random.Random(1)
    for text in chance.sample(strings, len(strings)):
        sorter.add(pa.array([text, chance.choice(strings)], BINARY))
    assert [text for piece in sorter.sorted() for text in piece.to_pylist()] == strings
    assert context.stats.merge_passes > 2 and context.stats.disk_runs > 30


def test_a_string_longer_than_the_memory_for_strings(context: SortContext) -> None:
    sorter = StringSorter(context)
    texts = [b"b", b"x" * 1000, b"a", b"", b"y" * 50, b"x" * 1000]
    sorter.add(pa.array(texts, BINARY))
    assert [text for piece in sorter.sorted() for text in piece.to_pylist()] == sorted(set(texts))


def test_strings_sort_as_bytes() -> None:
    words = ["z", "é", "Z", "", "日本", "a\0b", "a"]
    column = sorted_distinct([pa.array([word.encode() for word in words * 2], BINARY)])
    assert column.to_pylist() == sorted(word.encode() for word in words)


def test_kept_batches_come_again_as_they_were(context: SortContext) -> None:
    first = EdgeBatch(pa.array(["a", "bb"]), pa.array(["c", ""]))
    batches = [first, EdgeBatch(pa.array(["é"]), pa.array(["a"]))]
    kept = StoredBatches(context)
    assert list(kept.passing(iter(batches))) == batches
    again = [(batch.src.to_pylist(), batch.dst.to_pylist()) for batch in kept.again()]
    assert again == [([b"a", b"bb"], [b"c", b""]), (["é".encode()], [b"a"])]
