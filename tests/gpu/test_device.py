"""Devices: what host code may rely on, the sentence where there is none, and kernel files as one text."""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from emdiam.errors import BudgetError, InputError
from emdiam.gpu.cupy_device import find_device
from emdiam.gpu.device import Device, blocks_for
from emdiam.gpu.source import KERNELS, define_options, kernel_source
from tests.simt import runner
from tests.simt.devices import open_device

PRIMITIVES = runner.HERE / "primitives.cu"
NAMES = ("shim-0", "gpu")


@pytest.fixture(params=NAMES)
def device(request: pytest.FixtureRequest) -> Device:
    return open_device(request.param)


# ---- arrays --------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int64, np.float64])
def test_arrays_come_back(device: Device, dtype: type) -> None:
    host = np.arange(100).astype(dtype)
    array = device.array(host)
    assert (array.size, array.dtype, array.nbytes) == (100, host.dtype, host.nbytes)
    assert device.to_host(array).tolist() == host.tolist()
    assert device.to_host(array[10:13]).tolist() == [10, 11, 12]


def test_fill_and_copy_reach_views(device: Device) -> None:
    array = device.array(np.zeros(6, np.uint32))
    device.fill(array[1:3], 7)
    device.copy(np.array([8, 9], np.uint32), array[3:5])
    device.copy(array[2:4], array[0:2])
    assert device.to_host(array).tolist() == [7, 8, 7, 8, 9, 0]


def test_copy_converts_nothing(device: Device) -> None:
    array = device.empty(4, np.uint32)
    with pytest.raises(ValueError, match=r"uint64\[4\] to uint32\[4\]"):
        device.copy(np.zeros(4, np.uint64), array)
    with pytest.raises(ValueError, match=r"uint32\[3\] to uint32\[4\]"):
        device.copy(np.zeros(3, np.uint32), array)


def test_empty_arrays_are_arrays(device: Device) -> None:
    assert device.to_host(device.empty(0, np.uint64)).tolist() == []


def test_memory_is_accounted(device: Device) -> None:
    memory = device.memory()
    assert 0 < memory.free <= memory.total
    with pytest.raises(BudgetError, match="no room for 8796093022208 bytes"):
        device.empty(1 << 40, np.uint64)


def test_the_shim_gives_memory_back() -> None:
    device = open_device("shim-0")
    before = device.memory().free
    array = device.empty(1 << 16, np.uint32)
    view = array[5:9]
    assert device.memory().free == before - (1 << 18)
    del array
    gc.collect()
    assert device.memory().free == before - (1 << 18), "a view keeps its array"
    del view
    gc.collect()
    assert device.memory().free == before


def test_memory_of_the_shim_starts_with_rubbish() -> None:
    devices = [open_device(f"shim-{seed}") for seed in range(4)]
    assert {int(device.to_host(device.empty(1, np.uint8))[0]) for device in devices} == {0xA5, 0x5A, 0xFF, 0x01}


def test_items_of_arrays_of_the_shim_are_out_of_reach() -> None:
    array = open_device("shim-0").array(np.arange(4))
    for part in (0, slice(0, 4, 2)):
        with pytest.raises(TypeError, match="only slices"):
            array[part]


# ---- launches ------------------------------------------------------------------------------------
def test_launches_that_no_device_takes(device: Device) -> None:
    kernel = device.kernel(PRIMITIVES, "places")
    out = device.empty(8 * 32, np.uint32)
    for grid, block in ((0, 32), (1, 0), (1, 1025)):
        with pytest.raises(ValueError, match="no launch of"):
            device.launch(kernel, grid, block, (out,))
    for wrong in (3, np.zeros(3), [1], None):
        with pytest.raises(TypeError, match="kernels take device arrays and numpy scalars"):
            device.launch(kernel, 1, 32, (wrong,))


def test_the_shim_wants_arguments_of_exactly_the_kernels_types() -> None:
    device = open_device("shim-0")
    kernel = device.kernel(PRIMITIVES, "shuffles")
    words = device.array(np.zeros(128, np.uint32))
    good = [words, words, np.int32(1), np.int32(32)]
    for position, wrong, text in [
        (0, device.array(np.zeros(1, np.int32)), r"argument 0 is \*i4, the kernel wants \*u4"),
        (1, np.uint32(1), r"argument 1 is u4, the kernel wants \*u4"),
        (2, np.int64(1), "argument 2 is i8, the kernel wants i4"),
        (3, words, r"argument 3 is \*u4, the kernel wants i4"),
    ]:
        with pytest.raises(TypeError, match=text):
            device.launch(kernel, 1, 32, [*good[:position], wrong, *good[position + 1 :]])
    with pytest.raises(TypeError, match="the kernel has 4 parameters, 3 arguments are given"):
        device.launch(kernel, 1, 32, good[:3])


