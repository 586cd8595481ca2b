// One level of breadth-first search, driven by the topology: every vertex is looked at in every level.
//
// Source: papers/001, Algorithm 3 ("Standard"), after Harish and Narayanan. The level is an argument and
// the change is a flag, where the paper keeps both in one variable that all threads write.
// Work: O(n) a level and O(m) in all, so O(n * levels + m).
#include "simt.cuh"

#ifndef DISTANCE
#define DISTANCE u32
#endif

// offsets: u64[n + 1], neighbours: VERTEX[m], n: number of vertices, distances: DISTANCE[n] with all bits
// set where unreached, level: the distance of the vertices to expand, changed: u32[1], set to 1 if a
// vertex was reached. One thread a vertex, any grid. Two threads may reach a vertex at once; both write the
// same distance.
extern "C" __global__ void __launch_bounds__(256)
bfs_standard(const u64* offsets, const VERTEX* neighbours, u64 n, DISTANCE* distances, DISTANCE level,
             u32* changed) {
    const DISTANCE unreached = static_cast<DISTANCE>(~static_cast<DISTANCE>(0));
    const DISTANCE next = static_cast<DISTANCE>(level + 1);
    bool found = false;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (distances[v] != level) continue;
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v]; arc < end; ++arc) {
            const VERTEX w = __ldg(neighbours + arc);
            if (distances[w] == unreached) {
                distances[w] = next;
                found = true;
            }
        }
    }
    if (found) *changed = 1;
}
