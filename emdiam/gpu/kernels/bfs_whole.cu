// A whole breadth-first search in one launch: start, all levels, down from queues or up over bitmaps, and what it found.
//
// Source: papers/004, section 2.1: the grid waits for itself as in Luo, Wong and Hwu; directions after Beamer, Asanovic
// and Patterson, SC 2012. While the frontier is small, block 0 alone goes on, with barriers of the block, and the others
// wait for it. Wide rows are put aside and done by the whole grid, so no row keeps a warp busy
// while others wait. One bit a vertex says who was reached: it is in the second cache where distances are not. Every load
// that does not depend on another is asked for before any is waited for: a level is a chain of latencies, not of bytes.
// While there are threads to spare, several share a row, an arc each: a level is then a chain of instructions too.
// A frontier of a few vertices a block that hardly grows goes on for several levels between two barriers of the grid, each
// block from its part (relaxed barriers; Chen et al., Atos, ICPP 2022). Another block may be nearer to what a block reaches
// so, and lowers its distance: see window_levels.
// Going up reads the rows of arcs into vertices, in a graph without directions the same rows. Work: O(n + m), and up to
// n + m for each level that goes up.
#include "bottom_up.cuh"
#include "queue_rows.cuh"

#define MOST_SHARE 3     // log2 of most lanes that share a row
#define SOLO_SLOTS 512u  // largest frontier of block 0 alone, and of each block between two barriers
#define WINDOW 15u       // most levels between two barriers; odd, so that what is read and what is written are two queues

// Places in the counts of a level, or of a window of levels: vertices reached (of a window: in its last level, and those that
// were lowered again); their arcs (of a window: of the rows that were visited); wide rows that were put aside (of a window:
// blocks that could not do all of it); from LENGTHS on, vertices of each level of a window.
#define REACHED 0
#define ARCS 1
#define WIDE 2
#define LENGTHS 3
#define LEVEL_COUNTS (LENGTHS + WINDOW)

// Places in `state`. LEVELS: distance of the last frontier that has a vertex. COMPLETE: 1 if nothing lies behind it.
// N_REACHED: vertices reached. FARTHEST: the smallest vertex at distance LEVELS. LOOKED: arcs that were looked at. The
// others are what block 0 alone tells the others: the level it has come to, vertices of the frontier before it, arcs that
// it looked at.
#define LEVELS 0
#define COMPLETE 1
#define N_REACHED 2
#define FARTHEST 3
#define LOOKED 4
#define SOLO_LEVEL 5
#define SOLO_BEFORE 6
#define SOLO_ARCS 7

// What all levels work on. next: distance of what is reached. wide: takes wide rows.
// share: log2 of the lanes of a row, where there are threads to spare for all rows of a level; NO_SHARE where not.
struct Search {
    const INDEX* offsets;
    const VERTEX* neighbours;
    u32* visited;
    u32* distances;
    WideRows wide;
    u32 next;
    i32 share;
};

// The same with the rows of arcs into vertices.
DEVICE Search turned(Search at, const INDEX* offsets, const VERTEX* neighbours) {
    at.offsets = offsets;
    at.neighbours = neighbours;
    return at;
}

// The share of a level's rows, at most `most`, of so many threads.
#define NO_SHARE (-1)
DEVICE i32 share_of(u64 rows, u64 threads, i32 most) {
    const u64 half = threads / 2;
    i32 share = __clzll(static_cast<i64>(rows)) - __clzll(static_cast<i64>(half));
    if (share >= 0 && rows << share > half) --share;
    return max(NO_SHARE, min(share, most));
}

// A vertex with its row, and the share it was asked for with: no share of a level where it was not.
struct Row {
    VERTEX v;
    INDEX begin, end;
    i32 share;
};
#define NO_ROW (-2)

// Whoever sets the bit of a vertex reaches it.
struct ByBit {
    static __device__ bool is_current(const Search&, VERTEX) { return true; }
    static __device__ bool is_open(const Search& at, VERTEX w) {
        return (load_fresh(at.visited + w / WARP) >> (w % WARP) & 1u) == 0;
    }
    static __device__ bool claim(const Search& at, VERTEX w) {
        const u32 bit = 1u << (w % WARP);
        return (atomicOr(at.visited + w / WARP, bit) & bit) == 0;
    }
    static __device__ void set(const Search& at, VERTEX w) { at.distances[w] = at.next; }
};

