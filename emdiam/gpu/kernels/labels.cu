// One level of label growth: every vertex takes the smallest (distance, owner) that reaches it. A label is a u64,
// distance << 32 | owner, all bits set where unreached; so the smaller of two labels is the nearer one, and of
// equally near ones that of the smaller owner.
// Source: Meyer, On trade-offs in external-memory diameter-approximation (2008), rounds of cluster growing; see
// also traverse/labels.py, the same on the CPU.
// Work: O(n + m) in all levels together, since a vertex is queued once.
#include "mapping.cuh"

#define OWNER_BITS 32u

// The first parameters: see Frontier; the queue has the vertices of one distance, each once. neighbours: VERTEX[m].
// labels: u64[n]. following: VERTEX[n], gets every vertex that comes to the next distance, once, in any order.
// counts: u64[2], from the first of which it is on; the second is raised by the arcs, of which the mapping has the sums. The
// labels do not depend on the order of threads.
ENTRY(256, MAPPING_RESIDENT) grow_labels(FRONTIER_PARAMETERS, u64* labels, VERTEX* following, u64* counts) {
    if (first_item() == 0) counts[1] += starts[n_rows];
    // Offers the label of a row, one step farther, to a neighbour. Rows are at the distance of the level before, so
    // that no offer of this level lowers them: what is read of them does not change. Whoever brings a neighbour to
    // its distance queues it, and smaller owners may come to it after that.
    const auto offer_label = [=](u64 row, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        const u64 offer = labels[queue[row]] + (1ull << OWNER_BITS);
        if (load_fresh(labels + w) <= offer) return;
        const u64 before = atomicMin(labels + w, offer);
        if (before >> OWNER_BITS <= offer >> OWNER_BITS) return;
        following[reserve_active(counts)] = w;
    };
    VISIT_ARCS(offer_label);
}
