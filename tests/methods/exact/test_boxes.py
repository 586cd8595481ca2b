"""Kernels over boxes that stop after a slice and go on: the same answers, however small the slices."""

from __future__ import annotations

import numpy as np
import pytest

from emdiam.certificates import pairs
from emdiam.methods.exact import boxes
from emdiam.methods.exact.candidates import Candidates, boxed_candidates
from emdiam.traverse.columns import ListedVertices
from emdiam.traverse.ram_column import RamColumn


@pytest.mark.parametrize("seed", range(4))
def test_slices_change_no_answer(seed: int, monkeypatch: pytest.MonkeyPatch):
    """One slice against very many; the points in few dimensions, so that many are equal."""
    random = np.random.default_rng(seed)
    points = random.integers(0, 12, (700, 3)).astype(np.uint8)
    order, ticks = random.permutation(len(points)), [0]

    def tick() -> None:
        ticks[0] += 1

    def answers() -> tuple[object, ...]:
        ticks[0] = 0
        tree = boxes.build_boxes(points, tick)
        worst = [boxes.worst_pair(tree, threshold, tick=tick) for threshold in (5, 12, 17, 30)]
        limited = boxes.worst_pair(tree, 5, 300, tick=tick)
        marked = boxes.open_points(tree, 14, tick)
        matched = boxes.disjoint_pairs(tree, 12, order, 60, tick)
        arrays = [tree.order, tree.begin, tree.end, tree.child, tree.maxima, marked, matched]
        return worst, limited, [array.tolist() for array in arrays], pairs.prove_pairs(points, 24)

    whole, few = answers(), ticks[0]
    monkeypatch.setattr(boxes, "_SLICE", 40)
    monkeypatch.setattr(pairs, "_SLICE", 40)
    assert answers() == whole
    assert ticks[0] > 10 * few


def test_what_a_tick_raises_ends_the_search(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(boxes, "_SLICE", 10)
    tree = boxes.build_boxes(np.random.default_rng(0).integers(0, 99, (500, 3)).astype(np.uint8))

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        boxes.worst_pair(tree, 20, tick=interrupt)
    with pytest.raises(KeyboardInterrupt):
        boxes.open_points(tree, 20, interrupt)


@pytest.mark.parametrize("seed", range(12))
def test_boxes_by_hash_leave_what_is_open(seed: int) -> None:
    """Candidates are dropped in whole boxes first, and what certifying says is the same."""
    rng = np.random.default_rng(seed)
    n, largest = int(rng.integers(2, 300)), int(rng.integers(2, 60))
    points = rng.integers(0, largest, (n, int(rng.integers(1, 5)))).astype(np.uint8)
    upper, limit = RamColumn(np.full(n, 254, np.uint8)), int(rng.integers(1, 2 * largest))
    columns = [RamColumn(points[:, i].copy()) for i in range(points.shape[1])]
    expected = Candidates(ListedVertices(np.arange(n)), columns, largest)
    chosen = boxed_candidates(upper, columns, limit, int(rng.integers(1 << 17)), n)
    assert chosen is not None
    found = Candidates(chosen, columns, largest)
    assert found.certify(upper, limit) == expected.certify(upper, limit)
    assert np.array_equal(found.vertices, expected.vertices)


def test_a_grid_is_certified_by_strips() -> None:
    """With the distances to the corners, one strip of vertices at each distance proves all pairs."""
    x, y = (a.ravel() for a in np.mgrid[0:40, 0:30])
    corners = (x + y, 39 - x + y, x + 29 - y, 39 - x + 29 - y)
    columns, ticks = [RamColumn(d.astype(np.uint8)) for d in corners], [0]

    def tick() -> None:
        ticks[0] += 1

    chosen = boxed_candidates(RamColumn(np.full(1200, 254, np.uint8)), columns, 68, 0, 0, tick)
    assert chosen is not None and len(chosen) == 0
    assert ticks[0] == 2  # one pass fills the table, one lists the vertices of open strips
