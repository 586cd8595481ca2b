// One level of breadth-first search by virtual warps over all vertices.
//
// Source: papers/004, section 2.1, after Hong et al. (PPoPP 2011): all vertices are looked at in every level, each
// by a group of lanes of one warp, which read the vertex's row together. A chunk of work is one
// vertex here, as in section 5.1.2. Work: O(n) a level and O(m) in all, so O(n * levels + m).
#include "simt.cuh"

#ifndef VERTEX
#define VERTEX u32
#endif

// offsets: u64[n + 1], neighbours: VERTEX[m], distances: u32[n] with all bits set where unreached, level: the
// distance of the vertices to expand, lanes: of a virtual warp, a power of two up to 32, changed: u32[1], set to
// 1 if a vertex was reached. `lanes` threads a vertex, any grid. Threads that reach a vertex at once write the
// same distance.
extern "C" __global__ void __launch_bounds__(256)
hong_level(const u64* offsets, const VERTEX* neighbours, u64 n, u32* distances, u32 level, u32 lanes, u32* changed) {
    const u32 unreached = 0xffffffffu, lane = threadIdx.x % lanes;
    const u64 stride = item_stride() / lanes;
    bool found = false;
    for (u64 v = first_item() / lanes; v < n; v += stride) {
        if (distances[v] != level) continue;
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v] + lane; arc < end; arc += lanes) {
            const VERTEX w = __ldg(neighbours + arc);
            if (distances[w] == unreached) {
                distances[w] = level + 1;
                found = true;
            }
        }
    }
    if (found) *changed = 1;
}
