// Device arrays with guards around them, and the signals that come when a kernel runs into one.
//
// An array lies alone between pages that cannot be touched, with 36 GiB of addresses behind it, so that
// indices such as 2^32 - 1 run into nothing else. The instrumentation (checks.cpp) sees accesses between the
// array and its guards; the guards see all others, atomics' and copies' too.
#include "runtime.hpp"

#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <map>

namespace simt {

struct Array { char *map, *base; size_t map_bytes, bytes; };
constexpr size_t BEFORE = 16 * PAGE, BEHIND = size_t(36) << 30;

// The array that was met last in each stretch of 32 GiB: arrays are further apart, so each has one of its own.
struct Recent { const char* base = nullptr; size_t bytes = 0; };
static Recent recent[64];
static Recent& recent_at(const char* address) { return recent[(reinterpret_cast<uintptr_t>(address) >> 35) % 64]; }

static std::map<const char*, Array>& arrays() {  // by the first byte of the mapping
    static std::map<const char*, Array> all;
    return all;
}

char* allocate(size_t bytes) {
    const size_t page_bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    const size_t map_bytes = BEFORE + page_bytes + BEHIND;
    void* memory = mmap(nullptr, map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    char* map = static_cast<char*>(memory);
    char* first = map + BEFORE;
    if (page_bytes && mprotect(first, page_bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, map_bytes);
        return nullptr;
    }
    // At the end of its last page, but for an alignment of 16 bytes, which kernels that load vectors need.
    char* base = first + page_bytes - (bytes + 15) / 16 * 16;
    arrays()[map] = {map, base, map_bytes, bytes};
    return base;
}

static const Array* array_around(const char* address) {
    auto next = arrays().upper_bound(address);
    if (next == arrays().begin()) return nullptr;
    const Array& array = std::prev(next)->second;
    return address < array.map + array.map_bytes ? &array : nullptr;
}

void release(char* base) {
    if (const Array* array = array_around(base)) {
        for (Recent& known : recent)
            if (known.base == base) known = {};
        char* map = array->map;
        munmap(map, array->map_bytes);
        arrays().erase(map);
    }
}

// "argument 2 (40 bytes)" if the launch was given that array, else what is known of it.
static std::string array_name(const Array& array) {
    const SimtRequest& request = *launch->request;
    unsigned number = 0;
    for (const char* code = request.signature; *code; ++number) {
        if (*code == '*') {
            const char* pointer = *static_cast<char**>(request.arguments[number]);
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
    if (const Array* array = array_around(address))
        return "byte " + std::to_string(address - array->base) + " of " + array_name(*array);
    char text[64];
    std::snprintf(text, sizeof text, "address %p, far from every array", static_cast<const void*>(address));
    return text;
}

[[noreturn]] static void out_of_bounds(const char* address, const std::string& verb, const void* site) {
    fault("out-of-bounds", thread_name(self()) + " " + verb + place_of(address) + ", at " + site_name(site));
}

// Reports an access that begins or ends outside of an array but near it. Recent arrays are kept at hand.
void check_bounds(const char* address, size_t bytes, bool write, const void* site) {
    Recent& known = recent_at(address);
    if (address >= known.base && address + bytes <= known.base + known.bytes) return;
    const Array* array = array_around(address);
    if (!array) return;  // on the stack, shared, or constant
    if (address >= array->base && address + bytes <= array->base + array->bytes) {
        known = {array->base, array->bytes};
        return;
    }
    out_of_bounds(address, write ? "writes " : "reads ", site);
}

// ---- signals ---------------------------------------------------------------------------------------
static struct sigaction old_segv, old_bus;
static stack_t old_stack;

static void on_signal(int number, siginfo_t* info, void* context) {
    if (!launch || !launch->in_fibre) {  // not a kernel: whoever was in charge before decides
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
