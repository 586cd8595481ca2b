"""What the shim counts of requests for global memory, on kernels whose requests are known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt import runner
from tests.simt.devices import open_device

FILE = runner.HERE / "traffic.cu"
# Entry, blocks, threads a block: loads, stores, atomics, sectors, chain, busiest.
KNOWN = [
    ("copy_words", 2, 64, (4, 4, 0, 4 * 4 * 2, 1, 0)),
    ("gather_words", 1, 64, (2, 2, 0, 2 * 32 + 2 * 4, 1, 0)),
    ("follow_words", 1, 32, (32, 1, 0, 32 + 4, 32, 0)),
    ("follow_in_turn", 1, 32, (61, 1, 0, 61 + 4, 61, 0)),
    ("count_threads", 3, 96, (0, 0, 9, 9, 1, 9)),
    ("take_turns", 2, 64, (10, 4, 0, 10 + 4 * 4, 5, 0)),
]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("entry", "blocks", "threads", "known"), KNOWN, ids=[one[0] for one in KNOWN])
def test_requests_are_counted(seed: int, entry: str, blocks: int, threads: int, known: tuple[int, ...]) -> None:
    device = open_device(f"shim-{seed}")
    traffic = runner.Traffic()
    kernel = device.kernel(FILE, entry)
    words = device.array(np.zeros(blocks * threads * 8, np.uint32))
    out = device.array(np.zeros(blocks * threads, np.uint32))
    barrier = device.array(np.zeros(1, np.uint32))
    arguments = {"count_threads": [device.array(np.zeros(1, np.uint64))], "take_turns": [words, out, barrier]}
    device.traffic = traffic  # type: ignore[attr-defined]
    for _ in range(2):  # a launch adds to what is there
        device.launch(kernel, blocks, threads, arguments.get(entry, [words, out]), shared=4 * threads,
                      cooperative=entry == "take_turns")
        device.synchronize()
    counted = [getattr(traffic, name) for name in ("loads", "stores", "atomics", "sectors", "chain", "busiest")]
    assert counted == [*(2 * number for number in known[:5]), known[5]]
    assert traffic.barriers == (2 if entry == "take_turns" else 0)
    asked = {"copy_words": 2 * 4 * 128, "count_threads": 8 * 288}.get(entry)
    assert asked is None or traffic.bytes == 2 * asked
