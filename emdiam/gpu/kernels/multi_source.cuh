// BFS from many sources at once: what a vertex has of words and lanes, how its bits are pulled, a level is ended and its
// distances are written; multi_source_levels.cu does a level a launch, multi_source_whole.cu all levels in one, and
// multi_source_wide.cu balls of more sources, without frontiers.
//
// Each vertex has WORDS words of 64 bits, one bit a source, side by side. So a vertex is worked on by WORDS
// neighbouring lanes, one word each, and what they read of a neighbour is one piece of memory. Bits are read by plain
// loads: an earlier level of the same launch may have written them.
// Source: Then et al., PVLDB 2014 (MS-BFS), sections 3 and 4; rows that are pulled have arcs into vertices.
#ifndef EMDIAM_MULTI_SOURCE_CUH
#define EMDIAM_MULTI_SOURCE_CUH

#include "queue_rows.cuh"

#ifndef WORDS
#define WORDS 1
#endif
// Places in the counts of a level: vertices that got a bit, their arcs, arcs of those that have all bits now, bits that came
// to targets; then WORDS words, the bits that came to anything.
#define CAME 0
#define ARCS 1
#define CLOSED 2
#define MET 3
#define BITS 4
#define COUNTS (BITS + WORDS)
// Lanes of a warp that have the same word of different vertices.
#define VERTICES_OF_WARP (WARP / WORDS)
// Rows of at least this many arcs are pulled by a warp.
#define BIG_ROW 64u
// Arcs that the lanes of a vertex, and that a warp, look at before they ask whether they are done with a row: at least four
// for each lane.
#define FEW (WORDS < 4u ? 4u : WORDS)
#define STEP (WORDS < 4u ? 4u / WORDS * WARP : WARP)

// The word of this lane, and the first lane of its vertex.
DEVICE u32 word_of_lane() { return lane_id() % WORDS; }
DEVICE u32 group_of_lane() { return lane_id() - word_of_lane(); }
// The lanes of the vertex whose first lane this is.
DEVICE u32 group_mask(u32 group) { return (FULL_WARP >> (WARP - WORDS)) << group; }
// Whether one of the lanes `hits` has a word of the item that this lane stands for, where items first, first + 1, ... to
// first + VERTICES_OF_WARP - 1 are done by WORDS lanes each.
DEVICE bool item_hit(u32 hits, u32 first) {
    const u32 place = lane_id() - first;
    return place < VERTICES_OF_WARP && (hits & group_mask(place * WORDS)) != 0;
}
// The bits of k sources in the word of this lane.
DEVICE u64 bits_of_sources(u64 k) {
    const u64 from = word_of_lane() * 64;
    return k >= from + 64 ? ~0ull : k <= from ? 0ull : (1ull << (k - from)) - 1;
}

// OR over the lanes with the same word; all lanes must call it.
DEVICE u64 or_over_vertices(u64 bits) {
#pragma unroll
    for (u32 step = WORDS; step < WARP; step *= 2) bits |= __shfl_xor_sync(FULL_WARP, bits, step);
    return bits;
}

// The bits that come along the arcs begin to end - 1, of the word of the lane: the lanes of a vertex hand its neighbours round,
// FEW at a time, and stop when nothing of `open` is missing in any of their words. *looked is raised by the arcs that the
// lane looked at, here and in pull_by_warp. All 32 lanes must call it, with begin and end of their vertex.
DEVICE u64 pull_by_lanes(const VERTEX* neighbours, const u64* front, INDEX begin, INDEX end, u64 open, u64* looked) {
    u64 bits = 0;
    bool lacks = open != 0;
    u32 lacking = __ballot_sync(FULL_WARP, begin < end && lacks);
    for (INDEX base = begin; lacking != 0; base += FEW) {
        const bool goes_on = (lacking & group_mask(group_of_lane())) != 0;
        const u32 arcs = goes_on ? static_cast<u32>(min(end - base, static_cast<INDEX>(FEW))) : 0;
        VERTEX heads[FEW / WORDS] = {};
#pragma unroll
        for (u32 i = 0; i < FEW / WORDS; ++i) {
            if (i * WORDS + word_of_lane() < arcs) heads[i] = __ldg(neighbours + base + i * WORDS + word_of_lane());
        }
#pragma unroll
        for (u32 i = 0; i < FEW / WORDS; ++i) {
#pragma unroll 4
            for (u32 j = 0; j < WORDS; ++j) {
                const VERTEX w = __shfl_sync(FULL_WARP, heads[i], static_cast<i32>(j), static_cast<i32>(WORDS));
                if (lacks && i * WORDS + j < arcs) bits |= front[static_cast<u64>(w) * WORDS + word_of_lane()];
            }
        }
        if (lacks) *looked += arcs;
        lacks = (open & ~bits) != 0;
        lacking = __ballot_sync(FULL_WARP, goes_on && lacks && arcs == FEW && base + FEW < end);
    }
    return bits;
}

