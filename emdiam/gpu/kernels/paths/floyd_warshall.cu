// All pairs shortest paths by Floyd and Warshall's algorithm: step by step, and blocked, in three phases for every tile
// of the diagonal.
//
// Source: papers/004, section 4 (Algorithm 7) and 4.1 (Venkataraman et al.; on a GPU Katz and Kider; cells in registers
// after Lund et al.). Phase 1 closes the tile of the diagonal within itself, phase 2 takes its paths into the tiles of
// its row and its column, phase 3 those into all others. A closed tile holds the empty paths too, so that phases 2 and
// 3 are plain products and need no order within a tile. Work: n^3.
//
// cells: CELL[rows of tiles, pitch], 0 on the diagonal; pitch: a multiple of TILE, as is the number of rows. tiles: along
// a side. Blocks have TILE * TILE / 16 threads; any grid.
#include "tiles.cuh"

// Step k: paths through vertex k. n: vertices. One thread a cell; row k and column k do not change in their own step.
ENTRY(256) floyd_warshall_step(CELL* cells, u64 pitch, u64 n, u64 k) {
    for (u64 item = first_item(); item < n * n; item += item_stride()) {
        const u64 row = item / n, column = item % n;
        const CELL offer = cells[row * pitch + k] + cells[k * pitch + column];
        if (offer < cells[row * pitch + column]) cells[row * pitch + column] = offer;
    }
}

// Phase 1 for tile `pivot` of the diagonal. One block.
ENTRY(TILE_THREADS, TILE_RESIDENT) floyd_warshall_diagonal(CELL* cells, u64 pitch, u64 pivot) {
    __shared__ CELL shared[TILE_CELLS];
    if (blockIdx.x == 0) close_tile<false>(cells + pivot * TILE * (pitch + 1), pitch, shared);
}

// Phase 2: the 2 (tiles - 1) other tiles of row and column `pivot`. A block a tile.
ENTRY(TILE_THREADS, TILE_RESIDENT) floyd_warshall_cross(CELL* cells, u64 pitch, u64 tiles, u64 pivot) {
    __shared__ CELL shared[TILE_CELLS];
    const CELL* const diagonal = cells + pivot * TILE * (pitch + 1);
    for (u64 item = blockIdx.x; item < 2 * (tiles - 1); item += gridDim.x) {
        const u64 place = item / 2 + (item / 2 >= pivot);
        const bool in_row = item % 2 == 0;
        CELL* const tile = cells + ((in_row ? pivot : place) * pitch + (in_row ? place : pivot)) * TILE;
        CELL mine[4][4];
        load_cells<false>(tile, pitch, mine);
        multiply<false, false>(in_row ? diagonal : tile, pitch, in_row ? tile : diagonal, pitch, TILE, shared,
                               mine);
        store_cells(tile, pitch, mine);
    }
}

// Phase 3: all other tiles. A block a tile.
ENTRY(TILE_THREADS, TILE_RESIDENT) floyd_warshall_rest(CELL* cells, u64 pitch, u64 tiles, u64 pivot) {
    __shared__ CELL shared[TILE_CELLS];
    for (u64 item = blockIdx.x; item < (tiles - 1) * (tiles - 1); item += gridDim.x) {
        const u64 row = item / (tiles - 1) + (item / (tiles - 1) >= pivot);
        const u64 column = item % (tiles - 1) + (item % (tiles - 1) >= pivot);
        CELL* const tile = cells + (row * pitch + column) * TILE;
        CELL mine[4][4];
        load_cells<false>(tile, pitch, mine);
        multiply<false, false>(cells + (row * pitch + pivot) * TILE, pitch, cells + (pivot * pitch + column) * TILE,
                               pitch, TILE, shared, mine);
        store_cells(tile, pitch, mine);
    }
}
