// Breadth-first search with a queue in three tiers: of a warp, of a block, of the grid.
//
// Source: papers/004, section 2.1, the hierarchical queue of Luo, Wong and Hwu. What the threads of a warp
// reach goes to the warp's queue in shared memory; the warps' queues become the block's, and the block asks
// for room in the queue of the grid once. Full queues pass on to the next tier.
//
// Three ways of waiting for the end of a level: by the end of the launch, inside one block, and over the grid. The
// first takes every mapping of section 5 (-DMAPPING; theirs is MAPPING_THREADS). The others have one thread a vertex:
// mappings that search need sums, which the host makes, and there it is not asked between levels. Work: O(n + m).
#include "mapping.cuh"

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
    const u32 local = filled(tiers.fill + warp_id(), WARP_SLOTS);
    for (u32 i = lane_id(); i < local; i += WARP)
        tiers.block_slots[before + i] = tiers.warp_slots[warp_id() * WARP_SLOTS + i];
    if (threadIdx.x == 0 && total != 0) *tiers.base = atomicAdd(tail, static_cast<u64>(total));
    __syncthreads();
    for (u32 i = threadIdx.x; i < total; i += blockDim.x) reached[*tiers.base + i] = tiers.block_slots[i];
}

// -- One level --

// The first parameters are those of Frontier. distances: u32[n] with all bits set where unreached, next: distance of
// what is reached, reached: VERTEX[n], gets each reached vertex once, in any order, tail: u64[1], zero before, gets
// their number. Any grid.
// A block asks for room once, at its end: the mapping decides where its threads meet before that.
ENTRY(256, MAPPING_RESIDENT) luo_level(FRONTIER_PARAMETERS, u32* distances, u32 next, VERTEX* reached, u64* tail) {
    TIERS(tiers);
    empty_tiers(tiers);
    __syncthreads();
    const auto visit = [=](u64, u64 arc) {
        const VERTEX w = __ldg(neighbours + arc);
        if (claim(distances, w, next)) enqueue(tiers, w, reached, tail);
    };
    VISIT_ARCS(visit);
    __syncthreads();
    flush(tiers, reached, tail);
}

// -- Many levels in one launch --

// Levels until the frontier is empty or larger than `limit`. wait: the barrier of all threads of the launch. Other
// parameters: see luo_levels_block.
template <typename Wait>
DEVICE void luo_levels(const Tiers& tiers, const INDEX* offsets, const VERTEX* neighbours, VERTEX* even, VERTEX* odd,
                       u32* distances, u64 limit, u64* state, u64* tails, const Wait& wait) {
    u64 size = state[0], level = state[1];
    wait();
    while (size != 0 && size <= limit) {
        const VERTEX* const frontier = level % 2 ? odd : even;
        VERTEX* const reached = level % 2 ? even : odd;
        u64* const tail = tails + level % 3;
        for (u64 first = static_cast<u64>(blockIdx.x) * blockDim.x; first < size; first += item_stride()) {
            empty_tiers(tiers);
            __syncthreads();
            if (first + threadIdx.x < size) {
                const VERTEX v = load_fresh(frontier + first + threadIdx.x);
                const u64 end = offsets[v + 1];
                for (u64 arc = offsets[v]; arc < end; ++arc) {
                    const VERTEX w = __ldg(neighbours + arc);
                    if (claim(distances, w, static_cast<u32>(level + 1))) enqueue(tiers, w, reached, tail);
                }
            }
            __syncthreads();
            flush(tiers, reached, tail);
            __syncthreads();
        }
        // The place of the next level: it was last read two barriers ago.
        if (first_item() == 0) store_fresh(tails + (level + 1) % 3, u64(0));
        wait();
        size = load_fresh(tail);
        ++level;
    }
    if (first_item() == 0) {
        state[0] = size;
        state[1] = level;
    }
}

// offsets: INDEX[n + 1], neighbours: VERTEX[m], distances: u32[n] with all bits set where unreached; even, odd:
// VERTEX[n], the frontiers of levels of even and odd distance; limit: see luo_levels; state: u64[2], size of the
// frontier and its distance, read and written; tails: u64[3], zeros before. One block.
// Without the 5 the compiler spills where a multiprocessor has 1,536 threads.
ENTRY(256, 5) luo_levels_block(const INDEX* offsets, const VERTEX* neighbours, VERTEX* even, VERTEX* odd,
                               u32* distances, u64 limit, u64* state, u64* tails) {
    TIERS(tiers);
    luo_levels(tiers, offsets, neighbours, even, odd, distances, limit, state, tails, [] { __syncthreads(); });
}

// The same over all blocks of a cooperative launch. barrier: u32[1], zero before its first use.
ENTRY(256) luo_levels_grid(const INDEX* offsets, const VERTEX* neighbours, VERTEX* even, VERTEX* odd, u32* distances,
                           u64 limit, u64* state, u64* tails, u32* barrier) {
    TIERS(tiers);
    luo_levels(tiers, offsets, neighbours, even, odd, distances, limit, state, tails, [=] { grid_barrier(barrier); });
}
