// The rows of a queue, visited arc by arc by a whole grid in the middle of its launch: short rows by a lane each, long
// ones by a warp, and wide ones, put aside at first, in pieces by all warps.
// Source: papers/004, section 5 (rows by threads, warps and the grid, as after Merrill, Garland and Grimshaw, PPoPP 2012).
// Work: O(arcs of the rows).
#ifndef EMDIAM_QUEUE_ROWS_CUH
#define EMDIAM_QUEUE_ROWS_CUH

#include "simt.cuh"

#define LANE_ROW 32u  // longer rows are visited by the whole warp
#define PIECE 128u    // arcs of a wide row that a warp takes at a time

// Bits of a count of what was put aside that are pieces; rows are those above. So there are fewer than 2^28 rows, which is
// more than 2^35 arcs, and fewer than 2^36 pieces.
#define PIECE_BITS 36
#define PIECE_MASK ((1ull << PIECE_BITS) - 1ull)

// Where rows of more than `most` arcs are put aside. rows: VERTEX[], starts: u64[], for each the pieces of those before it.
struct WideRows {
    VERTEX* rows;
    u64* starts;
    u64 most;
    // count: u64 of any memory, of what was put aside so far.
    __device__ void put(u64* count, VERTEX v, u64 arcs) const {
        const u64 before = atomicAdd(count, (1ull << PIECE_BITS) + (arcs + PIECE - 1) / PIECE);
        rows[before >> PIECE_BITS] = v;
        starts[before >> PIECE_BITS] = before & PIECE_MASK;
    }
};

// n_wide: u64[1], the count of what is put aside.
struct QueueRows {
    const INDEX* offsets;
    WideRows wide;
    u64* n_wide;
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
        if (end - arc > rows.wide.most) {
            rows.wide.put(rows.n_wide, v, end - arc);
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

// Calls take(v, begin, end) for all pieces, [begin, end), of the rows put aside, by their count. A warp has pieces beside each
// other, the first of which its lanes look for together; they come to `take` together. All threads of the grid must call it.
template <typename Take>
DEVICE void visit_pieces(const INDEX* offsets, const WideRows& wide, u64 count, const Take& take) {
    const u64 warps = static_cast<u64>(gridDim.x) * warps_in_block(), pieces = count & PIECE_MASK;
    const u64 share = (pieces + warps - 1) / warps;
    u64 piece = (static_cast<u64>(warp_id()) * gridDim.x + blockIdx.x) * share;
    const u64 last = min(pieces, piece + share);
    if (piece >= last) return;
    u64 row = last_at_most([&](u64 i) { return load_fresh(wide.starts + i); }, count >> PIECE_BITS, piece);
    for (; piece < last; ++row) {
        const VERTEX v = load_fresh(wide.rows + row);
        const u64 start = load_fresh(wide.starts + row);
        const INDEX begin = __ldg(offsets + v), end = __ldg(offsets + v + 1);
        const u64 upto = min(last, start + (static_cast<u64>(end - begin) + PIECE - 1) / PIECE);
        for (; piece < upto; ++piece) {
            const INDEX base = begin + static_cast<INDEX>((piece - start) * PIECE);
            take(v, base, end - base > PIECE ? base + static_cast<INDEX>(PIECE) : end);
        }
    }
}

// What visit_queue does, for the rows that it put aside, by their count.
template <typename Visit> DEVICE void visit_wide(const QueueRows& rows, u64 count, const Visit& visit) {
    visit_pieces(rows.offsets, rows.wide, count, [&](VERTEX v, INDEX begin, INDEX end) {
        for (INDEX base = begin; base < end; base += WARP) visit(base + lane_id() < end, base + lane_id(), v);
    });
}

#endif
