// Appending to a queue from code in which a warp may have diverged.
#ifndef EMDIAM_ACTIVE_CUH
#define EMDIAM_ACTIVE_CUH
#include "simt.cuh"

// Reserves a place of *tail for every lane that comes here, by one atomic operation for those that come
// together; where lanes come apart, there are more operations, and the places are the same. tail: global
// memory; also: a second count, raised by as many, or null. As "warp-aggregated atomics", here without a mask
// that the caller would have to know.
DEVICE u64 reserve_active(u64* tail, u64* also = nullptr) {
    const u32 lanes = __activemask();
    const i32 leader = __ffs(static_cast<i32>(lanes)) - 1;
    u64 base = 0;
    if (static_cast<i32>(lane_id()) == leader) {
        base = atomicAdd(tail, static_cast<u64>(__popc(lanes)));
        if (also != nullptr) atomicAdd(also, static_cast<u64>(__popc(lanes)));
    }
    base = __shfl_sync(lanes, base, leader);
    return base + static_cast<u64>(__popc(lanes & lanes_below()));
}

#endif
