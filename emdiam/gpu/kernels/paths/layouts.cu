// A weighted graph laid out in other ways than rows of heads beside rows of weights.
//
// Source: papers/004, section 1: arrays of structures (1.2), the reverse graph (1.2), adjacency matrices with a pitch
// (1.1); padded lists: papers/001, section IV-B, of which variants/layouts.cu copies the heads. The tails of an edge list
// (1.3) are made by arc_tails of variants/bfs_topology.cu. Work: O(n + m), of the matrix O(m) after it was filled.
//
// offsets: INDEX[n + 1], neighbours: VERTEX[m], weights: WEIGHT[m]. Any grid.
#include "lengths.cuh"

// Type of a cell of the matrix.
#ifndef CELL
#define CELL i64
#endif

// pairs: u32[2 m], gets head and weight of every arc side by side. Ids and weights of 32 bits. One thread an arc.
ENTRY(256) pair_arcs(const VERTEX* neighbours, const WEIGHT* weights, u64 m, u32* pairs) {
    for (u64 arc = first_item(); arc < m; arc += item_stride()) {
        pairs[2 * arc] = static_cast<u32>(neighbours[arc]);
        // No pairs are made of weights that are wider.
        pairs[2 * arc + 1] = sizeof(WEIGHT) == 4 ? reinterpret_cast<const u32*>(weights)[arc] : 0;
    }
}

// lists: WEIGHT[starts[n]], gets the weights of the rows where variants/layouts.cu copied the heads; starts: u64[n + 1].
// What is padding is not written. One warp a row.
ENTRY(256) copy_weights(const INDEX* offsets, const WEIGHT* weights, u64 n, const u64* starts, WEIGHT* lists) {
    for (u64 v = first_item() / WARP; v < n; v += item_stride() / WARP) {
        const u64 from = offsets[v], size = offsets[v + 1] - from;
        for (u64 i = lane_id(); i < size; i += WARP) lists[starts[v] + i] = weights[from + i];
    }
}

// sizes: u64[n + 1], zeros before, gets how many arcs lead to each vertex. One thread an arc.
ENTRY(256) count_heads(const VERTEX* neighbours, u64 m, u64* sizes) {
    for (u64 arc = first_item(); arc < m; arc += item_stride()) atomicAdd(sizes + neighbours[arc], 1ull);
}

// offsets: INDEX[items], gets the sums, which fit. One thread an item.
ENTRY(256) offsets_of_sums(const u64* sums, u64 items, INDEX* offsets) {
    for (u64 i = first_item(); i < items; i += item_stride()) offsets[i] = static_cast<INDEX>(sums[i]);
}

// places: u64[n], where the next arc into each vertex goes, at first where its row begins. tails: VERTEX[m], turned:
// WEIGHT[m], get the tail and the weight of every arc in the row of its head, in any order. One warp a row.
ENTRY(256) turn_arcs(const INDEX* offsets, const VERTEX* neighbours, const WEIGHT* weights, u64 n, u64* places,
                     VERTEX* tails, WEIGHT* turned) {
    for (u64 v = first_item() / WARP; v < n; v += item_stride() / WARP) {
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v] + lane_id(); arc < end; arc += WARP) {
            const u64 place = atomicAdd(places + neighbours[arc], 1ull);
            tails[place] = static_cast<VERTEX>(v);
            turned[place] = weights[arc];
        }
    }
}

// cells: CELL[n, pitch], no path before; gets the least weight of each pair, and at most 0 on the diagonal. One thread a
// row.
ENTRY(256) fill_matrix(const INDEX* offsets, const VERTEX* neighbours, const WEIGHT* weights, u64 n, u64 pitch,
                       CELL* cells) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        CELL* const row = cells + v * pitch;
        row[v] = 0;
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v]; arc < end; ++arc)
            row[neighbours[arc]] = min(row[neighbours[arc]], static_cast<CELL>(weights[arc]));
    }
}
