"""Every verb of a Column equals numpy on the whole vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.traverse import ram_column
from emdiam.traverse.columns import Column, smallest_dtype
from emdiam.traverse.ram_column import RamColumn, widen

VALUES = st.lists(st.one_of(st.integers(0, 20), st.just(255)), min_size=1, max_size=200)
FAST = settings(max_examples=60, deadline=None)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a vector of 200 has several pieces."""
    monkeypatch.setattr(ram_column, "_PIECE", 64)


def column(values: list[int]) -> Column:
    return RamColumn(np.array(values, np.uint8))


@pytest.mark.parametrize(
    ("largest", "dtype"), [(0, "u1"), (253, "u1"), (254, "u2"), (65533, "u2"), (65534, "u4"), (2**32 - 3, "u4")]
)
def test_smallest_dtype(largest: int, dtype: str) -> None:
    assert smallest_dtype(largest) == np.dtype(dtype)


def test_overflow_raises() -> None:
    with pytest.raises(OverflowError):
        smallest_dtype(2**32 - 2)


@FAST
@given(VALUES)
def test_widen_keeps_values_and_sentinels(values: list[int]) -> None:
    wide = widen(np.array(values, np.uint8))
    assert wide.dtype == np.uint16
    assert wide.tolist() == [65535 if v == 255 else v for v in values]


@FAST
@given(VALUES, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.integers(0, 20), st.integers(1, 9))
def test_select_count_gather(values: list[int], predicate: str, value: int, most: int) -> None:
    one = column(values)
    want = [i for i, v in enumerate(values) if eval(f"{v} {predicate} {value}")]
    assert one.select(predicate, value).tolist() == want
    assert one.select(predicate, value, most).tolist() == want[:most]
    assert one.count(value) == values.count(value)
    assert one.gather(range(len(values))).tolist() == [-1 if v == 255 else v for v in values]
    assert len(one) == len(values)


@FAST
@given(VALUES, st.lists(st.integers(0, 20), min_size=1, max_size=3), st.data())
def test_first_and_recode(values: list[int], old: list[int], data: st.DataObject) -> None:
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values))), np.uint32)
    start = data.draw(st.integers(0, len(values)))
    hits = [i for i in range(start, len(values)) if values[i] in old]
    assert column(values).first(old, start) == (hits[0] if hits else -1)
    mine = [i for i in hits if labels[i] == 1]
    assert column(values).first(old, start, None, labels, 1) == (mine[0] if mine else -1)
    bits = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    words = np.packbits(np.pad(np.array(bits), (0, -len(bits) % 64)), bitorder="little").view(np.uint64)
    one = column(values)
    want = [77 if v in old and b else v for v, b in zip(values, bits, strict=True)]
    assert one.recode(old, 77, within=words) == sum(a != b for a, b in zip(values, want, strict=True))
    assert one.raw().tolist() == want
    two, other = column(values), column([5 if b else 255 for b in bits])
    assert two.recode_where_reached(other, old, 77) == one.count(77)
    assert two.raw().tolist() == want


@FAST
@given(VALUES, st.data())
def test_argbest(values: list[int], data: st.DataObject) -> None:
    one = column(values)
    start = data.draw(st.integers(0, len(values)))
    part = [(v, i) for i, v in enumerate(values) if v != 255 and i >= start]
    assert one.argbest(True, start) == (min(part, key=lambda x: (-x[0], x[1]))[1] if part else -1)
    assert one.argbest(False, start) == (min(part)[1] if part else -1)
