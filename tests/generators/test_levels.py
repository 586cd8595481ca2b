"""Level graphs: an explicit twin, levels that are those of a BFS, exact counts, uniform edges, refusals."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtri

from emdiam.errors import InputError
from emdiam.generators import make_source
from emdiam.generators.levels import default_edges, level_count, level_shape
from emdiam.generators.permutation import permutation_bits, permute, round_keys
from emdiam.generators.source import Request
from emdiam.hashing import below, draw
from tests.generators.test_protocol import pairs
from tests.helpers import naive


def level_graph(n, seed=0, **parameters):
    return make_source("levels", vertices=n, seed=seed, parameters=parameters)


def level_lists(n, x):
    """Twin of the division: natural ids level by level, dealt out as a pack of cards is."""
    sizes = [1] + [0] * (x - 1)
    for card in range(n - 1):
        sizes[1 + card % (x - 1)] += 1
    ends = np.cumsum(sizes)
    return [list(range(end - size, end)) for end, size in zip(ends.tolist(), sizes, strict=True)]


def twin(n, x, m, seed, layout):
    """All pairs in order: links, then choices from an explicit list of all other pairs."""
    request = Request("levels", n, seed, {"layout": layout})
    key, free, found = request.key("links"), [], []
    lists = level_lists(n, x)
    for before, level in itertools.pairwise(lists):
        for v in level:
            number = np.uint64(draw(key, np.uint64(v)))
            link = before[int(below(number, np.uint64(len(before))))]
            found.append((link, v))
            free += [(u, v) for u in before if u != link]
    bits = permutation_bits(max(1, len(free)))
    keys = round_keys(request, "pairs", bits)
    found += [free[int(permute(keys, bits, np.uint64(len(free)), np.uint64(k)))] for k in range(m - (n - 1))]
    if layout == "natural":
        return found
    bits = permutation_bits(n)
    keys = round_keys(request, "ids", bits)
    new = [int(permute(keys, bits, np.uint64(n), np.uint64(v))) for v in range(n)]
    return [(new[u], new[v]) for u, v in found]


@st.composite
def orders(draw_from):
    """n, x, m (or None), seed, layout."""
    n = draw_from(st.integers(1, 70))
    x = draw_from(st.integers(min(n, 2), n))
    most = n - 1 + level_shape(n, x).n_pairs
    m = draw_from(st.one_of(st.none(), st.integers(n - 1, most)))
    return n, x, m, draw_from(st.integers(0, 2**64 - 1)), draw_from(st.sampled_from(["natural", "random"]))


def make(order):
    n, x, m, seed, layout = order
    given_edges = {} if m is None else {"edges": m}
    return level_graph(n, seed, levels=x, layout=layout, **given_edges)


@settings(max_examples=150, deadline=None)
@given(orders())
def test_equals_the_explicit_twin(order):
    n, x, _, seed, layout = order
    source = make(order)
    expected = twin(n, x, source.info().n_entries, seed, layout)
    assert [tuple(pair) for pair in pairs(source).tolist()] == expected


@settings(max_examples=150, deadline=None)
@given(orders())
def test_levels_are_those_of_a_bfs_and_edges_are_distinct(order):
    n, x, m, _, layout = order
    source = make(order)
    got = [tuple(pair) for pair in pairs(source).tolist()]
    assert len(got) == source.info().n_entries == (m if m is not None else len(got))
    assert len({frozenset(pair) for pair in got}) == len(got)
    root = got[0][0] if got else 0  # the first edge is the first link to level 0
    distance = naive.distances(naive.graph_of(n, got), root)
    sizes = Counter(distance)
    assert sorted(sizes) == list(range(x)) and sizes[0] == 1  # so all are reached, in x levels
    beyond = [sizes[level] for level in range(1, x)]
    assert max(beyond, default=0) - min(beyond, default=0) <= 1
    assert all(abs(distance[u] - distance[v]) == 1 for u, v in got)
    if layout == "natural":
        assert root == 0 and distance == sorted(distance)


@pytest.mark.parametrize("n", range(1, 40))
def test_all_pairs_can_be_asked_for(n):
    for x in range(min(n, 2), n + 1):
        lists = level_lists(n, x)
        everything = {(u, v) for before, level in itertools.pairwise(lists)
                      for u in before for v in level}
        assert level_shape(n, x).n_pairs == len(everything) - (n - 1)
        source = level_graph(n, levels=x, edges=len(everything), layout="natural")
        assert {tuple(pair) for pair in pairs(source).tolist()} == everything


def test_one_level_per_vertex_is_a_path_and_two_are_a_star():
    assert pairs(level_graph(9, levels=9, layout="natural")).tolist() == [[i, i + 1] for i in range(8)]
    assert pairs(level_graph(9, levels=2, layout="natural")).tolist() == [[0, i] for i in range(1, 9)]
    assert len(pairs(level_graph(1))) == 0


def test_random_layout_is_the_natural_one_with_other_ids():
    natural, random = (level_graph(300, 5, levels=20, layout=layout) for layout in ("natural", "random"))
    image = {}
    for before, after in zip(pairs(natural).ravel().tolist(), pairs(random).ravel().tolist(), strict=True):
        assert image.setdefault(before, after) == after
    assert sorted(image.values()) == list(range(300))
    assert image != {v: v for v in range(300)}


@pytest.mark.parametrize("n,rule,levels", [
    (1, "sqrt", 1), (1, "linear", 1), (2, "sqrt", 2), (3, "linear", 2), (12, "sqrt", 3), (13, "sqrt", 4),
    (20, "linear", 5), (2**22, "sqrt", 2048), (2**28, "sqrt", 16384), (2**28, "linear", 67_108_864),
    (2**28, 1000, 1000), (2**60 - 2**30, "sqrt", 2**30 - 1), (2**60 - 2**30 + 1, "sqrt", 2**30),
])
def test_numbers_of_levels(n, rule, levels):
    assert level_count(n, rule) == levels


def test_default_edges_are_in_proportion_to_the_paper():
    n, few, many = 2**28, 16_384, 67_108_864
    assert default_edges(n, "sqrt") == default_edges(n, few) == default_edges(n, 2) == 1_127_310_556
    assert default_edges(n, "linear") == default_edges(n, many) == default_edges(n, n) == 903_876_452
    assert default_edges(n, (few + many) // 2) == (1_127_310_556 + 903_876_452) // 2
    assert default_edges(2**20, "sqrt") == 4_403_557 and default_edges(2**20, "linear") == 3_530_767
    assert default_edges(4, "linear") == 13 and default_edges(4, 2) == 17  # the words coincide there
    assert level_graph(2**20).info().n_entries == 4_403_557
    assert level_graph(9).info().n_entries == 4 + 16  # 38 are wanted, all pairs are 20


def test_facts_at_the_size_of_the_paper():
    for rule, edges in (("sqrt", 1_127_310_556), ("linear", 903_876_452)):
        source = level_graph(2**28, levels=rule)
        assert source.info().n_entries == source.n_slots == edges and source.known_diameter is None
        tail = next(iter(source.edges(edges - 50, edges, 50)))
        assert len(tail.src) == 50 and len(set(zip(tail.src.tolist(), tail.dst.tolist(), strict=True))) == 50


def test_huge_graphs_start_anywhere():
    n, x = 2**40, 2**22
    source = level_graph(n, levels=x, layout="natural")
    width, wide = divmod(n - 1, x - 1)

    def level(v):  # exact, in Python's whole numbers
        inside = wide * (width + 1)
        return 0 if v == 0 else 1 + ((v - 1) // (width + 1) if v <= inside
                                     else wide + (v - 1 - inside) // width)

    for slot in (0, width - 1, width + 5, n // 2, n - 2, n - 1, source.n_slots - 1):
        (batch,) = source.edges(slot, slot + 1, 1)
        u, v = int(batch.src[0]), int(batch.dst[0])
        assert level(u) + 1 == level(v) < x
        assert slot >= n - 1 or v == slot + 1


def assert_uniform(counts):
    """Chi-square below its 0.9999 quantile; seeds are fixed, so it passes always or never."""
    counts = np.asarray(counts, float)
    mean = counts.mean()
    assert ((counts - mean) ** 2 / mean).sum() < chdtri(len(counts) - 1, 0.0001)


def test_links_are_uniform():
    source = level_graph(1 + 3 * 5000, 11, levels=4, edges=15_000, layout="natural")
    links = pairs(source)[5000:]
    assert_uniform(np.bincount((links[:, 0] - 1) % 5000 // 50, minlength=100))
    assert_uniform(np.bincount((links[:, 0] - 1) % 50, minlength=50))


def test_every_set_of_further_edges_is_equally_likely():
    # Three levels 1, 3, 3: six pairs besides the links, two of them chosen: 15 sets.
    counts = Counter()
    for seed in range(3000):
        source = level_graph(7, seed, levels=3, edges=8, layout="natural")
        got = pairs(source).tolist()
        link = {v: u for u, v in got[:6]}
        free = [(u, v) for v in (4, 5, 6) for u in (1, 2, 3) if u != link[v]]
        counts[tuple(sorted(free.index((u, v)) for u, v in got[6:]))] += 1
    assert len(counts) == 15
    assert_uniform(list(counts.values()))


def test_edges_are_spread_over_all_levels():
    source = level_graph(2**16 + 1, 3, levels=65, layout="natural")  # 1024 vertices a level
    further = pairs(source)[2**16:]
    assert_uniform(np.bincount((further[:, 1] - 1) // 1024, minlength=64)[1:])
    assert not (further[:, 1] <= 1024).any()


@pytest.mark.parametrize("n,parameters,message", [
    (10, {"levels": 0}, "levels must be at least 1"),
    (10, {"levels": "-3"}, "levels must be at least 1"),
    (10, {"levels": 11}, "10 vertices can be in 2 to 10 levels: '11'"),
    (10, {"levels": 1}, "2 to 10 levels"),
    (1, {"levels": 2}, "a single vertex is one level"),
    (10, {"levels": "sqr"}, "levels is sqrt, linear or a whole number: 'sqr'"),
    (10, {"levels": ""}, "levels is sqrt, linear or a whole number"),
    (10, {"levels": "2.5"}, "levels must be a whole number"),
    (10, {"levels": True}, "levels must be a whole number"),
    (10, {"levels": 4, "edges": 8}, "can have 9 to 21 edges: '8'"),
    (10, {"levels": 4, "edges": "28"}, "can have 9 to 21 edges"),
    (10, {"levels": 4, "edges": -1}, "edges must be at least 0"),
    (10, {"layout": "sorted"}, "layout is one of random, natural"),
    (2**40, {"levels": 3}, r"more than 2\^62 pairs of vertices in consecutive levels"),
])
def test_impossible_orders_are_refused(n, parameters, message):
    with pytest.raises(InputError, match=message):
        level_graph(n, **parameters)


def test_vertices_are_required():
    with pytest.raises(InputError, match="needs its number of vertices"):
        level_graph(None)
