"""CUDA C++ kernels on a CPU: every thread a fibre, every order of threads a seed, every fault a report."""
