// Load balancing: how the arcs of a frontier are handed to threads. One mapping is chosen by -DMAPPING=MAPPING_...;
// all offer the same function:
//
//     entry(FRONTIER_PARAMETERS, ...)
//     VISIT_ARCS(visit);             // all threads of the grid, any grid, at most MOST_THREADS threads a block
//
// calls visit(row, arc) once for each arc of each vertex in the queue: `row` is the place of the vertex in the
// queue, `arc` the position of the arc in `neighbours`, both u64. The calls come from any lanes in any order
// and in diverged code: a visitor has no barriers and no masks of its own but __activemask(). Only
// MAPPING_DYNAMIC_WARPS leaves rows out: it puts them into `deferred`, for a second launch of the same entry with the
// same arguments, built with MAPPING_DEFERRED_ROWS.
//
// A mapping has other macros too (tuning); their usual values stand in mappings.py.
//
// A unit is an arc of the frontier, numbered in the order of the queue: row r has the units starts[r] to
// starts[r + 1] - 1.
// Source: papers/004, section 5 (Busato and Bombieri), the numbers of its sections at each mapping.
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
#define MAPPING_DEFERRED_ROWS 10

#ifndef MAPPING
#define MAPPING MAPPING_THREADS
#endif

// In the place of `begin`: the rows are packed.
#define PACKED 0xffffffffffffffffull

// Most threads of a block, for which the shared memory of every mapping is sized.
#define MOST_THREADS 256u

// queue: VERTEX[n_rows]. offsets: of the graph, INDEX[n + 1]. Where a mapping needs them: starts, the exclusive
// sums of the degrees, u64[n_rows + 1]; partition, the row in which each chunk of units begins and the last
// row, u64[chunks + 1]; deferred and n_deferred, rows left to a launch of their own and how many, n_deferred
// 0 at first. begin, end: the arcs that `neighbours` holds, of which the others are left out; or begin =
// PACKED where it holds the rows of the queue alone, one after the other.
struct Frontier {
    const VERTEX* queue;
    u64 n_rows;
    const INDEX* offsets;
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

// The first parameters of every entry that works on a frontier, and how it gives all arcs of it to a visitor, once.
#define FRONTIER_PARAMETERS                                                                                  \
    const VERTEX *queue, u64 n_rows, const INDEX *offsets, const u64 *starts, const u64 *partition, u64 *deferred, \
        u64 *n_deferred, u64 begin, u64 end, const VERTEX *neighbours
#define VISIT_ARCS(visit)                                                                               \
    __shared__ u64 scratch[MAPPING_WORDS];                                                              \
    const Frontier frontier = {queue, n_rows, offsets, starts, partition, deferred, n_deferred, begin, end}; \
    for_each_arc(frontier, scratch, visit)

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

// -- Sums of consecutive rows in shared memory, for mappings that search there --

// Copies the starts of `rows` rows from `first` on, and where the last ends: rows + 1 words. Every thread may
// read them when this returns; before the next call stands a barrier.
DEVICE void load_window(const Frontier& f, u64 first, u32 rows, u64* window) {
    for (u32 slot = threadIdx.x; slot <= rows; slot += blockDim.x) window[slot] = f.starts[first + slot];
    __syncthreads();
}

// Visits the units [unit, end), all of them of rows in the window, one after the other: one binary search.
template <typename Visit>
DEVICE void visit_run(const Frontier& f, const u64* window, u64 first, u32 rows, u64 unit, u64 end, Visit& visit) {
    if (unit >= end) return;
    for (u32 slot = find_row<u32>(window, 0u, rows, unit); unit < end; ++slot) {
        const u64 row_end = min(window[slot + 1], end);
        if (row_end <= unit) continue;
        u64 arc = f.first_arc(first + slot) + (unit - window[slot]);
        for (; unit < row_end; ++unit, ++arc) visit(first + slot, arc);
    }
}

// -- Mappings by rows: each thread, team of lanes, warp or block works on whole rows. Source: papers/004, 5.1 (static)
// and 5.2 (semi-dynamic) --

#if MAPPING == MAPPING_THREADS

// Work-items to threads: one thread a row. Source: papers/004, 5.1.1, after Harish and Narayanan.
#define MAPPING_WORDS 1

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    for (u64 row = first_item(); row < f.n_rows; row += item_stride()) {
        const u64 end = f.end_arc(row);
        for (u64 arc = f.first_arc(row); arc < end; ++arc) visit(row, arc);
    }
}

