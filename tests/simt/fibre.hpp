// Fibres: stacks with a guard page, and the switch from one to another.
//
// On x86-64 a switch is a dozen instructions. Elsewhere, or with -DSIMT_UCONTEXT, it is swapcontext, which
// asks the kernel of the operating system each time and is about thirty times slower.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#if !defined(__x86_64__) && !defined(SIMT_UCONTEXT)
#define SIMT_UCONTEXT
#endif
#ifdef SIMT_UCONTEXT
#include <ucontext.h>
#endif

namespace simt {

constexpr size_t PAGE = 4096, STACK_BYTES = 64 << 10;

// A stack of STACK_BYTES above one page that cannot be touched.
struct Stack {
    char* low;
    // Tops are spread over the sets of a cache: else those of all threads would be in the same few lines of it.
    char* top() const { return low + STACK_BYTES - reinterpret_cast<uintptr_t>(low) / (STACK_BYTES + PAGE) % 16 * 256; }
    bool holds(const char* address) const { return size_t(address - low) < STACK_BYTES; }
    bool guards(const char* address) const { return address >= low - PAGE && address < low; }
};

#ifdef SIMT_UCONTEXT
struct Context { ucontext_t saved; };
inline void switch_to(Context& from, Context& to) { swapcontext(&from.saved, &to.saved); }
inline void prepare(Context& context, const Stack& stack, void (*entry)()) {
    getcontext(&context.saved);
    context.saved.uc_stack.ss_sp = stack.low;
    context.saved.uc_stack.ss_size = STACK_BYTES;
    context.saved.uc_link = nullptr;
    makecontext(&context.saved, entry, 0);
}
#else
struct Context { void* sp; };
extern "C" void simt_switch(void** save, void* load);
inline void switch_to(Context& from, Context& to) { simt_switch(&from.sp, to.sp); }
// The first switch pops six registers and returns into `entry`, with the stack as after a call.
inline void prepare(Context& context, const Stack& stack, void (*entry)()) {
    void** top = reinterpret_cast<void**>(stack.top());
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(entry);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    context.sp = top;
}
#endif

// Stacks that are free, and the memory of all of them, kept for the next launch.
class StackPool {
public:
    Stack take() {
        if (free_.empty()) grow();
        Stack stack = free_.back();
        free_.pop_back();
        return stack;
    }
    void give(Stack stack) { free_.push_back(stack); }
    // Whether an address lies in the guard page of any stack.
    bool guards(const char* address) const {
        for (char* chunk : chunks_)
            if (address >= chunk && address < chunk + CHUNK * SLOT) return size_t(address - chunk) % SLOT < PAGE;
        return false;
    }

private:
    static constexpr size_t SLOT = STACK_BYTES + PAGE, CHUNK = 64;
    void grow() {
        void* memory = mmap(nullptr, CHUNK * SLOT, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) __builtin_trap();
        char* chunk = static_cast<char*>(memory);
        chunks_.push_back(chunk);
        for (size_t i = CHUNK; i-- > 0;) {
            mprotect(chunk + i * SLOT, PAGE, PROT_NONE);
            free_.push_back({chunk + i * SLOT + PAGE});
        }
    }
    std::vector<Stack> free_;
    std::vector<char*> chunks_;
};

}  // namespace simt
