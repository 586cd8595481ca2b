"""Compiles kernel files for a real GPU with nvcc and reads what its assembler says of each entry."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from emdiam.gpu.source import NVCC_OPTIONS, Define, define_options, kernel_source
from tests.simt.runner import cache_folder

NVCC = os.environ.get("NVCC", "nvcc")
FLAGS = (*NVCC_OPTIONS, "-Xptxas", "-v", "-Werror", "all-warnings")
COMPILING = re.compile(r"Compiling entry function '(\w+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")

Build = tuple[str | Path, Mapping[str, Define]]


@dataclass(frozen=True)
class Usage:
    """What an entry takes of a multiprocessor: registers a thread, bytes a thread of stack and of spills."""

    registers: int
    stack: int
    spills: int


def have_nvcc() -> bool:
    """Whether the CUDA compiler is there."""
    return shutil.which(NVCC) is not None


@cache
def _version() -> str:
    return subprocess.run([NVCC, "--version"], capture_output=True, text=True, check=True).stdout


def compile_log(file: str | Path, defines: Mapping[str, Define], architecture: int = 90) -> str:
    """The assembler's log of a file built with these macros, kept by content. SyntaxError has the compiler's
    messages; warnings count."""
    source, options = kernel_source(file), (f"-arch=sm_{architecture}", *FLAGS, *define_options(defines))
    digest = sha256("\0".join((_version(), source, *options)).encode()).hexdigest()[:32]
    target = cache_folder() / f"nvcc-{digest}.log"
    if target.exists():
        return target.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        text = Path(folder) / Path(file).name
        text.write_text(source, encoding="utf-8")
        done = subprocess.run([NVCC, *options, text, "-o", Path(folder) / "out.cubin"], capture_output=True, text=True)
        if done.returncode:
            raise SyntaxError(f"{NVCC} refuses {file} {dict(defines)}:\n{done.stdout}{done.stderr}")
        log = Path(folder) / "log"
        log.write_text(done.stdout + done.stderr, encoding="utf-8")
        log.replace(target)
    return target.read_text(encoding="utf-8")


def compile_logs(builds: Iterable[Build], architecture: int = 90) -> list[str]:
    """The logs of several builds, as many at once as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda build: compile_log(*build, architecture), builds))


def read_log(log: str) -> dict[str, Usage]:
    """Entry -> what it uses. The lines of an entry follow its name; those of functions that it calls may come
    in between, so the frame counted is the largest."""
    found: dict[str, Usage] = {}
    entry, stack, spills = "", 0, 0
    for line in log.splitlines():
        if match := COMPILING.search(line):
            entry, stack, spills = match[1], 0, 0
        elif match := FRAME.search(line):
            stack, spills = max(stack, int(match[1])), max(spills, int(match[2]) + int(match[3]))
        elif match := REGISTERS.search(line):
            found[entry] = Usage(int(match[1]), stack, spills)
    return found
