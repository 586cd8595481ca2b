// BFS-4K: virtual warps whose size follows the frontier, threads for arcs by a search with shuffles, a table
// that drops repetitions, and queues filled by prefix sums of warps and blocks.
//
// Source: papers/004, section 2.2 and Algorithms 2 and 3. Unlike the paper, one atomic operation decides who
// reaches a vertex that the table let pass, so that a queue never outgrows n vertices; and rows of hubs are
// left to a launch by the host, where the paper launches from the device. Work: O(n + m).
#include "simt.cuh"

#define MOST_WARPS 8u
#define LOCAL_SLOTS 64u
#define TABLE_SLOTS 1024u

// What a thread needs to look at an arc. table: u64[TABLE_SLOTS] of the block, slots: VERTEX[LOCAL_SLOTS] of
// the warp, fill: how many of them are in use, the same in all lanes.
struct Search {
    const INDEX* offsets;
    const VERTEX* neighbours;
    u32* distances;
    u32 next;
    VERTEX* reached;
    u64* tail;
    volatile u64* table;
    VERTEX* slots;
    u32 fill;

    // hash64: whether another thread has put the same vertex into its slot of the table. It may miss
    // repetitions; the last thread to write a vertex never takes it for one, so that none is lost. A word
    // holds the vertex above 16 bits of the thread's number. All lanes of the warp call it.
    __device__ bool repeated(bool valid, VERTEX v) const {
        volatile u64* const slot = table + v % TABLE_SLOTS;
        if (valid) *slot = static_cast<u64>(v) << 16 | threadIdx.x;
        __syncwarp();
        const u64 last = valid ? *slot : 0;
        __syncwarp();
        return valid && last >> 16 == v && (last & 0xffffu) != threadIdx.x;
    }
    // Looks at an arc in each lane with `valid`. All lanes of the warp call it.
    __device__ void inspect(bool valid, u64 arc) {
        const VERTEX v = valid ? __ldg(neighbours + arc) : VERTEX(0);
        const bool fresh = valid && load_fresh(distances + v) == UNREACHED;
        const bool again = repeated(fresh, v);
        const bool won = fresh && !again && claim(distances, v, next);
        const u32 taken = __ballot_sync(FULL_WARP, won);
        const u32 items = static_cast<u32>(__popc(taken));
        if (fill + items > LOCAL_SLOTS) spill();
        if (won) slots[fill + static_cast<u32>(__popc(taken & lanes_below()))] = v;
        fill += items;
    }
    // Moves the warp's vertices to the queue. All lanes call it.
    __device__ void spill() {
        u64 base = 0;
        if (lane_id() == 0) base = atomicAdd(tail, static_cast<u64>(fill));
        copy(__shfl_sync(FULL_WARP, base, 0));
        fill = 0;
    }
    __device__ void copy(u64 base) const {
        __syncwarp();
        for (u32 i = lane_id(); i < fill; i += WARP) reached[base + i] = slots[i];
        __syncwarp();
    }
    // Moves the vertices of all warps of the block to the queue, in one piece. sums: u32[33], base: u64[1],
    // shared. All threads call it; it ends with a barrier.
    __device__ void flush(u32* sums, u64* base) {
        u32 total;
        const u32 before = block_exclusive_sum(lane_id() == 0 ? fill : 0u, sums, &total);
        if (threadIdx.x == 0) *base = total != 0 ? atomicAdd(tail, static_cast<u64>(total)) : 0;
        __syncthreads();
        copy(*base + __shfl_sync(FULL_WARP, before, 0));
        fill = 0;
        __syncthreads();
    }
};
#define SEARCH(name, next, reached, tail)                                  \
    __shared__ u64 shared_table[TABLE_SLOTS];                              \
    __shared__ VERTEX shared_slots[MOST_WARPS * LOCAL_SLOTS];              \
    __shared__ u32 shared_sums[WARP + 1];                                  \
    __shared__ u64 shared_base;                                            \
    Search name = {offsets, neighbours, distances, next, reached, tail, shared_table, \
                   shared_slots + warp_id() * LOCAL_SLOTS, 0}

// The row of a vertex, empty if there is none or if it is a hub, which goes to hubs[0 .. *n_hubs) once.
struct Row {
    u64 begin, count;
};
DEVICE Row row_of(const Search& search, bool valid, bool first, VERTEX v, u64 hub_arcs, VERTEX* hubs, u64* n_hubs) {
    if (!valid) return {0, 0};
    const u64 begin = search.offsets[v], count = search.offsets[v + 1] - begin;
    if (count < hub_arcs) return {begin, count};
    if (first) hubs[atomicAdd(n_hubs, 1ull)] = v;
    return {0, 0};
}

// The power of two nearest to threads / size, within [least, 32].
DEVICE u32 warp_size(u64 threads, u64 size, u32 least) {
    u32 width = least;
    while (width < WARP && 2 * threads > 3 * width * size) width *= 2;
    return width;
}

// A frontier with a virtual warp of `width` lanes for each vertex.
DEVICE void by_virtual_warps(Search& search, const VERTEX* frontier, u64 size, u32 width, u64 first, u64 stride,
                             u64 hub_arcs, VERTEX* hubs, u64* n_hubs) {
    const u32 lane = lane_id() % width;
    for (u64 base = (first - lane_id()) / width; base < size; base += stride / width) {
        const u64 i = base + lane_id() / width;
        const VERTEX v = i < size ? load_fresh(frontier + i) : VERTEX(0);
        const Row row = row_of(search, i < size, lane == 0, v, hub_arcs, hubs, n_hubs);
        const u64 longest = warp_max(row.count);
        for (u64 done = 0; done < longest; done += width)
            search.inspect(done + lane < row.count, row.begin + done + lane);
    }
}

