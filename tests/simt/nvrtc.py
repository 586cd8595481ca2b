"""Compiles kernel files as a run on a GPU does: by NVRTC, with the options that CuPy adds to those of a RawModule.

NVRTC needs no driver; it comes with the extra test-cuda. CuPy's folders of headers are left out: no kernel file has
an #include that is left to the compiler (tests/gpu/test_device.py).
Source: CuPy 14.2, cupy/cuda/compiler.py (_compile_with_cache_cuda, _compile_using_nvrtc_no_warning).
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from emdiam.gpu.failures import first_line
from emdiam.gpu.source import OPTIONS, Define, define_options, kernel_source
from tests.simt.runner import cache_folder

# Each function of a cubin has a section of its own.
SECTION = re.compile(rb"\0\.text\.(\w+)(?=\0)")
Build = tuple[str | Path, Mapping[str, Define]]


@cache
def missing() -> str:
    """What there is not of what compiling takes, as a reason to skip; "" if all is there."""
    try:
        version()
    except (ImportError, RuntimeError) as error:
        return f"NVRTC is not installed (pip install -e '.[test-cuda]'): {first_line(error)}"
    return ""


def options(defines: Mapping[str, Define], arch: int) -> tuple[str, ...]:
    """All options of one build in CuPy's order. arch : 90 for sm_90."""
    return (*OPTIONS, *define_options(defines), "-ftz=true", f"-arch=sm_{arch}", "--device-as-default-execution-space")


@cache
def _nvrtc() -> Any:
    from cuda.bindings import nvrtc

    return nvrtc


def _checked(answer: tuple[Any, ...]) -> Any:
    """What a call of NVRTC gives. RuntimeError with the name of what it says instead."""
    if answer[0] != _nvrtc().nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"{answer[0].name}")
    return answer[1] if len(answer) == 2 else answer[1:]


@cache
def version() -> tuple[int, int]:
    """Of NVRTC: (13, 0)."""
    major, minor = _checked(_nvrtc().nvrtcVersion())
    return major, minor


def compiled(file: str | Path, defines: Mapping[str, Define], arch: int = 90) -> tuple[list[str], str]:
    """The entries of a build's machine code, and the compiler's messages; kept by content. SyntaxError, with the
    messages, if it is refused."""
    source, given = kernel_source(file), options(defines, arch)
    digest = sha256("\0".join((str(version()), source, *given)).encode()).hexdigest()[:32]
    target = cache_folder() / f"nvrtc-{digest}.json"
    if not target.exists():
        found = _compile(source, Path(file).name, given)
        with tempfile.NamedTemporaryFile("w", dir=cache_folder(), delete=False) as whole:
            json.dump(found, whole)
        Path(whole.name).replace(target)
    entries, log = json.loads(target.read_text(encoding="utf-8"))
    return entries, log


def _compile(source: str, name: str, given: tuple[str, ...]) -> tuple[list[str], str]:
    nvrtc = _nvrtc()
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    try:
        words = [word.encode() for word in given]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(words), words)
        log = bytearray(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
        nvrtc.nvrtcGetProgramLog(program, log)
        said = log.rstrip(b"\0").decode()
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise SyntaxError(f"NVRTC refuses {name} {' '.join(given)}: {status.name}\n{said}")
        code = bytearray(_checked(nvrtc.nvrtcGetCUBINSize(program)))
        nvrtc.nvrtcGetCUBIN(program, code)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    names = sorted({match.decode() for match in SECTION.findall(bytes(code))})
    return [entry for entry in names if not entry.startswith("_Z")], said


def all_compiled(builds: Iterable[Build], arch: int = 90) -> list[tuple[list[str], str]]:
    """Several builds, as many at once as there are processors."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda build: compiled(*build, arch), builds))