// Where what is reached goes, for the whole grid: a queue and the counts of the level.
struct GridTail : ByBit {
    u64* counts;
    VERTEX* queue;
    static constexpr bool counts_arcs = true;
    __device__ u64 reserve(u32 items) const { return atomicAdd(counts + REACHED, static_cast<u64>(items)); }
    __device__ void put_aside(const Search& at, VERTEX v, u64 degree) const { at.wide.put(counts + WIDE, v, degree); }
    __device__ void put(u64 place, VERTEX v) const { queue[place] = v; }
};
// The same for block 0 alone, which keeps the first vertices in shared memory too, for its next level.
struct SoloTail : ByBit {
    u32* fill;
    u64* wide;
    VERTEX* slots;
    VERTEX* queue;
    static constexpr bool counts_arcs = false;
    __device__ u64 reserve(u32 items) const { return atomicAdd(fill, items); }
    __device__ void put_aside(const Search& at, VERTEX v, u64 degree) const { at.wide.put(wide, v, degree); }
    __device__ void put(u64 place, VERTEX v) const {
        if (place < SOLO_SLOTS) slots[place] = v;
        queue[place] = v;
    }
};
// The same for each block in a window of levels: whoever lowers the distance of a vertex reaches it. lowered: by level of the
// window, vertices that were there before. A wide row is more than a block can do.
struct WindowTail {
    u32* fill;
    u32* lowered;
    VERTEX* slots;
    u32 first;
    static constexpr bool counts_arcs = false;
    static __device__ bool is_current(const Search& at, VERTEX v) { return load_fresh(at.distances + v) + 1 == at.next; }
    static __device__ bool is_open(const Search& at, VERTEX w) { return load_fresh(at.distances + w) > at.next; }
    __device__ bool claim(const Search& at, VERTEX w) const {
        const u32 before = atomicMin(at.distances + w, at.next);
        if (before != UNREACHED && before > at.next) atomicAdd(lowered + (before - first), 1u);
        return before > at.next;
    }
    static __device__ void set(const Search& at, VERTEX w) { atomicOr(at.visited + w / WARP, 1u << (w % WARP)); }
    __device__ u64 reserve(u32 items) const { return atomicAdd(fill, items); }
    __device__ void put_aside(const Search&, VERTEX, u64) const { atomicAdd(fill, SOLO_SLOTS + 1); }
    __device__ void put(u64 place, VERTEX v) const {
        if (place < SOLO_SLOTS) slots[place] = v;
    }
};

// The lane's arcs arc, arc + step, ... below end, at most BATCH. The winners of a warp are appended together; *arcs is
// raised by the arcs of this lane's, if the tail wants them. All 32 lanes must call it.
template <typename Tail>
DEVICE void visit_batch(const Search& at, INDEX arc, INDEX end, u32 step, const Tail& tail, u64* arcs) {
    VERTEX w[BATCH] = {};
    bool open[BATCH];
    u32 won = 0;
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        open[k] = arc + k * step < end;
        if (open[k]) w[k] = __ldg(at.neighbours + arc + k * step);
    }
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) open[k] = open[k] && tail.is_open(at, w[k]);
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) won |= static_cast<u32>(open[k] && tail.claim(at, w[k])) << k;
    if (__ballot_sync(FULL_WARP, won != 0) == 0) return;
    const u32 items = static_cast<u32>(__popc(won)), upto = warp_inclusive_sum(items);
    u64 place = 0;
    if (lane_id() == WARP - 1) place = tail.reserve(upto);
    place = __shfl_sync(FULL_WARP, place, WARP - 1) + (upto - items);
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k) {
        if ((won >> k & 1u) == 0) continue;
        tail.set(at, w[k]);
        tail.put(place++, w[k]);
        if (Tail::counts_arcs) *arcs += __ldg(at.offsets + w[k] + 1) - __ldg(at.offsets + w[k]);
        else PREFETCH(at.offsets + w[k]);
    }
}

// The same for one arc of each lane that is `open`, in fewer instructions, and without the look before the atomic
// operation, which would spare some and cost a latency.
template <typename Tail> DEVICE void visit_arc(const Search& at, INDEX arc, bool open, const Tail& tail, u64* arcs) {
    VERTEX w = 0;
    bool won = false;
    if (open) {
        w = __ldg(at.neighbours + arc);
        PREFETCH(at.offsets + w);
        won = tail.claim(at, w);
    }
    const u32 winners = __ballot_sync(FULL_WARP, won);
    if (winners == 0) return;
    INDEX begin = 0, end = 0;
    if (won) {
        tail.set(at, w);
        if (Tail::counts_arcs) {  // asked for before the place is known
            begin = __ldg(at.offsets + w);
            end = __ldg(at.offsets + w + 1);
        }
    }
    const i32 leader = __ffs(static_cast<i32>(winners)) - 1;
    u64 place = 0;
    if (static_cast<i32>(lane_id()) == leader) place = tail.reserve(static_cast<u32>(__popc(winners)));
    place = __shfl_sync(FULL_WARP, place, leader) + static_cast<u64>(__popc(winners & lanes_below()));
    if (won) tail.put(place, w);
    *arcs += end - begin;
}

