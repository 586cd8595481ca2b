// Spread: bounds that grow along arcs, value by value. bound[v] becomes the smallest of the values of seeds plus
// the distance to them, as long as that lowers it.
// Source: F-Diam, Algorithm 5, section 4.5 (Eliminate), for many seeds at once.
// Work: O(n + m) in all levels together, since a vertex is lowered once.
#include "mapping.cuh"

// Places in the counts of a level.
#define N_FOLLOWING 0
#define LOWERED 1

// The first parameters: see Frontier; the bounds of the queue are value - 1. neighbours: VERTEX[m].
// bounds: u32[n]. following: VERTEX[n], gets every vertex that is lowered to `value`, in any order. counts:
// N_FOLLOWING, from where it is on, and LOWERED are raised by their number.
ENTRY(256, MAPPING_RESIDENT) spread_level(FRONTIER_PARAMETERS, u32* bounds, u32 value, VERTEX* following, u64* counts) {
    // Lowers a neighbour and puts it into the next queue, once: all threads of a level write one value.
    const auto lower = [=](u64, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        if (load_fresh(bounds + w) <= value || atomicMin(bounds + w, value) <= value) return;
        following[reserve_active(counts + N_FOLLOWING, counts + LOWERED)] = w;
    };
    VISIT_ARCS(lower);
}
