// BFS from many sources at once: what a vertex has of words and lanes, how its bits are pulled, a level is ended and its
// distances are written; multi_source_levels.cu does a level a launch, multi_source_whole.cu all levels in one, and
// multi_source_wide.cu balls of more sources, without frontiers.
//
// Each vertex has WORDS words of 64 bits, one bit a source, side by side. So a vertex is worked on by WORDS
// neighbouring lanes, one word each, and what they read of a neighbour is one piece of memory. Bits are read by plain
// loads: an earlier level of the same launch may have written them.
// Source: Then et al., PVLDB 2014 (MS-BFS), sections 3 and 4; pulling needs an undirected graph.
#ifndef EMDIAM_MULTI_SOURCE_CUH
#define EMDIAM_MULTI_SOURCE_CUH

#include "simt.cuh"

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
// How often each lane looks at an arc before a warp asks whether it is done with a row.
#define ROUNDS 8u

// The word of this lane, and the first lane of its vertex.
DEVICE u32 word_of_lane() { return lane_id() % WORDS; }
DEVICE u32 group_of_lane() { return lane_id() - word_of_lane(); }
// The lanes of the vertex whose first lane this is.
DEVICE u32 group_mask(u32 group) { return (FULL_WARP >> (WARP - WORDS)) << group; }
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

// A row by one lane, for one word: stops when nothing of `open` is missing. *looked is raised by the arcs that were looked
// at, here and in pull_by_warp.
DEVICE u64 pull_by_lane(const VERTEX* neighbours, const u64* front, INDEX begin, INDEX end, u64 open, u64* looked) {
    u64 bits = 0;
    INDEX arc = begin;
    for (; arc < end && (open & ~bits) != 0; ++arc) {
        bits |= front[static_cast<u64>(__ldg(neighbours + arc)) * WORDS + word_of_lane()];
    }
    *looked += arc - begin;
    return bits;
}

// A row by all lanes, VERTICES_OF_WARP arcs at a time. begin, end: the same for all lanes; open: of the word of
// the lane. The result is that of the word of the lane, in each of them.
DEVICE u64 pull_by_warp(const VERTEX* neighbours, const u64* front, INDEX begin, INDEX end, u64 open, u64* looked) {
    u64 bits = 0;
    for (INDEX base = begin; base < end; base += ROUNDS * VERTICES_OF_WARP) {
        for (u32 round = 0; round < ROUNDS; ++round) {
            const INDEX arc = base + round * VERTICES_OF_WARP + lane_id() / WORDS;
            if (arc >= end) break;
            ++*looked;
            bits |= front[static_cast<u64>(__ldg(neighbours + arc)) * WORDS + word_of_lane()];
        }
        bits = or_over_vertices(bits);
        if (__all_sync(FULL_WARP, (open & ~bits) == 0)) break;
    }
    return bits;
}

// All vertices that lack a bit of `every` look for it at their neighbours. front, seen: u64[n * WORDS]; next: the same, 0 at
// first. every: of the word of the lane. following: VERTEX[n], gets each vertex that got a bit, once, in any order;
// *n_following is raised by their number. Returns the arcs that this lane looked along, for its word. All threads of the
// grid call it, WORDS for a vertex.
DEVICE u64 pull_all(const INDEX* offsets, const VERTEX* neighbours, u64 n, u64 every, const u64* front, const u64* seen,
                    u64* next, VERTEX* following, u64* n_following) {
    u64 looked = 0;
    for (u64 base = first_item() - lane_id(); base < n * WORDS; base += item_stride()) {
        const u64 item = base + lane_id(), v = item / WORDS;
        u64 open = 0;
        INDEX begin = 0, end = 0;
        if (v < n) {
            open = every & ~seen[item];
            begin = __ldg(offsets + v);
            end = __ldg(offsets + v + 1);
        }
        const bool big = end - begin >= BIG_ROW;
        u64 gained = big ? 0 : pull_by_lane(neighbours, front, begin, end, open, &looked);
        u32 waiting = __ballot_sync(FULL_WARP, big && open != 0);
        while (waiting != 0) {
            const u32 lane = static_cast<u32>(__ffs(static_cast<i32>(waiting)) - 1), group = lane - lane % WORDS;
            waiting &= ~group_mask(group);
            const INDEX first = __shfl_sync(FULL_WARP, begin, group), last = __shfl_sync(FULL_WARP, end, group);
            const u64 wanted = __shfl_sync(FULL_WARP, open, group + word_of_lane());
            const u64 pulled = pull_by_warp(neighbours, front, first, last, wanted, &looked);
            if (group == group_of_lane()) gained = pulled;
        }
        gained &= open;
        if (gained != 0) next[item] = gained;
        const u32 hits = __ballot_sync(FULL_WARP, gained != 0);
        const bool first_lane = word_of_lane() == 0 && (hits & group_mask(group_of_lane())) != 0;
        const u64 place = warp_reserve(first_lane, n_following);
        if (first_lane) following[place] = static_cast<VERTEX>(v);
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
