// Boxes of candidates: a hash table on the device of vertices by their distances to pivots, and what is left of it.
//
// A vertex v with limit < upper[v] < UNREACHED is in the box of its k distances divided by 2^q[i]; a box keeps the largest
// distance in each column, and how many vertices it has. Only boxes with a pair that is not certified come to the host.
// The table is open: a slot belongs to the vertex that took it, whose distances are its key. The boxes, their maxima and
// counts do not depend on who comes first; only their slots do. All columns are u32[n], n < 2^32.
// Source: methods/exact/candidates.py, coarse candidates; traverse/box_table.py is the same on the CPU. Work: O(k n).
#include "simt.cuh"

// What a box is made of. columns: u64[k], where the columns of distances begin. q: u32[k]. owners: u32[slots], vertex + 1,
// 0: free; slots is a power of two.
struct Table {
    const u64* columns;
    const u32* q;
    u64 k;
    u32* owners;
    u64 slots;

    __device__ u32 distance(u64 i, u64 v) const { return __ldg(reinterpret_cast<const u32*>(__ldg(columns + i)) + v); }
    __device__ u32 part(u64 i, u64 v) const { return q[i] < 32 ? distance(i, v) >> q[i] : 0u; }
    __device__ u64 first_slot(u64 v) const {
        u64 code = 0;
        for (u64 i = 0; i < k; ++i) {
            code = (code ^ part(i, v)) * 0x9e3779b97f4a7c15ull;
            code ^= code >> 29;
        }
        return code & (slots - 1);
    }
    __device__ bool same_box(u64 v, u64 w) const {
        for (u64 i = 0; i < k; ++i) {
            if (part(i, v) != part(i, w)) return false;
        }
        return true;
    }
};

// Writes item i of `out`, whose items have `width` bytes: 1, 2 or 4. A value that does not fit becomes the largest that does.
DEVICE void put_item(u8* out, u64 i, u32 value, u32 width) {
    if (width == 1) out[i] = static_cast<u8>(min(value, 0xffu));
    else if (width == 2) reinterpret_cast<u16*>(out)[i] = static_cast<u16>(min(value, 0xffffu));
    else reinterpret_cast<u32*>(out)[i] = value;
}

DEVICE bool is_candidate(u32 upper, u32 limit) { return upper > limit && upper != UNREACHED; }

// owners: u32[slots], maxima: u32[slots * k], counts: u32[slots], taken: u64[1], zeros before; taken gets the number of
// boxes. Where they are more than half of the slots, the rest is rubbish. One thread a vertex, any grid.
ENTRY(256) fill_boxes(const u32* upper, u64 n, u32 limit, const u64* columns, const u32* q, u64 k, u64 slots, u32* owners,
                      u32* maxima, u32* counts, u64* taken) {
    const Table table = {columns, q, k, owners, slots};
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (!is_candidate(upper[v], limit)) continue;
        if (2 * load_fresh(taken) > slots) return;
        u64 slot = table.first_slot(v);
        for (u64 looked = 0; looked < slots; ++looked, slot = (slot + 1) & (slots - 1)) {
            u32 owner = load_fresh(owners + slot);
            if (owner == 0) {
                owner = atomicCAS(owners + slot, 0u, static_cast<u32>(v) + 1u);
                if (owner == 0) {
                    atomicAdd(taken, 1ull);
                    break;
                }
            }
            if (table.same_box(owner - 1u, v)) break;
        }
        for (u64 i = 0; i < k; ++i) {
            const u32 d = table.distance(i, v);
            if (d > load_fresh(maxima + slot * k + i)) atomicMax(maxima + slot * k + i, d);
        }
        atomicAdd(counts + slot, 1u);
    }
}

// extent: u32[k], zeros before, gets the largest of the maxima in each column. One thread a slot, any grid.
ENTRY(256) box_extent(const u32* counts, u64 slots, const u32* maxima, u64 k, u32* extent) {
    for (u64 base = first_item() - lane_id(); base < slots; base += item_stride()) {
        const u64 slot = base + lane_id();
        const bool used = slot < slots && counts[slot] != 0;
        for (u64 i = 0; i < k; ++i) {
            warp_raise(used ? maxima[slot * k + i] : 0u, extent + i);
        }
    }
}

// left: u32[boxes], gets the slots of the boxes that are not certified against all others at once:
// maxima[i] + extent[i] > limit for all i; in any order. rows: a row of 4 / width + k items of `width` bytes for each, gets
// its count in parts of that width, the lowest first, and its maxima. n_left: u64[1], zero before, gets their number. One
// thread a slot, any grid.
ENTRY(256) left_boxes(const u32* counts, u64 slots, const u32* maxima, u64 k, const u32* extent, u64 limit, u32 width,
                      u32* left, u8* rows, u64* n_left) {
    const u32 parts = 4 / width, mask = 0xffffffffu >> (32 - 8 * width);
    for (u64 base = first_item() - lane_id(); base < slots; base += item_stride()) {
        const u64 slot = base + lane_id();
        const u32 count = slot < slots ? counts[slot] : 0u;
        bool stays = count != 0;
        for (u64 i = 0; stays && i < k; ++i) stays = static_cast<u64>(maxima[slot * k + i]) + extent[i] > limit;
        const u64 place = warp_reserve(stays, n_left), row = place * (parts + k);
        if (!stays) continue;
        left[place] = static_cast<u32>(slot);
        for (u32 part = 0; part < parts; ++part) put_item(rows, row + part, (count >> (8 * width * part)) & mask, width);
        for (u64 i = 0; i < k; ++i) put_item(rows, row + parts + i, maxima[slot * k + i], width);
    }
}

