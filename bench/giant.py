"""A store as the BVGraph that a crawl of its size is published as.

    python -m bench.giant write web.zarr web.graph
    emdiam convert web.graph again.zarr

writes web.graph, its offsets and its properties, with the codes, the window and the intervals that WebGraph takes where
it is told nothing. Rows go through memory a block at a time: about 70 bytes an arc of a block on each thread, where a
block has up to 2^20 arcs, or one longer row.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from emdiam.store.array_reader import read_slice
from emdiam.store.store import Store, open_store
from emdiam.units import available_cores

from . import bvgraph_kernels as bits

_BLOCK_ARCS, _BLOCK_ROWS = 1 << 20, 1 << 17
_EVERY_SECONDS = 10.0
_MIX = np.uint64(0x9E3779B97F4A7C15)


class BitFile:
    """Bits, appended to a file word by word."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.bits, self._open = file, 0, np.uint64(0)

    def append(self, words: Any, n_bits: int) -> None:
        """The first bits of words, uint64[k], whose others are 0."""
        words, used = words[: (n_bits + 63) >> 6], self.bits & 63
        if used:
            moved = np.zeros(len(words) + 1, np.uint64)
            moved[:-1] = words >> np.uint64(used)
            moved[1:] |= words << np.uint64(64 - used)
            moved[0] |= self._open
            words = moved
        whole = (used + n_bits) >> 6
        self._file.write(words[:whole].byteswap().tobytes())
        self._open = words[whole] if (used + n_bits) & 63 else np.uint64(0)
        self.bits += n_bits

    def finish(self) -> None:
        """The last bits, filled up to a byte."""
        self._file.write(self._open.byteswap().tobytes()[: ((self.bits & 63) + 7) >> 3])


@dataclass(frozen=True)
class Block:
    """Rows as bits. words, gaps : of the graph and its offsets, and how many bits of them there are."""

    arcs: int
    words: Any
    n_bits: int
    gaps: Any
    n_gap_bits: int


def blocks_of(store: Store) -> Iterator[tuple[int, Any]]:
    """The first node of each block of rows, and where they begin among all arcs, and end, int64[rows + 1]."""
    for begin in range(0, store.n_vertices, _BLOCK_ROWS):
        starts = read_slice(store.indptr, begin, min(begin + _BLOCK_ROWS, store.n_vertices) + 1)
        row = 0
        while row < len(starts) - 1:
            stop = int(np.searchsorted(starts, starts[row] + _BLOCK_ARCS, "right")) - 1
            stop = min(max(stop, row + 1), len(starts) - 1)
            yield begin + row, starts[row : stop + 1]
            row = stop


def crawled(v: int, starts: Any, ids: Any, both: float) -> tuple[Any, Any]:
    """Starts and ids of the same rows with every edge in one of its rows alone, by chance, or with this chance in
    both."""
    rows = np.repeat(np.arange(v, v + len(starts) - 1), np.diff(starts))
    mixed = (np.minimum(rows, ids).astype(np.uint64) * _MIX ^ np.maximum(rows, ids).astype(np.uint64)) * _MIX
    mixed = (mixed ^ mixed >> np.uint64(29)) * _MIX
    keeps = (mixed >> np.uint64(63) == 1) == (rows <= ids)
    keeps |= (mixed >> np.uint64(23) & np.uint64((1 << 40) - 1)) < both * 2.0**40
    return np.concatenate([[0], np.cumsum(keeps)])[starts], ids[keeps]


def encoded(store: Store, v: int, starts: Any, both: float) -> Block:
    """The rows from node v on as bits."""
    ids = read_slice(store.indices, int(starts[0]), int(starts[-1])).astype(np.int64)
    starts = starts - starts[0]
    if both < 1:
        starts, ids = crawled(v, starts, ids, both)
    longest = 2 * (2 * store.n_vertices + 2).bit_length()  # bits of a code
    words = np.zeros(((2 * len(ids) + 4 * len(starts)) * longest >> 6) + 2, np.uint64)
    spare = np.empty((4, int(np.diff(starts).max()) + 1), np.int64)
    lengths = np.empty(len(starts) - 1, np.int64)
    n_bits = bits.encode_rows(ids, starts, v, words, lengths, spare)
    gaps = np.zeros(2 * len(lengths) + 2, np.uint64)
    n_gap_bits = bits.encode_gaps(lengths, gaps)
    return Block(len(ids), words[: (n_bits >> 6) + 1].copy(), n_bits, gaps, n_gap_bits)


def all_encoded(store: Store, threads: int, both: float) -> Iterator[Block]:
    """The blocks of a store in order, each by one of the threads."""
    waiting: deque[Future[Block]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for v, starts in blocks_of(store):
            waiting.append(pool.submit(encoded, store, v, starts, both))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def write_bvgraph(source: Path, target: Path, threads: int, both: float = 1.0) -> tuple[int, int]:
    """Write a store as target, .offsets and, last, .properties; returns its arcs and their bits. both : share of
    the edges that are arcs in both directions."""
    arcs, begun = 0, time.monotonic()
    due = begun + _EVERY_SECONDS
    with (open_store(source, directed=None) as store, open(target, "wb") as graph,
          open(target.with_suffix(".offsets"), "wb") as offsets):
        rows, places = BitFile(graph), BitFile(offsets)
        places.append(np.array([1 << 63], np.uint64), 1)  # the offset of the first row, 0
        for block in all_encoded(store, threads, both):
            rows.append(block.words, block.n_bits)
            places.append(block.gaps, block.n_gap_bits)
            arcs += block.arcs
            if time.monotonic() > due:
                due += _EVERY_SECONDS
                print(f"{arcs:,} arcs, {arcs / (time.monotonic() - begun):,.0f} a second", file=sys.stderr, flush=True)
        rows.finish()
        places.finish()
    target.with_suffix(".properties").write_text("".join(f"{name}={value}\n" for name, value in {
        "graphclass": "it.unimi.dsi.webgraph.BVGraph", "version": 0, "nodes": store.n_vertices, "arcs": arcs,
        "windowsize": bits.WINDOW, "maxrefcount": bits.CHAIN, "minintervallength": bits.LEAST_INTERVAL,
        "zetak": bits.ZETA, "compressionflags": "", "bitsperlink": round(rows.bits / max(1, arcs), 3)}.items()))
    return arcs, rows.bits


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.giant", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    write = commands.add_parser("write", help="a store as a BVGraph")
    write.add_argument("store", type=Path)
    write.add_argument("target", type=Path, help="NAME.graph")
    write.add_argument("--threads", type=int, default=available_cores())
    write.add_argument("--both", type=float, default=1.0, metavar="SHARE",
                       help="of the edges that are arcs in both directions; others are one, by chance (default: 1)")
    chosen = parser.parse_args(words)
    begun = time.monotonic()
    arcs, n_bits = write_bvgraph(chosen.store, chosen.target, chosen.threads, chosen.both)
    seconds = time.monotonic() - begun
    print(f"{arcs:,} arcs, {n_bits / max(1, arcs):.2f} bits each; {seconds:.1f} s, {arcs / seconds:,.0f} arcs a second")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
