// Min-plus product of matrices, for repeated squaring and for products that are streamed.
// Source: papers/004, section 4.1 (Harish, Vineet and Narayanan: streaming blocks, lazy minimum; Tran et al.: repeated
// squaring). Work: rows * inner * columns.
#include "tiles.cuh"

// -DLAZY=1: no sum and no minimum where a has no path.
#ifndef LAZY
#define LAZY 1
#endif

// c = min(c, a (x) b). a: rows x inner tiles, b: inner x columns, c: rows x columns, each with its pitch in cells; c is
// neither a nor b. changed: u64[1], set to 1 if a cell became lower. A block of TILE * TILE / 16 threads a tile; any
// grid.
ENTRY(TILE_THREADS, TILE_RESIDENT) min_plus_product(const CELL* a, u64 a_pitch, const CELL* b, u64 b_pitch, CELL* c, u64 c_pitch,
                                     u64 rows, u64 inner, u64 columns, u64* changed) {
    __shared__ CELL shared[TILE_CELLS];
    bool lowered = false;
    for (u64 item = blockIdx.x; item < rows * columns; item += gridDim.x) {
        const u64 row = item / columns, column = item % columns;
        CELL* const tile = c + (row * c_pitch + column) * TILE;
        CELL mine[4][4];
        load_cells<false>(tile, c_pitch, mine);
        multiply<false, LAZY != 0>(a + row * TILE * a_pitch, a_pitch, b + column * TILE, b_pitch, inner * TILE,
                                   shared, mine);
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
#pragma unroll
            for (u32 j = 0; j < 4; ++j) {
                CELL* const place = tile + (first_row() + i) * c_pitch + first_column() + SIDE * j;
                if (mine[i][j] < *place) {
                    *place = mine[i][j];
                    lowered = true;
                }
            }
        }
    }
    if (lowered) *changed = 1;
}
