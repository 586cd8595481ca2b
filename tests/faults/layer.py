"""The layer of files that fail (layer.cpp), built here, and the plans that it follows in a process that has it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).with_name("layer.cpp")
CXX = os.environ.get("CXX", "g++")
CALLS = READ, WRITE, SYNC, OPEN = range(4)
COUNT, RECORD = "count", "record"
PLAN = "EMDIAM_FAULT_PLAN"


def why_not() -> str | None:
    """Why there can be no layer here; None if there can."""
    return None if shutil.which(CXX) else f"there is no {CXX}"


def library() -> Path:
    """The layer as a library, built unless it was."""
    digest = hashlib.blake2b(SOURCE.read_bytes(), digest_size=8).hexdigest()
    built = Path(tempfile.gettempdir()) / f"emdiam-faults-{os.getuid()}" / f"layer-{digest}.so"
    if not built.exists():
        built.parent.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=built.parent) as folder:
            made = Path(folder) / "layer.so"
            subprocess.run([CXX, "-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", made, SOURCE,
                            "-ldl"], check=True)
            os.replace(made, built)
    return built


def preloaded() -> dict[str, str]:
    """Variables of the environment by which a process has the layer, and those that it starts."""
    return {"LD_PRELOAD": str(library())}


class Layer:
    """The layer of this process, which was started with `preloaded`."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self._library.fault_seen.restype = ctypes.c_long

    @contextmanager
    def plan(self, kind: str, folder: Path, at: int = 1, span: int = 0) -> Iterator[None]:
        """Inside, calls number at, ..., at + span - 1 (span 0: all from `at` on) below the folder meet the fault."""
        assert self._library.fault_plan(f"{kind} {at} {span} {folder}".encode()), kind
        try:
            yield
        finally:
            self._library.fault_plan(b"none")

    def counts(self, folder: Path) -> Counts:
        """Counts of calls below the folder."""
        return Counts(self, folder)


class Counts:
    """`by_call`, once the context has ended: how many calls of each of CALLS there were inside."""

    def __init__(self, layer: Layer, folder: Path) -> None:
        self._layer, self._plan = layer, layer.plan(COUNT, folder)
        self.by_call: list[int] = []

    def __enter__(self) -> Counts:
        self._plan.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.by_call = [self._layer._library.fault_seen(call) for call in CALLS]
        self._plan.__exit__(None, None, None)
