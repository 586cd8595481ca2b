// BFS from many sources at once: what a level needs beside pushing (multi_source.cu). Seeds, pulling, settling
// and writing distances.
//
// Each vertex has WORDS words of 64 bits, one bit a source, side by side. So a vertex is worked on by WORDS
// neighbouring lanes, one word each, and what they read of a neighbour is one piece of memory.
// Source: Then et al., PVLDB 2014 (MS-BFS), sections 3 and 4; pulling needs an undirected graph.
#include "multi_source.cuh"

// Places in the counts of a level; after them WORDS words, the bits that reached anything.
#define N_FOLLOWING 0
#define ARCS 1
#define CLOSED_ARCS 2
#define MET 3
#define BITS 4

// sources: VERTEX[k], repeats allowed. next: u64[n * WORDS], gets bit i of sources[i].
ENTRY(256) seed_bits(const VERTEX* sources, u64 k, u64* next) {
    for (u64 i = first_item(); i < k; i += item_stride()) {
        atomicOr(next + static_cast<u64>(sources[i]) * WORDS + i / 64, 1ull << (i % 64));
    }
}

// offsets: u64[n + 1], neighbours: VERTEX[m]. front, seen: u64[n * WORDS]; next: the same, 0 at first. bits:
// u64[WORDS], those of all sources. following: VERTEX[n], gets each vertex that got a bit, once, in any order;
// counts: N_FOLLOWING is raised by their number. WORDS threads a vertex, any grid.
ENTRY(256, 5) pull_bits(const u64* offsets, const VERTEX* neighbours, u64 n, const u64* bits, const u64* front,
                        const u64* seen, u64* next, VERTEX* following, u64* counts) {
    pull_all(offsets, neighbours, n, bits[word_of_lane()], front, seen, next, following, counts + N_FOLLOWING);
}

// Ends a level. queue: VERTEX[n_rows], the frontier that was expanded, whose bits in `front` are set to 0.
// following: VERTEX[counts[N_FOLLOWING]], the vertices with bits in `next`, which are added to `seen`. bits:
// those of all sources. targets: bitmap u64[ceil(n / 64)] if has_targets. counts: ARCS is raised by the arcs of
// `following`, CLOSED_ARCS by those of vertices that have all bits now, MET by the bits that came to targets;
// BITS and after it gain the bits that came anywhere. WORDS threads a vertex, any grid.
ENTRY(256, 6) settle_bits(const VERTEX* queue, u64 n_rows, u64* front, const VERTEX* following, const u64* next,
                          u64* seen, const u64* offsets, const u64* bits, const u64* targets, u32 has_targets,
                          u64* counts) {
    for (u64 item = first_item(); item < n_rows * WORDS; item += item_stride()) {
        front[static_cast<u64>(queue[item / WORDS]) * WORDS + item % WORDS] = 0;
    }
    const u64 items = load_fresh(counts + N_FOLLOWING) * WORDS, every = bits[word_of_lane()];
    u64 arcs = 0, closed = 0, met = 0, came = 0;
    for (u64 base = first_item() - lane_id(); base < items; base += item_stride()) {
        const bool valid = base + lane_id() < items;
        u64 v = 0, after = every;
        if (valid) {
            v = following[(base + lane_id()) / WORDS];
            const u64 gained = next[v * WORDS + word_of_lane()];
            after = seen[v * WORDS + word_of_lane()] | gained;
            seen[v * WORDS + word_of_lane()] = after;
            came |= gained;
            const bool counts_here = has_targets != 0 && ((targets[v / 64] >> (v % 64)) & 1ull) != 0;
            if (counts_here) met += static_cast<u64>(__popcll(gained));
        }
        const u32 lacking = __ballot_sync(FULL_WARP, (every & ~after) != 0);
        if (!valid || word_of_lane() != 0) continue;
        const u64 degree = offsets[v + 1] - offsets[v];
        arcs += degree;
        // A vertex of the queue gained a bit, so it lacked one before.
        if ((lacking & group_mask(group_of_lane())) == 0) closed += degree;
    }
    warp_add(arcs, counts + ARCS);
    warp_add(closed, counts + CLOSED_ARCS);
    warp_add(met, counts + MET);
    came = or_over_vertices(came);
    if (lane_id() < WORDS && (came & ~load_fresh(counts + BITS + lane_id())) != 0) {
        atomicOr(counts + BITS + lane_id(), came);
    }
}

// Writes the distance `level` to column i of every vertex that gained bit i. queue: VERTEX[n_rows], next:
// u64[n * WORDS]. A thread a vertex, any grid; lanes write to one column at a time.
ENTRY(256) write_levels(const VERTEX* queue, u64 n_rows, const u64* next, const u64* addresses, u32 level) {
    write_all(queue, n_rows, next, addresses, level);
}
