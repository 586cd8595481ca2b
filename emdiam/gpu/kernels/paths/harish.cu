// Single-source shortest paths by two kernels over all vertices: arcs of marked vertices are relaxed into a second array
// of lengths, then lower lengths are committed and marked. So none is relaxed in the round that lowered it.
//
// Source: papers/004, section 3.1, after Harish and Narayanan; the layouts: its section 1. Work: O(n) a round and the
// arcs of marked vertices (of `edges` and `reverse`: all arcs).
//
// words, updated: u64[n], lengths (lengths.cuh). marked: u8[n]. counts: u64[2], raised by the arcs tried and, if a
// length was lowered, the second is set to 1. Any grid.
#include "cells.cuh"
#include "lengths.cuh"

#define LAYOUT_ROWS 0    // starts: INDEX[n + 1]; with -DPAIRS=1 of pairs
#define LAYOUT_LISTS 1   // each list padded: starts: INDEX[n + 1], sizes: u64[n]
#define LAYOUT_ELL 2     // all lists of one width, padded: sizes: u64[n]
#define LAYOUT_MATRIX 3  // pitched adjacency matrix: weights: WEIGHT[n * width], cells
#ifndef LAYOUT
#define LAYOUT LAYOUT_ROWS
#endif

// -- Relaxing --

// heads: VERTEX[...], weights: WEIGHT[...] as the layout has them; what it does not have is not read. width: of a list,
// or the pitch of the matrix. One thread a vertex.
ENTRY(256, RESIDENT) harish_relax(const INDEX* starts, const u64* sizes, u64 width, const VERTEX* heads,
                                  const WEIGHT* weights, u64 n, const u8* marked, const u64* words, u64* updated,
                                  u64* counts) {
    u64 tried = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (!marked[v]) continue;
        const u64 word = words[v];
#if LAYOUT == LAYOUT_MATRIX
        for (u64 head = 0; head < n; ++head) {
            const WEIGHT weight = __ldg(weights + v * width + head);
            if (is_no_path(weight)) continue;
            lowers(updated, head, extended(word, weight));
            ++tried;
        }
#else
#if LAYOUT == LAYOUT_ELL
        const u64 first = v * width, end = first + sizes[v];
#elif LAYOUT == LAYOUT_LISTS
        const u64 first = starts[v], end = first + sizes[v];
#else
        const u64 first = starts[v], end = starts[v + 1];
#endif
        for (u64 arc = first; arc < end; ++arc) {
            const Arc to = arc_at(heads, weights, arc);
            lowers(updated, to.head, extended(word, to.weight));
        }
        tried += end - first;
#endif
    }
    warp_add(tried, counts);
}

// tails, heads: VERTEX[m], weights: WEIGHT[m], the coordinates of all arcs. One thread an arc.
ENTRY(256, RESIDENT) edges_relax(const VERTEX* tails, const VERTEX* heads, const WEIGHT* weights, u64 m,
                                 const u8* marked, const u64* words, u64* updated, u64* counts) {
    u64 tried = 0;
    for (u64 arc = first_item(); arc < m; arc += item_stride()) {
        const VERTEX v = __ldg(tails + arc);
        if (!marked[v]) continue;
        const Arc to = arc_at(heads, weights, arc);
        lowers(updated, to.head, extended(words[v], to.weight));
        ++tried;
    }
    warp_add(tried, counts);
}

// starts: INDEX[n + 1], tails: VERTEX[m], weights: WEIGHT[m]: the rows of arcs that come in. One thread a vertex, which
// alone writes its length: no atomic operation.
ENTRY(256, RESIDENT) reverse_relax(const INDEX* starts, const VERTEX* tails, const WEIGHT* weights, u64 n,
                                   const u8* marked, const u64* words, u64* updated, u64* counts) {
    u64 tried = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        u64 best = updated[v];
        const u64 end = starts[v + 1];
        for (u64 arc = starts[v]; arc < end; ++arc) {
            const Arc from = arc_at(tails, weights, arc);
            if (!marked[from.head]) continue;
            best = min(best, extended(words[from.head], from.weight));
            ++tried;
        }
        updated[v] = best;
    }
    warp_add(tried, counts);
}

// -- Committing --

// Lower lengths become those of the vertices, which are marked, and no others. One thread a vertex.
ENTRY(256) harish_commit(u64 n, u8* marked, u64* words, const u64* updated, u64* counts) {
    bool lowered = false;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u64 word = updated[v];
        const bool lower = word < words[v];
        marked[v] = lower;
        if (lower) words[v] = word;
        lowered |= lower;
    }
    if (lowered) counts[1] = 1;
}
