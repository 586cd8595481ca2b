// Two-phase search: chunks of equally many units, blockDim.x * UNITS_PER_THREAD, one a block. The first phase
// is partition_rows (frontier_sums.cu): in which row each chunk begins. The second is here: the sums of the
// rows of the chunk go to shared memory, and each thread finds its run of UNITS_PER_THREAD (K) units there.
// Source: papers/004, 5.3.4, after Davidson et al., Green et al. and Baxter.
//
// Rows without arcs can make a chunk have more rows than shared memory holds; then it is done in windows.

#ifndef UNITS_PER_THREAD
#define UNITS_PER_THREAD 8
#endif
#define WINDOW_ROWS (MOST_THREADS * UNITS_PER_THREAD)
// Without it the compiler aims at 8 and spills.
#define MAPPING_RESIDENT 6
#define MAPPING_WORDS (WINDOW_ROWS + 1)

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64* window, Visit& visit) {
    const u64 units = f.starts[f.n_rows], chunk_units = static_cast<u64>(blockDim.x) * UNITS_PER_THREAD;
    for (u64 chunk = blockIdx.x; chunk * chunk_units < units; chunk += gridDim.x) {
        const u64 unit = chunk * chunk_units + threadIdx.x * UNITS_PER_THREAD;
        const u64 end = min(unit + UNITS_PER_THREAD, units), end_row = f.partition[chunk + 1] + 1;
        for (u64 first = f.partition[chunk]; first < end_row; first += WINDOW_ROWS) {
            const u32 rows = static_cast<u32>(min(static_cast<u64>(WINDOW_ROWS), end_row - first));
            load_window(f, first, rows, window);
            visit_run(f, window, first, rows, max(unit, window[0]), min(end, window[rows]), visit);
            __syncthreads();
        }
    }
}
