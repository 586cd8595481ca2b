// Bounds on eccentricities from one more traversal, and who is to be traversed next.
//
// After a BFS from p: max(d, ecc(p) - d) <= ecc(v) <= d + ecc(p), d = d(p, v). Two passes: the first folds the
// distances in and finds the best keys, the second the vertices that have them. Ties as on the CPU: the centre is the
// smallest (lower, far), then the highest degree, then the smallest vertex; the periphery the largest (upper, far),
// then the smallest vertex. Sources: Takes and Kosters 2011; papers/001, Algorithm 2. Work: O(n).
#include "simt.cuh"

DEVICE u64 pair_key(u32 high, u32 low) { return (static_cast<u64>(high) << 32) | low; }

// distances: u32[n] from `source`, of that eccentricity, all bits set where unreached. lower, upper, far: u32[n],
// all bits set where no source has reached; far: largest distance to a source, all bits set at sources. largest: no
// upper bound is above it. out: u64[6], zeros before: the vertices reached here with upper > limit, largest upper, key of
// the centre with all bits turned round, key of the periphery + 1. One thread a vertex, any grid.
ENTRY(256) fold_pivot(const u32* distances, u64 n, u64 source, u32 eccentricity, u32 limit, u32 largest, u32* lower,
                      u32* upper, u32* far, u64* out) {
    __shared__ u64 scratch[33];
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
    block_add(unsettled, scratch, out);
    warp_raise(highest, out + 1);
    warp_raise(centre, out + 2);
    warp_raise(periphery, out + 3);
}

// The same columns, and out as fold_pivot left it, whose last two get, with all bits turned round, the centre below its
// degree turned round, and the periphery, and stay 0 where there is none; vertices are below 2^32. One thread a vertex,
// any grid.
ENTRY(256) choose_pivots(const INDEX* offsets, const u32* distances, u64 n, const u32* lower, const u32* upper,
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
    warp_raise(centre, out + 4);
    warp_raise(periphery, out + 5);
}
