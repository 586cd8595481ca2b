// Mappings by rows: each thread, team of lanes, warp or block works on whole rows.
// Source: papers/004, 5.1 (static) and 5.2 (semi-dynamic).

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
#ifndef VIRTUAL_WARP
#define VIRTUAL_WARP 8
#endif
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
// launches one more kernel after this one, in which the whole grid works on one big row after the other.
#ifndef BIG_ROW
#define BIG_ROW 4096
#endif
#ifndef LEAST_WARP
#define LEAST_WARP 2
#endif
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

// The same for the rows that for_each_arc of the launch before has left out.
template <typename Visit> DEVICE void for_each_deferred_arc(const Frontier& f, Visit& visit) {
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
// The paper sets no thresholds; the defaults are the sizes of the teams, as in Merrill et al. The turn of a
// row in the warp is found by a ballot, where the paper lets lanes write over each other in shared memory.
#ifndef CTA_ROW
#define CTA_ROW 256
#endif
#ifndef WARP_ROW
#define WARP_ROW 32
#endif

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

#endif
