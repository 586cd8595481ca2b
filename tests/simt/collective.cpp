// Operations that threads do together: barriers of blocks and grids, and everything of a warp.
//
// Threads meet only at one and the same call: the same operation, the same mask, the same line. CUDA lets
// __syncthreads() of different lines meet by accident, and lets threads that have ended count as arrived;
// here both end in a report, because a kernel that depends on it is wrong on some device or some day.
#include "runtime.hpp"

namespace simt {

static bool same_call(const Fibre& a, const Fibre& b) {
    return a.state == State::waiting && a.wait == b.wait && a.op == b.op && a.mask == b.mask &&
           a.place.line == b.place.line &&
           (a.place.file == b.place.file || std::strcmp(a.place.file, b.place.file) == 0);
}

static Fibre* arrive(Wait wait, int op, SimtPlace place) {
    settle();
    Fibre* me = self();
    me->state = State::waiting;
    me->wait = wait;
    me->op = op;
    me->place = place;
    return me;
}

// Ready in the order of the seed, whoever came last.
template <typename Fibres> static void make_all_ready(Fibres&& fibres, size_t n) {
    const bool down = launch->request->seed == 1;
    for (size_t i = 0; i < n; ++i) make_ready(fibres(down ? n - 1 - i : i));
}

// ---- blocks and the grid ---------------------------------------------------------------------------
static int reduce_block(const Block& block, int op) {
    size_t n = 0;
    for (const Fibre& fibre : block.fibres) n += fibre.value;
    if (op == SIMT_SYNC_COUNT) return int(n);
    if (op == SIMT_SYNC_AND) return n == block.fibres.size();
    return n > 0;
}

static void try_block(Block& block, const Fibre& me) {
    for (const Fibre& fibre : block.fibres)
        if (!same_call(fibre, me)) return;
    const int result = reduce_block(block, me.op);
    settle_block_traffic(&block);
    for (Fibre& fibre : block.fibres) fibre.result = unsigned(result);
    block.n_at_barrier = 0;
    block.epoch = next_epoch();
    make_all_ready([&](size_t i) { return &block.fibres[i]; }, block.fibres.size());
}

static void try_grid(const Fibre& me) {
    for (Block* block : launch->active)
        for (const Fibre& fibre : block->fibres)
            if (!same_call(fibre, me)) return;
    launch->n_at_grid = 0;
    settle_grid_traffic();
    for (Block* block : launch->active) {
        block->epoch = next_epoch();
        make_all_ready([&](size_t i) { return &block->fibres[i]; }, block->fibres.size());
    }
    launch->leave_block = true;
}

// ---- warps -----------------------------------------------------------------------------------------
static long long widened(unsigned long long bits, bool is_signed) {
    return is_signed ? static_cast<long long>(static_cast<int>(bits)) : static_cast<long long>(bits);
}

static unsigned long long across(const Fibre* lanes, const Fibre& me, unsigned present) {
    const bool is_signed = me.argument != 0;
    bool first = true;
    long long result = 0;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        if (!(present >> lane & 1)) continue;
        const long long value = widened(lanes[lane].value, is_signed);
        switch (me.op) {
            case SIMT_ADD_ACROSS: result += value; break;
            case SIMT_MIN_ACROSS: result = first || value < result ? value : result; break;
            case SIMT_MAX_ACROSS: result = first || value > result ? value : result; break;
            case SIMT_AND_ACROSS: result = first ? value : result & value; break;
            case SIMT_OR_ACROSS: result |= value; break;
            default: result ^= value; break;
        }
        first = false;
    }
    return static_cast<unsigned long long>(result);
}

// The lane that a shuffle reads, by the rules of the PTX instruction shfl.
static unsigned source_lane(const Fibre& me) {
    const int lane = int(me.lane()), width = me.width;
    const int first = lane / width * width;
    int from = lane;
    if (me.op == SIMT_SHFL) from = first + (me.argument & (width - 1));
    if (me.op == SIMT_SHFL_UP && lane - me.argument >= first) from = lane - me.argument;
    if (me.op == SIMT_SHFL_DOWN && lane + me.argument < first + width) from = lane + me.argument;
    if (me.op == SIMT_SHFL_XOR) {
        from = lane ^ me.argument;
        if (from >= first + width || from >= int(LANES)) from = lane;
    }
    return unsigned(from);
}

static unsigned long long shuffled_value(const Fibre* lanes, const Fibre& me, unsigned present) {
    const unsigned from = source_lane(me);
    if (present >> from & 1) return lanes[from].value;
    fault("undefined", thread_name(&me) + " reads lane " + std::to_string(from) +
                           ", which is not in the mask of the shuffle, " + me.place.file + ":" +
                           std::to_string(me.place.line));
}

static unsigned lanes_with(const Fibre* lanes, unsigned long long value, unsigned present) {
    unsigned equal = 0;
    for (unsigned left = present; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        equal |= unsigned(lanes[lane].value == value) << lane;
    }
    return equal;
}

