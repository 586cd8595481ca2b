// The launch: which block and which thread runs next, and how they begin, give way and end.
#include "runtime.hpp"

#include <unistd.h>
#include <sys/syscall.h>

#include <algorithm>
#include <climits>
#include <ctime>

SimtThread* simt_now = nullptr;
dim3 simt_block_dim, simt_grid_dim;

#ifndef SIMT_UCONTEXT
asm(R"(
.text
.globl simt_switch
.hidden simt_switch
.type simt_switch, @function
simt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size simt_switch, . - simt_switch
)");
#endif

namespace simt {

Launch* launch = nullptr;
long countdown = LONG_MAX, countdown_interval = 0;

StackPool& stacks() {
    static StackPool pool;
    return pool;
}

uint64_t next_epoch() {
    static uint64_t epoch = 0;
    return ++epoch;
}

// Blocks are kept for the next launch: their vectors keep their memory.
static std::vector<Block*>& spare_blocks() {
    static std::vector<Block*> spare;
    return spare;
}

void make_ready(Fibre* fibre) {
    fibre->state = State::ready;
    fibre->wait = Wait::none;
    fibre->block->ready.push_back(fibre);
}

void fault(const char* kind, const std::string& text) {
    launch->failed = true;
    launch->kind = kind;
    launch->report = text;
    Context lost;
    switch_to(lost, launch->scheduler);
    __builtin_unreachable();
}

// ---- threads -------------------------------------------------------------------------------------
static void run_thread() {
    launch->request->call(launch->request->arguments);
    settle();
    self()->state = State::ended;
    ++self()->block->n_ended;
    switch_to(self()->context, launch->scheduler);
}

static Fibre* take_ready(Block* block) {
    if (!launch->shuffled()) {
        Fibre* next = block->ready[block->head++];
        if (!block->has_ready()) block->ready.clear(), block->head = 0;
        return next;
    }
    std::swap(block->ready[launch->random.below(unsigned(block->ready.size()))], block->ready.back());
    Fibre* next = block->ready.back();
    block->ready.pop_back();
    return next;
}

// The next thread of a block, if it is to go on; null if the scheduler has to look.
static Fibre* next_thread(Block* block) {
    if (!block->has_ready() || !launch->turns || launch->leave_block) return nullptr;
    --launch->turns;
    ++launch->request->switches;
    Fibre* fibre = take_ready(block);
    if (fibre->state == State::fresh) {
        fibre->stack = stacks().take();
        prepare(fibre->context, fibre->stack, run_thread);
    }
    fibre->state = State::ready;
    simt_now = fibre;
    return fibre;
}

// From thread to thread, since the way by the scheduler takes twice as long.
void wait() {
    Fibre* me = self();
    Fibre* next = next_thread(me->block);
    if (next != me) switch_to(me->context, next ? next->context : launch->scheduler);
}

// ---- blocks --------------------------------------------------------------------------------------
static Block* begin_block(unsigned index) {
    const SimtRequest& request = *launch->request;
    auto& spare = spare_blocks();
    Block* block = spare.empty() ? new Block : spare.back();
    if (!spare.empty()) spare.pop_back();
    block->index = index;
    block->n_ended = block->n_at_barrier = 0;
    block->epoch = next_epoch();
    block->head = 0;
    block->ready.clear();
    block->fibres.resize(request.block);
    block->n_at_warp.assign((request.block + LANES - 1) / LANES, 0);
    begin_traffic(block);
    block->section.assign(launch->section_bytes(), char(request.poison));
    block->dynamic = request.shared ? allocate(request.shared) : nullptr;
    if (block->dynamic) {
        memset(block->dynamic, int(request.poison), request.shared);
    } else if (request.shared) {
        launch->failed = true;
        launch->kind = "launch";
        launch->report = "no address space for " + std::to_string(request.shared) + " bytes of shared memory";
    }
    block->shadow.resize(std::max(block->shadow.size(), launch->shared_bytes()));
    for (unsigned rank = 0; rank < request.block; ++rank) {
        Fibre& fibre = block->fibres[rank];
        fibre.thread = {rank, 0, 0};
        fibre.block = block;
        fibre.SimtThread::block = {index, 0, 0};
        fibre.rank = rank;
        memset(fibre.clock, 0, sizeof fibre.clock);
        fibre.clock[fibre.lane()] = 1;
        make_ready(&fibre);
        fibre.state = State::fresh;
    }
    if (request.seed == 1) std::reverse(block->ready.begin(), block->ready.end());
    return block;
}

static void end_block(Block* block) {
    for (Fibre& fibre : block->fibres)  // after a fault: fibres that will never end
        if (fibre.state == State::ready || fibre.state == State::waiting) stacks().give(fibre.stack);
    release(block->dynamic);
    if (launch->inside == block) launch->inside = nullptr;
    spare_blocks().push_back(block);
}

static void enter(Block* block) {
    if (launch->inside == block) return;
    const size_t bytes = launch->section_bytes();
    if (launch->inside) memcpy(launch->inside->section.data(), launch->request->section, bytes);
    memcpy(launch->request->section, block->section.data(), bytes);
    launch->inside = block;
    enter_shared(block);
}

static Block* block_that_can_run() {
    auto& active = launch->active;
    const size_t first = launch->shuffled() ? launch->random.below(unsigned(active.size())) : 0;
    for (size_t i = 0; i < active.size(); ++i) {
        Block* block = active[(first + i) % active.size()];
        if (block->has_ready()) return block;
    }
    return nullptr;
}

static bool release_any_converged() {
    for (Block* block : launch->active)
        if (release_converged(block)) return true;
    return false;
}

static void run_block(Block* block) {
    enter(block);
    launch->leave_block = false;
    launch->turns = launch->shuffled() ? 1 + launch->random.below(256) : ~0ull;
    while (Fibre* fibre = next_thread(block)) {
        launch->in_fibre = true;
        switch_to(launch->scheduler, fibre->context);
        launch->in_fibre = false;
        if (launch->failed) return;
        if (self()->state == State::ended) stacks().give(self()->stack);
    }
    if (block->n_ended == block->fibres.size()) {
        ++launch->n_blocks_ended;
        auto& active = launch->active;
        active.erase(std::find(active.begin(), active.end(), block));
        end_traffic(block);
        end_block(block);
    } else if (launch->leave_block) {  // it polls: let the others run first
        auto at = std::find(launch->active.begin(), launch->active.end(), block);
        std::rotate(at, at + 1, launch->active.end());
    }
}

static void run_grid() {
    const SimtRequest& request = *launch->request;
    std::vector<unsigned> order(request.grid);
    for (unsigned i = 0; i < request.grid; ++i) order[i] = request.seed == 1 ? request.grid - 1 - i : i;
    if (launch->shuffled())
        for (unsigned i = request.grid; i > 1; --i) std::swap(order[i - 1], order[launch->random.below(i)]);
    const unsigned resident = request.cooperative ? request.grid : launch->shuffled() ? 1 + launch->random.below(4) : 1;
    for (unsigned begun = 0; begun < request.grid || !launch->active.empty();) {
        while (launch->active.size() < resident && begun < request.grid)
            launch->active.push_back(begin_block(order[begun++]));
        if (launch->failed) return;
        Block* block = block_that_can_run();
        if (block) {
            run_block(block);
        } else if (!release_any_converged()) {
            launch->failed = true;
            launch->kind = "deadlock";
            launch->report = "no thread can go on: " + who_waits();
        }
        if (launch->failed) return;
    }
}

}  // namespace simt

