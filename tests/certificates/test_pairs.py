"""The pairs: what the products of sets say equals the comparison of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from emdiam.certificates import pairs as module
from emdiam.certificates.pairs import prove_pairs
from emdiam.errors import BudgetError

POINTS = st.one_of(*(
    arrays.arrays(dtype, st.tuples(st.integers(0, 40), st.integers(1, 6)), elements=st.integers(0, most))
    for dtype, most in ((np.uint8, 6), (np.uint8, 255), (np.uint16, 65535), (np.uint32, 2**32 - 1))))


def worst(points: np.ndarray) -> int:
    """Largest min_i of x_i + y_i over rows x != y; -1 without pairs."""
    wide = points.astype(np.int64)
    sums = (wide[:, None] + wide).min(axis=2)
    np.fill_diagonal(sums, -1)
    return int(sums.max(initial=-1))


def check(points: np.ndarray, limit: int, proved: bool) -> module.PairProof:
    """The proof, which must say `proved`, and otherwise name a pair of two rows that none certifies."""
    proof = prove_pairs(points, limit)
    assert (proof.unproved is None) == proved
    if proof.unproved is not None:
        x, y = proof.unproved
        assert x != y
        assert int((points[x].astype(np.int64) + points[y].astype(np.int64)).min()) > limit
    return proof


@settings(max_examples=150, deadline=None)
@given(points=POINTS, data=st.data())
def test_all_pairs(points: np.ndarray, data: st.DataObject) -> None:
    most = worst(points)
    limit = max(0, data.draw(st.one_of(st.sampled_from([most - 1, most, most + 1]), st.integers(0, 600))))
    check(points, limit, most <= limit)


@pytest.mark.parametrize("seed", range(12))
def test_products_that_are_cut_many_times(seed: int) -> None:
    """More rows than are compared one by one, at the edge of what they prove and off it; slices of one product and
    a table of three that has to grow change nothing."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(60, 500)), int(rng.integers(1, 9))
    dtype, top = [(np.uint8, 9), (np.uint8, 254), (np.uint16, 3000), (np.uint32, 2**32 - 2)][seed % 4]
    points = rng.integers(0, top, shape, dtype, endpoint=True)
    most = worst(points)
    for limit in (most - 1, most, most + 1, most // 2):
        proof = check(points, limit, most <= limit)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_SLICE", 1)
            patch.setattr(module, "_WAITING", 3)
            assert prove_pairs(points, limit) == proof


@pytest.mark.parametrize("seed", range(6))
def test_one_pair_among_very_many(seed: int) -> None:
    """200,000 rows around three pivots and one pair, or two equal rows, that nothing certifies."""
    rng = np.random.default_rng(seed)
    points = rng.integers(30, 45, (200_000, 3)).astype(np.uint8)
    points[np.arange(len(points)), rng.integers(0, 3, len(points))] = rng.integers(0, 6, len(points))
    assert prove_pairs(points, 50).unproved is None
    x, y = rng.choice(len(points), 2, replace=False)
    points[x], points[y] = ([26, 26, 26], [26, 26, 26]) if seed % 2 else ([5, 45, 45], [46, 6, 6])
    assert set(prove_pairs(points, 50).unproved or ()) == {x, y}
    points[y, 0] -= 1 + seed % 2
    assert prove_pairs(points, 51).unproved is None


def test_equal_points_are_a_pair_only_if_there_are_two() -> None:
    one, two = np.array([[5, 9]], np.uint8), np.array([[5, 9], [5, 9]], np.uint8)
    assert prove_pairs(one, 0).unproved is None
    assert prove_pairs(two, 10).unproved is None
    assert set(prove_pairs(two, 9).unproved or ()) == {0, 1}


def test_without_columns_nothing_is_proved() -> None:
    assert prove_pairs(np.empty((1, 0), np.uint8), 5).unproved is None
    assert prove_pairs(np.empty((2, 0), np.uint8), 5).unproved == (0, 1)


def test_sums_do_not_wrap() -> None:
    for dtype in (np.uint8, np.uint16, np.uint32):
        top = int(np.iinfo(dtype).max) - 1
        points = np.full((2, 3), top, dtype)
        assert prove_pairs(points, 2 * top).unproved is None
        assert prove_pairs(points, 2 * top - 1).unproved is not None


def test_many_pairs_are_certified_at_once() -> None:
    """Ten thousand points near the limit take far fewer looks than there are pairs."""
    rng = np.random.default_rng(3)
    points = rng.integers(10, 14, (10_000, 4)).astype(np.uint8)
    points[:, 0] = rng.integers(3, 6, 10_000)
    proof = prove_pairs(points, 10)
    assert proof.unproved is None and proof.looked_at < 1000


def test_a_slice_ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between calls of the kernel Ctrl-C is heard."""
    points = np.random.default_rng(1).integers(0, 99, (400, 5)).astype(np.uint8)
    calls, cut = [0], module.cut_products

    def counted(*arguments: object) -> int:
        calls[0] += 1
        if calls[0] == 5:
            raise KeyboardInterrupt
        return int(cut(*arguments))

    monkeypatch.setattr(module, "_SLICE", 1)
    monkeypatch.setattr(module, "cut_products", counted)
    with pytest.raises(KeyboardInterrupt):
        prove_pairs(points, worst(points))
    assert calls[0] == 5


def test_what_does_not_fit_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.arange(3000, dtype=np.uint16).reshape(-1, 3)
    with pytest.raises(BudgetError, match="the pairs need .* MiB more with --memory"):
        prove_pairs(points, 5, room=1000)
    with pytest.raises(BudgetError):
        prove_pairs(points, 5, room=4 * len(points))
    assert prove_pairs(points, 10_000, room=64 << 10).unproved is None
    # The products that wait are counted too, when there are more of them.
    monkeypatch.setattr(module, "_WAITING", 3)
    rows = np.random.default_rng(2).integers(0, 99, (400, 4)).astype(np.uint8)
    with pytest.raises(BudgetError):
        prove_pairs(rows, worst(rows), room=4 * len(rows) + 32 * 3)
    assert prove_pairs(rows, worst(rows), room=4 * len(rows) + 32 * 3 * 60).unproved is None
