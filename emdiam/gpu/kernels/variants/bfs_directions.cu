// One level of breadth-first search from the frontier down, or from the unreached vertices up.
//
// Source: papers/004, section 2.1, after Beamer, Asanovic and Patterson, "Direction-optimizing breadth-first
// search", SC 2012. Top-down looks at the arcs of the frontier; bottom-up has a thread for every unreached
// vertex, which stops at its first neighbour in the frontier and needs no atomic operation on distances.
// Going up takes neighbours for predecessors, so the graph is undirected.
#include "claims.cuh"

// offsets: u64[n + 1], neighbours: VERTEX[m], frontier: VERTEX[n_frontier], distances: u32[n] with all bits
// set where unreached, next: distance of what is reached, reached: VERTEX[n], gets each reached vertex once,
// in any order, counts: u64[2], zeros before, gets the number of reached vertices and of their arcs.
// One thread a vertex of the frontier, any grid.
extern "C" __global__ void __launch_bounds__(256)
top_down_level(const u64* offsets, const VERTEX* neighbours, const VERTEX* frontier, u64 n_frontier, u32* distances,
               u32 next, VERTEX* reached, u64* counts) {
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
    arcs = warp_sum(arcs);
    if (lane_id() == 0 && arcs != 0) atomicAdd(counts + 1, arcs);
}

// level: the distance of the frontier; other parameters as above. One thread a vertex, any grid.
extern "C" __global__ void __launch_bounds__(256)
bottom_up_level(const u64* offsets, const VERTEX* neighbours, u64 n, u32* distances, u32 level, u64* counts) {
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
    vertices = warp_sum(vertices);
    arcs = warp_sum(arcs);
    if (lane_id() == 0 && vertices != 0) {
        atomicAdd(counts, vertices);
        atomicAdd(counts + 1, arcs);
    }
}

// The vertices at a distance as a queue, in any order: frontier: VERTEX[n], tail: u64[1], zero before.
// One thread a vertex, any grid.
extern "C" __global__ void __launch_bounds__(256)
queue_of_level(u64 n, const u32* distances, u32 level, VERTEX* frontier, u64* tail) {
    const u64 base = first_item() - lane_id();
    for (u64 first = base; first < n; first += item_stride()) {
        const u64 v = first + lane_id();
        const bool mine = v < n && distances[v] == level;
        const u64 place = warp_reserve(mine, tail);
        if (mine) frontier[place] = static_cast<VERTEX>(v);
    }
}
