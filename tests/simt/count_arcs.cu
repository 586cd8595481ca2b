// A visitor that counts: how often each arc was visited, and for which row, for tests of the mappings.
#include "mapping.cuh"

struct Count {
    u32* visits;
    u64* rows;
    __device__ void operator()(u64 row, u64 arc) const {
        atomicAdd(visits + arc, 1u);
        atomicAdd(rows + arc, row + 1);
    }
};

// visits: u32[m], rows: u64[m], both 0 at first; rows[arc] becomes the row + 1 for each visit.
extern "C" __global__ void __launch_bounds__(256, MAPPING_RESIDENT)
count_arcs(FRONTIER_PARAMETERS, u32* visits, u64* rows) {
    const Count count = {visits, rows};
    VISIT_ARCS(count);
}
