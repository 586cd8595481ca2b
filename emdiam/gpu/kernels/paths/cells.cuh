// What cells of matrices of distances say of pairs without a path. Integers have about half of the largest one for them,
// so that no sum of two cells overflows; where weights are negative it may fall, but not to half of it, and no distance
// is longer than a quarter (matrix.py). A double is infinity.
#ifndef EMDIAM_CELLS_CUH
#define EMDIAM_CELLS_CUH

#include "simt.cuh"

DEVICE bool is_no_path(i32 cell) { return cell > 0x1fffffff; }
DEVICE bool is_no_path(i64 cell) { return cell > 0x1fffffffffffffffll; }
DEVICE bool is_no_path(double cell) { return cell > 1.7976931348623157e308; }

#endif
