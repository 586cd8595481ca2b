// A whole spread in one launch: bounds that grow along arcs, value by value, from seeds or from all vertices of one bound.
//
// bound[v] becomes the smallest of the values of seeds plus the distance to them, as long as that lowers it. A value is a
// barrier of the grid, two where seeds have it, and one more where rows of more than wide_row arcs were put aside.
// Source: F-Diam, Algorithm 5, section 4.5 (Eliminate), for many seeds at once; the grid waits for itself as in Luo, Wong
// and Hwu (papers/004, 2.1). Work: O(n + m) in all, since a vertex is lowered to a value once.
#include "queue_rows.cuh"

// Places in the counts of a value: vertices for the next queue, wide rows put aside.
#define CAME 0
#define WIDE 1
#define LEVEL_COUNTS 2

// What all blocks know between two values, alike, each in its shared memory. size: vertices whose bound is value - 1 and
// grows; due, stop: the seeds of `value` among all. turn: whose counts the value takes; swapped: whether queues are.
struct Place {
    u64 size, value, due, stop;
    u32 turn, swapped;
};

// Skips values that nothing has, and finds the seeds of the one that comes. values: u64[k], ascending.
DEVICE void find_seeds(Place* now, const u64* values, u64 k) {
    if (now->size == 0 && now->due < k) now->value = values[now->due];
    u64 end = k;
    for (now->stop = now->due; now->stop < end;) {
        const u64 middle = now->stop + (end - now->stop) / 2;
        if (values[middle] <= now->value) now->stop = middle + 1;
        else end = middle;
    }
}

// offsets: INDEX[n + 1], neighbours: VERTEX[m]. bounds: u32[n]. seeds, values: u64[k], by value, none twice. Bounds of
// `value` to `limit` are given; if extends is not 0, to the neighbours of vertices with the bound value - 1 first. first, second:
// VERTEX[n], wide: VERTEX[m / wide_row + 1], starts: u64[the same], counts: u64[3 * LEVEL_COUNTS], any content. lowered: u64[2], gets the number
// of vertices lowered, and that of arcs looked at. barrier: u32[1], zero before its first use. Any cooperative grid.
ENTRY(256, 4) whole_spread(const INDEX* offsets, const VERTEX* neighbours, u64 n, u32* bounds, const u64* seeds,
                           const u64* values, u64 k, u64 value, u64 limit, u32 extends, VERTEX* first, VERTEX* second,
                           VERTEX* wide, u64* starts, u64 wide_row, u64* counts, u64* lowered, u32* barrier) {
    __shared__ Place now;
    u64 changed = 0, looked = 0;
    if (first_item() < 3 * LEVEL_COUNTS) counts[first_item()] = 0;
    if (first_item() == 0) lowered[0] = lowered[1] = 0;
    if (threadIdx.x == 0) {
        now = {0, value, 0, 0, 0, 0};
        find_seeds(&now, values, k);
    }
    grid_barrier(barrier);
    if (extends != 0) {
        for (u64 base = first_item() - lane_id(); base < n; base += item_stride()) {
            const u64 v = base + lane_id();
            const bool grows = v < n && bounds[v] + 1ull == value;
            const u64 place = warp_reserve(grows, counts + CAME);
            if (grows) first[place] = static_cast<VERTEX>(v);
        }
        grid_barrier(barrier);
        if (threadIdx.x == 0) {
            now.size = load_fresh(counts + CAME);
            now.turn = 1;
        }
        __syncthreads();
    }
    while (now.value <= limit && (now.size != 0 || now.due < now.stop)) {
        u64* const of_value = counts + now.turn * LEVEL_COUNTS;
        const VERTEX* const queue = now.swapped ? second : first;
        VERTEX* const following = now.swapped ? first : second;
        const u64 size = now.size, stop = now.stop, seeds_here = stop - now.due;
        const u32 given = static_cast<u32>(now.value);
        // Places of the next value: they were last read before the last barrier.
        if (first_item() < LEVEL_COUNTS) store_fresh(counts + (now.turn + 1) % 3 * LEVEL_COUNTS + first_item(), u64(0));
        // Seeds go first: what has the bound already is not reached again by arcs.
        for (u64 base = first_item() - lane_id(); base < seeds_here; base += item_stride()) {
            const bool is_seed = base + lane_id() < seeds_here;
            const u64 v = is_seed ? seeds[stop - seeds_here + base + lane_id()] : 0;
            const u32 before = is_seed ? load_fresh(bounds + v) : 0u;
            const bool grows = is_seed && before >= given;
            changed += is_seed && before > given;
            if (grows) store_fresh(bounds + v, given);
            const u64 place = warp_reserve(grows, of_value + CAME);
            if (grows) following[place] = static_cast<VERTEX>(v);
        }
        if (seeds_here != 0) grid_barrier(barrier);
        if (size != 0) {
            const QueueRows rows = {offsets, {wide, starts, wide_row}, of_value + WIDE};
            // Lowers a neighbour and puts it into the next queue, once: all threads of a value write one value.
            const auto lower = [&](bool valid, u64 arc, VERTEX) {
                const VERTEX w = valid ? __ldg(neighbours + arc) : VERTEX(0);
                const bool wins = valid && load_fresh(bounds + w) > given && atomicMin(bounds + w, given) > given;
                const u64 place = warp_reserve(wins, of_value + CAME);
                if (wins) following[place] = w;
                changed += wins;
                looked += valid;
            };
            visit_queue(rows, queue, size, lower);
            grid_barrier(barrier);
            const u64 n_wide = load_fresh(of_value + WIDE);
            if (n_wide != 0) {
                visit_wide(rows, n_wide, lower);
                grid_barrier(barrier);
            }
        }
        if (threadIdx.x == 0) {
            now = {load_fresh(of_value + CAME), now.value + 1, stop, stop, (now.turn + 1) % 3, now.swapped ^ 1u};
            find_seeds(&now, values, k);
        }
        __syncthreads();
    }
    warp_add(changed, lowered);
    warp_add(looked, lowered + 1);
}
