// One level of breadth-first search from a queue: every arc of the frontier, by the mapping that -DMAPPING
// chooses. Source: papers/004, sections 2 and 5 (frontier-based BFS, linear work); the queue of winners is
// that of Merrill, Garland and Grimshaw.
// Work: O(n + m) in all levels together.
#include "mapping.cuh"

// The first parameters: see Frontier; the queue has the vertices at distance next_level - 1. distances: u32[n] with all
// bits set where unreached. next: VERTEX[n], n_next: u64[1], 0 at first. The distances and the set in `next` do not
// depend on the order of threads; the order in `next` does.
ENTRY(256, MAPPING_RESIDENT) expand_frontier(FRONTIER_PARAMETERS, u32* distances, u32 next_level, VERTEX* next,
                                             u64* n_next) {
    // Sets the distance of a neighbour and puts it into the next queue, once, whoever comes first.
    const auto discover = [=](u64, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        if (distances[w] != UNREACHED || atomicCAS(distances + w, UNREACHED, next_level) != UNREACHED) return;
        next[reserve_active(n_next)] = w;
    };
    VISIT_ARCS(discover);
}
