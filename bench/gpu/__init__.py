"""python -m bench.gpu: checks and times every kernel on a machine with a GPU, in one command.

Parts run one after the other, each in a process of its own (parent.py), so that a kernel that breaks the
device loses one cell. Inputs are made on the machine (inputs.py). Only numpy and CuPy are imported from
outside, and CuPy only in cuda.py; parts that need an engine of the CPU (host_engine.py) import what it needs when
they run, and are skipped without it. The report (report.py) is made of the kept JSON alone.
"""
