// One level of breadth-first search over all arcs, each a pair of vertices.
//
// Source: papers/004, section 2.1, edge parallelism. No row is longer than another, since a thread has one
// arc; all arcs are looked at in every level. Work: O(m * levels).
#include "simt.cuh"

#ifndef VERTEX
#define VERTEX u32
#endif

// offsets: u64[n + 1] -> tails: VERTEX[m], the vertex that each arc leaves, ascending. One warp a row, any grid.
extern "C" __global__ void __launch_bounds__(256)
arc_tails(const u64* offsets, u64 n, VERTEX* tails) {
    const u64 warps = item_stride() / WARP;
    for (u64 v = first_item() / WARP; v < n; v += warps) {
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v] + lane_id(); arc < end; arc += WARP) tails[arc] = static_cast<VERTEX>(v);
    }
}

// tails, heads: VERTEX[m], distances: u32[n] with all bits set where unreached, level: the distance of the
// vertices to expand, changed: u32[1], set to 1 if a vertex was reached. One thread an arc, any grid. Two
// threads may reach a vertex at once; both write the same distance.
extern "C" __global__ void __launch_bounds__(256)
edges_level(const VERTEX* tails, const VERTEX* heads, u64 m, u32* distances, u32 level, u32* changed) {
    bool found = false;
    for (u64 arc = first_item(); arc < m; arc += item_stride()) {
        if (distances[__ldg(tails + arc)] != level) continue;
        const VERTEX head = __ldg(heads + arc);
        if (distances[head] == 0xffffffffu) {
            distances[head] = level + 1;
            found = true;
        }
    }
    if (found) *changed = 1;
}
