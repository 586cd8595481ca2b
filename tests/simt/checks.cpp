// What the compiler's instrumentation reports: steps, accesses to shared memory, undefined behaviour.
//
// Kernels are compiled with -fsanitize-coverage=trace-pc, -fsanitize=thread and parts of
// -fsanitize=undefined, without the libraries of these sanitizers: the functions that they would call are
// here. Races are looked for in shared memory alone. In global memory BFS has them on purpose.
#include "runtime.hpp"

#include <cstdio>

namespace simt {

// ---- the order of accesses -------------------------------------------------------------------------
// Two accesses by different threads are ordered by a barrier of the block between them, or, in one warp, by
// an operation of the warp that both took part in, directly or by a chain (a vector clock).
static bool ordered(const Access& before, const Fibre& now) {
    if (before.epoch < now.block->epoch || before.thread == now.rank) return true;
    return before.thread / LANES == now.warp() && now.clock[before.thread % LANES] >= before.clock;
}

void synchronised(Block* block, unsigned warp, unsigned mask) {
    if (mask == ~0u) settle_traffic(block, warp);
    if (!launch->shared_bytes()) return;
    Fibre* lanes = &block->fibres[size_t(warp) * LANES];
    uint32_t joint[LANES] = {};
    for (unsigned lane = 0; lane < LANES; ++lane)
        if (mask >> lane & 1)
            for (unsigned i = 0; i < LANES; ++i) joint[i] = joint[i] < lanes[lane].clock[i] ? lanes[lane].clock[i] : joint[i];
    for (unsigned lane = 0; lane < LANES; ++lane)
        if (mask >> lane & 1) {
            memcpy(lanes[lane].clock, joint, sizeof joint);
            ++lanes[lane].clock[lane];
        }
}

// ---- races in shared memory ------------------------------------------------------------------------
struct Region { char* low = nullptr; size_t bytes = 0, shadow = 0; };
static Region section, dynamic;

// A plain write over an unordered plain write is a race only if it changes the value (several threads may
// raise one flag). That is known once it has happened, so it is looked at before the thread's next step.
static struct { char* address = nullptr; size_t bytes = 0; char old[16]; const void* site = nullptr; Access before; } pending;

[[noreturn]] static void race(const char* verb, const void* site, const char* past, const Access& before) {
    const Fibre& me = *self();
    fault("race", "shared memory: " + thread_name(&me) + " " + verb + " at " + site_name(site) + " what thread " +
                      std::to_string(before.thread) + " " + past + " at " + site_name(before.site) +
                      ", and nothing orders the two");
}

void settle() {
    if (!pending.address) return;
    const bool changed = memcmp(pending.address, pending.old, pending.bytes) != 0;
    pending.address = nullptr;
    if (changed) race("writes", pending.site, "wrote", pending.before);
}

static void remember_reader(Shadow& shadow, const Access& mine, const Fibre& me) {
    for (Access& reader : shadow.read)
        if (ordered(reader, me)) {
            reader = mine;
            return;
        }
    // Two unordered readers are kept, of different warps if there are: no later writer is ordered after both.
    if (shadow.read[0].thread / LANES == shadow.read[1].thread / LANES) shadow.read[1] = mine;
}

// One byte. Accesses that are atomic or volatile do not race with each other.
static void check(Shadow& shadow, Touch how, char* address, size_t bytes, const void* site) {
    const Fibre& me = *self();
    const Access mine = {me.block->epoch, site, me.clock[me.lane()], me.rank};
    const char* verb = how == Touch::read ? "reads" : "writes";
    if (how != Touch::atomic && !ordered(shadow.atomic, me)) race(verb, site, "wrote or polled", shadow.atomic);
    if (!ordered(shadow.write, me)) {
        if (how != Touch::write) race(verb, site, "wrote", shadow.write);
        pending = {address, bytes, {}, site, shadow.write};
        memcpy(pending.old, address, bytes);
    }
    if (how == Touch::read) return remember_reader(shadow, mine, me);
    for (const Access& reader : shadow.read)
        if (!ordered(reader, me)) race(verb, site, "read", reader);
    (how == Touch::write ? shadow.write : shadow.atomic) = mine;
}

static void touch_shared(const Region& region, char* at, size_t bytes, Touch how, const void* site) {
    settle();
    for (size_t i = 0; i < bytes && at + i < region.low + region.bytes; ++i)
        check(self()->block->shadow[region.shadow + size_t(at + i - region.low)], how, at, bytes, site);
}

// Reports an access to the region of arrays that is not within an array. What is not there is on the stack, shared, or
// constant; or it is far from everything, and the page is missing.
static void check_bounds(char* address, size_t bytes, Touch how, const void* site) {
    const size_t offset = reinterpret_cast<size_t>(address) - region;
    if (offset >= region_bytes) return;
    const Slot& array = slots[offset / SLOT_BYTES];
    if (address < array.base || address + bytes > array.base + array.bytes)
        out_of_bounds(address, how == Touch::read ? "reads " : "writes ", site);
}

void touch(const void* address, size_t bytes, Touch how, Ask ask, const void* site) {
    char* at = static_cast<char*>(const_cast<void*>(address));
    if (size_t(at - section.low) < section.bytes) return touch_shared(section, at, bytes, how, site);
    const bool is_shared = size_t(at - dynamic.low) < dynamic.bytes;
    if (is_shared) touch_shared(dynamic, at, bytes, how, site);
    check_bounds(at, bytes, how, site);
    if (launch->request->traffic && !is_shared && reinterpret_cast<size_t>(at) - region < region_bytes)
        count_access(at, bytes, ask, site);
}

void enter_shared(Block* block) {
    const size_t bytes = launch->section_bytes();
    section = {launch->request->section, bytes, 0};
    dynamic = {block->dynamic, size_t(launch->request->shared), bytes};
}

void leave_shared() {
    section = dynamic = {};
    pending.address = nullptr;
}

// ---- atomics ---------------------------------------------------------------------------------------
template <typename T> static unsigned long long atomic(int op, void* address, unsigned long long bits, unsigned long long expected) {
    T value, old, wanted;
    memcpy(&value, &bits, sizeof(T));
    memcpy(&wanted, &expected, sizeof(T));
    T& at = *static_cast<T*>(address);
    old = at;
    if (op == SIMT_ATOMIC_ADD) at = T(old + value);
    if (op == SIMT_ATOMIC_MIN && value < old) at = value;
    if (op == SIMT_ATOMIC_MAX && old < value) at = value;
    if (op == SIMT_ATOMIC_EXCH || (op == SIMT_ATOMIC_CAS && old == wanted)) at = value;
    if constexpr (T(0.5) == T(0)) {  // integers
        if (op == SIMT_ATOMIC_AND) at = T(old & value);
        if (op == SIMT_ATOMIC_OR) at = T(old | value);
        if (op == SIMT_ATOMIC_XOR) at = T(old ^ value);
        if (op == SIMT_ATOMIC_INC) at = old >= value ? T(0) : T(old + 1);
        if (op == SIMT_ATOMIC_DEC) at = old == 0 || old > value ? value : T(old - 1);
    }
    unsigned long long result = 0;
    memcpy(&result, &old, sizeof(T));
    return result;
}

static size_t size_of(int type) {
    return type == SIMT_U16 ? 2 : type == SIMT_I32 || type == SIMT_U32 || type == SIMT_F32 ? 4 : 8;
}

}  // namespace simt