// What all lanes get alike; those of MATCH_ANY and of shuffles get a value each.
static unsigned long long joint_result(const Fibre* lanes, const Fibre& me, unsigned present) {
    switch (me.op) {
        case SIMT_SYNCWARP: return 0;
        case SIMT_BALLOT: return present & ~lanes_with(lanes, 0, present);
        case SIMT_ALL: return lanes_with(lanes, 0, present) == 0;
        case SIMT_ANY: return lanes_with(lanes, 0, present) != present;
        case SIMT_ACTIVE: return present;
        default: return across(lanes, me, present);
    }
}

static void release_warp(Fibre* lanes, Block& block, unsigned present) {
    Fibre* group[LANES];
    size_t n = 0;
    for (unsigned lane = 0; lane < LANES; ++lane)
        if (present >> lane & 1) group[n++] = &lanes[lane];
    const int op = group[0]->op;
    const bool shuffle = op == SIMT_SHFL || op == SIMT_SHFL_UP || op == SIMT_SHFL_DOWN || op == SIMT_SHFL_XOR;
    const bool apart = shuffle || op == SIMT_MATCH_ANY;
    const unsigned long long joint = apart ? 0 : joint_result(lanes, *group[0], present);
    for (size_t i = 0; i < n; ++i)
        group[i]->result = shuffle ? shuffled_value(lanes, *group[i], present)
                           : apart ? lanes_with(lanes, group[i]->value, present) : joint;
    const unsigned warp = group[0]->warp();
    if (op != SIMT_ACTIVE) synchronised(&block, warp, present);
    block.n_at_warp[warp] -= unsigned(n);
    make_all_ready([&](size_t i) { return group[i]; }, n);
}

static unsigned lanes_of(const Block& block, unsigned warp) {
    const size_t left = block.fibres.size() - size_t(warp) * LANES;
    return left >= LANES ? 0xffffffffu : (1u << left) - 1u;
}

static void try_warp(Block& block, const Fibre& me) {
    const unsigned present = me.mask & lanes_of(block, me.warp());
    if (block.n_at_warp[me.warp()] < unsigned(__builtin_popcount(present))) return;
    Fibre* lanes = &block.fibres[me.rank - me.lane()];
    for (unsigned lane = 0; lane < LANES; ++lane)
        if (present >> lane & 1 && !same_call(lanes[lane], me)) return;
    release_warp(lanes, block, present);
}

// Lanes wait at __activemask until nobody in their block can run. Then those at one call form a group;
// under a shuffled seed some are left behind, since CUDA does not promise that lanes are together.
bool release_converged(Block* block) {
    for (Fibre& first : block->fibres) {
        if (first.state != State::waiting || first.wait != Wait::warp || first.op != SIMT_ACTIVE) continue;
        Fibre* lanes = &block->fibres[first.rank - first.lane()];
        unsigned present = 1u << first.lane();
        for (unsigned lane = 0; lane < LANES && first.rank - first.lane() + lane < block->fibres.size(); ++lane) {
            const bool stays = launch->shuffled() && launch->random.below(4) == 0;
            if (same_call(lanes[lane], first) && !stays) present |= 1u << lane;
        }
        release_warp(lanes, *block, present);
        return true;
    }
    return false;
}

}  // namespace simt

using namespace simt;

int simt_block(int op, int predicate, SimtPlace place) {
    Fibre* me = arrive(Wait::block, op, place);
    me->mask = 0;
    me->value = unsigned(predicate);
    Block& block = *me->block;
    if (++block.n_at_barrier == block.fibres.size()) try_block(block, *me);
    wait();
    return int(me->result);
}

void simt_grid(const void* state, SimtPlace place) {
    if (!launch->request->cooperative)
        fault("launch", std::string("a grid barrier needs a cooperative launch, ") + place.file + ":" +
                            std::to_string(place.line));
    if (*static_cast<const volatile unsigned*>(state) != 0)
        fault("launch", std::string("the state of the grid barrier was not zeroed, ") + place.file + ":" +
                            std::to_string(place.line));
    Fibre* me = arrive(Wait::grid, 0, place);
    me->mask = 0;
    if (++launch->n_at_grid == uint64_t(launch->request->grid) * launch->request->block) try_grid(*me);
    wait();
}

unsigned long long simt_warp(int op, unsigned mask, unsigned long long value, int argument, int width,
                             SimtPlace place) {
    Fibre* me = arrive(Wait::warp, op, place);
    me->mask = mask;
    me->value = value;
    me->argument = argument;
    me->width = width;
    if (op != SIMT_ACTIVE && !(mask >> me->lane() & 1))
        fault("undefined", thread_name(me) + " is not in the mask that it gives, " + place.file + ":" +
                               std::to_string(place.line));
    if (width < 1 || width > int(LANES) || (width & (width - 1)))
        fault("undefined", "the width of a shuffle is no power of two, " + std::string(place.file) + ":" +
                               std::to_string(place.line));
    ++me->block->n_at_warp[me->warp()];
    if (op != SIMT_ACTIVE) try_warp(*me->block, *me);
    wait();
    return me->result;
}
