"""What a device may fail by: one sentence each, the right class, and the CPU instead where a GPU was only welcome."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from emdiam.cli.options import chosen_device
from emdiam.errors import DeviceError, DeviceFullError, DeviceRoomError, DeviceUnfitError, InputError
from emdiam.gpu.cupy_device import CupyDevice, find_devices
from emdiam.gpu.failures import Guard, at_the_end, is_cuda_error, sentence
from emdiam.gpu.paging_model import TYPICAL
from emdiam.gpu.setting import OnDevice, Selection, select_device
from emdiam.runs.task import Task, execute, make_task
from tests.helpers.stores import engine_on, odd_graphs, write_store
from tests.simt.devices import open_device
from tests.simt.shim_device import Failures

GRAPH = odd_graphs()["grid"]  # 9 x 14
ROOM, GONE, UNFIT = "has no room", "failed in the middle", "cannot run these kernels"


# ---- sentences -----------------------------------------------------------------------------------
class CUDARuntimeError(RuntimeError):
    pass


class CUDADriverError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    pass


class NVRTCError(RuntimeError):
    pass


class CompileException(Exception):
    pass


class DynamicLibNotFoundError(RuntimeError):
    """As cuda.pathfinder has it."""


NO_NVRTC = DynamicLibNotFoundError('Failure finding "libnvrtc.so": No such file: libnvrtc.so*\n  listdir("/x"):')


@pytest.mark.parametrize(("error", "kind", "clause"), [
    (CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered"), DeviceError,
     "failed in the middle: a kernel touched memory that is not its own (cudaErrorIllegalAddress: an illegal"),
    (CUDADriverError("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal access"), DeviceError, "memory that is not its own"),
    (CUDARuntimeError("cudaErrorLaunchFailure: unspecified launch failure"), DeviceError, ": a kernel failed ("),
    (CUDADriverError("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure"), DeviceError, ": a kernel failed ("),
    (CUDADriverError("CUDA_ERROR_LAUNCH_TIMEOUT: timed out"), DeviceError, "longer than the system allows"),
    (CUDARuntimeError("cudaErrorECCUncorrectable: uncorrectable ECC error"), DeviceError, "cannot be corrected"),
    (CUDADriverError("CUDA_ERROR_ECC_UNCORRECTABLE: x"), DeviceError, "its memory has an error"),
    (CUDARuntimeError("cudaErrorDevicesUnavailable: busy or unavailable"), DeviceError, "or another process has it"),
    (CUDADriverError("CUDA_ERROR_DEVICE_UNAVAILABLE: x"), DeviceError, "it was removed, or another process has it"),
    (CUDARuntimeError("cudaErrorOfTomorrow: something new"), DeviceError, "the middle (cudaErrorOfTomorrow: something"),
    (CUDARuntimeError("cudaErrorMemoryAllocation: out of memory"), DeviceFullError, "no room (cudaErrorMemory"),
    (CUDADriverError("CUDA_ERROR_OUT_OF_MEMORY: out of memory"), DeviceFullError, "no room (CUDA_ERROR_OUT"),
    (OutOfMemoryError("Out of memory allocating 8 bytes"), DeviceFullError, "no room (Out of memory allocating 8"),
    (CUDADriverError("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image"), DeviceUnfitError, "(CUDA_ERROR_NO_BINARY"),
    (CUDARuntimeError("cudaErrorNoKernelImageForDevice: x"), DeviceUnfitError, "cannot run these kernels"),
    (CUDADriverError("CUDA_ERROR_UNSUPPORTED_PTX_VERSION: x"), DeviceUnfitError, "cannot run these kernels"),
    (CUDADriverError("CUDA_ERROR_INVALID_PTX: x"), DeviceUnfitError, "cannot run these kernels"),
    (NVRTCError("NVRTC_ERROR_INVALID_OPTION (5)"), DeviceUnfitError, "(NVRTC_ERROR_INVALID_OPTION (5))"),
    (NO_NVRTC, DeviceUnfitError, "compiling one failed (Failure finding"),
    (CompileException("\nlevels.cu(3): error: no such thing\n1 error"), DeviceUnfitError, "(levels.cu(3): error: no"),
])
def test_what_cuda_says_becomes_one_sentence(error: Exception, kind: type[Exception], clause: str) -> None:
    assert is_cuda_error(error)
    found = sentence(error, "Card 9")
    assert type(found) is kind and clause in str(found)
    assert str(found).startswith("the device Card 9 ") and str(found).endswith("compute on the CPU with --device cpu")
    assert "\n" not in str(found)
    assert getattr(found, "exit_code", None) == (1 if kind is DeviceError else 2)


def test_a_guard_changes_errors_of_cuda_alone() -> None:
    entered: list[int] = []
    guard = Guard(lambda: entered.append(1), "Card 9")
    with guard, guard:
        pass
    assert len(entered) == 2
    bug = KeyError("nothing of CUDA")
    with pytest.raises(KeyError) as kept, guard:
        raise bug
    assert kept.value is bug
    cause = CUDARuntimeError("cudaErrorLaunchFailure: x")
    with pytest.raises(DeviceError) as told, guard:
        raise cause
    assert told.value.__cause__ is cause

    def away() -> None:
        raise CUDARuntimeError("cudaErrorDevicesUnavailable: x")

    with pytest.raises(DeviceError, match="another process has it"), Guard(away, "Card 9"):
        pytest.fail("the device is not there")


def test_the_first_error_is_the_one_that_is_raised() -> None:
    done: list[int] = []

    def lost() -> None:
        done.append(1)
        raise DeviceError("the device is gone")

    with pytest.raises(KeyError) as first, at_the_end(lost, lambda: done.append(2)):
        raise KeyError("first")
    assert first.value.__notes__ == ["after that: the device is gone"] and done == [1, 2]
    with pytest.raises(DeviceError, match="is gone"), at_the_end(lost, lost):
        pass
    assert done == [1, 2, 1, 1]


# ---- CuPy ----------------------------------------------------------------------------------------
class FakeArray:
    """A device array as CuPy has it, on the host."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.dtype, self.size, self.nbytes = values, values.dtype, values.size, values.nbytes

    def __getitem__(self, part: slice) -> FakeArray:
        return FakeArray(self.values[part])

    def set(self, host: np.ndarray) -> None:
        self.values[:] = host

    def fill(self, value: int) -> None:
        self.values[:] = value