// The same by all lanes, which hand their neighbours round: STEP arcs at a time. begin, end: the same for all lanes; open: of
// the word of the lane. The result is that of the word of the lane, in each of them.
DEVICE u64 pull_by_warp(const VERTEX* neighbours, const u64* front, INDEX begin, INDEX end, u64 open, u64* looked) {
    u64 bits = 0;
    for (INDEX base = begin; base < end && __any_sync(FULL_WARP, (open & ~bits) != 0); base += STEP) {
        const u32 arcs = static_cast<u32>(min(end - base, static_cast<INDEX>(STEP)));
        VERTEX heads[STEP / WARP] = {};
#pragma unroll
        for (u32 i = 0; i < STEP / WARP; ++i) {
            if (i * WARP + lane_id() < arcs) heads[i] = __ldg(neighbours + base + i * WARP + lane_id());
        }
#pragma unroll
        for (u32 i = 0; i < STEP / WARP; ++i) {
#pragma unroll 4
            for (u32 lane = lane_id() / WORDS; lane < WARP; lane += VERTICES_OF_WARP) {
                const VERTEX w = __shfl_sync(FULL_WARP, heads[i], static_cast<i32>(lane));
                if (i * WARP + lane < arcs) bits |= front[static_cast<u64>(w) * WORDS + word_of_lane()];
            }
        }
        if (lane_id() < WORDS) *looked += arcs;
        bits = or_over_vertices(bits);
    }
    return bits;
}

// The vertices of a warp, WORDS lanes each, the first of which is `base`, if they lack a bit of `every`: see pull_all. Returns
// the lanes that gained a bit for their word.
DEVICE u32 pull_few(const QueueRows& rows, const VERTEX* neighbours, u64 base, u64 n, u64 every, const u64* front,
                    const u64* seen, u64* next, u64* looked) {
    const u64 item = base * WORDS + lane_id(), v = item / WORDS;
    u64 open = 0;
    INDEX begin = 0, end = 0;
    if (v < n) {
        open = every & ~seen[item];
        begin = __ldg(rows.offsets + v);
        end = __ldg(rows.offsets + v + 1);
    }
    const u32 lacking = __ballot_sync(FULL_WARP, open != 0);
    if (end - begin > rows.wide.most) {
        const bool lacks = (lacking & group_mask(group_of_lane())) != 0;
        if (lacks && word_of_lane() == 0) rows.wide.put(rows.n_wide, static_cast<VERTEX>(v), end - begin);
        open = 0;
        end = begin;
    }
    const bool big = end - begin >= BIG_ROW;
    u64 gained = pull_by_lanes(neighbours, front, begin, big ? begin : end, open, looked);
    u32 waiting = __ballot_sync(FULL_WARP, big && open != 0);
    while (waiting != 0) {
        const u32 lane = static_cast<u32>(__ffs(static_cast<i32>(waiting)) - 1), group = lane - lane % WORDS;
        waiting &= ~group_mask(group);
        const INDEX first = __shfl_sync(FULL_WARP, begin, group), last = __shfl_sync(FULL_WARP, end, group);
        const u64 wanted = __shfl_sync(FULL_WARP, open, group + word_of_lane());
        const u64 pulled = pull_by_warp(neighbours, front, first, last, wanted, looked);
        if (group == group_of_lane()) gained = pulled;
    }
    gained &= open;
    if (gained != 0) next[item] = gained;
    return __ballot_sync(FULL_WARP, gained != 0);
}

