// Levels of breadth-first search over bitmaps, from the unreached vertices up.
//
// Source: papers/004, section 2.1, after Beamer, Asanovic and Patterson, "Direction-optimizing breadth-first
// search", SC 2012. Going up takes neighbours for predecessors, so the graph is undirected. A bitmap has a bit
// for each vertex, that of vertex v in word v / 32; a warp owns the words it works on, so it writes them to memory
// without atomic operations. Bits behind the last vertex are set in `visited`, and clear in frontiers.
#include "bottom_up.cuh"

// Blocks of a multiprocessor that its registers are for.
#define PULL_RESIDENT (sizeof(INDEX) > 4 ? 4 : 5)

// One level up. offsets: INDEX[n + 1], neighbours: VERTEX[m], words: of a bitmap of n vertices, visited: u32[words],
// read and written, frontier: u32[words], next: u32[words], gets the next frontier, distances: u32[n], level:
// distance of what is reached, counts: u64[3], zeros before, gets the number of reached vertices and of their
// arcs, and that of arcs that were looked at. A warp for up to PULL_WORDS words, any grid.
ENTRY(256, PULL_RESIDENT) bottom_up_words(const INDEX* offsets, const VERTEX* neighbours, u64 words, u32* visited,
                                          const u32* frontier, u32* next, u32* distances, u32 level, u64* counts) {
    __shared__ u64 scratch[33];
    __shared__ PullRoom room[256 / WARP];
    u64 vertices = 0, arcs = 0, looked = 0;
    const Pull pull = {offsets, neighbours, visited, frontier, next, distances, level, ~0ull};
    const u64 at_once = words_at_once(words);
    for (u64 first = first_item() / WARP * at_once; first < words; first += item_stride() / WARP * at_once)
        arcs += pull_words(pull, first, at_once, words, [](VERTEX, u64) {}, room + warp_id(), &vertices, &looked);
    block_add(vertices, scratch, counts);
    block_add(arcs, scratch, counts + 1);
    block_add(looked, scratch, counts + 2);
}

// Rows of a range pull the masks of sources from their neighbours in the frontier of a whole graph, for each word of a mask
// until no source is missing. n: rows, offsets: INDEX[n + 1], neighbours: VERTEX[m]. frontier: bitmap u64[words]; before: u32[words],
// its bits before each word; masks: u64[bits of the frontier * width]. every: u64[width], all sources. seen, next: u64[n * width];
// next is raised by what is not seen. looked: u64[1], raised by the arcs. A warp a row, any grid.
ENTRY(256, PULL_RESIDENT) pull_masks(const INDEX* offsets, const VERTEX* neighbours, u64 n, const u64* frontier,
                                     const u32* before, const u64* masks, u64 width, const u64* every, const u64* seen,
                                     u64* next, u64* looked) {
    u64 mine = 0;
    for (u64 v = first_item() / WARP; v < n; v += item_stride() / WARP) {
        const INDEX begin = __ldg(offsets + v), end = __ldg(offsets + v + 1);
        INDEX farthest = begin;
        for (u64 j = 0; j < width; ++j) {
            const u64 known = next[v * width + j], open = __ldg(every + j) & ~__ldg(seen + v * width + j);
            u64 got = known & open;
            INDEX arc = begin;
            for (; arc < end && got != open; arc += WARP) {
                u64 bits = 0;
                if (arc + lane_id() < end) {
                    const u64 w = __ldg(neighbours + arc + lane_id()), word = __ldg(frontier + w / 64);
                    const u64 below = word & ((1ull << (w % 64)) - 1);
                    if ((word >> (w % 64) & 1) != 0)
                        bits = __ldg(masks + (__ldg(before + w / 64) + static_cast<u64>(__popcll(below))) * width + j);
                }
                for (u32 step = 1; step < WARP; step *= 2) bits |= __shfl_xor_sync(FULL_WARP, bits, step);
                got |= bits & open;
            }
            farthest = max(farthest, min(arc, end));
            if (lane_id() == 0 && got != known) next[v * width + j] = got;
        }
        if (lane_id() == 0) mine += farthest - begin;
    }
    warp_add(mine, looked);
}

// What a graph is searched with, made once. isolated: u32[words], the vertices without arcs and the bits behind
// the last vertex; largest: u64[1], zero before, gets the largest degree. A warp a word, any grid.
ENTRY(256) isolated_words(const INDEX* offsets, u64 n, u64 words, u32* isolated, u64* largest) {
    u64 highest = 0;
    for (u64 word = first_item() / WARP; word < words; word += item_stride() / WARP) {
        const u64 v = word * WARP + lane_id();
        const u64 degree = v < n ? offsets[v + 1] - offsets[v] : 0;
        const u32 empty = __ballot_sync(FULL_WARP, degree == 0);
        if (lane_id() == 0) isolated[word] = empty;
        highest = max(highest, degree);
    }
    warp_raise(highest, largest);
}

// distances: u32[n] and visited: u32[words], of which only the source changes; queue: VERTEX[n], gets it; counts:
// u64[3], gets 1 vertex, its arcs, and 0. One thread.
ENTRY(256) start_search(const INDEX* offsets, VERTEX source, u32* distances, u32* visited, VERTEX* queue, u64* counts) {
    if (first_item() != 0) return;
    distances[source] = 0;
    visited[source / WARP] |= 1u << (source % WARP);
    queue[0] = source;
    counts[0] = 1;
    counts[1] = offsets[source + 1] - offsets[source];
    counts[2] = 0;
}

// visited: u32[words], made of the distances, u32[n], and the isolated vertices. A warp a word, any grid.
ENTRY(256) visited_words(const u32* distances, u64 n, u64 words, const u32* isolated, u32* visited) {
    for (u64 word = first_item() / WARP; word < words; word += item_stride() / WARP) {
        const u64 v = word * WARP + lane_id();
        const u32 reached = __ballot_sync(FULL_WARP, v < n && distances[v] != UNREACHED);
        if (lane_id() == 0) visited[word] = reached | isolated[word];
    }
}
