// What a launch, a barrier of a grid, and reading cost by themselves.
#include "simt.cuh"

// Does next to nothing; `out` keeps the launch from being dropped.
extern "C" __global__ void __launch_bounds__(256) launch_nothing(u32* out) {
    if (first_item() == 0) out[0] = 1;
}

// `rounds` barriers of the whole grid. state: u32[1], zero. count: u32[1], the rounds that were made.
extern "C" __global__ void __launch_bounds__(256) cross_barriers(u32* state, u32 rounds, u32* count) {
    for (u32 round = 0; round < rounds; ++round) grid_barrier(state);
    if (first_item() == 0) count[0] = rounds;
}

// Reads n words, eight bytes a lane, neighbours by neighbouring lanes. sum: u64[1], zero at first.
extern "C" __global__ void __launch_bounds__(256) read_words(const u64* words, u64 n, u64* sum) {
    u64 mine = 0;
    for (u64 i = first_item(); i < n; i += item_stride()) mine += words[i];
    atomicAdd(sum, mine);
}
