"""R-MAT and Graph500's Kronecker graph: n = 2^scale vertices, edge_factor * n pairs; a slot is a pair.

Each pair descends `scale` levels of the adjacency matrix; at each level it takes one of four quadrants, with
probabilities a, b, c, 1 - a - b - c. Four levels are drawn at once from an alias table of 256 outcomes (the idea of
Huebschle-Schneider, Sanders 2020), so a pair costs scale / 4 draws. `rmat` keeps the natural ids, in which hubs have
low ids; `kronecker` permutes the ids pseudorandomly, as Graph500 requires. Loops and repeated pairs occur, as in
Graph500; the conversion drops and counts them. Memory: 4 KiB. Diameter: no formula. Chakrabarti, Zhan, Faloutsos 2004;
Graph500 specification.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..hashing import draw
from ..jit import kernel
from .lattice import power_of_two
from .permutation import Numbering
from .source import EdgeSlots, Ids, Request, required_vertices

LEVELS = 4  # levels per draw: 4^LEVELS outcomes fit the 8 bits of an alias
_FULL = 1 << 56
_S8 = np.uint64(8)
_LOW_8 = np.uint64(255)


def alias_table(probabilities: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    """Packed alias table (Walker 1977, Vose 1991) of at most 256 outcomes, a power of two: a draw in constant time.

    probabilities : float64[k], sum 1.
    Returns uint64[k]: entry i contains a threshold (upper 56 bits) and an alias (low 8 bits). With a uniform uint64
    number r and i = r mod k the outcome is i if (r >> 8) < threshold, else alias.
    """
    k = len(probabilities)
    share = [float(p) * k for p in probabilities]
    small = [i for i in range(k) if share[i] < 1.0]
    large = [i for i in range(k) if share[i] >= 1.0]
    table = [((_FULL - 1) << 8) | i for i in range(k)]  # full: the alias is the outcome itself
    while small and large:
        low, high = small.pop(), large[-1]
        table[low] = (min(int(share[low] * _FULL), _FULL - 1) << 8) | high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            small.append(large.pop())
    return np.array(table, dtype=np.uint64)


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
    """Fill pair = (src, dst) with pairs that take `draws` draws each, numbered from first_draw."""
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


def rmat(request: Request) -> EdgeSlots:
    """R-MAT with natural ids, or Graph500's Kronecker graph with permuted ids, by the class."""
    vertices, values = required_vertices(request, 2), request.values
    scale = power_of_two(vertices, request.graph_class)
    a, b, c = values["a"], values["b"], values["c"]
    if a + b + c > 1.0 + 1e-12:
        raise InputError("a + b + c exceeds 1", text=f"{a + b + c:g}",
                         remedy="the fourth quadrant has probability 1 - a - b - c >= 0")
    quadrants = a, b, c, max(0.0, 1.0 - a - b - c)
    key, draws, first_levels = request.key("quadrants"), -(-scale // LEVELS), scale % LEVELS or LEVELS
    first_table, table = (alias_table(quadrant_paths(quadrants, levels)) for levels in (first_levels, LEVELS))
    numbering = Numbering(request, vertices, permuted=request.graph_class == "kronecker")

    def fill(first: int, src: Ids, dst: Ids) -> None:
        _rmat_edges(key, first_table, first_levels, table, first * draws, draws, (src, dst))
        numbering.apply(src, dst)

    return EdgeSlots(request, vertices, values["edge_factor"] * vertices, fill, memory_bytes=4096,
                     values=dict(values))
