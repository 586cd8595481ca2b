// Breadth-first search by expansion, which lists the heads of arcs, and contraction, which drops those that were
// reached before, and repetitions.
//
// Source: papers/004, section 2.1, Merrill, Garland and Grimshaw ("Scalable GPU graph traversal", PPoPP 2012, section
// 5). The steps that begin with a frontier of vertices take every mapping of section 5 (-DMAPPING; theirs is
// MAPPING_CTA_WARP_SCAN). Work: O(n + m) in all levels together.
#include "mapping.cuh"

// -- Contraction: of the heads of arcs, those that had no distance, each once --
// Most heads that were reached before, and most repetitions, are dropped by a mask of visited vertices whose updates
// may get lost, by a table of recent vertices of the block, and by a table of the warp. Each may let one pass, and none
// drops a vertex whole. Unlike the paper, one atomic operation then decides who reaches a vertex, so that queues never
// outgrow n vertices and m arcs.

#define SIEVE_WARPS 8u                            // of a block of 256 threads
#define WARP_TABLE 64u
#define RECENT 256u
#define NO_VERTEX static_cast<VERTEX>(~static_cast<VERTEX>(0))

// Tables of a block for what it saw. visited: bits in global memory, (n + 7) / 8 bytes.
struct Sieve {
    u8* visited;
    volatile VERTEX* recent;
    volatile u8* of_warp;

    // Whether the lane's vertex may be new. Any lanes may call it, and come apart in it. A thread that marks
    // the vertex for others to drop it goes on itself, or leaves it to a lane that goes on.
    __device__ bool pass(VERTEX v) const {
        if (visited[v / 8] >> (v % 8) & 1u) return false;
        visited[v / 8] = static_cast<u8>(visited[v / 8] | 1u << (v % 8));
        if (recent[v % RECENT] == v) return false;
        recent[v % RECENT] = v;
        return first_of_lanes(v);
    }

    // Whether no other lane that is here stands for the vertex. Lanes of the warp that are elsewhere use the
    // same table at the same time, so that what it says may be of them. Hence the vertex is asked from the
    // lane that the table names: it must be here, have the same vertex, and have found itself in the table.
    __device__ bool first_of_lanes(VERTEX v) const {
        const u32 lanes = __activemask();
        volatile u8* const slot = of_warp + v % WARP_TABLE;
        *slot = static_cast<u8>(lane_id());
        __syncwarp(lanes);
        const u32 lane = *slot, named = lanes >> lane & 1u ? lane : lane_id();
        const bool stands = named == lane_id();
        const VERTEX other = __shfl_sync(lanes, stands ? v : NO_VERTEX, static_cast<i32>(named));
        return stands || other != v;
    }
};
// The tables in the shared memory of an entry; all threads of the block come by.
#define SIEVE(name, visited)                                         \
    __shared__ VERTEX shared_recent[RECENT];                         \
    __shared__ u8 shared_of_warp[SIEVE_WARPS * WARP_TABLE];          \
    for (u32 i = threadIdx.x; i < RECENT; i += blockDim.x) shared_recent[i] = NO_VERTEX; \
    __syncthreads();                                                 \
    const Sieve name = {visited, shared_recent, shared_of_warp + warp_id() * WARP_TABLE}

// distances: u32[n] with all bits set where unreached, distance: of what is reached, reached: VERTEX[n], gets
// each reached vertex once, in any order, tail: u64[1], zero before, gets their number.
struct Contract {
    Sieve sieve;
    u32* distances;
    u32 distance;
    VERTEX* reached;
    u64* tail;
    __device__ void operator()(VERTEX v) const {
        if (sieve.pass(v) && claim(distances, v, distance)) reached[reserve_active(tail)] = v;
    }
};

// -- The arcs of a block's vertices, spread over its threads: by the block, by warps, and by a prefix sum --
// Rows of at least a block are read by the whole block, one after the other, rows of at least a warp by the warp of
// their thread, and the arcs of all others are numbered and dealt out.

