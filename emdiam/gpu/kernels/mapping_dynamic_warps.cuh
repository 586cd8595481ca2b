// Dynamic virtual warps: virtual warps whose size follows the frontier, and a launch of its own for rows of
// more than BIG_ROW arcs. Source: papers/004, 5.2.1, and 3.1 for the size (BFS-4K, Busato and Bombieri).
//
// The paper starts child kernels from the device for the big rows. Here they are written down, and the host
// launches one more kernel after this one, in which the whole grid works on one big row after the other.
#ifndef BIG_ROW
#define BIG_ROW 4096
#endif
#ifndef LEAST_WARP
#define LEAST_WARP 2
#endif
#define MAPPING_WORDS 1

// The power of two nearest to threads / rows, from LEAST_WARP (K1 of the paper) to 32; up at the midpoint.
DEVICE u32 virtual_warp_size(u64 threads, u64 rows) {
    u32 size = WARP;
    while (size > LEAST_WARP && 3 * size * rows > 4 * threads) size /= 2;
    return size;
}

// The grid should be as large as what is resident at once: its threads are shared out over the rows.
template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    const u32 size = virtual_warp_size(item_stride(), f.n_rows), lane = threadIdx.x % size;
    for (u64 row = first_item() / size; row < f.n_rows; row += item_stride() / size) {
        const u64 first = f.first_arc(row), end = f.end_arc(row);
        if (end - first > BIG_ROW) {
            if (lane == 0) f.deferred[atomicAdd(f.n_deferred, 1ull)] = row;
            continue;
        }
        for (u64 arc = first + lane; arc < end; arc += size) visit(row, arc);
    }
}

// The same for the rows that for_each_arc of the launch before has left out.
template <typename Visit> DEVICE void for_each_deferred_arc(const Frontier& f, Visit& visit) {
    const u64 rows = *f.n_deferred;
    for (u64 place = 0; place < rows; ++place) {
        const u64 row = f.deferred[place], end = f.end_arc(row);
        for (u64 arc = f.first_arc(row) + first_item(); arc < end; arc += item_stride()) visit(row, arc);
    }
}
