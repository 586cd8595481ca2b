"""What a generator says of its memory, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

MEASURE = """
import json, sys
import scipy.spatial
from emdiam.generators import make_source
from emdiam.units import current_rss_bytes, peak_rss_bytes
name, vertices = sys.argv[1], int(sys.argv[2])
for batch in make_source(name, vertices=128).batches(1 << 16):
    pass  # compiles the kernels, which is not the generator's data
base = current_rss_bytes()
source = make_source(name, vertices=vertices)
stated = source.memory_bytes
for batch in source.batches(1 << 20):
    pass
print(json.dumps({"peak": peak_rss_bytes() - base, "stated": stated}))
"""
BATCHES_AND_NOISE = 8 << 20


@pytest.mark.parametrize("name,vertices", [
    ("delaunay", 120_000), ("geometric", 1 << 22), ("regular", 1 << 18), ("kronecker", 1 << 18),
])
def test_peak_is_at_most_what_is_stated(name, vertices):
    done = subprocess.run([sys.executable, "-c", MEASURE, name, str(vertices)], capture_output=True,
                          text=True, check=True)
    measured = json.loads(done.stdout)
    assert measured["peak"] <= measured["stated"] + BATCHES_AND_NOISE
    assert measured["peak"] >= measured["stated"] / 2 - BATCHES_AND_NOISE  # no idle exaggeration either
