// Many levels of breadth-first search in one launch, for graphs with many levels and small frontiers.
//
// Source: papers/004, section 2.1: queues and the barrier of the grid as in Luo, Wong and Hwu. Here one small block
// stands on each multiprocessor, since a level costs what the barrier costs; while the frontier is small, block 0 alone
// goes on, with barriers of the block, and the others wait for it. Every load that does not depend on another is asked
// for before any is waited for: a level is a chain of latencies, not of bytes. Work: O(n + m).
#include "simt.cuh"

#define BATCH 4u         // arcs that a lane asks for at once
#define LANE_ROW 32u     // longer rows are done by the whole warp
#define SOLO_SLOTS 512u  // largest frontier of block 0 alone

// What a level works on. next: distance of what is reached.
struct Level {
    const INDEX* offsets;
    const VERTEX* neighbours;
    u32* distances;
    u32 next;
};

// Ends of queues: room for some vertices, and a vertex put into its place.
struct GridTail {
    u64* tail;
    VERTEX* reached;
    __device__ u64 reserve(u32 items) const { return atomicAdd(tail, static_cast<u64>(items)); }
    __device__ void put(u64 place, VERTEX v) const { reached[place] = v; }
};
// The first vertices are kept in shared memory too, for the next level of this block.
struct SoloTail {
    u32* fill;
    VERTEX* slots;
    VERTEX* reached;
    __device__ u64 reserve(u32 items) const { return atomicAdd(fill, items); }
    __device__ void put(u64 place, VERTEX v) const {
        if (place < SOLO_SLOTS) slots[place] = v;
        reached[place] = v;
    }
};

// The lane's arcs arc, arc + step, ... below end, at most BATCH. The winners of a warp are appended together.
// All 32 lanes must call it.
template <typename Tail>
DEVICE void visit_batch(const Level& at, INDEX arc, INDEX end, u32 step, const Tail& tail) {
    VERTEX w[BATCH] = {};
    bool open[BATCH];
    u32 won = 0;
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        open[k] = arc + k * step < end;
        if (open[k]) w[k] = __ldg(at.neighbours + arc + k * step);
    }
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) open[k] = open[k] && load_fresh(at.distances + w[k]) == UNREACHED;
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        if (open[k] && atomicCAS(at.distances + w[k], UNREACHED, at.next) == UNREACHED) won |= 1u << k;
    }
    if (__ballot_sync(FULL_WARP, won != 0) == 0) return;
    const u32 items = static_cast<u32>(__popc(won)), upto = warp_inclusive_sum(items);
    u64 place = 0;
    if (lane_id() == WARP - 1) place = tail.reserve(upto);
    place = __shfl_sync(FULL_WARP, place, WARP - 1) + (upto - items);
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        if ((won >> k & 1u) == 0) continue;
        tail.put(place++, w[k]);
        PREFETCH(at.offsets + w[k]);
    }
}

// The rows of a warp's vertices, one a lane with `valid`; the number of arcs of the lane's row. All 32 lanes must
// call it.
template <typename Tail> DEVICE u64 expand_rows(const Level& at, bool valid, VERTEX v, const Tail& tail) {
    INDEX arc = 0, end = 0;
    if (valid) {
        arc = __ldg(at.offsets + v);
        end = __ldg(at.offsets + v + 1);
    }
    const INDEX degree = end - arc;
    for (u32 wide = __ballot_sync(FULL_WARP, degree > LANE_ROW); wide != 0; wide &= wide - 1) {
        const i32 owner = __ffs(static_cast<i32>(wide)) - 1;
        const INDEX last = __shfl_sync(FULL_WARP, end, owner);
        for (INDEX base = __shfl_sync(FULL_WARP, arc, owner); base < last; base += WARP * BATCH)
            visit_batch(at, base + lane_id(), last, WARP, tail);
    }
    if (degree > LANE_ROW) arc = end;
    for (; __any_sync(FULL_WARP, arc < end); arc = min(arc + BATCH, end)) visit_batch(at, arc, end, 1, tail);
    return degree;
}