def test_a_cooperative_launch_must_be_resident() -> None:
    device = open_device("shim-0", n_sms=2, resident=2048)
    kernel = device.kernel(PRIMITIVES, "places")
    assert device.resident_blocks(kernel, 512) == 8
    assert device.resident_blocks(kernel, 512, shared=100 << 10) == 4
    out = device.empty(8 * 9 * 512, np.uint32)
    device.launch(kernel, 8, 512, (out,), cooperative=True)
    with pytest.raises(ValueError, match="cannot all be resident"):
        device.launch(kernel, 9, 512, (out,), cooperative=True)
    with pytest.raises(ValueError, match="more than a block can have"):
        device.launch(kernel, 1, 512, (out,), shared=(227 << 10) + 1)


def test_unknown_kernels(device: Device) -> None:
    with pytest.raises(InputError, match=r"nowhere\.cu: this kernel file does not exist"):
        device.kernel("nowhere.cu", "f")


def test_an_unknown_entry_is_named(device: Device) -> None:
    with pytest.raises(InputError, match=r"primitives\.cu: the kernel file has no entry nothing"):
        device.kernel(PRIMITIVES, "nothing")


def test_time_passes(device: Device) -> None:
    start = device.record()
    device.launch(device.kernel(PRIMITIVES, "places"), 1, 32, (device.empty(8 * 32, np.uint32),))
    end = device.record()
    device.synchronize()
    assert 0 < device.elapsed(start, end) < 60


def test_blocks_for() -> None:
    device = open_device("shim-0", n_sms=3)
    assert [blocks_for(n, 64, device) for n in (0, 1, 64, 65, 10**6)] == [1, 1, 1, 2, 24]
    assert blocks_for(10**6, 64, device, per_sm=1) == 3


# ---- finding a GPU -------------------------------------------------------------------------------
def fake_cupy(count: int | str) -> ModuleType:
    """A module cupy that finds so many GPUs, or says why it cannot."""

    class CUDARuntimeError(RuntimeError):
        pass

    def get_device_count() -> int:
        if isinstance(count, str):
            raise CUDARuntimeError(count)
        return count

    module = ModuleType("cupy")
    module.__version__ = "14.9"
    module.cuda = SimpleNamespace(runtime=SimpleNamespace(
        getDeviceCount=get_device_count, CUDARuntimeError=CUDARuntimeError))
    return module


@pytest.mark.parametrize(("module", "found"), [
    (None, "no GPU can be used: the package cupy is not installed"),
    (fake_cupy("cudaErrorNoDevice: none\nmore"), "no GPU can be used: CuPy 14.9 finds none (cudaErrorNoDevice: none)"),
    (fake_cupy(0), "no GPU can be used: CuPy 14.9 finds none"),
    (fake_cupy(2), "there is no GPU 2: this machine has 2"),
])
def test_the_sentence_without_a_gpu(monkeypatch: pytest.MonkeyPatch, module: ModuleType | None, found: str) -> None:
    monkeypatch.setitem(sys.modules, "cupy", module)
    with pytest.raises(InputError) as caught:
        find_device("gpu:2")
    remedy = "install the extra emdiam[cuda] on a machine with an NVIDIA GPU, or compute on the CPU with --device cpu"
    assert str(caught.value) == f"{found}; {remedy}"


@pytest.mark.parametrize("code", [
    "raise ImportError('libcudart.so.13: no such file')",
    "raise ImportError('====\\nFailed to import CuPy.') from OSError('libcudart.so.13: no such file')",
    "raise ImportError('====\\n  libcudart.so.13: no such file\\n====')",
])
def test_a_broken_cupy_is_not_an_absent_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    (tmp_path / "cupy.py").write_text(code + "\n")
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"the package cupy cannot be imported \(libcudart.so.13: no such file\)"):
        find_device("gpu")


@pytest.mark.parametrize("text", ["cuda", "gpu:", "gpu:x", "gpu:-1", "GPU", ""])
def test_names_of_devices(text: str) -> None:
    with pytest.raises(InputError, match="a device is gpu or gpu:N"):
        find_device(text)


# ---- kernel files as one text --------------------------------------------------------------------
def test_includes_are_replaced_once_and_lines_keep_their_names(tmp_path: Path) -> None:
    (tmp_path / "inner.cuh").write_text("int inner;\n")
    (tmp_path / "outer.cuh").write_text('#include "inner.cuh"\nint outer;\n')
    (tmp_path / "k.cu").write_text('#include "outer.cuh"\n  # include "inner.cuh"\n#include "simt.cuh"\nint k;\n')
    lines = kernel_source(tmp_path / "k.cu").splitlines()
    assert lines.count("int inner;") == lines.count("int outer;") == lines.count("typedef unsigned int u32;") == 1
    assert lines[: lines.index("int outer;") + 2] == [
        '#line 1 "k.cu"', '#line 1 "outer.cuh"', '#line 1 "inner.cuh"', "int inner;", '#line 2 "outer.cuh"',
        "int outer;", '#line 2 "k.cu"']
    assert lines[-2:] == ['#line 4 "k.cu"', "int k;"]


def test_only_the_tests_header_is_left_to_the_compiler() -> None:
    for path in KERNELS.rglob("*.cu"):
        assert set(re.findall(r"#\s*include.*", kernel_source(path))) == {'#include "shim.hpp"'}


def test_macros_are_in_order() -> None:
    assert define_options({"B": 1, "A": "u32"}) == ("-DA=u32", "-DB=1")
