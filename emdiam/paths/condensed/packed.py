"""Arcs of weighted undirected graphs as 64-bit words for sorting.

An arc (a, b, w) is a uint64 with a in the highest bits, then b, then w. Sorted words are in storage order: by a, then
by b. A graph has both directions of every edge, no loops, and only the lightest of parallel edges. Since the weight is
in the lowest bits, the lightest arc of a pair comes first in sorted order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...jit import inlined, kernel

Keys = npt.NDArray[np.uint64]

_WORD_BITS = 64


@dataclass(frozen=True)
class Packing:
    """The layout of a word. n_vertices : vertices are 0..n_vertices-1. largest_weight : weights are 1..largest_weight;
    an upper bound is allowed, but its bits reduce the number of possible vertices.

    Raises InputError if two vertices and a weight need more than 64 bits.
    """

    n_vertices: int
    largest_weight: int

    def __post_init__(self) -> None:
        if self.n_vertices < 0 or self.largest_weight < 0:
            raise ValueError("a packing needs counts that are not negative")
        bits = 2 * self.id_bits + self.weight_bits
        if bits > _WORD_BITS:
            raise InputError(
                f"an arc between {self.n_vertices:,} masters with weights up to {self.largest_weight:,} needs"
                f" 2 x {self.id_bits} + {self.weight_bits} = {bits} bits, {_WORD_BITS} are there",
                remedy="choose fewer masters",
            )

    @property
    def id_bits(self) -> int:
        """Bits of a vertex."""
        return max(1, (self.n_vertices - 1).bit_length())

    @property
    def weight_bits(self) -> int:
        """Bits of a weight."""
        return max(1, self.largest_weight.bit_length())

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of unpacked weights."""
        return np.dtype(np.uint32 if self.weight_bits <= 32 else np.uint64)

    def pack(self, tails: np.ndarray, heads: np.ndarray, weights: np.ndarray) -> Keys:
        """Both directions of the edges without loops, in any order: uint64[<= 2 k].

        tails, heads, weights : integers[k]. Raises ValueError for a vertex or a weight out of range.
        """
        a, b, w = (np.ascontiguousarray(part, np.int64) for part in (tails, heads, weights))
        keys = np.empty(2 * len(a), np.uint64)
        limits = np.array([self.n_vertices, self.largest_weight], np.int64)
        count = pack_edges(a, b, w, limits, self.id_bits, self.weight_bits, keys)
        if count < 0:
            raise ValueError(f"edge {-1 - count} has a vertex outside 0..{self.n_vertices - 1}"
                             f" or a weight outside 1..{self.largest_weight}")
        return keys[:count]


@kernel
def pack_edges(tails, heads, weights, limits, id_bits, weight_bits, keys):
    """Write both directions of every edge except loops; return the number of words, or -1 - i if edge i is out of
    range. limits : int64[2], number of vertices, largest weight."""
    count = 0
    for i in range(len(tails)):
        a = tails[i]
        b = heads[i]
        w = weights[i]
        if a < 0 or b < 0 or a >= limits[0] or b >= limits[0] or w < 1 or w > limits[1]:
            return -1 - i
        if a != b:
            keys[count] = pack_arc(a, b, w, id_bits, weight_bits)
            keys[count + 1] = pack_arc(b, a, w, id_bits, weight_bits)
            count += 2
    return count


@inlined
def pack_arc(a, b, w, id_bits, weight_bits):
    """The word of arc (a, b, w); all int64."""
    return np.uint64((((a << id_bits) | b) << weight_bits) | w)


@inlined
def tail_of(arc, id_bits, weight_bits):
    """The tail of the arc, int64."""
    return (np.int64(arc) >> (id_bits + weight_bits)) & ((np.int64(1) << id_bits) - 1)


@inlined
def head_of(arc, id_bits, weight_bits):
    """The head of the arc, int64."""
    return (np.int64(arc) >> weight_bits) & ((np.int64(1) << id_bits) - 1)


@inlined
def weight_of(arc, weight_bits):
    """The weight of the arc, int64."""
    return np.int64(arc) & ((np.int64(1) << weight_bits) - 1)


@kernel
def keep_lightest(keys, weight_bits):
    """Move the lightest of parallel arcs in sorted `keys` to the front; return their number."""
    shift = np.uint64(weight_bits)
    count = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] >> shift != keys[count - 1] >> shift:
            keys[count] = keys[i]
            count += 1
    return count


@kernel
def unpack(keys, id_bits, weight_bits, degrees, heads, weights):
    """Set heads[i] and weights[i] to the head and weight of keys[i], and degrees[v] (int64[n]) to the degree of v."""
    for i in range(len(keys)):
        degrees[tail_of(keys[i], id_bits, weight_bits)] += 1
        heads[i] = head_of(keys[i], id_bits, weight_bits)
        weights[i] = weight_of(keys[i], weight_bits)
