// The verbs of a column: a vector of u32, one a vertex, in which all bits set means unreached; and exclusive sums.
// Work: O(n) each; column_gather and column_put: O(k); column_recode: O(n) for each old value.
#include "simt.cuh"

// Bins of a histogram that are counted in shared memory first.
#define SHARED_BINS 4096u

// How two values compare; the numbers are those of the host (device_column.py).
#define EQUAL 0
#define NOT_EQUAL 1
#define LESS 2
#define AT_MOST 3
#define MORE 4
#define AT_LEAST 5
#define MORE_REACHED 6  // more, and reached

DEVICE bool compares(u32 value, u32 comparison, u32 other) {
    switch (comparison) {
        case EQUAL: return value == other;
        case NOT_EQUAL: return value != other;
        case LESS: return value < other;
        case AT_MOST: return value <= other;
        case MORE: return value > other;
        case MORE_REACHED: return value > other && value != UNREACHED;
        default: return value >= other;
    }
}

// Whether `value` is one of old[0] to old[n_old - 1].
DEVICE bool is_one_of(u32 value, const u32* old, u64 n_old) {
    for (u64 i = 0; i < n_old; ++i) {
        if (__ldg(old + i) == value) return true;
    }
    return false;
}

// bits: u64[ceil(n / 64)], gets bit v where the value of vertex v compares so with `other`. A warp a word, any grid.
ENTRY(256) column_bits(const u32* values, u64 n, u32 comparison, u32 other, u64* bits) {
    for (u64 word = first_item() / WARP; word * 64 < n; word += item_stride() / WARP) {
        const u64 low = word * 64 + lane_id(), high = low + WARP;
        const u32 first = __ballot_sync(FULL_WARP, low < n && compares(values[low], comparison, other));
        const u32 second = __ballot_sync(FULL_WARP, high < n && compares(values[high], comparison, other));
        if (lane_id() == 0) bits[word] = static_cast<u64>(second) << 32 | first;
    }
}

// best: u32[1], 0 at first: the largest rank of a reached value plus 1, 0 if nothing is reached. The rank of a
// value is the value itself or, if flip is not 0, what is left of it to the largest reached value there can be.
ENTRY(256) column_best(const u32* values, u64 n, u32 flip, u32* best) {
    u32 highest = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 value = values[v];
        if (value != UNREACHED) highest = max(highest, (flip != 0 ? UNREACHED - 1u - value : value) + 1u);
    }
    warp_raise(highest, best);
}

// first: u64[1], all bits set at first: the smallest vertex whose value is one of wanted: u32[n_wanted].
ENTRY(256) column_first(const u32* values, u64 n, const u32* wanted, u64 n_wanted, u64* first) {
    u64 v = first_item();  // the items of a thread ascend
    while (v < n && !is_one_of(values[v], wanted, n_wanted)) v += item_stride();
    const u64 lowest = warp_min(v < n ? v : ~0ull);
    if (lane_id() == 0 && lowest < load_fresh(first)) atomicMin(first, lowest);
}

// out: u64[2], zeros before: gets the number of reached vertices, and, with all bits turned round, the smallest vertex with
// this value; 0 stays where there is none.
ENTRY(256) column_reached(const u32* values, u64 n, u32 value, u64* out) {
    u64 reached = 0, first = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        reached += values[v] != UNREACHED;
        if (values[v] == value) first = max(first, ~v);
    }
    warp_add(reached, out);
    warp_raise(first, out + 1);
}

// count: u64[1], raised by the vertices whose value compares so with `other`.
ENTRY(256) column_count(const u32* values, u64 n, u32 comparison, u32 other, u64* count) {
    u64 equal = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) equal += compares(values[v], comparison, other);
    warp_add(equal, count);
}

// counts: u64[n_bins], raised by the vertices of each value; larger values are left out.
ENTRY(256) column_histogram(const u32* values, u64 n, u64 n_bins, u64* counts) {
    __shared__ u32 part[SHARED_BINS];
    const u32 bins = static_cast<u32>(n_bins < SHARED_BINS ? n_bins : SHARED_BINS);
    for (u32 bin = threadIdx.x; bin < bins; bin += blockDim.x) part[bin] = 0;
    __syncthreads();
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 value = values[v];
        if (value >= n_bins) continue;
        if (value < bins) atomicAdd(&part[value], 1u);
        else atomicAdd(counts + value, 1ull);
    }
    __syncthreads();
    for (u32 bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        if (part[bin] != 0) atomicAdd(counts + bin, static_cast<u64>(part[bin]));
    }
}

// out: u32[k], the values of vertices ids: u64[k].
ENTRY(256) column_gather(const u32* values, const u64* ids, u64 k, u32* out) {
    for (u64 i = first_item(); i < k; i += item_stride()) out[i] = values[ids[i]];
}

// Sets the values of vertices ids: u64[k].
ENTRY(256) column_put(u32* values, const u64* ids, u64 k, u32 value) {
    for (u64 i = first_item(); i < k; i += item_stride()) values[ids[i]] = value;
}

// Values of vertices v with taken(v) become `fresh`; count: u64[1], raised by their number.
template <typename Taken> DEVICE void replace_where(u32* values, u64 n, u32 fresh, u64* count, const Taken& taken) {
    u64 changed = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (!taken(v)) continue;
        values[v] = fresh;
        ++changed;
    }
    warp_add(changed, count);
}

