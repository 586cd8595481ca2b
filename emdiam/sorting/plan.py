"""The memory plan of a conversion: the use of the budget, and the buffer sizes.

`memory` is the peak RSS of the process. The process's memory at the start of the conversion is measured; input buffers,
the store writer and a margin (library pages that are touched later, thread stacks, malloc's slack) are subtracted; the
rest, `work`, is divided:

    reading      sort buffers, one half; a bitmap of the ids seen, a quarter (ids not declared)
    merging      the buffers of the key ranges in flight: a quarter beside runs that stay in RAM,
                 two thirds once the sort buffers are freed
    relabelling  a piece of the table of ids, one half; endpoints being joined, an eighth; sort
                 buffers, a quarter
    strings      a run of strings while it is sorted, one half
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import BudgetError
from ..units import BASE_JITTER, format_size
from .runs import INDEX_BYTES

MARGIN_BYTES = 40 << 20
LEAST_WORK_BYTES = 16 << 20
_LEAST_BATCH_BYTES = 256 << 10
_MOST_BATCH_BYTES = 8 << 20
_BATCHES_IN_BUDGET = 128
_BATCH_COPIES = 5
_PARSER_BYTES = 12 << 20
# Runs that one merge should manage: with smaller blocks there can be more runs, but they compress a little less.
_USUAL_FAN_IN = 128

# Bytes per key of a range in flight: the key, its id (8 at most), its row and count in the worst case; and if a number
# follows, that number, the memory to sort it, and the weight made from it.
RANGE_BYTES, FOLLOWED_RANGE_BYTES = 40, 80
# Bytes per key of a run: the key; with the following number and the memory to sort both.
KEY_BYTES, FOLLOWED_KEY_BYTES = 8, 32
# Bytes per key without a following number while a run is sorted.
SORT_BYTES = 4
# Bytes per entry of the table of ids while a piece of it is sorted, and per endpoint of a block being joined.
TABLE_BYTES = 24
JOIN_BYTES, FOLLOWED_JOIN_BYTES = 48, 56
# 16 times the bytes per id of the bitmap with its running counts.
PRESENCE_SIXTEENTHS = 3


@dataclass(frozen=True)
class SortPlan:
    """Sizes of every internal buffer. Results never depend on them.

    memory_bytes, planned_bytes : budget and planned peak RSS (0 if the sizes were set by hand). batch_bytes : requested
    from the source. run_keys, n_buffers : sort buffers (most keys of a run, number of buffers); least_run_keys : runs
    start with this size and grow with the input. block_keys : keys per block of a run. n_ranges : key ranges in flight
    while merging; merge_keys : keys of a range beside runs in RAM; merge_keys_alone : the same once the sort buffers
    are freed. index_bytes : for the block indexes of all runs, see block_keys_after. presence_ids : ids from this one
    on are in the table instead of the bitmap. key_bits : width of a sort key. table_ids : entries of a piece of the
    table in RAM. join_ids : endpoints joined at a time. string_bytes, string_block_bytes : a run of strings before it
    is sorted, and a block of one. hash_bits : bits of a string's hash.
    """

    memory_bytes: int = 0
    planned_bytes: int = 0
    batch_bytes: int = 4 << 20
    run_keys: int = 1 << 22
    least_run_keys: int = 1 << 21
    n_buffers: int = 4
    block_keys: int = 1 << 13
    n_ranges: int = 3
    merge_keys: int = 1 << 20
    merge_keys_alone: int = 1 << 20
    index_bytes: int = 1 << 20
    presence_ids: int = 1 << 26
    key_bits: int = 64
    table_ids: int = 1 << 20
    join_ids: int = 1 << 18
    string_bytes: int = 16 << 20
    string_block_bytes: int = 256 << 10
    hash_bits: int = 63

    def for_relabelling(self) -> SortPlan:
        """The plan of a sort that runs beside a piece of the table of ids."""
        return replace(self, run_keys=max(2, self.run_keys // 2))

    def run_keys_after(self, n_keys: int) -> int:
        """Keys of the next run when the existing runs have `n_keys`. Runs that are just long enough for a merge of
        about 32 to 100 of them touch less memory and stay in cache while they are sorted."""
        return min(self.run_keys, max(self.least_run_keys, n_keys // 32))

    def block_keys_after(self, n_keys: int) -> int:
        """Keys per block of the next run when the existing runs have `n_keys`: doubled each time the input doubles
        beyond what fits half of `index_bytes`, so that all block indexes together grow by a quarter of it per
        doubling."""
        first = max(1, self.index_bytes // (2 * INDEX_BYTES)) * self.block_keys
        return self.block_keys << (n_keys // first).bit_length()


def plan_sort(memory_bytes: int, base_bytes: int, source_bytes: int, threads: int, writer_bytes: int,
              followed: bool = False) -> SortPlan:
    """The plan for a budget.

    memory_bytes : peak RSS allowed. base_bytes : RSS now, with all libraries loaded. source_bytes : memory of the
    source beside its batches. threads : of the sort. writer_bytes : of two arrays that are written at once. followed :
    whether numbers follow the keys. Raises BudgetError with the smallest budget that works.
    """
    batch = min(_MOST_BATCH_BYTES, max(_LEAST_BATCH_BYTES, memory_bytes // _BATCHES_IN_BUDGET))
    # The writer has up to four arrays open (two for the map of ids).
    outside = base_bytes + source_bytes + MARGIN_BYTES + 2 * writer_bytes + _PARSER_BYTES
    fixed = outside + _BATCH_COPIES * batch
    work = memory_bytes - fixed
    if work < LEAST_WORK_BYTES:
        # Batches grow with the budget.
        least = ((outside + BASE_JITTER + LEAST_WORK_BYTES) * _BATCHES_IN_BUDGET
                 // (_BATCHES_IN_BUDGET - _BATCH_COPIES) + 1)
        error = BudgetError(
            f"{format_size(memory_bytes)} of memory cannot do: {format_size(fixed)} are taken before the sort"
            f" begins (of these {format_size(base_bytes)} by the process itself)",
            remedy=f"give --memory {(least >> 20) + 1}MiB or more",
        )
        error.least_bytes = least
        raise error
    n_buffers, n_ranges = threads + 2, threads + 1
    run_keys = work // 2 // (n_buffers * FOLLOWED_KEY_BYTES if followed else
                             n_buffers * KEY_BYTES + threads * SORT_BYTES)
    range_bytes = n_ranges * (FOLLOWED_RANGE_BYTES if followed else RANGE_BYTES)
    join_bytes = FOLLOWED_JOIN_BYTES if followed else JOIN_BYTES
    merge_keys_alone = work * 2 // 3 // range_bytes
    return SortPlan(
        memory_bytes=memory_bytes, planned_bytes=fixed + work, batch_bytes=batch, run_keys=run_keys,
        n_buffers=n_buffers, block_keys=_power_of_two(merge_keys_alone // _USUAL_FAN_IN // 3, 1 << 10, 1 << 13),
        n_ranges=n_ranges, merge_keys=work // 4 // range_bytes, merge_keys_alone=merge_keys_alone,
        index_bytes=work // 16, presence_ids=min(1 << 32, work // 4 * 16 // PRESENCE_SIXTEENTHS),
        table_ids=work // 2 // TABLE_BYTES, join_ids=min(1 << 20, work // 8 // ((threads + 2) * join_bytes)),
        string_bytes=min(256 << 20, work // 8), string_block_bytes=_power_of_two(work >> 10, 16 << 10, 256 << 10),
    )


def _power_of_two(value: int, least: int, limit: int) -> int:
    """The largest power of two up to `value`, within [least, limit] (powers of two)."""
    return max(least, min(limit, 1 << max(0, value.bit_length() - 1)))
