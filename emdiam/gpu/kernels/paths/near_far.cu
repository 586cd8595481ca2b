// Near-far: a queue of near vertices, shorter than a split, which are relaxed round after round, and a pile of far ones,
// which waits until no near one is left; then the split moves on.
// The same pile also serves a search that settles all vertices which no path can shorten, and one that sorts it by buckets
// in every round; both lower no vertex below the split, which is 0.
// Source: papers/004, section 3.1, after Davidson, Baxter, Garland and Owens (Near-Far Pile; bucketing by sorting), and
// section 4.1, after Ortega-Arranz, Torres, Llanos and Gonzalez-Escribano.
//
// words: u64[n] (lengths.cuh); `split` and `done` are such words. piled: u32[n], 1 while a vertex is in the pile, so
// that it is there once. Any grid.
#include "lengths.cuh"
#include "mapping.cuh"

// One round. The first parameters: see Frontier; rounds, round: see enters. near: VERTEX[n], gets the vertices lowered
// below the split, each once; far: VERTEX[n], those lowered to it or above. counts: u64[2], raised by their numbers.
ENTRY(256, RELAX_RESIDENT) near_far_relax(FRONTIER_PARAMETERS, const WEIGHT* weights, u64* words, u32* rounds,
                                            u32 round, u32* piled, u64 split, VERTEX* near, VERTEX* far, u64* counts) {
    const auto relax = [=](u64 row, u64 arc) {
        const Arc to = arc_at(neighbours, weights, arc);
        const u64 offer = extended(load_fresh(words + queue[row]), to.weight);
        if (!lowers(words, to.head, offer)) return;
        if (offer < split) {
            if (enters(rounds, to.head, round)) near[reserve_active(counts)] = to.head;
        } else if (enters(piled, to.head, 1u)) {
            // Not by reserve_active, whose lanes must all want places of one queue.
            far[atomicAdd(counts + 1, 1ull)] = to.head;
        }
    };
    VISIT_ARCS(relax);
}

// least: u64[1], lowered to the shortest length of a vertex of the pile that is not done: below `done` all are, since
// they were near and no near one is left. One thread a vertex of the pile.
ENTRY(256) near_far_least(const VERTEX* pile, u64 size, const u64* words, u64 done, u64* least) {
    u64 best = NO_PATH;
    for (u64 i = first_item(); i < size; i += item_stride()) {
        const u64 word = words[pile[i]];
        if (word >= done) best = min(best, word);
    }
    best = warp_min(best);
    if (lane_id() == 0 && best != NO_PATH) atomicMin(least, best);
}

// Shares out a pile: what is done is dropped, what is below the new split comes to `near`, the rest to `far`.
// counts: as above. One thread a vertex of the pile.
ENTRY(256) near_far_split(const VERTEX* pile, u64 size, const u64* words, u64 done, u64 split, u32* piled,
                          VERTEX* near, VERTEX* far, u64* counts) {
    for (u64 base = first_item() - lane_id(); base < size; base += item_stride()) {
        const bool there = base + lane_id() < size;
        const VERTEX v = there ? pile[base + lane_id()] : 0;
        const u64 word = there ? words[v] : 0;
        const bool is_near = there && word >= done && word < split, is_far = there && word >= split;
        if (there && !is_far) piled[v] = 0;
        const u64 near_place = warp_reserve(is_near, counts), far_place = warp_reserve(is_far, counts + 1);
        if (is_near) near[near_place] = v;
        if (is_far) far[far_place] = v;
    }
}

// lightest: WEIGHT[n], gets the least weight of the arcs of every vertex that has some. One thread a vertex.
ENTRY(256) lightest_arcs(const INDEX* offsets, const VERTEX* neighbours, const WEIGHT* weights, u64 n,
                         WEIGHT* lightest) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u64 end = offsets[v + 1];
        u64 arc = offsets[v];
        if (arc == end) continue;
        WEIGHT best = arc_at(neighbours, weights, arc).weight;
        while (++arc < end) best = min(best, arc_at(neighbours, weights, arc).weight);
        lightest[v] = best;
    }
}

// least: u64[1], lowered to the shortest length of a path that leaves the pile: up to it, all lengths in the pile are
// final. One thread a vertex of the pile.
ENTRY(256) shortest_leaving(const VERTEX* pile, u64 size, const u64* words, const INDEX* offsets,
                            const WEIGHT* lightest, u64* least) {
    u64 best = NO_PATH;
    for (u64 i = first_item(); i < size; i += item_stride()) {
        const VERTEX v = pile[i];
        if (offsets[v] < offsets[v + 1]) best = min(best, extended(words[v], lightest[v]));
    }
    best = warp_min(best);
    if (lane_id() == 0 && best != NO_PATH) atomicMin(least, best);
}

#define SORTED_BUCKETS 32u

// The bucket of a word, of intervals of `delta` from `first` on, which no length is below; the last one has all beyond it.
DEVICE u32 bucket_of(u64 word, LENGTH delta, LENGTH first) {
    const LENGTH steps = (length_of(word) - first) / delta;
    return steps < SORTED_BUCKETS ? static_cast<u32>(steps) : SORTED_BUCKETS - 1u;
}

// counts: u64[SORTED_BUCKETS], raised by the vertices of the pile in each. One thread a vertex of the pile.
ENTRY(256) sorted_counts(const VERTEX* pile, u64 size, const u64* words, LENGTH delta, LENGTH first, u64* counts) {
    for (u64 i = first_item(); i < size; i += item_stride())
        atomicAdd(counts + bucket_of(words[pile[i]], delta, first), 1ull);
}

// Moves the vertices of the first bucket to `near`, and the others by buckets to `far`. starts: u64[SORTED_BUCKETS], the
// first place of each in its array, raised. One thread a vertex of the pile.
ENTRY(256) sorted_places(const VERTEX* pile, u64 size, const u64* words, LENGTH delta, LENGTH first, u64* starts,
                         u32* piled, VERTEX* near, VERTEX* far) {
    for (u64 i = first_item(); i < size; i += item_stride()) {
        const VERTEX v = pile[i];
        const u32 bucket = bucket_of(words[v], delta, first);
        const u64 place = atomicAdd(starts + bucket, 1ull);
        if (bucket == 0u) piled[v] = 0u;
        (bucket == 0u ? near : far)[place] = v;
    }
}
