"""R-MAT and Graph500's Kronecker graph: n = 2^scale vertices, edge_factor * n pairs; a slot is a pair.

Each pair descends `scale` levels of the adjacency matrix; at each level one of four quadrants is
taken with probabilities a, b, c, 1 - a - b - c. Four levels are drawn at once from an alias table
of 256 outcomes (the idea of Huebschle-Schneider, Sanders 2020), so a pair costs scale / 4 draws.
`rmat` keeps the natural ids, in which hubs have low ids; `kronecker` permutes the ids by a
pseudorandom permutation, as Graph500 asks. Loops and repeated pairs occur, as in Graph500: the
conversion drops and counts them. Memory: 4 KiB. Diameter: no formula.
Chakrabarti, Zhan, Faloutsos 2004; Graph500 specification.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..hashing import draw
from ..jit import kernel
from .alias import alias_table
from .lattice import power_of_two
from .permutation import permute, round_keys
from .source import Facts, GeneratedSource, Ids, Request, required_vertices

LEVELS = 4  # levels per draw: 4^LEVELS outcomes fit the 8 bits of an alias
_S8 = np.uint64(8)
_LOW_8 = np.uint64(255)


class Rmat(GeneratedSource):
    """R-MAT pairs; `permuted` = Graph500's Kronecker graph."""

    def __init__(self, request: Request, facts: Facts, scale: int, permuted: bool) -> None:
        super().__init__(request, facts)
        values = request.values
        a, b, c = values["a"], values["b"], values["c"]
        quadrants = (a, b, c, max(0.0, 1.0 - a - b - c))
        self._key = request.key("quadrants")
        self._scale = scale
        self._first_levels = scale % LEVELS or LEVELS
        self._first_table = alias_table(quadrant_paths(quadrants, self._first_levels))
        self._table = alias_table(quadrant_paths(quadrants, LEVELS))
        self._id_keys = round_keys(request, "ids", scale) if permuted else None

    def _make(self, first: int, stop: int, room: int) -> tuple[Ids, Ids, int]:
        stop = min(stop, first + room)
        src, dst = np.empty(stop - first, np.int64), np.empty(stop - first, np.int64)
        draws = -(-self._scale // LEVELS)
        _rmat_edges(self._key, self._first_table, self._first_levels, self._table, first * draws, draws,
                    (src, dst))
        if self._id_keys is not None:
            _permute_ids(self._id_keys, self._scale, src)
            _permute_ids(self._id_keys, self._scale, dst)
        return src, dst, stop


def quadrant_paths(quadrants: tuple[float, ...], levels: int) -> npt.NDArray[np.float64]:
    """float64[4^levels]: probability of every path of quadrants over `levels` levels.

    Index = row bits << levels | column bits, first level in the highest bit.
    """
    size = 1 << levels
    paths = np.ones((size, size))
    for level in range(levels):
        bits = (np.arange(size) >> level) & 1
        paths *= np.reshape(quadrants, (2, 2))[bits[:, None], bits[None, :]]
    return paths.reshape(-1) / paths.sum()


@kernel
def _rmat_edges(key, first_table, first_levels, table, first_draw, draws, pair):
    """Fill pair = (src, dst) with pairs whose draws are numbered from first_draw, `draws` each."""
    src, dst = pair
    first_size = np.uint64(len(first_table) - 1)
    first_low = np.uint64((1 << first_levels) - 1)
    first_shift = np.uint64(first_levels)
    low, shift = np.uint64((1 << LEVELS) - 1), np.uint64(LEVELS)
    counter = np.uint64(first_draw)
    for i in range(len(src)):
        number = draw(key, counter)
        outcome = number & first_size
        entry = first_table[outcome]
        if (number >> _S8) >= (entry >> _S8):
            outcome = entry & _LOW_8
        u, v = outcome >> first_shift, outcome & first_low
        for k in range(1, draws):
            number = draw(key, counter + np.uint64(k))
            outcome = number & _LOW_8
            entry = table[outcome]
            if (number >> _S8) >= (entry >> _S8):
                outcome = entry & _LOW_8
            u, v = (u << shift) | (outcome >> shift), (v << shift) | (outcome & low)
        src[i], dst[i] = np.int64(u), np.int64(v)
        counter += np.uint64(draws)


@kernel
def _permute_ids(keys, bits, ids):
    n = np.uint64(1) << np.uint64(bits)
    for i in range(len(ids)):
        ids[i] = np.int64(permute(keys, bits, n, np.uint64(ids[i])))


def _rmat(request: Request, permuted: bool) -> Rmat:
    vertices = required_vertices(request, 2)
    scale = power_of_two(vertices, request.graph_class)
    values = request.values
    total = values["a"] + values["b"] + values["c"]
    if total > 1.0 + 1e-12:
        raise InputError("a + b + c exceeds 1", text=f"{total:g}",
                         remedy="the fourth quadrant has probability 1 - a - b - c >= 0")
    pairs = values["edge_factor"] * vertices
    facts = Facts(vertices, pairs, n_entries=pairs, memory_bytes=4096, values=dict(values))
    return Rmat(request, facts, scale, permuted)


def rmat(request: Request) -> Rmat:
    """R-MAT with natural ids."""
    return _rmat(request, permuted=False)


def kronecker(request: Request) -> Rmat:
    """Graph500's Kronecker graph: R-MAT with permuted ids."""
    return _rmat(request, permuted=True)
