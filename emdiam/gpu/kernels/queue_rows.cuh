// The rows of a queue, visited arc by arc by a whole grid in the middle of its launch: short rows by a lane each, long
// ones by a warp, and those of more than wide_row arcs, put aside at first, in pieces by all warps.
// Source: papers/004, section 5 (rows by threads, warps and the grid, as after Merrill, Garland and Grimshaw, PPoPP 2012).
// Work: O(arcs of the rows).
#ifndef EMDIAM_QUEUE_ROWS_CUH
#define EMDIAM_QUEUE_ROWS_CUH

#include "simt.cuh"

#define LANE_ROW 32u  // longer rows are visited by the whole warp
#define PIECE 128u    // arcs of a wide row that a warp takes at a time

// wide: VERTEX[], takes wide rows; *n_wide is raised by their number.
struct QueueRows {
    const INDEX* offsets;
    VERTEX* wide;
    u64* n_wide;
    u64 wide_row;
};

// Calls visit(valid, arc, v) for the arcs of each vertex v of queue: VERTEX[size], but for wide rows. All 32 lanes of a
// warp call it together; `valid` says which of them have an arc. Warps beside each other in the queue are of different
// blocks. All threads of the grid must call it.
template <typename Visit>
DEVICE void visit_queue(const QueueRows& rows, const VERTEX* queue, u64 size, const Visit& visit) {
    const u64 stride = static_cast<u64>(gridDim.x) * warps_in_block() * WARP;
    for (u64 first = (static_cast<u64>(warp_id()) * gridDim.x + blockIdx.x) * WARP; first < size; first += stride) {
        VERTEX v = 0;
        INDEX arc = 0, end = 0;
        if (first + lane_id() < size) {
            v = queue[first + lane_id()];
            arc = __ldg(rows.offsets + v);
            end = __ldg(rows.offsets + v + 1);
        }
        if (end - arc > rows.wide_row) {
            rows.wide[atomicAdd(rows.n_wide, 1ull)] = v;
            arc = end;
        }
        for (u32 long_rows = __ballot_sync(FULL_WARP, end - arc > LANE_ROW); long_rows != 0; long_rows &= long_rows - 1) {
            const i32 owner = __ffs(static_cast<i32>(long_rows)) - 1;
            const VERTEX of_owner = __shfl_sync(FULL_WARP, v, owner);
            const INDEX last = __shfl_sync(FULL_WARP, end, owner);
            for (INDEX base = __shfl_sync(FULL_WARP, arc, owner); base < last; base += WARP)
                visit(base + lane_id() < last, base + lane_id(), of_owner);
        }
        if (end - arc > LANE_ROW) arc = end;
        for (; __any_sync(FULL_WARP, arc < end); ++arc) visit(arc < end, arc, v);
    }
}

// Calls take(v, begin, end) for pieces, [begin, end), of the rows of wide: VERTEX[n_rows], which the warps of the grid take
// in turn. Each warp reads 32 rows at a time and numbers their pieces; its lanes come to `take` together. All threads of the
// grid must call it.
template <typename Take>
DEVICE void visit_pieces(const INDEX* offsets, const VERTEX* wide, u64 n_rows, const Take& take) {
    const u64 warps = static_cast<u64>(gridDim.x) * warps_in_block();
    const u64 warp = static_cast<u64>(warp_id()) * gridDim.x + blockIdx.x;
    u64 before = 0;
    for (u64 first = 0; first < n_rows; first += WARP) {
        VERTEX v = 0;
        INDEX begin = 0, end = 0;
        if (first + lane_id() < n_rows) {
            v = load_fresh(wide + first + lane_id());
            begin = __ldg(offsets + v);
            end = __ldg(offsets + v + 1);
        }
        const u64 own = (static_cast<u64>(end - begin) + PIECE - 1) / PIECE, upto = warp_inclusive_sum(own);
        const u64 pieces = __shfl_sync(FULL_WARP, upto, WARP - 1);
        for (u64 piece = (warp + warps - before % warps) % warps; piece < pieces; piece += warps) {
            const i32 owner = __popc(__ballot_sync(FULL_WARP, upto <= piece));
            const u64 of_row = piece - __shfl_sync(FULL_WARP, upto - own, owner);
            const INDEX base = __shfl_sync(FULL_WARP, begin, owner) + static_cast<INDEX>(of_row * PIECE);
            const INDEX last = __shfl_sync(FULL_WARP, end, owner);
            take(__shfl_sync(FULL_WARP, v, owner), base, last - base > PIECE ? base + static_cast<INDEX>(PIECE) : last);
        }
        before += pieces;
    }
}

// What visit_queue does, for the `n_rows` wide rows that it put aside.
template <typename Visit> DEVICE void visit_wide(const QueueRows& rows, u64 n_rows, const Visit& visit) {
    visit_pieces(rows.offsets, rows.wide, n_rows, [&](VERTEX v, INDEX begin, INDEX end) {
        for (INDEX base = begin; base < end; base += WARP) visit(base + lane_id() < end, base + lane_id(), v);
    });
}

#endif
