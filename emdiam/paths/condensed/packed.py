"""Weighted undirected graphs as sorted 64-bit words, one an arc.

An arc (a, b, w) is the uint64 (a, b, w) from the highest bits down. Sorted words are storage order:
by a, then by b. Both directions of every edge are there, no loops, and of parallel edges only the
lightest; so weight is the last word of a sort key and the sort itself finds the lightest. Readers
take arcs in blocks of a fixed number; a row may span several.
Bytes: 8 an arc; 16 a block stay in RAM wherever the arcs are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...jit import inlined, kernel

Keys = npt.NDArray[np.uint64]

BLOCK_ARCS = 1 << 16
_WORD_BITS = 64


@dataclass(frozen=True)
class Packing:
    """How an arc becomes a word. n_vertices : vertices are 0..n_vertices-1. largest_weight : weights
    are 1..largest_weight (a bound will do, but its bits are taken from the vertices).

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
        return max(1, (self.n_vertices - 1).bit_length())

    @property
    def weight_bits(self) -> int:
        return max(1, self.largest_weight.bit_length())

    def pack(self, tails: np.ndarray, heads: np.ndarray, weights: np.ndarray) -> Keys:
        """Both directions of the edges, loops left out, in no particular order: uint64[<= 2 k].

        tails, heads, weights : integers[k]. Raises ValueError for a vertex or a weight that the packing does not hold.
        """
        a, b, w = (np.ascontiguousarray(part, np.int64) for part in (tails, heads, weights))
        keys = np.empty(2 * len(a), np.uint64)
        limits = np.array([self.n_vertices, self.largest_weight], np.int64)
        count = pack_edges(a, b, w, limits, self.id_bits, self.weight_bits, keys)
        if count < 0:
            raise ValueError(f"edge {-1 - count} has a vertex outside 0..{self.n_vertices - 1}"
                             f" or a weight outside 1..{self.largest_weight}")
        return keys[:count]

    def unpack(self, keys: Keys) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(tails, heads, weights) of packed arcs, int64[k] each."""
        ids, weights = np.uint64((1 << self.id_bits) - 1), np.uint64((1 << self.weight_bits) - 1)
        tails = keys >> np.uint64(self.id_bits + self.weight_bits)
        heads = (keys >> np.uint64(self.weight_bits)) & ids
        return tails.astype(np.int64), heads.astype(np.int64), (keys & weights).astype(np.int64)


class WeightedArcs(ABC):
    """The arcs of a weighted graph, read-only, in blocks.

    packing : how arcs are packed. n_arcs : number of arcs (twice that of edges). block_arcs : arcs of
    a block (the last may have fewer). first_vertex : int64[n_blocks + 1], vertex of the first arc of
    each block, then n_vertices. last_vertex : int64[n_blocks], vertex of the last arc of each.
    """

    in_ram: bool

    def __init__(self, packing: Packing, n_arcs: int, block_arcs: int) -> None:
        if block_arcs < 1:
            raise ValueError("a block needs at least one arc")
        self.packing, self.n_arcs, self.block_arcs = packing, n_arcs, block_arcs
        self.first_vertex = np.full(self.n_blocks + 1, packing.n_vertices, np.int64)
        self.last_vertex = np.empty(self.n_blocks, np.int64)

    @property
    def n_vertices(self) -> int:
        return self.packing.n_vertices

    @property
    def n_blocks(self) -> int:
        return -(-self.n_arcs // self.block_arcs)

    @property
    def nbytes(self) -> int:
        return 8 * self.n_arcs

    def arcs_in(self, block: int) -> int:
        return min(self.block_arcs, self.n_arcs - block * self.block_arcs)

    @abstractmethod
    def block(self, block: int) -> Keys:
        """The arcs of a block, not to be changed. Raises OSError if they came back damaged."""

    @abstractmethod
    def read(self, block: int, out: Keys) -> int:
        """Copy a block to the front of `out`; returns the bytes read from disk. Thread-safe. Raises
        OSError if they came back damaged."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the arcs lie in."""

    def __enter__(self) -> WeightedArcs:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class RamArcs(WeightedArcs):
    """Arcs in RAM. keys : uint64[n_arcs], sorted, as this file's head says."""

    in_ram = True

    def __init__(self, keys: Keys, packing: Packing, block_arcs: int = BLOCK_ARCS) -> None:
        super().__init__(packing, len(keys), block_arcs)
        self.keys = keys
        shift = np.uint64(packing.id_bits + packing.weight_bits)
        self.first_vertex[:-1] = keys[::block_arcs] >> shift
        last = np.minimum(np.arange(1, self.n_blocks + 1) * block_arcs, self.n_arcs) - 1
        self.last_vertex[:] = keys[last] >> shift

    @classmethod
    def from_edges(
        cls, packing: Packing, tails: np.ndarray, heads: np.ndarray, weights: np.ndarray, block_arcs: int = BLOCK_ARCS,
    ) -> RamArcs:
        """The graph of these edges (see Packing.pack), sorted in RAM: 16 bytes an arc meanwhile."""
        keys = packing.pack(tails, heads, weights)
        keys.sort()
        return cls(keys[: keep_lightest(keys, packing.weight_bits)].copy(), packing, block_arcs)

    @cached_property
    def offsets(self) -> np.ndarray:
        """int64[n_vertices + 1]: the arcs of v are keys[offsets[v] : offsets[v + 1]]."""
        offsets = np.empty(self.n_vertices + 1, np.int64)
        row_offsets(self.keys, self.packing.id_bits + self.packing.weight_bits, offsets)
        return offsets

    def block(self, block: int) -> Keys:
        """A view of the block."""
        return self.keys[block * self.block_arcs : (block + 1) * self.block_arcs]

    def read(self, block: int, out: Keys) -> int:
        """Copy a block; nothing is read from disk."""
        arcs = self.block(block)
        out[: len(arcs)] = arcs
        return 0

    def close(self) -> None:
        """Nothing to give back."""


