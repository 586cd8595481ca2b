"""Searches with their switches set by hand, so that small graphs go every way that large ones go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from emdiam.gpu.bfs_auto import AutoBfs
from emdiam.gpu.direction_table import PERSISTENT, DirectionTable, Rule
from emdiam.gpu.variants.bfs_4k import bfs_4k
from emdiam.gpu.variants.bfs_luo import bfs_luo

from . import catalogue
from .measured_bfs import MeasuredBfs

if TYPE_CHECKING:
    from .verify import Subject

# alpha, beta: up as soon as a frontier grows, and never down; never up; up, and down when it shrinks.
TURNS = ((1e12, 1e12), (0.0, 0.0), (1e12, 0.0))


def auto(subject: Subject, mapping: str) -> Iterator[bool]:
    """`auto` with every turn of direction; after some levels of the persistent kernel, and without."""
    for alpha, beta in TURNS:
        for first in ((), (Rule(PERSISTENT, most_rows=2),)):
            table = DirectionTable(alpha, beta, (*first, Rule(mapping)))
            search = AutoBfs(subject.setting.device, subject.graph, table=table)
            counting = MeasuredBfs(subject.setting.device, subject.graph, table=table)
            for source in subject.sources:
                for one in (search, counting):
                    distances, eccentricity, complete = one.run(source)
                    yield complete and catalogue.agrees(subject.setting, (distances, eccentricity),
                                                        subject.expected[source])
            # The arcs looked at top-down are those of the rows.
            yield all(record.looked == record.arcs for record in counting.records if record.direction != "bottom-up")


def four_k(subject: Subject, mapping: str) -> Iterator[bool]:
    """BFS-4K with every level by the whole grid, and each of its ways of sharing out a frontier."""
    for knobs in ({"in_block": 0, "discover_from": 1}, {"in_block": 0, "discover_from": 1 << 30, "hub_arcs": 3},
                  {"in_block": 2, "discover_from": 8, "hub_arcs": 5}):
        for source in subject.sources:
            found = bfs_4k(subject.setting.device, subject.graph, source, **knobs)
            yield catalogue.agrees(subject.setting, found, subject.expected[source])


def luo(subject: Subject, mapping: str) -> Iterator[bool]:
    """The hierarchical queue with a launch a level, and with levels in resident blocks."""
    for in_block, in_grid in ((0, 0), (1, 1 << 20), (2, 4)):
        for source in subject.sources:
            found = bfs_luo(subject.setting.device, subject.graph, source, None, in_block, in_grid, mapping)
            yield catalogue.agrees(subject.setting, found, subject.expected[source])


def sums(subject: Subject, mapping: str) -> Iterator[bool]:
    """Exclusive sums of vectors of one part and of several."""
    from emdiam.gpu.kernel_file import ExclusiveSums

    device = subject.setting.device
    for n in (1, 33, 5000, 70_000):
        values = np.random.default_rng(n).integers(0, 1000, n, np.uint64)
        array = device.array(values)
        ExclusiveSums(device).replace(array)
        yield np.array_equal(device.to_host(array), np.cumsum(values) - values)