// Levels of one block until the frontier is empty or larger than `limit`, or its distance is `last`. slots:
// 2 * SOLO_SLOTS, fill: 3 items of shared memory. Returns the arcs of this thread's rows; size and level are
// brought up to date in all its threads, all of which must call it.
DEVICE u64 solo_levels(Level at, VERTEX* even, VERTEX* odd, u64 limit, u64 last, u64* size, u64* level, VERTEX* slots,
                       u32* fill) {
    u64 arcs = 0;
    const VERTEX* const queue = *level % 2 ? odd : even;
    for (u64 i = threadIdx.x; i < *size; i += blockDim.x) slots[*level % 2 * SOLO_SLOTS + i] = load_fresh(queue + i);
    if (threadIdx.x < 3) fill[threadIdx.x] = 0;
    __syncthreads();
    do {
        const VERTEX* const here = slots + *level % 2 * SOLO_SLOTS;
        const bool at_odd = *level % 2;
        const SoloTail tail = {fill + *level % 3, slots + (at_odd ? 0u : SOLO_SLOTS), at_odd ? even : odd};
        at.next = static_cast<u32>(*level + 1);
        for (u64 first = warp_id() * WARP; first < *size; first += blockDim.x) {
            const bool valid = first + lane_id() < *size;
            arcs += expand_rows(at, valid, valid ? here[first + lane_id()] : VERTEX(0), tail);
        }
        // The place of the next level: it was last read before the last barrier.
        if (threadIdx.x == 0) fill[(*level + 1) % 3] = 0;
        __syncthreads();
        *size = fill[*level % 3];
        ++*level;
    } while (*size != 0 && *size <= limit && *level < last);
    return arcs;
}

// Levels until the frontier is empty or larger than `limit`, or its distance is `last`. offsets: INDEX[n + 1],
// neighbours: VERTEX[m]. even, odd: VERTEX[n], the frontiers of levels of even and odd distance. distances:
// u32[n] with all bits set where unreached. solo: largest frontier of block 0 alone. state: u64[3], size of the
// frontier and its distance, read and written; third, 0 before, gets the arcs of all rows that were visited.
// tails: u64[3], zeros before. barrier: u32[1], zero before its first use. Any cooperative grid.
ENTRY(512, 1) persistent_levels(const INDEX* offsets, const VERTEX* neighbours, VERTEX* even, VERTEX* odd, u32* distances,
                                u64 solo, u64 limit, u64 last, u64* state, u64* tails, u32* barrier) {
    __shared__ VERTEX slots[2 * SOLO_SLOTS];
    __shared__ u32 fill[3];
    Level at = {offsets, neighbours, distances, 0};
    u64 size = state[0], level = state[1], arcs = 0;
    const u64 alone = min(solo, static_cast<u64>(SOLO_SLOTS));
    grid_barrier(barrier);
    // Levels of the whole grid, which take the tails in turn.
    for (u32 turn = 0; size != 0 && size <= limit && level < last;) {
        const bool together = size > alone;
        if (!together && blockIdx.x == 0) {
            arcs += solo_levels(at, even, odd, min(alone, limit), last, &size, &level, slots, fill);
            if (threadIdx.x == 0) {
                store_fresh(state, size);
                store_fresh(state + 1, level);
            }
        }
        if (together) {
            const VERTEX* const here = level % 2 ? odd : even;
            const GridTail tail = {tails + turn, level % 2 ? even : odd};
            at.next = static_cast<u32>(level + 1);
            // Warps beside each other in the frontier are of different blocks, so that all multiprocessors share it.
            const u64 warps = static_cast<u64>(gridDim.x) * warps_in_block();
            for (u64 first = (static_cast<u64>(warp_id()) * gridDim.x + blockIdx.x) * WARP; first < size;
                 first += warps * WARP) {
                const bool valid = first + lane_id() < size;
                const VERTEX v = valid ? load_fresh(here + first + lane_id()) : VERTEX(0);
                arcs += expand_rows(at, valid, v, tail);
            }
            // The place of the next turn: it was last read before the last barrier.
            if (first_item() == 0) store_fresh(tails + (turn + 1) % 3, u64(0));
        }
        grid_barrier(barrier);
        size = load_fresh(together ? tails + turn : state);
        level = together ? level + 1 : load_fresh(state + 1);
        if (together) turn = (turn + 1) % 3;
    }
    warp_add(arcs, state + 2);
    if (first_item() == 0) {
        state[0] = size;
        state[1] = level;
    }
}
