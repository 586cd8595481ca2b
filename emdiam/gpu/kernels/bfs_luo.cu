// Levels of breadth-first search with a queue in three tiers: of a warp, of a block, of the grid.
//
// Source: papers/004, section 2.1, the hierarchical queue of Luo, Wong and Hwu. What the threads of a warp
// reach goes to the warp's queue in shared memory; the warps' queues become the block's, and the block asks
// for room in the queue of the grid once. Full queues pass on to the next tier. Three entries have the three
// ways of waiting for the end of a level: inside one block, over the grid, and by the end of the launch.
// Work: O(n + m).
#include "claims.cuh"

#ifndef VERTEX
#define VERTEX u32
#endif

#define MOST_WARPS 8u                             // of a block of 256 threads
#define WARP_SLOTS 64u                            // of the queue of a warp
#define SPILL_SLOTS 512u                          // of the queue of a block, for full queues of warps
#define BLOCK_SLOTS (SPILL_SLOTS + MOST_WARPS * WARP_SLOTS)

// Shared memory of the queues. fill: of the queue of each warp, then of the block's part for spills; may
// count beyond the slots. base: where the block's items go in the queue of the grid.
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

DEVICE u32 filled(const u32* fill, u32 slots) { return *fill < slots ? *fill : slots; }

DEVICE void enqueue(const Tiers& tiers, VERTEX v, VERTEX* reached, u64* tail) {
    u32 slot = atomicAdd(tiers.fill + warp_id(), 1u);
    if (slot < WARP_SLOTS) {
        tiers.warp_slots[warp_id() * WARP_SLOTS + slot] = v;
        return;
    }
    slot = atomicAdd(tiers.fill + MOST_WARPS, 1u);
    if (slot < SPILL_SLOTS) tiers.block_slots[slot] = v;
    else reached[atomicAdd(tail, 1ull)] = v;
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

// The block's share of a level: first, first + stride, ... are the beginnings of its pieces of the frontier.
DEVICE void expand_share(const Tiers& tiers, const u64* offsets, const VERTEX* neighbours, const VERTEX* frontier,
                         u64 n_frontier, u64 stride, u32* distances, u32 next, VERTEX* reached, u64* tail) {
    for (u64 first = static_cast<u64>(blockIdx.x) * blockDim.x; first < n_frontier; first += stride) {
        if (threadIdx.x <= MOST_WARPS) tiers.fill[threadIdx.x] = 0;
        __syncthreads();
        if (first + threadIdx.x < n_frontier) {
            const VERTEX v = load_fresh(frontier + first + threadIdx.x);
            const u64 end = offsets[v + 1];
            for (u64 arc = offsets[v]; arc < end; ++arc) {
                const VERTEX w = __ldg(neighbours + arc);
                if (claim(distances, w, next)) enqueue(tiers, w, reached, tail);
            }
        }
        __syncthreads();
        flush(tiers, reached, tail);
        __syncthreads();
    }
}

// One level. offsets: u64[n + 1], neighbours: VERTEX[m], frontier: VERTEX[n_frontier], distances: u32[n] with
// all bits set where unreached, next: distance of what is reached, reached: VERTEX[n], gets each reached
// vertex once, in any order, tail: u64[1], zero before, gets their number. One thread a vertex of the
// frontier, any grid.
extern "C" __global__ void __launch_bounds__(256)
luo_level(const u64* offsets, const VERTEX* neighbours, const VERTEX* frontier, u64 n_frontier, u32* distances,
          u32 next, VERTEX* reached, u64* tail) {
    TIERS(tiers);
    expand_share(tiers, offsets, neighbours, frontier, n_frontier, item_stride(), distances, next, reached, tail);
}

// Levels until the frontier is empty or larger than `most`. even, odd: VERTEX[n], the frontiers of levels of
// even and odd distance; state: u64[2], size of the frontier and its distance, read and written; tails:
// u64[3], zeros before. One block.
extern "C" __global__ void __launch_bounds__(256)
luo_levels_block(const u64* offsets, const VERTEX* neighbours, VERTEX* even, VERTEX* odd, u32* distances, u64 most,
                 u64* state, u64* tails) {
    TIERS(tiers);
    u64 size = state[0], level = state[1];
    __syncthreads();
    while (size != 0 && size <= most) {
        const bool at_odd = level % 2;
        expand_share(tiers, offsets, neighbours, at_odd ? odd : even, size, blockDim.x, distances,
                     static_cast<u32>(level + 1), at_odd ? even : odd, tails + level % 3);
        // The place of the next level: it was last read two barriers ago.
        if (threadIdx.x == 0) store_fresh(tails + (level + 1) % 3, u64(0));
        __syncthreads();
        size = load_fresh(tails + level % 3);
        ++level;
    }
    if (threadIdx.x == 0) {
        state[0] = size;
        state[1] = level;
    }
}

// The same over all blocks of a cooperative launch. barrier: u32[1], zero before its first use.
extern "C" __global__ void __launch_bounds__(256)
luo_levels_grid(const u64* offsets, const VERTEX* neighbours, VERTEX* even, VERTEX* odd, u32* distances, u64 most,
                u64* state, u64* tails, u32* barrier) {
    TIERS(tiers);
    u64 size = state[0], level = state[1];
    grid_barrier(barrier);
    while (size != 0 && size <= most) {
        const bool at_odd = level % 2;
        expand_share(tiers, offsets, neighbours, at_odd ? odd : even, size, item_stride(), distances,
                     static_cast<u32>(level + 1), at_odd ? even : odd, tails + level % 3);
        // The place of the next level: it was last read two barriers ago.
        if (first_item() == 0) store_fresh(tails + (level + 1) % 3, u64(0));
        grid_barrier(barrier);
        size = load_fresh(tails + level % 3);
        ++level;
    }
    if (first_item() == 0) {
        state[0] = size;
        state[1] = level;
    }
}
