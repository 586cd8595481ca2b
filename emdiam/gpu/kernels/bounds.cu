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

// -- Pivots --
// Bounds on eccentricities from one more traversal, and who is to be traversed next.
//
// After a BFS from p: max(d, ecc(p) - d) <= ecc(v) <= d + ecc(p), d = d(p, v). Two passes: the first folds the
// distances in and finds the best keys, the second the vertices that have them. Ties as on the CPU: the centre is the
// smallest (lower, far), then the highest degree, then the smallest vertex; the periphery the largest (upper, far),
// then the smallest vertex. Sources: Takes and Kosters 2011; papers/001, Algorithm 2. Work: O(n).

DEVICE u64 pair_key(u32 high, u32 low) { return (static_cast<u64>(high) << 32) | low; }

// distances: u32[n] from `source`, of that eccentricity, all bits set where unreached. lower, upper, far: u32[n],
// all bits set where no source has reached; far: largest distance to a source, all bits set at sources. largest: no
// upper bound is above it. out: u64[6], zeros before: the vertices reached here with upper > limit, largest upper, key of
// the centre with all bits turned round, key of the periphery + 1. One thread a vertex, any grid.
ENTRY(256) fold_pivot(const u32* distances, u64 n, u64 source, u32 eccentricity, u32 limit, u32 largest, u32* lower,
                      u32* upper, u32* far, u64* out) {
    u64 unsettled = 0, highest = 0, centre = 0, periphery = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 d = distances[v];
        if (d == UNREACHED) continue;
        u32 low = max(d, eccentricity - min(d, eccentricity)), away = d;
        const u64 sum = static_cast<u64>(d) + eccentricity;
        u32 high = sum < largest ? static_cast<u32>(sum) : largest;
        if (upper[v] != UNREACHED) {
            low = max(lower[v], low);
            high = min(upper[v], high);
            away = far[v] == UNREACHED ? UNREACHED : max(far[v], d);
        }
        if (v == source) away = UNREACHED;
        lower[v] = low;
        upper[v] = high;
        far[v] = away;
        unsettled += high > limit;
        highest = max(highest, static_cast<u64>(high));
        if (away == UNREACHED) continue;
        centre = max(centre, ~pair_key(low, away));
        periphery = max(periphery, pair_key(high, away) + 1);
    }
    warp_add(unsettled, out);
    highest = warp_max(highest);
    centre = warp_max(centre);
    periphery = warp_max(periphery);
    if (lane_id() != 0) return;
    atomicMax(out + 1, highest);
    atomicMax(out + 2, centre);
    atomicMax(out + 3, periphery);
}

// The same columns, and out as fold_pivot left it, whose last two get, with all bits turned round, the centre below its
// degree turned round, and the periphery, and stay 0 where there is none; vertices are below 2^32. One thread a vertex,
// any grid.
ENTRY(256) choose_pivots(const u64* offsets, const u32* distances, u64 n, const u32* lower, const u32* upper,
                         const u32* far, u64* out) {
    const u64 central = ~out[2], peripheral = out[3];
    u64 centre = 0, periphery = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (distances[v] == UNREACHED || far[v] == UNREACHED) continue;
        if (pair_key(lower[v], far[v]) == central) {
            const u64 degree = offsets[v + 1] - offsets[v];
            centre = max(centre, ~pair_key(0xffffffffu - static_cast<u32>(degree), static_cast<u32>(v)));
        }
        if (pair_key(upper[v], far[v]) + 1 == peripheral) periphery = max(periphery, ~v);
    }
    centre = warp_max(centre);
    periphery = warp_max(periphery);
    if (lane_id() != 0) return;
    atomicMax(out + 4, centre);
    atomicMax(out + 5, periphery);
}
