// Load balancing: how the arcs of a frontier are handed to threads. One mapping of mapping_rows.cuh and
// mapping_search.cuh is chosen by -DMAPPING=MAPPING_...; all offer the same function:
//
//     entry(FRONTIER_PARAMETERS, ...)
//     __shared__ u64 scratch[MAPPING_WORDS];              // in the entry, at most MOST_THREADS threads a block
//     const Frontier frontier = FRONTIER;
//     for_each_arc(frontier, scratch, visit);             // all threads of the grid, any grid
//
// calls visit(row, arc) once for each arc of each vertex in the queue: `row` is the place of the vertex in the
// queue, `arc` the position of the arc in `neighbours`, both u64. The calls come from any lanes in any order
// and in diverged code: a visitor has no barriers and no masks of its own but __activemask(). Only
// MAPPING_DYNAMIC_WARPS leaves rows out: it puts them into `deferred`, for for_each_deferred_arc.
//
// A unit is an arc of the frontier, numbered in the order of the queue: row r has the units starts[r] to
// starts[r + 1] - 1.
// Source: papers/004, section 5 (Busato and Bombieri), the numbers of its sections in each file.
#ifndef EMDIAM_MAPPING_CUH
#define EMDIAM_MAPPING_CUH

#include "simt.cuh"

#define MAPPING_THREADS 1
#define MAPPING_VIRTUAL_WARPS 2
#define MAPPING_DYNAMIC_WARPS 3
#define MAPPING_CTA_WARP_SCAN 4
#define MAPPING_DIRECT_SEARCH 5
#define MAPPING_WARP_SEARCH 6
#define MAPPING_BLOCK_SEARCH 7
#define MAPPING_TWO_PHASE 8
#define MAPPING_MULTI_PHASE 9

#ifndef MAPPING
#define MAPPING MAPPING_THREADS
#endif

// In the place of `begin`: the rows are packed.
#define PACKED 0xffffffffffffffffull

// Most threads of a block, for which the shared memory of every mapping is sized.
#define MOST_THREADS 256u

// queue: VERTEX[n_rows]. offsets: of the graph, u64[n + 1]. Where a mapping needs them: starts, the exclusive
// sums of the degrees, u64[n_rows + 1]; partition, the row in which each chunk of units begins and the last
// row, u64[chunks + 1]; deferred and n_deferred, rows left to a launch of their own and how many, n_deferred
// 0 at first. begin, end: the arcs that `neighbours` holds, of which the others are left out; or begin =
// PACKED where it holds the rows of the queue alone, one after the other.
struct Frontier {
    const VERTEX* queue;
    u64 n_rows;
    const u64* offsets;
    const u64* starts;
    const u64* partition;
    u64* deferred;
    u64* n_deferred;
    u64 begin;
    u64 end;
    // The first arc of a row, and the one after its last, as places in `neighbours`.
    __device__ u64 first_arc(u64 row) const {
        return begin == PACKED ? starts[row] : held(__ldg(offsets + queue[row]), begin, end);
    }
    __device__ u64 end_arc(u64 row) const {
        return begin == PACKED ? starts[row + 1] : held(__ldg(offsets + queue[row] + 1), begin, end);
    }
    // The place of an arc, or of the nearest one that is held.
    static __device__ u64 held(u64 arc, u64 begin, u64 end) { return min(max(arc, begin), end) - begin; }
};

// The first parameters of every entry that works on a frontier, and the Frontier that they make.
#define FRONTIER_PARAMETERS                                                                                  \
    const VERTEX *queue, u64 n_rows, const u64 *offsets, const u64 *starts, const u64 *partition, u64 *deferred, \
        u64 *n_deferred, u64 begin, u64 end, const VERTEX *neighbours
#define FRONTIER {queue, n_rows, offsets, starts, partition, deferred, n_deferred, begin, end}

// The row of a unit: the largest r in [low, high) with starts[r] <= unit, where starts[low] <= unit. Empty
// rows begin where the next one does, so they are never the largest.
template <typename I> DEVICE I find_row(const u64* starts, I low, I high, u64 unit) {
    while (high - low > 1) {
        const I middle = low + (high - low) / 2;
        if (starts[middle] <= unit) low = middle;
        else high = middle;
    }
    return low;
}

#if MAPPING < MAPPING_THREADS || MAPPING > MAPPING_MULTI_PHASE
#error "MAPPING is none of the mappings of mapping.cuh"
#endif
// Both: an include is put into the text once, in whichever branch it stands.
#include "mapping_rows.cuh"
#include "mapping_search.cuh"

// Blocks of 256 threads that entries with this mapping should have resident on a multiprocessor, for
// __launch_bounds__.
#ifndef MAPPING_RESIDENT
#define MAPPING_RESIDENT 8
#endif

#endif
