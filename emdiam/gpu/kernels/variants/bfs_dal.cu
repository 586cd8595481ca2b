// One level of breadth-first search in the ways of Dal, Kosters and Takes: every vertex is looked at in
// every level, and what differs is how its list is found and who walks along it.
//
// Source: papers/001, Algorithms 3 and 4, section IV-D. Work of all: O(n * levels + m). The level is an argument and
// the change is a flag, where the paper keeps both in one variable that all threads write.
//
// Lists are V_b, V_s and E of the paper: `rows` says where they begin, sizes: u64[n], lists: VERTEX[...].
// Only bfs_textures reads E through the read-only path, as in the paper; the other ways leave it in global
// memory, so that their difference stays what it was.
#include "simt.cuh"

#ifndef DISTANCE
#define DISTANCE u32
#endif
// 0: `rows` is u64[n], the beginnings (V_b). 1: `rows` is the width of a matrix, and there is no V_b.
#ifndef MATRIX
#define MATRIX 0
#endif

#if MATRIX
typedef u64 Rows;
DEVICE u64 row_start(Rows width, u64 v) { return v * width; }
#else
typedef const u64* Rows;
DEVICE u64 row_start(Rows starts, u64 v) { return starts[v]; }
#endif

DEVICE DISTANCE after(DISTANCE level) { return static_cast<DISTANCE>(level + 1); }
DEVICE DISTANCE unreached() { return static_cast<DISTANCE>(~static_cast<DISTANCE>(0)); }

// Calls visit(v) for the vertices of a level, one thread a vertex, any grid; it says whether it has reached one, and
// then *changed becomes 1.
template <typename Flag, typename Visit>
DEVICE void for_each_at(u64 n, const DISTANCE* distances, DISTANCE level, Flag* changed, const Visit& visit) {
    bool any = false;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (distances[v] == level) any |= visit(v);
    }
    if (any) *changed = 1;
}

// Parameters of all entries. n: number of vertices, distances: DISTANCE[n] with all bits set where
// unreached, level: the distance of the vertices to expand, changed: u64[1], set to 1 if a vertex was reached.

// Algorithm 3, "Standard", after Harish and Narayanan, on rows: offsets: INDEX[n + 1], neighbours: VERTEX[m]. Any grid.
ENTRY(256) bfs_standard(const INDEX* offsets, const VERTEX* neighbours, u64 n, DISTANCE* distances, DISTANCE level,
                        u64* changed) {
    for_each_at(n, distances, level, changed, [=](u64 v) {
        bool any = false;
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v]; arc < end; ++arc) any |= reach(distances, __ldg(neighbours + arc), after(level));
        return any;
    });
}

// The same on lists. Any grid.
ENTRY(256) bfs_lists(Rows rows, const u64* sizes, const VERTEX* lists, u64 n, DISTANCE* distances, DISTANCE level,
                     u64* changed) {
    for_each_at(n, distances, level, changed, [=](u64 v) {
        bool any = false;
        const u64 start = row_start(rows, v);
        for (u64 j = 0; j < sizes[v]; ++j) any |= reach(distances, lists[start + j], after(level));
        return any;
    });
}

// "Pointers": V_b holds addresses in memory, u64[n], and what does not change is in registers. Any grid.
ENTRY(256) bfs_pointers(const u64* addresses, const u64* sizes, u64 n, DISTANCE* distances, DISTANCE level,
                        u64* changed) {
    for_each_at(n, distances, level, changed, [=](u64 v) {
        bool any = false;
        const VERTEX* neighbour = reinterpret_cast<const VERTEX*>(addresses[v]);
        const VERTEX* const end = neighbour + sizes[v];
        for (; neighbour != end; ++neighbour) any |= reach(distances, *neighbour, after(level));
        return any;
    });
}

// "Busy-Wait": blocks without a vertex of this level idle. awake: u32[blocks] (A of the paper), which blocks have one;
// it is read once, so nothing is polled. awake_next: u32[blocks + 1], zero at first, the same for the next level, its
// last item set to 1 if a vertex was reached. Two arrays, because a block that wakes another in one array may do so
// before that one has read its item, or after. The grid and the blocks must be those of the level before.
ENTRY(256) bfs_busy_wait(Rows rows, const u64* sizes, const VERTEX* lists, u64 n, DISTANCE* distances, DISTANCE level,
                         const u32* awake, u32* awake_next) {
    if (awake[blockIdx.x] == 0) return;
    for_each_at(n, distances, level, awake_next + gridDim.x, [=](u64 v) {
        bool any = false;
        const u64 start = row_start(rows, v);
        for (u64 j = 0; j < sizes[v]; ++j) {
            const VERTEX w = lists[start + j];
            if (!reach(distances, w, after(level))) continue;
            awake_next[w / blockDim.x % gridDim.x] = 1;  // Equation 1
            any = true;
        }
        return any;
    });
}

// "Textures": what does not change is read through the cache that textures have. Any grid.
ENTRY(256) bfs_textures(Rows rows, const u64* __restrict__ sizes, const VERTEX* __restrict__ lists, u64 n,
                        DISTANCE* distances, DISTANCE level, u64* changed) {
    for_each_at(n, distances, level, changed, [=](u64 v) {
        bool any = false;
        const VERTEX* const list = lists + row_start(rows, v);
        const u64 size = __ldg(sizes + v);
        for (u64 j = 0; j < size; ++j) any |= reach(distances, __ldg(list + j), after(level));
        return any;
    });
}

// "Warp", Algorithm 4: a warp copies 32 distances to shared memory and walks the lists of the active ones
// together, 32 entries a step. The printed loop over a list lacks the step of 32, without which every lane
// would walk along the rest of the list, and the copy lacks the test for n. Any grid.
ENTRY(256) bfs_warp(Rows rows, const u64* sizes, const VERTEX* lists, u64 n, DISTANCE* distances, DISTANCE level,
                    u64* changed) {
    __shared__ DISTANCE cache[256];
    const u32 first = warp_id() * WARP;
    bool any = false;
    for (u64 base = static_cast<u64>(blockIdx.x) * blockDim.x; base < n; base += item_stride()) {
        const u64 v = base + threadIdx.x;
        cache[threadIdx.x] = v < n ? distances[v] : unreached();
        __syncwarp(FULL_WARP);
        for (u32 w = first; w < first + WARP; ++w) {
            if (cache[w] != level) continue;
            const u64 start = row_start(rows, base + w), size = sizes[base + w];
            for (u64 t = lane_id(); t < size; t += WARP) any |= reach(distances, lists[start + t], after(level));
        }
        __syncwarp(FULL_WARP);  // all have read before the next 32 are written
    }
    if (any) *changed = 1;
}

// left: u64[1], raised by the number of unreached vertices. For "Hybrid". Any grid.
ENTRY(256) count_left(const DISTANCE* distances, u64 n, u64* left) {
    u64 sum = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) sum += distances[v] == unreached();
    warp_add(sum, left);
}
