"""Compiles kernel files with g++ against the shim, and launches their entries.

Everything compiled lies in a folder of the machine's folder for temporary files ($EMDIAM_SIMT_CACHE for
another), under the digest of what it was made of, so that only changes are compiled again.
"""

from __future__ import annotations

import ctypes
import getpass
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from emdiam.gpu.source import Define, define_options, kernel_source

HERE = Path(__file__).parent
CXX = os.environ.get("CXX", "g++")
# Its own calls need not go by the table of what others may replace.
RUNTIME_FLAGS = ("-std=c++17", "-O2", "-g1", "-fPIC", "-fno-semantic-interposition", "-shared", "-Wl,-Bsymbolic",
                 f"-I{HERE}")
# Casts between types of words are allowed, as nvcc allows them. The sanitizers' functions are in checks.cpp. Nobody
# would see a warning here: nvcc's are looked at (test_compile.py).
KERNEL_FLAGS = (
    "-std=c++17", "-Og", "-g1", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-fno-strict-aliasing",
    "-fno-exceptions", "-fno-rtti", "-fno-ipa-reference", "-ffp-contract=off", "-w",
    "-fsanitize-coverage=trace-pc", "-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0",
    "--param=tsan-distinguish-volatile=1",
    "-fsanitize=bounds,shift-exponent,integer-divide-by-zero,signed-integer-overflow,alignment",
    "-fno-sanitize-recover=all", "-DEMDIAM_SHIM", f"-I{HERE}",
)
# As kernel files write an entry; none stands under a condition, or is made by a macro of its own.
ENTRY = re.compile(
    r'^(?:ENTRY\s*\([^)]*\)|extern "C" __global__ void(?:\s+__launch_bounds__\([^)]*\))?)\s*(\w+)\s*\(', re.MULTILINE)
STUB = """
extern "C" char __start_simt_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_simt_shared[] __attribute__((weak, visibility("hidden")));
"""
ENTRY_STUB = """
static void simt_call_{0}(const unsigned long long* arguments) {{ simt_apply(&{0}, arguments); }}
extern "C" __attribute__((visibility("default"))) void simt_signature_{0}(char* to) {{ simt_describe(&{0}, to); }}
extern "C" __attribute__((visibility("default"))) int simt_launch_{0}(SimtRequest* request) {{
    request->name = "{0}";
    request->call = simt_call_{0};
    request->section = __start_simt_shared;
    request->section_end = __stop_simt_shared;
    return simt_run(request);
}}
"""
DEFAULT_STEP_LIMIT = 1 << 26
SITE = re.compile(r"\{([^{}+]+)\+(0x[0-9a-f]+)\}")
# The runtime knows one launch at a time, and its arrays. Reentrant: arrays may end while others are made.
one_at_a_time = threading.RLock()


class SimtError(RuntimeError):
    """A kernel did what no kernel may. `kind` is one of deadlock, race, out-of-bounds, undefined, stack,
    step-limit, launch; the message says which thread did it and where."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {message}")


class Traffic(ctypes.Structure):
    """SimtTraffic of protocol.hpp, zeros at first."""

    _fields_ = [(name, ctypes.c_uint64) for name in (
        "loads", "stores", "atomics", "sectors", "bytes", "chain", "busiest", "barriers")]


class Request(ctypes.Structure):
    """SimtRequest of protocol.hpp."""

    _fields_ = [
        ("grid", ctypes.c_uint), ("block", ctypes.c_uint), ("shared", ctypes.c_uint64),
        ("cooperative", ctypes.c_uint64), ("seed", ctypes.c_uint64), ("step_limit", ctypes.c_uint64),
        ("poison", ctypes.c_uint64), ("name", ctypes.c_char_p), ("call", ctypes.c_void_p),
        ("arguments", ctypes.c_char_p), ("section", ctypes.c_void_p), ("section_end", ctypes.c_void_p),
        ("signature", ctypes.c_char_p), ("traffic", ctypes.c_void_p), ("steps", ctypes.c_uint64),
        ("switches", ctypes.c_uint64), ("kind", ctypes.c_char * 32), ("report", ctypes.c_char * 8192),
    ]


class Module:
    """A kernel file as a loaded library: of each entry the types of its parameters, e.g. "*u8 u4 ", and the function
    that launches it."""

    def __init__(self, library: ctypes.CDLL, entries: Sequence[str]) -> None:
        self.signatures: dict[str, str] = {}
        self.launches = {entry: library[f"simt_launch_{entry}"] for entry in entries}
        for entry in entries:
            text = ctypes.create_string_buffer(4096)
            library[f"simt_signature_{entry}"](text)
            self.signatures[entry] = text.value.decode()


def have_compiler() -> bool:
    """Whether the C++ compiler is there."""
    return shutil.which(CXX) is not None


@cache
def cache_folder() -> Path:
    """Where compiled files are kept: a folder that only this user can write to."""
    given = os.environ.get("EMDIAM_SIMT_CACHE")
    folder = Path(given) if given else Path(tempfile.gettempdir()) / f"emdiam-simt-{getpass.getuser()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user; set EMDIAM_SIMT_CACHE")
    return folder


@cache
def _libgcc() -> str:
    """The compiler's own functions, such as that which counts bits."""
    return subprocess.run([CXX, "-print-libgcc-file-name"], capture_output=True, text=True, check=True).stdout.strip()


