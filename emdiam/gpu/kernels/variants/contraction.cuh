// Contraction: of the heads of arcs, those that had no distance, each once.
//
// Source: papers/004, section 2.1, Merrill, Garland and Grimshaw ("Scalable GPU graph traversal", PPoPP 2012,
// section 5). Most heads that were reached before, and most repetitions, are dropped by a mask of visited
// vertices whose updates may get lost, by a table of recent vertices of the block, and by a table of the warp.
// Each may let one pass, and none drops a vertex whole. Unlike the paper, one atomic operation then decides
// who reaches a vertex, so that queues never outgrow n vertices and m arcs.
#ifndef EMDIAM_CONTRACTION_CUH
#define EMDIAM_CONTRACTION_CUH
#include "claims.cuh"

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
        const u32 found = *slot, named = lanes >> found & 1u ? found : lane_id();
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

#endif
