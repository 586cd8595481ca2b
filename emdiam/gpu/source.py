"""The text of a kernel file with all #includes of package files expanded, and precompiled kernels (cubins).

All compilers get this text: NVRTC through CuPy, nvcc in the compile test, g++ in the tests on the CPU. So a compiled
kernel can be cached by its text; a cache by file would return an old kernel after a change of a header.

A cubin is a file cubins/sm_NN/DIGEST.cubin. The digest covers the expanded text, the macros and the compiler's options.
A cubin of another text has another name, so it is not found, and NVRTC compiles at run time. scripts/make_cubins.py
makes cubins; the source tree has none. A device loads cubins of its own major version, and of no later minor version
(CUDA C++ Programming Guide, binary compatibility).
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
    """The text of a kernel file with all included files of the package, each once.

    file : a name in emdiam/gpu/kernels, or a path. Includes are searched beside the including file, then in
    emdiam/gpu/kernels; others are left to the compiler. #line directives keep compiler messages pointing at the real
    lines. Raises InputError for a missing file.
    """
    path = KERNELS / file
    if not path.is_file():
        raise InputError("this kernel file does not exist", path=path)
    return "\n".join(_lines(path, set())) + "\n"


def _lines(path: Path, seen: set[Path]) -> list[str]:
    """The lines of a file with expanded includes; skips files in `seen`."""
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
    """The file of an include of `name` in `path`, or None."""
    return next((file for file in (path.parent / name, KERNELS / name) if file.is_file()), None)


def define_options(defines: Defines) -> tuple[str, ...]:
    """Macros as options of a compiler, in the order of their names: -DNAME=VALUE."""
    return tuple(f"-D{name}={value}" for name, value in sorted(defines.items()))


FOLDER = Path(__file__).parent / "cubins"
# Compute capability times ten: A100, H100 and H200, B200.
ARCHITECTURES = (80, 90, 100)
# Options for all kernels. CuPy adds -ftz=true itself.
OPTIONS = ("-std=c++17",)
NVCC_OPTIONS = (*OPTIONS, "-ftz=true", "-cubin")


def cubin_path(folder: Path, architecture: int, source: str, options: tuple[str, ...]) -> Path:
    """The path of the cubin of this text, which may not exist. options : of its macros, in order (define_options)."""
    text = "\0".join((*NVCC_OPTIONS, *options, source))
    return folder / f"sm_{architecture}" / f"{sha256(text.encode()).hexdigest()}.cubin"


def find_cubin(capability: tuple[int, int], source: str, options: tuple[str, ...],
               folder: Path = FOLDER) -> Path | None:
    """The cubin for a device of that compute capability (major, minor), or None."""
    fitting = (architecture for architecture in ARCHITECTURES
               if architecture // 10 == capability[0] and architecture % 10 <= capability[1])
    paths = (cubin_path(folder, architecture, source, options) for architecture in fitting)
    return next((path for path in paths if path.is_file()), None)
