// The words of CUDA C++ for g++, so that the kernels of emdiam/gpu/kernels run on a CPU in tests.
//
// Every thread of a block is a fibre (runtime.cpp). It runs until it has to wait for others, or until the
// seeded scheduler takes it off. Only what CUDA itself defines is promised: a warp is not in lockstep, the
// order of lanes is the seed's, shared memory starts with rubbish.
//
// Included by simt.cuh before anything else; needs no header, so that a kernel compiles quickly.
#pragma once
#include "protocol.hpp"

#define __global__ __attribute__((visibility("default"), noinline))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __constant__ static const
// All shared variables of a module lie in one section, which the runtime swaps between blocks.
#define __shared__ static __attribute__((section("simt_shared"), used))

struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct __align__(8) int2 { int x, y; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(16) ulonglong2 { unsigned long long x, y; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

#define threadIdx (simt_now->thread)
#define blockIdx (simt_now->block)
#define blockDim simt_block_dim
#define gridDim simt_grid_dim
#define warpSize 32
// Default arguments that name the caller's line.
#define SIMT_AT const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SIMT_INLINE inline __attribute__((always_inline))

// Bits of a value as the runtime carries them: zero-extended, floats as they are stored.
template <typename T> SIMT_INLINE unsigned long long simt_bits(T value) {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <typename T> SIMT_INLINE T simt_value(unsigned long long bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

// ---- barriers and fences -------------------------------------------------------------------------
SIMT_INLINE void __syncthreads(SIMT_AT) { simt_block(SIMT_SYNC, 0, {file, line}); }
SIMT_INLINE int __syncthreads_count(int predicate, SIMT_AT) {
    return simt_block(SIMT_SYNC_COUNT, predicate != 0, {file, line});
}
SIMT_INLINE int __syncthreads_and(int predicate, SIMT_AT) {
    return simt_block(SIMT_SYNC_AND, predicate != 0, {file, line});
}
SIMT_INLINE int __syncthreads_or(int predicate, SIMT_AT) {
    return simt_block(SIMT_SYNC_OR, predicate != 0, {file, line});
}
SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu, SIMT_AT) {
    simt_warp(SIMT_SYNCWARP, mask, 0, 0, 32, {file, line});
}
SIMT_INLINE void simt_grid_barrier(const void* state, SIMT_AT) { simt_grid(state, {file, line}); }
// Fences order what other threads see. Fibres see everything at once, so nothing is left to do but to keep
// the compiler from moving accesses over them.
SIMT_INLINE void __threadfence() { asm volatile("" ::: "memory"); }
SIMT_INLINE void __threadfence_block() { asm volatile("" ::: "memory"); }
SIMT_INLINE void __nanosleep(unsigned) { simt_spin(); }
SIMT_INLINE long long clock64() { return simt_clock(); }
SIMT_INLINE long long clock() { return simt_clock(); }

// ---- operations of a warp ------------------------------------------------------------------------
#define SIMT_SHUFFLES(T)                                                                                     \
    SIMT_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32, SIMT_AT) {                   \
        return simt_value<T>(simt_warp(SIMT_SHFL, mask, simt_bits(value), lane, width, {file, line}));       \
    }                                                                                                        \
    SIMT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, SIMT_AT) {             \
        return simt_value<T>(simt_warp(SIMT_SHFL_UP, mask, simt_bits(value), int(by), width, {file, line})); \
    }                                                                                                        \
    SIMT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, SIMT_AT) {           \
        return simt_value<T>(simt_warp(SIMT_SHFL_DOWN, mask, simt_bits(value), int(by), width, {file, line})); \
    }                                                                                                        \
    SIMT_INLINE T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32, SIMT_AT) {               \
        return simt_value<T>(simt_warp(SIMT_SHFL_XOR, mask, simt_bits(value), with, width, {file, line}));   \
    }
SIMT_SHUFFLES(int)
SIMT_SHUFFLES(unsigned)
SIMT_SHUFFLES(long)
SIMT_SHUFFLES(unsigned long)
SIMT_SHUFFLES(long long)
SIMT_SHUFFLES(unsigned long long)
SIMT_SHUFFLES(float)
SIMT_SHUFFLES(double)

SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate, SIMT_AT) {
    return unsigned(simt_warp(SIMT_BALLOT, mask, predicate != 0, 0, 32, {file, line}));
}
SIMT_INLINE int __all_sync(unsigned mask, int predicate, SIMT_AT) {
    return int(simt_warp(SIMT_ALL, mask, predicate != 0, 0, 32, {file, line}));
}
SIMT_INLINE int __any_sync(unsigned mask, int predicate, SIMT_AT) {
    return int(simt_warp(SIMT_ANY, mask, predicate != 0, 0, 32, {file, line}));
}
// Lanes that are here together. CUDA promises nothing about which those are, but that the caller is one.
SIMT_INLINE unsigned __activemask(SIMT_AT) {
    return unsigned(simt_warp(SIMT_ACTIVE, 0, 0, 0, 32, {file, line}));
}
#define SIMT_MATCH(T)                                                                                  \
    SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value, SIMT_AT) {                           \
        return unsigned(simt_warp(SIMT_MATCH_ANY, mask, simt_bits(value), 0, 32, {file, line}));       \
    }