// The rows of a warp's vertices with `valid`, but for wide ones, which are put aside: one a lane, or with SHARED one for
// 2^at.share lanes. Returns the arcs of the row to the first of its lanes, 0 to others. All 32 lanes must call it.
template <bool SHARED, typename Tail>
DEVICE u64 expand_rows(const Search& at, bool valid, const Row& row, const Tail& tail, u64* arcs) {
    const bool current = valid && tail.is_current(at, row.v);
    INDEX arc = current ? row.begin : 0;
    const INDEX end = current ? row.end : 0, degree = end - arc;
    const u32 share = SHARED ? 1u << at.share : 1u, turn = SHARED ? lane_id() & (share - 1) : 0;
    if (degree > at.wide.most) {
        if (turn == 0) tail.put_aside(at, row.v, degree);
        arc = end;
    }
    u32 long_rows = __ballot_sync(FULL_WARP, turn == 0 && end - arc > LANE_ROW);
    for (; long_rows != 0; long_rows &= long_rows - 1) {
        const i32 owner = __ffs(static_cast<i32>(long_rows)) - 1;
        const INDEX last = __shfl_sync(FULL_WARP, end, owner);
        for (INDEX base = __shfl_sync(FULL_WARP, arc, owner); base < last; base += WARP * BATCH)
            visit_batch(at, base + lane_id(), last, WARP, tail, arcs);
    }
    if (degree > LANE_ROW) arc = end;
    if (SHARED) {
        for (arc += turn; __any_sync(FULL_WARP, arc < end); arc += share) visit_arc(at, arc, arc < end, tail, arcs);
    } else {
        for (; __any_sync(FULL_WARP, arc < end); arc = min(arc + BATCH, end)) visit_batch(at, arc, end, 1, tail, arcs);
    }
    return turn == 0 ? degree : 0;
}

// The row of a vertex. It may be asked for before it is known whether there is one.
DEVICE Row row_of(const Search& at, VERTEX v) { return {v, __ldg(at.offsets + v), __ldg(at.offsets + v + 1), at.share}; }

// The place in a queue that is this lane's, of the `warp`th warp, where lanes share rows.
DEVICE u64 shared_place(i32 share, u64 warp) { return warp * (WARP >> share) + (lane_id() >> share); }

// The rows of a queue, `read(row)` for row < size, so that no warp waits for another: those of this warp, of so many, the
// `warp`th. ahead: of this lane, if it was asked for with the share of this level. Returns their arcs, shared out over lanes. All
// threads of the team must call it.
template <typename Read, typename Tail>
DEVICE u64 expand_queue(const Search& at, const Read& read, u64 size, u64 warp, u64 warps, const Row& ahead, const Tail& tail,
                        u64* arcs) {
    if (at.share != NO_SHARE) {
        const u64 place = shared_place(at.share, warp);
        const bool valid = place < size;
        if (!__any_sync(FULL_WARP, valid)) return 0;
        return expand_rows<true>(at, valid, ahead.share == at.share || !valid ? ahead : row_of(at, read(place)), tail, arcs);
    }
    u64 looked = 0;
    for (u64 place = warp * WARP + lane_id(); place - lane_id() < size; place += warps * WARP) {
        const bool valid = place < size;
        looked += expand_rows<false>(at, valid, valid ? row_of(at, read(place)) : ahead, tail, arcs);
    }
    return looked;
}

// The wide rows that were put aside in a level down. All threads of the grid must call it.
static_assert(PIECE == WARP * BATCH, "a warp asks for all arcs of a piece at once");
DEVICE void expand_wide(const Search& at, u64 count, const GridTail& tail) {
    u64 arcs = 0;
    visit_pieces(at.offsets, at.wide, count, [&](VERTEX, INDEX begin, INDEX end) {
        visit_batch(at, begin + lane_id(), end, WARP, tail, &arcs);
    });
    warp_add(arcs, tail.counts + ARCS);
}

// The same in a level up, from the bitmap `here` to `there`: whoever finds an arc of a row first, reaches its vertex. looked:
// see Place.
DEVICE void pull_wide(const Search& at, u64 count, const u32* here, u32* there, u64* counts, u64* looked) {
    u64 mine = 0;
    visit_pieces(at.offsets, at.wide, count, [&](VERTEX v, INDEX begin, INDEX end) {
        const u32 bit = 1u << (v % WARP);
        if (__any_sync(FULL_WARP, (load_fresh(at.visited + v / WARP) & bit) != 0)) return;
        const bool hit = __any_sync(FULL_WARP, leads_into(here, at.neighbours, begin + lane_id(), end, WARP, &mine));
        if (!hit || lane_id() != 0 || (atomicOr(at.visited + v / WARP, bit) & bit) != 0) return;
        at.distances[v] = at.next;
        atomicOr(there + v / WARP, bit);
        atomicAdd(counts + REACHED, 1ull);
        atomicAdd(counts + ARCS, static_cast<u64>(__ldg(at.offsets + v + 1) - __ldg(at.offsets + v)));
    });
    warp_add(mine, looked);
}

