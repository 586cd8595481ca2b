// Many levels of breadth-first search in one launch, with a queue in three tiers (tiers.cuh).
//
// Source: papers/004, section 2.1, the hierarchical queue of Luo, Wong and Hwu. Their three ways of waiting
// for the end of a level: inside one block, over the grid, and, in bfs_luo_level.cu, by the end of the launch.
// Work: O(n + m). One thread a vertex: the mappings of mapping.cuh that search need sums, which the host makes,
// and here it is not asked between levels.
#include "claims.cuh"
#include "tiers.cuh"

// The block's share of a level: first, first + stride, ... are the beginnings of its pieces of the frontier.
DEVICE void expand_share(const Tiers& tiers, const u64* offsets, const VERTEX* neighbours, const VERTEX* frontier,
                         u64 n_frontier, u64 stride, u32* distances, u32 next, VERTEX* reached, u64* tail) {
    for (u64 first = static_cast<u64>(blockIdx.x) * blockDim.x; first < n_frontier; first += stride) {
        empty_tiers(tiers);
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

// Levels until the frontier is empty or larger than `most`. offsets: u64[n + 1], neighbours: VERTEX[m],
// distances: u32[n] with all bits set where unreached; even, odd: VERTEX[n], the frontiers of levels of
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
