// One level of breadth-first search by masks over all vertices: expand, then update.
//
// Source: papers/004, section 2.1, approach of Harish and Narayanan. A vertex reached in a level goes to a
// second mask first and joins the frontier by a kernel of its own; so none is expanded in the level that
// reached it. Work: O(n) a level and O(m) in all, so O(n * levels + m). Space: three masks of bytes.
#include "simt.cuh"

#ifndef VERTEX
#define VERTEX u32
#endif

// offsets: u64[n + 1], neighbours: VERTEX[m], frontier, visited, reached: u8[n] masks, distances: u32[n],
// next: distance of what this level reaches. One thread a vertex, any grid. Empties the frontier.
extern "C" __global__ void __launch_bounds__(256)
harish_expand(const u64* offsets, const VERTEX* neighbours, u64 n, u8* frontier, const u8* visited, u8* reached,
              u32* distances, u32 next) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (!frontier[v]) continue;
        frontier[v] = 0;
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v]; arc < end; ++arc) {
            const VERTEX w = __ldg(neighbours + arc);
            if (!visited[w]) {
                distances[w] = next;
                reached[w] = 1;
            }
        }
    }
}

// Makes the reached vertices the frontier and visited. changed: u32[1], set to 1 if there is one. One
// thread a vertex, any grid.
extern "C" __global__ void __launch_bounds__(256)
harish_update(u64 n, u8* frontier, u8* visited, u8* reached, u32* changed) {
    bool found = false;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (!reached[v]) continue;
        reached[v] = 0;
        frontier[v] = 1;
        visited[v] = 1;
        found = true;
    }
    if (found) *changed = 1;
}