#define GATHER_BLOCK 256

// Shared memory of a block.
struct Gathering {
    u32* owner;  // [1], thread whose row the block reads
    u64* row;    // [3], its first arc, number of arcs, rank
    u32* sums;   // [33]
    u64* arcs;   // [GATHER_BLOCK], a round of arcs that are dealt out
    u64* ranks;  // [GATHER_BLOCK], and their ranks
};
#define GATHERING(name)                                 \
    __shared__ u32 shared_owner;                        \
    __shared__ u64 shared_row[3];                       \
    __shared__ u32 shared_sums[WARP + 1];               \
    __shared__ u64 shared_arcs[GATHER_BLOCK];           \
    __shared__ u64 shared_ranks[GATHER_BLOCK];          \
    const Gathering name = {&shared_owner, shared_row, shared_sums, shared_arcs, shared_ranks}

// Calls take(arc, rank) once for each of the `count` arcs from `begin` of every thread; rank is the thread's plus
// the arc's place in its row. All threads of the block must call it. What was taken is complete behind the
// caller's next barrier, which must come before the next call.
template <typename Take>
DEVICE void gather_by_block(const Gathering& space, u64 begin, u64& count, u64 rank, Take& take) {
    while (__syncthreads_or(count >= blockDim.x)) {
        if (threadIdx.x == 0) *space.owner = blockDim.x;
        __syncthreads();
        if (count >= blockDim.x) atomicMin(space.owner, threadIdx.x);
        __syncthreads();
        if (threadIdx.x == *space.owner) {
            space.row[0] = begin;
            space.row[1] = count;
            space.row[2] = rank;
            count = 0;
        }
        __syncthreads();
        for (u64 i = threadIdx.x; i < space.row[1]; i += blockDim.x) take(space.row[0] + i, space.row[2] + i);
    }
}

template <typename Take> DEVICE void gather_by_warp(u64 begin, u64& count, u64 rank, Take& take) {
    for (u32 rows = __ballot_sync(FULL_WARP, count >= WARP); rows != 0; rows &= rows - 1) {
        const int lane = __ffs(static_cast<int>(rows)) - 1;
        const u64 arcs = __shfl_sync(FULL_WARP, count, lane);
        const u64 arc = __shfl_sync(FULL_WARP, begin, lane), place = __shfl_sync(FULL_WARP, rank, lane);
        for (u64 i = lane_id(); i < arcs; i += WARP) take(arc + i, place + i);
        __syncwarp(FULL_WARP);
    }
    if (count >= WARP) count = 0;
}

template <typename Take> DEVICE void gather_by_sum(const Gathering& space, u64 begin, u32 count, u64 rank, Take& take) {
    u32 total;
    const u32 before = block_exclusive_sum(count, space.sums, &total);
    u32 dealt = 0;
    for (u32 done = 0; done < total; done += blockDim.x) {
        for (; dealt < count && before + dealt < done + blockDim.x; ++dealt) {
            space.arcs[before + dealt - done] = begin + dealt;
            space.ranks[before + dealt - done] = rank + dealt;
        }
        __syncthreads();
        if (done + threadIdx.x < total) take(space.arcs[threadIdx.x], space.ranks[threadIdx.x]);
        __syncthreads();
    }
}

template <typename Take> DEVICE void gather(const Gathering& space, u64 begin, u64 count, u64 rank, Take& take) {
    gather_by_block(space, begin, count, rank, take);
    gather_by_warp(begin, count, rank, take);
    gather_by_sum(space, begin, static_cast<u32>(count), rank, take);
}

// -- Steps that begin with the heads of arcs --

