"""Collects arcs in any order and makes a weighted graph of them, sorted out of core, with the lightest parallel arcs.

It uses the external sort of conversions (sorting/sort.py). The weight is in the lowest bits, so the lightest arc of a
pair comes first in sorted order. The thread that merges a piece drops the other arcs of a pair, and duplicates across
pieces are dropped where pieces are joined. Passes: one write and one read of the runs, and more only with very many
runs. Source: the sort of the condensed graph in Ajwani, Beckmann, Meyer, Veith (2012), section 3.

A condensed graph on disk has its arcs in blocks of an unlinked scratch file: heads, then weights, each with a checksum.
Blocks are not compressed, so any thread reads a block directly into its place in the arena, at the speed of the disk.
Bytes: 8 an arc on disk (12 for weights of more than 32 bits); in RAM 1.2 a vertex and 28 a block, and 8 a vertex more
during writing.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from threading import Lock
from typing import ClassVar, cast

import numpy as np

from ...compression import crc32c
from ...errors import BudgetError
from ...sorting.plan import SortPlan
from ...sorting.scratch import Scratch, ScratchFile
from ...sorting.sort import KeySorter, RunSet, SortContext, SortStats, fewer_runs, merged
from ...stream.offsets import build_offsets, following_starts
from ...units import format_size
from ..arcs import ArcsOnDisk
from ..blocks import ArcBlocks
from ..paths import SearchOptions
from ..rows import Piece, WeightedRows
from .packed import Keys, Packing, keep_lightest, unpack

BLOCK_ARCS = 1 << 16


class ScratchBlocks(ArcBlocks):
    """Arcs in a scratch file, which BlockWriter writes and `close` removes. checksums : uint32[n_blocks]."""

    name: ClassVar[str] = "the condensed graph"
    share, frugal, ahead = 16, 3, 1

    def __init__(self, file: ScratchFile, packing: Packing, offsets: np.ndarray, block_arcs: int, checksums: np.ndarray,
                 total_weight: int) -> None:
        n_arcs, begins = int(offsets[-1]), np.arange(len(checksums)) * block_arcs
        first_vertex = np.append(np.searchsorted(offsets, begins, side="right") - 1, packing.n_vertices)
        super().__init__(packing.n_vertices, n_arcs, block_arcs, build_offsets(packing.n_vertices, iter([offsets])),
                         first_vertex)
        self._weigh(np.dtype(np.uint32), packing.weight_dtype, (1, packing.largest_weight),
                    total_weight / max(1, n_arcs))
        self._file, self._checksums = file, checksums

    @property
    def nbytes(self) -> int:
        """Bytes of heads and weights."""
        return self.arc_bytes * self.n_arcs

    def read(self, block: int, slot: int, arena: tuple[np.ndarray, ...]) -> int:
        """See ArcBlocks."""
        begin, used = self.arc_bytes * block * self.block_arcs, self.arcs_in(block)
        heads, costs = arena[0][slot, :used], arena[1][slot, :used]
        self._file.read_array(begin, heads)
        self._file.read_array(begin + heads.nbytes, costs)
        if crc32c(costs.data, crc32c(heads.data)) != self._checksums[block]:
            raise OSError(f"block {block} of the weighted arcs came back with a wrong checksum: the disk is faulty")
        return heads.nbytes + costs.nbytes

    def pieces(self) -> Iterator[Piece]:
        """All arcs, block by block; a thread reads the next block meanwhile. Raises OSError for a damaged block."""
        with closing(ArcsOnDisk(self, 2 * self.arc_bytes * self.block_arcs, SearchOptions())) as arcs:
            yield from arcs.pieces()

    def load(self) -> WeightedRows:
        """The arcs, read into RAM. The file stays."""
        offsets = np.empty(self.n_vertices + 1, np.int64)
        following_starts(*self._offsets, 0, offsets)
        heads, weights = (np.empty(self.n_arcs, dtype) for dtype in self._dtypes)
        for block, piece in enumerate(self.pieces()):
            part = slice(block * self.block_arcs, block * self.block_arcs + self.arcs_in(block))
            heads[part], weights[part] = piece.heads[: self.arcs_in(block)], piece.costs[: self.arcs_in(block)]
        return WeightedRows(offsets, heads, weights)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


class BlockWriter:
    """Writes sorted words, in pieces, as ScratchBlocks. file : an empty scratch file without other writers."""

    def __init__(self, file: ScratchFile, packing: Packing, block_arcs: int = BLOCK_ARCS) -> None:
        self._file, self._packing = file, packing
        self._heads, self._weights = np.empty(block_arcs, np.uint32), np.empty(block_arcs, packing.weight_dtype)
        self._offsets, self._checksums = np.zeros(packing.n_vertices + 1, np.int64), array("I")
        self._used = self._total_weight = 0

    def add(self, keys: Keys) -> None:
        """Append sorted arcs, all greater than earlier ones. Raises BudgetError if the disk is full."""
        while len(keys):
            part = keys[: len(self._heads) - self._used]
            unpack(part, self._packing.id_bits, self._packing.weight_bits, self._offsets[1:],
                   self._heads[self._used :], self._weights[self._used :])
            self._used += len(part)
            keys = keys[len(part) :]
            if self._used == len(self._heads):
                self._flush()

    def close(self) -> ScratchBlocks:
        """Write the remaining arcs; return the blocks."""
        if self._used:
            self._flush()
        return ScratchBlocks(self._file, self._packing, np.cumsum(self._offsets, out=self._offsets), len(self._heads),
                             np.array(self._checksums, np.uint32), self._total_weight)

    def _flush(self) -> None:
        heads, weights = self._heads[: self._used], self._weights[: self._used]
        self._checksums.append(crc32c(weights.data, crc32c(heads.data)))
        self._total_weight += int(weights.sum(dtype=np.uint64))
        self._file.append(heads)
        self._file.append(weights)
        self._used = 0


# Buffers of a thread that writes or reads a run: two encoded blocks of 1 MiB, 4 MiB read at once.
_THREAD_BYTES = 8 << 20
_LEAST_WORK_BYTES = 8 << 20
# Bytes a key of a range in flight: the key and its output copy.
_RANGE_BYTES = 16
_USUAL_FAN_IN = 128
Chosen = Callable[[Keys], int]
CondensedArcs = WeightedRows | ScratchBlocks


class ArcCollector:
    """Takes packed arcs from any number of threads and makes a weighted graph of them.

    Parameters
    ----------
    packing : of the arcs. Both directions of an edge must come; duplicates and heavier parallel arcs may.
    memory_bytes : memory limit until the graph is made; see `finish`. Raises BudgetError if it is too small.
    scratch : place of the runs, and of the graph if it is on disk.
    threads : number of threads that sort and merge.
    block_arcs : arcs of a block on disk.
    """

    def __init__(
        self, packing: Packing, memory_bytes: int, scratch: Scratch, threads: int = 2, *, block_arcs: int = BLOCK_ARCS
    ) -> None:
        self.packing, self._scratch, self._block_arcs = packing, scratch, block_arcs
        plan = plan_collector(memory_bytes - 8 * block_arcs, threads)
        self._context = SortContext(plan, scratch, threads)
        self._sorter = KeySorter(self._context)
        self._lock = Lock()
        self._chosen: Chosen | None = None
        self.n_pushed = 0

    @property
    def stats(self) -> SortStats:
        """Runs and merge passes so far."""
        return self._context.stats

    def push(self, keys: Keys) -> None:
        """Add packed arcs, uint64[k], in any order; copies them. Raises BudgetError if the disk is full."""
        with self._lock:
            self._sorter.add(keys)
            self.n_pushed += len(keys)

    def finish(self, most_ram_bytes: int, chosen: Chosen | None = None) -> CondensedArcs:
        """The graph: in RAM if its arcs take at most `most_ram_bytes` (in addition to memory_bytes), else on disk.
        chosen : a filter that moves arcs to keep to the front of sorted arcs and returns their number. The collector
        accepts no further arcs. Raises BudgetError if the disk is full."""
        self._chosen = chosen
        try:
            runs = fewer_runs(self._sorter.finish(), self._context)
        except BaseException:
            self.abort()
            raise
        try:
            if (4 + self.packing.weight_dtype.itemsize) * runs.n_keys <= most_ram_bytes:
                return self._gather(runs)
            arcs = self._write(runs)
        finally:
            runs.close()
        if arcs.nbytes > most_ram_bytes:
            return arcs
        with closing(arcs):
            return arcs.load()

    def abort(self) -> None:
        """Stop and drop everything; call it instead of `finish`."""
        self._sorter.abort()

    def _gather(self, runs: RunSet) -> WeightedRows:
        """All arcs as rows. Unused pages of the arrays are never touched."""
        packing, used = self.packing, 0
        offsets = np.zeros(packing.n_vertices + 1, np.int64)
        heads, weights = np.empty(runs.n_keys, np.uint32), np.empty(runs.n_keys, packing.weight_dtype)
        with closing(self._pieces(runs)) as pieces:
            for piece in pieces:
                unpack(piece, packing.id_bits, packing.weight_bits, offsets[1:], heads[used:], weights[used:])
                used += len(piece)
        for values in heads, weights:
            values.resize(used, refcheck=False)
        return WeightedRows(np.cumsum(offsets, out=offsets), heads, weights)

    def _write(self, runs: RunSet) -> ScratchBlocks:
        """All arcs on disk."""
        file = self._scratch.file()
        writer = BlockWriter(file, self.packing, self._block_arcs)
        try:
            with closing(self._pieces(runs)) as pieces:
                for piece in pieces:
                    writer.add(piece)
            return writer.close()
        except BaseException:
            file.close()
            raise

    def _pieces(self, runs: RunSet) -> Generator[Keys, None, None]:
        """The arcs in order, only the lightest one of each pair."""
        bits = self.packing.weight_bits
        last = None

        def lightest(keys: Keys) -> Keys:
            if self._chosen is not None:
                keys = keys[: self._chosen(keys)]
            return keys[: keep_lightest(keys, bits)].copy()

        ranges = cast("Generator[Keys, None, None]", merged(runs, self._context, lightest))
        with closing(ranges) as pieces:
            for piece in pieces:
                if not len(piece):
                    continue
                # If a pair spans two pieces, its lightest arc was in the earlier piece.
                fresh = piece[1:] if int(piece[0]) >> bits == last else piece
                last = int(piece[-1]) >> bits
                yield fresh


def plan_collector(memory_bytes: int, threads: int) -> SortPlan:
    """Buffer sizes for a limit of `memory_bytes`. Raises BudgetError with the least sufficient limit.

    Collecting: one half for sort buffers. Merging: a quarter for key ranges in flight while runs are in RAM, three
    quarters after the sort buffers are freed. A sixteenth for indexes of the runs.
    """
    fixed = (threads + 1) * _THREAD_BYTES
    work = memory_bytes - fixed
    if work < _LEAST_WORK_BYTES:
        raise BudgetError(
            f"{format_size(max(0, memory_bytes))} of memory cannot sort the condensed graph",
            remedy=f"leave at least {format_size(fixed + _LEAST_WORK_BYTES)} for it",
        )
    n_buffers, n_ranges = threads + 2, threads + 1
    run_keys = work // 2 // (8 * n_buffers)
    alone = work * 3 // 4 // (n_ranges * _RANGE_BYTES)
    block_keys = 1 << min(13, max(10, (alone // _USUAL_FAN_IN // 3).bit_length() - 1))
    return SortPlan(
        memory_bytes=memory_bytes, planned_bytes=memory_bytes, run_keys=run_keys,
        least_run_keys=min(run_keys, 1 << 21), n_buffers=n_buffers, block_keys=block_keys, n_ranges=n_ranges,
        merge_keys=work // 4 // (n_ranges * _RANGE_BYTES), merge_keys_alone=alone, index_bytes=work // 16,
    )
