// One level of breadth-first search with a queue in three tiers (tiers.cuh): every arc of the frontier, by the
// mapping that -DMAPPING chooses.
//
// Source: papers/004, section 2.1, the hierarchical queue of Luo, Wong and Hwu, whose own mapping is
// MAPPING_THREADS; section 5 for the others. Work: O(n + m) in all levels together.
#include "mapping.cuh"
#include "claims.cuh"
#include "tiers.cuh"

struct Enqueue {
    const VERTEX* neighbours;
    Tiers tiers;
    u32* distances;
    u32 next;
    VERTEX* reached;
    u64* tail;
    __device__ void operator()(u64, u64 arc) const {
        const VERTEX w = __ldg(neighbours + arc);
        if (claim(distances, w, next)) enqueue(tiers, w, reached, tail);
    }
};

// The first parameters are those of Frontier; queue: VERTEX[n_rows], offsets: u64[n + 1]. neighbours:
// VERTEX[m], distances: u32[n] with all bits set where unreached, next: distance of what is reached, reached:
// VERTEX[n], gets each reached vertex once, in any order, tail: u64[1], zero before, gets their number. Any grid.
// A block asks for room once, at its end: the mapping decides where its threads meet before that.
extern "C" __global__ void __launch_bounds__(256, MAPPING_RESIDENT)
luo_level(FRONTIER_PARAMETERS, u32* distances, u32 next, VERTEX* reached, u64* tail) {
    __shared__ u64 scratch[MAPPING_WORDS];
    TIERS(tiers);
    empty_tiers(tiers);
    __syncthreads();
    const Frontier frontier = FRONTIER;
    const Enqueue visit = {neighbours, tiers, distances, next, reached, tail};
    for_each_arc(frontier, scratch, visit);
    __syncthreads();
    flush(tiers, reached, tail);
}

#if MAPPING == MAPPING_DYNAMIC_WARPS
// The rows that luo_level has deferred, with the same arguments.
extern "C" __global__ void __launch_bounds__(256)
luo_level_deferred(FRONTIER_PARAMETERS, u32* distances, u32 next, VERTEX* reached,
                   u64* tail) {
    TIERS(tiers);
    empty_tiers(tiers);
    __syncthreads();
    const Frontier frontier = FRONTIER;
    const Enqueue visit = {neighbours, tiers, distances, next, reached, tail};
    for_each_deferred_arc(frontier, visit);
    __syncthreads();
    flush(tiers, reached, tail);
}
#endif
