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
