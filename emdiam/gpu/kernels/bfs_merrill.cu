// Breadth-first search between a frontier of vertices and one of arcs' heads: expansion and contraction.
//
// Source: papers/004, section 2.1, Merrill, Garland and Grimshaw. Expansion lists the neighbours of vertices
// (gathering.cuh); contraction drops those that were reached before, and repetitions. The two orders are one
// kernel each, and the two steps alone too. Repetitions are dropped by a mask of visited vertices whose
// updates may get lost, by a table of recent vertices of the block, and by a table of the warp; each may let
// one pass, and none drops a vertex whole. Unlike the paper, one atomic operation then decides who reaches
// a vertex, so that queues never outgrow n vertices and m arcs. Work: O(n + m).
#include "claims.cuh"
#include "gathering.cuh"

#ifndef VERTEX
#define VERTEX u32
#endif

#define MOST_WARPS 8u
#define WARP_TABLE 64u
#define RECENT 256u
#define NO_VERTEX static_cast<VERTEX>(~static_cast<VERTEX>(0))

// Tables of a block for what it saw. visited: bits in global memory, (n + 7) / 8 bytes.
struct Sieve {
    u8* visited;
    volatile VERTEX* recent;
    volatile VERTEX* of_warp;

    // Whether the lane's vertex may be new. All lanes of the warp call it. A thread that marks the vertex for
    // others to drop it goes on itself, or leaves it to a lane that goes on.
    __device__ bool pass(bool valid, VERTEX v) const {
        bool fresh = valid && !(visited[v / 8] >> (v % 8) & 1u);
        if (fresh) {
            visited[v / 8] = static_cast<u8>(visited[v / 8] | 1u << (v % 8));
            fresh = recent[v % RECENT] != v;
            if (fresh) recent[v % RECENT] = v;
        }
        volatile VERTEX* const slot = of_warp + v % WARP_TABLE;
        if (fresh) *slot = v;
        __syncwarp();
        const bool mine = fresh && *slot == v;
        __syncwarp();
        if (mine) *slot = static_cast<VERTEX>(lane_id());
        __syncwarp();
        const bool repeated = mine && *slot != static_cast<VERTEX>(lane_id());
        __syncwarp();
        return fresh && !repeated;
    }
};
#define SIEVE(name, visited)                                         \
    __shared__ VERTEX shared_recent[RECENT];                         \
    __shared__ VERTEX shared_of_warp[MOST_WARPS * WARP_TABLE];       \
    for (u32 i = threadIdx.x; i < RECENT; i += blockDim.x) shared_recent[i] = NO_VERTEX; \
    __syncthreads();                                                 \
    const Sieve name = {visited, shared_recent, shared_of_warp + warp_id() * WARP_TABLE}

// Writes heads of arcs to the places that a prefix sum gave them.
struct CopyHeads {
    const VERTEX* neighbours;
    VERTEX* heads;
    __device__ void operator()(bool valid, u64 arc, u64 rank) const {
        if (valid) heads[rank] = __ldg(neighbours + arc);
    }
};

// Contracts heads of arcs as they come.
struct Contract {
    const VERTEX* neighbours;
    Sieve sieve;
    u32* distances;
    u32 distance;
    VERTEX* reached;
    u64* tail;
    __device__ void operator()(bool valid, u64 arc, u64) const {
        head(valid, valid ? __ldg(neighbours + arc) : VERTEX(0));
    }
    __device__ void head(bool valid, VERTEX v) const {
        const bool mine = sieve.pass(valid, v) && claim(distances, v, distance);
        const u64 place = warp_reserve(mine, tail);
        if (mine) reached[place] = v;
    }
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

// Expansion. offsets: u64[n + 1], neighbours: VERTEX[m], frontier: VERTEX[n_frontier], heads: VERTEX[m], gets
// the neighbours of the frontier, tail: u64[1], zero before, gets their number. Any grid.
extern "C" __global__ void __launch_bounds__(256)
merrill_expand(const u64* offsets, const VERTEX* neighbours, const VERTEX* frontier, u64 n_frontier, VERTEX* heads,
               u64* tail) {
    GATHERING(space);
    __shared__ u64 base;
    __shared__ u64 sums[WARP + 1];
    for (u64 first = static_cast<u64>(blockIdx.x) * blockDim.x; first < n_frontier; first += item_stride()) {
        const bool valid = first + threadIdx.x < n_frontier;
        const VERTEX v = valid ? frontier[first + threadIdx.x] : VERTEX(0);
        const u64 begin = valid ? offsets[v] : 0, end = valid ? offsets[v + 1] : 0;
        expand_block(space, &base, sums, neighbours, begin, end - begin, heads, tail);
    }
}

// Contraction. heads: VERTEX[n_heads], distances: u32[n] with all bits set where unreached, visited: u8[(n + 7) / 8],
// zeros before the first level, distance: of what is reached, reached: VERTEX[n], gets each reached vertex
// once, in any order, tail: u64[1], zero before, gets their number. One thread a head, any grid.
extern "C" __global__ void __launch_bounds__(256)
merrill_contract(const VERTEX* heads, u64 n_heads, u32* distances, u8* visited, u32 distance, VERTEX* reached,
                 u64* tail) {
    SIEVE(sieve, visited);
    const Contract contract = {nullptr, sieve, distances, distance, reached, tail};
    for (u64 first = first_item() - lane_id(); first < n_heads; first += item_stride()) {
        const bool valid = first + lane_id() < n_heads;
        contract.head(valid, valid ? heads[first + lane_id()] : VERTEX(0));
    }
}

// Expansion, then contraction: from a frontier of vertices to the next. Parameters as above.
extern "C" __global__ void __launch_bounds__(256)
merrill_expand_contract(const u64* offsets, const VERTEX* neighbours, const VERTEX* frontier, u64 n_frontier,
                        u32* distances, u8* visited, u32 distance, VERTEX* reached, u64* tail) {
    GATHERING(space);
    SIEVE(sieve, visited);
    const Contract contract = {neighbours, sieve, distances, distance, reached, tail};
    for (u64 first = static_cast<u64>(blockIdx.x) * blockDim.x; first < n_frontier; first += item_stride()) {
        const bool valid = first + threadIdx.x < n_frontier;
        const VERTEX v = valid ? frontier[first + threadIdx.x] : VERTEX(0);
        const u64 begin = valid ? offsets[v] : 0, end = valid ? offsets[v + 1] : 0;
        gather(space, begin, end - begin, 0, contract);
        __syncthreads();
    }
}

// Contraction, then expansion: from heads of arcs to those of the next level. counts: u64[2], zeros before,
// gets the number of heads written and of vertices reached. Other parameters as above.
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
        const bool mine = sieve.pass(valid, v) && claim(distances, v, distance);
        const u32 reached = __ballot_sync(FULL_WARP, mine);
        if (lane_id() == 0 && reached != 0) atomicAdd(counts + 1, static_cast<u64>(__popc(reached)));
        const u64 begin = mine ? offsets[v] : 0, end = mine ? offsets[v + 1] : 0;
        expand_block(space, &base, sums, neighbours, begin, end - begin, next_heads, counts);
    }
}
