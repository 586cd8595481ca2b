// What dynamic parallelism costs: rows handed to child kernels that the device launches, against rows that are
// written down and given to one more launch by the host, as dynamic-warps does.
// Source: papers/004, 5.2.1 (Dynamic virtual warps + dynamic parallelism).
//
// A program of its own: child kernels need relocatable code and the device's run-time library,
//     nvcc -rdc=true -arch=native -std=c++17 child_launch.cu -lcudadevrt -o child_launch
// Prints one JSON array: {rows, arcs, children_us, deferred_us, wrong} for several numbers of rows and lengths.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 THREADS = 256;
constexpr u32 MOST_CHILDREN = 1024;  // the device keeps 2,048 pending launches by default
constexpr int REPEATS = 7;

static void check(cudaError_t code) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
    std::exit(1);
}

// One row: every arc is looked at and counted.
static __device__ void visit(const u32* arcs, u64 first, u64 count, u32 start, u32 stride, u64* sum) {
    u64 mine = 0;
    for (u64 i = start; i < count; i += stride) mine += arcs[first + i];
    if (mine) atomicAdd(sum, mine);
}

__global__ void child(const u32* arcs, u64 first, u64 count, u64* sum) {
    visit(arcs, first, count, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x, sum);
}

// A thread for each row starts a child of as many blocks as the row needs.
__global__ void parent(const u32* arcs, u32 rows, u64 count, u64* sum) {
    const u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) child<<<static_cast<u32>((count + THREADS - 1) / THREADS), THREADS>>>(arcs, row * count, count, sum);
}

// The same rows written down by one launch ...
__global__ void defer(u32 rows, u32* deferred, u32* n_deferred) {
    const u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) deferred[atomicAdd(n_deferred, 1u)] = row;
}

// ... and worked off by the next, in which the whole grid takes one row after the other.
__global__ void work_off(const u32* arcs, u64 count, const u32* deferred, const u32* n_deferred, u64* sum) {
    for (u32 place = 0; place < *n_deferred; ++place)
        visit(arcs, deferred[place] * count, count, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x, sum);
}

struct Buffers {
    u32 *arcs, *deferred, *n_deferred;
    u64* sum;
    int blocks;
};

static void launch_children(const Buffers& b, u32 rows, u64 count) {
    parent<<<(rows + THREADS - 1) / THREADS, THREADS>>>(b.arcs, rows, count, b.sum);
}

static void launch_deferred(const Buffers& b, u32 rows, u64 count) {
    check(cudaMemsetAsync(b.n_deferred, 0, sizeof(u32)));
    defer<<<(rows + THREADS - 1) / THREADS, THREADS>>>(rows, b.deferred, b.n_deferred);
    work_off<<<b.blocks, THREADS>>>(b.arcs, count, b.deferred, b.n_deferred, b.sum);
}

// Median microseconds, after one call to warm up; adds to *wrong the calls that did not count all arcs.
template <typename Call> static double microseconds(const Buffers& b, u64 expected, int* wrong, Call call) {
    cudaEvent_t start, end;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    std::vector<float> found;
    for (int repeat = 0; repeat <= REPEATS; ++repeat) {
        float milliseconds = 0;
        u64 sum = 0;
        check(cudaMemset(b.sum, 0, sizeof(u64)));
        check(cudaEventRecord(start));
        call();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaGetLastError());
        check(cudaEventElapsedTime(&milliseconds, start, end));
        check(cudaMemcpy(&sum, b.sum, sizeof(u64), cudaMemcpyDeviceToHost));
        *wrong += sum != expected;
        if (repeat) found.push_back(milliseconds * 1000);
    }
    std::nth_element(found.begin(), found.begin() + REPEATS / 2, found.end());
    return found[REPEATS / 2];
}

int main() {
    const u32 rows_of[] = {1, 8, 64, 512, MOST_CHILDREN};
    const u64 arcs_of[] = {256, 4096, 65536};
    Buffers b;
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    b.blocks = sms * 8;
    const u64 most = MOST_CHILDREN * arcs_of[2];
    check(cudaMalloc(&b.arcs, most * sizeof(u32)));
    check(cudaMalloc(&b.deferred, MOST_CHILDREN * sizeof(u32)));
    check(cudaMalloc(&b.n_deferred, sizeof(u32)));
    check(cudaMalloc(&b.sum, sizeof(u64)));
    const std::vector<u32> ones(most, 1);
    check(cudaMemcpy(b.arcs, ones.data(), most * sizeof(u32), cudaMemcpyHostToDevice));
    const char* before = "[";
    for (u32 rows : rows_of)
        for (u64 arcs : arcs_of) {
            int wrong = 0;
            const double children = microseconds(b, rows * arcs, &wrong, [&] { launch_children(b, rows, arcs); });
            const double deferred = microseconds(b, rows * arcs, &wrong, [&] { launch_deferred(b, rows, arcs); });
            std::printf("%s{\"rows\": %u, \"arcs\": %llu, \"children_us\": %.2f, \"deferred_us\": %.2f, \"wrong\": %d}",
                        before, rows, arcs, children, deferred, wrong);
            before = ",\n ";
        }
    std::puts("]");
    return 0;
}
