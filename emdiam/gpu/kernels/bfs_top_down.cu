// One level of breadth-first search over every arc of a frontier, by the mapping that -DMAPPING chooses: from a queue
// to a queue, with claims in a bitmap of visited vertices, and for devices that hold little beside the vertex state
// without queues, where rows come to a launch as those of a page (paging.cu).
// Source: papers/004, sections 2.1 and 5; the status look-up in a bitmap before the atomic operation is that of
// Merrill, Garland and Grimshaw. The bitmap is 1/32 of the distances and stays in the second cache for up to
// some hundred million vertices. Frontiers as bitmaps: Beamer et al., SC 2012. Work: O(n + m) in all levels together,
// and without queues n / 32 a level.
#include "mapping.cuh"

// The visitors hold more than those that the mappings with windows of sums had in mind: 48 registers for 40; with wide
// ids 40 for 32, which sm_80 spills.
#define TOP_DOWN_RESIDENT \
    (MAPPING_RESIDENT == 6 ? 5 : sizeof(VERTEX) > 4 && MAPPING_RESIDENT > 6 ? 6 : MAPPING_RESIDENT)

// The first parameters: see Frontier; the queue has the vertices at distance level - 1. visited: u32[(n + 31) / 32], a
// bit for each vertex. distances: u32[n]. next: VERTEX[n]. counts: u64[3], zeros before, gets the number of reached
// vertices and of their arcs.
ENTRY(256, TOP_DOWN_RESIDENT) top_down_bits(FRONTIER_PARAMETERS, u32* visited, u32* distances, u32 level, VERTEX* next,
                                            u64* counts) {
    __shared__ u64 sums[33];
    u64 arcs = 0;
    // Sets the bit and the distance of a neighbour and puts it into the next queue, once, whoever comes first; sums the
    // arcs of what it has reached.
    auto visit = [=, &arcs](u64, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        u32* const word = visited + w / WARP;
        const u32 bit = 1u << (w % WARP);
        if ((*word & bit) != 0 || (atomicOr(word, bit) & bit) != 0) return;
        distances[w] = level;
        arcs += __ldg(offsets + w + 1) - __ldg(offsets + w);
        next[reserve_active(counts)] = w;
    };
    VISIT_ARCS(visit);
    block_add(arcs, sums, counts + 1);
}

// The same from bitmap to bitmap. distances: u32[n] with all bits set where unreached, next: u32[(n + 31) / 32], 0
// before the level, count: u64[1], raised by the number of vertices reached.
ENTRY(256, TOP_DOWN_RESIDENT) reach_words(FRONTIER_PARAMETERS, u32* distances, u32 level, u32* next, u64* count) {
    __shared__ u64 sums[33];
    u64 reached = 0;
    // Sets the distance of a neighbour and its bit in the next frontier, whoever comes first.
    auto visit = [=, &reached](u64, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        if (!claim(distances, w, level)) return;
        atomicOr(next + w / WARP, 1u << (w % WARP));
        ++reached;
    };
    VISIT_ARCS(visit);
    block_add(reached, sums, count);
}

// The same without distances: marks: u32[*], a bit for each vertex that there is, gets those of all neighbours. The queue
// and the offsets may be of other numbers than the neighbours, as those of a range of the vertices.
ENTRY(256, TOP_DOWN_RESIDENT) mark_words(FRONTIER_PARAMETERS, u32* marks) {
    // Looks before it writes, since most neighbours of a large frontier have been marked.
    auto visit = [=](u64, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        const u32 bit = 1u << (w % WARP);
        if ((marks[w / WARP] & bit) == 0) atomicOr(marks + w / WARP, bit);
    };
    VISIT_ARCS(visit);
}
