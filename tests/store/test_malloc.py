"""What decoding leaves behind in the heap."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

_DECODE = """
import ctypes, threading
import numpy as np
from emdiam.cli.process import settle_malloc
from emdiam.store.codec import ChunkCodec

class Heap(ctypes.Structure):  # mallinfo2(3)
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]

settle_malloc()
library = ctypes.CDLL(None)
library.mallinfo2.restype = Heap
codec, sizes = ChunkCodec("lz4", np.dtype(np.uint32)), []
ids = np.arange(1 << 16, dtype=np.uint32)
data, out = memoryview(codec.encode(ids)), np.empty_like(ids)

def work():
    for _ in range(64):
        codec.decode(data, out)
        sizes.append(library.mallinfo2().arena)

thread = threading.Thread(target=work)
thread.start()
thread.join()
assert np.array_equal(out, ids)
print(max(sizes) - sizes[1])
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the heap of glibc 2.33 and later is looked at")
def test_blocks_that_are_decoded_leave_no_holes() -> None:
    """Each gets the memory that the one before it had."""
    free = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", _DECODE], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT,
                          env=free)
    assert int(done.stdout) < 1 << 18