def gathered(grid: Any, block: Any, args: Any, **options: Any) -> None:
    """What column_gather does."""
    values, vertices, _, out = args
    out.values[:] = values.values[vertices.values]


def fake_module(launch: Any = gathered, function: Any = None) -> Any:
    """RawModule, whose entries do `launch`, or are found by `function`."""
    found = function or (lambda entry: SimpleNamespace(kernel=launch))
    return lambda code, options: SimpleNamespace(get_function=found)


def fake_cupy(count: int = 2, **calls: Any) -> ModuleType:
    """As much of cupy as a device asks for here, and what of it fails; `used` has the devices made current."""
    module: Any = ModuleType("cupy")
    module.__version__, module.used = "14.9", []
    # Of no architecture that there are cubins for, which a tree may have.
    facts = {"name": b"Card", "multiProcessorCount": 132, "maxThreadsPerBlock": 1024, "warpSize": 32,
             "major": 7, "minor": 0}
    module.empty = calls.get("empty", lambda n, dtype: FakeArray(np.full(n, 77, dtype)))
    module.RawModule = calls.get("module", fake_module())
    module.asnumpy = calls.get("asnumpy", lambda array: array.values)
    module.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 5, get_limit=lambda: 0)
    module.cuda = SimpleNamespace(
        Device=lambda number: SimpleNamespace(use=lambda: module.used.append(number), id=number),
        runtime=SimpleNamespace(
            getDeviceCount=calls.get("counted", lambda: count), CUDARuntimeError=CUDARuntimeError,
            memGetInfo=lambda: (10, 100), getDeviceProperties=calls.get("properties", lambda number: facts)),
        driver=SimpleNamespace(CUDADriverError=CUDADriverError),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError))
    return module


