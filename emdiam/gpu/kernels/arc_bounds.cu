// Bounds on eccentricities along arcs and against them: one more search folded in, and who is to be searched from next.
//
// As traverse/arc_bounds.py has them. A vertex with the best key is found by two launches: the first finds the key, the
// second the smallest vertex that has it. All columns are u32[n], without a sentinel but for distances; one thread a vertex,
// any grid. Work: O(n), for a centre times the listed vertices at most.
#include "simt.cuh"

// out: u64[2], zeros before; gets the largest key(v), 0 without one.
template <typename Key> DEVICE void raise_key(u64 n, const Key& key, u64* out) {
    u64 best = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) best = max(best, key(v));
    warp_raise(best, out);
}

// The same with out as raise_key left it; its second item gets, with all bits turned round, the smallest vertex with that key,
// and stays 0 without one.
template <typename Key> DEVICE void raise_vertex(u64 n, const Key& key, u64* out) {
    const u64 best = out[0];
    u64 vertex = 0;
    for (u64 v = first_item(); v < n; v += item_stride())
        if (best != 0 && key(v) == best) vertex = max(vertex, ~v);
    warp_raise(vertex, out + 1);
}

// distances: to (or from) a vertex of component `number` whose eccentricity is at most `eccentricity`. lower may be of no
// length, if has_lower is 0.
ENTRY(256) fold_arcs(u32* upper, u32* lower, u32 has_lower, const u32* distances, const u32* numbers, u64 n, u32 number,
                     u32 eccentricity) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u32 d = distances[v];
        if (d == UNREACHED) continue;
        if (has_lower != 0) lower[v] = max(lower[v], d);
        const u64 sum = static_cast<u64>(d) + eccentricity;
        if (numbers[v] == number && sum < upper[v]) upper[v] = static_cast<u32>(sum);
    }
}

// The largest upper bound above `limit`, then the largest lower bound.
struct Extreme {
    const u32* upper;
    const u32* lower;
    u32 limit;
    __device__ u64 operator()(u64 v) const {
        return upper[v] > limit ? (static_cast<u64>(upper[v]) << 32 | lower[v]) + 1 : 0;
    }
};
ENTRY(256) extreme_key(const u32* upper, const u32* lower, u64 n, u32 limit, u64* out) {
    raise_key(n, Extreme{upper, lower, limit}, out);
}
ENTRY(256) extreme_vertex(const u32* upper, const u32* lower, u64 n, u32 limit, u64* out) {
    raise_vertex(n, Extreme{upper, lower, limit}, out);
}

// The smallest sum of lower bounds in component `number`, but for the vertices listed, u32[k].
struct Central {
    const u32* lower_out;
    const u32* lower_in;
    const u32* numbers;
    u32 number;
    const u32* listed;
    u64 k;
    __device__ u64 operator()(u64 v) const {
        if (numbers[v] != number) return 0;
        for (u64 i = 0; i < k; ++i)
            if (listed[i] == v) return 0;
        return ~(static_cast<u64>(lower_out[v]) + lower_in[v]);
    }
};
ENTRY(256) central_key(const u32* lower_out, const u32* lower_in, const u32* numbers, u64 n, u32 number, const u32* listed,
                       u64 k, u64* out) {
    raise_key(n, Central{lower_out, lower_in, numbers, number, listed, k}, out);
}
ENTRY(256) central_vertex(const u32* lower_out, const u32* lower_in, const u32* numbers, u64 n, u32 number, const u32* listed,
                          u64 k, u64* out) {
    raise_vertex(n, Central{lower_out, lower_in, numbers, number, listed, k}, out);
}

// values[ids[i]] = news[i], for u32 ids without repeats, news: u32[k].
ENTRY(256) put_values(u32* values, const u32* ids, u64 k, const u32* news) {
    for (u64 i = first_item(); i < k; i += item_stride()) values[ids[i]] = news[i];
}
