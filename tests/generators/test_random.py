"""Random classes: structure that must hold always, and distributions (fixed seeds, so no flakes).

`chi_square` bounds are the 0.9999 quantiles: a fault of a few per cent in a probability passes them.
"""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from scipy.special import chdtri

from emdiam.generators import make_source
from emdiam.generators.permutation import permutation_bits, permute, round_keys, unpermute
from emdiam.generators.regular import factor_edges
from emdiam.generators.rmat import alias_table
from emdiam.generators.source import Request
from emdiam.hashing import below, draw, unit
from tests.generators.test_protocol import edge_set, pairs


def assert_distributed(observed, expected):
    """Chi-square of counts against expected counts (same sum)."""
    observed, expected = np.asarray(observed, float), np.asarray(expected, float)
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert statistic < chdtri(len(observed) - 1, 0.0001)


def assert_uniform(counts):
    assert_distributed(counts, np.full(len(counts), np.sum(counts) / len(counts)))


def test_draws_are_the_splitmix64_stream():
    # The first outputs of the reference generator for the state 1234567.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(draw(np.uint64(1234567), np.uint64(i))) for i in range(3)] == expected


def test_below_is_the_high_word_of_the_product():
    for number, bound in [(0, 5), (2**64 - 1, 5), (2**64 - 1, 2**64 - 1), (2**63, 2**40 + 7),
                          (0x123456789ABCDEF0, 0xFEDCBA9876543210)]:
        assert int(below(np.uint64(number), np.uint64(bound))) == number * bound >> 64


def test_unit_is_in_the_half_open_interval():
    assert unit(np.uint64(0)) == 0.0 and unit(np.uint64(2**64 - 1)) == 1 - 2**-53


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 17, 64, 65, 1000])
def test_permutation_is_a_bijection_with_its_inverse(n):
    bits = permutation_bits(n)
    keys = round_keys(Request("test", n, 3), "ids", bits)
    image = [int(permute(keys, bits, np.uint64(n), np.uint64(i))) for i in range(n)]
    assert sorted(image) == list(range(n))
    assert [int(unpermute(keys, bits, np.uint64(n), np.uint64(v))) for v in image] == list(range(n))


