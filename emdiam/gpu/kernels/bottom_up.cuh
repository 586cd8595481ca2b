// A level of breadth-first search from the unreached vertices up, for one word of a bitmap: bfs_bitmaps.cu has a level a
// launch, bfs_whole.cu all levels in one.
//
// Source: papers/004, section 2.1, after Beamer, Asanovic and Patterson, SC 2012. A warp owns the words it works on, so it
// writes them without atomic operations. The frontier is read by plain loads: it does not change during a level, but an
// earlier level of the same launch may have written it.
#ifndef EMDIAM_BOTTOM_UP_CUH
#define EMDIAM_BOTTOM_UP_CUH

#include "simt.cuh"

#define BATCH 4u         // arcs that a lane asks for at once: half a sector of 32-bit ids
#define LANE_BATCHES 4u  // of a lane's own row, before the whole warp goes on with it

// Whether one of the arcs arc, arc + step, ... below end, at most BATCH, leads into the bitmap. *looked is raised by their
// number.
DEVICE bool leads_into(const u32* bitmap, const VERTEX* neighbours, INDEX arc, INDEX end, u32 step, u64* looked) {
    VERTEX w[BATCH] = {};
    bool hit = false;
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        if (arc + k * step < end) w[k] = __ldg(neighbours + arc + k * step);
    }
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        if (arc + k * step >= end) continue;
        hit |= (bitmap[w[k] / WARP] >> (w[k] % WARP) & 1u) != 0;
        ++*looked;
    }
    return hit;
}

// Whether a lane's row, [arc, end), leads into the bitmap: first each lane in its own row, then the warp in one
// unfinished row after the other. All 32 lanes must call it.
DEVICE bool row_leads_into(const u32* bitmap, const VERTEX* neighbours, INDEX arc, INDEX end, u64* looked) {
    bool leads = false;
    for (u32 batch = 0; batch < LANE_BATCHES && arc < end && !leads; ++batch, arc += BATCH)
        leads = leads_into(bitmap, neighbours, arc, end, 1, looked);
    for (u32 open = __ballot_sync(FULL_WARP, !leads && arc < end); open != 0; open &= open - 1) {
        const i32 owner = __ffs(static_cast<i32>(open)) - 1;
        const INDEX last = __shfl_sync(FULL_WARP, end, owner);
        bool hit = false;
        for (INDEX base = __shfl_sync(FULL_WARP, arc, owner); base < last && !hit; base += WARP * BATCH)
            hit = __any_sync(FULL_WARP, leads_into(bitmap, neighbours, base + lane_id(), last, WARP, looked));
        if (static_cast<i32>(lane_id()) == owner) leads = hit;
    }
    return leads;
}

// The unreached vertices of a word, one a lane: those with a neighbour in `frontier` get the distance `level` and a bit of
// `visited` and `next`. Returns the arcs of the lane's vertex if it was reached now, else 0; *looked is raised by those that
// the lane looked at. All 32 lanes must call it.
DEVICE u64 pull_word(const INDEX* offsets, const VERTEX* neighbours, u64 word, u32* visited, const u32* frontier, u32* next,
                     u32* distances, u32 level, u64* looked) {
    const u32 seen = visited[word];
    if (seen == FULL_WARP) {
        if (lane_id() == 0) next[word] = 0;
        return 0;
    }
    const u64 v = word * WARP + lane_id();
    INDEX begin = 0, end = 0;
    if ((seen >> lane_id() & 1u) == 0) {
        begin = __ldg(offsets + v);
        end = __ldg(offsets + v + 1);
    }
    const bool hit = row_leads_into(frontier, neighbours, begin, end, looked);
    const u32 reached = __ballot_sync(FULL_WARP, hit);
    if (lane_id() == 0) {
        next[word] = reached;
        if (reached != 0) visited[word] = seen | reached;
    }
    if (!hit) return 0;
    distances[v] = level;
    return end - begin;
}

#endif
