"""Traversal on a GPU: CUDA C++ kernels (kernels/*.cu), the device they run on, and their drivers.

The kernels see arrays only. Everything in Python talks to a Device (device.py), which is a GPU through CuPy
(cupy_device.py, the extra emdiam[cuda]) or, in the tests, the same kernels on the CPU.
"""
