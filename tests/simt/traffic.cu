// Kernels whose requests for memory are known, for the tests of the count of them (traffic.cpp).
#include "simt.cuh"

// Each warp: one load and one store of 4 sectors.
ENTRY(1024) copy_words(const u32* in, u32* out) { out[first_item()] = in[first_item()]; }
// One load of 32 sectors.
ENTRY(1024) gather_words(const u32* in, u32* out) { out[first_item()] = __ldg(in + first_item() * 8); }
// Lane l follows a chain of l + 1 loads; the lanes go on together.
ENTRY(1024) follow_words(const u32* in, u32* out) {
    u32 at = 0;
    for (u32 i = 0; i <= threadIdx.x; ++i) at = in[at];
    out[threadIdx.x] = at;
}
// The same from one operation of the warp to the next: a lane that has nothing to do is not waited for.
ENTRY(1024) follow_in_turn(const u32* in, u32* out) {
    u32 at = 0;
    for (u32 i = 0; __any_sync(FULL_WARP, i < 2 * lane_id()); ++i) {
        if (i % 2 == lane_id() % 2 && i < 2 * lane_id()) at = load_fresh(in + at);
    }
    out[first_item()] = at;
}
// One update of one sector for each warp.
ENTRY(1024) count_threads(u64* count) { atomicAdd(count, 1ull); }
// Block 0 makes three loads before the barrier, block 1 two after it; shared memory is not counted.
ENTRY(1024) take_turns(const u32* in, u32* out, u32* barrier) {
    __shared__ u32 part[1024];
    DYNAMIC_SHARED(u32, more);
    part[threadIdx.x] = more[threadIdx.x] = 0;
    for (u32 i = 0; blockIdx.x == 0 && i < 3; ++i) part[threadIdx.x] += in[i];
    grid_barrier(barrier);
    for (u32 i = 0; blockIdx.x == 1 && i < 2; ++i) more[threadIdx.x] += in[i];
    out[first_item()] = part[threadIdx.x] + more[threadIdx.x];
}
