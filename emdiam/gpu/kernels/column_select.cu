// The vertices whose value compares with a number, ascending: counted tile by tile, placed by exclusive sums.
// Source: papers/004, 3.1 (prefix sum), as the compaction of a vector. Work: O(n), two passes.
#include "columns_compare.cuh"

// The tiles of a column are blockDim.x * ITEMS_OF_THREAD vertices.
#define ITEMS_OF_THREAD 8u

// counts: u64[tiles + 1], how many vertices of a tile compare so with `other`, and 0 behind them. Any grid.
extern "C" __global__ void __launch_bounds__(256)
select_counts(const u32* values, u64 n, u32 comparison, u32 other, u64* counts) {
    __shared__ u64 scratch[33];
    const u64 tile_items = static_cast<u64>(blockDim.x) * ITEMS_OF_THREAD, tiles = (n + tile_items - 1) / tile_items;
    for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        u64 mine = 0, total;
        for (u32 turn = 0; turn < ITEMS_OF_THREAD; ++turn) {
            const u64 v = tile * tile_items + turn * blockDim.x + threadIdx.x;
            if (v < n) mine += compares(values[v], comparison, other);
        }
        block_exclusive_sum(mine, scratch, &total);
        if (threadIdx.x == 0) counts[tile] = total;
    }
    if (first_item() == 0) counts[tiles] = 0;
}

// sums: u64[tiles + 1], the exclusive sums of counts. found: u64[most], gets the first of the vertices. Any
// grid, of the same blocks.
extern "C" __global__ void __launch_bounds__(256)
select_vertices(const u32* values, u64 n, u32 comparison, u32 other, const u64* sums, u64* found, u64 most) {
    __shared__ u32 scratch[33];
    const u64 tile_items = static_cast<u64>(blockDim.x) * ITEMS_OF_THREAD;
    for (u64 tile = blockIdx.x; tile * tile_items < n; tile += gridDim.x) {
        u64 place = sums[tile];
        if (place == sums[tile + 1] || place >= most) continue;
        for (u32 turn = 0; turn < ITEMS_OF_THREAD; ++turn) {
            const u64 v = tile * tile_items + turn * blockDim.x + threadIdx.x;
            const bool mine = v < n && compares(values[v], comparison, other);
            u32 total;
            const u64 at = place + block_exclusive_sum(mine ? 1u : 0u, scratch, &total);
            if (mine && at < most) found[at] = v;
            place += total;
        }
    }
}
