// Mappings by search: each thread has units, whose rows it finds among the sums of the degrees.
// Source: papers/004, 5.3 and 5.4 (dynamic).

// -- Sums of consecutive rows in shared memory, for those that search there --

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

#if MAPPING == MAPPING_DIRECT_SEARCH

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

#ifndef WINDOW_ROWS
#define WINDOW_ROWS 1024
#endif
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
// is partition_rows (frontier_sums.cu): in which row each chunk begins. The second is here: the sums of the
// rows of the chunk go to shared memory, and each thread finds its run of UNITS_PER_THREAD (K) units there.
// Source: papers/004, 5.3.4, after Davidson et al., Green et al. and Baxter.
//
// Rows without arcs can make a chunk have more rows than shared memory holds; then it is done in windows.

#ifndef UNITS_PER_THREAD
#define UNITS_PER_THREAD 8
#endif
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

#ifndef UNITS_PER_THREAD
#define UNITS_PER_THREAD 4
#endif
#ifndef SEARCHES
#define SEARCHES 2
#endif
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
        const u64 mine = unit + k;
        if (mine < low || mine >= high) continue;
        if (window[slot + 1] <= mine) {
            while (window[slot + 1] <= mine) ++slot;
            begin = f.first_arc(first + slot);
        }
        arcs[k] = begin + (mine - window[slot]);
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

#endif
