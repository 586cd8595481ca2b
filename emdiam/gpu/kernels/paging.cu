// What a frontier asks of each block of arcs, and its vertices in a range.
//
// Arcs lie in blocks of 2^block_shift, blocks in pages of 2^page_shift; a row may span several. A frontier is a
// bitmap here, words of 32 bits, so that vertices come in order: a warp has 32 neighbouring ones, whose arcs
// mostly lie in one block.
// Source: Subway, EMOGI and HyTGraph, see docs/gpu.md. Work: O(n / 32 + rows and blocks that they touch).
#include "simt.cuh"

// Bytes that the bus brings at once, when a kernel reads memory of the host.
#define SECTOR 32ull

// Where the counts of a frontier go: active arcs of each block, rows that touch each page, and sectors that
// their ids lie in; how many arcs a block and a page have.
struct Asked {
    u64* arcs_of_block;
    u64* rows_of_page;
    u64* sectors_of_page;
    u32 block_shift;
    u32 page_shift;
    // A row, piece by piece.
    __device__ void row(u64 begin, u64 end) const {
        for (u64 arc = begin; arc < end;) {
            const u64 block = arc >> block_shift, next = min(end, (block + 1) << block_shift);
            atomicAdd(arcs_of_block + block, next - arc);
            arc = next;
        }
        const u32 shift = block_shift + page_shift;
        for (u64 arc = begin; arc < end;) {
            const u64 page = arc >> shift, next = min(end, (page + 1) << shift);
            atomicAdd(rows_of_page + page, 1ull);
            atomicAdd(sectors_of_page + page, sectors(arc, next));
            arc = next;
        }
    }
    // Many rows that lie in one block.
    __device__ void rows(u64 block, u64 count, u64 arcs, u64 touched) const {
        atomicAdd(arcs_of_block + block, arcs);
        atomicAdd(rows_of_page + (block >> page_shift), count);
        atomicAdd(sectors_of_page + (block >> page_shift), touched);
    }
    static __device__ u64 sectors(u64 begin, u64 end) {
        return (end * sizeof(VERTEX) - 1) / SECTOR - begin * sizeof(VERTEX) / SECTOR + 1;
    }
};

// words: u32[(n + 31) / 32], the frontier. offsets: INDEX[n + 1]. arcs_of_block: u64[blocks], rows_of_page,
// sectors_of_page: u64[pages], all 0 before. One warp a word, any grid of whole warps.
ENTRY(256) page_activity(const u32* words, u64 n, const INDEX* offsets, u32 block_shift, u32 page_shift,
                         u64* arcs_of_block, u64* rows_of_page, u64* sectors_of_page) {
    const Asked asked = {arcs_of_block, rows_of_page, sectors_of_page, block_shift, page_shift};
    for (u64 first = first_item() - lane_id(); first < n; first += item_stride()) {
        const u32 bits = words[first / WARP];
        if (bits == 0) continue;
        const u64 v = first + lane_id();
        const bool active = v < n && (bits >> lane_id() & 1u) != 0;
        const u64 begin = active ? offsets[v] : 0, end = active ? offsets[v + 1] : 0;
        const u32 rows = __ballot_sync(FULL_WARP, begin < end);
        if (rows == 0) continue;
        const int leader = __ffs(static_cast<int>(rows)) - 1;
        const u64 block = begin < end ? begin >> block_shift : 0;
        const u64 common = __shfl_sync(FULL_WARP, block, leader);
        const bool within = begin >= end || (block == common && (end - 1) >> block_shift == common);
        if (__all_sync(FULL_WARP, within)) {
            const u64 arcs = warp_sum(end - begin);
            const u64 touched = warp_sum(begin < end ? Asked::sectors(begin, end) : u64(0));
            if (lane_id() == 0) asked.rows(common, static_cast<u64>(__popc(rows)), arcs, touched);
        } else if (begin < end) {
            asked.row(begin, end);
        }
    }
}

// The vertices first..last of the frontier with an arc in [begin, end): queue: VERTEX[*], tail: u64[1], 0
// before. In any order. One warp a word, any grid of whole warps.
ENTRY(256) rows_of_range(const u32* words, const INDEX* offsets, u64 first, u64 last, u64 begin, u64 end, VERTEX* queue,
                         u64* tail) {
    const u64 base = first / WARP * WARP;
    for (u64 at = base + first_item() - lane_id(); at <= last; at += item_stride()) {
        const u32 bits = words[at / WARP];
        const u64 v = at + lane_id();
        bool active = v >= first && v <= last && (bits >> lane_id() & 1u) != 0;
        if (active) {
            const u64 from = offsets[v], to = offsets[v + 1];
            active = max(from, begin) < min(to, end);
        }
        const u64 place = warp_reserve(active, tail);
        if (active) queue[place] = static_cast<VERTEX>(v);
    }
}

// Reads one id of each of the first n sectors of `ids`, neighbouring lanes from sectors `stride` apart, and each
// sector once if n and stride have no common factor: what reading short rows in place costs. sum: u64[1], gets the
// sum of those ids, 0 before. One thread a sector, any grid of whole warps.
ENTRY(256) read_sectors(const VERTEX* ids, u64 n, u64 stride, u64* sum) {
    u64 seen = 0;
    for (u64 i = first_item(); i < n; i += item_stride()) seen += ids[i * stride % n * (SECTOR / sizeof(VERTEX))];
    warp_add(seen, sum);
}