// marks: u32[slots], gets 0 at left[i] where bit i % 32 of word i / 32 of `bits` is set. One thread a box, any grid.
ENTRY(256) mark_boxes(const u32* left, u64 boxes, const u32* bits, u32* marks) {
    for (u64 i = first_item(); i < boxes; i += item_stride()) {
        if ((bits[i / WARP] >> (i % WARP)) & 1u) marks[left[i]] = 0;
    }
}

// members: u32[n], gets 0 at candidates whose box has a mark, all bits set elsewhere. marks: u32[slots], 0 where a box has
// one. owners: as fill_boxes left them. One thread a vertex, any grid.
ENTRY(256) box_members(const u32* upper, u64 n, u32 limit, const u64* columns, const u32* q, u64 k, u64 slots, u32* owners,
                       const u32* marks, u32* members) {
    const Table table = {columns, q, k, owners, slots};
    for (u64 v = first_item(); v < n; v += item_stride()) {
        members[v] = UNREACHED;
        if (!is_candidate(upper[v], limit)) continue;
        u64 slot = table.first_slot(v);
        while (!table.same_box(owners[slot] - 1u, v)) slot = (slot + 1) & (slots - 1);
        if (marks[slot] == 0) members[v] = 0;
    }
}

// -- Candidates by themselves --
// members: u32[n], 0 at candidates that are left, all bits set elsewhere. Source: methods/exact/candidates.py, near_all.

// Makes members of all candidates if `begins` is not 0. extent: u32[k], zeros before, gets the largest distance of a member
// in each column. One thread a vertex, any grid. Work: O(k n).
ENTRY(256) member_extent(const u32* upper, u64 n, u32 limit, const u64* columns, u64 k, u32 begins, u32* members,
                         u32* extent) {
    const Table table = {columns, nullptr, k, nullptr, 0};
    for (u64 base = first_item() - lane_id(); base < n; base += item_stride()) {
        const u64 v = base + lane_id();
        bool stays = v < n;
        if (stays && begins != 0) members[v] = is_candidate(upper[v], limit) ? 0u : UNREACHED;
        stays = stays && members[v] == 0;
        if (!__any_sync(FULL_WARP, stays)) continue;
        for (u64 i = 0; i < k; ++i) {
            warp_raise(stays ? table.distance(i, v) : 0u, extent + i);
        }
    }
}

// Drops members that are certified against all others at once: distance + extent[i] <= limit for some i. counts: u64[2],
// raised by those that stay, and by those that are dropped. One thread a vertex, any grid. Work: O(k n).
ENTRY(256) drop_members(u64 n, u64 limit, const u64* columns, u64 k, const u32* extent, u32* members, u64* counts) {
    const Table table = {columns, nullptr, k, nullptr, 0};
    u64 left = 0, dropped = 0;
    for (u64 v = first_item(); v < n; v += item_stride()) {
        if (members[v] != 0) continue;
        bool stays = true;
        for (u64 i = 0; stays && i < k; ++i) stays = static_cast<u64>(table.distance(i, v)) + extent[i] > limit;
        if (!stays) members[v] = UNREACHED;
        left += stays;
        dropped += !stays;
    }
    warp_add(left, counts);
    warp_add(dropped, counts + 1);
}

// out: m * k items of `width` bytes, the distances of vertices ids: u32[m], those of one vertex side by side. Any grid.
ENTRY(256) gather_points(const u64* columns, u64 k, const u32* ids, u64 m, u32 width, u8* out) {
    const Table table = {columns, nullptr, k, nullptr, 0};
    for (u64 item = first_item(); item < m * k; item += item_stride()) {
        put_item(out, item, table.distance(item % k, ids[item / k]), width);
    }
}

// The same for one column.
ENTRY(256) gather_values(const u32* column, const u32* ids, u64 m, u32 width, u8* out) {
    for (u64 i = first_item(); i < m; i += item_stride()) put_item(out, i, column[ids[i]], width);
}

// bits: u32[ceil(m / 32)], gets bit i % 32 of word i / 32 where the value of vertex ids[i] is above `limit`. Any grid.
ENTRY(256) gather_above(const u32* values, const u32* ids, u64 m, u32 limit, u32* bits) {
    for (u64 base = first_item() - lane_id(); base < m; base += item_stride()) {
        const u64 i = base + lane_id();
        const u32 word = __ballot_sync(FULL_WARP, i < m && values[ids[i]] > limit);
        if (lane_id() == 0) bits[base / WARP] = word;
    }
}
