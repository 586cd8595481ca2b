// One level of breadth-first search as a product of the adjacency matrix and the vector of the frontier.
//
// Source: papers/004, section 2.1, the approach by matrices. The product is over the semiring of "or" and
// "and"; every row is multiplied in every level. Work: O(m) a level, so O(n + m * levels).
// The matrix is symmetric; a directed graph would need its rows of incoming arcs.
#include "simt.cuh"

#ifndef VERTEX
#define VERTEX u32
#endif

// offsets: u64[n + 1], neighbours: VERTEX[m], frontier: u8[n] of 0 and 1, product: u8[n], set to 1 at the
// vertices that are reached first in this level and to 0 elsewhere, distances: u32[n] with all bits set
// where unreached, next: distance of what is reached, changed: u32[1], set to 1 if anything is.
// One warp a row, any grid.
extern "C" __global__ void __launch_bounds__(256)
spmv_level(const u64* offsets, const VERTEX* neighbours, u64 n, const u8* frontier, u8* product, u32* distances,
           u32 next, u32* changed) {
    const u64 warps = item_stride() / WARP;
    bool found = false;
    for (u64 row = first_item() / WARP; row < n; row += warps) {
        const u64 end = offsets[row + 1];
        int any = 0;
        for (u64 arc = offsets[row] + lane_id(); arc < end; arc += WARP) any |= frontier[__ldg(neighbours + arc)];
        any = __any_sync(FULL_WARP, any);
        if (lane_id() != 0) continue;
        const bool reached = any && distances[row] == 0xffffffffu;
        product[row] = reached;
        if (reached) {
            distances[row] = next;
            found = true;
        }
    }
    if (found) *changed = 1;
}
