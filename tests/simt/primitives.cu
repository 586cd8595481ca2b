// Each word of the shim in use, for tests that know what it must give. Compiles as CUDA too.
#include "simt.cuh"

extern "C" __global__ void places(u32* out) {
    const u64 i = first_item();
    const u32 values[8] = {threadIdx.x, blockIdx.x, blockDim.x, gridDim.x, lane_id(), warp_id(), warps_in_block(),
                           lanes_below()};
    for (u32 k = 0; k < 8; ++k) out[8 * i + k] = values[k];
}

extern "C" __global__ void shuffles(const u32* in, u32* out, i32 by, i32 width) {
    const u64 i = first_item();
    out[4 * i] = __shfl_sync(FULL_WARP, in[i], by, width);
    out[4 * i + 1] = __shfl_up_sync(FULL_WARP, in[i], static_cast<u32>(by), width);
    out[4 * i + 2] = __shfl_down_sync(FULL_WARP, in[i], static_cast<u32>(by), width);
    out[4 * i + 3] = __shfl_xor_sync(FULL_WARP, in[i], by, width);
}

extern "C" __global__ void wide_shuffles(const u64* in, u64* out, const double* real, double* real_out) {
    const u64 i = first_item();
    out[i] = __shfl_xor_sync(FULL_WARP, in[i], 5);
    real_out[i] = __shfl_down_sync(FULL_WARP, real[i], 3u);
}

extern "C" __global__ void votes(const i32* in, u32* out) {
    const u64 i = first_item();
    const i32 value = in[i];
    const u32 bits = static_cast<u32>(value);
    out[10 * i] = __ballot_sync(FULL_WARP, value > 0);
    out[10 * i + 1] = static_cast<u32>(__all_sync(FULL_WARP, value > 0));
    out[10 * i + 2] = static_cast<u32>(__any_sync(FULL_WARP, value > 0));
    out[10 * i + 3] = __match_any_sync(FULL_WARP, value);
    out[10 * i + 4] = __reduce_add_sync(FULL_WARP, bits);
    out[10 * i + 5] = static_cast<u32>(__reduce_min_sync(FULL_WARP, value));
    out[10 * i + 6] = __reduce_max_sync(FULL_WARP, bits);
    out[10 * i + 7] = __reduce_and_sync(FULL_WARP, bits);
    out[10 * i + 8] = __reduce_or_sync(FULL_WARP, bits);
    out[10 * i + 9] = __reduce_xor_sync(FULL_WARP, bits);
}

// Virtual warps of `width` lanes, each with its own mask, in loops of different lengths.
extern "C" __global__ void virtual_warps(const u32* in, u32* out, u32 width) {
    const u32 group = lane_id() / width;
    const u32 mask = (width == WARP ? FULL_WARP : (1u << width) - 1u) << (group * width);
    u32 sum = 0;
    for (u32 round = 0; round <= group; ++round) {
        const u32 best = __shfl_sync(mask, in[first_item()] + round, 0, static_cast<i32>(width));
        sum += best + static_cast<u32>(__popc(__ballot_sync(mask, in[first_item()] % 2 == 0)));
        __syncwarp(mask);
    }
    out[first_item()] = sum;
}

extern "C" __global__ void bits(const u64* in, u64* out) {
    const u64 i = first_item(), x = in[i];
    const u32 low = static_cast<u32>(x);
    const u64 values[10] = {
        static_cast<u64>(__popc(low)), static_cast<u64>(__popcll(x)), static_cast<u64>(__ffs(static_cast<i32>(low))),
        static_cast<u64>(__ffsll(static_cast<i64>(x))), static_cast<u64>(__clz(static_cast<i32>(low))),
        static_cast<u64>(__clzll(static_cast<i64>(x))), __brev(low), __brevll(x),
        __umulhi(low, 0x9E3779B1u), __umul64hi(x, 0x9E3779B97F4A7C15ull)};
    for (u32 k = 0; k < 10; ++k) out[10 * i + k] = values[k];
}

// Every thread on a cell of its own: old values to `out`, new ones stay in `cells`; 10 operations.
template <typename T> DEVICE void eight_operations(T* cells, T* out, T value, T expected) {
    out[0] = atomicAdd(cells, value);
    out[1] = atomicMin(cells + 1, value);
    out[2] = atomicMax(cells + 2, value);
    out[3] = atomicAnd(cells + 3, value);
    out[4] = atomicOr(cells + 4, value);
    out[5] = atomicXor(cells + 5, value);
    out[6] = atomicExch(cells + 6, value);
    out[7] = atomicCAS(cells + 7, expected, value);
}
extern "C" __global__ void atomics_u32(u32* cells, u32* out, u32 value, u32 expected) {
    const u64 i = 10 * first_item();
    eight_operations(cells + i, out + i, value, expected);
    out[i + 8] = atomicInc(cells + i + 8, value);
    out[i + 9] = atomicDec(cells + i + 9, value);
}
extern "C" __global__ void atomics_i32(i32* cells, i32* out, i32 value, i32 expected) {
    const u64 i = 10 * first_item();
    eight_operations(cells + i, out + i, value, expected);
}
extern "C" __global__ void atomics_u64(u64* cells, u64* out, u64 value, u64 expected) {
    const u64 i = 10 * first_item();
    eight_operations(cells + i, out + i, value, expected);
}