def failing(error: Exception) -> Any:
    def call(*args: Any, **options: Any) -> Any:
        raise error

    return call


def cupy_device(monkeypatch: pytest.MonkeyPatch, **calls: Any) -> CupyDevice:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(**calls))
    return CupyDevice(1)


def test_no_room_is_told_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    device = cupy_device(monkeypatch, empty=failing(OutOfMemoryError("x")))
    with pytest.raises(DeviceRoomError, match="the device Card has no room for 800 bytes, 15 are free;"):
        device.empty(100, np.uint64)


def test_a_kernel_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    said = CUDADriverError("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image")
    device = cupy_device(monkeypatch, module=lambda code, options: SimpleNamespace(get_function=failing(said)))
    with pytest.raises(DeviceUnfitError, match="Card cannot run these kernels"):
        device.kernel("variants/bfs_dal.cu", "bfs_standard")
    device = cupy_device(monkeypatch, module=failing(CompileException("unknown architecture")))
    with pytest.raises(DeviceUnfitError, match="unknown architecture"):
        device.kernel("variants/bfs_dal.cu", "bfs_standard")
    absent = CUDADriverError("CUDA_ERROR_NOT_FOUND: named symbol not found")
    device = cupy_device(monkeypatch, module=lambda code, options: SimpleNamespace(get_function=failing(absent)))
    with pytest.raises(InputError, match=r"bfs_dal\.cu: the kernel file has no entry nothing"):
        device.kernel("variants/bfs_dal.cu", "nothing")


def test_a_device_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = CUDARuntimeError("cudaErrorDevicesUnavailable: x")
    device = cupy_device(monkeypatch, asnumpy=failing(gone))
    with pytest.raises(DeviceError, match="the device Card failed in the middle"):
        device.to_host(device.empty(1, np.uint32))
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(properties=failing(gone)))
    with pytest.raises(DeviceError, match="the device gpu:0 failed"):
        select_device("gpu")
    selected = select_device("auto")
    assert selected.device is None and "another process has it" in selected.name


def wrong(grid: Any, block: Any, args: Any, **options: Any) -> None:
    args[3].values[:] = 5


HEADERS = RuntimeError("Failed to find CUDA headers. Please install CUDA toolkit headers (e.g. [ctk])")
FIRST_KERNEL = {
    "no NVRTC": ({"module": fake_module(function=failing(NO_NVRTC))}, DeviceUnfitError, "Failure finding .libnvrtc"),
    "no headers": ({"module": fake_module(function=failing(HEADERS))}, DeviceUnfitError, "Failed to find CUDA head"),
    "no folder": ({"module": fake_module(function=failing(PermissionError(13, "denied", "/x/.cupy")))},
                  DeviceUnfitError, r"compiling one failed .*denied: '/x/\.cupy'"),
    "a part": ({"module": failing(ImportError("libnvJitLink.so.13: no such file"))}, DeviceUnfitError, "libnvJitLink"),
    "refused": ({"module": fake_module(function=failing(CompileException("x.cu(3): error: no")))}, DeviceUnfitError,
                "cannot run these kernels .x.cu.3.: error: no"),
    "old driver": ({"module": fake_module(function=failing(CUDADriverError("CUDA_ERROR_UNSUPPORTED_PTX_VERSION: x")))},
                   DeviceUnfitError, "a driver that the installed CuPy supports"),
    "launch": ({"module": fake_module(failing(CUDADriverError("CUDA_ERROR_LAUNCH_FAILED: x")))}, DeviceError,
               "a kernel failed"),
    "wrong": ({"module": fake_module(wrong)}, DeviceError, "computes wrong"),
    "no room": ({"empty": failing(OutOfMemoryError("x"))}, DeviceRoomError, "no room for 1024 bytes"),
    "lost": ({"asnumpy": failing(CUDARuntimeError("cudaErrorDevicesUnavailable: x"))}, DeviceError, "another process"),
    "unknown": ({"asnumpy": failing(AttributeError("no attribute x"))}, DeviceUnfitError, "no attribute x"),
    "context": ({"properties": failing(CUDARuntimeError("cudaErrorMemoryAllocation: x"))}, DeviceRoomError, "no room"),
    "driver": ({"counted": failing(CUDARuntimeError("cudaErrorInsufficientDriver: x"))}, InputError,
               "driver is absent, or older than CuPy 14.9 needs .* install NVIDIA's driver for CUDA 13"),
    "husk": ({"counted": failing(AttributeError("module 'cupy' has no attribute 'cuda'"))}, InputError, "finds none"),
}


