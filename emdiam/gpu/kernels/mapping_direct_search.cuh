// Direct search: one unit a thread; its row by binary search over all sums, in global memory.
// Source: papers/004, 5.3.1.
#define MAPPING_WORDS 1

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    const u64 units = f.starts[f.n_rows];
    for (u64 unit = first_item(); unit < units; unit += item_stride()) {
        const u64 row = find_row<u64>(f.starts, 0, f.n_rows, unit);
        visit(row, f.first_arc(row) + (unit - f.starts[row]));
    }
}
