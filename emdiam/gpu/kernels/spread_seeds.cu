// Where a spread (spread.cu) begins: the seeds of one value, or all vertices of one bound.
// Source: F-Diam, section 4.5. Work: O(seeds), and O(n).
#include "claims.cuh"

// Places in the counts of a level.
#define N_FOLLOWING 0
#define LOWERED 1

// seeds: VERTEX[k], different vertices. bounds: u32[n], lowered to `value`. following: VERTEX[n], gets the seeds
// whose bound is `value` now, in any order; before the level that lowers others to it, so that none is there
// twice. counts: N_FOLLOWING and LOWERED are raised. One thread a seed, any grid.
extern "C" __global__ void __launch_bounds__(256)
admit_seeds(const VERTEX* seeds, u64 k, u32* bounds, u32 value, VERTEX* following, u64* counts) {
    u64 lowered = 0;
    for (u64 base = first_item() - lane_id(); base < k; base += item_stride()) {
        const bool is_seed = base + lane_id() < k;
        const VERTEX v = is_seed ? seeds[base + lane_id()] : 0;
        const u32 before = is_seed ? bounds[v] : 0u;
        if (is_seed && before > value) {
            bounds[v] = value;
            ++lowered;
        }
        const bool grows = is_seed && before >= value;
        const u64 place = warp_reserve(grows, counts + N_FOLLOWING);
        if (grows) following[place] = v;
    }
    lowered = warp_sum(lowered);
    if (lane_id() == 0 && lowered != 0) atomicAdd(counts + LOWERED, lowered);
}

// bounds: u32[n]. following: VERTEX[n], gets the vertices whose bound is `value`, in any order. counts:
// N_FOLLOWING is raised. One thread a vertex, any grid.
extern "C" __global__ void __launch_bounds__(256)
queue_of_bound(const u32* bounds, u64 n, u32 value, VERTEX* following, u64* counts) {
    for (u64 base = first_item() - lane_id(); base < n; base += item_stride()) {
        const u64 v = base + lane_id();
        const bool mine = v < n && bounds[v] == value;
        const u64 place = warp_reserve(mine, counts + N_FOLLOWING);
        if (mine) following[place] = static_cast<VERTEX>(v);
    }
}
