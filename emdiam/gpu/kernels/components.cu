// Connected components of what a BFS has not reached: union-find over the arcs of hidden vertices, all at once.
//
// A hidden vertex has an arc and was not reached. Its parent is itself or a smaller vertex of its component; the root is
// the smallest. Roots alone are joined, by compare-and-swap, so that labels do not depend on who comes first. Graphs are
// undirected, so an arc is looked at from its larger end.
// Source: Jaiganesh and Burtscher, A high-performance connected components implementation for GPUs (HPDC 2018). Work:
// O(n + arcs of hidden vertices) but for the way to roots, which gets shorter as it is gone.
#include "mapping.cuh"

#define NO_PARENT static_cast<VERTEX>(~static_cast<VERTEX>(0))

// The root of v; vertices on the way get the parent of their parent.
DEVICE VERTEX root_of(VERTEX* parent, VERTEX v) {
    VERTEX next = load_fresh(parent + v);
    while (next != v) {
        const VERTEX after = load_fresh(parent + next);
        if (after != next) store_fresh(parent + v, after);
        v = next;
        next = after;
    }
    return v;
}

// reached: bitmap u64[ceil(n / 64)]. parent: VERTEX[n], gets each hidden vertex itself, all bits set elsewhere. queue:
// VERTEX[n], gets hidden vertices in any order. count: u64[1], zero before, their number. Any grid.
ENTRY(256, MAPPING_RESIDENT) begin_components(const INDEX* offsets, const u64* reached, u64 n, VERTEX* parent, VERTEX* queue,
                                              u64* count) {
    for (u64 base = first_item() - lane_id(); base < n; base += item_stride()) {
        const u64 v = base + lane_id();
        const bool hidden = v < n && (reached[v / 64] >> (v % 64) & 1ull) == 0 && offsets[v + 1] != offsets[v];
        if (v < n) parent[v] = hidden ? static_cast<VERTEX>(v) : NO_PARENT;
        const u64 place = warp_reserve(hidden, count);
        if (hidden) queue[place] = static_cast<VERTEX>(v);
    }
}

// Joins the ends of all arcs of the rows. The first parameters: see Frontier; the queue has hidden vertices. arcs: u64[1],
// gets the number of arcs, of which the mapping has the sums.
ENTRY(256, MAPPING_RESIDENT) join_arcs(FRONTIER_PARAMETERS, VERTEX* parent, u64* arcs) {
    if (first_item() == 0) *arcs = starts[n_rows];
    const auto join = [=](u64 row, u64 arc) {
        const VERTEX v = queue[row], w = __ldg(neighbours + arc);
        // A head that was reached is one of a damaged store, of which others tell.
        if (w >= v || load_fresh(parent + w) == NO_PARENT) return;
        VERTEX high = root_of(parent, v), low = root_of(parent, w);
        while (high != low) {
            if (high < low) {
                const VERTEX other = high;
                high = low;
                low = other;
            }
            if (atomicCAS(parent + high, high, low) == high) return;
            high = root_of(parent, high);
            low = root_of(parent, low);
        }
    };
    VISIT_ARCS(join);
}

// Every parent becomes the root. sizes: u32[n], zeros before, gets the vertices of its component at each root. Any grid.
ENTRY(256, MAPPING_RESIDENT) name_components(u64 n, VERTEX* parent, u32* sizes) {
    for (u64 base = first_item() - lane_id(); base < n; base += item_stride()) {
        const u64 v = base + lane_id();
        const bool hidden = v < n && load_fresh(parent + v) != NO_PARENT;
        // Only the vertex itself gets another parent: who shortens the way of others may put back one that is no root.
        VERTEX root = hidden ? static_cast<VERTEX>(v) : NO_PARENT;
        for (VERTEX next = root; hidden && (next = load_fresh(parent + root)) != root;) root = next;
        if (hidden) store_fresh(parent + v, root);
        // Lanes that have the root of the first of them, as in a large component, count by one operation.
        const u32 lanes = __ballot_sync(FULL_WARP, hidden);
        if (lanes == 0) continue;
        const u32 leader = static_cast<u32>(__ffs(static_cast<i32>(lanes))) - 1u;
        const VERTEX first = __shfl_sync(FULL_WARP, root, static_cast<i32>(leader));
        const u32 alike = __ballot_sync(FULL_WARP, hidden && root == first);
        if (lane_id() == leader) atomicAdd(sizes + root, static_cast<u32>(__popc(alike)));
        else if (hidden && root != first) atomicAdd(sizes + root, 1u);
    }
}

// out: u64[2], raised by the components, and by the pairs of vertices within them. n < 2^32, so they fit. Any grid.
ENTRY(256, MAPPING_RESIDENT) count_components(u64 n, const u32* sizes, u64* out) {
    u64 components = 0, pairs = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const u64 size = sizes[v];
        components += size != 0;
        if (size != 0) pairs += size * (size - 1) / 2;
    }
    warp_add(components, out);
    warp_add(pairs, out + 1);
}

// Of the components of roots: u64[k], ascending: last: u64[k], zeros before, gets the largest vertex; hubs: u64[k], zeros
// before, the largest degree above the vertex with all its 32 bits turned round, of the smallest such vertex. n, and all
// degrees, are below 2^32. Any grid. Work: O(n log k).
ENTRY(256, MAPPING_RESIDENT) describe_components(const INDEX* offsets, u64 n, const VERTEX* parent, const u64* roots, u64 k,
                                                 u64* last, u64* hubs) {
    for (u64 v = first_item(); v < n; v += item_stride()) {
        const VERTEX root = parent[v];
        if (root == NO_PARENT) continue;
        u64 low = 0, high = k;
        while (low < high) {
            const u64 middle = low + (high - low) / 2;
            if (__ldg(roots + middle) < root) low = middle + 1;
            else high = middle;
        }
        if (low == k || __ldg(roots + low) != root) continue;
        const u64 degree = offsets[v + 1] - offsets[v], key = degree << 32 | static_cast<u32>(~static_cast<u32>(v));
        if (v > load_fresh(last + low)) atomicMax(last + low, v);
        if (key > load_fresh(hubs + low)) atomicMax(hubs + low, key);
    }
}

// first: u64[1], all bits set before, gets the smallest i < n whose value, u32, is one of wanted: u32[n_wanted], and whose
// parent is `label`. Any grid. Work: O(n * n_wanted).
ENTRY(256, MAPPING_RESIDENT) first_in_component(const u32* values, const VERTEX* parent, u64 n, const u32* wanted, u64 n_wanted,
                                                VERTEX label, u64* first) {
    u64 found = ~0ull;
    for (u64 v = first_item(); v < n && found == ~0ull; v += item_stride()) {  // the items of a thread ascend
        if (parent[v] != label) continue;
        for (u64 i = 0; i < n_wanted; ++i) {
            if (values[v] == __ldg(wanted + i)) found = v;
        }
    }
    found = warp_min(found);
    if (lane_id() == 0 && found < load_fresh(first)) atomicMin(first, found);
}
