// BFS from many sources at once: what a level needs beside pushing (multi_source.cu). Seeds, pulling, settling
// and writing distances.
//
// Each vertex has WORDS words of 64 bits, one bit a source, side by side. So a vertex is worked on by WORDS
// neighbouring lanes, one word each, and what they read of a neighbour is one piece of memory.
// Source: Then et al., PVLDB 2014 (MS-BFS), sections 3 and 4; pulling needs an undirected graph.
#include "multi_source.cuh"

// sources: VERTEX[k], repeats allowed. next: u64[n * WORDS], gets bit i of sources[i].
ENTRY(256) seed_bits(const VERTEX* sources, u64 k, u64* next) {
    for (u64 i = first_item(); i < k; i += item_stride()) {
        atomicOr(next + static_cast<u64>(sources[i]) * WORDS + i / 64, 1ull << (i % 64));
    }
}

// offsets: INDEX[n + 1], neighbours: VERTEX[m]. front, seen: u64[n * WORDS]; next: the same, 0 at first. bits:
// u64[WORDS], those of all sources. following: VERTEX[n], gets each vertex that got a bit, once, in any order;
// counts: CAME is raised by their number. WORDS threads a vertex, any grid.
ENTRY(256, 4) pull_bits(const INDEX* offsets, const VERTEX* neighbours, u64 n, const u64* bits, const u64* front,
                        const u64* seen, u64* next, VERTEX* following, u64* counts) {
    // No row is wide.
    pull_all({offsets, {nullptr, nullptr, ~0ull}, nullptr}, neighbours, n, bits[word_of_lane()], front, seen, next, following,
             counts + CAME);
}

// Ends a level. queue: VERTEX[n_rows], the frontier that was expanded, whose bits in `front` are set to 0.
// following: VERTEX[counts[CAME]], the vertices with bits in `next`, which are added to `seen`. bits: those of all
// sources. targets: bitmap u64[ceil(n / 64)] if has_targets. counts: as settle has them. WORDS threads a vertex, any grid.
ENTRY(256, 6) settle_bits(const VERTEX* queue, u64 n_rows, u64* front, const VERTEX* following, const u64* next,
                          u64* seen, const INDEX* offsets, const u64* bits, const u64* targets, u32 has_targets,
                          u64* counts) {
    for (u64 item = first_item(); item < n_rows * WORDS; item += item_stride()) {
        front[static_cast<u64>(queue[item / WORDS]) * WORDS + item % WORDS] = 0;
    }
    settle(offsets, following, load_fresh(counts + CAME), next, seen, bits[word_of_lane()],
           has_targets ? targets : nullptr, counts);
}

// Writes the distance `level` to column i of every vertex that gained bit i. queue: VERTEX[n_rows], next:
// u64[n * WORDS]. A thread a vertex, any grid; lanes write to one column at a time.
ENTRY(256) write_levels(const VERTEX* queue, u64 n_rows, const u64* next, const u64* addresses, u32 level) {
    write_all(queue, n_rows, next, addresses, level);
}