// Reserves room for the heads of all arcs of the block's vertices and writes them. base: u64[1], sums: u64[33],
// shared. All threads of the block must call it; it ends with a barrier.
DEVICE void expand_block(const Gathering& space, u64* base, u64* sums, const VERTEX* neighbours, u64 begin, u64 count,
                         VERTEX* heads, u64* tail) {
    u64 total;
    const u64 before = block_exclusive_sum(count, sums, &total);
    if (threadIdx.x == 0) *base = total != 0 ? atomicAdd(tail, total) : 0;
    __syncthreads();
    const auto copy = [=](u64 arc, u64 rank) { heads[rank] = __ldg(neighbours + arc); };
    gather(space, begin, count, *base + before, copy);
    __syncthreads();
}

// Contraction. heads: VERTEX[n_heads], visited: u8[(n + 7) / 8], zeros before the first level; distances,
// distance, reached, tail: see Contract. One thread a head, any grid.
ENTRY(256) merrill_contract(const VERTEX* heads, u64 n_heads, u32* distances, u8* visited, u32 distance,
                            VERTEX* reached, u64* tail) {
    SIEVE(sieve, visited);
    const Contract contract = {sieve, distances, distance, reached, tail};
    for (u64 i = first_item(); i < n_heads; i += item_stride()) contract(heads[i]);
}

// Contraction, then expansion: from heads of arcs to those of the next level. offsets: INDEX[n + 1], neighbours:
// VERTEX[m], next_heads: VERTEX[m], counts: u64[2], zeros before, gets the number of heads written and of vertices
// reached. Other parameters as above. One thread a head, any grid.
//
// It takes no mapping of mapping.cuh. Those begin with a frontier in global memory, whose sums and chunks the
// host has made; here each block expands what it has just contracted itself, and that is never written down.
ENTRY(256) merrill_contract_expand(const INDEX* offsets, const VERTEX* neighbours, const VERTEX* heads, u64 n_heads,
                                   u32* distances, u8* visited, u32 distance, VERTEX* next_heads, u64* counts) {
    GATHERING(space);
    SIEVE(sieve, visited);
    __shared__ u64 base;
    __shared__ u64 sums[WARP + 1];
    for (u64 first = static_cast<u64>(blockIdx.x) * blockDim.x; first < n_heads; first += item_stride()) {
        const bool valid = first + threadIdx.x < n_heads;
        const VERTEX v = valid ? heads[first + threadIdx.x] : VERTEX(0);
        const bool fresh = valid && sieve.pass(v) && claim(distances, v, distance);
        const u32 reached = __ballot_sync(FULL_WARP, fresh);
        if (lane_id() == 0 && reached != 0) atomicAdd(counts + 1, static_cast<u64>(__popc(reached)));
        const u64 begin = fresh ? offsets[v] : 0, end = fresh ? offsets[v + 1] : 0;
        expand_block(space, &base, sums, neighbours, begin, end - begin, next_heads, counts);
    }
}

// -- Steps that begin with a frontier of vertices --

// The first parameters are those of Frontier. heads: VERTEX[m], gets the neighbours of the frontier, in any order,
// tail: u64[1], zero before, gets their number. Any grid.
ENTRY(256, MAPPING_RESIDENT) merrill_expand(FRONTIER_PARAMETERS, VERTEX* heads, u64* tail) {
    // Lists the heads of the arcs. The places come from one counter, not from sums of degrees: not every mapping
    // has them, and the order of heads does not matter.
    const auto list = [=](u64, u64 arc) {
        const VERTEX head = __ldg(neighbours + arc);
        heads[reserve_active(tail)] = head;
    };
    VISIT_ARCS(list);
}

// Expansion, then contraction: from a frontier of vertices to the next. visited: u8[(n + 7) / 8], zeros before the
// first level; distances, distance, reached, tail: see Contract; others as above. Any grid.
ENTRY(256, MAPPING_RESIDENT) merrill_expand_contract(FRONTIER_PARAMETERS, u32* distances, u8* visited, u32 distance,
                                                     VERTEX* reached, u64* tail) {
    SIEVE(sieve, visited);
    const Contract contract = {sieve, distances, distance, reached, tail};
    const auto contract_head = [=](u64, u64 arc) { contract(__ldg(neighbours + arc)); };
    VISIT_ARCS(contract_head);
}
