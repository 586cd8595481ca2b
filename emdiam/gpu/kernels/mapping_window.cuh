// Sums of consecutive rows in shared memory, for the mappings that search there.
#ifndef EMDIAM_MAPPING_WINDOW_CUH
#define EMDIAM_MAPPING_WINDOW_CUH

// Copies the starts of `rows` rows from `first` on, and where the last ends: rows + 1 words. Every thread may
// read them when this returns; before the next call stands a barrier.
DEVICE void load_window(const Frontier& f, u64 first, u32 rows, u64* window) {
    for (u32 slot = threadIdx.x; slot <= rows; slot += blockDim.x) window[slot] = f.starts[first + slot];
    __syncthreads();
}

// Visits the units [unit, end), all of them of rows in the window, one after the other: one binary search.
template <typename Visit>
DEVICE void visit_run(const Frontier& f, const u64* window, u64 first, u32 rows, u64 unit, u64 end, Visit& visit) {
    if (unit >= end) return;
    for (u32 slot = find_row<u32>(window, 0u, rows, unit); unit < end; ++slot) {
        const u64 row_end = min(window[slot + 1], end);
        if (row_end <= unit) continue;
        u64 arc = f.first_arc(first + slot) + (unit - window[slot]);
        for (; unit < row_end; ++unit, ++arc) visit(first + slot, arc);
    }
}

#endif
