"""Rows by ranges of vertices: what is put comes back in order, whatever fits in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emdiam.external.queues import RangeQueues
from emdiam.sorting.scratch import Scratch


@pytest.mark.parametrize("room", [1, 7, 1000])
def test_rows_come_back_by_range_in_order(tmp_path: Path, room: int) -> None:
    scratch, rng = Scratch(tmp_path, tmp_path), np.random.default_rng(3)
    queues = RangeQueues(scratch, 5, room, width=2)
    where, rows = rng.integers(0, 5, 60), rng.integers(0, 99, (60, 2)).astype(np.uint64)
    for begin in range(0, 60, 11):
        queues.put(where[begin : begin + 11], rows[begin : begin + 11])
    assert len(queues) == 60 and (queues.resident() is None) == (room < 60)
    assert queues.filled().tolist() == np.unique(where).tolist()
    for number in range(5):
        got = np.concatenate([np.empty((0, 2), np.uint64), *queues.read(number)])
        assert got.tolist() == rows[where == number].tolist()
    assert scratch.bytes_written == 16 * (59 // room * room)
    queues.clear()
    assert len(queues) == 0 and list(queues.read(2)) == []
    scratch.close()


def test_rows_may_be_put_to_ranges_still_to_come(tmp_path: Path) -> None:
    """Every range hands on what it got, and one more, to the next."""
    scratch = Scratch(tmp_path, tmp_path)
    queues = RangeQueues(scratch, 9, 3)
    for number in range(9):
        got = np.concatenate([np.empty((0, 1), np.uint64), *queues.read(number)])[:, 0]
        assert got.tolist() == list(range(number))
        if number < 8:
            more = np.append(got, np.uint64(number))
            queues.put(np.full(len(more), number + 1), more)
    scratch.close()
