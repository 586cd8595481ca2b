// Delta-stepping with buckets: the vertices whose length lies in one interval of width delta are a bucket. The first
// one that is not empty is relaxed along light arcs (weight at most delta) until none of its vertices is lowered any
// more, and then once along heavy ones. The last bucket holds all that lies beyond the others, and is shared out over
// them, from its shortest length on, when they are empty.
// Source: papers/004, section 3.1 (Meyer and Sanders; buckets on a GPU: Davidson, Baxter, Garland and Owens).
//
// words: u64[n] (lengths.cuh). base: the length at which bucket 0 begins, last: number of the last bucket. buckets:
// VERTEX[(last + 1) * n], n places for each; fills: u64[last + 1], how many it holds. held: u32[n], the lowest bucket
// to which a vertex was brought, above `last` for none: so a bucket holds a vertex once; it may be in several, and
// counts in that of its length alone. Any grid.
#include "lengths.cuh"
#include "mapping.cuh"

#define LIGHT 0u
// 64 registers: the division and twenty parameters take more than other relaxations do.
#define DELTA_RESIDENT (MAPPING_RESIDENT < 4 ? MAPPING_RESIDENT : 4)

DEVICE u32 bucket_of(u64 word, LENGTH base, LENGTH delta, u32 last) {
    const LENGTH place = (length_of(word) - base) / delta;
    return place < static_cast<LENGTH>(last) ? static_cast<u32>(place) : last;
}

// One round over light or, if `arcs` says so, heavy arcs. The first parameters: see Frontier; rounds, round: see enters.
// current: the bucket at hand. next: VERTEX[n], gets the vertices lowered within it, each once; n_next: u64[1], raised
// by their number.
ENTRY(256, DELTA_RESIDENT) delta_relax(FRONTIER_PARAMETERS, const WEIGHT* weights, u64* words, LENGTH base,
                                         LENGTH delta, u32 current, u32 last, u32 arcs, u32* rounds, u32 round,
                                         VERTEX* next, u64* n_next, u32* held, VERTEX* buckets, u64 n, u64* fills) {
    const auto relax = [=](u64 row, u64 arc) {
        const Arc to = arc_at(neighbours, weights, arc);
        if ((static_cast<LENGTH>(to.weight) <= delta) != (arcs == LIGHT)) return;
        const u64 offer = extended(load_fresh(words + queue[row]), to.weight);
        if (!lowers(words, to.head, offer)) return;
        const u32 bucket = bucket_of(offer, base, delta, last);
        if (bucket <= current) {
            if (enters(rounds, to.head, round)) next[reserve_active(n_next)] = to.head;
        } else if (load_fresh(held + to.head) > bucket && atomicMin(held + to.head, bucket) > bucket) {
            buckets[bucket * n + atomicAdd(fills + bucket, 1ull)] = to.head;
        }
    };
    VISIT_ARCS(relax);
}

// The vertices of a bucket (VERTEX[size]) whose length is in it still, to queue: VERTEX[n]; tail: u64[1], raised by
// their number. One thread a vertex.
ENTRY(256) delta_take(const VERTEX* bucket, u64 size, const u64* words, LENGTH base, LENGTH delta, u32 current,
                      u32 last, VERTEX* queue, u64* tail) {
    for (u64 place = first_item() - lane_id(); place < size; place += item_stride()) {
        const bool there = place + lane_id() < size;
        const VERTEX v = there ? bucket[place + lane_id()] : 0;
        const bool takes = there && bucket_of(words[v], base, delta, last) == current;
        const u64 to = warp_reserve(takes, tail);
        if (takes) queue[to] = v;
    }
}

// The vertices of a queue (VERTEX[size]) that are not among the settled ones of this bucket yet, to settled: VERTEX[n];
// tail: u64[1], raised by their number. steps: u32[n], as rounds in enters. One thread a vertex.
ENTRY(256) delta_settle(const VERTEX* queue, u64 size, u32* steps, u32 step, VERTEX* settled, u64* tail) {
    for (u64 i = first_item(); i < size; i += item_stride()) {
        if (enters(steps, queue[i], step)) settled[reserve_active(tail)] = queue[i];
    }
}

// least: u64[1], lowered to the word of the shortest length in the last bucket (VERTEX[size]). One thread a vertex.
ENTRY(256) delta_least(const VERTEX* bucket, u64 size, const u64* words, LENGTH base, LENGTH delta, u32 last,
                       u64* least) {
    u64 best = NO_PATH;
    for (u64 i = first_item(); i < size; i += item_stride()) {
        const u64 word = words[bucket[i]];
        if (bucket_of(word, base, delta, last) == last) best = min(best, word);
    }
    best = warp_min(best);
    if (lane_id() == 0 && best != NO_PATH) atomicMin(least, best);
}

// Shares the vertices of the last bucket, copied to `pile` (VERTEX[size]), out over buckets from `new_base` on; their
// fills are 0 before. One thread a vertex.
ENTRY(256) delta_share_out(const VERTEX* pile, u64 size, const u64* words, LENGTH base, LENGTH new_base, LENGTH delta,
                           u32 last, u32* held, VERTEX* buckets, u64 n, u64* fills) {
    for (u64 i = first_item(); i < size; i += item_stride()) {
        const VERTEX v = pile[i];
        const u64 word = words[v];
        if (bucket_of(word, base, delta, last) < last) continue;
        const u32 bucket = bucket_of(word, new_base, delta, last);
        held[v] = bucket;
        buckets[bucket * n + atomicAdd(fills + bucket, 1ull)] = v;
    }
}