// Values that compare so with `other`, and are not `fresh` yet, become `fresh`; count: u64[1], raised by them.
ENTRY(256) column_fill_where(u32* values, u64 n, u32 comparison, u32 other, u32 fresh, u64* count) {
    replace_where(values, n, fresh, count, [=](u64 v) {
        return values[v] != fresh && compares(values[v], comparison, other);
    });
}

// Values that are one of old: u32[n_old] become `fresh`, where within, u64[ceil(n / 64)], has a bit, if bounded
// is not 0; count: u64[1], raised by them.
ENTRY(256) column_recode(u32* values, u64 n, const u32* old, u64 n_old, u32 fresh, const u64* within, u32 bounded,
                         u64* count) {
    replace_where(values, n, fresh, count, [=](u64 v) {
        return (bounded == 0 || ((within[v / 64] >> (v % 64)) & 1ull) != 0) && is_one_of(values[v], old, n_old);
    });
}

// The same where other: u32[n] is reached.
ENTRY(256) column_recode_reached(u32* values, u64 n, const u32* other, const u32* old, u64 n_old, u32 fresh,
                                 u64* count) {
    replace_where(values, n, fresh, count, [=](u64 v) {
        return other[v] != UNREACHED && is_one_of(values[v], old, n_old);
    });
}

// -- Selection --
// The vertices whose value compares with a number, ascending: counted tile by tile, placed by exclusive sums.
// Source: papers/004, 3.1 (prefix sum), as the compaction of a vector. Work: O(n), two passes.
// The tiles of a column are blockDim.x * ITEMS_OF_THREAD vertices.
#define ITEMS_OF_THREAD 8u

// counts: u64[tiles + 1], how many vertices of a tile compare so with `other`, and 0 behind them. bits: u32[ceil(n / 32)],
// gets bit v % 32 of word v / 32 where vertex v does. Any grid.
ENTRY(256) select_counts(const u32* values, u64 n, u32 comparison, u32 other, u64* counts, u32* bits) {
    __shared__ u64 scratch[33];
    const u64 tile_items = static_cast<u64>(blockDim.x) * ITEMS_OF_THREAD, tiles = (n + tile_items - 1) / tile_items;
    for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        u64 taken = 0, total;
        for (u32 turn = 0; turn < ITEMS_OF_THREAD; ++turn) {
            const u64 v = tile * tile_items + turn * blockDim.x + threadIdx.x;
            const bool hit = v < n && compares(values[v], comparison, other);
            const u32 word = __ballot_sync(FULL_WARP, hit);
            if (lane_id() == 0 && v < n) bits[v / WARP] = word;
            taken += hit;
        }
        block_exclusive_sum(taken, scratch, &total);
        if (threadIdx.x == 0) counts[tile] = total;
    }
    if (first_item() == 0) counts[tiles] = 0;
}

// sums: u64[tiles + 1], the exclusive sums of counts. vertices: u32[limit], gets the first of them; n is at most 2^32. Any
// grid, of the same blocks.
ENTRY(256) select_vertices(const u32* values, u64 n, u32 comparison, u32 other, const u64* sums, u32* vertices,
                           u64 limit) {
    __shared__ u32 scratch[33];
    const u64 tile_items = static_cast<u64>(blockDim.x) * ITEMS_OF_THREAD;
    for (u64 tile = blockIdx.x; tile * tile_items < n; tile += gridDim.x) {
        u64 place = sums[tile];
        if (place == sums[tile + 1] || place >= limit) continue;
        for (u32 turn = 0; turn < ITEMS_OF_THREAD; ++turn) {
            const u64 v = tile * tile_items + turn * blockDim.x + threadIdx.x;
            const bool taken = v < n && compares(values[v], comparison, other);
            u32 total;
            const u64 at = place + block_exclusive_sum(taken ? 1u : 0u, scratch, &total);
            if (taken && at < limit) vertices[at] = static_cast<u32>(v);
            place += total;
        }
    }
}

// -- Exclusive sums of a vector of u64 in place --
// In two levels: the sum of each block's part, the sums over those, and then each part from where it begins. Three
// launches, so blocks never wait for each other. Source: papers/004, 3.1 and section 5 (two-level exclusive prefix sum,
// of warps and of blocks). Work: O(n).

// values: u64[n], part: items of a block's part, totals: u64[gridDim.x], the sum of each part. One block a
// part: gridDim.x * part >= n.
ENTRY(256) scan_totals_of_parts(const u64* values, u64 n, u64 part, u64* totals) {
    __shared__ u64 scratch[33];
    const u64 begin = min(blockIdx.x * part, n), end = min(begin + part, n);
    u64 sum = 0, total;
    for (u64 i = begin + threadIdx.x; i < end; i += blockDim.x) sum += values[i];
    block_exclusive_sum(sum, scratch, &total);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// The same parts, each scanned tile by tile. carries: u64[gridDim.x], where each part begins; without parts
// (part = n, one block, carries[0] = 0) this scans a vector alone. Sums wrap.
ENTRY(256) scan_parts(u64* values, u64 n, u64 part, const u64* carries) {
    __shared__ u64 scratch[33];
    const u64 begin = min(blockIdx.x * part, n), end = min(begin + part, n);
    u64 carry = carries[blockIdx.x];
    for (u64 tile = begin; tile < end; tile += blockDim.x) {
        const u64 i = tile + threadIdx.x;
        u64 total;
        const u64 below = block_exclusive_sum(i < end ? values[i] : 0ull, scratch, &total);
        if (i < end) values[i] = carry + below;
        carry += total;
    }
}
