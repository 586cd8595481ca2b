// What a compiled kernel and the runtime of the shim say to each other.
#pragma once

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct SimtThread { uint3 thread, block; };
enum SimtWarpOp : int {
    SIMT_SYNCWARP, SIMT_SHFL, SIMT_SHFL_UP, SIMT_SHFL_DOWN, SIMT_SHFL_XOR, SIMT_BALLOT, SIMT_ALL, SIMT_ANY,
    SIMT_MATCH_ANY, SIMT_ADD_ACROSS, SIMT_MIN_ACROSS, SIMT_MAX_ACROSS, SIMT_AND_ACROSS, SIMT_OR_ACROSS,
    SIMT_XOR_ACROSS, SIMT_ACTIVE
};
enum SimtBlockOp : int { SIMT_SYNC, SIMT_SYNC_COUNT, SIMT_SYNC_AND, SIMT_SYNC_OR };
enum SimtAtomicOp : int {
    SIMT_ATOMIC_ADD, SIMT_ATOMIC_MIN, SIMT_ATOMIC_MAX, SIMT_ATOMIC_AND, SIMT_ATOMIC_OR, SIMT_ATOMIC_XOR,
    SIMT_ATOMIC_EXCH, SIMT_ATOMIC_CAS, SIMT_ATOMIC_INC, SIMT_ATOMIC_DEC
};
enum SimtType : int { SIMT_I32, SIMT_U32, SIMT_I64, SIMT_U64, SIMT_F32, SIMT_F64, SIMT_U16 };
struct SimtPlace { const char* file; int line; };

extern "C" {
extern SimtThread* simt_now;
extern dim3 simt_block_dim, simt_grid_dim;
unsigned long long simt_warp(int op, unsigned mask, unsigned long long value, int argument, int width,
                             SimtPlace place);
int simt_block(int op, int predicate, SimtPlace place);
void simt_grid(const void* state, SimtPlace place);
unsigned long long simt_atomic(int op, int type, void* address, unsigned long long value,
                               unsigned long long expected);
void* simt_dynamic_shared();
void simt_spin();
long long simt_clock();
}

// What launches ask of global memory (traffic.cpp): requests of warps, the sectors of 32 bytes that these touch, the bytes
// that threads ask for, loads and atomic operations one after the other, the most atomic updates in one sector, and barriers of
// the grid.
struct SimtTraffic { unsigned long long loads, stores, atomics, sectors, bytes, chain, busiest, barriers; };

// One launch, as the runner fills it in; the kernel's module adds the middle part.
struct SimtRequest {
    unsigned grid, block;           // blocks, threads a block
    unsigned long long shared;      // bytes of dynamic shared memory a block
    unsigned long long cooperative; // 1: all blocks are resident, grid barriers work
    unsigned long long seed;        // 0: lanes ascending, 1: descending, others: random, with preemption
    unsigned long long step_limit;  // basic blocks of code, over all threads
    unsigned long long poison;      // byte that shared memory starts with
    const char* name;
    void (*call)(const unsigned long long*);
    const unsigned long long* arguments;  // a word for each, whose first bytes are the argument
    char *section, *section_end;    // static shared variables of the module
    const char* signature;
    SimtTraffic* traffic;           // raised if it is not null
    unsigned long long steps, switches;  // out: basic blocks run, fibres resumed
    char kind[32];                  // out: what went wrong in a word, empty if nothing did
    char report[8192];              // out: what went wrong, in full
};
extern "C" int simt_run(SimtRequest* request);
