// Breadth-first search that looks at all vertices or all arcs in every level, one level a launch: by masks, by a
// matrix-vector product, over arcs as pairs, and by virtual warps.
//
// Source: papers/004, section 2.1. Distances are u32[n] with all bits set where unreached. n: vertices, m: arcs.
// offsets: INDEX[n + 1], neighbours: VERTEX[m]. changed: u64[1], set to 1 if a vertex was reached. Any grid. Threads that
// reach a vertex at once write the same distance.
#include "simt.cuh"

// -- Masks, approach of Harish and Narayanan --
// A vertex reached in a level goes to a second mask first and joins the frontier by a kernel of its own; so none is
// expanded in the level that reached it. Work: O(n) a level and O(m) in all, so O(n * levels + m). Space: three
// masks of bytes.

// frontier, visited, reached: u8[n] masks, next: distance of what this level reaches. One thread a vertex. Empties the
// frontier.
ENTRY(256) harish_expand(const INDEX* offsets, const VERTEX* neighbours, u64 n, u8* frontier, const u8* visited,
                         u8* reached, u32* distances, u32 next) {
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

// Makes the reached vertices the frontier and visited. One thread a vertex.
ENTRY(256) harish_update(u64 n, u8* frontier, u8* visited, u8* reached, u64* changed) {
    bool reached_one = false;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (!reached[v]) continue;
        reached[v] = 0;
        frontier[v] = 1;
        visited[v] = 1;
        reached_one = true;
    }
    if (reached_one) *changed = 1;
}

// -- The product of the adjacency matrix and the vector of the frontier, approach by matrices --
// The product is over the semiring of "or" and "and"; every row is multiplied in every level. Work: O(m) a level, so
// O(n + m * levels). The matrix is symmetric; a directed graph would need its rows of incoming arcs.

// frontier: u8[n] of 0 and 1, product: u8[n], set to 1 at the vertices that are reached first in this level and to 0
// elsewhere, next: distance of what is reached. One warp a row.
ENTRY(256) spmv_level(const INDEX* offsets, const VERTEX* neighbours, u64 n, const u8* frontier, u8* product,
                      u32* distances, u32 next, u64* changed) {
    const u64 warps = item_stride() / WARP;
    bool reached_one = false;
    for (u64 row = first_item() / WARP; row < n; row += warps) {
        const u64 end = offsets[row + 1];
        int any = 0;
        for (u64 arc = offsets[row] + lane_id(); arc < end; arc += WARP) any |= frontier[__ldg(neighbours + arc)];
        any = __any_sync(FULL_WARP, any);
        if (lane_id() != 0) continue;
        product[row] = any && reach(distances, row, next);
        reached_one |= product[row] != 0;
    }
    if (reached_one) *changed = 1;
}

// -- Edge parallelism: all arcs, each a pair of vertices --
// No row is longer than another, since a thread has one arc; all arcs are looked at in every level. Work:
// O(m * levels).

// tails: VERTEX[m], gets the vertex that each arc leaves, ascending. One warp a row.
ENTRY(256) arc_tails(const INDEX* offsets, u64 n, VERTEX* tails) {
    const u64 warps = item_stride() / WARP;
    for (u64 v = first_item() / WARP; v < n; v += warps) {
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v] + lane_id(); arc < end; arc += WARP) tails[arc] = static_cast<VERTEX>(v);
    }
}

// tails, heads: VERTEX[m], level: the distance of the vertices to expand. One thread an arc.
ENTRY(256) edges_level(const VERTEX* tails, const VERTEX* heads, u64 m, u32* distances, u32 level, u64* changed) {
    bool reached_one = false;
    for (u64 arc = first_item(); arc < m; arc += item_stride()) {
        if (distances[__ldg(tails + arc)] != level) continue;
        reached_one |= reach(distances, __ldg(heads + arc), level + 1);
    }
    if (reached_one) *changed = 1;
}

// -- Virtual warps, after Hong et al. (PPoPP 2011) --
// All vertices are looked at in every level, each by a group of lanes of one warp, which read the vertex's row
// together. A chunk of work is one vertex here, as in section 5.1.2. Work: O(n) a level and O(m) in all, so
// O(n * levels + m).

// level: the distance of the vertices to expand, lanes: of a virtual warp, a power of two up to 32. `lanes` threads a
// vertex.
ENTRY(256) hong_level(const INDEX* offsets, const VERTEX* neighbours, u64 n, u32* distances, u32 level, u32 lanes,
                      u64* changed) {
    const u32 lane = threadIdx.x % lanes;
    const u64 stride = item_stride() / lanes;
    bool reached_one = false;
    for (u64 v = first_item() / lanes; v < n; v += stride) {
        if (distances[v] != level) continue;
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v] + lane; arc < end; arc += lanes)
            reached_one |= reach(distances, __ldg(neighbours + arc), level + 1);
    }
    if (reached_one) *changed = 1;
}
