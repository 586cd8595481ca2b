// Breadth-first search by expansion and contraction: the steps that begin with a frontier of vertices, whose
// arcs are handed to threads by the mapping that -DMAPPING chooses.
//
// Source: papers/004, section 2.1, Merrill, Garland and Grimshaw, whose own mapping is MAPPING_CTA_WARP_SCAN
// (section 5.2.2); section 5 for the others. Work: O(n + m) in all levels together.
#include "mapping.cuh"
#include "contraction.cuh"

// Lists the heads of the arcs. The places come from one counter, not from sums of degrees: not every mapping
// has them, and the order of heads does not matter.
struct ListHeads {
    const VERTEX* neighbours;
    VERTEX* heads;
    u64* tail;
    __device__ void operator()(u64, u64 arc) const {
        const VERTEX head = __ldg(neighbours + arc);
        heads[reserve_active(tail)] = head;
    }
};

// Contracts the heads of the arcs as they come.
struct ContractArcs {
    const VERTEX* neighbours;
    Contract contract;
    __device__ void operator()(u64, u64 arc) const { contract(__ldg(neighbours + arc)); }
};

// The first parameters are those of Frontier; queue: VERTEX[n_rows], offsets: u64[n + 1]. neighbours:
// VERTEX[m], heads: VERTEX[m], gets the neighbours of the frontier, in any order, tail: u64[1], zero before, gets
// their number. Any grid.
extern "C" __global__ void __launch_bounds__(256, MAPPING_RESIDENT)
merrill_expand(FRONTIER_PARAMETERS, VERTEX* heads, u64* tail) {
    __shared__ u64 scratch[MAPPING_WORDS];
    const Frontier frontier = FRONTIER;
    const ListHeads list = {neighbours, heads, tail};
    for_each_arc(frontier, scratch, list);
}

// Expansion, then contraction: from a frontier of vertices to the next. visited: u8[(n + 7) / 8], zeros before the
// first level; distances, distance, reached, tail: see Contract; others as above. Any grid.
extern "C" __global__ void __launch_bounds__(256, MAPPING_RESIDENT)
merrill_expand_contract(FRONTIER_PARAMETERS, u32* distances, u8* visited,
                        u32 distance, VERTEX* reached, u64* tail) {
    __shared__ u64 scratch[MAPPING_WORDS];
    SIEVE(sieve, visited);
    const Frontier frontier = FRONTIER;
    const ContractArcs contract = {neighbours, {sieve, distances, distance, reached, tail}};
    for_each_arc(frontier, scratch, contract);
}

#if MAPPING == MAPPING_DYNAMIC_WARPS
// The rows that merrill_expand has deferred, with the same arguments; tail goes on where it stands.
extern "C" __global__ void __launch_bounds__(256)
merrill_expand_deferred(FRONTIER_PARAMETERS, VERTEX* heads, u64* tail) {
    const Frontier frontier = FRONTIER;
    const ListHeads list = {neighbours, heads, tail};
    for_each_deferred_arc(frontier, list);
}

// The rows that merrill_expand_contract has deferred, with the same arguments.
extern "C" __global__ void __launch_bounds__(256)
merrill_expand_contract_deferred(FRONTIER_PARAMETERS, u32* distances, u8* visited, u32 distance, VERTEX* reached,
                                 u64* tail) {
    SIEVE(sieve, visited);
    const Frontier frontier = FRONTIER;
    const ContractArcs contract = {neighbours, {sieve, distances, distance, reached, tail}};
    for_each_deferred_arc(frontier, contract);
}
#endif