// What all blocks know of a search between two levels, alike, each in its shared memory. size, arcs: of the frontier,
// whose distance is `level`, arcs as far as they are known; before: size of the one before; arcs_left: of vertices that
// are not known to be reached. turn: whose counts the level takes. in_words: whether the frontier is a bitmap, else a
// queue; up: whether the last level went up; dirty: whether the bitmaps have set bits; swapped: whether the bitmap of the
// frontier is `there`. wide: the count of rows put aside in the level that ends. looked: arcs that the block looked at.
// in_window: levels that the blocks do next without a barrier, or did, 0 for a level by all; none before level `rest`.
// inside: whether the search has ended within a window. spoiled: whether the last window is to be undone.
struct Place {
    u64 size, level, before, arcs, arcs_left, wide, looked, rest;
    u32 turn, in_words, up, dirty, swapped, by_one, in_window, inside, spoiled;
};

// Levels of block 0 until the frontier is empty or larger than `limit`, or its distance is `last`, or wide rows were put
// aside, which are then to be done for the level that ends. slots: 2 * SOLO_SLOTS, fill, aside: 3 items of shared memory. What
// has come of them goes to the counts of the level and to `state`. All threads of the block must call it.
DEVICE void solo_levels(Search at, i32 most_share, u64 size, u64 level, VERTEX* even, VERTEX* odd, u64 limit, u64 last,
                        VERTEX* slots, u32* fill, u64* aside, u64* scratch, u64* counts, u64* state) {
    u64 arcs = 0, unused = 0, before, looked, n_wide;
    const VERTEX* const queue = level % 2 ? odd : even;
    for (u64 i = threadIdx.x; i < size; i += blockDim.x) slots[level % 2 * SOLO_SLOTS + i] = load_fresh(queue + i);
    if (threadIdx.x < 3) fill[threadIdx.x] = aside[threadIdx.x] = 0;
    __syncthreads();
    do {
        const VERTEX* const here = slots + level % 2 * SOLO_SLOTS;
        const bool at_odd = level % 2;
        const SoloTail tail = {{}, fill + level % 3, aside + level % 3, slots + (at_odd ? 0u : SOLO_SLOTS), at_odd ? even : odd};
        at.next = static_cast<u32>(level + 1);
        at.share = share_of(size, blockDim.x, most_share);
        const auto read = [=](u64 row) { return here[row]; };
        arcs += expand_queue(at, read, size, warp_id(), warps_in_block(), Row{0, 0, 0, NO_ROW}, tail, &unused);
        // The places of the next level: they were last read before the last barrier.
        if (threadIdx.x == 0) fill[(level + 1) % 3] = aside[(level + 1) % 3] = 0;
        __syncthreads();
        before = size;
        size = fill[level % 3];
        n_wide = aside[level % 3];
        ++level;
    } while (size != 0 && size <= limit && level < last && n_wide == 0);
    block_exclusive_sum(arcs, scratch, &looked);
    if (threadIdx.x != 0) return;
    counts[REACHED] = size;
    counts[WIDE] = n_wide;
    state[SOLO_LEVEL] = level;
    state[SOLO_BEFORE] = before;
    state[SOLO_ARCS] = looked;
}

// How levels are done, alike in all of a search. alone: largest frontier of block 0 alone; in_window: largest one of a
// window; alpha, beta: of choose_way; last: the distance where the search stops.
struct Ways {
    u64 n, alone, in_window, alpha, beta, last;
};

// Whether the next level goes up, and if not, whether block 0 does it alone, or each block several. See Beamer et al.,
// section 4: a growing frontier with many arcs turns up, a shrinking one of few vertices down. A level up passes over all
// vertices, so a turn up asks for one arc for beta of them too: near the end of a long search few arcs are left, and any
// frontier has many.
// A frontier that grows by an eighth a level becomes six times as large in a window.
DEVICE void choose_way(Place* now, const Ways& ways) {
    const u64 n = ways.n, alpha = ways.alpha, beta = ways.beta;
    const bool growing = now->size > now->before;
    const bool many = (now->up ? now->size : now->arcs) * beta >= n;
    const bool up = now->up ? growing || many : growing && many && now->arcs * alpha > now->arcs_left;
    now->up = alpha != 0 && up;
    now->by_one = now->up == 0 && now->size <= ways.alone;
    const bool slow = now->size * 8 <= now->before * 9 + 64 && now->level >= now->rest;
    const bool window = slow && now->up == 0 && now->in_words == 0 && now->by_one == 0 && now->size <= ways.in_window;
    now->in_window = window ? static_cast<u32>(min(static_cast<u64>(WINDOW), ways.last - now->level - 1) | 1u) : 0u;
    now->turn = (now->turn + 1) % 3;
}

// What a level has reached so far, asked for at once.
struct Reached {
    u64 vertices, arcs, wide;
    __device__ explicit Reached(const u64* counts)
        : vertices(load_fresh(counts + REACHED)), arcs(load_fresh(counts + ARCS)), wide(load_fresh(counts + WIDE)) {}
};