def test_permutation_of_a_huge_domain_has_its_inverse():
    n = 2**61 + 12345
    bits = permutation_bits(n)
    keys = round_keys(Request("test", n, 3), "ids", bits)
    for i in (0, 1, n // 3, n - 1):
        image = permute(keys, bits, np.uint64(n), np.uint64(i))
        assert int(image) < n and int(unpermute(keys, bits, np.uint64(n), np.uint64(image))) == i


def test_alias_table_keeps_the_probabilities():
    probabilities = np.array([0.5, 0.0, 0.3, 0.2 - 1e-9, 1e-9, 0.0, 0.0, 0.0])
    table = alias_table(probabilities)
    mass = np.zeros(8)
    for i, entry in enumerate(table.tolist()):
        share = (entry >> 8) / 2**56
        mass[i] += share / 8
        mass[entry & 255] += (1 - share) / 8
    np.testing.assert_allclose(mass, probabilities, atol=1e-15)


def quadrant_probability(a, b, c, scale):
    """float64[2^scale, 2^scale]: naive product over levels."""
    one = np.array([[a, b], [c, 1 - a - b - c]])
    matrix = np.ones((1, 1))
    for _ in range(scale):
        matrix = np.kron(matrix, one)
    return matrix


@pytest.mark.parametrize("scale", [1, 2, 3, 4, 5])
def test_rmat_cells_have_the_kronecker_probabilities(scale):
    parameters = {"a": 0.4, "b": 0.3, "c": 0.1, "edge_factor": (1 << 21) >> scale}
    got = pairs(make_source("rmat", vertices=1 << scale, seed=5, parameters=parameters))
    counts = np.bincount(got[:, 0] << scale | got[:, 1], minlength=1 << 2 * scale)
    expected = quadrant_probability(0.4, 0.3, 0.1, scale).ravel() * len(got)
    assert expected.min() > 5
    assert_distributed(counts, expected)


def test_rmat_quadrants_at_every_level_of_a_larger_scale():
    got = pairs(make_source("rmat", vertices=1 << 14, seed=2, parameters={"edge_factor": 4}))
    for level in range(14):
        row, column = got[:, 0] >> level & 1, got[:, 1] >> level & 1
        counts = np.bincount(2 * row + column, minlength=4)
        assert_distributed(counts, np.array([0.57, 0.19, 0.19, 0.05]) * len(got))


def test_rmat_accepts_an_empty_quadrant():
    got = pairs(make_source("rmat", vertices=256, parameters={"a": 0.5, "b": 0.25, "c": 0.25}))
    assert len(got) == 16 * 256 and not (got[:, 0] & got[:, 1]).any()


def test_kronecker_is_rmat_with_permuted_ids():
    """The same multiset of degrees arises, but hubs lie anywhere."""
    kronecker = pairs(make_source("kronecker", vertices=1 << 12, seed=3))
    rmat = pairs(make_source("rmat", vertices=1 << 12, seed=3))
    degrees = np.bincount(kronecker.ravel(), minlength=1 << 12)
    natural = np.bincount(rmat.ravel(), minlength=1 << 12)
    assert natural.argmax() == 0 and natural[:64].sum() > natural.sum() / 6
    assert abs(degrees.max() / natural.max() - 1) < 0.1
    hubs = np.argsort(degrees)[-256:]
    assert_uniform(np.bincount(hubs // 512, minlength=8))


@pytest.mark.parametrize("n,degree", [(2, 1), (8, 1), (4, 2), (9, 2), (6, 3), (8, 4), (10, 5), (12, 6),
                                      (13, 6), (16, 8), (20, 10), (50, 25), (100, 3), (101, 4), (300, 40),
                                      (256, 128)])
def test_regular_is_simple_and_regular(n, degree):
    for seed in range(3 if n < 256 else 1):
        got = pairs(make_source("regular", vertices=n, seed=seed, parameters={"degree": degree}))
        assert (got[:, 0] != got[:, 1]).all()
        assert len(np.unique(np.sort(got, axis=1), axis=0)) == len(got) == n * degree // 2
        assert (np.bincount(got.ravel(), minlength=n) == degree).all()


def test_regular_replaces_only_what_is_repeated():
    source = make_source("regular", vertices=2000, seed=1, parameters={"degree": 12})
    source.prepare()
    factors, replaced = source._factors, source._replaced
    src, dst = np.empty(12000, np.int64), np.empty(12000, np.int64)
    factor_edges(*factors, 0, (src, dst))
    repeats = 12000 - len({(min(e), max(e)) for e in zip(src.tolist(), dst.tolist(), strict=True)})
    assert 10 < repeats < 60  # the expectation is about degree^2 / 4 = 36, less half the degree
    assert repeats <= len(replaced) <= 2 * repeats


def test_regular_has_a_logarithmic_diameter():
    graph = nx.Graph(pairs(make_source("regular", vertices=1024, seed=1)).tolist())
    assert 12 <= nx.diameter(graph) <= 18  # Bollobas, de la Vega 1982: about log2(n log n) = 13


def test_watts_strogatz_rewires_a_share_p():
    n, half, p = 20000, 3, 0.2
    got = pairs(make_source("watts-strogatz", vertices=n, seed=4, parameters={"k": 6, "p": p}))
    np.testing.assert_array_equal(got[:, 0], np.repeat(np.arange(n), half))
    step = (got[:, 1] - got[:, 0]) % n
    rewired = step != np.tile([1, 2, 3], n)
    assert abs(rewired.sum() - p * n * half) < 4 * np.sqrt(p * (1 - p) * n * half)
    assert (step > 0).all()
    assert_uniform(np.histogram(step[rewired], bins=20, range=(1, n))[0])


def test_watts_strogatz_can_rewire_everything():
    got = pairs(make_source("watts-strogatz", vertices=11, seed=4, parameters={"k": 2, "p": 1.0}))
    assert len(got) == 11 and (got[:, 0] != got[:, 1]).all()


def naive_barabasi_albert(n, m, key):
    """The same draws with the array of all ends held in memory (Batagelj, Brandes 2005)."""
    ends = [end for v in range(1, m + 1) for end in (0, v)]
    for v in range(m + 1, n):
        earlier = len(ends)
        for _ in range(m):
            edge = len(ends) // 2
            ends += [v, ends[int(draw(key, np.uint64(edge))) * earlier >> 64]]
    return np.array(ends).reshape(-1, 2)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_barabasi_albert_equals_the_naive_twin(m):
    request = Request("barabasi-albert", 300, 9)
    got = pairs(make_source("barabasi-albert", vertices=300, seed=9, parameters={"m": m}))
    np.testing.assert_array_equal(got, naive_barabasi_albert(300, m, request.key("ends")))


def test_barabasi_albert_is_scale_free():
    got = pairs(make_source("barabasi-albert", vertices=100_000, seed=1, parameters={"m": 4}))
    degrees = np.bincount(got.ravel())
    # P(degree >= k) = m (m + 1) / (k (k + 1)) in the limit (Bollobas, Riordan, Spencer, Tusnady 2001)
    for k in (8, 16, 64):
        expected = 4 * 5 / (k * (k + 1))
        assert abs((degrees >= k).mean() / expected - 1) < 0.1


def test_erdos_renyi_edge_sets_are_equally_likely():
    """All 15 graphs with 2 edges on 4 vertices."""
    seen = Counter(
        tuple(sorted(edge_set(make_source("erdos-renyi", vertices=4, seed=s, parameters={"edges": 2}))))
        for s in range(3000))
    assert len(seen) == 15
    assert_uniform(list(seen.values()))


def test_erdos_renyi_degrees_are_those_of_g_n_m():
    n, m = 20000, 80000
    got = pairs(make_source("erdos-renyi", vertices=n, seed=6))
    assert len(got) == m == len(np.unique(got, axis=0)) and (got[:, 0] < got[:, 1]).all()
    counts = np.bincount(np.bincount(got.ravel(), minlength=n), minlength=19)
    from scipy import stats  # takes half a second to import

    expected = stats.binom.pmf(np.arange(19), n - 1, 2 * m / (n * (n - 1))) * n
    assert_distributed(np.append(counts[1:18], counts[18:].sum() + counts[0]),
                       np.append(expected[1:18], n - expected[1:18].sum()))


def test_erdos_renyi_can_be_complete_and_empty():
    assert len(edge_set(make_source("erdos-renyi", vertices=40, parameters={"edges": 780}))) == 780
    assert len(pairs(make_source("erdos-renyi", vertices=40, parameters={"edges": 0}))) == 0
    assert len(pairs(make_source("erdos-renyi", vertices=1, parameters={"average_degree": 0}))) == 0


def test_erdos_renyi_pairs_are_exact_beyond_floating_point():
    source = make_source("erdos-renyi", vertices=3_000_000_000, parameters={"edges": 5000})
    got = pairs(source)
    assert (got[:, 0] < got[:, 1]).all() and got[:, 0].min() >= 0 and got[:, 1].max() < 3_000_000_000
    assert_uniform(np.histogram(got.astype(float)[:, 1] ** 2, bins=10, range=(0, 9e18))[0])


@pytest.mark.parametrize("kind", ["bond", "site"])
def test_percolated_keeps_a_share_p(kind):
    whole = edge_set(make_source("grid", vertices=40000))
    source = make_source("percolated", vertices=40000, seed=3, parameters={"kind": kind})
    kept = edge_set(source)
    assert kept < whole
    share = 0.65 if kind == "bond" else 0.65**2
    assert abs(len(kept) / len(whole) - share) < 0.01
    touched = {v for edge in kept for v in edge}
    if kind == "site":  # between two vertices that both stay, every edge stays
        assert {e for e in whole if e[0] in touched and e[1] in touched} == kept
    components = nx.connected_components(nx.Graph(list(kept)))
    assert max(map(len, components)) > 0.5 * 40000


def test_percolated_with_nothing_kept_is_empty():
    for kind in ("bond", "site"):
        source = make_source("percolated", vertices=100, parameters={"p": 0, "kind": kind})
        assert list(source.batches(1000)) == []
