// BFS from many sources at once, all levels in one launch: seeds, levels that push or pull, distances, eccentricities.
//
// A level is two barriers of the grid: what it reached is settled and written down; then its bits go along arcs, pushed
// from a queue or pulled by all vertices that lack a bit, whichever has fewer arcs to look at. Rows of more than wide_row
// arcs are put aside and done by the whole grid, after a third barrier, pushed or pulled.
// Source: Then et al., PVLDB 2014 (MS-BFS), sections 3 and 4; the grid waits for itself as in Luo, Wong and Hwu (papers/004,
// 2.1). Work: O(n + m) words a level at most, for all sources together.
#include "multi_source.cuh"

// The place of wide rows put aside, behind the other counts of a level.
#define WIDE COUNTS
#define LEVEL_COUNTS (COUNTS + 1)

// What levels work on. front, next, seen: u64[n * WORDS], the bits of the frontier, of what comes after it, and all so far.
// marks: u32[n], `epoch` where a vertex is in `following` already. counts: of the level that comes.
struct Batch {
    const VERTEX* neighbours;
    const u64* front;
    const u64* seen;
    u64* next;
    u32* marks;
    VERTEX* following;
    u64* counts;
    u32 epoch;
};

// What all blocks know between two levels, alike, each in its shared memory. size, arcs: of the frontier; open_arcs: of
// vertices that lack a bit; missing: bits that are still to come to targets; looked: arcs that the block looked along, once
// for each word. swapped: whether queues and planes are.
struct Place {
    u64 size, arcs, open_arcs, wide, looked;
    i64 missing;
    u32 level, swapped, pulls;
};

// Puts a vertex into the queue of the next level if nobody has. All 32 lanes must call it.
DEVICE void enqueue(const Batch& at, bool fresh, VERTEX w) {
    const bool wins = fresh && load_fresh(at.marks + w) != at.epoch && atomicExch(at.marks + w, at.epoch) != at.epoch;
    const u64 place = warp_reserve(wins, at.counts + CAME);
    if (wins) at.following[place] = w;
}

// Gives the heads of the arcs of a warp the bits of their tails, v, that they have not seen: WORDS lanes do an arc, a word
// each, so that what they read and write of a vertex is one piece of memory. All 32 lanes must call it.
DEVICE void push_arcs(const Batch& at, bool valid, u64 arc, VERTEX v) {
    const VERTEX w = valid ? __ldg(at.neighbours + arc) : VERTEX(0);
    const u32 arcs = __ballot_sync(FULL_WARP, valid);
    bool fresh = false;
#pragma unroll 2
    for (u32 first = 0; first < WARP; first += VERTICES_OF_WARP) {
        const u32 lane = first + lane_id() / WORDS;
        const u64 from = static_cast<u64>(__shfl_sync(FULL_WARP, v, static_cast<i32>(lane))) * WORDS + word_of_lane();
        const u64 to = static_cast<u64>(__shfl_sync(FULL_WARP, w, static_cast<i32>(lane))) * WORDS + word_of_lane();
        bool gives = false;
        if ((arcs >> lane & 1u) != 0) {
            const u64 bits = at.front[from] & ~at.seen[to];
            // Bits that are there were put by another arc, which marks its head.
            gives = (bits & ~load_fresh(at.next + to)) != 0;
            if (gives) atomicOr(at.next + to, bits);
        }
        fresh |= item_hit(__ballot_sync(FULL_WARP, gives), first);
    }
    enqueue(at, fresh, w);
}

// Gives vertex v the bits that it lacks of `every` from the arcs of a piece of its row. every: of the word of the lane.
// *looked: see pull_all. All 32 lanes must call it.
DEVICE void pull_piece(const Batch& at, u64 every, VERTEX v, INDEX begin, INDEX end, u64* looked) {
    const u64 item = static_cast<u64>(v) * WORDS + word_of_lane();
    const u64 open = every & ~at.seen[item] & ~load_fresh(at.next + item);
    const u64 gained = open & pull_by_warp(at.neighbours, at.front, begin, end, open, looked);
    if (lane_id() < WORDS && gained != 0) atomicOr(at.next + item, gained);
    const bool fresh = __any_sync(FULL_WARP, gained != 0);
    enqueue(at, fresh && lane_id() == 0, v);
}

