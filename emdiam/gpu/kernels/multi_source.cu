// One level of BFS from many sources at once, pushed: the bits of a frontier go along its arcs, by the mapping that
// -DMAPPING chooses. Each vertex has WORDS words of 64 bits, one bit a source, side by side. Source: Then et al., PVLDB
// 2014 (MS-BFS), section 3; the queue as in Merrill, Garland and Grimshaw. Work: O(WORDS) for each arc of the frontier.
#include "mapping.cuh"

#ifndef WORDS
#define WORDS 1
#endif
// Bits need more registers than distances: 64 a thread, or what the mapping needs.
#define PUSH_RESIDENT (MAPPING_RESIDENT < 4 ? MAPPING_RESIDENT : 4)

// The first parameters: see Frontier. neighbours: VERTEX[m]. front, seen, next: u64[n * WORDS], the bits that reached a
// vertex in the last level, ever, and in this one; next is 0 at first. marks: u32[n], none of which is `epoch` at
// first. following: VERTEX[n], gets every vertex that got a bit, once, in any order; n_following: u64[1], 0 at first.
ENTRY(256, PUSH_RESIDENT) push_bits(FRONTIER_PARAMETERS, const u64* front, const u64* seen, u64* next, u32* marks,
                                    u32 epoch, VERTEX* following, u64* n_following) {
    // Gives a neighbour the bits that it has not seen, and puts it into the next queue when it gets its first.
    const auto push = [=](u64 row, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        const u64 to = static_cast<u64>(w) * WORDS, from = static_cast<u64>(queue[row]) * WORDS;
        bool fresh = false;
        // Not unrolled: several words in flight take more registers than the mappings leave.
#pragma unroll 1
        for (u32 j = 0; j < WORDS; ++j) {
            const u64 bits = __ldg(front + from + j) & ~__ldg(seen + to + j);
            // Bits that are there were put by another thread, which marks w.
            if ((bits & ~load_fresh(next + to + j)) == 0) continue;
            atomicOr(next + to + j, bits);
            fresh = true;
        }
        if (!fresh || load_fresh(marks + w) == epoch || atomicExch(marks + w, epoch) == epoch) return;
        following[reserve_active(n_following)] = w;
    };
    VISIT_ARCS(push);
}
