// Blocked Floyd and Warshall in one launch: blocks take tiles in the order of the three phases, and each waits for the
// tiles that it needs, and for no others.
//
// Source: papers/002, section 2 (Takafuji, Nakano and Ito: one kernel call, tiles in stages). A block takes the next
// turn from a counter, so that whoever waits, waits for turns that others have taken before. A launch with all blocks
// resident. Work: n^3.
#include "tiles.cuh"

// Waits until *count is at least `least`. One thread of a block.
DEVICE void wait_for(const u32* count, u32 least) {
    while (load_fresh(count) < least) SPIN_PAUSE();
}

// cells, pitch, tiles: as in floyd_warshall.cu. turns: u64[1], zero before. steps: u32[tiles * tiles], zeros before, the
// steps that each tile has been through; rows_done, columns_done: u32[tiles], zeros before, how many of these steps the
// tiles of a row, and of a column, have been through together.
ENTRY(TILE_THREADS, TILE_RESIDENT) floyd_warshall_single(CELL* cells, u64 pitch, u64 tiles, u64* turns, u32* steps, u32* rows_done,
                                          u32* columns_done) {
    __shared__ CELL shared[TILE_CELLS];
    __shared__ u64 turn;
    const u64 of_step = tiles * tiles;
    for (;;) {
        if (threadIdx.x == 0) turn = atomicAdd(turns, 1ull);
        __syncthreads();
        const u64 mine = turn;
        __syncthreads();
        if (mine >= of_step * tiles) return;
        // The tile of the turn: the diagonal, its row and its column in turn, then the rest.
        const u64 pivot = mine / of_step, item = mine % of_step;
        u64 row = pivot, column = pivot;
        if (item > 0 && item < 2 * tiles - 1) {
            const u64 place = (item - 1) / 2 + ((item - 1) / 2 >= pivot);
            (item % 2 ? column : row) = place;
        } else if (item > 0) {
            const u64 rest = item - (2 * tiles - 1);
            row = rest / (tiles - 1) + (rest / (tiles - 1) >= pivot);
            column = rest % (tiles - 1) + (rest % (tiles - 1) >= pivot);
        }
        if (threadIdx.x == 0) {
            const u32 step = static_cast<u32>(pivot), all = static_cast<u32>(tiles);
            wait_for(steps + row * tiles + column, step);
            if (item > 0 && column != pivot) wait_for(steps + pivot * tiles + column, step + (row != pivot));
            if (item > 0 && row != pivot) wait_for(steps + row * tiles + pivot, step + (column != pivot));
            if (item > 0) wait_for(steps + pivot * tiles + pivot, step + 1);
            // Tiles of the last pivot's row and column are read by all of their columns and rows.
            if (pivot > 0 && column == pivot - 1) wait_for(rows_done + row, step * all);
            if (pivot > 0 && row == pivot - 1) wait_for(columns_done + column, step * all);
            __threadfence();
        }
        __syncthreads();
        CELL* const tile = cells + (row * pitch + column) * TILE;
        if (item == 0) {
            close_tile<true>(tile, pitch, shared);
        } else {
            CELL kept[4][4];
            load_cells<true>(tile, pitch, kept);
            multiply<true, false>(cells + (row * pitch + pivot) * TILE, pitch, cells + (pivot * pitch + column) * TILE,
                                  pitch, TILE, shared, kept);
            store_cells(tile, pitch, kept);
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(rows_done + row, 1u);
            atomicAdd(columns_done + column, 1u);
            store_fresh(steps + row * tiles + column, static_cast<u32>(pivot + 1));
        }
    }
}
