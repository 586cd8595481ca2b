"""Checks of what looks at rows and at columns together: steep arcs, the walk down a path, components,
and boxes of candidates."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from emdiam.gpu.device_column import DeviceBoxTable, DeviceColumn, uncertified
from emdiam.gpu.engine import count_steep, largest_degree, path_pieces, put_isolated, vertices_of_degree
from emdiam.gpu.kernel_file import zeros
from emdiam.gpu.vector import DeviceVector
from emdiam.traverse.columns import ListedVertices

from . import twins
from .twins import UNREACHED

if TYPE_CHECKING:
    from .verify import Subject

SLOTS = 1 << 10


def rows(subject: Subject, mapping: str) -> Iterator[bool]:
    """No arc of distances is steep, all of one vertex that is wrong are; a path goes down by one each step; the longest
    row, and rows of one length."""
    device, graph, source = subject.setting.device, subject.graph, subject.sources[0]
    distances, (offsets, neighbours) = subject.expected[source], subject.rows
    yield count_steep(device, graph, device.array(distances)) == 0
    far = int(np.argmax(np.where(distances == UNREACHED, 0, distances)))
    reached, first = DeviceVector(device, device.array(distances)).reached_and_first(int(distances[far]))
    yield (reached, first) == (int(np.count_nonzero(distances != UNREACHED)), far)
    wrong = distances.copy()
    wrong[far] += 9
    yield count_steep(device, graph, device.array(wrong)) == 2 * int(offsets[far + 1] - offsets[far])
    degrees = np.diff(offsets)
    yield largest_degree(device, graph) == int(np.argmax(degrees))
    pieces = list(vertices_of_degree(device, graph, int(degrees[far]), 7))
    yield np.array_equal(np.concatenate(pieces), np.flatnonzero(degrees == degrees[far])) and len(pieces[0]) <= 7
    column = device.array(distances)
    put_isolated(device, graph, column, 5)
    yield np.array_equal(device.to_host(column), np.where(degrees == 0, 5, distances))
    path = np.concatenate(list(path_pieces(device, graph, device.array(distances), far, 5)))
    yield distances[path].tolist() == list(range(int(distances[far]), -1, -1))
    yield all(b in neighbours[offsets[a] : offsets[a + 1]] for a, b in itertools.pairwise(path))


def components(subject: Subject, mapping: str) -> Iterator[bool]:
    """The component of a source, as if nothing had been reached."""
    from emdiam.gpu.components import DeviceComponents  # which brings numba

    device, graph, distances = subject.setting.device, subject.graph, subject.expected[subject.sources[0]]
    offsets, _ = subject.rows
    members, n = np.flatnonzero(distances != UNREACHED), graph.n_vertices
    found = DeviceComponents(device, graph, zeros(device, -(-n // 64), np.uint64), n)
    yield np.array_equal(np.flatnonzero(found.labels[:] == members[0]), members) == (members.size > 1)
    yield found.largest_size() >= members.size or members.size == 1
    column, first = device.array(distances), int(members[0])
    label, last = (first, int(members[-1])) if members.size > 1 else (n, first)
    wanted = [int(distances[last]), UNREACHED]
    alike = members[distances[members] == distances[last]]
    yield found.labels.first(DeviceVector(device, column[first:]), wanted, first, label) == int(alike[0]) - first
    yield found.labels.first(DeviceVector(device, column[last:]), wanted, last, label) == 0
    listed = {one.root: one for one in found.larger_than(1)}
    mine = listed.get(int(members[0]))
    degrees = offsets[members + 1] - offsets[members]
    hub = int(members[int(degrees.argmax())])
    yield members.size == 1 if mine is None else (mine.size, mine.last, mine.hub) == (members.size, members[-1], hub)


def boxes(subject: Subject, mapping: str) -> Iterator[bool]:
    """All candidates are in boxes of their distances, and those of open boxes are listed."""
    device, source = subject.setting.device, subject.sources[0]
    distances = subject.expected[source]
    top = twins.eccentricity(distances)
    upper = np.where(distances == UNREACHED, UNREACHED, top + distances).astype(np.uint32)
    candidates = np.flatnonzero((upper > top) & (upper != UNREACHED))
    column = device.array(distances)
    table = DeviceBoxTable(device, device.array(upper), [column], top, np.array([1]), SLOTS)
    yield table.fill() == (2 * np.unique(distances[candidates] >> 1).size <= SLOTS)
    largest, sizes = table.left()
    far = candidates[distances[candidates] + int(distances[candidates].max(initial=0)) > top]
    yield int(sizes.sum()) >= far.size and len(largest) == len(sizes)
    members = table.members(np.ones(len(sizes), bool), upper.size)
    yield members is not None and set(far.tolist()) <= set(members.ids.tolist()) <= set(candidates.tolist())
    left = uncertified(device, device.array(upper), [column], top)
    yield set(far.tolist()) <= set(left.ids.tolist()) <= set(candidates.tolist())
    yield from candidate_values(DeviceColumn(device, column), left, distances[left.ids], top)


def candidate_values(column: DeviceColumn, vertices: ListedVertices, expected: np.ndarray, top: int) -> Iterator[bool]:
    """Distances of listed vertices, of one column and of two, and which are above a half, before and after half of them
    are dropped."""
    for _ in range(2):
        points = np.zeros((len(vertices), 2), np.uint32)
        vertices.put_points([column, column], top, points)
        yield points.tolist() == [[d, d] for d in expected.tolist()]
        yield vertices.values(column, top).tolist() == expected.tolist()
        yield vertices.above(column, top // 2).tolist() == (expected > top // 2).tolist()
        mask = np.arange(len(vertices)) % 2 == 0
        vertices.keep(mask)
        expected = expected[mask]
