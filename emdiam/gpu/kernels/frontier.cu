// What is done with a frontier between levels: its arcs are counted, and for the mappings that search its degrees,
// whose exclusive sums (columns.cu) are the starts of its rows; and queues are made of bitmaps, values and seeds, or
// bitmaps of queues.
// Source: papers/004, section 5 (prefix sums at run time) and 5.3.4 (partitioning phase); F-Diam, section 4.5 (seeds).
#include "mapping.cuh"

// queue: VERTEX[n_rows], offsets: INDEX[n + 1], degrees: u64[n_rows + 1], of arcs in [begin, end) alone; the last
// becomes 0, so that the sums over n_rows + 1 items end with the number of arcs. One thread a row, any grid.
ENTRY(256) frontier_degrees(const VERTEX* queue, u64 n_rows, const INDEX* offsets, u64 begin, u64 end, u64* degrees) {
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
ENTRY(256) partition_rows(const u64* starts, u64 n_rows, u64 chunk_units, u64* partition) {
    const u64 units = starts[n_rows];
    if (units == 0) return;
    const u64 chunks = (units + chunk_units - 1) / chunk_units;
    for (u64 chunk = first_item(); chunk <= chunks; chunk += item_stride()) {
        partition[chunk] = find_row<u64>(starts, 0, n_rows, min(chunk * chunk_units, units - 1));
    }
}

// queue: VERTEX[*size], offsets: INDEX[n + 1], arcs: u64[1], zero before, gets the arcs of all vertices in the queue.
// The size is read here, so that the host need not know it yet. One thread a vertex, any grid.
ENTRY(256) arcs_of_queue(const VERTEX* queue, const u64* size, const INDEX* offsets, u64* arcs) {
    u64 sum = 0;
    const u64 items = *size;
    for (u64 i = first_item(); i < items; i += item_stride()) {
        const VERTEX v = queue[i];
        sum += __ldg(offsets + v + 1) - __ldg(offsets + v);
    }
    warp_add(sum, arcs);
}

// bitmap: u32[words], zeros before, gets the vertices of the queue, VERTEX[size]. One thread a vertex, any grid.
ENTRY(256) words_of_queue(const VERTEX* queue, u64 size, u32* bitmap) {
    for (u64 i = first_item(); i < size; i += item_stride()) {
        atomicOr(bitmap + queue[i] / WARP, 1u << (queue[i] % WARP));
    }
}

// queue: VERTEX[n], gets the vertices of the bitmap, u32[words], in any order; tail: u64[1], zero before, gets
// their number. One thread a word, any grid.
ENTRY(256) queue_of_words(const u32* bitmap, u64 words, VERTEX* queue, u64* tail) {
    __shared__ u64 scratch[33];
    __shared__ u64 base;
    for (u64 first = static_cast<u64>(blockIdx.x) * blockDim.x; first < words; first += item_stride()) {
        const u64 word = first + threadIdx.x;
        u32 bits = word < words ? bitmap[word] : 0;
        u64 total;
        u64 place = block_exclusive_sum(static_cast<u64>(__popc(bits)), scratch, &total);
        if (threadIdx.x == 0 && total != 0) base = atomicAdd(tail, total);
        __syncthreads();
        for (; bits != 0; bits &= bits - 1) {
            const u32 bit = static_cast<u32>(__ffs(static_cast<i32>(bits)) - 1);
            queue[base + place++] = static_cast<VERTEX>(word * WARP + bit);
        }
        __syncthreads();
    }
}

// Where a spread (spread.cu) begins. seeds: VERTEX[k], different vertices. bounds: u32[n], lowered to `value`.
// following: VERTEX[n], gets the seeds whose bound is `value` now, in any order; before the level that lowers others to
// it, so that none is there twice. counts: u64[2], raised by their number and by that of vertices lowered. One thread a
// seed, any grid.
ENTRY(256) admit_seeds(const VERTEX* seeds, u64 k, u32* bounds, u32 value, VERTEX* following, u64* counts) {
    u64 lowered = 0;
    for (u64 base = first_item() - lane_id(); base < k; base += item_stride()) {
        const bool is_seed = base + lane_id() < k;
        const VERTEX v = is_seed ? seeds[base + lane_id()] : 0;
        const u32 before = is_seed ? bounds[v] : 0u;
        if (is_seed && before > value) {
            bounds[v] = value;
            ++lowered;
        }
        const bool grows = is_seed && before >= value;
        const u64 place = warp_reserve(grows, counts);
        if (grows) following[place] = v;
    }
    warp_add(lowered, counts + 1);
}

// values: u32[n]. queue: VERTEX[n], gets the vertices with this value, in any order. tail: u64[1], raised by their
// number. One thread a vertex, any grid.
ENTRY(256) queue_of_value(const u32* values, u64 n, u32 value, VERTEX* queue, u64* tail) {
    for (u64 base = first_item() - lane_id(); base < n; base += item_stride()) {
        const u64 v = base + lane_id();
        const bool equal = v < n && values[v] == value;
        const u64 place = warp_reserve(equal, tail);
        if (equal) queue[place] = static_cast<VERTEX>(v);
    }
}
