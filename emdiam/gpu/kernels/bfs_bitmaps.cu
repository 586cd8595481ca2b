// Levels of breadth-first search over bitmaps, from the unreached vertices up.
//
// Source: papers/004, section 2.1, after Beamer, Asanovic and Patterson, "Direction-optimizing breadth-first
// search", SC 2012. Going up takes neighbours for predecessors, so the graph is undirected. A bitmap has a bit
// for each vertex, that of vertex v in word v / 32; a warp owns the words it works on, so it writes them
// without atomic operations. Bits behind the last vertex are set in `visited`, and clear in frontiers.
#include "simt.cuh"

// 1: counts[2] gets the number of arcs that were looked at.
#ifndef COUNT_ARCS
#define COUNT_ARCS 0
#endif

#define BATCH 4u         // arcs that a lane asks for at once: half a sector of 32-bit ids
#define LANE_BATCHES 4u  // of a lane's own row, before the whole warp goes on with it

// Whether one of the arcs arc, arc + step, ... below end, at most BATCH, leads into the bitmap.
DEVICE bool leads_into(const u32* bitmap, const VERTEX* neighbours, u64 arc, u64 end, u64 step, u64* looked) {
    VERTEX w[BATCH] = {};
    bool hit = false;
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        if (arc + k * step < end) w[k] = __ldg(neighbours + arc + k * step);
    }
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        if (arc + k * step >= end) continue;
        hit |= (__ldg(bitmap + w[k] / WARP) >> (w[k] % WARP) & 1u) != 0;
        *looked += COUNT_ARCS;
    }
    return hit;
}

// Whether a lane's row, [arc, end), leads into the bitmap: first each lane in its own row, then the warp in one
// unfinished row after the other. All 32 lanes must call it.
DEVICE bool row_leads_into(const u32* bitmap, const VERTEX* neighbours, u64 arc, u64 end, u64* looked) {
    bool leads = false;
    for (u32 batch = 0; batch < LANE_BATCHES && arc < end && !leads; ++batch, arc += BATCH)
        leads = leads_into(bitmap, neighbours, arc, end, 1, looked);
    for (u32 open = __ballot_sync(FULL_WARP, !leads && arc < end); open != 0; open &= open - 1) {
        const i32 owner = __ffs(static_cast<i32>(open)) - 1;
        const u64 last = __shfl_sync(FULL_WARP, end, owner);
        bool hit = false;
        for (u64 base = __shfl_sync(FULL_WARP, arc, owner); base < last && !hit; base += WARP * BATCH)
            hit = __any_sync(FULL_WARP, leads_into(bitmap, neighbours, base + lane_id(), last, WARP, looked));
        if (static_cast<i32>(lane_id()) == owner) leads = hit;
    }
    return leads;
}

// One level up. offsets: u64[n + 1], neighbours: VERTEX[m], words: of a bitmap of n vertices, visited: u32[words],
// read and written, frontier: u32[words], next: u32[words], gets the next frontier, distances: u32[n], level:
// distance of what is reached, counts: u64[3], zeros before, gets the number of reached vertices and of their
// arcs, and see COUNT_ARCS. A warp a word, any grid.
ENTRY(256) bottom_up_words(const u64* offsets, const VERTEX* neighbours, u64 words, u32* visited, const u32* frontier,
                           u32* next, u32* distances, u32 level, u64* counts) {
    __shared__ u64 scratch[33];
    u64 vertices = 0, arcs = 0, looked = 0;
    for (u64 word = first_item() / WARP; word < words; word += item_stride() / WARP) {
        const u32 seen = visited[word];
        if (seen == FULL_WARP) {
            if (lane_id() == 0) next[word] = 0;
            continue;
        }
        const u64 v = word * WARP + lane_id();
        u64 begin = 0, end = 0;
        if ((seen >> lane_id() & 1u) == 0) {
            begin = __ldg(offsets + v);
            end = __ldg(offsets + v + 1);
        }
        const bool hit = row_leads_into(frontier, neighbours, begin, end, &looked);
        const u32 reached = __ballot_sync(FULL_WARP, hit);
        if (lane_id() == 0) {
            next[word] = reached;
            if (reached != 0) visited[word] = seen | reached;
        }
        if (!hit) continue;
        distances[v] = level;
        ++vertices;
        arcs += end - begin;
    }
    block_add(vertices, scratch, counts);
    block_add(arcs, scratch, counts + 1);
    if (COUNT_ARCS) block_add(looked, scratch, counts + 2);
}

// What a graph is searched with, made once. isolated: u32[words], the vertices without arcs and the bits behind
// the last vertex; largest: u64[1], zero before, gets the largest degree. A warp a word, any grid.
ENTRY(256) isolated_words(const u64* offsets, u64 n, u64 words, u32* isolated, u64* largest) {
    u64 highest = 0;
    for (u64 word = first_item() / WARP; word < words; word += item_stride() / WARP) {
        const u64 v = word * WARP + lane_id();
        const u64 degree = v < n ? offsets[v + 1] - offsets[v] : 0;
        const u32 empty = __ballot_sync(FULL_WARP, degree == 0);
        if (lane_id() == 0) isolated[word] = empty;
        highest = max(highest, degree);
    }
    highest = warp_max(highest);
    if (lane_id() == 0 && highest != 0) atomicMax(largest, highest);
}

// distances: u32[n] and visited: u32[words], of which only the source changes; queue: VERTEX[n], gets it; counts:
// u64[3], gets 1 vertex, its arcs, and 0. One thread.
ENTRY(256) start_search(const u64* offsets, VERTEX source, u32* distances, u32* visited, VERTEX* queue, u64* counts) {
    if (first_item() != 0) return;
    distances[source] = 0;
    visited[source / WARP] |= 1u << (source % WARP);
    queue[0] = source;
    counts[0] = 1;
    counts[1] = offsets[source + 1] - offsets[source];
    counts[2] = 0;
}

// visited: u32[words], made of the distances, u32[n], and the isolated vertices. A warp a word, any grid.
ENTRY(256) visited_words(const u32* distances, u64 n, u64 words, const u32* isolated, u32* visited) {
    for (u64 word = first_item() / WARP; word < words; word += item_stride() / WARP) {
        const u64 v = word * WARP + lane_id();
        const u32 reached = __ballot_sync(FULL_WARP, v < n && distances[v] != UNREACHED);
        if (lane_id() == 0) visited[word] = reached | isolated[word];
    }
}
