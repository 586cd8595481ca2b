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

// The arcs arc, arc + step, ... below end, at most BATCH, once they have been asked for.
struct Asked {
    VERTEX w[BATCH] = {};
    u32 count = 0;
    __device__ void ask(const VERTEX* neighbours, INDEX arc, INDEX end, u32 step) {
        count = 0;
#pragma unroll
        for (u32 k = 0; k < BATCH; ++k) {
            if (arc + k * step >= end) continue;
            w[k] = __ldg(neighbours + arc + k * step);
            count = k + 1;
        }
    }
    // Whether one of them leads into the bitmap.
    __device__ bool lead_into(const u32* bitmap) const {
        bool hit = false;
#pragma unroll
        for (u32 k = 0; k < BATCH; ++k)
            if (k < count) hit |= (bitmap[w[k] / WARP] >> (w[k] % WARP) & 1u) != 0;
        return hit;
    }
};

// Whether one of the arcs arc, arc + step, ... below end, at most BATCH, leads into the bitmap. *looked is raised by their
// number.
DEVICE bool leads_into(const u32* bitmap, const VERTEX* neighbours, INDEX arc, INDEX end, u32 step, u64* looked) {
    Asked asked;
    asked.ask(neighbours, arc, end, step);
    *looked += asked.count;
    return asked.lead_into(bitmap);
}

// Whether a row, [arc, end), leads into the bitmap: the warp in it, in at most `most` arcs. *open is set where there are more,
// and none has led there. All 32 lanes must call it with the same row.
DEVICE bool long_row_leads_into(const u32* bitmap, const VERTEX* neighbours, INDEX arc, INDEX end, u64 most, bool* open,
                                u64* looked) {
    const bool is_wide = end - arc > most;
    const INDEX last = is_wide ? arc + static_cast<INDEX>(most) : end;
    bool hit = false;
    for (; arc < last && !hit; arc += WARP * BATCH)
        hit = __any_sync(FULL_WARP, leads_into(bitmap, neighbours, arc + lane_id(), last, WARP, looked));
    *open = is_wide && !hit;
    return hit;
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

// What pull_words works on. at_once: words from `first` on. frontier, next: bitmaps; level: distance of what is reached.
// most: arcs of a row that a warp looks at.
struct Pull {
    const INDEX* offsets;
    const VERTEX* neighbours;
    u32* visited;
    const u32* frontier;
    u32* next;
    u32* distances;
    u32 level;
    u64 most;
    // The vertex at that place behind `first` has a neighbour in the frontier.
    __device__ void reach(PullRoom* room, u64 first, u32 place) const {
        distances[first * WARP + place] = level;
        atomicOr(room->reached + place / WARP, 1u << (place % WARP));
    }
};

// The places of the unreached vertices of a warp's words, packed so that every lane has one. Returns how many there are.
DEVICE u32 pack_unreached(const Pull& pull, u64 first, u64 at_once, u64 words, PullRoom* room) {
    const u32 half = lane_id() % 2, slot = lane_id() / 2;
    const bool is_mine = slot < at_once && first + slot < words;
    u32 open = (~(is_mine ? pull.visited[first + slot] : FULL_WARP) >> (half * (WARP / 2))) & ((1u << (WARP / 2)) - 1u);
    const u32 items = static_cast<u32>(__popc(open)), upto = warp_inclusive_sum(items);
    if (half == 0) room->reached[slot] = 0;
    for (u32 place = upto - items; open != 0; open &= open - 1)
        room->places[place++] = static_cast<u16>(
            lane_id() * (WARP / 2) + static_cast<u32>(__ffs(static_cast<i32>(open))) - 1u);
    __syncwarp(FULL_WARP);
    return __shfl_sync(FULL_WARP, upto, WARP - 1);
}

// Looks at the arcs of batch number `batch` of `count` vertices of the room, a vertex a lane, and packs those anew that have more,
// so that no lane waits for others' rows. Returns how many they are. Before the bitmap is asked for the neighbours of 32
// vertices, it is for the neighbours of the next 32, and for the offsets of those behind them.
DEVICE u32 pull_batch(const Pull& pull, u64 first, u32 count, u32 batch, PullRoom* room, u64* arcs, u64* looked) {
    u32 place = 0, next_place = 0, ahead = 0, kept = 0;
    INDEX degree = 0, begin = 0, end = 0;
    Asked asked;
    for (u32 done = 0; done < count + 2 * WARP; done += WARP) {
        Asked next;
        next.ask(pull.neighbours, begin + static_cast<INDEX>(batch * BATCH), end, 1);
        next_place = ahead;
        const INDEX next_degree = end - begin;
        begin = end = 0;
        if (done + lane_id() < count) {
            ahead = room->places[done + lane_id()];
            begin = __ldg(pull.offsets + first * WARP + ahead);
            end = __ldg(pull.offsets + first * WARP + ahead + 1);
        }
        *looked += asked.count;
        const bool hit = asked.lead_into(pull.frontier);
        if (hit) {
            pull.reach(room, first, place);
            *arcs += degree;
        }
        const bool more = !hit && degree > (batch + 1) * BATCH;
        const u32 lanes = __ballot_sync(FULL_WARP, more);
        if (more) room->places[kept + static_cast<u32>(__popc(lanes & lanes_below()))] = static_cast<u16>(place);
        kept += static_cast<u32>(__popc(lanes));
        asked = next;
        place = next_place;
        degree = next_degree;
    }
    __syncwarp(FULL_WARP);
    return kept;
}

// The unreached vertices of the words first to first + at_once - 1, of `words`: those with a neighbour in the frontier get their
// distance and a bit of `visited` and `next`. Where the warp has looked at pull.most arcs of a row and there are more, it is
// left to put_aside(v, arcs). room: of this warp. Returns the arcs of what the lane has reached; all lanes together raise
// *vertices by the number of vertices that were reached, and *looked by the arcs that they looked at. All 32 lanes must call it.
template <typename PutAside>
DEVICE u64 pull_words(const Pull& pull, u64 first, u64 at_once, u64 words, const PutAside& put_aside, PullRoom* room,
                      u64* vertices, u64* looked) {
    u64 arcs = 0;
    u32 count = pack_unreached(pull, first, at_once, words, room);
    for (u32 batch = 0; batch < LANE_BATCHES && count != 0; ++batch)
        count = pull_batch(pull, first, count, batch, room, &arcs, looked);
    for (u32 i = 0; i < count; ++i) {
        const u32 place = room->places[i];
        const INDEX begin = __ldg(pull.offsets + first * WARP + place), end = __ldg(pull.offsets + first * WARP + place + 1);
        bool is_open = false;
        const bool hit = long_row_leads_into(pull.frontier, pull.neighbours, begin + LANE_BATCHES * BATCH, end, pull.most,
                                             &is_open, looked);
        if (lane_id() != 0) continue;
        if (hit) {
            pull.reach(room, first, place);
            arcs += end - begin;
        }
        if (is_open) put_aside(static_cast<VERTEX>(first * WARP + place), static_cast<u64>(end - begin));
    }
    __syncwarp(FULL_WARP);
    const u32 slot = lane_id() / 2, reached = room->reached[slot];
    const u64 word = first + slot;
    if (lane_id() % 2 == 0 && slot < at_once && word < words) {
        pull.next[word] = reached;
        if (reached != 0) pull.visited[word] = pull.visited[word] | reached;
        *vertices += static_cast<u64>(__popc(reached));
    }
    __syncwarp(FULL_WARP);
    return arcs;
}

#endif
