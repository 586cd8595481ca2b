// A level of breadth-first search from the unreached vertices up, for some words of a bitmap: bfs_bitmaps.cu has a level a
// launch, bfs_whole.cu all levels in one.
//
// Source: papers/004, section 2.1, after Beamer, Asanovic and Patterson, SC 2012. A warp owns the words it works on, so it
// writes them without atomic operations. The frontier is read by plain loads: it does not change during a level, but an
// earlier level of the same launch may have written it.
#ifndef EMDIAM_BOTTOM_UP_CUH
#define EMDIAM_BOTTOM_UP_CUH

#include "simt.cuh"

#define BATCH 4u         // arcs that a lane asks for at once: half a sector of 32-bit ids
#define LANE_BATCHES 8u  // of a lane's own row, before the whole warp goes on with it
#define PULL_WORDS 16u   // most words that a warp works on at once: half a word a lane
#define PULL_SHARES 2u   // how often a warp comes to work, where there are words enough: rows are unlike each other

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
// unfinished row after the other, in each for at most `most` arcs. *open is set where a row has more, and none has led there.
// All 32 lanes must call it.
DEVICE bool row_leads_into(const u32* bitmap, const VERTEX* neighbours, INDEX arc, INDEX end, u64 most, bool* open,
                           u64* looked) {
    bool leads = false;
    for (u32 batch = 0; batch < LANE_BATCHES && arc < end && !leads; ++batch, arc += BATCH)
        leads = leads_into(bitmap, neighbours, arc, end, 1, looked);
    for (u32 unfinished = __ballot_sync(FULL_WARP, !leads && arc < end); unfinished != 0; unfinished &= unfinished - 1) {
        const i32 owner = __ffs(static_cast<i32>(unfinished)) - 1;
        INDEX base = __shfl_sync(FULL_WARP, arc, owner), last = __shfl_sync(FULL_WARP, end, owner);
        const bool is_wide = last - base > most;
        if (is_wide) last = base + static_cast<INDEX>(most);
        bool hit = false;
        for (; base < last && !hit; base += WARP * BATCH)
            hit = __any_sync(FULL_WARP, leads_into(bitmap, neighbours, base + lane_id(), last, WARP, looked));
        if (static_cast<i32>(lane_id()) == owner) {
            leads = hit;
            *open = is_wide && !hit;
        }
    }
    return leads;
}

// What a warp keeps of PULL_WORDS words in shared memory: the places of unreached vertices, and who of them was reached.
struct PullRoom {
    u16 places[PULL_WORDS * WARP];
    u32 reached[PULL_WORDS];
};

// How many words a warp of the grid works on at once.
DEVICE u64 words_at_once(u64 words) {
    const u64 share = words / (item_stride() / WARP * PULL_SHARES);
    return share < 1 ? 1 : min(share, static_cast<u64>(PULL_WORDS));
}

// The unreached vertices of the words first to first + at_once - 1, of `words`, packed so that every lane has one: those
// with a neighbour in `frontier` get the distance `level` and a bit of `visited` and `next`. Where the warp has looked at
// `most` arcs of a row and there are more, it is left to put_aside(v, arcs). room: of this warp. Returns the arcs of what the lane
// has reached; all lanes together raise *vertices by the number of vertices that were reached, and *looked by the arcs that
// they looked at. The offsets of the next 32 vertices are asked for before the rows of these. All 32 lanes must call it.
template <typename PutAside>
DEVICE u64 pull_words(const INDEX* offsets, const VERTEX* neighbours, u64 first, u64 at_once, u64 words, u32* visited,
                      const u32* frontier, u32* next, u32* distances, u32 level, u64 most, const PutAside& put_aside,
                      PullRoom* room, u64* vertices, u64* looked) {
    const u32 half = lane_id() % 2, slot = lane_id() / 2;
    const u64 word = first + slot;
    const bool is_mine = slot < at_once && word < words;
    u32 open = (~(is_mine ? visited[word] : FULL_WARP) >> (half * (WARP / 2))) & ((1u << (WARP / 2)) - 1u);
    const u32 items = static_cast<u32>(__popc(open)), upto = warp_inclusive_sum(items);
    const u32 total = __shfl_sync(FULL_WARP, upto, WARP - 1);
    if (half == 0) room->reached[slot] = 0;
    for (u32 place = upto - items; open != 0; open &= open - 1)
        room->places[place++] = static_cast<u16>(
            lane_id() * (WARP / 2) + static_cast<u32>(__ffs(static_cast<i32>(open))) - 1u);
    __syncwarp(FULL_WARP);
    u64 arcs = 0;
    u32 ahead = 0;
    INDEX begin = 0, end = 0;
    for (u32 done = 0; done < total + WARP; done += WARP) {
        const u32 place = ahead;
        const INDEX row = begin, row_end = end;
        begin = end = 0;
        if (done + lane_id() < total) {
            ahead = room->places[done + lane_id()];
            begin = __ldg(offsets + first * WARP + ahead);
            end = __ldg(offsets + first * WARP + ahead + 1);
        }
        bool is_open = false;
        if (done != 0 && row_leads_into(frontier, neighbours, row, row_end, most, &is_open, looked)) {
            distances[first * WARP + place] = level;
            atomicOr(room->reached + place / WARP, 1u << (place % WARP));
            arcs += row_end - row;
        }
        if (is_open) put_aside(static_cast<VERTEX>(first * WARP + place), static_cast<u64>(row_end - row));
    }
    __syncwarp(FULL_WARP);
    const u32 reached = room->reached[slot];
    if (half == 0 && is_mine) {
        next[word] = reached;
        if (reached != 0) visited[word] = visited[word] | reached;
        *vertices += static_cast<u64>(__popc(reached));
    }
    __syncwarp(FULL_WARP);
    return arcs;
}

#endif
