"""The ids of a generated graph: as its class numbers the vertices (natural), or permuted (random).

A random layout keeps the order of rows on disk from revealing the structure (Ajwani, Beckmann,
Meyer, Veith 2012, section 4, "Graph classes", of their synthetic graphs). The permutation is a
Feistel network: no table, no memory beyond its keys.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .permutation import permutation_bits, permute, round_keys
from .source import Ids, Request


class Numbering:
    """From natural ids 0..n-1 to the ids of the graph.

    request : its value "layout" is "natural" (ids stay) or "random" (permuted by the seed).
    n : number of vertices, at least 1.
    """

    def __init__(self, request: Request, n: int) -> None:
        self._n = np.uint64(n)
        self._bits = permutation_bits(n)
        self._keys = round_keys(request, "ids", self._bits) if request.values["layout"] == "random" else None

    def apply(self, ids: Ids) -> None:
        """Replace natural ids int64[k] by those of the graph, in place."""
        if self._keys is not None:
            _permute_ids(self._keys, self._bits, self._n, ids)

    def id_of(self, vertex: int) -> int:
        """The id in the graph of the vertex whose natural id is `vertex`."""
        ids = np.array([vertex], np.int64)
        self.apply(ids)
        return int(ids[0])


@kernel
def _permute_ids(keys, bits, n, ids):
    for i in range(len(ids)):
        ids[i] = np.int64(permute(keys, bits, n, np.uint64(ids[i])))
