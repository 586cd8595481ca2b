// One level of breadth-first search from a queue: every arc of the frontier, by the mapping that -DMAPPING
// chooses. Source: papers/004, sections 2 and 5 (frontier-based BFS, linear work); the queue of winners is
// that of Merrill, Garland and Grimshaw.
// Work: O(n + m) in all levels together.
#include "mapping.cuh"
#include "claims.cuh"

// Sets the distance of a neighbour and puts it into the next queue, once, whoever finds it first.
struct Discover {
    const VERTEX* neighbours;
    u32* distances;
    u32 next_level;
    VERTEX* next;
    u64* n_next;
    __device__ void operator()(u64, u64 arc) const {
        const VERTEX w = __ldg(neighbours + arc);
        const u32 unreached = 0xffffffffu;
        if (distances[w] != unreached || atomicCAS(distances + w, unreached, next_level) != unreached) return;
        next[reserve_active(n_next)] = w;
    }
};

// queue: VERTEX[n_rows], the vertices at distance next_level - 1. offsets: u64[n + 1]. starts, partition,
// deferred, n_deferred: see Frontier; any array where the mapping does not need them. neighbours: VERTEX[m].
// distances: u32[n] with all bits set where unreached. next: VERTEX[n], n_next: u64[1], 0 at first. The
// distances and the set in `next` do not depend on the order of threads; the order in `next` does.
extern "C" __global__ void __launch_bounds__(256, MAPPING_RESIDENT)
expand_frontier(FRONTIER_PARAMETERS, u32* distances, u32 next_level, VERTEX* next, u64* n_next) {
    __shared__ u64 scratch[MAPPING_WORDS];
    const Frontier frontier = FRONTIER;
    const Discover discover = {neighbours, distances, next_level, next, n_next};
    for_each_arc(frontier, scratch, discover);
}

#if MAPPING == MAPPING_DYNAMIC_WARPS
// The rows that expand_frontier has deferred, with the same arguments.
extern "C" __global__ void __launch_bounds__(256)
expand_deferred(FRONTIER_PARAMETERS, u32* distances, u32 next_level, VERTEX* next, u64* n_next) {
    const Frontier frontier = FRONTIER;
    const Discover discover = {neighbours, distances, next_level, next, n_next};
    for_each_deferred_arc(frontier, discover);
}
#endif
