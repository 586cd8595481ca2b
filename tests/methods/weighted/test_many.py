"""Diameters, eccentricities and approximations of many random graphs with weights of every kind, beside scipy.

A graph meets every method with its arcs in RAM, and one by turns over blocks of 8 arcs, two to five of which are in
memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emdiam.paths.arcs import ArcsInRam, ArcsOnDisk
from emdiam.paths.blocks import StoreBlocks
from emdiam.paths.paths import SearchOptions
from emdiam.store.store import open_store
from tests.helpers.many_graphs import EVERY_KIND, WEIGHTS, by_scipy, campaign, drawn
from tests.helpers.weighted_answers import (
    BOUNDS,
    DIAMETERS,
    PARTS,
    check_bounds,
    check_clusters,
    check_diameter,
    check_eccentricities,
)
from tests.helpers.weighted_stores import TINY, arena_bytes, write_rows

KINDS = [kind for kind in WEIGHTS if kind not in ("int64", "negative", "negative floats", "cycles")]
_MOST = 60


def many(numbers: range, folder: Path) -> None:
    for number in numbers:
        rows, random = drawn(number, _MOST, KINDS, (False,)).rows, np.random.default_rng([number, 1])
        distances, masters = by_scipy(rows), int(random.integers(1, rows.n_vertices + 1))
        assert distances is not None
        in_ram = ArcsInRam(rows, SearchOptions(int(random.integers(1, 3))))
        check_diameter(in_ram, distances)
        check_eccentricities(in_ram, distances)
        check_bounds(in_ram, distances, masters)
        check_clusters(in_ram, rows, distances, masters)
        turn = int(random.integers(9))
        one = slice(turn // 3, turn // 3 + 1)
        with open_store(write_rows(folder / "g.zarr", rows, chunk_ids=TINY)) as store:
            on_disk = ArcsOnDisk(StoreBlocks(store), arena_bytes(store, int(random.integers(2, 6))),
                                 SearchOptions(int(random.integers(1, 4))))
            try:
                if turn % 3 == 0:
                    check_diameter(on_disk, distances, DIAMETERS[one])
                elif turn % 3 == 1:
                    check_eccentricities(on_disk, distances, PARTS[one])
                else:
                    check_bounds(on_disk, distances, masters, BOUNDS[one])
            finally:
                on_disk.close()


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_blocks")
def test_a_graph_of_every_kind(tmp_path: Path) -> None:
    """Each kind of weights."""
    many(EVERY_KIND[: len(KINDS)], tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_blocks")
@campaign(10)
def test_many_graphs(numbers: range, tmp_path: Path) -> None:
    many(numbers, tmp_path)
