#!/usr/bin/env python3
"""make_cubins.py [--architectures 80,90,100] [--all] [-o FOLDER]: compile kernels with nvcc into the package.

A run on a GPU of these architectures then needs no compiler. Without --all: what runs where no variant and no load
balancing is named, with ids and offsets of 32 bits; all else stays with NVRTC. Cubins of texts that are no more are
deleted. Prints how many were made, and their bytes. Needs nvcc of CUDA 13 (NVCC names another); run it from the root of
a tree.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from emdiam.gpu.graph import DeviceGraph
from emdiam.gpu.mappings import DEFERRED_ROWS, MAPPINGS
from emdiam.gpu.paged import PagedGraph
from emdiam.gpu.registry import ENTRIES, LABEL_MAPPING, VARIANTS
from emdiam.gpu.registry import USUAL as OF_PATHS
from emdiam.gpu.source import ARCHITECTURES, FOLDER, NVCC_OPTIONS, Defines, cubin_path, define_options, kernel_source

Build = tuple[str, tuple[str, ...]]


def builds(everything: bool) -> list[Build]:
    """(file, options of its macros), each once: all, or those that run where nothing is named."""
    return sorted({(entry.file, define_options(defines)) for entry in ENTRIES for defines in entry.builds
                   if everything or is_usual(entry.file, defines)})


def is_usual(file: str, defines: Defines) -> bool:
    """Whether a build runs where no variant and no load balancing is named, on a graph of fewer than 2^32 vertices
    and arcs, but for the last 2^16."""
    usual = {DEFERRED_ROWS, *(MAPPINGS[name].macro for name in (
        LABEL_MAPPING, OF_PATHS, DeviceGraph.usual_mapping, PagedGraph.usual_mapping, PagedGraph.long_mapping))}
    return (not file.startswith(VARIANTS) and "u64" not in (defines.get("VERTEX"), defines.get("INDEX"))
            and ("MAPPING" not in defines or defines["MAPPING"] in usual))


def stale(folder: Path) -> list[Path]:
    """The cubins in the folder that no build of the registry has now."""
    known = {cubin_path(folder, architecture, kernel_source(file), options) for file, options in builds(True)
             for architecture in ARCHITECTURES}
    return sorted(path for path in folder.glob("sm_*/*.cubin") if path not in known)


def make(folder: Path, architecture: int, build: Build) -> Path:
    """Compile one; nothing is done where it is there. Raises SystemExit with what nvcc says."""
    file, options = build
    source = kernel_source(file)
    target = cubin_path(folder, architecture, source, options)
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as place:
        text, made = Path(place) / Path(file).name, Path(place) / "cubin"
        text.write_text(source, encoding="utf-8")
        nvcc = os.environ.get("NVCC", "nvcc")
        command = [nvcc, *NVCC_OPTIONS, f"-arch=sm_{architecture}", *options, text, "-o", made]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"nvcc refuses {file} {' '.join(options)}:\n{done.stdout}{done.stderr}")
        made.replace(target)
    return target


def main(arguments: Sequence[str] | None = None) -> int:
    """Make them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--architectures", type=lambda text: [int(one) for one in text.split(",")],
                        default=list(ARCHITECTURES), help="compute capabilities times ten (default: 80,90,100)")
    parser.add_argument("--all", action="store_true", help="every build of every kernel")
    parser.add_argument("-o", dest="folder", type=Path, default=FOLDER, help="default: emdiam/gpu/cubins")
    given = parser.parse_args(arguments)
    jobs = [(architecture, build) for architecture in given.architectures for build in builds(given.all)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(lambda job: make(given.folder, *job), jobs))
    for old in stale(given.folder):
        old.unlink()
    print(f"{len(made)} cubins, {sum(path.stat().st_size for path in made)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
