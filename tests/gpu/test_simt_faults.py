"""Kernels with a planted fault are caught by the shim, with the thread and the line; sound ones are not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from emdiam.gpu.device import Device
from tests.conftest import ROOT
from tests.simt import runner
from tests.simt.devices import open_device

PLANTED = runner.HERE / "planted.cu"
SEEDS = range(6)
IN, OUT, ONE = np.arange(128, dtype=np.uint32), np.zeros(256, np.uint32), np.zeros(1, np.uint32)


def line_of(entry: str) -> str:
    """file:line of the fault that is planted in an entry."""
    lines = PLANTED.read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if line.endswith(f"// fault of {entry}")]
    return f"planted.cu:{number}"


def call(device: Device, entry: str, *arguments: np.ndarray | np.generic, grid: int = 1, block: int = 64,
         shared: int = 0, cooperative: bool = False) -> list[np.ndarray]:
    """Launch an entry of planted.cu; the arrays as they are afterwards."""
    args = [device.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    device.launch(device.kernel(PLANTED, entry), grid, block, args, shared, cooperative)
    return [device.to_host(a) for a in args if not isinstance(a, np.generic)]


def fault(entry: str, *arguments: np.ndarray | np.generic, seed: int = 0, step_limit: int = 1 << 16,
          **more: int) -> tuple[str, str]:
    """(kind, message) of the fault that a launch ends in."""
    with pytest.raises(runner.SimtError) as caught:
        call(open_device(f"shim-{seed}", step_limit=step_limit), entry, *arguments, **more)
    return caught.value.kind, str(caught.value)


# ---- order ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("entry", "arguments"), [
    ("missing_barrier", (IN, OUT)), ("missing_second_barrier", (OUT,)), ("missing_warp_barrier", (IN, OUT)),
    ("different_flags", (OUT,)), ("plain_beside_atomic", (OUT,)),
])
def test_a_race_in_shared_memory_is_caught_whatever_the_order(entry: str, arguments: Sequence[np.ndarray],
                                                              seed: int) -> None:
    kind, message = fault(entry, *arguments, seed=seed, shared=256)
    assert kind == "race"
    assert message.count("planted.cu:") == 2


def test_the_report_of_a_race_names_threads_and_lines() -> None:
    _, message = fault("missing_barrier", IN, OUT)
    assert "thread 32 of block 0 writes at planted.cu:" in message
    assert f"what thread 31 read at {line_of('missing_barrier')}" in message


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_no_race_is_not_reported(seed: int) -> None:
    """A barrier of eight lanes that exchange, and several threads that raise one flag."""
    device = open_device(f"shim-{seed}")
    _, out = call(device, "warp_barrier", IN, OUT, shared=256)
    assert out[:64].tolist() == [i ^ 1 for i in range(64)]
    assert set(call(device, "same_flag", OUT)[0][:64].tolist()) == {1}


def results(entry: str, *arguments: np.ndarray, grid: int = 1) -> set[bytes]:
    """What a kernel gives under each seed, the distinct ones."""
    return {b"".join(array.tobytes() for array in call(open_device(f"shim-{seed}"), entry, *arguments, grid=grid))
            for seed in SEEDS}


def test_dependence_on_order_shows_as_different_results() -> None:
    assert len(results("queue_in_order_of_arrival", ONE, OUT, grid=2)) == len(SEEDS)
    assert len(results("lost_update", ONE, grid=2)) > 2
    assert len(results("missing_barrier_around_an_array", OUT)) > 2
    assert len(results("reads_rubbish", OUT)) > 2
    assert len(results("same_flag", OUT)) == 1


def test_a_seed_gives_the_same_order_again() -> None:
    first, second = (call(open_device("shim-3"), "queue_in_order_of_arrival", ONE, OUT, grid=2) for _ in range(2))
    assert first[1].tolist() == second[1].tolist()


# ---- waiting for ever ------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", SEEDS)
def test_a_barrier_in_a_branch_is_reported_with_its_line(seed: int) -> None:
    kind, message = fault("divergent_barrier", OUT, seed=seed)
    assert kind == "deadlock"
    assert f"threads 0-15 wait in __syncthreads, {line_of('divergent_barrier')}" in message
    assert "threads 16-63 have ended" in message


def test_barriers_of_two_lines_do_not_meet() -> None:
    kind, message = fault("barriers_of_two_lines", OUT)
    assert kind == "deadlock"
    assert message.count("wait in __syncthreads") == 2


def test_a_shuffle_in_a_branch_is_reported() -> None:
    kind, message = fault("divergent_shuffle", OUT)
    assert kind == "deadlock"
    where = line_of("divergent_shuffle")
    assert f"threads 1-63 by 2 wait in __shfl_sync of the lanes 0xffffffff, {where}" in message
    assert "threads 0-62 by 2 have ended" in message


def test_a_barrier_against_a_ballot_is_reported() -> None:
    kind, message = fault("barrier_against_shuffle", OUT)
    assert kind == "deadlock"
    assert "wait in __ballot_sync" in message and "wait in __syncthreads" in message


@pytest.mark.parametrize("seed", SEEDS)
def test_a_block_that_is_missing_at_the_grid_barrier_is_reported(seed: int) -> None:
    kind, message = fault("divergent_grid_barrier", ONE, OUT, seed=seed, grid=3, cooperative=True)
    assert kind == "deadlock"
    assert "1 of 3 blocks have ended" in message
    assert f"in block 2, threads 0-63 wait in grid_barrier, {line_of('divergent_grid_barrier')}" in message


def test_a_grid_barrier_needs_a_cooperative_launch_and_a_zeroed_state() -> None:
    kind, message = fault("divergent_grid_barrier", ONE, OUT, grid=3)
    assert kind == "launch" and "cooperative" in message
    kind, message = fault("divergent_grid_barrier", ONE + 1, OUT, grid=3, cooperative=True)
    assert kind == "launch" and "zeroed" in message


@pytest.mark.parametrize("seed", [0, 2])
def test_loops_without_end_are_stopped(seed: int) -> None:
    kind, message = fault("waits_for_nobody", ONE, seed=seed)
    assert kind == "step-limit" and line_of("waits_for_nobody") in message
    assert fault("endless", ONE, seed=seed)[0] == "step-limit"


# ---- outside of arrays and of the language ---------------------------------------------------------
@pytest.mark.parametrize("index", [10, 11, -1, 1000, 2**20, 2**32 - 1])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_write_outside_of_an_array_is_reported(index: int, seed: int) -> None:
    kind, message = fault("writes_at", IN[:10], np.int64(index), seed=seed)
    assert kind == "out-of-bounds"
    assert f"thread 3 of block 0 writes byte {4 * index} of argument 0 (40 bytes), at {line_of('writes_at')}" in message


def test_reads_and_atomics_outside_of_an_array_are_reported() -> None:
    assert "reads byte 40 of argument 0" in fault("reads_at", IN[:10], np.int64(10), ONE)[1]
    assert "writes byte 40 of argument 0" in fault("adds_at", IN[:10], np.int64(10))[1]
    assert fault("writes_at", IN[:10], np.int64(-(2**40)))[0] == "out-of-bounds"
    assert fault("reads_at", IN[:0], np.int64(0), ONE)[0] == "out-of-bounds"


def test_writes_outside_of_shared_arrays_are_reported() -> None:
    kind, message = fault("writes_shared_at", ONE, np.uint32(64))
    assert kind == "undefined"
    assert f"index 64 is outside an array, {line_of('writes_shared_at')}" in message
    kind, message = fault("writes_dynamic_at", ONE, np.uint32(16), shared=64)
    assert kind == "out-of-bounds"
    assert "byte 64 of the dynamic shared memory of block 0 (64 bytes)" in message


@pytest.mark.parametrize(("entry", "arguments", "text"), [
    ("misaligned", (IN, IN[:4]), "misaligned or null access"),
    ("shift_too_far", (ONE, np.uint32(32)), "shift by too many bits"),
    ("overflow", (ONE.astype(np.int32), np.int32(1)), "signed sum overflows"),
    ("foreign_mask", (OUT,), "thread 1 of block 0 is not in the mask that it gives"),
    ("reads_absent_lane", (OUT,), "reads lane 9, which is not in the mask of the shuffle"),
])
def test_undefined_behaviour_is_reported(entry: str, arguments: Sequence[np.ndarray], text: str) -> None:
    kind, message = fault(entry, *arguments)
    assert kind == "undefined"
    assert text in message and "planted.cu:" in message


def test_an_exhausted_stack_is_reported() -> None:
    assert fault("deep_recursion", ONE, np.uint32(100_000), step_limit=1 << 24)[0] == "stack"


def test_the_shim_works_on_after_a_fault() -> None:
    device = open_device("shim-2")
    for _ in range(3):
        for entry in ("divergent_barrier", "missing_second_barrier"):
            with pytest.raises(runner.SimtError):
                call(device, entry, OUT)
        assert set(call(device, "same_flag", OUT)[0][:64].tolist()) == {1}


def test_a_kernel_that_does_not_compile_is_refused_with_the_compilers_words(tmp_path: Path) -> None:
    file = tmp_path / "broken.cu"
    file.write_text('#include "simt.cuh"\nextern "C" __global__ void broken() { undeclared = 1; }\n')
    with pytest.raises(SyntaxError, match=r"broken.cu:2(.|\n)*undeclared"):
        open_device("shim-0").kernel(file, "broken")


@pytest.mark.slow
def test_fibres_by_ucontext_pass_the_same_tests(tmp_path: Path) -> None:
    """The switch for other processors than x86-64."""
    environment = {**os.environ, "EMDIAM_SIMT_FLAGS": "-DSIMT_UCONTEXT", "EMDIAM_SIMT_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "tests/gpu/test_simt.py",
         "tests/gpu/test_simt_faults.py"],
        cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
