// Exclusive sums of a vector in place, in two levels: the sum of each block's part, the sums over those, and
// then each part from where it begins. Three launches, so blocks never wait for each other.
// Source: papers/004, 3.1 and section 5 (two-level exclusive prefix sum, of warps and of blocks).
// Work: O(n).
#include "simt.cuh"

// values: u64[n], part: items of a block's part, totals: u64[gridDim.x], the sum of each part. One block a
// part: gridDim.x * part >= n.
extern "C" __global__ void __launch_bounds__(256)
scan_totals_of_parts(const u64* values, u64 n, u64 part, u64* totals) {
    __shared__ u64 scratch[33];
    const u64 begin = min(blockIdx.x * part, n), end = min(begin + part, n);
    u64 sum = 0, total;
    for (u64 i = begin + threadIdx.x; i < end; i += blockDim.x) sum += values[i];
    block_exclusive_sum(sum, scratch, &total);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// The same parts, each scanned tile by tile. carries: u64[gridDim.x], where each part begins; without parts
// (part = n, one block, carries[0] = 0) this scans a vector alone. Sums wrap.
extern "C" __global__ void __launch_bounds__(256)
scan_parts(u64* values, u64 n, u64 part, const u64* carries) {
    __shared__ u64 scratch[33];
    const u64 begin = min(blockIdx.x * part, n), end = min(begin + part, n);
    u64 carry = carries[blockIdx.x];
    for (u64 tile = begin; tile < end; tile += blockDim.x) {
        const u64 i = tile + threadIdx.x;
        u64 total;
        const u64 below = block_exclusive_sum(i < end ? values[i] : 0ull, scratch, &total);
        if (i < end) values[i] = carry + below;
        carry += total;
    }
}
