"""The balance of directions against a naive count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.formats.source import EdgeBatch
from emdiam.formats.symmetry import Balance, find_one_way

vertex = st.integers(0, 6) | st.sampled_from([2**63 - 1, 2**32])
pair_lists = st.lists(st.tuples(vertex, vertex), max_size=40)


def batches(pairs):
    """The pairs in batches of three."""
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return [
        EdgeBatch(array[i : i + 3, 0].copy(), array[i : i + 3, 1].copy()) for i in range(0, len(pairs), 3)
    ]


def balance_of(pairs):
    balance = Balance()
    for batch in batches(pairs):
        balance.add(batch.src, batch.dst)
    return balance


@settings(max_examples=200, deadline=None)
@given(pairs=pair_lists, mirror=st.booleans())
def test_agrees_with_counting(pairs, mirror):
    pairs = pairs + [(b, a) for a, b in reversed(pairs)] * mirror
    listed = Counter(pairs)
    one_way = {(a, b) for a, b in listed if listed[a, b] > listed[b, a]}
    balance = balance_of(pairs)
    assert balance.symmetric == (not one_way)
    found = find_one_way(lambda: batches(pairs))
    assert found in one_way if one_way else found is None


@pytest.mark.parametrize("seed", range(3))
def test_one_missing_arc_among_many(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 10**6, (2, 50000))
    src, dst = np.concatenate((a, b)), np.concatenate((b, a))
    balance = Balance()
    balance.add(src, dst)
    assert balance.symmetric
    short = Balance()
    short.add(src[:-1], dst[:-1])
    assert not short.symmetric
    found = find_one_way(lambda: [EdgeBatch(src[:-1], dst[:-1])])
    assert found == (int(a[-1]), int(b[-1]))


def test_swapped_partners_do_not_cancel():
    """Equal degrees and equal counts in both directions, but other partners."""
    assert not balance_of([(0, 2), (1, 3), (3, 0), (2, 1)]).symmetric
