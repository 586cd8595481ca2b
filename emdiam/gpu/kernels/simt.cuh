// What every kernel stands on: names of types, shared memory sized at launch, reductions and sums over warps and
// blocks, claims of vertices and places in queues, and the barrier of a whole grid.
//
// Under nvcc and nvrtc this file needs no header. The tests define EMDIAM_SHIM and bring their own
// meaning of the words of CUDA C++ (tests/simt/shim.hpp), so that the same kernels run on a CPU.
// README.md in this folder says what kernels may rely on.
#ifndef EMDIAM_SIMT_CUH
#define EMDIAM_SIMT_CUH

#ifdef EMDIAM_SHIM
#include "shim.hpp"
#endif

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// Type of a vertex, for all kernels that have one.
#ifndef VERTEX
#define VERTEX u32
#endif
// Type of an offset of a row. Rows whose offsets are u32 end so far below 2^32 (gpu/graph.py) that what is done with an
// INDEX does not wrap: it goes past the end of a row by the arcs that a warp asks for at once, at most 2^10. Steps of a
// block or a grid are u64.
#ifndef INDEX
#define INDEX u32
#endif

#define WARP 32u
#define FULL_WARP 0xffffffffu
// The distance of a vertex that has none.
#define UNREACHED 0xffffffffu

// Every free device function. It is static, because a shared array inside an inline function of
// external linkage would be one array for several modules under the shim.
#define DEVICE static __device__ __forceinline__
// Before the name of every entry: most threads of a block, and least blocks that a multiprocessor with 2,048 threads
// should hold; three quarters of them where it has 1,536 (MOST_RESIDENT), as those of graphics cards.
#define ENTRY(...) extern "C" __global__ void ENTRY_BOUNDS(__VA_ARGS__, THREADS_AND_BLOCKS, THREADS_ALONE, 0)(__VA_ARGS__)
#define ENTRY_BOUNDS(threads, blocks, name, ...) name
#define THREADS_ALONE(threads) __launch_bounds__(threads)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ <= 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
#define MOST_RESIDENT 2048
#define THREADS_AND_BLOCKS(threads, blocks) __launch_bounds__(threads, blocks)
#else
#define MOST_RESIDENT 1536
#define THREADS_AND_BLOCKS(threads, blocks) __launch_bounds__(threads, ((blocks) * 3 + 1) / 4)
#endif

// DYNAMIC_SHARED(type, name): `name` points to the shared memory whose bytes the launch states. It is
// aligned to 16 bytes. Once in a kernel; parts of it are handed on as pointers.
// SPIN_PAUSE(): in the body of every loop that waits for another thread.
#ifdef EMDIAM_SHIM
#define DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(simt_dynamic_shared())
#define SPIN_PAUSE() simt_spin()
#else
#define DYNAMIC_SHARED(type, name)                              \
    extern __shared__ __align__(16) u8 simt_dynamic_arena[];    \
    type* const name = reinterpret_cast<type*>(simt_dynamic_arena)
#define SPIN_PAUSE() ((void)0)
#endif

// Place of a thread. Blocks and grids have one dimension.
DEVICE u32 lane_id() { return threadIdx.x % WARP; }
DEVICE u32 warp_id() { return threadIdx.x / WARP; }
DEVICE u32 warps_in_block() { return (blockDim.x + WARP - 1) / WARP; }
DEVICE u64 first_item() { return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; }
DEVICE u64 item_stride() { return static_cast<u64>(gridDim.x) * blockDim.x; }
DEVICE u32 lanes_below() { return (1u << lane_id()) - 1u; }

// Asks for a line of memory without waiting for it.
#ifdef EMDIAM_SHIM
#define PREFETCH(p) ((void)(p))
#else
#define PREFETCH(p) asm volatile("prefetch.global.L2 [%0];" ::"l"(p))
#endif

// A load and a store that see and are seen by other blocks: never kept in a register or in the first cache.
template <typename T> DEVICE T load_fresh(const T* p) { return *static_cast<const volatile T*>(p); }
template <typename T> DEVICE void store_fresh(T* p, T value) { *static_cast<volatile T*>(p) = value; }

