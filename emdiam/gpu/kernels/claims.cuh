// Who of many threads reaches a vertex, and where a warp, or what of it comes together, may append to a queue.
#ifndef EMDIAM_CLAIMS_CUH
#define EMDIAM_CLAIMS_CUH
#include "simt.cuh"

#define UNREACHED 0xffffffffu

// Sets the distance of a vertex that has none; true for one of all threads that try. The test before spares
// atomic operations on vertices that have been reached.
template <typename V> DEVICE bool claim(u32* distances, V v, u32 distance) {
    if (load_fresh(distances + v) != UNREACHED) return false;
    return atomicCAS(distances + v, UNREACHED, distance) == UNREACHED;
}

// Reserves room for the lanes that want it, by one atomic operation of the warp: a place of *tail for each
// lane with `wants`, in the order of lanes. All 32 lanes must call it. tail: global or shared memory.
template <typename T> DEVICE T warp_reserve(bool wants, T* tail) {
    const u32 wanting = __ballot_sync(FULL_WARP, wants);
    T base = 0;
    if (lane_id() == 0 && wanting != 0) base = atomicAdd(tail, static_cast<T>(__popc(wanting)));
    base = __shfl_sync(FULL_WARP, base, 0);
    return base + static_cast<T>(__popc(wanting & lanes_below()));
}

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
