// One level of breadth-first search from the frontier down, or from the unreached vertices up.
//
// Source: papers/004, section 2.1, after Beamer, Asanovic and Patterson, "Direction-optimizing breadth-first
// search", SC 2012. Top-down looks at the arcs of the frontier; bottom-up has a thread for every unreached
// vertex, which stops at its first neighbour in the frontier and needs no atomic operation on distances.
// Going up takes neighbours for predecessors, so the graph is undirected.
#include "simt.cuh"

// offsets: INDEX[n + 1], neighbours: VERTEX[m], frontier: VERTEX[n_frontier], distances: u32[n] with all bits
// set where unreached, next: distance of what is reached, reached: VERTEX[n], gets each reached vertex once,
// in any order, counts: u64[2], zeros before, gets the number of reached vertices and of their arcs.
// One thread a vertex of the frontier, any grid.
ENTRY(256) top_down_level(const INDEX* offsets, const VERTEX* neighbours, const VERTEX* frontier, u64 n_frontier,
                          u32* distances, u32 next, VERTEX* reached, u64* counts) {
    u64 arcs = 0;
    for (u64 i = first_item(); i < n_frontier; i += item_stride()) {
        const VERTEX v = frontier[i];
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v]; arc < end; ++arc) {
            const VERTEX w = __ldg(neighbours + arc);
            if (!claim(distances, w, next)) continue;
            reached[atomicAdd(counts, 1ull)] = w;
            arcs += offsets[w + 1] - offsets[w];
        }
    }
    warp_add(arcs, counts + 1);
}

// level: the distance of the frontier; other parameters as above. One thread a vertex, any grid.
ENTRY(256) bottom_up_level(const INDEX* offsets, const VERTEX* neighbours, u64 n, u32* distances, u32 level,
                           u64* counts) {
    u64 vertices = 0, arcs = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (distances[v] != UNREACHED) continue;
        const u64 begin = offsets[v], end = offsets[v + 1];
        for (u64 arc = begin; arc < end; ++arc) {
            if (distances[__ldg(neighbours + arc)] != level) continue;
            distances[v] = level + 1;
            ++vertices;
            arcs += end - begin;
            break;
        }
    }
    warp_add(vertices, counts);
    warp_add(arcs, counts + 1);
}
