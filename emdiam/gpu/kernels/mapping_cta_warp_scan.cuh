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
