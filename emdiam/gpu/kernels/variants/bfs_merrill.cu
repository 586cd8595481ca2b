// Breadth-first search by expansion and contraction: the steps that begin with the heads of arcs. Those that
// begin with a frontier of vertices are in bfs_merrill_mapped.cu.
//
// Source: papers/004, section 2.1, Merrill, Garland and Grimshaw. Contraction (contraction.cuh) drops heads
// that were reached before, and repetitions; expansion lists the neighbours of what is left. Work: O(n + m).
#include "contraction.cuh"
#include "gathering.cuh"

// Writes heads of arcs to the places that a prefix sum gave them.
struct CopyHeads {
    const VERTEX* neighbours;
    VERTEX* heads;
    __device__ void operator()(u64 arc, u64 rank) const { heads[rank] = __ldg(neighbours + arc); }
};

// Reserves room for the heads of all arcs of the block's vertices and writes them. base: u64[1], sums: u64[33],
// shared. All threads of the block must call it; it ends with a barrier.
DEVICE void expand_block(const Gathering& space, u64* base, u64* sums, const VERTEX* neighbours, u64 begin, u64 count,
                         VERTEX* heads, u64* tail) {
    u64 total;
    const u64 before = block_exclusive_sum(count, sums, &total);
    if (threadIdx.x == 0) *base = total != 0 ? atomicAdd(tail, total) : 0;
    __syncthreads();
    CopyHeads copy = {neighbours, heads};
    gather(space, begin, count, *base + before, copy);
    __syncthreads();
}

// Contraction. heads: VERTEX[n_heads], visited: u8[(n + 7) / 8], zeros before the first level; distances,
// distance, reached, tail: see Contract. One thread a head, any grid.
extern "C" __global__ void __launch_bounds__(256)
merrill_contract(const VERTEX* heads, u64 n_heads, u32* distances, u8* visited, u32 distance, VERTEX* reached,
                 u64* tail) {
    SIEVE(sieve, visited);
    const Contract contract = {sieve, distances, distance, reached, tail};
    for (u64 i = first_item(); i < n_heads; i += item_stride()) contract(heads[i]);
}

// Contraction, then expansion: from heads of arcs to those of the next level. offsets: u64[n + 1], neighbours:
// VERTEX[m], next_heads: VERTEX[m], counts: u64[2], zeros before, gets the number of heads written and of vertices
// reached. Other parameters as above. One thread a head, any grid.
//
// It takes no mapping of mapping.cuh. Those begin with a frontier in global memory, whose sums and chunks the
// host has made; here each block expands what it has just contracted itself, and that is never written down.
extern "C" __global__ void __launch_bounds__(256)
merrill_contract_expand(const u64* offsets, const VERTEX* neighbours, const VERTEX* heads, u64 n_heads,
                        u32* distances, u8* visited, u32 distance, VERTEX* next_heads, u64* counts) {
    GATHERING(space);
    SIEVE(sieve, visited);
    __shared__ u64 base;
    __shared__ u64 sums[WARP + 1];
    for (u64 first = static_cast<u64>(blockIdx.x) * blockDim.x; first < n_heads; first += item_stride()) {
        const bool valid = first + threadIdx.x < n_heads;
        const VERTEX v = valid ? heads[first + threadIdx.x] : VERTEX(0);
        const bool mine = valid && sieve.pass(v) && claim(distances, v, distance);
        const u32 reached = __ballot_sync(FULL_WARP, mine);
        if (lane_id() == 0 && reached != 0) atomicAdd(counts + 1, static_cast<u64>(__popc(reached)));
        const u64 begin = mine ? offsets[v] : 0, end = mine ? offsets[v + 1] : 0;
        expand_block(space, &base, sums, neighbours, begin, end - begin, next_heads, counts);
    }
}
