// Columns of 1 or 2 bytes a vertex, and of 4. In each the value with all bits set is the one for unreached.
// Work: O(n).
#include "claims.cuh"

#ifndef NARROW
#define NARROW u8
#endif

DEVICE u32 narrow_unreached() { return static_cast<NARROW>(~static_cast<NARROW>(0)); }

// narrow: NARROW[n], gets the values. too_large: u32[1], raised to 1 if a reached value does not fit.
extern "C" __global__ void __launch_bounds__(256)
column_narrow(const u32* values, u64 n, NARROW* narrow, u32* too_large) {
    bool fits = true;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 value = values[v];
        if (value != UNREACHED && value >= narrow_unreached()) fits = false;
        narrow[v] = static_cast<NARROW>(value < narrow_unreached() ? value : narrow_unreached());
    }
    if (!fits) store_fresh(too_large, 1u);
}

// values: u32[n], gets those of narrow: NARROW[n].
extern "C" __global__ void __launch_bounds__(256)
column_widen(const NARROW* narrow, u64 n, u32* values) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 value = narrow[v];
        values[v] = value == narrow_unreached() ? UNREACHED : value;
    }
}
