"""Keys that numbers follow, through every stage of a sort: the least number of each, marked where there were others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.sorting import runs
from emdiam.sorting.runs import Entries, RamRun, RunWriter, distinct_in_place, sort_entries, sort_parts
from emdiam.sorting.scratch import Scratch
from emdiam.sorting.sort import KeySorter, RunSet, SortContext, cut_keys, fewer_runs, merged
from tests.helpers.convert_twin import TINY

PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3) | st.integers(0, 2**64 - 1)), max_size=150)
many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path, tmp_path / "g.zarr")
    yield made
    made.close()


def entries_of(pairs: list[tuple[int, int]]) -> Entries:
    """Unmarked entries of (key, number)."""
    return np.array([[key << 1 for key, _ in pairs], [number for _, number in pairs]], np.uint64)


def least_twin(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(marked key, least number) of every key, by a dict of sets."""
    found: dict[int, set[int]] = {}
    for key, number in pairs:
        found.setdefault(key, set()).add(number)
    return [(key << 1 | (len(numbers) > 1), min(numbers)) for key, numbers in sorted(found.items())]


@pytest.mark.parametrize("n_pieces", [1, 2, 40, 20_000, 100_000])
def test_keys_in_pieces_are_sorted_whichever_sort_takes_them(n_pieces: int) -> None:
    keys = np.random.default_rng(1).integers(0, 1 << 63, 100_000, dtype=np.uint64)
    pieces = np.concatenate([np.sort(piece) for piece in np.array_split(keys, n_pieces)])
    assert runs._has_long_pieces(pieces) == (n_pieces <= 40)
    sort_entries(pieces)
    assert pieces.tolist() == sorted(keys.tolist())


@pytest.mark.parametrize("front", [0, 1, 700, 999, 1000])
@pytest.mark.parametrize("ascends", [True, False])
def test_parts_are_sorted_together(front: int, ascends: bool) -> None:
    keys = np.random.default_rng(front).integers(0, 500, 1000, dtype=np.uint64)
    if ascends:
        keys[:front].sort()
    expected = sorted(keys.tolist())
    sort_parts(keys, front)
    assert keys.tolist() == expected


@many
@given(takes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), followed=st.booleans())
def test_entries_from_both_ends_of_a_buffer(
    scratch: Scratch, takes: list[tuple[int, int]], followed: bool
) -> None:
    sorter, given_keys = KeySorter(SortContext(replace(TINY, run_keys=16, least_run_keys=16), scratch),
                                   followed=followed), list[int]()
    for number, (front, back) in enumerate(takes):
        room = sorter.room(front + back)
        keys = [(7919 * (10 * number + i)) % 1000 << 1 for i in range(front + back)]
        entries = np.array([keys, keys] if followed else keys, np.uint64)
        room[..., :front], room[..., room.shape[-1] - back :] = entries[..., :front], entries[..., front:]
        sorter.took(front, back)
        given_keys += keys
    sorter.add(np.array([[2], [2]] if followed else [4], np.uint64), behind=True)
    found = [entries for run in sorter.finish().runs for entries in run.blocks(0, len(run.firsts))]
    given_keys.append(2 if followed else 4)
    assert sorted({int(key) for entries in found for key in np.atleast_2d(entries)[0]}) == sorted(set(given_keys))
    assert not followed or all((entries[0] == entries[1]).all() for entries in found)


@given(pairs=PAIRS.filter(bool), block=st.integers(1, 9))
def test_distinct_in_place(pairs: list[tuple[int, int]], block: int) -> None:
    entries = entries_of(pairs)
    sort_entries(entries)
    n = distinct_in_place(entries, block)
    assert list(zip(*entries[:, :n].tolist(), strict=True)) == least_twin(pairs)


@many
@given(pairs=PAIRS, on_disk=st.booleans(), n_buffers=st.sampled_from([1, 2, 30]))
def test_sort_and_merge(scratch: Scratch, pairs: list[tuple[int, int]], on_disk: bool, n_buffers: int) -> None:
    seen: list[int] = []
    context = SortContext(replace(TINY, n_buffers=n_buffers), scratch)
    sorter = KeySorter(context, on_run=lambda keys: seen.extend((keys >> np.uint64(1)).tolist()), followed=True)
    sorter.add(entries_of(pairs))
    runs = fewer_runs(sorter.finish(on_disk=on_disk), context)
    assert set(seen) == {key for key, _ in pairs} and runs.followed == bool(pairs)
    pieces = list(merged(runs, context, np.copy))
    found = [entry for piece in pieces for entry in zip(*piece.tolist(), strict=True)]
    assert found == least_twin(pairs)
    runs.close()


@given(keys=st.lists(st.integers(0, 60), min_size=1, max_size=60, unique=True), low=st.integers(0, 130),
       width=st.integers(0, 130) | st.none(), block=st.integers(1, 9))
@many
def test_slices_of_a_run(scratch: Scratch, keys: list[int], low: int, width: int | None, block: int) -> None:
    entries = entries_of([(key, key * 1000) for key in sorted(keys)])
    writer = RunWriter(scratch.file(), block)
    writer.add(entries)
    high = None if width is None else low + width
    want = [(key, number) for key, number in zip(*entries.tolist(), strict=True)
            if low <= key and (high is None or key < high)]
    for run in (writer.close(), RamRun(entries, block)):
        out = np.empty((2, len(keys)), np.uint64)
        assert run.followed and run.n_keys == len(keys)
        n = run.read(low, high, out)
        assert list(zip(*out[:, :n].tolist(), strict=True)) == want


def test_cuts_part_no_key_from_its_marked_twin() -> None:
    keys = np.arange(1, 400, dtype=np.uint64)
    runs = [RamRun(np.stack([keys[first::3] << np.uint64(1) | np.uint64(first & 1)] * 2), 2) for first in range(3)]
    cuts = cut_keys(runs, 24)  # type: ignore[arg-type]
    assert len(cuts) > 20 and all(cut % 4 == 0 for cut in cuts)


@many
@given(pairs=PAIRS)
def test_a_state_goes_on(tmp_path: Path, pairs: list[tuple[int, int]]) -> None:
    from emdiam.sorting.scratch import NamedScratch

    folder = tmp_path / "c"
    folder.mkdir(exist_ok=True)
    named = NamedScratch(folder, folder)
    context, half = SortContext(TINY, named), len(pairs) // 2
    sorter = KeySorter(context, followed=True)
    sorter.add(entries_of(pairs[:half]))
    state = sorter.state()
    marks = named.open_marks()
    restored = RunSet.restored(state["runs"], _Marked(context, marks))  # type: ignore[arg-type]
    assert [run.followed for run in restored.runs] == [True] * len(restored.runs)
    sorter.add(entries_of(pairs[half:]))
    runs = fewer_runs(sorter.finish(), context)
    assert [e for p in merged(runs, context, np.copy) for e in zip(*p.tolist(), strict=True)] == least_twin(pairs)
    named.close()


class _Marked:
    """What RunSet.restored asks of a context."""

    def __init__(self, context: SortContext, marks: dict[str, list[int]]) -> None:
        self._context, self._marks = context, marks

    def file(self, name: str) -> object:
        return self._context.scratch.restored(name, self._marks[name])  # type: ignore[attr-defined]