// Over the 32 lanes of a warp, all of which must call them. Sums wrap.
template <typename T> DEVICE T warp_sum(T value) {
    for (u32 step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(FULL_WARP, value, step);
    return value;
}
template <typename T> DEVICE T warp_max(T value) {
    for (u32 step = WARP / 2; step > 0; step /= 2) {
        const T other = __shfl_xor_sync(FULL_WARP, value, step);
        value = other > value ? other : value;
    }
    return value;
}
template <typename T> DEVICE T warp_min(T value) {
    for (u32 step = WARP / 2; step > 0; step /= 2) {
        const T other = __shfl_xor_sync(FULL_WARP, value, step);
        value = other < value ? other : value;
    }
    return value;
}
// Sum over this lane and those below it.
template <typename T> DEVICE T warp_inclusive_sum(T value) {
    for (u32 step = 1; step < WARP; step *= 2) {
        const T below = __shfl_up_sync(FULL_WARP, value, step);
        if (lane_id() >= step) value += below;
    }
    return value;
}

// Sum over the threads below this one in the block, and in *total the sum over all. All threads of the
// block must call it, in whole warps. scratch: 33 items of shared memory, free again when it returns.
template <typename T> DEVICE T block_exclusive_sum(T value, T* scratch, T* total) {
    const T inclusive = warp_inclusive_sum(value);
    if (lane_id() == WARP - 1) scratch[warp_id()] = inclusive;
    __syncthreads();
    if (warp_id() == 0) {
        const T sum = lane_id() < warps_in_block() ? scratch[lane_id()] : T(0);
        const T upto = warp_inclusive_sum(sum);
        scratch[lane_id()] = upto - sum;
        if (lane_id() == WARP - 1) scratch[WARP] = upto;
    }
    __syncthreads();
    const T before = scratch[warp_id()];
    *total = scratch[WARP];
    __syncthreads();
    return before + inclusive - value;
}

// The last i < n whose read(i) is at most `value`, where these numbers ascend and read(0) is; the lanes look at 32 places at a
// time. The same for all 32 lanes, which must call it.
template <typename Read> DEVICE u64 last_at_most(const Read& read, u64 n, u64 value) {
    u64 found = 0;
    for (u64 behind = n; behind - found > 1;) {
        const u64 step = (behind - found + WARP - 1) / WARP, probe = found + lane_id() * step;
        const u32 hits = __ballot_sync(FULL_WARP, probe < behind && read(probe) <= value);
        found += (static_cast<u64>(__popc(hits)) - 1) * step;
        behind = min(behind, found + step);
    }
    return found;
}

// Adds the values of a warp, or of a block, to *total at once. All of its threads must call it. scratch: 33 items of
// shared memory.
template <typename T> DEVICE void warp_add(T value, T* total) {
    value = warp_sum(value);
    if (lane_id() == 0 && value != 0) atomicAdd(total, value);
}
template <typename T> DEVICE void block_add(T value, T* scratch, T* total) {
    T sum;
    block_exclusive_sum(value, scratch, &sum);
    if (threadIdx.x == 0 && sum != 0) atomicAdd(total, sum);
}
// Raises *highest to the largest value of a warp. All 32 lanes must call it. The look before spares most of the atomic
// operations, which all warps would make at one address.
template <typename T> DEVICE void warp_raise(T value, T* highest) {
    value = warp_max(value);
    if (lane_id() == 0 && value > load_fresh(highest)) atomicMax(highest, value);
}

// -- Who of many threads reaches a vertex, and where a warp, or what of it comes together, may append to a queue --

// Sets the distance of a vertex that has none; true for one of all threads that try. The test before spares
// atomic operations on vertices that have been reached.
template <typename V> DEVICE bool claim(u32* distances, V v, u32 distance) {
    if (load_fresh(distances + v) != UNREACHED) return false;
    return atomicCAS(distances + v, UNREACHED, distance) == UNREACHED;
}

// The same without an atomic operation, for a level of which all threads write one distance: several may be told
// that they reached the vertex. Any type of distances, all bits set where there is none.
template <typename D, typename V> DEVICE bool reach(D* distances, V v, D distance) {
    if (distances[v] != static_cast<D>(~static_cast<D>(0))) return false;
    distances[v] = distance;
    return true;
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

// Reserves a place of *tail for every lane that comes here, by one atomic operation for those that come together; where
// lanes come apart, there are more operations, and the places are the same. tail: global memory; also: a second count,
// raised by as many, or null. As "warp-aggregated atomics", here without a mask that the caller would have to know.
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

// Waits for all threads of all blocks; what they wrote before it is seen after it. Only in cooperative
// launches, where all blocks are resident. state: one u32 of device memory, zero before its first use
// and never touched otherwise; it needs no reset between barriers and launches.
//
// The method of cooperative groups: block 0 adds what the others leave to half the range, so that every
// round flips the top bit, for which the others wait.
DEVICE void grid_barrier_by_atomics(u32* state) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const u32 share = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1u) : 1u;
        const u32 before = atomicAdd(state, share);
        while (((before ^ load_fresh(state)) & 0x80000000u) == 0) SPIN_PAUSE();
        __threadfence();
    }
    __syncthreads();
}

// The same for a kernel that waits many times: the bit for which it waits is known before, so that no thread waits for what
// the atomic operation brings back, and acquiring the counter takes the place of a fence. In shared memory. `flip` is of the first
// thread of the block.
struct GridBarrier {
    u32* state;
    u32 flip;
};
#define FLIP_BIT 0x80000000u

// By all threads of the block. state: as for grid_barrier.
DEVICE void open_barrier(GridBarrier* barrier, u32* state) {
    if (threadIdx.x == 0) *barrier = {state, load_fresh(state) & FLIP_BIT};
    __syncthreads();
}

#ifdef EMDIAM_SHIM
// The shim's own barrier knows who waits where, which makes its reports exact.
#define grid_barrier(state) simt_grid_barrier(state)
#define wait_for_grid(barrier) simt_grid_barrier((barrier)->state)
#else
#define grid_barrier(state) grid_barrier_by_atomics(state)
DEVICE void wait_for_grid(GridBarrier* barrier) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const u32 share = blockIdx.x == 0 ? FLIP_BIT - (gridDim.x - 1u) : 1u;
        asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(barrier->state), "r"(share) : "memory");
        barrier->flip ^= FLIP_BIT;
        u32 now;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(barrier->state) : "memory");
        } while (((now ^ barrier->flip) & FLIP_BIT) != 0);
    }
    __syncthreads();
}
#endif

#endif
