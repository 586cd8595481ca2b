"""Geometric and Delaunay graphs against brute force and scipy, and the Hilbert curve."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay

from emdiam.errors import InputError
from emdiam.generators import make_source
from emdiam.generators.permutation import hilbert_cell, hilbert_position
from tests.generators.test_protocol import edge_set, pairs


@pytest.mark.parametrize("order", range(6))
def test_hilbert_visits_every_cell_once_stepping_to_a_neighbour(order):
    cells = [hilbert_cell(order, p) for p in range(4**order)]
    assert sorted(cells) == [(x, y) for x in range(2**order) for y in range(2**order)]
    assert [hilbert_position(order, x, y) for x, y in cells] == list(range(4**order))
    steps = np.abs(np.diff(np.array(cells), axis=0)).sum(axis=1)
    assert (steps == 1).all()


def test_hilbert_of_the_highest_order_has_its_inverse():
    for position in (0, 1, 4**31 // 3, 4**31 - 1, 123456789123456789):
        assert hilbert_position(31, *hilbert_cell(31, position)) == position


def brute_force(points, radius):
    """Set of (u, v), u < v, at most radius apart."""
    difference = points[:, None, :] - points[None, :, :]
    near = (difference**2).sum(axis=2) <= radius * radius
    return {(u, v) for u, v in np.argwhere(near).tolist() if u < v}


@pytest.mark.parametrize("n,parameters", [
    (1, {}), (2, {"radius": 1.5}), (40, {"radius": 0.0}), (60, {"radius": 0.5}), (60, {"radius": 1.5}),
    (31, {"radius": 0.25}), (32, {"radius": 0.5}), (300, {}), (300, {"radius": 0.3}),
    (1000, {"average-degree": 3}), (1000, {"average-degree": 40}), (2000, {"radius": 0.01}),
])
def test_geometric_equals_brute_force(n, parameters):
    source = make_source("geometric", vertices=n, seed=n, parameters=parameters)
    expected = brute_force(source.points(), source.radius)
    assert edge_set(source) == expected
    assert len(pairs(source, 160)) == len(expected)


def assert_uniform_points(points):
    assert points.min() >= 0 and points.max() < 1
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=10, range=[(0, 1), (0, 1)])[0]
    mean = len(points) / 100
    assert ((counts - mean) ** 2 / mean).sum() < 161.3  # chi-square, 99 degrees of freedom, 0.9999
    assert ((counts - mean) ** 2 / mean).sum() > 50.0  # and not more even than chance


def test_geometric_points_are_uniform_and_ids_local():
    source = make_source("geometric", vertices=20000, seed=4)
    points, got = source.points(), pairs(source)
    assert_uniform_points(points)
    assert_uniform_points(points * 8 % 1)  # and within cells
    assert 0.95 < 2 * len(got) / 20000 / 8 <= 1.0  # a border takes a few per cent
    assert np.median(np.abs(got[:, 0] - got[:, 1])) < 40


def test_geometric_memory_is_at_most_a_byte_per_vertex():
    for n in (2**20, 2**24, 10**7):
        assert make_source("geometric", vertices=n).memory_bytes < n + 2**17


@pytest.mark.parametrize("n", [3, 4, 5, 10, 700])
def test_delaunay_equals_scipy_on_unsorted_points(n):
    source = make_source("delaunay", vertices=n, seed=2)
    points = source.points()
    shuffle = np.random.default_rng(n).permutation(n)
    expected = set()
    for triangle in shuffle[Delaunay(points[shuffle]).simplices].tolist():
        for u, v in zip(triangle, triangle[1:] + triangle[:1], strict=True):
            expected.add((min(u, v), max(u, v)))
    assert edge_set(source) == expected
    assert len(pairs(source)) == len(expected)


def test_delaunay_is_a_triangulation_of_local_ids():
    source = make_source("delaunay", vertices=5000, seed=1)
    assert source.memory_bytes > 500 * 5000
    points, got = source.points(), pairs(source)
    assert_uniform_points(points)
    hull = len(ConvexHull(points).vertices)
    assert len(got) == 3 * 5000 - 3 - hull  # Euler's formula with every inner face a triangle
    assert np.median(np.abs(got[:, 0] - got[:, 1])) < 20
    assert source.memory_bytes == 0  # prepared: what it holds is held


def test_delaunay_without_scipy_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    """At once: scipy is an extra, and no other class needs it."""
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    with pytest.raises(InputError, match=r"needs scipy, .* pip install 'emdiam\[delaunay\]'"):
        make_source("delaunay", vertices=100)
    assert make_source("geometric", vertices=100).n_vertices == 100
