"""The worst case of clusters: an explicit twin, the diameter by brute force, the paper's figures, refusals."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.generators import make_source
from emdiam.generators.permutation import permutation_bits, permute, round_keys
from emdiam.generators.source import Request
from tests.generators.test_protocol import pairs

SMALL_FANS = [(k1, k2, k3) for k1 in range(1, 6) for k2 in range(1, 5) for k3 in range(1, 6)]


def worst_case(fans=None, vertices=None, seed=0, **parameters):
    if fans is not None:
        parameters["fans"] = fans if isinstance(fans, str) else ",".join(map(str, fans))
    return make_source("worst-case", vertices=vertices, seed=seed, parameters=parameters)


def twin(k1, k2, k3):
    """Edge set in natural ids, list by list."""
    edges, spine, free = set(), [], 0
    for _ in range(k3):
        chain = list(range(free, free + k1))
        leaves = range(free + k1, free + k1 + k2)
        edges |= set(itertools.pairwise(chain)) | {(chain[-1], leaf) for leaf in leaves}
        spine.append(chain[0])
        free += k1 + k2
    return edges | set(itertools.pairwise(spine))


@pytest.mark.parametrize("fans", SMALL_FANS, ids=str)
def test_equals_the_twin_and_its_diameter(fans):
    source = worst_case(fans, layout="natural")
    got = pairs(source)
    expected = nx.Graph(sorted(twin(*fans)))
    assert {tuple(pair) for pair in got.tolist()} == twin(*fans) and len(got) == source.info().n_entries
    assert source.n_vertices == len(expected) == fans[2] * (fans[0] + fans[1])
    assert nx.is_tree(expected)
    assert source.known_diameter == nx.diameter(expected)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SMALL_FANS), st.integers(0, 2**64 - 1))
def test_random_layout_permutes_the_ids(fans, seed):
    source = worst_case(fans, seed=seed)
    n = source.n_vertices
    bits = permutation_bits(n)
    keys = round_keys(Request("worst-case", n, seed), "ids", bits)
    new = [int(permute(keys, bits, np.uint64(n), np.uint64(v))) for v in range(n)]
    assert {tuple(pair) for pair in pairs(source).tolist()} == {(new[u], new[v]) for u, v in twin(*fans)}


def test_natural_layout_ignores_the_seed():
    fans = (3, 4, 5)
    same = pairs(worst_case(fans, seed=1, layout="natural"))
    np.testing.assert_array_equal(same, pairs(worst_case(fans, seed=2, layout="natural")))
    assert not np.array_equal(pairs(worst_case(fans, seed=1)), pairs(worst_case(fans, seed=2)))


def test_the_graphs_of_the_paper():
    paper = worst_case((10, 100), vertices=2**28)
    assert "fans=10,100,2440322," in paper.name and paper.known_diameter == 2_440_341
    assert paper.n_vertices == 2_440_322 * 110 == paper.info().n_entries + 1
    assert worst_case(vertices=2**28).name == paper.name  # k1 and k2 of the paper are the default
    small = worst_case("10,100,5000")
    assert (small.n_vertices, small.known_diameter) == (550_000, 5_019)
    assert worst_case("10,100,5000", vertices=550_000).name == small.name
    assert worst_case(" 1e1, 100 ,5000").name == small.name


def test_as_many_lists_as_fit():
    for vertices in range(7, 40):
        source = worst_case((3, 4), vertices=vertices)
        assert source.n_vertices == vertices // 7 * 7 and f"fans=3,4,{vertices // 7}," in source.name


def test_huge_graphs_start_anywhere():
    k1, k2, k3 = 2**20, 2**10, 2**35
    source = worst_case((k1, k2, k3), layout="natural")
    unit = k1 + k2
    base = (k3 - 1) * unit
    wanted = {base: base - unit, base + 1: base, base + k1 - 1: base + k1 - 2, base + k1: base + k1 - 1,
              base + unit - 1: base + k1 - 1}
    for v, parent in wanted.items():
        (batch,) = source.edges(v - 1, v, 1)
        assert (int(batch.src[0]), int(batch.dst[0])) == (parent, v)


@pytest.mark.parametrize("fans,vertices,message", [
    ("10,100,x", None, "two or three whole numbers: '10,100,x'"),
    ("10;100;5000", None, "two or three whole numbers"),
    ("10,100,5000,2", None, "two or three whole numbers"),
    ("10", 1000, "two or three whole numbers"),
    ("", 1000, "two or three whole numbers"),
    ("10,,5000", None, "two or three whole numbers"),
    ("10,1.5,5000", None, "two or three whole numbers"),
    ("10,-100,5000", None, "at least 1"),
    ("0,100,5000", None, "at least 1"),
    ("10,100,0", None, "at least 1"),
    ("10,100", None, "needs its size"),
    (None, None, "needs its size"),
    ("10,100", 109, "has 110 vertices: '109'; ask for 110 or more"),
    ("10,100,5000", 550_001, "fans and vertices disagree: the fans make 550,000 vertices"),
    ("2^30,2^30,2^33", None, r"more than 2\^62"),
])
def test_impossible_orders_are_refused(fans, vertices, message):
    with pytest.raises(InputError, match=message):
        worst_case(fans, vertices)