// The level is over, with all its rows, and has reached so much.
DEVICE void start_level(Place* now, const Reached& reached, const Ways& ways) {
    now->size = reached.vertices;
    now->arcs = reached.arcs;
    now->arcs_left -= min(now->arcs, now->arcs_left);
    choose_way(now, ways);
}

// The level is over, but for its wide rows.
DEVICE void end_level(Place* now, const Reached& reached, const u64* state) {
    now->wide = reached.wide;
    now->before = now->by_one ? load_fresh(state + SOLO_BEFORE) : now->size;
    // Block 0 has looked at the arcs of its first frontier too; of one from a level up, those into vertices were counted.
    const u64 solo_arcs = now->by_one ? load_fresh(state + SOLO_ARCS) : 0;
    now->arcs_left -= min(solo_arcs - min(now->arcs, solo_arcs), now->arcs_left);
    if (now->by_one && blockIdx.x == 0) now->looked += solo_arcs;
    now->level = now->by_one ? load_fresh(state + SOLO_LEVEL) : now->level + 1;
    now->in_words = now->up;
    now->dirty |= now->up;
    now->swapped ^= now->up;
}

// Levels of this block by itself, from its part of the queue of `size` vertices, as far as now.in_window says. A vertex that
// another block has lowered meanwhile is left to it. So in the end all vertices within the window have their distances: the
// first vertex of a shortest path into it is in some block's part, and each next one is reached from there, or was reached by
// another block with the same distance, which goes on from it. most: vertices of a level. counts: of the window. slots:
// 2 * SOLO_SLOTS, fill: 2 * WINDOW items of shared memory. The last level goes to `queue_behind`. All threads of the grid must call it.
DEVICE void window_levels(Search at, i32 most_share, const Place& now, const VERTEX* queue, VERTEX* queue_behind, u32 most,
                          VERTEX* slots, u32* fill, u64* scratch, u64* counts, u64* looked) {
    const u64 part = (now.size + gridDim.x - 1) / gridDim.x, first = min(now.size, blockIdx.x * part);
    u32 mine = static_cast<u32>(min(part, now.size - first)), k = 0;
    for (u32 i = threadIdx.x; i < mine; i += blockDim.x) slots[i] = load_fresh(queue + first + i);
    for (u32 i = threadIdx.x; i < 2 * WINDOW; i += blockDim.x) fill[i] = 0;
    __syncthreads();
    u64 arcs = 0, unused = 0;
    for (; k < now.in_window && mine != 0 && mine <= most; ++k) {
        const VERTEX* const here = slots + k % 2 * SOLO_SLOTS;
        const WindowTail tail = {fill + k, fill + WINDOW, slots + (k + 1) % 2 * SOLO_SLOTS, static_cast<u32>(now.level + 1)};
        at.next = static_cast<u32>(now.level + 1) + k;
        at.share = share_of(mine, blockDim.x, most_share);
        const auto read = [=](u64 row) { return here[row]; };
        arcs += expand_queue(at, read, mine, warp_id(), warps_in_block(), Row{0, 0, 0, NO_ROW}, tail, &unused);
        __syncthreads();
        mine = fill[k];
    }
    block_exclusive_sum(arcs, scratch, &arcs);
    if (threadIdx.x == 0 && arcs != 0) {
        *looked += arcs;
        atomicAdd(counts + ARCS, arcs);
        if (mine > most) atomicAdd(counts + WIDE, u64(1));
        else if (mine != 0) scratch[0] = atomicAdd(counts + REACHED, static_cast<u64>(mine));
    }
    // A level may have lost more vertices by this block than it has got from it: sums wrap.
    for (u32 i = threadIdx.x; i < WINDOW; i += blockDim.x) {
        const u64 more = static_cast<u64>(fill[i]) - fill[WINDOW + i];
        if (more != 0) atomicAdd(counts + LENGTHS + i, more);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < mine && mine <= most; i += blockDim.x)
        queue_behind[scratch[0] + i] = slots[k % 2 * SOLO_SLOTS + i];
}

// A window is over. All lanes of a warp must call it.
DEVICE void end_window(Place* now, const u64* counts, const Ways& ways) {
    const u64 mine = lane_id() < LEVEL_COUNTS ? load_fresh(counts + lane_id()) : 1u;
    const u32 levels = now->in_window;
    const u32 empty = __ballot_sync(FULL_WARP, mine == 0) >> LENGTHS & ((1u << levels) - 1u);
    const u64 size = __shfl_sync(FULL_WARP, mine, REACHED), arcs = __shfl_sync(FULL_WARP, mine, ARCS);
    const u64 spoiled = __shfl_sync(FULL_WARP, mine, WIDE);
    const u64 before = __shfl_sync(FULL_WARP, mine, static_cast<i32>(LENGTHS + levels) - 2);
    if (lane_id() != 0) return;
    now->spoiled = spoiled != 0;
    if (spoiled != 0) {
        now->rest = 2 * now->level + 32;
        now->in_window = 0;
        now->turn = (now->turn + 1) % 3;
        return;
    }
    now->inside = empty != 0;
    if (levels > 1) now->before = before;
    else now->before = now->size;
    now->level += empty == 0 ? levels : static_cast<u32>(__ffs(static_cast<i32>(empty)));
    now->arcs_left -= min(arcs, now->arcs_left);
    now->size = empty == 0 ? size : 0;
    now->arcs = 0;
    choose_way(now, ways);
}

