"""Distinct numbers are those of numpy."""

from __future__ import annotations

import numpy as np

from emdiam.distinct import distinct


def test_distinct_numbers_are_those_of_numpy() -> None:
    random = np.random.default_rng(3)
    for kind in (np.int64, np.uint8, np.uint64, bool):
        for shape in ((0,), (1,), (50,), (6, 7)):
            values = random.integers(0, 2 if kind is bool else 20, shape).astype(kind)
            found, expected = distinct(values), np.unique(values)
            assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
