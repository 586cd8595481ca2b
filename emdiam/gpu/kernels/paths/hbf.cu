// H-BF: Bellman and Ford's algorithm from a queue, with lengths and predecessors lowered by one atomic operation of 64
// bits, arcs told apart beforehand, and no vertex twice in a queue.
// Source: papers/004, section 3.2 (Busato and Bombieri).
//
// -DPACKED=1: labels: u64[n], the length (u32) in the upper half, the predecessor in the lower; so the lower of two
// labels is the shorter path, and of equally short ones that by the smaller predecessor. A length that does not fit
// becomes LONGEST, for the host to see. -DPACKED=0: a label is the word of a length (lengths.cuh), for weights that are
// floats and lengths of more than 32 bits; there the tree is made afterwards.
#include "lengths.cuh"
#include "mapping.cuh"

#ifndef PACKED_LABELS
#define PACKED_LABELS 1
#endif
#define LONGEST 0xfffffffeu

// What is known of an arc (u8). USELESS: a loop. ONLY_WAY_IN: no other arc leads to its head, so that its thread alone
// writes there. DEAD_END: no arc leaves its head, but a loop or the way back to its tail.
#define USELESS 1u
#define ONLY_WAY_IN 2u
#define DEAD_END 4u

// -- Arcs told apart --

// arcs_in: u32[n], zeros before, gets how many arcs come in, loops left out. One warp a row, any grid.
ENTRY(256) count_arcs_in(const INDEX* offsets, const VERTEX* neighbours, u64 n, u32* arcs_in) {
    for (u64 v = first_item() / WARP; v < n; v += item_stride() / WARP) {
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v] + lane_id(); arc < end; arc += WARP) {
            const VERTEX head = head_at(neighbours, arc);
            if (head != v) atomicAdd(arcs_in + head, 1u);
        }
    }
}

// kinds: u8[m], what is known of each arc. One warp a row, any grid.
ENTRY(256) classify_arcs(const INDEX* offsets, const VERTEX* neighbours, u64 n, const u32* arcs_in, u8* kinds) {
    for (u64 v = first_item() / WARP; v < n; v += item_stride() / WARP) {
        const u64 end = offsets[v + 1];
        for (u64 arc = offsets[v] + lane_id(); arc < end; arc += WARP) {
            const VERTEX head = head_at(neighbours, arc);
            const u64 first = offsets[head], left = offsets[head + 1] - first;
            bool ends = left == 0;
            if (left == 1) {
                const VERTEX only = head_at(neighbours, first);
                ends = only == head || only == v;
            }
            kinds[arc] = static_cast<u8>((head == v ? USELESS : 0u) | (arcs_in[head] == 1 ? ONLY_WAY_IN : 0u) |
                                         (ends ? DEAD_END : 0u));
        }
    }
}

// -- Relaxing --

#if PACKED_LABELS
DEVICE u32 length_in(u64 label) { return static_cast<u32>(label >> 32); }
DEVICE u64 label_over(u64 label, VERTEX v, u32 weight) {
    const u64 sum = static_cast<u64>(length_in(label)) + weight;
    return min(sum, static_cast<u64>(LONGEST)) << 32 | static_cast<u64>(v);
}
#else
DEVICE u64 length_in(u64 label) { return label; }
DEVICE u64 label_over(u64 label, VERTEX, WEIGHT weight) { return extended(label, weight); }
#endif

// Lowers a label; whether that made the length shorter, and not only the predecessor smaller. `onwards`: the path grew
// longer over its last arc. Where it did not, a smaller predecessor of an equally short path could close a circle of
// predecessors; so only a shorter length is taken there, and every such arc of the tree leads to a vertex that came to
// its length later.
DEVICE bool lowers_label(u64* label, u64 offer, bool onwards, bool alone) {
    u64 before = load_fresh(label);
    if (alone) {
        if (length_in(before) <= length_in(offer)) return false;
        store_fresh(label, offer);
        return true;
    }
    if (onwards) return before > offer && length_in(atomicMin(label, offer)) > length_in(offer);
    while (length_in(before) > length_in(offer)) {
        const u64 seen = atomicCAS(label, before, offer);
        if (seen == before) return true;
        before = seen;
    }
    return false;
}

// One round. The first parameters: see Frontier. weights: WEIGHT[m], kinds: u8[m]. labels: u64[n]. rounds, round: see
// enters. next: VERTEX[n], gets every vertex whose length was lowered and that leads on, once; n_next: u64[1], raised
// by their number.
ENTRY(256, RELAX_RESIDENT) hbf_relax(FRONTIER_PARAMETERS, const WEIGHT* weights, const u8* kinds, u64* labels,
                                       u32* rounds, u32 round, VERTEX* next, u64* n_next) {
    const auto relax = [=](u64 row, u64 arc) {
        const u32 kind = __ldg(kinds + arc);
        if (kind & USELESS) return;
        const VERTEX v = queue[row];
        const Arc to = arc_at(neighbours, weights, arc);
        const u64 from = load_fresh(labels + v), offer = label_over(from, v, to.weight);
        const bool onwards = length_in(offer) > length_in(from);
        if (!lowers_label(labels + to.head, offer, onwards, kind & ONLY_WAY_IN) || kind & DEAD_END) return;
        if (enters(rounds, to.head, round)) next[reserve_active(n_next)] = to.head;
    };
    VISIT_ARCS(relax);
}
