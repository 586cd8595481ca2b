"""Kernel files as one text: every #include of a file of the package replaced by that file.

All compilers get this text: nvrtc through CuPy, nvcc in the compile test, g++ in the tests on the CPU. So a
compiled kernel can be kept by the text it was made of; a compiler that looks up headers itself would give
back an old kernel after a change of a header.

Kernels that were compiled before are cubins. One is a file cubins/sm_NN/DIGEST.cubin, where the digest is of the text
of the kernel file with all that it includes, of its macros and of the compiler's options. One that was made of
another text has another name, so it is not found, and the run compiles by NVRTC as it would without.
scripts/make_cubins.py makes them; a tree has none by itself. A device loads cubins of its own major version, and of
no later minor one (CUDA C++ Programming Guide, binary compatibility).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from ..errors import InputError

KERNELS = Path(__file__).parent / "kernels"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')

Define = str | int
Defines = Mapping[str, Define]


def kernel_source(file: str | Path) -> str:
    """The text of a kernel file with all files of the package in their places, each once.

    file : a name in emdiam/gpu/kernels, or a path. Includes are looked up beside the file that has them,
    then in emdiam/gpu/kernels; one that is in neither is left to the compiler. #line directives keep
    messages of compilers pointing at the real lines. Raises InputError for a file that is not there.
    """
    path = KERNELS / file
    if not path.is_file():
        raise InputError("this kernel file does not exist", path=path)
    return "\n".join(_lines(path, set())) + "\n"


def _lines(path: Path, seen: set[Path]) -> list[str]:
    """Lines of a file, its includes expanded; files in `seen` are there already."""
    seen.add(path.resolve())
    lines = [f'#line 1 "{path.name}"']
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        included = _included(match[1], path) if match else None
        if included is None:
            lines.append(line)
            continue
        if included.resolve() not in seen:
            lines += _lines(included, seen)
        lines.append(f'#line {number + 1} "{path.name}"')
    return lines


def _included(name: str, path: Path) -> Path | None:
    """The file that `path` means by an include of `name`, or None."""
    return next((file for file in (path.parent / name, KERNELS / name) if file.is_file()), None)


def define_options(defines: Defines) -> tuple[str, ...]:
    """Macros as options of a compiler, in the order of their names: -DNAME=VALUE."""
    return tuple(f"-D{name}={value}" for name, value in sorted(defines.items()))


FOLDER = Path(__file__).parent / "cubins"
# Compute capability times ten: A100, H100 and H200, B200.
ARCHITECTURES = (80, 90, 100)
# What is the same for all kernels. CuPy adds the second to what it compiles.
OPTIONS = ("-std=c++17",)
NVCC_OPTIONS = (*OPTIONS, "-ftz=true", "-cubin")


def cubin_path(folder: Path, architecture: int, source: str, options: tuple[str, ...]) -> Path:
    """Where the cubin of this text stands, or would stand. options : of its macros, in order (define_options)."""
    text = "\0".join((*NVCC_OPTIONS, *options, source))
    return folder / f"sm_{architecture}" / f"{sha256(text.encode()).hexdigest()}.cubin"


def find_cubin(capability: tuple[int, int], source: str, options: tuple[str, ...],
               folder: Path = FOLDER) -> Path | None:
    """The cubin for a device of that compute capability (major, minor), or None."""
    fitting = (architecture for architecture in ARCHITECTURES
               if architecture // 10 == capability[0] and architecture % 10 <= capability[1])
    paths = (cubin_path(folder, architecture, source, options) for architecture in fitting)
    return next((path for path in paths if path.is_file()), None)
