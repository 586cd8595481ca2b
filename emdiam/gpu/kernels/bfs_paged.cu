// One level of breadth-first search without queues, for devices that hold little beside the vertex state: the
// frontier and the next one are bitmaps, and rows come to a launch as those of a page (paging.cu).
// Source: papers/004, sections 2 and 5; bitmaps as in Beamer et al., SC 2012. Work: O(n / 32 + m) a level at most.
#include "mapping.cuh"
#include "claims.cuh"

// Sets the distance of a neighbour and its bit in the next frontier, whoever finds it first.
struct ReachWord {
    const VERTEX* neighbours;
    u32* distances;
    u32 level;
    u32* next;
    u64 found;
    __device__ void operator()(u64, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        if (!claim(distances, w, level)) return;
        atomicOr(next + w / WARP, 1u << (w % WARP));
        ++found;
    }
};

// distances: u32[n] with all bits set where unreached, next: u32[(n + 31) / 32], 0 before the level, count:
// u64[1], raised by the number of vertices reached.
extern "C" __global__ void __launch_bounds__(256, MAPPING_RESIDENT == 6 ? 5 : MAPPING_RESIDENT)
reach_words(FRONTIER_PARAMETERS, u32* distances, u32 level, u32* next, u64* count) {
    __shared__ u64 scratch[MAPPING_WORDS];
    __shared__ u64 sums[33];
    const Frontier frontier = FRONTIER;
    ReachWord reach = {neighbours, distances, level, next, 0};
    for_each_arc(frontier, scratch, reach);
    u64 total;
    block_exclusive_sum(reach.found, sums, &total);
    if (threadIdx.x == 0 && total != 0) atomicAdd(count, total);
}

#if MAPPING == MAPPING_DYNAMIC_WARPS
// The rows that reach_words has deferred, with the same arguments.
extern "C" __global__ void __launch_bounds__(256)
reach_words_deferred(FRONTIER_PARAMETERS, u32* distances, u32 level, u32* next, u64* count) {
    __shared__ u64 sums[33];
    const Frontier frontier = FRONTIER;
    ReachWord reach = {neighbours, distances, level, next, 0};
    for_each_deferred_arc(frontier, reach);
    u64 total;
    block_exclusive_sum(reach.found, sums, &total);
    if (threadIdx.x == 0 && total != 0) atomicAdd(count, total);
}
#endif