@pytest.mark.parametrize("case", FIRST_KERNEL)
def test_a_gpu_that_cannot_run_a_first_kernel(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], case: str,
) -> None:
    """One sentence where it is asked for; one line, and the CPU, where it is only welcome."""
    calls, kind, message = FIRST_KERNEL[case]
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(**calls))
    with pytest.raises(kind, match=message) as told:
        select_device("gpu")
    assert str(told.value).endswith("compute on the CPU with --device cpu") and "\n" not in str(told.value)
    selected = chosen_device("auto")
    assert selected.device is None and selected.note == told.value.what  # type: ignore[attr-defined]
    assert capsys.readouterr().err.splitlines() == [f"emdiam: computing on the CPU: {selected.note}"]


@pytest.mark.parametrize("code", ["raise RuntimeError('built for another numpy')", "import cupy.nothing", ""])
def test_a_package_that_is_no_cupy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    (tmp_path / "cupy.py").write_text(code + "\n")
    monkeypatch.setitem(sys.modules, "cupy", None)  # so that what is imported here is forgotten at the end
    monkeypatch.delitem(sys.modules, "cupy")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="no GPU can be used: .*(another numpy|is not a package|no attribute 'cuda')"):
        select_device("gpu")
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    assert select_device("auto").device is None


def registering(device: CupyDevice, pointer: int, register: Any = lambda *given: None) -> list[Any]:
    """What the runtime is asked for, and the pointers of views, in their order; host memory is at `pointer` there."""
    asked: list[Any] = []
    cupy: Any = device._cupy
    vars(cupy.cuda.runtime).update(
        hostRegister=register, hostUnregister=lambda at: asked.append("let go"),
        pointerGetAttributes=lambda at: SimpleNamespace(devicePointer=pointer))
    cupy.cuda.UnownedMemory = lambda at, nbytes, owner, number: asked.append((at, nbytes, number))
    cupy.cuda.MemoryPointer, cupy.ndarray = (lambda memory, offset: None), (lambda n, dtype, memptr: FakeArray(host))
    host = np.zeros(8, np.uint32)
    return asked


def test_the_device_is_asked_where_it_sees_memory_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    device, host = cupy_device(monkeypatch), np.zeros(8, np.uint32)
    asked = registering(device, 4711)
    assert device.register(host).size == 8 and asked == [(4711, 32, 1)]
    asked = registering(device, 0)
    with pytest.raises(DeviceUnfitError, match="the device Card cannot read memory of the host"):
        device.register(host)
    assert asked == ["let go"]
    registering(device, 1, failing(CUDARuntimeError("cudaErrorMemoryAllocation: out of memory")))
    with pytest.raises(DeviceRoomError, match="32 bytes of the host cannot be locked into memory"):
        device.register(host)
    registering(device, 1, failing(CUDARuntimeError("cudaErrorDevicesUnavailable: x")))
    with pytest.raises(DeviceError, match="another process has it"):
        device.register(host)


