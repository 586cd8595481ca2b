// Device arrays with guards around them, and the signals that come when a kernel runs into one.
//
// All arrays lie in one region of addresses, each in a slot of 36 GiB of its own, most of which cannot be touched, so
// that indices such as 2^32 - 1 run into no other array. The instrumentation (checks.cpp) sees accesses between the
// array and its guards; the guards see all others, atomics' and copies' too.
#include "runtime.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace simt {

constexpr size_t BEFORE = 16 * PAGE, MOST_SLOTS = 2560, MOST_BYTES = size_t(3) << 30;
// Pages of small arrays stay when the array ends, for the next one of as many: system calls cost more than a launch.
constexpr size_t KEPT_PAGES = 16;

size_t region = 0, region_bytes = 0;
Slot slots[MOST_SLOTS];
static size_t n_begun = 0;                                // slots that had an array at some time are those below
static std::vector<size_t> kept[KEPT_PAGES + 1], empty;   // free ones by the pages that they have; without any

// Address space for as many slots as there is room for.
static void reserve() {
    for (size_t n = MOST_SLOTS; n && !region_bytes; n /= 2) {
        void* memory = mmap(nullptr, n * SLOT_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) continue;
        region = reinterpret_cast<size_t>(memory);
        region_bytes = n * SLOT_BYTES;
    }
}

static char* pages_of(size_t number) { return reinterpret_cast<char*>(region + number * SLOT_BYTES + BEFORE); }

static bool take_slot(std::vector<size_t>& from, size_t& number) {
    if (from.empty()) return false;
    number = from.back();
    from.pop_back();
    return true;
}

char* allocate(size_t bytes) {
    if (!region_bytes) reserve();
    const size_t n_pages = (bytes + PAGE - 1) / PAGE;
    size_t number = n_begun;
    if (bytes > MOST_BYTES) return nullptr;
    if (n_pages > KEPT_PAGES || !take_slot(kept[n_pages], number)) {
        if (!take_slot(empty, number) && n_begun++ * SLOT_BYTES >= region_bytes) return --n_begun, nullptr;
        if (n_pages && mprotect(pages_of(number), n_pages * PAGE, PROT_READ | PROT_WRITE) != 0) {
            empty.push_back(number);
            return nullptr;
        }
    }
    // At the end of its last page, but for an alignment of 16 bytes, which kernels that load vectors need.
    char* base = pages_of(number) + n_pages * PAGE - (bytes + 15) / 16 * 16;
    slots[number] = {base, bytes};
    return base;
}

static const Slot* slot_around(const char* address) {
    const size_t offset = reinterpret_cast<size_t>(address) - region;
    return offset < region_bytes ? &slots[offset / SLOT_BYTES] : nullptr;
}

void release(char* base) {
    if (!base) return;
    const size_t number = (reinterpret_cast<size_t>(base) - region) / SLOT_BYTES;
    const size_t n_pages = (slots[number].bytes + PAGE - 1) / PAGE;
    slots[number].bytes = 0;
    if (n_pages <= KEPT_PAGES) return kept[n_pages].push_back(number);
    mmap(pages_of(number), n_pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    empty.push_back(number);
}

// "argument 2 (40 bytes)" if the launch was given that array, else what is known of it.
static std::string array_name(const Slot& array) {
    const SimtRequest& request = *launch->request;
    unsigned number = 0;
    for (const char* code = request.signature; *code; ++number) {
        if (*code == '*') {
            const char* pointer = reinterpret_cast<const char*>(request.arguments[number]);
            if (pointer >= array.base && pointer <= array.base + array.bytes)
                return "argument " + std::to_string(number) + " (" + std::to_string(array.bytes) + " bytes)";
        }
        while (*code && *code != ' ') ++code;
        if (*code) ++code;
    }
    for (const Block* block : launch->active)
        if (block->dynamic == array.base)
            return "the dynamic shared memory of block " + std::to_string(block->index) + " (" +
                   std::to_string(array.bytes) + " bytes)";
    return "an array of " + std::to_string(array.bytes) + " bytes that is no argument";
}

static std::string place_of(const char* address) {
    const Slot* array = slot_around(address);
    if (array && array->base) return "byte " + std::to_string(address - array->base) + " of " + array_name(*array);
    char text[64];
    std::snprintf(text, sizeof text, "address %p, far from every array", static_cast<const void*>(address));
    return text;
}

void out_of_bounds(const char* address, const std::string& verb, const void* site) {
    fault("out-of-bounds", thread_name(self()) + " " + verb + place_of(address) + ", at " + site_name(site));
}

// ---- signals ---------------------------------------------------------------------------------------
static struct sigaction old_segv, old_bus;
static stack_t old_stack;

static void on_signal(int number, siginfo_t* info, void* context) {
    if (!launch || !launch->in_fibre || launch->thread != syscall(SYS_gettid)) {  // not a kernel: whoever was in charge before decides
        restore_signals();
        return;
    }
    const char* address = static_cast<const char*>(info->si_addr);
    const void* site = launch->site;
    std::string verb = "touches ";
#ifdef __x86_64__
    const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    if (!site) site = reinterpret_cast<const void*>(registers[REG_RIP] + 1);
    verb = registers[REG_ERR] & 2 ? "writes " : "reads ";
#endif
    (void)number;
    if (stacks().guards(address)) fault("stack", thread_name(self()) + " has used up its stack, at " + site_name(site));
    out_of_bounds(address, verb, site);
}

void catch_signals() {
    static char* memory = static_cast<char*>(malloc(1 << 16));
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = 1 << 16;
    sigaltstack(&stack, &old_stack);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &old_segv);
    sigaction(SIGBUS, &action, &old_bus);
}

void restore_signals() {
    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGBUS, &old_bus, nullptr);
    sigaltstack(&old_stack, nullptr);
}

}  // namespace simt

// For the device of the tests: an array of `bytes`, filled with `poison`, or null if there is no room.
extern "C" void* simt_allocate(unsigned long long bytes, int poison) {
    char* base = simt::allocate(bytes);
    if (base) memset(base, poison, bytes);
    return base;
}
extern "C" void simt_release(void* array) { simt::release(static_cast<char*>(array)); }