SIMT_MATCH(int)
SIMT_MATCH(unsigned)
SIMT_MATCH(long long)
SIMT_MATCH(unsigned long long)
#define SIMT_REDUCE(name, op, T)                                                                       \
    SIMT_INLINE T name(unsigned mask, T value, SIMT_AT) {                                              \
        return T(simt_warp(op, mask, simt_bits(value), T(-1) < T(0), 32, {file, line}));               \
    }
SIMT_REDUCE(__reduce_add_sync, SIMT_ADD_ACROSS, unsigned)
SIMT_REDUCE(__reduce_add_sync, SIMT_ADD_ACROSS, int)
SIMT_REDUCE(__reduce_min_sync, SIMT_MIN_ACROSS, unsigned)
SIMT_REDUCE(__reduce_min_sync, SIMT_MIN_ACROSS, int)
SIMT_REDUCE(__reduce_max_sync, SIMT_MAX_ACROSS, unsigned)
SIMT_REDUCE(__reduce_max_sync, SIMT_MAX_ACROSS, int)
SIMT_REDUCE(__reduce_and_sync, SIMT_AND_ACROSS, unsigned)
SIMT_REDUCE(__reduce_or_sync, SIMT_OR_ACROSS, unsigned)
SIMT_REDUCE(__reduce_xor_sync, SIMT_XOR_ACROSS, unsigned)

// ---- bits and small arithmetic -------------------------------------------------------------------
SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
SIMT_INLINE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)(x)); }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int i = 0; i < 64; ++i, x >>= 1) reversed = (reversed << 1) | (x & 1);
    return reversed;
}
SIMT_INLINE unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)(a) * b >> 32); }
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)(a) * b >> 64);
}
#define SIMT_MIN_MAX(T)                                        \
    SIMT_INLINE T min(T a, T b) { return b < a ? b : a; }      \
    SIMT_INLINE T max(T a, T b) { return a < b ? b : a; }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
SIMT_MIN_MAX(float)
SIMT_MIN_MAX(double)

// ---- the bits of a float -------------------------------------------------------------------------
template <typename To, typename From> SIMT_INLINE To simt_same_bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "bits of one size");
    To to;
    __builtin_memcpy(&to, &value, sizeof to);
    return to;
}
SIMT_INLINE long long __double_as_longlong(double x) { return simt_same_bits<long long>(x); }
SIMT_INLINE double __longlong_as_double(long long x) { return simt_same_bits<double>(x); }
SIMT_INLINE unsigned __float_as_uint(float x) { return simt_same_bits<unsigned>(x); }
SIMT_INLINE float __uint_as_float(unsigned x) { return simt_same_bits<float>(x); }

// ---- loads and stores with a hint for the caches ---------------------------------------------------
template <typename T> SIMT_INLINE T __ldg(const T* p) { return *p; }
template <typename T> SIMT_INLINE T __ldcg(const T* p) { return *p; }
template <typename T> SIMT_INLINE T __ldcs(const T* p) { return *p; }
template <typename T> SIMT_INLINE void __stcg(T* p, T value) { *p = value; }
template <typename T> SIMT_INLINE void __stcs(T* p, T value) { *p = value; }

// ---- atomics: the overloads of CUDA, and no others -------------------------------------------------
#define SIMT_ATOMIC(name, op, T, type)                                                    \
    SIMT_INLINE T name(T* address, T value) {                                             \
        return simt_value<T>(simt_atomic(op, type, address, simt_bits(value), 0));        \
    }
#define SIMT_ATOMIC_OF_WORDS(name, op)                 \
    SIMT_ATOMIC(name, op, int, SIMT_I32)               \
    SIMT_ATOMIC(name, op, unsigned, SIMT_U32)          \
    SIMT_ATOMIC(name, op, unsigned long long, SIMT_U64)