def each_block(arcs: WeightedArcs) -> Iterator[Keys]:
    """All blocks in storage order; from disk the next one is read in a thread meanwhile."""
    if arcs.in_ram or arcs.n_blocks < 2:
        for i in range(arcs.n_blocks):
            yield arcs.block(i)
        return
    with ThreadPoolExecutor(1, thread_name_prefix="arcs") as pool:
        ahead = pool.submit(arcs.block, 0)
        for i in range(arcs.n_blocks):
            current = ahead.result()
            if i + 1 < arcs.n_blocks:
                ahead = pool.submit(arcs.block, i + 1)
            yield current


@kernel
def pack_edges(tails, heads, weights, limits, id_bits, weight_bits, keys):
    """Write both directions of every edge that is no loop; returns how many words, or -1 - i if edge i
    is outside `limits` (int64[2]: vertices, largest weight)."""
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
    """Vertex that the arc leaves, int64."""
    return (np.int64(arc) >> (id_bits + weight_bits)) & ((np.int64(1) << id_bits) - 1)


@inlined
def head_of(arc, id_bits, weight_bits):
    """Vertex that the arc enters, int64."""
    return (np.int64(arc) >> weight_bits) & ((np.int64(1) << id_bits) - 1)


@inlined
def weight_of(arc, weight_bits):
    """Weight of the arc, int64."""
    return np.int64(arc) & ((np.int64(1) << weight_bits) - 1)


@kernel
def keep_lightest(keys, weight_bits):
    """Move the lightest of parallel arcs in sorted `keys` to the front; returns how many are left."""
    shift = np.uint64(weight_bits)
    count = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] >> shift != keys[count - 1] >> shift:
            keys[count] = keys[i]
            count += 1
    return count


@kernel
def row_offsets(keys, shift, offsets):
    """offsets[v] = first arc of a vertex >= v; int64[n_vertices + 1]."""
    v = 0
    for i in range(len(keys)):
        tail = np.int64(keys[i] >> np.uint64(shift))
        while v <= tail:
            offsets[v] = i
            v += 1
    while v < len(offsets):
        offsets[v] = len(keys)
        v += 1