using namespace simt;

unsigned long long simt_atomic(int op, int type, void* address, unsigned long long value, unsigned long long expected) {
    const void* site = __builtin_return_address(0);
    if (reinterpret_cast<uintptr_t>(address) % size_of(type))
        fault("undefined", thread_name(self()) + " makes a misaligned atomic access at " + site_name(site));
    settle();
    touch(address, size_of(type), Touch::atomic, Ask::update, site);
    launch->site = site;
    unsigned long long result = 0;
    switch (type) {
        case SIMT_I32: result = atomic<int32_t>(op, address, value, expected); break;
        case SIMT_U32: result = atomic<uint32_t>(op, address, value, expected); break;
        case SIMT_I64: result = atomic<int64_t>(op, address, value, expected); break;
        case SIMT_U64: result = atomic<uint64_t>(op, address, value, expected); break;
        case SIMT_F32: result = atomic<float>(op, address, value, expected); break;
        case SIMT_F64: result = atomic<double>(op, address, value, expected); break;
        default: result = atomic<uint16_t>(op, address, value, expected); break;
    }
    launch->site = nullptr;
    return result;
}

extern "C" {
// ---- -fsanitize-coverage=trace-pc ------------------------------------------------------------------
void __sanitizer_cov_trace_pc() {
    if (--countdown <= 0) tick(__builtin_return_address(0));
}

// ---- -fsanitize=thread -----------------------------------------------------------------------------
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
#define ACCESS(name, bytes, how, ask) \
    void __tsan_##name##bytes(void* p) { touch(p, bytes, Touch::how, Ask::ask, __builtin_return_address(0)); }
#define ACCESSES(bytes)                                   \
    ACCESS(read, bytes, read, load)                       \
    ACCESS(write, bytes, write, store)                    \
    ACCESS(volatile_read, bytes, atomic, load)            \
    ACCESS(volatile_write, bytes, atomic, store)          \
    ACCESS(unaligned_read, bytes, read, load)             \
    ACCESS(unaligned_write, bytes, write, store)          \
    ACCESS(unaligned_volatile_read, bytes, atomic, load)  \
    ACCESS(unaligned_volatile_write, bytes, atomic, store)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
static void touch_range(char* p, unsigned long bytes, Touch how, const void* site) {
    for (unsigned long i = 0; i < bytes; ++i) touch(p + i, 1, how, how == Touch::read ? Ask::load : Ask::store, site);
}
void __tsan_read_range(void* p, unsigned long bytes) {
    touch_range(static_cast<char*>(p), bytes, Touch::read, __builtin_return_address(0));
}
void __tsan_write_range(void* p, unsigned long bytes) {
    touch_range(static_cast<char*>(p), bytes, Touch::write, __builtin_return_address(0));
}

// ---- -fsanitize=undefined --------------------------------------------------------------------------
struct UbsanPlace { const char* file; unsigned line, column; };
[[noreturn]] static void undefined(const char* what, const void* data) {
    const UbsanPlace& place = *static_cast<const UbsanPlace*>(data);
    fault("undefined", thread_name(self()) + ": " + what + ", " + place.file + ":" + std::to_string(place.line));
}
void __ubsan_handle_out_of_bounds_abort(void* data, void* index) {
    char what[80];
    std::snprintf(what, sizeof what, "index %lld is outside an array", static_cast<long long>(reinterpret_cast<intptr_t>(index)));
    undefined(what, data);
}
void __ubsan_handle_shift_out_of_bounds_abort(void* data, void*, void*) { undefined("shift by too many bits", data); }
void __ubsan_handle_divrem_overflow_abort(void* data, void*, void*) { undefined("division by zero or overflow", data); }
void __ubsan_handle_add_overflow_abort(void* data, void*, void*) { undefined("signed sum overflows", data); }
void __ubsan_handle_sub_overflow_abort(void* data, void*, void*) { undefined("signed difference overflows", data); }
void __ubsan_handle_mul_overflow_abort(void* data, void*, void*) { undefined("signed product overflows", data); }
void __ubsan_handle_negate_overflow_abort(void* data, void*) { undefined("negation overflows", data); }
void __ubsan_handle_type_mismatch_v1_abort(void* data, void*) { undefined("misaligned or null access", data); }
}
