"""The layout of a store: names, dtypes, chunk sizes, codecs and the attributes record.

A store is a Zarr v3 group that readers of AnnData (`csr_matrix`) and binsparse (CSR) can open:

    zarr.json    attributes: AnnData's three, a binsparse descriptor, and `emdiam` (StoreRecord)
    indptr       int64[n+1], row offsets
    indices      uint32[m] (uint64 when n >= 2^32 - 1), rows sorted, both directions of every edge
    data         the weights of a weighted store (weights.py), in chunks and shards like indices;
                 without weights uint8[m] of ones, never written (fill value 1, zero bytes on disk)
    pointers_to_1, indices_1, values    binsparse's names of indptr, indices and data: links to
                 them; without weights `values` is an array with a single one
    vertex_id    optional: int64/uint64[n], the user's ids, or for string ids
    vertex_id_offsets int64[n+1] and vertex_id_bytes uint8[...] (UTF-8)
    natural_id   only in a reordered store: id dtype[n], the natural rank of every vertex, that is
                 its position in increasing order of the user's ids; the arrays of ids are in that order
    reverse/     only in a store with directions, whose rows hold the heads of the arcs out of their
                 vertex: a group of indptr, indices and data with the arcs into every vertex

Every array is sharded (index at the end, crc32c on index and chunks). The fill values of indices (the largest id, never
a vertex) and of offsets (-1) are not valid data, so that a missing chunk, which other readers fill in silently, is
noticed.
"""

from __future__ import annotations

import json
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, TypeGuard

import numpy as np

from ..errors import InputError
from ..units import format_count
from .private import blake2b
from .weights import ROUNDED, WeightRecord, data_fill

# 2: the record has shard_digests; without them it is read and written as version 1. 3: it may have weights or
# directions, which older readers would overlook; a store without them is written as version 2. 4: its weights have
# decimals, a name, or 64 bits.
FORMAT_VERSION = 4
WEIGHTED_VERSION = DIRECTED_VERSION = 3
PLAIN_VERSION = 2
CHUNK_IDS = 1 << 16
# Kernels find the chunk of an arc with a shift; buffers of a few chunks are allocated before anything is read.
LEAST_CHUNK_IDS, MOST_CHUNK_IDS = 64, 1 << 24
SHARD_BYTES = 64 << 20
# Keeps the index of a shard at 64 KiB when chunks are small; the default has 256 or 128.
MOST_SHARD_CHUNKS = 1 << 12
MISSING_OFFSET = -1
CODECS = ("lz4", "pcodec", "none")
ID_KINDS = ("identity", "offset", "int", "string")
PARTIAL_SUFFIX = ".partial"
NATURAL = "natural"
REVERSE = "reverse"


def id_dtype(n_vertices: int) -> np.dtype[Any]:
    """dtype of vertex ids: uint32 while the top value stays free for the sentinel."""
    return np.dtype(np.uint32 if n_vertices < 2**32 - 1 else np.uint64)


