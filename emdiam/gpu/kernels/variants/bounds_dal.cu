// Bounds on the eccentricities of all vertices, and the candidates among them: the bookkeeping between two
// traversals of the bounding algorithm.
//
// Source: papers/001, Algorithms 1 and 2. Work: O(n) each.
//
// Distances and bounds are DISTANCE. A distance or an upper bound with all bits set is none; an upper bound
// that would not fit stays none, which is larger than all.
#include "simt.cuh"

#ifndef DISTANCE
#define DISTANCE u32
#endif

DEVICE DISTANCE none() { return static_cast<DISTANCE>(~static_cast<DISTANCE>(0)); }

// candidates: u8[n], set to 1 where a distance is: the component of the source; else 0. lower: DISTANCE[n],
// set to 0, upper: DISTANCE[n], set to none.
ENTRY(256) open_bounds(const DISTANCE* distances, u64 n, DISTANCE* lower, DISTANCE* upper, u8* candidates) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        lower[v] = 0;
        upper[v] = none();
        candidates[v] = distances[v] != none();
    }
}

// UPDATE_BOUNDS_KERNEL. distances: from a source of this eccentricity; vertices without one keep their bounds.
ENTRY(256) update_bounds(const DISTANCE* distances, u64 n, DISTANCE eccentricity, DISTANCE* lower, DISTANCE* upper) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 d = distances[v];
        if (d == none()) continue;
        const u32 rest = eccentricity - d;
        const u32 low = d > rest ? d : rest;
        const u64 high = static_cast<u64>(eccentricity) + d;
        if (low > lower[v]) lower[v] = static_cast<DISTANCE>(low);
        if (high < upper[v]) upper[v] = static_cast<DISTANCE>(high);
    }
}

// largest: u32[2], zero at first: largest lower bound of all vertices; largest upper bound of candidates, 0
// if there are none. Bounds of vertices that are no candidates any more are at most the first.
ENTRY(256) largest_bounds(const DISTANCE* lower, const DISTANCE* upper, const u8* candidates, u64 n, u32* largest) {
    u32 low = 0, high = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        low = lower[v] > low ? lower[v] : low;
        if (candidates[v] != 0 && upper[v] > high) high = upper[v];
    }
    low = warp_max(low);
    high = warp_max(high);
    if (lane_id() != 0) return;
    atomicMax(largest, low);
    atomicMax(largest + 1, high);
}

// UPDATE_CANDIDATES_KERNEL: a candidate is dropped if its bounds meet, or if its upper bound is at most the largest lower
// one and twice its lower bound at least the largest upper one. largest: of largest_bounds. counts: u64[2], raised by the number of candidates that
// stay, and of candidates dropped because their bounds meet.
ENTRY(256) update_candidates(const DISTANCE* lower, const DISTANCE* upper, u64 n, const u32* largest, u8* candidates,
                             u64* counts) {
    const u32 bound = largest[0];
    const u32 widest = largest[1] > bound ? largest[1] : bound;
    u64 open = 0, closed = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (candidates[v] == 0) continue;
        const bool met = lower[v] == upper[v];
        if (met || (upper[v] <= bound && 2 * static_cast<u64>(lower[v]) >= widest)) candidates[v] = 0;
        else ++open;
        closed += met;
    }
    warp_add(open, counts);
    warp_add(closed, counts + 1);
}

// SELECT_CANDIDATE, first half. bounds: DISTANCE[n]. best: u32[1], zero at first: the largest rank of a
// candidate, which is its bound, or where `flip` has all bits set the complement of that.
ENTRY(256) select_rank(const DISTANCE* bounds, const u8* candidates, u64 n, u32 flip, u32* best) {
    u32 highest = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (candidates[v] != 0) highest = max(highest, static_cast<u32>(bounds[v]) ^ flip);
    }
    highest = warp_max(highest);
    if (lane_id() == 0) atomicMax(best, highest);
}

// Second half. first: u64[1], all bits set at first: the smallest candidate of that rank. Two passes, because
// a bound and a vertex of 64 bits do not fit one atomic.
ENTRY(256) select_vertex(const DISTANCE* bounds, const u8* candidates, u64 n, u32 flip, const u32* best, u64* first) {
    const u32 wanted = *best;
    u64 v = first_item();  // the items of a thread ascend
    while (v < n && (candidates[v] == 0 || (static_cast<u32>(bounds[v]) ^ flip) != wanted)) v += item_stride();
    const u64 lowest = warp_min(v < n ? v : ~0ull);
    if (lane_id() == 0) atomicMin(first, lowest);
}