// Takes back what a window has reached, behind `level`. All threads of the grid must call it.
DEVICE void undo_window(const Search& at, u64 n, u64 level) {
    for (u64 base = first_item() - lane_id(); base < n; base += item_stride()) {
        const u64 v = base + lane_id();
        const u32 distance = v < n ? load_fresh(at.distances + v) : UNREACHED;
        const bool undone = distance != UNREACHED && distance > level;
        if (undone) at.distances[v] = UNREACHED;
        const u32 bits = __ballot_sync(FULL_WARP, undone);
        if (lane_id() == 0 && bits != 0) at.visited[base / WARP] = load_fresh(at.visited + base / WARP) & ~bits;
    }
}

// queue: VERTEX[n], gets the vertices of the bitmap, u32[words], in any order; tail: u64[1], zero before.
DEVICE void queue_of_bits(const u32* bitmap, u64 words, VERTEX* queue, u64* tail) {
    for (u64 base = first_item() - lane_id(); base < words; base += item_stride()) {
        const u64 word = base + lane_id();
        u32 bits = word < words ? bitmap[word] : 0;
        const u32 items = static_cast<u32>(__popc(bits)), upto = warp_inclusive_sum(items);
        u64 place = 0;
        if (lane_id() == WARP - 1 && upto != 0) place = atomicAdd(tail, static_cast<u64>(upto));
        place = __shfl_sync(FULL_WARP, place, WARP - 1) + (upto - items);
        for (; bits != 0; bits &= bits - 1)
            queue[place++] = static_cast<VERTEX>(word * WARP + (static_cast<u32>(__ffs(static_cast<i32>(bits))) - 1u));
    }
}

// Makes a queue of a frontier that is a bitmap, for a level down, or a bitmap of one that is a queue, for a level up.
DEVICE void change_frontier(const Place& now, GridBarrier* barrier, u64 words, VERTEX* even, VERTEX* odd, u32* here, u32* there,
                            u64* tail) {
    VERTEX* const queue = now.level % 2 ? odd : even;
    u32* const bitmap = now.swapped ? there : here;
    if (now.in_words) {
        queue_of_bits(bitmap, words, queue, tail);
    } else {
        for (u64 word = first_item(); now.dirty && word < words; word += item_stride()) bitmap[word] = 0;
    }
    wait_for_grid(barrier);
    if (now.in_words) {
        if (first_item() == 0) store_fresh(tail, u64(0));
        return;
    }
    for (u64 i = first_item(); i < now.size; i += item_stride()) {
        const VERTEX v = load_fresh(queue + i);
        atomicOr(bitmap + v / WARP, 1u << (v % WARP));
    }
    wait_for_grid(barrier);
}

// A level from the unreached vertices up, from the bitmap `here` to `there`, but for wide rows that need more than a look at
// their beginning. room: of each warp of the block. counts: of the level. looked: see Place.
DEVICE void level_up(const Search& at, u64 words, const u32* here, u32* there, PullRoom* room, u64* scratch, u64* counts,
                     u64* looked) {
    u64 vertices = 0, arcs = 0, mine = 0;
    const auto put_aside = [&](VERTEX v, u64 degree) { at.wide.put(counts + WIDE, v, degree); };
    const Pull pull = {at.offsets, at.neighbours, at.visited, here, there, at.distances, at.next, at.wide.most};
    const u64 at_once = words_at_once(words);
    for (u64 first = first_item() / WARP * at_once; first < words; first += item_stride() / WARP * at_once)
        arcs += pull_words(pull, first, at_once, words, put_aside, room + warp_id(), &vertices, &mine);
    block_add(vertices, scratch, counts + REACHED);
    block_add(arcs, scratch, counts + ARCS);
    warp_add(mine, looked);
}

// The number of a warp, such that those beside each other are of different blocks.
DEVICE u64 warp_in_grid() { return static_cast<u64>(warp_id()) * gridDim.x + blockIdx.x; }

// The row that this lane will have in the next level, if it goes down from a queue with the share of this one: asked for while one
// thread looks how many vertices that has. What lies behind them in the queue may be of any level, or no vertex.
DEVICE Row row_ahead(const Search& at, const VERTEX* queue, u64 n) {
    const u64 place = shared_place(at.share, warp_in_grid());
    const VERTEX v = place < n ? load_fresh(queue + place) : VERTEX(0);
    return v < n ? row_of(at, v) : Row{0, 0, 0, NO_ROW};
}

