// A queue in three tiers: of a warp, of a block, of the grid.
//
// Source: papers/004, section 2.1, the hierarchical queue of Luo, Wong and Hwu. What the threads of a warp
// reach goes to the warp's queue in shared memory; the warps' queues become the block's, and the block asks
// for room in the queue of the grid once. Full queues pass on to the next tier.
#ifndef EMDIAM_TIERS_CUH
#define EMDIAM_TIERS_CUH
#include "claims.cuh"

#define MOST_WARPS 8u                             // of a block of 256 threads
#define WARP_SLOTS 64u                            // of the queue of a warp
#define SPILL_SLOTS 512u                          // of the queue of a block, for full queues of warps
#define BLOCK_SLOTS (SPILL_SLOTS + MOST_WARPS * WARP_SLOTS)

// Shared memory of the queues. fill: of the queue of each warp, then of the block's part for spills; may count
// beyond the slots, by at most a thread each. base: where the block's items go in the queue of the grid.
struct Tiers {
    VERTEX* warp_slots;
    VERTEX* block_slots;
    u32* fill;
    u64* base;
};
#define TIERS(name)                                            \
    __shared__ VERTEX shared_warp_slots[MOST_WARPS * WARP_SLOTS]; \
    __shared__ VERTEX shared_block_slots[BLOCK_SLOTS];         \
    __shared__ u32 shared_fill[MOST_WARPS + 1];                \
    __shared__ u64 shared_base;                                \
    const Tiers name = {shared_warp_slots, shared_block_slots, shared_fill, &shared_base}

// All threads of the block must call it; the queues are empty behind the next barrier.
DEVICE void empty_tiers(const Tiers& tiers) {
    if (threadIdx.x <= MOST_WARPS) tiers.fill[threadIdx.x] = 0;
}

DEVICE u32 filled(const u32* fill, u32 slots) { return *fill < slots ? *fill : slots; }

// A slot of a queue, or `slots` and more where it is full. A full one costs no atomic operation.
DEVICE u32 take_slot(u32* fill, u32 slots) { return load_fresh(fill) < slots ? atomicAdd(fill, 1u) : slots; }

// Any lanes may call it, and come apart in it.
DEVICE void enqueue(const Tiers& tiers, VERTEX v, VERTEX* reached, u64* tail) {
    u32 slot = take_slot(tiers.fill + warp_id(), WARP_SLOTS);
    if (slot < WARP_SLOTS) {
        tiers.warp_slots[warp_id() * WARP_SLOTS + slot] = v;
        return;
    }
    slot = take_slot(tiers.fill + MOST_WARPS, SPILL_SLOTS);
    if (slot < SPILL_SLOTS) tiers.block_slots[slot] = v;
    else reached[reserve_active(tail)] = v;
}

// Appends the queues of the warps to the block's, and the block's to the grid's. All threads must call it,
// after a barrier; the queues are free behind the next one.
DEVICE void flush(const Tiers& tiers, VERTEX* reached, u64* tail) {
    u32 before = filled(tiers.fill + MOST_WARPS, SPILL_SLOTS), total = before;
    for (u32 warp = 0; warp < warps_in_block(); ++warp) {
        const u32 items = filled(tiers.fill + warp, WARP_SLOTS);
        if (warp < warp_id()) before += items;
        total += items;
    }
    const u32 mine = filled(tiers.fill + warp_id(), WARP_SLOTS);
    for (u32 i = lane_id(); i < mine; i += WARP)
        tiers.block_slots[before + i] = tiers.warp_slots[warp_id() * WARP_SLOTS + i];
    if (threadIdx.x == 0 && total != 0) *tiers.base = atomicAdd(tail, static_cast<u64>(total));
    __syncthreads();
    for (u32 i = threadIdx.x; i < total; i += blockDim.x) reached[*tiers.base + i] = tiers.block_slots[i];
}

#endif
