// What is done with rows and a column of distances, beside searching: the check that no arc is steep, the walk down a
// shortest path, the vertex of the longest row, and those of rows of one length. Rows are VERTEX[m] behind offsets INDEX[n + 1], ascending.
#include "simt.cuh"

#define WARP_ARCS 1024u  // arcs that a warp takes at a time

// count: u64[1], raised by the arcs whose ends differ by more than 1 in values, u32[n]; a value with all bits set is as
// far from others as it is, and level with itself. heads: u32[behind - low], the values of heads low to behind - 1, which alone
// count; values: u32[n]. Arcs are shared out evenly, whatever their rows are like: a warp finds the
// row of its first arc, and each lane knows the end and the value of one of 32 rows from there on. Any grid. Work: O(m + n).
ENTRY(256, 6) steep_arcs(const INDEX* offsets, const VERTEX* neighbours, u64 n, u64 m, const u32* values, const u32* heads,
                         u64 low, u64 behind, u64* count) {
    u64 steep = 0;
    const u64 stride = item_stride() / WARP * WARP_ARCS;
    for (u64 first = first_item() / WARP * WARP_ARCS; first < m; first += stride) {
        const u64 end = min(first + WARP_ARCS, m);
        u64 begin = first;
        for (u64 row = last_at_most([=](u64 v) { return __ldg(offsets + v); }, n, first); begin < end; row += WARP) {
            const u64 v = row + lane_id();
            const u64 mine = v < n ? __ldg(offsets + v + 1) : m;
            const u32 own = v < n ? __ldg(values + v) : UNREACHED;
            const u64 upto = min(end, __shfl_sync(FULL_WARP, mine, WARP - 1));
            for (u64 base = begin; base < upto; base += WARP) {
                const u64 arc = base + lane_id();
                // The lane that has the row of the arc: as many rows end at it or before.
                u32 lane = 0;
                for (u32 step = WARP / 2; step > 0; step /= 2) {
                    if (__shfl_sync(FULL_WARP, mine, static_cast<i32>(lane + step - 1)) <= arc) lane += step;
                }
                const u32 here = __shfl_sync(FULL_WARP, own, static_cast<i32>(lane));
                const u64 head = arc < upto ? __ldg(neighbours + arc) : behind;
                const u32 there = head >= low && head < behind ? __ldg(heads + (head - low)) : here;
                steep += max(here, there) - min(here, there) > 1;
            }
            begin = upto;
        }
    }
    warp_add(steep, count);
}

// A step of a path: a vertex with its row.
struct Step {
    u64 v, begin, end;
};
DEVICE Step step_to(const INDEX* offsets, u64 v) { return {v, __ldg(offsets + v), __ldg(offsets + v + 1)}; }

// The smallest neighbour whose distance is `away` - 1, of a row of at most WARP arcs, and its row, which is asked for beside its
// distance, since a path is a chain of latencies; false where there is none. The same for all 32 lanes, which must call it.
DEVICE bool step_down(const INDEX* offsets, const VERTEX* neighbours, const u32* distances, u32 away, Step* at) {
    bool nearer = false;
    Step mine = {0, 0, 0};
    if (at->begin + lane_id() < at->end) {
        mine = step_to(offsets, __ldg(neighbours + at->begin + lane_id()));
        nearer = distances[mine.v] + 1 == away;
    }
    const u32 lanes = __ballot_sync(FULL_WARP, nearer);
    if (lanes == 0) return false;
    const i32 first = __ffs(static_cast<i32>(lanes)) - 1;
    *at = {__shfl_sync(FULL_WARP, mine.v, first), __shfl_sync(FULL_WARP, mine.begin, first),
           __shfl_sync(FULL_WARP, mine.end, first)};
    return true;
}

// A shortest path from state[0] to the source of the distances, u32[n]: the next vertex is always the smallest neighbour
// that is one nearer. path: u64[most], gets the vertices that are walked to, at most `most`. state: u64[3], the vertex
// at hand, read and written; gets how many were walked to, and 1 if the last vertex has no neighbour that is nearer,
// though its distance is not 0. One block: each warp for itself in rows that it can look at at once, all together in
// longer ones. Work: the rows of the path.
ENTRY(256) walk_down(const INDEX* offsets, const VERTEX* neighbours, const u32* distances, u64 most, u64* path,
                     u64* state) {
    __shared__ u64 nearest[3];  // places in the row, by turn
    Step at = step_to(offsets, state[0]);
    u64 steps = 0;
    u32 away = distances[at.v], turn = 0, stuck = away == UNREACHED;
    if (threadIdx.x < 3) nearest[threadIdx.x] = ~0ull;
    __syncthreads();
    while (away != 0 && steps < most && stuck == 0) {
        if (at.end - at.begin <= WARP) {
            stuck = !step_down(offsets, neighbours, distances, away, &at);
        } else {
            u64 place = ~0ull;
            for (u64 base = at.begin; base < at.end && place == ~0ull; base += blockDim.x) {
                const u64 arc = base + threadIdx.x;
                const bool nearer = arc < at.end && distances[__ldg(neighbours + arc)] + 1 == away;
                const u64 first = warp_min(nearer ? arc : ~0ull);
                if (lane_id() == 0 && first != ~0ull) atomicMin(nearest + turn, first);
                // The place of the next turn: it was last read before the last barrier.
                if (threadIdx.x == 0) nearest[(turn + 1) % 3] = ~0ull;
                __syncthreads();
                place = nearest[turn];
                turn = (turn + 1) % 3;
            }
            stuck = place == ~0ull;
            if (stuck == 0) at = step_to(offsets, __ldg(neighbours + place));
        }
        if (stuck != 0) break;
        if (threadIdx.x == 0) path[steps] = at.v;
        ++steps;
        --away;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        state[0] = at.v;
        state[1] = steps;
        state[2] = stuck;
    }
}

// best: u64[1], 0 before, gets (degree << 32) + 2^32 - 1 - vertex of the largest degree, of the smallest such vertex; 0 without
// arcs. n < 2^32. Any grid of whole warps. Work: O(n).
ENTRY(256) largest_degree(const INDEX* offsets, u64 n, u64* best) {
    u64 mine = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u64 degree = __ldg(offsets + v + 1) - __ldg(offsets + v);
        if (degree != 0) mine = max(mine, (degree << 32) + (0xffffffffull - v));
    }
    warp_raise(mine, best);
}

// marks: u32[end - begin], gets 0 for the vertices begin to end - 1 of this degree, all bits set for others. Any grid.
ENTRY(256) mark_degree(const INDEX* offsets, u64 begin, u64 end, u64 degree, u32* marks) {
    for (u64 v = begin + first_item(); v < end; v += item_stride())
        marks[v - begin] = __ldg(offsets + v + 1) - __ldg(offsets + v) == degree ? 0u : UNREACHED;
}

// Sets the values, u32[n], of all vertices without an edge. Any grid.
ENTRY(256) put_isolated(const INDEX* offsets, u64 n, u32 value, u32* values) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (__ldg(offsets + v + 1) == __ldg(offsets + v)) values[v] = value;
    }
}