// offsets: INDEX[n + 1], neighbours: VERTEX[m]; into_offsets, into: the same of arcs into vertices, which are pulled, in a
// graph without directions the same rows. sources: u64[k], repeats allowed, k <= 64 * WORDS. targets: bitmap
// u64[ceil(n / 64)] if has_targets: stop when `missing` bits have come to targets. push_cost: how many pulled arcs one
// pushed arc is worth. first, second: VERTEX[n], plane_a, plane_b, seen: u64[n * WORDS], wide: VERTEX[m / wide_row + 1], starts: u64[the same],
// counts: u64[3 * LEVEL_COUNTS], any content. marks: u32[n], none of which is epoch, epoch + 1, ... to the last level.
// addresses: u64[k], columns u32[n] with all bits set that get the distances, if has_columns. reach: u64[2 + 64 * WORDS],
// gets the number of levels, that of arcs that were looked along, of which one that was for some words alone counts in
// part, and the last level in which the bit of each source came anywhere. barrier: u32[1], zero before its first use. Any
// cooperative grid.
ENTRY(256, 3) whole_batch(const INDEX* offsets, const VERTEX* neighbours, const INDEX* into_offsets, const VERTEX* into,
                          u64 n, u64 m, const u64* sources, u64 k, const u64* targets, u32 has_targets, u64 missing, double push_cost, VERTEX* first, VERTEX* second,
                          u64* plane_a, u64* plane_b, u64* seen, u32* marks, u32 epoch, VERTEX* wide, u64* starts, u64 wide_row,
                          const u64* addresses, u32 has_columns, u64* counts, u64* reach, u32* barrier) {
    __shared__ Place now;
    const u64 every = bits_of_sources(k);
    for (u64 item = first_item(); item < n * WORDS; item += item_stride()) plane_a[item] = plane_b[item] = seen[item] = 0;
    for (u64 i = first_item(); i < 3 * LEVEL_COUNTS; i += item_stride()) counts[i] = 0;
    for (u64 i = first_item(); i < 2 + 64 * WORDS; i += item_stride()) reach[i] = 0;
    if (threadIdx.x == 0) now = {0, 0, m, 0, 0, static_cast<i64>(missing), 0, 0, 0};
    grid_barrier(barrier);
    // Every source gets its bit, as if a level before the first had reached it.
    for (u64 base = first_item() - lane_id(); base < k; base += item_stride()) {
        const u64 i = base + lane_id();
        const bool valid = i < k;
        const VERTEX v = valid ? static_cast<VERTEX>(sources[i]) : VERTEX(0);
        if (valid) atomicOr(plane_b + static_cast<u64>(v) * WORDS + i / 64, 1ull << (i % 64));
        enqueue({neighbours, plane_a, seen, plane_b, marks, second, counts, epoch}, valid, v);
    }
    grid_barrier(barrier);
    for (;;) {
        u64* const of_level = counts + now.level % 3 * LEVEL_COUNTS;
        u64* const of_next = counts + (now.level + 1) % 3 * LEVEL_COUNTS;
        VERTEX* const queue = now.swapped ? second : first;
        VERTEX* const following = now.swapped ? first : second;
        u64* const front = now.swapped ? plane_b : plane_a;
        u64* const next = now.swapped ? plane_a : plane_b;
        const u64 size = load_fresh(of_level + CAME);
        // Places of the next level: they were last read before the last barrier but one.
        if (first_item() < LEVEL_COUNTS) store_fresh(of_next + first_item(), u64(0));
        for (u64 item = first_item(); item < now.size * WORDS; item += item_stride())
            front[static_cast<u64>(queue[item / WORDS]) * WORDS + item % WORDS] = 0;
        settle(offsets, following, size, next, seen, every, has_targets ? targets : nullptr, of_level);
        if (has_columns) write_all(following, size, next, addresses, now.level);
        grid_barrier(barrier);
        if (blockIdx.x == 0) {
            for (u32 bit = threadIdx.x; bit < 64 * WORDS; bit += blockDim.x) {
                if ((load_fresh(of_level + BITS + bit / 64) >> (bit % 64) & 1ull) != 0) reach[2 + bit] = now.level;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            now.size = size;
            now.arcs = load_fresh(of_level + ARCS);
            now.open_arcs -= load_fresh(of_level + CLOSED);
            now.missing -= static_cast<i64>(load_fresh(of_level + MET));
            now.pulls = static_cast<double>(now.open_arcs + n) < push_cost * static_cast<double>(now.arcs);
            now.swapped ^= 1u;
            ++now.level;
        }
        __syncthreads();
        if (now.size == 0 || (has_targets && now.missing <= 0)) break;
        // Queues and planes have changed places: what came is the frontier.
        const Batch at = {now.pulls ? into : neighbours, next, seen, front, marks, queue, of_next, epoch + now.level};
        const QueueRows rows = {now.pulls ? into_offsets : offsets, {wide, starts, wide_row}, of_next + WIDE};
        const auto push = [=](bool valid, u64 arc, VERTEX v) { push_arcs(at, valid, arc, v); };
        u64 looked = 0;
        if (now.pulls) looked = pull_all(rows, into, n, every, next, seen, front, queue, of_next + CAME);
        else visit_queue(rows, following, now.size, push);
        grid_barrier(barrier);
        if (threadIdx.x == 0) now.wide = load_fresh(of_next + WIDE);
        __syncthreads();
        if (now.wide != 0) {
            const auto pull = [&](VERTEX v, INDEX begin, INDEX end) { pull_piece(at, every, v, begin, end, &looked); };
            if (now.pulls) visit_pieces(into_offsets, rows.wide, now.wide, pull);
            else visit_wide(rows, now.wide, push);
            grid_barrier(barrier);
        }
        warp_add(looked, &now.looked);
        if (first_item() == 0 && !now.pulls) now.looked += now.arcs * WORDS;
    }
    if (threadIdx.x == 0) atomicAdd(reach + 1, now.looked / WORDS);
    if (first_item() == 0) reach[0] = now.level;
}