#elif MAPPING == MAPPING_VIRTUAL_WARPS

// Virtual warps: VIRTUAL_WARP lanes (a power of two, 2 to 32) a row, with neighbouring lanes on neighbouring
// arcs. Source: papers/004, 5.1.2 and Algorithm 8, after Hong et al.
static_assert(VIRTUAL_WARP >= 2 && VIRTUAL_WARP <= 32 && (VIRTUAL_WARP & (VIRTUAL_WARP - 1)) == 0,
              "VIRTUAL_WARP is 2, 4, 8, 16 or 32");
#define MAPPING_WORDS 1

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    for (u64 row = first_item() / VIRTUAL_WARP; row < f.n_rows; row += item_stride() / VIRTUAL_WARP) {
        const u64 end = f.end_arc(row);
        for (u64 arc = f.first_arc(row) + threadIdx.x % VIRTUAL_WARP; arc < end; arc += VIRTUAL_WARP) visit(row, arc);
    }
}

#elif MAPPING == MAPPING_DYNAMIC_WARPS

// Dynamic virtual warps: virtual warps whose size follows the frontier, and a launch of its own for rows of
// more than BIG_ROW arcs. Source: papers/004, 5.2.1, and 3.1 for the size (BFS-4K, Busato and Bombieri).
//
// The paper starts child kernels from the device for the big rows. Here they are written down, and the host
// launches one more kernel after this one (MAPPING_DEFERRED_ROWS).
#define MAPPING_WORDS 1

// The power of two nearest to threads / rows, from LEAST_WARP (K1 of the paper) to 32; up at the midpoint.
DEVICE u32 virtual_warp_size(u64 threads, u64 rows) {
    u32 size = WARP;
    while (size > LEAST_WARP && 3 * size * rows > 4 * threads) size /= 2;
    return size;
}

// The grid should be as large as what is resident at once: its threads are shared out over the rows.
template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    const u32 size = virtual_warp_size(item_stride(), f.n_rows), lane = threadIdx.x % size;
    for (u64 row = first_item() / size; row < f.n_rows; row += item_stride() / size) {
        const u64 first = f.first_arc(row), end = f.end_arc(row);
        if (end - first > BIG_ROW) {
            if (lane == 0) f.deferred[atomicAdd(f.n_deferred, 1ull)] = row;
            continue;
        }
        for (u64 arc = first + lane; arc < end; arc += size) visit(row, arc);
    }
}

#elif MAPPING == MAPPING_DEFERRED_ROWS

// The rows that dynamic virtual warps have left out: the whole grid works on one after the other.
#define MAPPING_WORDS 1
#define MAPPING_RESIDENT 6

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    const u64 rows = *f.n_deferred;
    for (u64 place = 0; place < rows; ++place) {
        const u64 row = f.deferred[place], end = f.end_arc(row);
        for (u64 arc = f.first_arc(row) + first_item(); arc < end; arc += item_stride()) visit(row, arc);
    }
}

#elif MAPPING == MAPPING_CTA_WARP_SCAN

// CTA + warp + scan: a tile of rows a block, one row a thread. Rows of at least CTA_ROW arcs are worked on by
// the whole block, those of at least WARP_ROW by a warp, the rest through sums of their degrees in shared
// memory. Source: papers/004, 5.2.2 and Algorithm 9, after Merrill, Garland and Grimshaw.
//
// The paper sets no thresholds; usual ones are the sizes of the teams, as in Merrill et al. The turn of a
// row in the warp is found by a ballot, where the paper lets lanes write over each other in shared memory.

// Words of shared memory: 3 of the winner, 33 of the sum, then sums and first arcs of the rows of the tile.
#define SCAN_AT 3
#define SUMS_AT 36
#define ARCS_AT (SUMS_AT + MOST_THREADS + 1)
#define MAPPING_WORDS (ARCS_AT + MOST_THREADS)

