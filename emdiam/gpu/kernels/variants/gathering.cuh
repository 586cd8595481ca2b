// The arcs of a block's vertices, spread over its threads: by the block, by warps, and by a prefix sum.
//
// Source: papers/004, section 2.1, Merrill, Garland and Grimshaw ("Scalable GPU graph traversal", PPoPP 2012,
// section 5): rows of at least a block are read by the whole block, one after the other, rows of at least a
// warp by the warp of their thread, and the arcs of all others are numbered and dealt out.
#ifndef EMDIAM_GATHERING_CUH
#define EMDIAM_GATHERING_CUH
#include "simt.cuh"

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

#endif