// All vertices that lack a bit of `every` look for it at their neighbours. front, seen: u64[n * WORDS]; next: the same, 0 at
// first. every: of the word of the lane. Wide rows are put aside. following: VERTEX[n], gets each other vertex that got a
// bit, once, in any order; *n_following is raised by their number. Returns the arcs that this lane looked along, for its
// word. All threads of the grid call it. A warp does up to 32 vertices, some here and some there, before it asks for places
// in the queue, since all warps ask at one address.
DEVICE u64 pull_all(const QueueRows& rows, const VERTEX* neighbours, u64 n, u64 every, const u64* front, const u64* seen,
                    u64* next, VERTEX* following, u64* n_following) {
    const u64 stride = item_stride() / WORDS;  // of the vertices that all warps do at a time
    u64 looked = 0;
    for (u64 start = first_item() / WARP * VERTICES_OF_WARP; start < n; start += stride * WORDS) {
        bool gains = false;
        u64 base = start;
        for (u32 first = 0; first < WARP && base < n; first += VERTICES_OF_WARP, base += stride) {
            const u32 hits = pull_few(rows, neighbours, base, n, every, front, seen, next, &looked);
            gains |= item_hit(hits, first);
        }
        const u64 place = warp_reserve(gains, n_following);
        if (gains)
            following[place] = static_cast<VERTEX>(
                start + lane_id() / VERTICES_OF_WARP * stride + lane_id() % VERTICES_OF_WARP);
    }
    return looked;
}

// Ends a level: what came in it becomes a part of what was seen. following: VERTEX[size], the vertices with bits in `next`.
// every: the bits of all sources in the word of the lane. targets: bitmap u64[ceil(n / 64)], or null. counts: all but CAME
// are raised. All threads of the grid call it, WORDS for a vertex.
DEVICE void settle(const INDEX* offsets, const VERTEX* following, u64 size, const u64* next, u64* seen, u64 every,
                   const u64* targets, u64* counts) {
    u64 arcs = 0, closed = 0, met = 0, came = 0;
    for (u64 base = first_item() - lane_id(); base < size * WORDS; base += item_stride()) {
        const bool valid = base + lane_id() < size * WORDS;
        u64 v = 0, after = every;
        if (valid) {
            v = following[(base + lane_id()) / WORDS];
            const u64 gained = next[v * WORDS + word_of_lane()];
            after = seen[v * WORDS + word_of_lane()] | gained;
            seen[v * WORDS + word_of_lane()] = after;
            came |= gained;
            if (targets != nullptr && (targets[v / 64] >> (v % 64) & 1ull) != 0) met += static_cast<u64>(__popcll(gained));
        }
        const u32 lacking = __ballot_sync(FULL_WARP, (every & ~after) != 0);
        if (!valid || word_of_lane() != 0) continue;
        const u64 degree = __ldg(offsets + v + 1) - __ldg(offsets + v);
        arcs += degree;
        // A vertex of the queue gained a bit, so it lacked one before.
        if ((lacking & group_mask(group_of_lane())) == 0) closed += degree;
    }
    warp_add(arcs, counts + ARCS);
    warp_add(closed, counts + CLOSED);
    warp_add(met, counts + MET);
    came = or_over_vertices(came);
    if (lane_id() < WORDS && (came & ~load_fresh(counts + BITS + lane_id())) != 0) atomicOr(counts + BITS + lane_id(), came);
}

// Writes the distance `level` to column i of every vertex of the queue that gained bit i. next: u64[n * WORDS]. All threads
// of the grid call it; lanes write to one column at a time.
DEVICE void write_all(const VERTEX* queue, u64 n_rows, const u64* next, const u64* addresses, u32 level) {
    for (u64 base = first_item() - lane_id(); base < n_rows; base += item_stride()) {
        const bool valid = base + lane_id() < n_rows;
        const u64 v = valid ? queue[base + lane_id()] : 0;
        for (u32 j = 0; j < WORDS; ++j) {
            const u64 gained = valid ? next[v * WORDS + j] : 0;
            u64 any = gained;
            for (u32 step = 1; step < WARP; step *= 2) any |= __shfl_xor_sync(FULL_WARP, any, step);
            for (; any != 0; any &= any - 1) {
                const u32 bit = static_cast<u32>(__ffsll(static_cast<i64>(any)) - 1);
                if (((gained >> bit) & 1ull) != 0) reinterpret_cast<u32*>(addresses[j * 64 + bit])[v] = level;
            }
        }
    }
}

#endif
