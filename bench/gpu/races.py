"""Races in shared memory that kernels have on purpose, and the report of racecheck without them.

Every one is a table or a count that threads look at without waiting for each other, by accesses that are volatile
or atomic: what they see may be old, and no result depends on it. racecheck cannot know that. It looks at shared
memory alone; the shim of the tests reports all other pairs of unordered accesses in these kernels too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from emdiam.gpu.registry import ENTRIES

_SIEVE = "tables of recent vertices, that may let a repetition pass; one atomic operation decides (bfs_merrill.cu)"
_TIERS = "how full a queue is, looked at before the atomic operation that takes a slot (bfs_luo.cu)"
_TABLE = "a table of hashed vertices, that may let a repetition pass; one atomic operation decides (bfs_4k.cu)"
# Entry -> what races, and why that is no fault.
INTENDED: Mapping[str, str] = {
    "merrill_contract": _SIEVE, "merrill_contract_expand": _SIEVE, "merrill_expand_contract": _SIEVE,
    "luo_level": _TIERS, "luo_levels_block": _TIERS, "luo_levels_grid": _TIERS,
    "bfs4k_virtual_warps": _TABLE, "bfs4k_edge_discover": _TABLE, "bfs4k_hubs": _TABLE, "bfs4k_block": _TABLE,
}
_NAMES = frozenset(entry.entry for entry in ENTRIES)
_RACE = re.compile(r"^=+ *(?:error|warning|info): *race reported", re.IGNORECASE | re.MULTILINE)


def races(report: str) -> tuple[list[str], list[str]]:
    """The races that racecheck reports: those in kernels of INTENDED alone, and all others."""
    starts = [match.start() for match in _RACE.finditer(report)]
    blocks = [re.split(r"\n=+ *(?:\n|$)", report[a:b])[0] for a, b in zip(starts, [*starts[1:], None], strict=False)]
    names = [_NAMES.intersection(re.findall(r"\w+", block)) for block in blocks]
    known = [bool(some) and some <= INTENDED.keys() for some in names]
    return ([block for block, one in zip(blocks, known, strict=True) if one],
            [block for block, one in zip(blocks, known, strict=True) if not one])