// All threads on the same cells.
extern "C" __global__ void contention(u32* counter, u32* ticket, u64* wide, double* real, i32* down) {
    ticket[first_item()] = atomicAdd(counter, 1u);
    atomicAdd(wide, 1ull << 40);
    atomicAdd(real, 0.5);
    atomicSub(down, 3);
}

extern "C" __global__ void block_votes(const i32* in, i32* out) {
    const u64 i = first_item();
    const i32 count = __syncthreads_count(in[i]), all = __syncthreads_and(in[i]), any = __syncthreads_or(in[i]);
    out[3 * i] = count;
    out[3 * i + 1] = all;
    out[3 * i + 2] = any;
}

// Every block turns its part around, by an array of fixed size or by one sized at launch.
extern "C" __global__ void __launch_bounds__(256) turn_static(const u32* in, u32* out) {
    __shared__ u32 part[256];
    part[threadIdx.x] = in[first_item()];
    __syncthreads();
    out[first_item()] = part[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void turn_dynamic(const u16* in, u16* out) {
    DYNAMIC_SHARED(u16, part);
    part[threadIdx.x] = in[first_item()];
    __syncthreads();
    out[first_item()] = part[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void sums_of_warps(const u32* in, u32* out) {
    const u64 i = first_item();
    out[4 * i] = warp_sum(in[i]);
    out[4 * i + 1] = warp_max(in[i]);
    out[4 * i + 2] = warp_min(in[i]);
    out[4 * i + 3] = warp_inclusive_sum(in[i]);
}
extern "C" __global__ void sums_of_blocks(const u64* in, u64* out, u64* totals) {
    __shared__ u64 scratch[33];
    for (u32 round = 0; round < 2; ++round) {  // twice, since the scratch is free again
        u64 total;
        out[first_item()] = block_exclusive_sum(in[first_item()], scratch, &total);
        totals[blockIdx.x] = total;
    }
}

// A sum over all blocks in every round; each block keeps its share in shared memory in between.
#define ROUNDS(BARRIER)                                                           \
    {                                                                             \
        __shared__ u32 mine;                                                      \
        DYNAMIC_SHARED(u32, copy);                                                \
        if (threadIdx.x == 0) mine = blockIdx.x + 1;                              \
        __syncthreads();                                                          \
        copy[threadIdx.x] = mine;                                                 \
        for (u32 round = 0; round < rounds; ++round) {                            \
            if (threadIdx.x == 0) cells[blockIdx.x] = mine;                       \
            BARRIER(barrier);                                                     \
            u32 sum = 0;                                                          \
            for (u32 b = 0; b < gridDim.x; ++b) sum += load_fresh(cells + b);     \
            BARRIER(barrier);                                                     \
            if (threadIdx.x == 0) mine = (sum + copy[blockDim.x - 1]) % 1000003u; \
            __syncthreads();                                                      \
        }                                                                         \
        out[first_item()] = mine;                                                 \
    }
extern "C" __global__ void rounds_of_grid(u32* barrier, u32* cells, u32* out, u32 rounds) ROUNDS(grid_barrier)
extern "C" __global__ void rounds_by_atomics(u32* barrier, u32* cells, u32* out, u32 rounds)
    ROUNDS(grid_barrier_by_atomics)

extern "C" __global__ void caches_and_vectors(const u64* in, u64* out, uint4* vectors) {
    const u64 i = first_item();
    const uint4 v = vectors[i];
    vectors[i] = make_uint4(v.w, v.z, v.y, v.x);
    __stcg(out + 2 * i, __ldg(in + i) + __ldcg(in + i) + __ldcs(in + i));
    const i64 before = clock64();
    __threadfence();
    store_fresh(out + 2 * i + 1, static_cast<u64>(clock64() >= before) + min(7ull, max(in[i], 3ull)));
}

// One atomic for all lanes that are together, whichever they are.
extern "C" __global__ void together(u32* counter, u32* ticket) {
    if (threadIdx.x % 3 == 0) {
        const u32 mask = __activemask();
        const i32 leader = __ffs(static_cast<i32>(mask)) - 1;
        u32 first = 0;
        if (static_cast<i32>(lane_id()) == leader) first = atomicAdd(counter, static_cast<u32>(__popc(mask)));
        first = __shfl_sync(mask, first, leader);
        ticket[first_item()] = first + static_cast<u32>(__popc(mask & lanes_below()));
    }
}

// Two threads that work one after the other through a flag; both must make progress.
extern "C" __global__ void ping_pong(u32* turn, u32* out) {
    for (u32 round = 0; round < 8; ++round) {
        while (load_fresh(turn) % blockDim.x != threadIdx.x) SPIN_PAUSE();
        out[round * blockDim.x + threadIdx.x] = *turn;
        __threadfence();
        atomicAdd(turn, 1u);
    }
}
