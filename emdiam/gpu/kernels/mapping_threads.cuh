// Work-items to threads: one thread a row. Source: papers/004, 5.1.1, after Harish and Narayanan.
#define MAPPING_WORDS 1

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    for (u64 row = first_item(); row < f.n_rows; row += item_stride()) {
        const u64 end = f.end_arc(row);
        for (u64 arc = f.first_arc(row); arc < end; ++arc) visit(row, arc);
    }
}
