// Eccentricities of up to 2,048 sources, all levels in one launch, for graphs whose balls soon meet every row.
//
// Bit i of a row is set once the ball of source i holds the vertex. A level is one pull over all rows that lack a bit,
// from one plane into the other: the bits of the row and of all its neighbours. There are no queues, no frontier and no
// marks of what is new. WORDS lanes do a row, a word each (a warp for 2,048 sources), so that what is read of a neighbour
// is one piece of memory. A row that is full is left alone from the level after on: in the level in which it is read as a
// full one, all of its neighbours become full, so nobody needs it again. A ball that has not grown grows no more.
// Rows of more than wide_row arcs are done by the whole grid: bits are added to what the plane had two levels before,
// which the row has too, so that nobody has to begin them.
// Source: Then et al., PVLDB 2014 (MS-BFS), section 3; without frontiers as on the CPU (emdiam/traverse/multi_wide.py).
// Work: O(m) words a level. The graph is undirected.
#include "multi_source.cuh"

// One level of all rows but wide ones; the bits of the word of the lane that came to any row. full: bitmap u32[ceil(n / 32)]
// of the rows that have had all bits. *looked is raised by the arcs that this lane looked along, for its word.
DEVICE u64 pull_rows(const INDEX* offsets, const VERTEX* neighbours, u64 n, u64 every, u64 wide_row, const u64* here,
                     u64* there, u32* full, u64* looked) {
    u64 gained = 0;
    for (u64 base = first_item() - lane_id(); base < n * WORDS; base += item_stride()) {
        const u64 item = base + lane_id(), v = item / WORDS;
        const bool is_open = v < n && (load_fresh(full + v / 32) >> (v % 32) & 1u) == 0;
        const u64 own = is_open ? here[item] : every;
        const bool lacks = (__ballot_sync(FULL_WARP, own != every) & group_mask(group_of_lane())) != 0;
        if (is_open && !lacks && word_of_lane() == 0) atomicOr(full + v / 32, 1u << (v % 32));
        const INDEX begin = lacks ? __ldg(offsets + v) : 0, end = lacks ? __ldg(offsets + v + 1) : 0;
        const bool is_mine = lacks && end - begin <= wide_row;
        const u64 came = every & ~own &
                         pull_by_lanes(neighbours, here, begin, is_mine ? end : begin, every & ~own, looked);
        if (is_mine) there[item] = own | came;
        gained |= came;
    }
    return gained;
}

// The same of a piece of a wide row.
DEVICE u64 pull_piece(const VERTEX* neighbours, u64 every, VERTEX v, INDEX begin, INDEX end, const u64* here, u64* there,
                      u64* looked) {
    const u64 item = static_cast<u64>(v) * WORDS + word_of_lane(), own = here[item], open = every & ~own;
    const u64 gained = open & pull_by_warp(neighbours, here, begin, end, open, looked);
    if (lane_id() < WORDS && ((own | gained) & ~load_fresh(there + item)) != 0) atomicOr(there + item, own | gained);
    return gained;
}

// offsets: INDEX[n + 1], neighbours: VERTEX[m]. sources: u64[k], repeats allowed, k <= 64 * WORDS. plane_a, plane_b: u64[n *
// WORDS], full: u32[ceil(n / 32)], wide: VERTEX[m / wide_row + 1], starts: u64[the same], counts: u64[1 + 3 * WORDS], any content. reach:
// u64[2 + 64 * WORDS], gets the number of levels, that of arcs that were looked along, of which one that was for some words
// alone counts in part, and the eccentricity of each source in its component. barrier: u32[1], zero before its first use.
// Any cooperative grid.
ENTRY(256, 3) wide_batch(const INDEX* offsets, const VERTEX* neighbours, u64 n, const u64* sources, u64 k, u64* plane_a,
                         u64* plane_b, u32* full, VERTEX* wide, u64* starts, u64 wide_row, u64* counts, u64* reach, u32* barrier) {
    const WideRows rows = {wide, starts, wide_row};
    u64* const grown = counts + 1;
    const u64 every = bits_of_sources(k);
    for (u64 item = first_item(); item < n * WORDS; item += item_stride()) plane_a[item] = plane_b[item] = 0;
    for (u64 word = first_item(); word * 32 < n; word += item_stride()) full[word] = 0;
    for (u64 i = first_item(); i < 1 + 3 * WORDS; i += item_stride()) counts[i] = 0;
    for (u64 i = first_item(); i < 2 + 64 * WORDS; i += item_stride()) reach[i] = 0;
    grid_barrier(barrier);
    for (u64 i = first_item(); i < k; i += item_stride())
        atomicOr(plane_a + static_cast<u64>(sources[i]) * WORDS + i / 64, 1ull << (i % 64));
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u64 degree = __ldg(offsets + v + 1) - __ldg(offsets + v);
        if (degree > rows.most) rows.put(counts, static_cast<VERTEX>(v), degree);
    }
    grid_barrier(barrier);
    const u64 n_wide = load_fresh(counts);
    u64 looked = 0;
    for (u64 level = 1;; ++level) {
        const u64* const here = level % 2 == 1 ? plane_a : plane_b;
        u64* const there = level % 2 == 1 ? plane_b : plane_a;
        u64* const of_level = grown + level % 3 * WORDS;
        // Those of the next level were last read before the last barrier.
        if (first_item() < WORDS) store_fresh(grown + (level + 1) % 3 * WORDS + first_item(), u64(0));
        u64 gained = pull_rows(offsets, neighbours, n, every, wide_row, here, there, full, &looked);
        visit_pieces(offsets, rows, n_wide, [&](VERTEX v, INDEX begin, INDEX end) {
            gained |= pull_piece(neighbours, every, v, begin, end, here, there, &looked);
        });
        gained = or_over_vertices(gained);
        if (lane_id() < WORDS && (gained & ~load_fresh(of_level + lane_id())) != 0) atomicOr(of_level + lane_id(), gained);
        grid_barrier(barrier);
        if (!__any_sync(FULL_WARP, load_fresh(of_level + word_of_lane()) != 0)) break;
        if (blockIdx.x == 0) {
            for (u32 bit = threadIdx.x; bit < 64 * WORDS; bit += blockDim.x) {
                if ((load_fresh(of_level + bit / 64) >> (bit % 64) & 1ull) != 0) reach[2 + bit] = level;
            }
            if (threadIdx.x == 0) reach[0] = level;
        }
    }
    looked = warp_sum(looked) / WORDS;
    if (lane_id() == 0 && looked != 0) atomicAdd(reach + 1, looked);
}
