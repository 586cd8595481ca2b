"""The real graphs of ../shared/data as they are, against data/INDEX.md."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pytest

from emdiam.formats import open_source
from tests.helpers.formats_naive import naive_dimacs, naive_edge_list, naive_matrix_market, naive_metis, read_pairs

BATCH_BYTES = 16 << 20
slow = pytest.mark.slow
# file, format, edges of the simple graph, declared n, id span (largest + 1 - first), both directions listed
GRAPHS = [
    pytest.param("git-objects-git.parquet", "parquet", 58_096_801, None, 406_057, False, marks=slow),
    ("cnr-2000.parquet", "parquet", 2_738_969, None, 325_557, False),
    ("cnr-2000.graph", "bvgraph", 2_738_969, 325_557, 325_557, False),
    ("travelmapping-highways.parquet", "parquet", 1_206_036, None, 1_045_844, False),
    ("USA-road-d.NY.gr.gz", "dimacs", 365_050, 264_346, 264_346, False),
    ("luxembourg_osm.mtx.gz", "matrix-market", 119_666, 114_599, 114_599, False),
    pytest.param("wave.graph.bz2", "metis", 1_059_331, 156_317, 156_317, True, marks=slow),
    ("wing.graph", "metis", 121_544, 62_032, 62_032, True),
    ("delaunay_n16.mtx.gz", "matrix-market", 196_575, 65_536, 65_536, False),
    ("internet.egr", "ecl", 193_620, 124_651, 124_651, True),
    ("p2p-Gnutella31.e", "edgelist", 147_892, None, 62_587, False),
    ("cit-HepPh.csv.gz", "csv", 420_877, None, 34_547, False),
    ("email-Enron.csv.gz", "csv", 183_831, None, 36_693, False),
    ("git_edges.csv", "csv", 289_003, None, 37_700, False),
    ("facebook_combined.txt", "edgelist", 88_234, None, 4_039, False),
    ("wiki-Vote.txt", "edgelist", 100_762, None, 8_298, False),
    ("MIT8.edgelist", "edgelist", 251_252, None, 6_440, False),
    ("PGPgiantcompo.graph", "metis", 24_316, 10_680, 10_680, True),
    ("USPowerGrid.txt", "edgelist", 6_594, None, 4_942, False),
]


BESIDE = {"cnr-2000.offsets", "cnr-2000.properties"}


def count_distinct(keys: np.ndarray) -> int:
    """Number of different values; sorts in place."""
    keys.sort()
    return 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))


def test_every_file_is_listed(data_folder):
    listed = {graph.values[0] if hasattr(graph, "values") else graph[0] for graph in GRAPHS}
    assert listed | BESIDE == {file.name for file in data_folder.iterdir()} - {"INDEX.md"}


@pytest.mark.parametrize("name, fmt, n_edges, n_declared, span, both", GRAPHS)
def test_distinct_edges(data_folder, name, fmt, n_edges, n_declared, span, both):
    source = open_source([data_folder / name])
    info = source.info()
    assert (info.format, info.n_vertices, info.id_kind) == (fmt, n_declared, "int")
    keys, entries, largest = [], 0, 0
    for batch in source.batches(BATCH_BYTES):
        low, high = np.minimum(batch.src, batch.dst), np.maximum(batch.src, batch.dst)
        largest, entries = max(largest, int(high.max())), entries + len(low)
        keys.append((low[low < high] << 32 | high[low < high]).astype(np.uint64))
    assert count_distinct(np.concatenate(keys)) == n_edges
    assert info.n_entries in (None, entries)
    assert info.both_directions == both
    if n_declared is None:
        assert largest + 1 == span
    else:
        assert largest < n_declared + info.first_id
    assert source.position_bytes() == info.size_bytes


@pytest.mark.parametrize(
    "name",
    [
        "USPowerGrid.txt",
        "PGPgiantcompo.graph",
        *(pytest.param(name, marks=slow) for name in (
            "wiki-Vote.txt", "MIT8.edgelist", "p2p-Gnutella31.e", "luxembourg_osm.mtx.gz", "wing.graph",
            "USA-road-d.NY.gr.gz", "wave.graph.bz2")),
    ],
)
def test_pairs_agree_with_the_twins(data_folder, name):
    data = (data_folder / name).read_bytes()
    data = (
        gzip.decompress(data)
        if name.endswith(".gz")
        else bz2.decompress(data)
        if name.endswith(".bz2")
        else data
    )
    if ".mtx" in name:
        expected = naive_matrix_market(data.decode())[1]
    elif ".gr." in name:
        expected = naive_dimacs(data.decode())[1]
    else:
        expected = naive_metis(data.decode())[1] if ".graph" in name else naive_edge_list(data)
    assert read_pairs(data_folder / name, batch_bytes=BATCH_BYTES) == expected