using namespace simt;

// ---- what kernels and their instrumentation call --------------------------------------------------
static void next_interval() {
    const uint64_t left = launch->request->step_limit - launch->request->steps;
    const uint64_t wanted = launch->shuffled() ? 1 + launch->random.below(64) : 1 << 20;
    countdown_interval = long(std::min(left, wanted));
    countdown = countdown_interval;
}

// A basic block of the kernel has run: count it, and take the thread off now and then.
void simt::tick(const void* site) {
    if (!launch || !launch->in_fibre) return;
    launch->request->steps += uint64_t(countdown_interval);
    if (launch->request->steps >= launch->request->step_limit)
        fault("step-limit", "the limit of " + std::to_string(launch->request->step_limit) +
                                " steps is reached in " + thread_name(self()) + ", " +
                                site_name(site) + "; " + who_waits());
    next_interval();
    if (launch->shuffled()) {
        settle();
        make_ready(self());
        wait();
    }
}

void simt_spin() {
    settle();
    launch->leave_block = true;
    make_ready(self());
    wait();
}

void* simt_dynamic_shared() { return self()->block->dynamic; }

long long simt_clock() { return static_cast<long long>(launch->request->steps) + countdown_interval - countdown; }

int simt_run(SimtRequest* request) {
    Launch run;
    run.request = request;
    run.random.state = request->seed * 0x9E3779B97F4A7C15ull + 0x1234567ull;
    run.thread = syscall(SYS_gettid);
    launch = &run;
    simt_block_dim = {request->block, 1, 1};
    simt_grid_dim = {request->grid, 1, 1};
    request->steps = request->switches = 0;
    next_interval();
    catch_signals();
    run_grid();
    restore_signals();
    for (Block* block : run.active) end_block(block);
    leave_shared();
    end_launch_traffic();
    request->steps += uint64_t(countdown_interval - countdown);
    countdown = LONG_MAX;
    std::strncpy(request->kind, run.kind.c_str(), sizeof request->kind - 1);
    std::strncpy(request->report, run.report.c_str(), sizeof request->report - 1);
    launch = nullptr;
    return run.failed;
}
