// The steps of exact methods over bounds of all vertices: opening, sharpening, closing.
//
// A vertex is open in a column if its entry has not all bits set. All entries are u32. One thread a vertex, any
// grid. Source: papers/001, Algorithm 2 (update of bounds and candidates). Work: O(n) each.
#include "simt.cuh"

// values[v] = value wherever `reached` is open.
ENTRY(256) open_where(u32* values, const u32* reached, u64 n, u32 value) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (reached[v] != UNREACHED) values[v] = value;
    }
}

// upper[v] = min(upper[v], distances[v] + eccentricity) wherever both are open; a sum that does not fit lowers nothing.
ENTRY(256) tighten_upper(u32* upper, const u32* distances, u64 n, u32 eccentricity) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (upper[v] == UNREACHED || distances[v] == UNREACHED) continue;
        const u64 sum = static_cast<u64>(distances[v]) + eccentricity;
        if (sum < upper[v]) upper[v] = static_cast<u32>(sum);
    }
}

// lower[v] = max(lower[v], distances[v], eccentricity - distances[v]) wherever `distances` is open.
ENTRY(256) tighten_lower(u32* lower, const u32* distances, u64 n, u32 eccentricity) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 d = distances[v];
        if (d != UNREACHED) lower[v] = max(lower[v], max(d, eccentricity - min(d, eccentricity)));
    }
}

// Closes in `values` what is not open in `among`.
ENTRY(256) close_where(u32* values, const u32* among, u64 n) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (among[v] == UNREACHED) values[v] = UNREACHED;
    }
}

// Closes in `upper` where the bounds meet, and where upper <= bound and 2 lower >= widest. open: u64[1], 0
// before: how many stay open.
ENTRY(256) close_known(u32* upper, const u32* lower, u64 n, u32 bound, u32 widest, u64* open) {
    u64 left = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 low = lower[v], high = upper[v];
        const bool known = low == high || (high <= bound && 2ull * low >= widest);
        if (known) upper[v] = UNREACHED;
        else left += high != UNREACHED;
    }
    warp_add(left, open);
}