// The rows of at least CTA_ROW arcs, one at a time by all threads; which is next is left to chance.
template <typename Visit> DEVICE void visit_by_block(u64 tile, u64 first, u64* degree, u64* scratch, Visit& visit) {
    while (__syncthreads_or(*degree >= CTA_ROW)) {
        if (*degree >= CTA_ROW) store_fresh(scratch, static_cast<u64>(threadIdx.x));
        __syncthreads();
        const u64 winner = scratch[0];
        if (winner == threadIdx.x) {
            scratch[1] = first;
            scratch[2] = first + *degree;
            *degree = 0;
        }
        __syncthreads();
        const u64 end = scratch[2];
        for (u64 arc = scratch[1] + threadIdx.x; arc < end; arc += blockDim.x) visit(tile + winner, arc);
    }
}

// The rows of at least WARP_ROW arcs that are left, one at a time by the lanes of a warp.
template <typename Visit> DEVICE void visit_by_warp(u64 row, u64 first, u64* degree, Visit& visit) {
    u32 waiting = __ballot_sync(FULL_WARP, *degree >= WARP_ROW);
    while (waiting) {
        const i32 winner = __ffs(static_cast<i32>(waiting)) - 1;
        waiting &= waiting - 1;
        const u64 begin = __shfl_sync(FULL_WARP, first, winner), units = __shfl_sync(FULL_WARP, *degree, winner);
        const u64 whose = __shfl_sync(FULL_WARP, row, winner);
        for (u64 unit = lane_id(); unit < units; unit += WARP) visit(whose, begin + unit);
        __syncwarp(FULL_WARP);
    }
    if (*degree >= WARP_ROW) *degree = 0;
}

// What is left, one unit a thread.
template <typename Visit> DEVICE void visit_by_scan(u64 tile, u64 first, u64 degree, u64* scratch, Visit& visit) {
    u64 units;
    u64* const sums = scratch + SUMS_AT;
    u64* const arcs = scratch + ARCS_AT;
    sums[threadIdx.x] = block_exclusive_sum(degree, scratch + SCAN_AT, &units);
    arcs[threadIdx.x] = first;
    __syncthreads();
    for (u64 unit = threadIdx.x; unit < units; unit += blockDim.x) {
        const u32 slot = find_row<u32>(sums, 0u, blockDim.x, unit);
        visit(tile + slot, arcs[slot] + (unit - sums[slot]));
    }
    __syncthreads();
}

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64* scratch, Visit& visit) {
    for (u64 tile = static_cast<u64>(blockIdx.x) * blockDim.x; tile < f.n_rows; tile += item_stride()) {
        const u64 row = tile + threadIdx.x;
        u64 first = 0, degree = 0;
        if (row < f.n_rows) {
            first = f.first_arc(row);
            degree = f.end_arc(row) - first;
        }
        visit_by_block(tile, first, &degree, scratch, visit);
        visit_by_warp(row, first, &degree, visit);
        visit_by_scan(tile, first, degree, scratch, visit);
    }
}

// -- Mappings by search: each thread has units, whose rows it finds among the sums of the degrees. Source: papers/004,
// 5.3 and 5.4 (dynamic) --

#elif MAPPING == MAPPING_DIRECT_SEARCH

// Direct search: one unit a thread; its row by binary search over all sums, in global memory.
// Source: papers/004, 5.3.1.
#define MAPPING_WORDS 1

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    const u64 units = f.starts[f.n_rows];
    for (u64 unit = first_item(); unit < units; unit += item_stride()) {
        const u64 row = find_row<u64>(f.starts, 0, f.n_rows, unit);
        visit(row, f.first_arc(row) + (unit - f.starts[row]));
    }
}

#elif MAPPING == MAPPING_WARP_SEARCH