SIMT_ATOMIC_OF_WORDS(atomicAdd, SIMT_ATOMIC_ADD)
SIMT_ATOMIC(atomicAdd, SIMT_ATOMIC_ADD, float, SIMT_F32)
SIMT_ATOMIC(atomicAdd, SIMT_ATOMIC_ADD, double, SIMT_F64)
SIMT_ATOMIC_OF_WORDS(atomicMin, SIMT_ATOMIC_MIN)
SIMT_ATOMIC(atomicMin, SIMT_ATOMIC_MIN, long long, SIMT_I64)
SIMT_ATOMIC_OF_WORDS(atomicMax, SIMT_ATOMIC_MAX)
SIMT_ATOMIC(atomicMax, SIMT_ATOMIC_MAX, long long, SIMT_I64)
SIMT_ATOMIC_OF_WORDS(atomicAnd, SIMT_ATOMIC_AND)
SIMT_ATOMIC_OF_WORDS(atomicOr, SIMT_ATOMIC_OR)
SIMT_ATOMIC_OF_WORDS(atomicXor, SIMT_ATOMIC_XOR)
SIMT_ATOMIC_OF_WORDS(atomicExch, SIMT_ATOMIC_EXCH)
SIMT_ATOMIC(atomicExch, SIMT_ATOMIC_EXCH, float, SIMT_F32)
SIMT_ATOMIC(atomicInc, SIMT_ATOMIC_INC, unsigned, SIMT_U32)
SIMT_ATOMIC(atomicDec, SIMT_ATOMIC_DEC, unsigned, SIMT_U32)
SIMT_INLINE int atomicSub(int* address, int value) { return atomicAdd(address, int(0u - unsigned(value))); }
SIMT_INLINE unsigned atomicSub(unsigned* address, unsigned value) { return atomicAdd(address, 0u - value); }
#define SIMT_ATOMIC_SWAP(T, type)                                                                            \
    SIMT_INLINE T atomicCAS(T* address, T expected, T value) {                                               \
        return simt_value<T>(simt_atomic(SIMT_ATOMIC_CAS, type, address, simt_bits(value), simt_bits(expected))); \
    }
SIMT_ATOMIC_SWAP(int, SIMT_I32)
SIMT_ATOMIC_SWAP(unsigned, SIMT_U32)
SIMT_ATOMIC_SWAP(unsigned long long, SIMT_U64)
SIMT_ATOMIC_SWAP(unsigned short, SIMT_U16)

// ---- how the launcher calls a kernel ---------------------------------------------------------------
// Code of an argument's type: kind and bytes as numpy writes them, "v" for anything else.
template <typename T> struct SimtCode { static constexpr const char* text = "v"; };
#define SIMT_CODE(T, code) template <> struct SimtCode<T> { static constexpr const char* text = code; };
SIMT_CODE(bool, "b1")
SIMT_CODE(char, "i1")
SIMT_CODE(signed char, "i1")
SIMT_CODE(unsigned char, "u1")
SIMT_CODE(short, "i2")
SIMT_CODE(unsigned short, "u2")
SIMT_CODE(int, "i4")
SIMT_CODE(unsigned, "u4")
SIMT_CODE(long, "i8")
SIMT_CODE(unsigned long, "u8")
SIMT_CODE(long long, "i8")
SIMT_CODE(unsigned long long, "u8")
SIMT_CODE(float, "f4")
SIMT_CODE(double, "f8")
template <typename T> struct SimtArgument {
    static const char* text() { return SimtCode<T>::text; }
    static constexpr const char* star = "";
};
template <typename T> struct SimtArgument<T*> {
    static const char* text() { return SimtCode<T>::text; }
    static constexpr const char* star = "*";
};
template <typename T> struct SimtArgument<const T*> {
    static const char* text() { return SimtCode<T>::text; }
    static constexpr const char* star = "*";
};
template <typename T> struct SimtArgument<volatile T*> : SimtArgument<T*> {};
template <typename T> struct SimtArgument<const volatile T*> : SimtArgument<T*> {};

// Writes e.g. "*u8 *u4 u4 " to `to`, which has room for 8 characters an argument.
template <typename... A> void simt_describe(void (*)(A...), char* to) {
    const char* texts[] = {SimtArgument<A>::text()..., nullptr};
    const char* stars[] = {SimtArgument<A>::star..., nullptr};
    for (int i = 0; texts[i]; ++i) {
        for (const char* c = stars[i]; *c; ++c) *to++ = *c;
        for (const char* c = texts[i]; *c; ++c) *to++ = *c;
        *to++ = ' ';
    }
    *to = 0;
}
// Braces, because only they promise to read the arguments from left to right.
struct SimtApply {
    template <typename... A> SimtApply(void (*kernel)(A...), A... arguments) { kernel(arguments...); }
};
template <typename T> T simt_argument(const unsigned long long* word) {
    static_assert(sizeof(T) <= sizeof *word, "an argument is a word at most");
    T argument;
    __builtin_memcpy(&argument, word, sizeof(T));
    return argument;
}
template <typename... A> void simt_apply(void (*kernel)(A...), const unsigned long long* next) {
    (void)next;
    SimtApply{kernel, simt_argument<A>(next++)...};
}
