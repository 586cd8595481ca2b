"""Translates failures of CUDA into errors of emdiam.errors.

CuPy raises errors of a few classes, whose text starts with the name of the failure: cudaErrorIllegalAddress of the
runtime, CUDA_ERROR_ILLEGAL_ADDRESS of the driver, NVRTC_ERROR_COMPILATION of the compiler. This module distinguishes
names, not numbers, which differ between the three. CuPy loads the compiler with cuda-pathfinder, which has a separate
error for a missing one; missing headers are a plain RuntimeError. After most failures a CUDA context is unusable, so
the device is not tried again; only after a failed allocation a run is planned once more with less memory
(runs/opening.py).
Source: CUDA Runtime API, enum cudaError; CUDA Driver API, enum CUresult; NVRTC, enum nvrtcResult.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from ..errors import DeviceError, DeviceFullError, DeviceRoomError, DeviceUnfitError, EmdiamError

# Errors of a device, after which the CPU may do the run.
DEVICE_FAULTS = (DeviceError, DeviceRoomError, DeviceUnfitError)
ON_CPU = "compute on the CPU with --device cpu"
EXTRA = "install the extra emdiam[cuda], which brings CuPy, the compiler NVRTC and its headers"
# Named, so that the classes need not be imported.
_NO_COMPILER = "DynamicLibNotFoundError"
ERROR_CLASSES = frozenset(
    ("CUDARuntimeError", "CUDADriverError", "OutOfMemoryError", "NVRTCError", "CompileException", _NO_COMPILER))
_NAME = re.compile(r"\b(?:cudaError|CUDA_ERROR_|NVRTC_ERROR_)\w+")
_NO_ROOM = frozenset(("outofmemory", "memoryallocation"))
_UNFIT = frozenset((
    "nobinaryforgpu", "nokernelimagefordevice", "invalidimage", "invalidkernelimage", "invalidptx", "invalidsource",
    "unsupportedptxversion", "jitcompilernotfound", "insufficientdriver", "systemdrivermismatch",
))
# Explanations of failures, by the common part of their names.
_LOST = {
    "illegaladdress": "a kernel touched memory that is not its own",
    "misalignedaddress": "a kernel touched memory that is not its own",
    "launchfailure": "a kernel failed",
    "launchfailed": "a kernel failed",
    "launchtimeout": "a kernel ran for longer than the system allows",
    "eccuncorrectable": "its memory has an error that cannot be corrected",
    "nvlinkuncorrectable": "its link has an error that cannot be corrected",
    "devicesunavailable": "it was removed, or another process has it",
    "deviceunavailable": "it was removed, or another process has it",
    "nodevice": "it was removed",
    "invaliddevice": "it was removed",
}


def first_line(error: BaseException) -> str:
    """The message of an error in one line. For a failed import of CuPy, the message of its cause."""
    text = str(error.__cause__ or error)
    return next((line.strip() for line in text.splitlines() if any(map(str.isalnum, line))), type(error).__name__)


def is_cuda_error(error: BaseException) -> bool:
    """Whether CuPy raised the error for a failure of CUDA, its compiler or its memory."""
    return any(kind.__name__ in ERROR_CLASSES for kind in type(error).__mro__)


def _kind(error: BaseException) -> str:
    """The name of a failure without the prefixes of runtime, driver and compiler, e.g. illegaladdress."""
    match = _NAME.search(str(error))
    name = "" if match is None else match[0]
    return re.sub("^cudaError|^CUDA_ERROR_|^NVRTC_ERROR_|_", "", name).lower()


def sentence(error: BaseException, device: str, room: str = "") -> EmdiamError:
    """The error of emdiam for an error of CuPy: DeviceFullError, DeviceUnfitError if kernels cannot be compiled or
    loaded, or DeviceError if the device failed during a run.

    device : its name. room : requested and free memory in words, if known.
    """
    kind, said = _kind(error), first_line(error)
    classes = {one.__name__ for one in type(error).__mro__}
    if kind in _NO_ROOM or "OutOfMemoryError" in classes:
        return DeviceFullError(f"the device {device} has no room{f' for {room}' if room else f' ({said})'}",
                               remedy=f"use a smaller graph, or {ON_CPU}")
    if _NO_COMPILER in classes:
        return cannot_compile(error, device)
    if kind in _UNFIT or classes & {"NVRTCError", "CompileException"}:
        return DeviceUnfitError(f"the device {device} cannot run these kernels ({said})",
                                remedy=f"use a GPU and a driver that the installed CuPy supports, or {ON_CPU}")
    clause = f": {_LOST[kind]}" if kind in _LOST else ""
    return DeviceError(f"the device {device} failed in the middle{clause} ({said})", remedy=f"run again, or {ON_CPU}")


def cannot_compile(error: BaseException, device: str) -> DeviceUnfitError:
    """The error for kernels that cannot be compiled: no compiler, no headers, or no cache folder."""
    return DeviceUnfitError(f"the device {device} cannot run these kernels: compiling one failed ({first_line(error)})",
                            remedy=f"{EXTRA}, or {ON_CPU}")


@contextmanager
def at_the_end(*steps: Callable[[], object]) -> Iterator[None]:
    """`with at_the_end(close, ...):` runs every step after the block, also after errors. Raises the first error; later
    device errors become notes of it, since a lost device fails at every step."""
    first: BaseException | None = None
    try:
        yield
    except BaseException as error:
        first = error
    for step in steps:
        try:
            step()
        except DEVICE_FAULTS as error:
            if first is None:
                first = error
            else:
                first.add_note(f"after that: {error}")
    if first is not None:
        raise first


class Guard:
    """`with guard:` around calls of CuPy for a device makes it current in this thread, and translates errors of CUDA by
    `sentence`.

    enter : makes the device current. name : of the device.
    """

    def __init__(self, enter: Callable[[], object], name: str) -> None:
        self._enter, self._name = enter, name

    def __enter__(self) -> None:
        try:
            self._enter()
        except Exception as error:
            self._raise(error)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if error is not None:
            self._raise(error)

    def _raise(self, error: BaseException) -> None:
        """Raise the translation of an error of CUDA; return for other errors."""
        if is_cuda_error(error):
            raise sentence(error, self._name) from error
