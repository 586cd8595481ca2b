// Comparisons of a value with a number.
#ifndef EMDIAM_COLUMNS_COMPARE_CUH
#define EMDIAM_COLUMNS_COMPARE_CUH
#include "simt.cuh"

// How two values compare; the numbers are those of the host (column_ops.py).
#define EQUAL 0
#define NOT_EQUAL 1
#define LESS 2
#define AT_MOST 3
#define MORE 4
#define AT_LEAST 5

DEVICE bool compares(u32 value, u32 comparison, u32 other) {
    switch (comparison) {
        case EQUAL: return value == other;
        case NOT_EQUAL: return value != other;
        case LESS: return value < other;
        case AT_MOST: return value <= other;
        case MORE: return value > other;
        default: return value >= other;
    }
}

#endif