def shard_chunks(dtype: np.dtype[Any], chunk_ids: int) -> int:
    """Chunks of `chunk_ids` items of dtype in a shard: the number that fits into SHARD_BYTES decoded, at most
    MOST_SHARD_CHUNKS."""
    return max(1, min(MOST_SHARD_CHUNKS, SHARD_BYTES // (dtype.itemsize * chunk_ids)))


def is_chunk_size(chunk_ids: int) -> bool:
    """Whether arrays may have chunks of this number of items: a power of two within bounds."""
    return LEAST_CHUNK_IDS <= chunk_ids <= MOST_CHUNK_IDS and chunk_ids & (chunk_ids - 1) == 0


def check_chunk_ids(chunk_ids: int) -> None:
    """Raise InputError unless is_chunk_size."""
    if not is_chunk_size(chunk_ids):
        raise InputError(f"the chunk size must be a power of two from {LEAST_CHUNK_IDS} to {MOST_CHUNK_IDS}",
                         text=str(chunk_ids))


def sentinel(dtype: np.dtype[Any]) -> int:
    """The id that no vertex has: the largest value of the id dtype."""
    return int(np.iinfo(dtype).max)


def fill_value(name: str, dtype: np.dtype[Any]) -> int | float:
    """The value that pads the array `name` and marks missing chunks: the sentinel in arrays of vertices."""
    name = name.removeprefix(f"{REVERSE}/")
    if name == "data":
        return data_fill(dtype)
    others = {"indptr": MISSING_OFFSET, "vertex_id": 0, "vertex_id_offsets": MISSING_OFFSET, "vertex_id_bytes": 0}
    return others.get(name, sentinel(dtype))


# Fields that are None in stores of format 1 and in stores derived from them.
_ORIGIN = ("pairs_read", "reverse_dropped", "values_dropped")
# Optional fields, None or False if absent; `reading` may be "" in any version.
_EXTRAS = ("weights", "directed", "reverse")


@dataclass
class StoreRecord:
    """The metadata of a store; kept in the group's attributes under "emdiam".

    id_kind : "identity" (ids are 0..n-1), "offset" (ids are first_id..first_id+n-1), "int" or "string" (the ids are in
    the store). ordering : "natural" = increasing user ids; any other order has natural_id.
    chunk_digest : blake2b over the crc32c of every chunk of every array, in order.
    shard_digests : for each array, blake2b over the seals of its shards (codec.py). Compared when a store is opened, so
    that another store's array is noticed; {} in format version 1.
    record_digest : blake2b over all other fields, to notice any change of them.
    pairs_read : pairs in the input: n_edges plus the dropped pairs, which are loops_dropped, duplicates_dropped (in the
    same direction) and reverse_dropped (edges that the input had in both directions, once each). values_dropped :
    counts of other values in the input, such as weights, by name. All three are None in stores of format 1, whose
    duplicates_dropped may include reverse pairs, and in stores derived from them.
    weights : None without weights; weighted stores have format 3 or 4.
    directed : arcs keep their direction, and n_edges is n_arcs. max_degree and n_isolated then describe the rows out,
    and `reverse` has the same two figures of the reverse rows (None without directions).
    reading : how a text or a table was read, in one sentence; "" if its format determines that.
    """

    format_version: int = PLAIN_VERSION
    n_vertices: int = 0
    n_arcs: int = 0
    n_edges: int = 0
    max_degree: int = 0
    n_isolated: int = 0
    directed_input: bool = False
    symmetric: bool = True
    loops_dropped: int = 0
    duplicates_dropped: int = 0
    id_kind: str = "identity"
    first_id: int = 0
    ordering: str = NATURAL
    codec: str = "lz4"
    chunk_ids: int = CHUNK_IDS
    shard_chunks: int = SHARD_BYTES // (4 * CHUNK_IDS)
    source: list[str] = field(default_factory=list)
    source_format: str = ""
    chunk_digest: str = ""
    shard_digests: dict[str, str] = field(default_factory=dict)
    record_digest: str = ""
    complete: bool = False
    pairs_read: int | None = None
    reverse_dropped: int | None = None
    values_dropped: dict[str, int] | None = None
    weights: WeightRecord | None = None
    directed: bool = False
    reverse: dict[str, int] | None = None
    reading: str = ""

    @property
    def weight_name(self) -> str | None:
        """The name of the column or attribute that the weights came from; None if they have no name."""
        return None if self.weights is None else self.weights.name or None

    @property
    def rounded_weights(self) -> dict[str, int]:
        """The number of weights with fewer digits than in the input, as the detail `rounded_weights`; empty if 0."""
        count = (self.values_dropped or {}).get(ROUNDED, 0)
        return {"rounded_weights": count} if count else {}

    @property
    def unread(self) -> str:
        """A sentence about the values in the input other than edges and these weights; "" if there were none."""
        values = [f"{name} ({format_count(n, 'value') if name.startswith('column ') else f'{n:,}'})"
                  for name, n in (self.values_dropped or {}).items() if n and name != ROUNDED]
        why = "numbers of edges" if self.weights is None else "sums of weights"
        return f"dropped, since distances are {why}: {', '.join(values)}" if values else ""

    @property
    def directions(self) -> str | None:
        """How the input listed the edges: "both" directions of each, "one" direction of each, "mixed", or "none" if
        there are no edges; "kept" in a directed store; None if the pairs were not counted."""
        if self.directed:
            return "kept"
        if self.reverse_dropped is None:
            return None
        if not self.n_edges:
            return "none"
        return {0: "one", self.n_edges: "both"}.get(self.reverse_dropped, "mixed")

    def digest(self) -> str:
        """blake2b (32 hex digits) over every field except record_digest."""
        data = {k: v for k, v in self.to_dict().items() if k != "record_digest"}
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return blake2b(text.encode(), digest_size=16).hexdigest()

    def fault(self) -> str | None:
        """A statement that the record of a finished store cannot make, as a clause; None if there is none. The contents
        of arrays are checked when they are read."""
        for name, example in vars(StoreRecord()).items():
            if name in (*_ORIGIN, "weights", "reverse"):
                continue
            value = getattr(self, name)
            parts = value if type(value) is list else value.values() if type(value) is dict else ()
            if type(value) is not type(example) or not all(_is_text(part) for part in parts):
                return f"{name} is {value!a:.80}"
        n, arcs = self.n_vertices, self.n_arcs
        ranges = {
            "n_vertices": (n, 1 << 62), "n_arcs": (arcs, min(1 << 62, n * (n - 1))),
            "n_edges": (self.n_edges, 1 << 61), "max_degree": (self.max_degree, max(0, n - 1)),
            "n_isolated": (self.n_isolated, n), "first_id": (self.first_id, (1 << 64) - n),
            "loops_dropped": (self.loops_dropped, 1 << 64), "duplicates_dropped": (self.duplicates_dropped, 1 << 64),
            "shard_chunks": (self.shard_chunks, MOST_SHARD_CHUNKS),
        }
        for name, (value, limit) in ranges.items():
            if not 0 <= value <= limit:
                return f"{name} is {value} of at most {limit}"
        if self.n_edges * (1 if self.directed else 2) != arcs:
            each = "one" if self.directed else "two"
            return f"{arcs} arcs are not {each} for each of {self.n_edges} edges"
        if self.directed == self.symmetric or self.directed != (self.reverse is not None):
            return f"directed is {self.directed}, symmetric {self.symmetric}, and reverse {self.reverse!a:.80}"
        if self.reverse is not None and not _are_figures(self.reverse, n):
            return f"reverse is {self.reverse!a:.80}"
        if not is_chunk_size(self.chunk_ids):
            return (f"chunks of {self.chunk_ids} ids are not a power of two from {LEAST_CHUNK_IDS} to"
                    f" {MOST_CHUNK_IDS}")
        if not _is_text(self.ordering) or not _is_text(self.source_format):
            return "ordering or source_format cannot be written"
        for name, choices in (("codec", CODECS), ("id_kind", ID_KINDS)):
            if getattr(self, name) not in choices:
                return f"{name} is {getattr(self, name)!r:.80}"
        return _origin_fault(self) or (None if self.weights is None else self.weights.fault(self.n_edges))

    def to_dict(self) -> dict[str, Any]:
        """A plain dict for the attributes."""
        names = _names(self.format_version)
        # The other fields are plain: asdict, which inspects every value, takes longer than a search of a tiny graph.
        present = {name: copy(value) if type(value) in (list, dict) else value for name, value in vars(self).items()
                 if name in names and value is not None}
        if isinstance(self.weights, WeightRecord) and "weights" in present:
            present["weights"] = self.weights.to_dict()
        empty = {*(() if self.directed else ("directed",)), *(() if self.reading else ("reading",))}
        return {name: value for name, value in present.items() if name not in empty}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StoreRecord:
        """The record in `data`, which contains format_version. Raises KeyError for unknown keys and for missing ones
        other than _ORIGIN, and TypeError for invalid weights."""
        names = _names(data["format_version"])
        unknown = sorted(set(data) - names)
        missing = sorted(names - set(data) - set(_ORIGIN) - set(_EXTRAS) - {"reading"})
        if unknown or missing:
            raise KeyError(f"unknown {unknown}, missing {missing}")
        weights = WeightRecord.from_dict(data["weights"]) if "weights" in data else None
        return cls(**{**data, "weights": weights})


def _origin_fault(record: StoreRecord) -> str | None:
    """Like StoreRecord.fault, for the fields in _ORIGIN: either all are absent, or they add up."""
    if all(getattr(record, name) is None for name in _ORIGIN):
        return None
    pairs, reverse, values = record.pairs_read, record.reverse_dropped, record.values_dropped
    if type(values) is not dict or not all(_is_text(name) and _is_count(values[name]) for name in values):
        return f"values_dropped is {values!a:.80}"
    if not _is_count(pairs) or not _is_count(reverse) or reverse > record.n_edges:
        return f"pairs_read is {pairs!a:.80} and reverse_dropped {reverse!a:.80}"
    if pairs != record.n_edges + record.loops_dropped + record.duplicates_dropped + reverse:
        return f"{pairs} pairs are not its edges and the dropped pairs"
    return None


def _are_figures(reverse: Any, n: int) -> bool:
    """Whether `reverse` could be the figures of the reverse rows of n vertices."""
    limits = {"max_degree": max(0, n - 1), "n_isolated": n}
    return type(reverse) is dict and reverse.keys() == limits.keys() and all(
        _is_count(reverse[name]) and reverse[name] <= limit for name, limit in limits.items())


def _is_count(value: Any) -> TypeGuard[int]:
    """Whether the value is an integer from 0 to 2^64 - 1."""
    return type(value) is int and 0 <= value < 1 << 64


def _is_text(value: Any) -> bool:
    """Whether the value is a string that can be encoded."""
    return type(value) is str and not any("\ud800" <= letter <= "\udfff" for letter in value)


@cache
def _names(version: int) -> frozenset[str]:
    """The fields of a record in this format version."""
    later = {*(_EXTRAS if version < 3 else ()), *(("shard_digests", *_ORIGIN) if version < 2 else ())}
    return frozenset(f.name for f in fields(StoreRecord)) - later
