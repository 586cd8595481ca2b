// What a launch asks of global memory, counted as a GPU would serve it: the accesses that the lanes of a warp make at one
// place of the code together are one request, of as many sectors as they touch. And how many loads and atomic operations the
// busiest warp makes one after the other, from barrier to barrier, which is what a launch waits for where there is little to do.
//
// Lanes are fibres, so who was together is put together again: between two operations of the whole warp, the k-th access of a
// lane at a place of the code goes with the k-th of the others. Loads that a GPU has on their way at once count one by one.
#include <algorithm>

#include "runtime.hpp"

namespace simt {

constexpr unsigned SECTOR_BYTES = 32;
static std::unordered_map<size_t, unsigned long long> asked_at;  // atomic requests of the launch by sector

static void settle_warp(WarpTraffic& warp) {
    SimtTraffic& total = *launch->request->traffic;
    for (Place* place : warp.busy) {
        const size_t n = place->requests.size();
        (place->ask == Ask::load ? total.loads : place->ask == Ask::store ? total.stores : total.atomics) += n;
        if (place->ask != Ask::store) warp.chain += n;
        for (const Requested& one : place->requests) {
            total.sectors += one.n_sectors;
            for (unsigned i = 0; place->ask == Ask::update && i < one.n_sectors; ++i)
                total.busiest = std::max(total.busiest, ++asked_at[one.sectors[i]]);
        }
        place->requests.clear();
        memset(place->made, 0, sizeof place->made);
    }
    warp.busy.clear();
}

void count_access(const void* address, size_t bytes, Ask ask, const void* site) {
    const Fibre& me = *self();
    WarpTraffic& warp = me.block->traffic[me.warp()];
    const size_t sector = reinterpret_cast<size_t>(address) / SECTOR_BYTES;
    launch->request->traffic->bytes += bytes;
    Place& place = warp.places[site];
    if (place.requests.empty()) warp.busy.push_back(&place);
    place.ask = ask;
    const unsigned number = place.made[me.lane()]++;
    if (number == place.requests.size()) place.requests.push_back({});
    Requested& one = place.requests[number];
    if (std::find(one.sectors, one.sectors + one.n_sectors, sector) == one.sectors + one.n_sectors)
        one.sectors[one.n_sectors++] = sector;
}

void settle_traffic(Block* block, unsigned warp) {
    if (launch->request->traffic) settle_warp(block->traffic[warp]);
}

static unsigned long long longest_chain(Block* block) {
    unsigned long long longest = 0;
    for (WarpTraffic& warp : block->traffic) {
        settle_warp(warp);
        longest = std::max(longest, warp.chain);
    }
    return longest;
}

void settle_block_traffic(Block* block) {
    if (!launch->request->traffic) return;
    const unsigned long long longest = longest_chain(block);
    for (WarpTraffic& warp : block->traffic) warp.chain = longest;
}

void settle_grid_traffic() {
    if (!launch->request->traffic) return;
    unsigned long long longest = 0;
    for (Block* block : launch->active) longest = std::max(longest, longest_chain(block));
    for (Block* block : launch->active)
        for (WarpTraffic& warp : block->traffic) warp.chain = 0;
    launch->request->traffic->chain += longest;
    ++launch->request->traffic->barriers;
}

void begin_traffic(Block* block) {
    if (!launch->request->traffic) return;
    block->traffic.resize(block->n_at_warp.size());
    for (WarpTraffic& warp : block->traffic) warp = {};
}

void end_traffic(Block* block) {
    if (launch->request->traffic) launch->last_chain = std::max(launch->last_chain, longest_chain(block));
}

void end_launch_traffic() {
    if (launch->request->traffic) launch->request->traffic->chain += launch->last_chain;
    asked_at.clear();
}

}  // namespace simt