// Local warp search: 32 rows a warp, their sums in the registers of its lanes; one unit a lane, its row by
// binary search with shuffles. Source: papers/004, 5.3.2, in the form of BFS-4K (registers).
#define MAPPING_WORDS 1

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    for (u64 tile = first_item() / WARP * WARP; tile < f.n_rows; tile += item_stride()) {
        const u64 row = tile + lane_id();
        const u64 base = f.starts[tile], units = f.starts[min(tile + WARP, f.n_rows)] - base;
        // Lanes without a row begin after the last unit, so that no search ends there.
        const u64 start = row < f.n_rows ? f.starts[row] - base : units;
        const u64 first = row < f.n_rows ? f.first_arc(row) : 0;
        for (u64 round = 0; round < units; round += WARP) {
            const u64 unit = round + lane_id();
            u32 slot = 0;
            for (u32 step = WARP / 2; step > 0; step /= 2) {
                if (__shfl_sync(FULL_WARP, start, static_cast<i32>(slot + step)) <= unit) slot += step;
            }
            const u64 begins = __shfl_sync(FULL_WARP, start, static_cast<i32>(slot));
            const u64 arc = __shfl_sync(FULL_WARP, first, static_cast<i32>(slot)) + (unit - begins);
            if (unit < units) visit(tile + slot, arc);
            __syncwarp(FULL_WARP);
        }
    }
}

#elif MAPPING == MAPPING_BLOCK_SEARCH

// Block search: WINDOW_ROWS rows a block, their sums in shared memory; the units among them in equal runs, one
// a thread and one binary search each. Source: papers/004, 5.3.3, after Davidson et al.

// Without it the compiler aims at 8 and spills.
#define MAPPING_RESIDENT 6
#define MAPPING_WORDS (WINDOW_ROWS + 1)

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64* window, Visit& visit) {
    const u64 stride = static_cast<u64>(gridDim.x) * WINDOW_ROWS;
    for (u64 first = static_cast<u64>(blockIdx.x) * WINDOW_ROWS; first < f.n_rows; first += stride) {
        const u32 rows = static_cast<u32>(min(static_cast<u64>(WINDOW_ROWS), f.n_rows - first));
        load_window(f, first, rows, window);
        const u64 end = window[rows], run = (end - window[0] + blockDim.x - 1) / blockDim.x;
        const u64 unit = window[0] + threadIdx.x * run;
        visit_run(f, window, first, rows, unit, min(unit + run, end), visit);
        __syncthreads();
    }
}

#elif MAPPING == MAPPING_TWO_PHASE

// Two-phase search: chunks of equally many units, blockDim.x * UNITS_PER_THREAD, one a block. The first phase
// is partition_rows (frontier.cu): in which row each chunk begins. The second is here: the sums of the
// rows of the chunk go to shared memory, and each thread finds its run of UNITS_PER_THREAD (K) units there.
// Source: papers/004, 5.3.4, after Davidson et al., Green et al. and Baxter.
//
// Rows without arcs can make a chunk have more rows than shared memory holds; then it is done in windows.

#define WINDOW_ROWS (MOST_THREADS * UNITS_PER_THREAD)
// Without it the compiler aims at 8 and spills.
#define MAPPING_RESIDENT 6
#define MAPPING_WORDS (WINDOW_ROWS + 1)

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64* window, Visit& visit) {
    const u64 units = f.starts[f.n_rows], chunk_units = static_cast<u64>(blockDim.x) * UNITS_PER_THREAD;
    for (u64 chunk = blockIdx.x; chunk * chunk_units < units; chunk += gridDim.x) {
        const u64 unit = chunk * chunk_units + threadIdx.x * UNITS_PER_THREAD;
        const u64 end = min(unit + UNITS_PER_THREAD, units), end_row = f.partition[chunk + 1] + 1;
        for (u64 first = f.partition[chunk]; first < end_row; first += WINDOW_ROWS) {
            const u32 rows = static_cast<u32>(min(static_cast<u64>(WINDOW_ROWS), end_row - first));
            load_window(f, first, rows, window);
            visit_run(f, window, first, rows, max(unit, window[0]), min(end, window[rows]), visit);
            __syncthreads();
        }
    }
}

#elif MAPPING == MAPPING_MULTI_PHASE

// Multi-phase search: two-phase search with chunks of blockDim.x * UNITS_PER_THREAD * SEARCHES units (iterated
// search, IS), and with arcs that go from the registers of the thread that found them through shared memory to
// the lane that visits them, so that neighbouring lanes visit neighbouring arcs (coalesced expansion).
// Source: papers/004, 5.4 to 5.6, after Busato and Bombieri.
//
// The units of search s are a slot of WARP * UNITS_PER_THREAD for each warp; a thread fills its part of it, and
// the warp empties it alone, without a barrier of the block.

