"""What every generator promises: counts, ids, batches, seeds, threads, the same edges for ever."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from emdiam.formats.source import EdgeSource
from emdiam.generators import CLASSES, make_source

# One small graph of every class: (class, vertices, parameters).
SMALL = [
    ("path", 50, {}),
    ("cycle", 50, {}),
    ("star", 50, {}),
    ("clique", 23, {}),
    ("grid", None, {"sides": "5x3x4"}),
    ("torus", None, {"sides": "5x2x4"}),
    ("hypercube", 64, {}),
    ("regular", 60, {"degree": 7}),
    ("rmat", 64, {}),
    ("kronecker", 128, {"edge-factor": 4}),
    ("watts-strogatz", 80, {"p": 0.3}),
    ("barabasi-albert", 90, {}),
    ("web", 300, {}),
    ("erdos-renyi", 70, {}),
    ("geometric", 400, {}),
    ("percolated", 144, {}),
    ("percolated", 144, {"kind": "site", "p": 0.7}),
    ("delaunay", 100, {}),
    ("levels", 90, {}),
    ("levels", 90, {"levels": "linear", "layout": "natural"}),
    ("worst-case", None, {"fans": "3,4,9"}),
]
DETERMINISTIC = {"path", "cycle", "star", "clique", "grid", "torus", "hypercube"}
MAY_LOOP = {"rmat", "kronecker"}
BOTH = {"web"}  # directions of every edge are listed
MAY_REPEAT = {"rmat", "kronecker", "watts-strogatz", "barabasi-albert"}

# blake2b of the sorted pairs of SMALL with seed 7. A change here changes users' graphs: never by accident.
GOLDEN = {
    "path": "bdedcf2cbb294d5b",
    "cycle": "3a894cadee99f05c",
    "star": "9554e32643ae2d9d",
    "clique": "21ab2fae006cf4df",
    "grid-sides=5x3x4": "7a1311bb9ec06f93",
    "torus-sides=5x2x4": "c291ce7ab8f20f7e",
    "hypercube": "86ef60fdad5c1641",
    "regular-degree=7": "9b9a513c97eac745",
    "rmat": "aae58cbaf8dd4daa",
    "kronecker-edge-factor=4": "39a1447377a61e9c",
    "watts-strogatz-p=0.3": "ded4276482a87202",
    "barabasi-albert": "3ee2bb18c6c24e40",
    "web": "33de2f595113c918",
    "erdos-renyi": "455f015f8cac69af",
    "geometric": "822d9f0cfc709c4f",
    "percolated": "4a7c61b128c06f75",
    "percolated-kind=site-p=0.7": "b4612f6cc8070412",
    "delaunay": "906d310179bd389b",
    "levels": "9b6dc424ea00bb46",
    "levels-levels=linear-layout=natural": "77b36480f04121d3",
    "worst-case-fans=3,4,9": "0c3d4abf94c7e1c9",
}


def pairs(source, batch_bytes=1 << 16):
    """int64[m, 2]: all pairs of a source, in order."""
    batches = [np.stack((b.src, b.dst), axis=1) for b in source.batches(batch_bytes)]
    return np.concatenate(batches) if batches else np.zeros((0, 2), np.int64)


def edge_set(source):
    """Set of (smaller id, larger id)."""
    return {(min(u, v), max(u, v)) for u, v in pairs(source).tolist()}


def build(case, seed=7):
    name, vertices, parameters = case
    return make_source(name, vertices=vertices, seed=seed, parameters=parameters)


def case_name(case):
    return "-".join([case[0], *(f"{k}={v}" for k, v in case[2].items())])


every_class = pytest.mark.parametrize("case", SMALL, ids=case_name)


def test_every_class_is_covered():
    assert {case[0] for case in SMALL} == set(CLASSES)


@every_class
def test_is_an_edge_source_with_true_counts(case):
    source = build(case)
    assert isinstance(source, EdgeSource) and source.rewindable
    info, got = source.info(), pairs(source)
    assert (info.first_id, info.directed, info.id_kind) == (0, False, "int")
    assert info.n_vertices == source.n_vertices
    assert info.n_entries in (None, len(got))
    assert info.n_entries is not None or case[0] in ("web", "geometric", "percolated", "delaunay")
    assert got.min() >= 0 and got.max() < source.n_vertices
    assert case[0] in source.description and str(source.n_vertices) in source.description


@every_class
def test_each_edge_is_listed_once(case):
    got = pairs(build(case))
    if case[0] not in MAY_LOOP:
        assert (got[:, 0] != got[:, 1]).all()
    if case[0] not in MAY_REPEAT:
        assert len(np.unique(np.sort(got, axis=1), axis=0)) * (2 if case[0] in BOTH else 1) == len(got)


@every_class
def test_batch_size_changes_nothing(case):
    source = build(case)
    whole = pairs(source, 1 << 20)
    for batch_bytes in (1, 16, 80, 1000):
        for batch in source.batches(batch_bytes):
            assert batch.src.dtype == batch.dst.dtype == np.int64
            assert 1 <= len(batch.src) == len(batch.dst) <= max(1, batch_bytes // 16)
        np.testing.assert_array_equal(pairs(source, batch_bytes), whole)
    np.testing.assert_array_equal(pairs(build(case), 333), whole)


@every_class
def test_two_threads_make_the_same_edges(case):
    source = build(case)
    cuts = [0, source.n_slots // 3, source.n_slots // 2, source.n_slots]

    def part(i):
        batches = [np.stack((b.src, b.dst), axis=1) for b in source.edges(cuts[i], cuts[i + 1], 5)]
        return np.concatenate(batches) if batches else np.zeros((0, 2), np.int64)

    with ThreadPoolExecutor(2) as pool:
        got = np.concatenate(list(pool.map(part, range(3))))
    np.testing.assert_array_equal(got, pairs(source))


@every_class
def test_seed_changes_random_classes_only(case):
    same = np.array_equal(pairs(build(case, seed=7)), pairs(build(case, seed=8)))
    assert same == (case[0] in DETERMINISTIC)


@every_class
def test_edges_are_those_of_earlier_versions(case):
    ordered = np.sort(pairs(build(case)), axis=1)
    ordered = ordered[np.lexsort((ordered[:, 1], ordered[:, 0]))]
    assert hashlib.blake2b(ordered.tobytes(), digest_size=8).hexdigest() == GOLDEN[case_name(case)]


def test_largest_seed_is_accepted():
    assert len(pairs(make_source("rmat", vertices=16, seed=2**64 - 1))) == 256


def test_registry_needs_neither_numba_nor_numpy():
    code = ("import sys, emdiam.generators as g; assert 'rmat' in g.CLASSES; "
            "print([m for m in ('numba', 'numpy', 'scipy', 'zarr', 'pyarrow') if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
