// Lengths of paths as words of 64 bits, which atomic operations can lower, and arcs with their weights.
//
// WEIGHT is the type of a weight: u32, float or double. Along integers a length is a u64, which no path overflows
// (fewer than 2^32 arcs of less than 2^32 each); along floats it is a double, added up from the source on. The word of
// an integer is the integer; that of a double has its bits in the order of the numbers: all flipped if it is negative,
// else the sign alone. All bits set: no path, above every other word.
#ifndef EMDIAM_LENGTHS_CUH
#define EMDIAM_LENGTHS_CUH

#include "simt.cuh"

#ifndef WEIGHT
#define WEIGHT u32
#endif
// 1: arcs are pairs, an array of structures: head and weight of an arc stand side by side in `neighbours`, as two words
// of 32 bits that one load brings. 0: two arrays. Source: papers/004, section 1.2.
#ifndef PAIRS
#define PAIRS 0
#endif

// Blocks of 256 threads that a kernel which relaxes arcs should have resident: 48 registers. With more the compiler
// spills. RELAX_RESIDENT: with a mapping.
#define RESIDENT 5
#define RELAX_RESIDENT (MAPPING_RESIDENT < RESIDENT ? MAPPING_RESIDENT : RESIDENT)

#define NO_PATH 0xffffffffffffffffull
#define SIGN 0x8000000000000000ull

template <typename W> struct LengthAlong { typedef double type; };
template <> struct LengthAlong<u32> { typedef u64 type; };
// Of a matrix, where they are not negative.
template <> struct LengthAlong<i64> { typedef u64 type; };
typedef LengthAlong<WEIGHT>::type LENGTH;

DEVICE u64 word_of(u64 length) { return length; }
DEVICE u64 word_of(double length) {
    const u64 bits = static_cast<u64>(__double_as_longlong(length));
    return bits & SIGN ? ~bits : bits | SIGN;
}
DEVICE void read_word(u64 word, u64* length) { *length = word; }
DEVICE void read_word(u64 word, double* length) {
    *length = __longlong_as_double(static_cast<i64>(word & SIGN ? word & ~SIGN : ~word));
}
DEVICE LENGTH length_of(u64 word) {
    LENGTH length;
    read_word(word, &length);
    return length;
}

// The word of a path that goes on over an arc.
DEVICE u64 extended(u64 word, WEIGHT weight) { return word_of(length_of(word) + static_cast<LENGTH>(weight)); }

// Lowers a word to `offer`; true where this thread did. The test before spares atomic operations.
template <typename V> DEVICE bool lowers(u64* words, V v, u64 offer) {
    return load_fresh(words + v) > offer && atomicMin(words + v, offer) > offer;
}

// True for one of all threads that bring v to the queue of a round. rounds: u32[n], in which v came to a queue last.
template <typename V> DEVICE bool enters(u32* rounds, V v, u32 round) {
    return load_fresh(rounds + v) != round && atomicExch(rounds + v, round) != round;
}

struct Arc {
    VERTEX head;
    WEIGHT weight;
};

DEVICE void read_bits(u32 bits, u32* weight) { *weight = bits; }
DEVICE void read_bits(u32 bits, float* weight) { *weight = __uint_as_float(bits); }

// neighbours: VERTEX[m] and weights: WEIGHT[m]; or pairs, neighbours: u32[2 m] and weights unused.
DEVICE Arc arc_at(const VERTEX* neighbours, const WEIGHT* weights, u64 arc) {
#if PAIRS
    static_assert(sizeof(VERTEX) == 4 && sizeof(WEIGHT) == 4, "a pair has two words of 32 bits");
    const u64 pair = __ldg(reinterpret_cast<const u64*>(neighbours) + arc);
    Arc found = {static_cast<VERTEX>(pair), WEIGHT()};
    read_bits(static_cast<u32>(pair >> 32), &found.weight);
    return found;
#else
    return {__ldg(neighbours + arc), __ldg(weights + arc)};
#endif
}

// The head of an arc, whose weight is not looked at.
DEVICE VERTEX head_at(const VERTEX* neighbours, u64 arc) {
#if PAIRS
    return static_cast<VERTEX>(__ldg(reinterpret_cast<const u64*>(neighbours) + arc));
#else
    return __ldg(neighbours + arc);
#endif
}

#endif