#define WINDOW_ROWS (MOST_THREADS * UNITS_PER_THREAD * SEARCHES)
#define EXCHANGE_UNITS (MOST_THREADS * UNITS_PER_THREAD)
// The registers of the searches: 64 a thread, and 80 for wide ids.
#define MAPPING_RESIDENT (sizeof(VERTEX) > 4 ? 3 : 4)
// The sums of the window, and after them in the same place the exchange: arcs, then rows.
#define MAPPING_WORDS \
    (WINDOW_ROWS + 1 > 2 * EXCHANGE_UNITS ? WINDOW_ROWS + 1 : 2 * EXCHANGE_UNITS)

// Searches the units [unit, unit + UNITS_PER_THREAD) in the window and keeps the arcs and rows of those that
// are in it. end: of the chunk.
DEVICE void gather_run(const Frontier& f, const u64* window, u64 first, u32 rows, u64 unit, u64 end, u64* arcs,
                       VERTEX* owners) {
    const u64 low = max(unit, window[0]), high = min(min(unit + UNITS_PER_THREAD, end), window[rows]);
    if (low >= high) return;
    u32 slot = find_row<u32>(window, 0u, rows, low);
    u64 begin = f.first_arc(first + slot);
#pragma unroll
    for (u32 k = 0; k < UNITS_PER_THREAD; ++k) {
        const u64 place = unit + k;
        if (place < low || place >= high) continue;
        if (window[slot + 1] <= place) {
            while (window[slot + 1] <= place) ++slot;
            begin = f.first_arc(first + slot);
        }
        arcs[k] = begin + (place - window[slot]);
        owners[k] = static_cast<VERTEX>(first + slot);
    }
}

// One slot of a warp: from registers to shared memory, and visited from there. base: its first unit.
template <typename Visit>
DEVICE void visit_slot(u64 base, u64 end, const u64* arcs, const VERTEX* owners, u64* exchange, Visit& visit) {
    u64* const arc_slot = exchange + warp_id() * WARP * UNITS_PER_THREAD;
    u64* const row_slot = arc_slot + EXCHANGE_UNITS;
#pragma unroll
    for (u32 k = 0; k < UNITS_PER_THREAD; ++k) {
        arc_slot[lane_id() * UNITS_PER_THREAD + k] = arcs[k];
        row_slot[lane_id() * UNITS_PER_THREAD + k] = owners[k];
    }
    __syncwarp(FULL_WARP);
    for (u32 place = lane_id(); place < WARP * UNITS_PER_THREAD && base + place < end; place += WARP) {
        visit(row_slot[place], arc_slot[place]);
    }
    __syncwarp(FULL_WARP);
}

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64* scratch, Visit& visit) {
    const u64 units = f.starts[f.n_rows], search_units = static_cast<u64>(blockDim.x) * UNITS_PER_THREAD;
    for (u64 chunk = blockIdx.x; chunk * search_units * SEARCHES < units; chunk += gridDim.x) {
        const u64 base = chunk * search_units * SEARCHES, end_row = f.partition[chunk + 1] + 1;
        u64 arcs[SEARCHES][UNITS_PER_THREAD] = {};
        VERTEX owners[SEARCHES][UNITS_PER_THREAD] = {};
        for (u64 first = f.partition[chunk]; first < end_row; first += WINDOW_ROWS) {
            const u32 rows = static_cast<u32>(min(static_cast<u64>(WINDOW_ROWS), end_row - first));
            load_window(f, first, rows, scratch);
#pragma unroll
            for (u32 s = 0; s < SEARCHES; ++s) {
                gather_run(f, scratch, first, rows, base + s * search_units + threadIdx.x * UNITS_PER_THREAD, units,
                           arcs[s], owners[s]);
            }
            __syncthreads();
        }
#pragma unroll
        for (u32 s = 0; s < SEARCHES; ++s) {
            visit_slot(base + s * search_units + warp_id() * WARP * UNITS_PER_THREAD, units, arcs[s], owners[s],
                       scratch, visit);
        }
        __syncthreads();
    }
}

#else
#error "MAPPING is none of the mappings of mapping.cuh"
#endif

// Blocks of 256 threads that entries with this mapping should have resident on a multiprocessor, for __launch_bounds__.
#ifndef MAPPING_RESIDENT
#define MAPPING_RESIDENT 8
#endif

#endif
