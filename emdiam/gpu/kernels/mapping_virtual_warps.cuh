// Virtual warps: VIRTUAL_WARP lanes (a power of two, 2 to 32) a row, with neighbouring lanes on neighbouring
// arcs. Source: papers/004, 5.1.2 and Algorithm 8, after Hong et al.
#ifndef VIRTUAL_WARP
#define VIRTUAL_WARP 8
#endif
static_assert(VIRTUAL_WARP >= 2 && VIRTUAL_WARP <= 32 && (VIRTUAL_WARP & (VIRTUAL_WARP - 1)) == 0,
              "VIRTUAL_WARP is 2, 4, 8, 16 or 32");
#define MAPPING_WORDS 1

template <typename Visit> DEVICE void for_each_arc(const Frontier& f, u64*, Visit& visit) {
    for (u64 row = first_item() / VIRTUAL_WARP; row < f.n_rows; row += item_stride() / VIRTUAL_WARP) {
        const u64 end = f.end_arc(row);
        for (u64 arc = f.first_arc(row) + threadIdx.x % VIRTUAL_WARP; arc < end; arc += VIRTUAL_WARP) visit(row, arc);
    }
}
