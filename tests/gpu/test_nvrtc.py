"""Every build compiles as a run on a GPU compiles it: by NVRTC, with CuPy's options, without a word of complaint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from emdiam.gpu.registry import ENTRIES
from emdiam.gpu.source import Define
from tests.gpu.test_compile import builds, usual_builds
from tests.simt import nvrtc

needs_nvrtc = pytest.mark.skipif(bool(nvrtc.missing()), reason=nvrtc.missing())
SOURCE = 'extern "C" __global__ void nothing(unsigned int* out) { out[0] = 2; }\n'


# How many blocks a multiprocessor is to hold is stated for sm_90; for one that holds fewer it is left out.
FEWER = re.compile(r"ptxas warning : Value of threads per SM for entry \w+ is out of range. .minnctapersm.*\s*")


def check(chosen: list[tuple[str, Mapping[str, Define]]], arch: int = 90) -> None:
    """Compile these builds; each holds the entries that the registry says, and nothing was said but FEWER on
    other GPUs."""
    wrong = {}
    for (file, defines), (entries, said) in zip(chosen, nvrtc.all_compiled(chosen, arch), strict=True):
        known = sorted(entry.entry for entry in ENTRIES if entry.file == file and defines in entry.builds)
        if arch != 90:
            said = FEWER.sub("", said)
        if entries != known or said:
            wrong[f"{file} {dict(defines)}"] = (entries, said)
    assert wrong == {}


@needs_nvrtc
def test_some_builds() -> None:
    check(builds()[::139])


@needs_nvrtc
@pytest.mark.slow
def test_every_build() -> None:
    check(builds())


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("arch", [75, 120])
def test_usual_builds_for_other_gpus(arch: int) -> None:
    """The oldest that CUDA 13 knows, and a newer one."""
    check(usual_builds(), arch)


@needs_nvrtc
def test_what_is_refused_and_what_is_said(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(SOURCE)
    assert nvrtc.compiled(file, {}) == (["nothing"], "")
    file.write_text(SOURCE.replace("{", "{ unsigned int unused = 1;"))
    entries, said = nvrtc.compiled(file, {})
    assert entries == ["nothing"] and "k.cu(1): warning" in said and "unused" in said
    file.write_text(SOURCE.replace("out[0]", "nowhere"))
    with pytest.raises(SyntaxError, match=r"NVRTC refuses k.cu -std=c\+\+17 -ftz=true -arch=sm_90(.|\n)*nowhere"):
        nvrtc.compiled(file, {})
    file.write_text("#include <stdio.h>\n" + SOURCE)
    with pytest.raises(SyntaxError, match="stdio.h"):
        nvrtc.compiled(file, {})


def test_the_options_are_those_of_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for its folders of headers. Needs CuPy, NVRTC and the headers of the runtime; no GPU."""
    pytest.importorskip("cupy")
    from cupy._core import core
    from cupy.cuda import compiler, function

    seen: list[tuple[str, ...]] = []

    class Program:
        """Notes what is compiled, instead of that."""

        def __init__(self, *given: Any, **options: Any) -> None:
            pass

        def compile(self, options: tuple[str, ...], log_stream: Any = None) -> tuple[bytes, None]:
            seen.append(options)
            return b"// nothing", None

    class Module:
        """Loads nothing."""

        def load(self, code: bytes) -> None:
            pass

        def _set_mapping(self, mapping: Any) -> None:
            pass

    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "1")
    monkeypatch.setattr(compiler, "_NVRTCProgram", Program)
    monkeypatch.setattr(function, "Module", Module)
    monkeypatch.setattr(compiler, "_get_arch_for_options_for_nvrtc", lambda arch=None: (f"-arch=sm_{arch}", "cubin"))
    defines = {"VERTEX": "u32", "WORDS": 8}
    given = (*nvrtc.OPTIONS, *nvrtc.define_options(defines))
    compiler._compile_module_with_cache(SOURCE, core.assemble_cupy_compiler_options(given), arch="90")
    assert tuple(word for word in seen[-1] if not word.startswith("-I")) == nvrtc.options(defines, 90)
