// Inside the shim: threads as fibres, blocks, the launch, and what its parts call in each other.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "fibre.hpp"
#include "protocol.hpp"

namespace simt {

enum class State : uint8_t { fresh, ready, waiting, ended };
enum class Wait : uint8_t { none, warp, block, grid };
constexpr unsigned LANES = 32;

struct Block;

// One thread. simt_now points to the base of the one that runs.
struct Fibre : SimtThread {
    State state;
    Wait wait;
    int op, argument, width;
    unsigned mask, rank;
    unsigned long long value, result;
    SimtPlace place;
    Block* block;
    Stack stack;
    Context context;
    uint32_t clock[LANES];  // what it knows of the lanes of its warp (checks.cpp)
    unsigned lane() const { return rank % LANES; }
    unsigned warp() const { return rank / LANES; }
};

// Who last touched a byte of shared memory. An epoch ends with every barrier of the block.
struct Access {
    uint64_t epoch = 0;
    const void* site = nullptr;
    uint32_t clock = 0, thread = 0;
};
struct Shadow { Access write, atomic, read[2]; };

enum class Touch { read, write, atomic };  // as races see it; what is volatile is atomic
enum class Ask { load, store, update };    // as memory sees it

// The sectors of a warp's request for global memory; the requests at one place of the code since its lanes were last
// together, and how many of them each lane has made; all places, and those with requests (traffic.cpp). chain: the requests
// before these, but for stores, since the last barrier.
struct Requested {
    unsigned n_sectors;
    size_t sectors[LANES];
};
struct Place {
    Ask ask;
    std::vector<Requested> requests;
    unsigned made[LANES];
};
struct WarpTraffic {
    std::unordered_map<const void*, Place> places;
    std::vector<Place*> busy;
    unsigned long long chain;
};

struct Block {
    unsigned index, n_ended, n_at_barrier;
    uint64_t epoch;
    std::vector<Fibre> fibres;
    std::vector<Fibre*> ready;
    size_t head;                        // of `ready`, where lanes go in order
    std::vector<unsigned> n_at_warp;    // waiting lanes of each warp
    std::vector<char> section;          // its static shared variables while another block runs
    char* dynamic;                      // its dynamic shared memory, guarded
    std::vector<Shadow> shadow;         // of the section and, behind it, the dynamic part
    std::vector<WarpTraffic> traffic;   // of each warp, if it is counted
    bool has_ready() const { return head < ready.size(); }
};

// xorshift64*: small, and the same everywhere.
struct Random {
    uint64_t state;
    uint64_t operator()() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545F4914F6CDD1Dull;
    }
    unsigned below(unsigned n) { return unsigned(((*this)() >> 32) * n >> 32); }
};

struct Launch {
    SimtRequest* request;
    Random random;
    std::vector<Block*> active;
    Block* inside = nullptr;            // whose shared variables are in the section
    Context scheduler;
    unsigned n_at_grid = 0, n_blocks_ended = 0;
    unsigned long long last_chain = 0;  // of blocks that have ended, since the last barrier of the grid
    uint64_t turns = 0;                 // how often a thread of this block may still go on before another block does
    bool failed = false, leave_block = false, in_fibre = false;
    std::string kind, report;
    const void* site = nullptr;         // in the kernel, of the access that the runtime does for it
    long thread = 0;
    bool shuffled() const { return request->seed >= 2; }
    size_t section_bytes() const { return size_t(request->section_end - request->section); }
    size_t shared_bytes() const { return section_bytes() + size_t(request->shared); }
};

extern Launch* launch;
extern long countdown;               // steps until the next look by tick()
inline Fibre* self() { return static_cast<Fibre*>(simt_now); }

// runtime.cpp
void make_ready(Fibre* fibre);
void wait();                                     // the running fibre gives way
[[noreturn]] void fault(const char* kind, const std::string& text);
void tick(const void* site);                     // the interval of steps is over
StackPool& stacks();
uint64_t next_epoch();

// collective.cpp
bool release_converged(Block* block);            // __activemask, once nobody else can run

// memory.cpp
char* allocate(size_t bytes);
void release(char* array);
void catch_signals();
void restore_signals();
[[noreturn]] void out_of_bounds(const char* address, const std::string& verb, const void* site);
// The array that has, or had last, a slot of the region of addresses in which all arrays lie.
struct Slot { char* base; size_t bytes; };
constexpr size_t SLOT_BYTES = size_t(36) << 30;
extern size_t region, region_bytes;
extern Slot slots[];

// checks.cpp
void settle();                                   // see the write that was pending
void synchronised(Block* block, unsigned warp, unsigned mask);
void touch(const void* address, size_t bytes, Touch how, Ask ask, const void* site);
void enter_shared(Block* block);                 // its shared memory is what touch() watches
void leave_shared();

// traffic.cpp
void count_access(const void* address, size_t bytes, Ask ask, const void* site);
void begin_traffic(Block* block);
void settle_traffic(Block* block, unsigned warp);  // the warp was together
void settle_block_traffic(Block* block);
void settle_grid_traffic();
void end_traffic(Block* block);
void end_launch_traffic();

// report.cpp
std::string thread_name(const Fibre* fibre);
std::string site_name(const void* site);
std::string who_waits();

}  // namespace simt