// One level. frontier: VERTEX[size], width: lanes of a virtual warp, a power of two up to 32, distances: u32[n]
// with all bits set where unreached, next: distance of what is reached, reached: VERTEX[n], gets each reached
// vertex once, in any order; rows of hub_arcs or more go to hubs: VERTEX[n] instead; counts: u64[2], zeros
// before, gets the number of reached vertices and of hubs. Any grid.
ENTRY(256) bfs4k_virtual_warps(const INDEX* offsets, const VERTEX* neighbours, const VERTEX* frontier, u64 size,
                               u32* distances, u32 next, u32 width, u64 hub_arcs, VERTEX* reached, VERTEX* hubs,
                               u64* counts) {
    SEARCH(search, next, reached, counts);
    by_virtual_warps(search, frontier, size, width, first_item(), item_stride(), hub_arcs, hubs, counts + 1);
    search.flush(shared_sums, &shared_base);
}

// The same with a thread for an arc: a warp adds up the degrees of 32 vertices, and each lane searches the sums
// for the vertex of its arc. Without a number of blocks nvcc spills for sm_100.
ENTRY(256, 6) bfs4k_edge_discover(const INDEX* offsets, const VERTEX* neighbours, const VERTEX* frontier, u64 size,
                                  u32* distances, u32 next, u64 hub_arcs, VERTEX* reached, VERTEX* hubs, u64* counts) {
    SEARCH(search, next, reached, counts);
    for (u64 base = first_item() - lane_id(); base < size; base += item_stride()) {
        const u64 i = base + lane_id();
        const VERTEX v = i < size ? frontier[i] : VERTEX(0);
        const Row row = row_of(search, i < size, true, v, hub_arcs, hubs, counts + 1);
        const u64 upto = warp_inclusive_sum(row.count);
        const u64 total = __shfl_sync(FULL_WARP, upto, WARP - 1);
        for (u64 done = 0; done < total; done += WARP) {
            const u64 arc = done + lane_id();
            u32 owner = 0;
            for (u32 step = WARP / 2; step > 0; step /= 2)
                if (__shfl_sync(FULL_WARP, upto, static_cast<int>(owner + step - 1)) <= arc) owner += step;
            // Where the row would begin if arcs were counted from the first row of the warp; it may wrap.
            const u64 shift = __shfl_sync(FULL_WARP, row.begin - (upto - row.count), static_cast<int>(owner));
            search.inspect(arc < total, shift + arc);
        }
    }
    search.flush(shared_sums, &shared_base);
}

// The rows of hubs, each by all threads. hubs: VERTEX[n_hubs]; other parameters as above. Any grid.
ENTRY(256) bfs4k_hubs(const INDEX* offsets, const VERTEX* neighbours, const VERTEX* hubs, u64 n_hubs, u32* distances,
                      u32 next, VERTEX* reached, u64* counts) {
    SEARCH(search, next, reached, counts);
    for (u64 hub = 0; hub < n_hubs; ++hub) {
        const u64 begin = offsets[hubs[hub]], end = offsets[hubs[hub] + 1];
        for (u64 base = begin + first_item() - lane_id(); base < end; base += item_stride())
            search.inspect(base + lane_id() < end, base + lane_id());
    }
    search.flush(shared_sums, &shared_base);
}

// Levels in one block, until the frontier is empty, larger than `limit`, or has a hub. even, odd: VERTEX[n], the
// frontiers of levels of even and odd distance; least: smallest virtual warp; state: u64[2], size of the
// frontier and its distance, read and written; tails: u64[3], zeros before. One block; without a number of blocks nvcc
// spills for sm_100.
ENTRY(256, 5) bfs4k_block(const INDEX* offsets, const VERTEX* neighbours, VERTEX* even, VERTEX* odd, u32* distances,
                          u64 limit, u32 least, u64 hub_arcs, u64* state, u64* tails) {
    SEARCH(search, 0, odd, tails);
    u64 size = state[0], level = state[1];
    __syncthreads();
    while (size != 0 && size <= limit) {
        const VERTEX* frontier = level % 2 ? odd : even;
        bool hub = false;
        for (u64 i = threadIdx.x; i < size; i += blockDim.x) {
            const VERTEX v = load_fresh(frontier + i);
            hub = hub || offsets[v + 1] - offsets[v] >= hub_arcs;
        }
        if (__syncthreads_or(hub)) break;
        search.next = static_cast<u32>(level + 1);
        search.reached = level % 2 ? even : odd;
        search.tail = tails + level % 3;
        by_virtual_warps(search, frontier, size, warp_size(blockDim.x, size, least), threadIdx.x, blockDim.x,
                         ~u64(0), nullptr, nullptr);
        // The place of the next level: it was last read a level ago.
        if (threadIdx.x == 0) store_fresh(tails + (level + 1) % 3, u64(0));
        search.flush(shared_sums, &shared_base);
        size = load_fresh(tails + level % 3);
        ++level;
    }
    if (threadIdx.x == 0) {
        state[0] = size;
        state[1] = level;
    }
}
