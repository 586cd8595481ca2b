// Kernels with one fault each, and some that look faulty and are not. The shim must tell them apart.
#include "simt.cuh"

// ---- order ---------------------------------------------------------------------------------------
extern "C" __global__ void missing_barrier(const u32* in, u32* out) {
    __shared__ u32 part[256];
    part[threadIdx.x] = in[first_item()];
    out[first_item()] = part[blockDim.x - 1 - threadIdx.x];  // fault of missing_barrier
}
extern "C" __global__ void missing_second_barrier(u32* out) {
    __shared__ u32 part;
    for (u32 round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) part = round;
        __syncthreads();
        out[round * blockDim.x + threadIdx.x] = part;
    }
}
extern "C" __global__ void missing_warp_barrier(const u32* in, u32* out) {
    DYNAMIC_SHARED(u32, part);
    part[threadIdx.x] = in[first_item()];
    out[first_item()] = part[threadIdx.x ^ 1];
}
extern "C" __global__ void warp_barrier(const u32* in, u32* out) {
    DYNAMIC_SHARED(u32, part);
    part[threadIdx.x] = in[first_item()];
    __syncwarp(0xffu << (lane_id() / 8 * 8));
    out[first_item()] = part[threadIdx.x ^ 1];
}
extern "C" __global__ void different_flags(u32* out) {
    __shared__ u32 flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    flag = threadIdx.x + 1;
    __syncthreads();
    out[first_item()] = flag;
}
extern "C" __global__ void same_flag(u32* out) {
    __shared__ u32 flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x % 2) flag = 1;
    __syncthreads();
    out[first_item()] = flag;
}
extern "C" __global__ void plain_beside_atomic(u32* out) {
    __shared__ u32 sum;
    if (threadIdx.x == 0) sum = 0;
    atomicAdd(&sum, 1u);
    __syncthreads();
    out[first_item()] = sum;
}
extern "C" __global__ void queue_in_order_of_arrival(u32* counter, u32* out) {
    out[atomicAdd(counter, 1u)] = static_cast<u32>(first_item());
}
extern "C" __global__ void lost_update(u32* counter) {
    const u32 seen = *counter;
    if (seen < 1000000) *counter = seen + 1;
}
extern "C" __global__ void missing_barrier_around_an_array(u32* out) {
    out[threadIdx.x] = threadIdx.x + 1;
    out[blockDim.x + threadIdx.x] = out[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void reads_rubbish(u32* out) {
    __shared__ u32 part[64];
    if (threadIdx.x % 2) part[threadIdx.x] = 7;
    __syncthreads();
    out[first_item()] = part[threadIdx.x];
}

// ---- waiting for ever ------------------------------------------------------------------------------
extern "C" __global__ void divergent_barrier(u32* out) {
    if (threadIdx.x < 16) __syncthreads();  // fault of divergent_barrier
    out[first_item()] = 1;
}
extern "C" __global__ void barriers_of_two_lines(u32* out) {
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[first_item()] = 1;
}
extern "C" __global__ void divergent_shuffle(u32* out) {
    if (threadIdx.x % 2) out[first_item()] = __shfl_sync(FULL_WARP, threadIdx.x, 1);  // fault of divergent_shuffle
}
extern "C" __global__ void barrier_against_shuffle(u32* out) {
    if (threadIdx.x % 2)
        out[first_item()] = __ballot_sync(FULL_WARP, 1);
    else
        __syncthreads();
}
extern "C" __global__ void divergent_grid_barrier(u32* barrier, u32* out) {
    if (blockIdx.x > 0) grid_barrier(barrier);  // fault of divergent_grid_barrier
    out[first_item()] = 1;
}
extern "C" __global__ void waits_for_nobody(u32* flag) {
    while (load_fresh(flag) == 0) SPIN_PAUSE();  // fault of waits_for_nobody
}
extern "C" __global__ void endless(u32* out) {
    for (u32 i = 0;; i = i * 5 + 1) *out = i;
}

// ---- outside of arrays -----------------------------------------------------------------------------
extern "C" __global__ void writes_at(u32* array, i64 index) {
    if (threadIdx.x == 3) array[index] = 1;  // fault of writes_at
}
extern "C" __global__ void reads_at(const u32* array, i64 index, u32* out) {
    if (threadIdx.x == 3) out[0] = array[index];
}
extern "C" __global__ void adds_at(u32* array, i64 index) { atomicAdd(array + index, 1u); }
extern "C" __global__ void writes_shared_at(u32* out, u32 index) {
    __shared__ u32 part[64];
    part[index] = 1;  // fault of writes_shared_at
    out[0] = part[0];
}
extern "C" __global__ void writes_dynamic_at(u32* out, u32 index) {
    DYNAMIC_SHARED(u32, part);
    part[index] = 1;
    out[0] = part[0];
}
extern "C" __global__ void misaligned(const u32* in, uint4* out) {
    out[0] = *reinterpret_cast<const uint4*>(in + 1);
}
DEVICE u32 shifted(u32 by) { return 1u << by; }
extern "C" __global__ void shift_too_far(u32* out, u32 by) { out[0] = shifted(by); }
extern "C" __global__ void overflow(i32* out, i32 by) { out[0] = 0x7fffffff + by; }
extern "C" __global__ void foreign_mask(u32* out) {
    out[first_item()] = __ballot_sync(1u, static_cast<i32>(lane_id()));
}
extern "C" __global__ void reads_absent_lane(u32* out) {
    if (lane_id() < 4) out[lane_id()] = __shfl_sync(0xfu, lane_id(), 9);
}
__device__ __noinline__ u32 deep(u32 n, u32* out) {
    volatile u32 room[64] = {n};
    return n == 0 ? 0 : deep(n - 1, out) + room[n % 64];
}
extern "C" __global__ void deep_recursion(u32* out, u32 n) { out[0] = deep(n, out); }
