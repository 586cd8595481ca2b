"""Kernel files as one text: every #include of a file of the package replaced by that file.

All compilers get this text: nvrtc through CuPy, nvcc in the compile test, g++ in the tests on the CPU. So a
compiled kernel can be kept by the text it was made of; a compiler that looks up headers itself would give
back an old kernel after a change of a header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
