"""Base classes of generated sources: slots, batches and the facts known beforehand.

A generator numbers its work in *slots* (an edge, a vertex, a triangle). The pairs of a slot depend only on (class,
parameters, seed, slot). So any batch size, and any division of the slots among threads, gives the same pairs in the
same order.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..formats.source import EdgeBatch, SourceInfo, WithoutFile, pairs_per_batch
from ..formats.weights import FLOAT64, LARGEST_WHOLE, WHOLE
from ..hashing import mix64

Ids = npt.NDArray[np.int64]
MAX_SLOTS = 1 << 62


@dataclass(frozen=True)
class Request:
    """A checked request for a graph.

    vertices : None only if the class allows it. seed : 0 <= seed < 2^64.
    values : every parameter of the class, or its default; None: to be derived.
    """

    graph_class: str
    vertices: int | None
    seed: int
    values: Mapping[str, Any] = field(default_factory=dict)

    def key(self, stream: str) -> np.uint64:
        """A 64-bit hash key for one stream of random numbers of this class and seed."""
        text = f"{self.graph_class}/{stream}/{self.seed}".encode()
        return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


@dataclass(frozen=True)
class GeneratorFacts:
    """The facts that a generator knows before its first edge.

    n_slots : number of slots; None if unknown before the preparation.
    edges_per_slot : largest number of pairs of a slot. n_entries : total number of pairs, None if unknown.
    known_diameter : in edges, from a formula; None without a formula.
    memory_bytes : peak memory beyond the batches, including the preparation.
    listing_bytes : the part of it that is used only while edges are listed.
    """

    n_vertices: int
    n_slots: int | None
    edges_per_slot: int = 1
    n_entries: int | None = None
    known_diameter: int | None = None
    memory_bytes: int = 0
    listing_bytes: int = 0
    values: Mapping[str, Any] = field(default_factory=dict)


class GeneratedSource(WithoutFile, ABC):
    """A seeded stream of undirected edges over the ids 0..n_vertices-1 (an EdgeSource).

    Attributes
    ----------
    name : e.g. "rmat(vertices=1024, a=0.57, b=0.19, c=0.19, edge_factor=16, seed=0)".
    description : the same as a sentence with the counts. n_vertices : number of vertices.
    known_diameter : diameter in edges from a formula, or None without a formula.
    memory_bytes : peak memory of the generator beyond its batches, bytes; after the preparation, only the part that is
        not yet allocated (the rest is already in the process's resident set).
    """

    slot_unit: ClassVar[str] = "vertices"  # for classes whose number of edges is unknown beforehand

    def __init__(self, request: Request, facts: GeneratorFacts) -> None:
        if max(facts.n_vertices, facts.n_slots or 0, facts.n_entries or 0) > MAX_SLOTS:
            raise InputError(f"the graph {request.graph_class} would have more than 2^62 vertices or edges",
                             remedy="ask for fewer")
        values = {"vertices": facts.n_vertices, **facts.values, "seed": request.seed}
        self.name = request.graph_class + "(" + ", ".join(f"{k}={v}" for k, v in values.items()) + ")"
        self.graph_class, self.n_vertices = request.graph_class, facts.n_vertices
        self.known_diameter, self.memory_bytes = facts.known_diameter, facts.memory_bytes
        self._listing_bytes, self._n_entries = facts.listing_bytes, facts.n_entries
        self._n_slots, self._edges_per_slot = facts.n_slots, facts.edges_per_slot
        self.slots_done = 0  # slots of the batches so far, if these start at the first slot
        self._weights: UniformWeights | None = None
        self._prepared = False
        self._lock = threading.Lock()

    def weigh(self, weights: UniformWeights) -> None:
        """Give the edges weights."""
        self._weights = weights
        self.name = f"{self.name[:-1]}, weights={weights.text})"

    @property
    def description(self) -> str:
        """One sentence: class, parameters, number of pairs, and the diameter if known."""
        pairs = "an unknown number of" if self._n_entries is None else str(self._n_entries)
        known = "" if self.known_diameter is None else f", diameter {self.known_diameter}"
        return f"generated {self.name}: {self.n_vertices} vertices, {pairs} pairs{known}"

    @property
    def n_slots(self) -> int:
        """Number of slots; prepares the generator if it is unknown before."""
        self.prepare()
        assert self._n_slots is not None
        return self._n_slots

    def info(self) -> SourceInfo:
        """Declared facts: n_vertices, first id 0, undirected, n_entries if known."""
        return SourceInfo(n_vertices=self.n_vertices, first_id=0, n_entries=self._n_entries, directed=False,
                          id_kind="int", size_bytes=None, format=f"generated {self.graph_class}",
                          weights="" if self._weights is None else self._weights.kind)

    def prepare(self) -> None:
        """Do the work before the first edge, once: tables, repairs, triangulation, compilation."""
        with self._lock:
            if not self._prepared:
                self._build()
                if self._n_slots:
                    next(self._pairs(0, 1, 1), None)  # compiles the kernels before the work
                self._prepared = True
                self.memory_bytes = self._listing_bytes

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """All pairs, int64, in batches of at most `batch_bytes` (at least one pair each)."""
        yield from self.edges(0, self.n_slots, pairs_per_batch(batch_bytes))

    def edges(self, first_slot: int, stop_slot: int, batch_edges: int) -> Iterator[EdgeBatch]:
        """Pairs of the slots [first_slot, stop_slot), at most `batch_edges` per batch.

        Disjoint ranges may be read by several threads at once.
        """
        self.prepare()
        for src, dst in self._pairs(first_slot, stop_slot, batch_edges):
            for start in range(0, len(src), batch_edges):
                ends = src[start : start + batch_edges], dst[start : start + batch_edges]
                yield EdgeBatch(*ends, None if self._weights is None else self._weights.of(*ends))

    def _build(self) -> None:
        """The preparation; nothing by default."""
        return None

    @abstractmethod
    def _pairs(self, first_slot: int, stop_slot: int, batch_edges: int) -> Iterator[tuple[Ids, Ids]]:
        """Pairs of these slots, about `batch_edges` at a time, or all pairs of one slot."""


class SlotSource(GeneratedSource):
    """A source whose slots yield few pairs each."""

    def _pairs(self, first_slot: int, stop_slot: int, batch_edges: int) -> Iterator[tuple[Ids, Ids]]:
        capacity = max(batch_edges, self._edges_per_slot)
        slot = first_slot
        while slot < stop_slot:
            room = min(capacity, (stop_slot - slot) * self._edges_per_slot)
            src, dst = np.empty(room, np.int64), np.empty(room, np.int64)
            slot, count = self._make(slot, stop_slot, src, dst)
            self.slots_done = slot
            yield src[:count], dst[:count]

    @abstractmethod
    def _make(self, first: int, stop: int, src: Ids, dst: Ids) -> tuple[int, int]:
        """Write the pairs of the slots [first, next) to src and dst; return (next, number of pairs), next > first.

        The arrays have room for at least edges_per_slot pairs, or for all slots of the range.
        """


class EdgeSlots(SlotSource):
    """A source whose slots are the edges 0 .. n_edges - 1, each listed.

    fill : called with (first, src, dst), writes the edges first, first + 1, ... to int64[k] src and dst.
    facts : further fields of GeneratorFacts.
    """

    def __init__(self, request: Request, n_vertices: int, n_edges: int, fill: Callable[[int, Ids, Ids], None],
                 **facts: Any) -> None:
        super().__init__(request, GeneratorFacts(n_vertices, n_edges, n_entries=n_edges, **facts))
        self._fill = fill

    def _make(self, first: int, stop: int, src: Ids, dst: Ids) -> tuple[int, int]:
        count = min(stop - first, len(src))
        self._fill(first, src[:count], dst[:count])
        return first + count, count


def required_vertices(request: Request, least: int = 1) -> int:
    """The number of vertices of a request, at least `least`; raises InputError."""
    vertices = request.vertices
    if vertices is None or vertices < least:
        raise InputError(f"a {request.graph_class} graph needs at least {least:,} vertices",
                         text=str(vertices), remedy=f"ask for {least:,} or more (--vertices)")
    return vertices


_UNIFORM = re.compile(r"uniform:([^,]+),([^,]+)")
_UNIT = 2.0**-53  # turns 53 random bits into a number from 0 to 1


@dataclass(frozen=True)
class UniformWeights:
    """Uniform weights from low to high: integers, or floats if `kind` is "float64". Both directions of an edge have the
    same weight. text : of the request. key : of the hash of edges.

    Integers are the hash modulo their number, which is uniform up to 2^-32.
    """

    text: str
    low: float
    high: float
    kind: str
    key: np.uint64

    def of(self, src: npt.NDArray[Any], dst: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """The weights of pairs, float64[k]. src, dst : int64[k]."""
        low, high = (end(src, dst).astype(np.uint64) for end in (np.minimum, np.maximum))
        bits = mix64(mix64(low ^ self.key) ^ high)
        if self.kind == WHOLE:
            return (bits % np.uint64(self.high - self.low + 1)).astype(np.float64) + self.low
        return self.low + (self.high - self.low) * ((bits >> np.uint64(11)).astype(np.float64) * _UNIT)


def parse_weights(text: str, key: np.uint64) -> UniformWeights:
    """The weights for the text "uniform:LOW,HIGH"; integers unless a bound has a point. Raises InputError."""
    ends = _UNIFORM.fullmatch(text.strip())
    try:
        low, high = map(float, ends.groups() if ends else ())
    except ValueError:
        raise InputError("no distribution of weights", text=text,
                         remedy="write it like uniform:1,100, or uniform:0.5,1.0 for floats") from None
    assert ends is not None
    whole = all(re.fullmatch(r"\s*\d+\s*", end) for end in ends.groups())
    if not (math.isfinite(high) and 0 <= low <= high) or (whole and high > LARGEST_WHOLE):
        raise InputError(f"weights are from 0 up, whole ones to {LARGEST_WHOLE}, the lower bound first", text=text)
    return UniformWeights(text.strip(), low, high, WHOLE if whole else FLOAT64, key)
