// What is summed over a frontier: its arcs, and for the mappings that search its degrees, whose exclusive sums are
// the starts of its rows (scan.cu), and the rows in which chunks of equally many units begin.
// Source: papers/004, section 5 (prefix sums at run time) and 5.3.4 (partitioning phase).
#include "mapping.cuh"

// queue: VERTEX[n_rows], offsets: u64[n + 1], degrees: u64[n_rows + 1], of arcs in [begin, end) alone; the last
// becomes 0, so that the sums over n_rows + 1 items end with the number of arcs. One thread a row, any grid.
extern "C" __global__ void __launch_bounds__(256)
frontier_degrees(const VERTEX* queue, u64 n_rows, const u64* offsets, u64 begin, u64 end, u64* degrees) {
    for (u64 row = first_item(); row < n_rows; row += item_stride()) {
        const VERTEX v = queue[row];
        const u64 last = Frontier::held(__ldg(offsets + v + 1), begin, end);
        degrees[row] = last - Frontier::held(__ldg(offsets + v), begin, end);
    }
    if (first_item() == 0) degrees[n_rows] = 0;
}

// starts: u64[n_rows + 1], partition: u64[chunks + 1] for chunks of chunk_units units, the last of fewer: the
// row of the first unit of each, and the row of the last unit of all. Untouched where there are no units. One
// thread a chunk, any grid.
extern "C" __global__ void __launch_bounds__(256)
partition_rows(const u64* starts, u64 n_rows, u64 chunk_units, u64* partition) {
    const u64 units = starts[n_rows];
    if (units == 0) return;
    const u64 chunks = (units + chunk_units - 1) / chunk_units;
    for (u64 chunk = first_item(); chunk <= chunks; chunk += item_stride()) {
        partition[chunk] = find_row<u64>(starts, 0, n_rows, min(chunk * chunk_units, units - 1));
    }
}

// queue: VERTEX[*size], offsets: u64[n + 1], arcs: u64[1], zero before, gets the arcs of all vertices in the queue.
// The size is read here, so that the host need not know it yet. One thread a vertex, any grid.
extern "C" __global__ void __launch_bounds__(256)
arcs_of_queue(const VERTEX* queue, const u64* size, const u64* offsets, u64* arcs) {
    u64 sum = 0;
    const u64 items = *size;
    for (u64 i = first_item(); i < items; i += item_stride()) {
        const VERTEX v = queue[i];
        sum += __ldg(offsets + v + 1) - __ldg(offsets + v);
    }
    sum = warp_sum(sum);
    if (lane_id() == 0 && sum != 0) atomicAdd(arcs, sum);
}
