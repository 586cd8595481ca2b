// Min-plus products of tiles: c = min(c, a (x) b), where (a (x) b)[i][j] is the least a[i][k] + b[k][j].
//
// Matrices lie row after row, `pitch` cells a row, cut into tiles of TILE x TILE. A cell is CELL: i32, i64 or double
// (cells.cuh). A block of TILE * TILE / 16 threads works on a tile; a thread has 16 cells of it in registers: 4
// adjacent rows, and 4 columns that lie a quarter apart, so that neighbouring lanes read neighbouring cells.
#ifndef EMDIAM_TILES_CUH
#define EMDIAM_TILES_CUH

#include "cells.cuh"

#ifndef CELL
#define CELL i32
#endif
// Cells along a side of a tile: 32 or 64.
#ifndef TILE
#define TILE 64
#endif
#define SIDE (TILE / 4)
#define TILE_THREADS (SIDE * SIDE)
// Blocks that should be resident: 512 threads with 128 registers for cells of 8 bytes, 256 where it has 1,536
// threads at most, else 768 with 80. With more the compiler spills.
#define TILE_RESIDENT ((sizeof(CELL) > 4 ? MOST_RESIDENT / 1024 : 3) * 256 / TILE_THREADS)
#define SLICE (TILE / 4u)

// Shared memory of a block: a whole tile, or two slices of one.
#define LEFT_CELLS (SLICE * (TILE + 1))
#define TILE_CELLS (TILE * TILE)
static_assert(LEFT_CELLS + SLICE * TILE <= TILE_CELLS, "two slices fit where a tile does");

DEVICE u32 first_row() { return threadIdx.x / SIDE * 4; }
DEVICE u32 first_column() { return threadIdx.x % SIDE; }

// The 16 cells of a thread in the tile at `tile`. fresh: seen as other blocks have written it during the launch.
template <bool fresh> DEVICE CELL cell_at(const CELL* place) { return fresh ? load_fresh(place) : *place; }
template <bool fresh> DEVICE void load_cells(const CELL* tile, u64 pitch, CELL (&cells)[4][4]) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
#pragma unroll
        for (u32 j = 0; j < 4; ++j)
            cells[i][j] = cell_at<fresh>(tile + (first_row() + i) * pitch + first_column() + SIDE * j);
    }
}
DEVICE void store_cells(CELL* tile, u64 pitch, const CELL (&cells)[4][4]) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
#pragma unroll
        for (u32 j = 0; j < 4; ++j) tile[(first_row() + i) * pitch + first_column() + SIDE * j] = cells[i][j];
    }
}

// cells = min(cells, a (x) b) for TILE rows of a, TILE columns of b, and `inner` in between, a multiple of SLICE. All
// threads of the block. shared: TILE_CELLS of shared memory, free again when this returns. skips: whether sums and
// minima are left out where there is no path to k (lazy minimum; papers/004, 4.1, after Harish et al.).
template <bool fresh, bool skips>
DEVICE void multiply(const CELL* a, u64 a_pitch, const CELL* b, u64 b_pitch, u64 inner, CELL* shared,
                     CELL (&cells)[4][4]) {
    CELL* const left = shared;
    CELL* const right = shared + LEFT_CELLS;
    for (u64 slice = 0; slice < inner; slice += SLICE) {
        for (u32 i = threadIdx.x; i < SLICE * TILE; i += TILE_THREADS) {
            left[i % SLICE * (TILE + 1) + i / SLICE] = cell_at<fresh>(a + i / SLICE * a_pitch + slice + i % SLICE);
            right[i] = cell_at<fresh>(b + (slice + i / TILE) * b_pitch + i % TILE);
        }
        __syncthreads();
#pragma unroll 4
        for (u32 k = 0; k < SLICE; ++k) {
            CELL from[4], to[4];
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                from[i] = left[k * (TILE + 1) + first_row() + i];
                to[i] = right[k * TILE + first_column() + SIDE * i];
            }
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                if (skips && is_no_path(from[i])) continue;
#pragma unroll
                for (u32 j = 0; j < 4; ++j) cells[i][j] = min(cells[i][j], from[i] + to[j]);
            }
        }
        __syncthreads();
    }
}

// The closure of one tile in place: Floyd and Warshall's algorithm within it. Every thread has its cells in registers;
// row and column k, which all read in step k, are in shared memory, and those of the next step are put there in between.
// All threads of the block; shared: TILE_CELLS.
template <bool fresh> DEVICE void close_tile(CELL* tile, u64 pitch, CELL* shared) {
    CELL mine[4][4];
    load_cells<fresh>(tile, pitch, mine);
    for (u32 k = 0; k < TILE; ++k) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            const u32 row = first_row() + i;
#pragma unroll
            for (u32 j = 0; j < 4; ++j) {
                const u32 column = first_column() + SIDE * j;
                if (row == k || column == k) shared[row * TILE + column] = mine[i][j];
            }
        }
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            const CELL from = shared[(first_row() + i) * TILE + k];
#pragma unroll
            for (u32 j = 0; j < 4; ++j)
                mine[i][j] = min(mine[i][j], from + shared[k * TILE + first_column() + SIDE * j]);
        }
        __syncthreads();
    }
    store_cells(tile, pitch, mine);
}

#endif
