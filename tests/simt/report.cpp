// Text for people: which thread, where in the source, and who waits for whom.
#include "runtime.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <map>

namespace simt {

std::string thread_name(const Fibre* fibre) {
    return "thread " + std::to_string(fibre->rank) + " of block " + std::to_string(fibre->block->index);
}

// The address as {library+offset}, which the runner turns into file:line.
std::string site_name(const void* site) {
    Dl_info info;
    if (!site || !dladdr(site, &info) || !info.dli_fname) return "an unknown place";
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%lx}",
                  static_cast<unsigned long>(static_cast<const char*>(site) - static_cast<const char*>(info.dli_fbase)));
    return std::string("{") + info.dli_fname + offset;
}

// Ascending numbers as ranges: 0-15, 17, 20-30 by 2.
static std::string ranges(const std::vector<unsigned>& numbers) {
    std::string text;
    for (size_t i = 0; i < numbers.size();) {
        size_t last = i;
        const unsigned step = i + 1 < numbers.size() ? numbers[i + 1] - numbers[i] : 1;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + step) ++last;
        if (step > 1 && last < i + 2) last = i;
        text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
        if (last > i) text += "-" + std::to_string(numbers[last]);
        if (last > i && step > 1) text += " by " + std::to_string(step);
        i = last + 1;
    }
    return text;
}

static std::string call_name(const Fibre& fibre) {
    static const char* const warp_calls[] = {
        "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync",
        "__all_sync", "__any_sync", "__match_any_sync", "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
        "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync", "__activemask"};
    static const char* const block_calls[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                              "__syncthreads_or"};
    if (fibre.wait == Wait::grid) return "grid_barrier";
    if (fibre.wait == Wait::block) return block_calls[fibre.op];
    char mask[32];
    std::snprintf(mask, sizeof mask, " of the lanes %#x", fibre.mask);
    return std::string(warp_calls[fibre.op]) + (fibre.op == SIMT_ACTIVE ? "" : mask);
}

static std::string state_of(const Fibre& fibre) {
    if (fibre.state == State::ended) return "have ended";
    if (fibre.state != State::waiting) return "can run";
    return "wait in " + call_name(fibre) + ", " + fibre.place.file + ":" + std::to_string(fibre.place.line);
}

std::string who_waits() {
    std::string text;
    if (launch->n_blocks_ended) text = std::to_string(launch->n_blocks_ended) + " of " + std::to_string(launch->request->grid) + " blocks have ended";
    size_t shown = 0;
    for (const Block* block : launch->active) {
        if (++shown > 4) return text + "; and " + std::to_string(launch->active.size() - 4) + " more blocks";
        std::map<std::string, std::vector<unsigned>> groups;
        for (const Fibre& fibre : block->fibres) groups[state_of(fibre)].push_back(fibre.rank);
        text += (text.empty() ? "in block " : "; in block ") + std::to_string(block->index);
        for (const auto& [state, threads] : groups) text += ", threads " + ranges(threads) + " " + state;
    }
    return text;
}

}  // namespace simt
