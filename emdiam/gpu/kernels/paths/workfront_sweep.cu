// One round of workfront sweep: Bellman and Ford's algorithm from a queue of the vertices whose length was lowered in
// the last round, each in it once. Arcs are handed out by the mapping that -DMAPPING chooses; the paper's merge path is
// MAPPING_TWO_PHASE.
// Source: papers/004, section 3.1, after Davidson, Baxter, Garland and Owens. Work: O(n m) at worst.
#include "lengths.cuh"
#include "mapping.cuh"

// The first parameters: see Frontier. weights: WEIGHT[m]. words: u64[n] (lengths.cuh). rounds: u32[n], see enters.
// next: VERTEX[n], gets every vertex that is lowered, once, in any order; n_next: u64[1], raised by their number. The
// fixpoint of all rounds does not depend on the order of threads.
ENTRY(256, RELAX_RESIDENT) sweep_workfront(FRONTIER_PARAMETERS, const WEIGHT* weights, u64* words, u32* rounds,
                                             u32 round, VERTEX* next, u64* n_next) {
    const auto relax = [=](u64 row, u64 arc) {
        const Arc to = arc_at(neighbours, weights, arc);
        if (!lowers(words, to.head, extended(load_fresh(words + queue[row]), to.weight))) return;
        if (enters(rounds, to.head, round)) next[reserve_active(n_next)] = to.head;
    };
    VISIT_ARCS(relax);
}