@cache
def _compiler_version() -> str:
    return subprocess.run([CXX, "--version"], capture_output=True, text=True, check=True).stdout


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join((_compiler_version(), *parts)).encode()).hexdigest()[:32]


def compile_once(target: Path, commands: Sequence[Sequence[str | Path]], text: str = "") -> Path:
    """Run commands of which the last writes OUTPUT, unless `target` is there already; `text` goes to the first.

    The words OUTPUT and UNIT stand for files in a folder of this call's own. What is written is moved to
    `target` whole or not at all, since other processes may be compiling the same at this moment.
    """
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        files = {"OUTPUT": f"{folder}/{target.name}", "UNIT": f"{folder}/unit.o"}
        for command in commands:
            done = subprocess.run([files.get(str(word), str(word)) for word in command], input=text,
                                  capture_output=True, text=True)
            if done.returncode:
                raise SyntaxError(f"{CXX} refuses {target.stem}:\n{done.stderr}")
        Path(files["OUTPUT"]).replace(target)
    return target


@cache
def runtime() -> ctypes.CDLL:
    """The shim's runtime, compiled if need be, its names visible to the kernels."""
    sources, headers = sorted(HERE.glob("*.cpp")), sorted(set(HERE.glob("*.hpp")) - {HERE / "shim.hpp"})
    flags = (*RUNTIME_FLAGS, *os.environ.get("EMDIAM_SIMT_FLAGS", "").split())
    digest = _digest(*flags, *(path.read_text(encoding="utf-8") for path in (*sources, *headers)))
    target = cache_folder() / f"runtime-{digest}.so"
    # All files as one, since what they include takes longer than they do.
    text = "".join(f'#include "{path.name}"\n' for path in sources)
    compile_once(target, [[CXX, *flags, "-x", "c++", "-", "-o", "OUTPUT", "-ldl"]], text)
    library = ctypes.CDLL(str(target), mode=ctypes.RTLD_GLOBAL)
    library.simt_allocate.restype = ctypes.c_void_p
    library.simt_allocate.argtypes = [ctypes.c_uint64, ctypes.c_int]
    library.simt_release.argtypes = [ctypes.c_void_p]
    return library


def load(file: str | Path, defines: Mapping[str, Define] | None = None) -> Module:
    """A kernel file, compiled with these macros if need be. SyntaxError has the compiler's messages."""
    return _load(file, define_options(defines or {}))


@cache
def _load(file: str | Path, defines: tuple[str, ...]) -> Module:
    source, options = kernel_source(file), (*KERNEL_FLAGS, *defines)
    headers = (path.read_text(encoding="utf-8") for path in (HERE / "shim.hpp", HERE / "protocol.hpp"))
    digest = _digest(source, *options, STUB, ENTRY_STUB, *headers)
    runtime()
    entries = ENTRY.findall(source)
    text = source + STUB + "".join(map(ENTRY_STUB.format, entries))
    # Linked apart, since the options of the sanitizers would link their libraries; g++ takes as long as the linker.
    target = compile_once(cache_folder() / f"{Path(file).stem}-{digest}.so", [
        [CXX, *options, "-x", "c++", "-c", "-", "-o", "UNIT"],
        ["ld", "-shared", "UNIT", _libgcc(), "-o", "OUTPUT"]], text)
    return Module(ctypes.CDLL(str(target)), entries)


@cache
def code_of(dtype: np.dtype, star: str = "") -> str:
    """A type as signatures have it, with a blank behind; star : "*" for arrays."""
    return f"{star}{dtype.kind}{dtype.itemsize} "


def check_arguments(signature: str, given: Sequence[str]) -> None:
    """Raise TypeError unless the codes of the arguments are what the signature wants."""
    if "".join(given) == signature:
        return
    wanted = signature.split()
    if len(wanted) != len(given):
        raise TypeError(f"the kernel has {len(wanted)} parameters, {len(given)} arguments are given")
    for position, (want, code) in enumerate(zip(wanted, map(str.rstrip, given), strict=True)):
        if want != code and want != f"{'*' * code.startswith('*')}v":
            raise TypeError(f"argument {position} is {code}, the kernel wants {want}")


def launch(module: Module, entry: str, request: Request) -> Request:
    """Run an entry; a request has its arguments, 8 bytes each. Raises SimtError with the shim's report."""
    request.signature = module.signatures[entry].encode()
    with one_at_a_time:
        failed = module.launches[entry](ctypes.byref(request))
    if failed:
        raise SimtError(request.kind.decode(), f"{entry}: {_name_sites(request.report.decode())}")
    return request


def _name_sites(report: str) -> str:
    """{library+offset} in a report as file:line."""
    return SITE.sub(lambda match: _site(match[1], int(match[2], 16) - 1), report)


@cache
def _site(library: str, offset: int) -> str:
    """file:line of an instruction; the innermost that is not the shim's own."""
    if shutil.which("addr2line") is None:
        return f"{Path(library).name}+{offset:#x}"
    done = subprocess.run(["addr2line", "-i", "-e", library, hex(offset)], capture_output=True, text=True)
    lines = [line.split(" ")[0] for line in done.stdout.splitlines()]
    own = [line for line in lines if "shim.hpp" not in line] or lines
    return Path(own[0]).name if own else "an unknown place"
