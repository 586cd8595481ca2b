// Block search: WINDOW_ROWS rows a block, their sums in shared memory; the units among them in equal runs, one
// a thread and one binary search each. Source: papers/004, 5.3.3, after Davidson et al.

#ifndef WINDOW_ROWS
#define WINDOW_ROWS 1024
#endif
// Without it the compiler aims at 8 and spills.
#define MAPPING_RESIDENT 6
#define MAPPING_WORDS (WINDOW_ROWS + 1)

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64* window, Visit& visit) {
    const u64 stride = static_cast<u64>(gridDim.x) * WINDOW_ROWS;
    for (u64 first = static_cast<u64>(blockIdx.x) * WINDOW_ROWS; first < f.n_rows; first += stride) {
        const u32 rows = static_cast<u32>(min(static_cast<u64>(WINDOW_ROWS), f.n_rows - first));
        load_window(f, first, rows, window);
        const u64 end = window[rows], run = (end - window[0] + blockDim.x - 1) / blockDim.x;
        const u64 unit = window[0] + threadIdx.x * run;
        visit_run(f, window, first, rows, unit, min(unit + run, end), visit);
        __syncthreads();
    }
}
