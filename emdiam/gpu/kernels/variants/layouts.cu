// Adjacency in lists of a fixed grain: rows that begin and end at multiples of 32 entries, or all of one
// width, so that a warp reads whole segments of memory.
//
// Source: papers/001, section IV-B (Figures 3 and 4). Work: O(n + m + padding).
#include "simt.cuh"

// offsets: INDEX[n + 1], neighbours: VERTEX[m], starts: u64[n + 1], where the lists begin, the last item being
// their end; sizes: u64[n], lists: VERTEX[starts[n]]. Copies the rows, a warp each, and sets all bits of the
// padding, which is no vertex. Any grid.
ENTRY(256) copy_rows(const INDEX* offsets, const VERTEX* neighbours, u64 n, const u64* starts, u64* sizes,
                     VERTEX* lists) {
    const VERTEX none = static_cast<VERTEX>(~static_cast<VERTEX>(0));
    for (u64 v = first_item() / WARP; v < n; v += item_stride() / WARP) {
        const u64 from = offsets[v], size = offsets[v + 1] - from;
        const u64 to = starts[v], room = starts[v + 1] - to;
        if (lane_id() == 0) sizes[v] = size;
        for (u64 i = lane_id(); i < room; i += WARP) lists[to + i] = i < size ? __ldg(neighbours + from + i) : none;
    }
}

// starts: u64[n + 1], lists: VERTEX[starts[n]], addresses: u64[n], set to where the lists are in memory.
ENTRY(256) row_addresses(const u64* starts, const VERTEX* lists, u64 n, u64* addresses) {
    for (u64 v = first_item(); v < n; v += item_stride())
        addresses[v] = reinterpret_cast<u64>(lists + starts[v]);
}