def test_each_device_is_made_current(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy: Any = fake_cupy()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    devices = find_devices("gpu:1,0")
    cupy.used.clear()
    for device in (*devices, *devices):
        device.to_host(device.empty(1, np.uint32))
    assert cupy.used == [1, 1, 0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize(("text", "message"), [
    ("gpu:0,2", "there is no GPU 2: this machine has 2"), ("gpu:1,1", "a GPU is named twice: 'gpu:1,1'"),
    ("gpu:0,", "a device is gpu or gpu:N"), ("gpu:0,,1", "a device is gpu or gpu:N"),
])
def test_several_devices_that_cannot_be(monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    with pytest.raises(InputError, match=message):
        select_device(text)


# ---- runs on a device that fails -----------------------------------------------------------------
FAILING = [
    (Failures(no_array=1), DeviceRoomError, ROOM), (Failures(no_array=5), DeviceRoomError, ROOM),
    (Failures(no_array=40), DeviceRoomError, ROOM), (Failures(gone_at=1), DeviceError, GONE),
    (Failures(gone_at=9), DeviceError, GONE), (Failures(no_kernels=True), DeviceUnfitError, UNFIT),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("graph") / "g.zarr", GRAPH)


def run_on(selected: Selection) -> Task:
    return make_task("pivots", device=selected, memory_bytes=2 << 30)


@pytest.mark.parametrize(("failures", "kind", "message"), FAILING)
def test_an_exact_run_ends_with_the_sentence(
    store: Path, failures: Failures, kind: type[Exception], message: str,
) -> None:
    with pytest.raises(kind, match=message):
        execute(store, run_on(Selection(open_device("shim-0", failures=failures))))


@pytest.mark.parametrize("place", [1, 5, 40])
def test_a_device_with_less_room_than_it_said_is_asked_again_for_less(
    store: Path, place: int, caplog: pytest.LogCaptureFixture,
) -> None:
    """Others use it too: what was planned cannot be had, a part of what is free now can."""
    device: Any = open_device("shim-0", failures=Failures(no_array=place, once=True))
    with caplog.at_level("INFO", "emdiam"):
        result = execute(store, run_on(Selection(device, or_cpu=True)))
    assert (result.diameter, result.device) == (8 + 13, device.name)
    assert "has no room for" in caplog.text and "beginning again with 896.0 MiB of its memory" in caplog.text


def test_a_device_that_does_not_fail_is_not_left(store: Path) -> None:
    result = execute(store, run_on(Selection(open_device("shim-1"), or_cpu=True)))
    assert (result.diameter, result.device) == (8 + 13, "shim, seed 1")


def test_other_errors_are_not_the_devices(store: Path) -> None:
    """What is wrong with the options is wrong on the CPU too, and is told as it is."""
    selected = Selection(open_device("shim-0"), or_cpu=True)
    with pytest.raises(InputError, match="no such variant of BFS"):
        execute(store, make_task("pivots", device=selected, memory_bytes=2 << 30, bfs="nothing"))


def test_a_second_device_that_fails(store: Path) -> None:
    for failures, kind in ((Failures(no_array=1), DeviceRoomError), (Failures(gone_at=1), DeviceError)):
        others = (open_device("shim-1", failures=failures),)
        with pytest.raises(kind), engine_on(store, device=OnDevice(open_device("shim-0"), others=others)) as engine:
            engine.eccentricities(np.arange(126))


def test_a_lost_device_does_not_hide_what_came_first(store: Path) -> None:
    device: Any = open_device("shim-0")
    with pytest.raises(ZeroDivisionError) as first, \
            engine_on(store, device=OnDevice(device, model=TYPICAL, paged=True)):
        assert device._registered
        device.lost = True
        raise ZeroDivisionError
    assert "is gone" in first.value.__notes__[0] and not device._registered


def test_pages_without_room_leave_nothing_locked(store: Path) -> None:
    for place in range(1, 9):
        device: Any = open_device("shim-0", failures=Failures(no_array=place))
        with pytest.raises(DeviceRoomError), engine_on(store, device=OnDevice(device, model=TYPICAL, paged=True)):
            pass
        assert not device._registered