// A level down from a queue of `size` vertices, but for wide rows. Warps beside each other in the queue are of different
// blocks, so that all multiprocessors share it. ahead: see expand_queue. looked: see Place.
DEVICE void level_down(const Search& at, const VERTEX* queue, u64 size, const Row& ahead, const GridTail& tail, u64* looked) {
    u64 arcs = 0;
    const auto read = [=](u64 row) { return load_fresh(queue + row); };
    const u64 mine = expand_queue(at, read, size, warp_in_grid(), static_cast<u64>(gridDim.x) * warps_in_block(), ahead, tail,
                                  &arcs);
    warp_add(arcs, tail.counts + ARCS);
    warp_add(mine, looked);
}

// Most threads of a block: one block fills a multiprocessor, so that few wait for each other. With wide offsets, and on
// sm_100, 64 registers a thread are not enough and spill.
#if defined(EMDIAM_SHIM)
#define WHOLE_THREADS 1024
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define WHOLE_THREADS 512
#else
#define WHOLE_THREADS (sizeof(INDEX) > 4 ? 640 : 1024)
#endif

// A search from `source` to distance `last` at most. offsets: INDEX[n + 1], neighbours: VERTEX[m]. into_offsets, into: the
// same of arcs into vertices. isolated: u32[words], the vertices that are not searched, those without arcs into them among
// them, and the bits behind the last vertex; words is even. If others that are not searched have arcs into them, window is 0. even, odd: VERTEX[n]. visited, here,
// there: u32[words]. wide: VERTEX[m / wide_row + 1], starts: u64[the same], take rows of more than wide_row arcs. distances: u32[n], gets the
// distances, all bits set where unreached. bits: u64[words / 2], gets the vertices that were reached. solo: largest
// frontier of block 0 alone. window: most vertices of a block at the beginning of a window of levels; 0: none. alpha, beta:
// of choose_way; alpha 0: always down. counts: u64[3 * LEVEL_COUNTS + 1]. state:
// u64[8], see above. barrier_state: u32[1], zero before its first use. What is not said to be given may have any content before.
// Any cooperative grid.
ENTRY(WHOLE_THREADS, 1) whole_search(const INDEX* offsets, const VERTEX* neighbours, const INDEX* into_offsets,
                                        const VERTEX* into, u64 n, u64 m, u64 words, const u32* isolated, u64 source, u64 last, u64 solo, u64 window, u64 alpha, u64 beta,
                                        VERTEX* even, VERTEX* odd, u32* visited, u32* here, u32* there, VERTEX* wide,
                                        u64* starts, u64 wide_row, u32* distances, u64* bits, u64* counts, u64* state,
                                        u32* barrier_state) {
    __shared__ VERTEX slots[2 * SOLO_SLOTS];
    __shared__ u32 fill[2 * WINDOW];
    __shared__ u64 aside[3];
    __shared__ u64 scratch[33];
    __shared__ PullRoom room[WHOLE_THREADS / WARP];
    __shared__ Place now;
    __shared__ GridBarrier shared_barrier;
    GridBarrier* const barrier = &shared_barrier;
    open_barrier(barrier, barrier_state);
    // As many lanes as a row has arcs, on average.
    i32 most_share = 0;
    while (most_share < MOST_SHARE && n << most_share < m) ++most_share;
    Search at = {offsets, neighbours, visited, distances, {wide, starts, wide_row}, 0, NO_SHARE};
    const u64 alone = min(solo, static_cast<u64>(SOLO_SLOTS)), of_block = min(static_cast<u64>(SOLO_SLOTS), n / gridDim.x);
    const Ways ways = {n, alone, min(window, of_block) * (gridDim.x - 1), alpha, beta, last};

    for (u64 v = first_item(); v < n; v += item_stride()) distances[v] = v == source ? 0u : UNREACHED;
    for (u64 word = first_item(); word < words; word += item_stride()) {
        visited[word] = isolated[word] | (word == source / WARP ? 1u << (source % WARP) : 0u);
        here[word] = 0;
    }
    if (first_item() == 0) {
        even[0] = static_cast<VERTEX>(source);
        for (u32 i = 0; i <= 3 * LEVEL_COUNTS; ++i) counts[i] = 0;
        state[N_REACHED] = state[LOOKED] = 0;
        state[FARTHEST] = ~0ull;
    }
    if (threadIdx.x == 0) {
        const u64 degree = __ldg(offsets + source + 1) - __ldg(offsets + source);
        now = {1, 0, 0, degree, m - degree, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0};
        choose_way(&now, ways);
    }
    wait_for_grid(barrier);

    const bool is_of_last_warp = warp_id() + 1 == warps_in_block(), decides = is_of_last_warp && lane_id() == 0;
    Row ahead = {0, 0, 0, NO_ROW};
    while (now.size != 0 && now.level < last) {
        // The place of the next turn: it was last read before the last barrier.
        if (first_item() < LEVEL_COUNTS) store_fresh(counts + (now.turn + 1) % 3 * LEVEL_COUNTS + threadIdx.x, u64(0));
        if (now.up != now.in_words) change_frontier(now, barrier, words, even, odd, here, there, counts + 3 * LEVEL_COUNTS);
        u64* const of_level = counts + now.turn * LEVEL_COUNTS;
        at.next = static_cast<u32>(now.level + 1);
        if (now.up) {
            level_up(turned(at, into_offsets, into), words, now.swapped ? there : here, now.swapped ? here : there, room,
                     scratch, of_level, &now.looked);
        } else if (now.in_window != 0) {
            window_levels(at, most_share, now, now.level % 2 ? odd : even, now.level % 2 ? even : odd,
                          static_cast<u32>(of_block), slots, fill, scratch, of_level, &now.looked);
        } else if (!now.by_one) {
            const GridTail tail = {{}, of_level, now.level % 2 ? even : odd};
            at.share = share_of(now.size, item_stride(), most_share);
            level_down(at, now.level % 2 ? odd : even, now.size, ahead, tail, &now.looked);
        } else if (blockIdx.x == 0) {
            solo_levels(at, most_share, now.size, now.level, even, odd, alone, last, slots, fill, aside, scratch, of_level,
                        state);
        }
        const bool was_window = now.in_window != 0;
        const bool goes_on = now.up == 0 && now.by_one == 0 && !was_window && at.share != NO_SHARE && !is_of_last_warp;
        wait_for_grid(barrier);
        ahead = goes_on ? row_ahead(at, at.next % 2 ? odd : even, n) : Row{0, 0, 0, NO_ROW};
        // One thread reads, so that thousands of warps do not ask for one word: of a warp that has rows last.
        if (was_window) {
            if (is_of_last_warp) end_window(&now, of_level, ways);
            __syncthreads();
            if (now.spoiled) {
                undo_window(at, n, now.level);
                wait_for_grid(barrier);
                if (decides) now.spoiled = 0;
            }
            continue;
        }
        if (decides) {
            const Reached reached(of_level);
            end_level(&now, reached, state);
            if (reached.wide == 0) start_level(&now, reached, ways);
        }
        __syncthreads();
        if (now.wide != 0) {
            ahead.share = NO_ROW;
            const GridTail tail = {{}, of_level, now.level % 2 ? odd : even};
            at.next = static_cast<u32>(now.level);
            u32* const came = now.swapped ? there : here;  // the bitmap of what the level reaches, if it has one
            if (now.in_words) pull_wide(turned(at, into_offsets, into), now.wide, now.swapped ? here : there, came, of_level,
                                        &now.looked);
            else expand_wide(at, now.wide, tail);
            wait_for_grid(barrier);
            if (decides) start_level(&now, Reached(of_level), ways);
            __syncthreads();
        }
    }

    // The last frontier that has a vertex: that before the one that is empty, or the one where the search was stopped.
    const bool complete = now.size == 0;
    const u64 levels = now.level - (complete ? 1 : 0), size = complete ? now.before : now.size;
    const u32* const front = (complete != 0) == (now.swapped != 0) ? here : there;
    const VERTEX* const queue = levels % 2 ? odd : even;
    u64 farthest = ~0ull, reached = 0;
    // A queue behind a window has vertices that were lowered; a search that ends within one has no queue.
    const u64 to_see = now.inside ? n : now.in_words ? 0 : size;
    for (u64 i = first_item(); i < to_see; i += item_stride()) {
        const u64 v = now.inside ? i : load_fresh(queue + i);
        if (load_fresh(distances + v) == levels) farthest = min(farthest, v);
    }
    for (u64 i = first_item(); i < words / 2; i += item_stride()) {
        u64 both = 0, last_bits = 0;
        for (u32 half = 0; half < 2; ++half) {
            const u64 word = 2 * i + half;
            const u32 mine = word == source / WARP ? 1u << (source % WARP) : 0u;
            both |= static_cast<u64>((visited[word] & ~isolated[word]) | mine) << (half * WARP);
            if (now.in_words) last_bits |= static_cast<u64>(front[word]) << (half * WARP);
        }
        bits[i] = both;
        reached += static_cast<u64>(__popcll(both));
        if (last_bits != 0)
            farthest = min(farthest, i * 64 + static_cast<u64>(__ffsll(static_cast<i64>(last_bits)) - 1));
    }
    warp_add(reached, state + N_REACHED);
    if (threadIdx.x == 0 && now.looked != 0) atomicAdd(state + LOOKED, now.looked);
    farthest = warp_min(farthest);
    if (lane_id() == 0 && farthest != ~0ull) atomicMin(state + FARTHEST, farthest);
    if (first_item() == 0) {
        state[LEVELS] = levels;
        state[COMPLETE] = complete;
    }
}
