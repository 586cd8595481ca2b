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
