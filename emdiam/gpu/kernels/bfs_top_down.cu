// One level of breadth-first search from a queue, with claims in a bitmap of visited vertices: every arc of the
// frontier, by the mapping that -DMAPPING chooses.
// Source: papers/004, sections 2.1 and 5; the status look-up in a bitmap before the atomic operation is that of
// Merrill, Garland and Grimshaw. The bitmap is 1/32 of the distances and stays in the second cache for up to
// some hundred million vertices. Work: O(n + m) in all levels together.
#include "mapping.cuh"
#include "claims.cuh"

// The visitor holds more than those that the mappings with windows of sums had in mind: 48 registers for 40.
#define TOP_DOWN_RESIDENT (MAPPING_RESIDENT == 6 ? 5 : MAPPING_RESIDENT)

// Sets the bit and the distance of a neighbour and puts it into the next queue, once, whoever finds it first;
// sums the arcs of what it has reached.
struct ReachByBits {
    const u64* offsets;
    const VERTEX* neighbours;
    u32* visited;
    u32* distances;
    u32 level;
    VERTEX* next;
    u64* counts;
    u64 arcs;
    __device__ void operator()(u64, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        u32* const word = visited + w / WARP;
        const u32 bit = 1u << (w % WARP);
        if ((*word & bit) != 0 || (atomicOr(word, bit) & bit) != 0) return;
        distances[w] = level;
        arcs += __ldg(offsets + w + 1) - __ldg(offsets + w);
        next[reserve_active(counts)] = w;
    }
};

// queue: VERTEX[n_rows], the vertices at distance level - 1. offsets: u64[n + 1]. starts, partition, deferred,
// n_deferred: see Frontier; any array where the mapping does not need them. neighbours: VERTEX[m]. visited:
// u32[(n + 31) / 32], a bit for each vertex. distances: u32[n]. next: VERTEX[n]. counts: u64[3], zeros before,
// gets the number of reached vertices and of their arcs.
extern "C" __global__ void __launch_bounds__(256, TOP_DOWN_RESIDENT)
top_down_bits(FRONTIER_PARAMETERS, u32* visited, u32* distances, u32 level, VERTEX* next,
              u64* counts) {
    __shared__ u64 scratch[MAPPING_WORDS];
    __shared__ u64 sums[33];
    const Frontier frontier = FRONTIER;
    ReachByBits reach = {offsets, neighbours, visited, distances, level, next, counts, 0};
    for_each_arc(frontier, scratch, reach);
    u64 arcs;
    block_exclusive_sum(reach.arcs, sums, &arcs);
    if (threadIdx.x == 0 && arcs != 0) atomicAdd(counts + 1, arcs);
}

#if MAPPING == MAPPING_DYNAMIC_WARPS
// The rows that top_down_bits has deferred, with the same arguments.
extern "C" __global__ void __launch_bounds__(256)
top_down_bits_deferred(FRONTIER_PARAMETERS, u32* visited, u32* distances,
                       u32 level, VERTEX* next, u64* counts) {
    __shared__ u64 sums[33];
    const Frontier frontier = FRONTIER;
    ReachByBits reach = {offsets, neighbours, visited, distances, level, next, counts, 0};
    for_each_deferred_arc(frontier, reach);
    u64 arcs;
    block_exclusive_sum(reach.arcs, sums, &arcs);
    if (threadIdx.x == 0 && arcs != 0) atomicAdd(counts + 1, arcs);
}
#endif
