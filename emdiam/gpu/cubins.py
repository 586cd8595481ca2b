"""Kernels that were compiled before: cubins of some architectures, by what they were made of.

A cubin is a file cubins/sm_NN/DIGEST.cubin, where the digest is of the text of the kernel file with all that it
includes, of its macros and of the compiler's options. One that was made of another text has another name, so it is not
found, and the run compiles by NVRTC as it would without. scripts/make_cubins.py makes them; a tree has none by itself.
A device loads cubins of its own major version, and of no later minor one (CUDA C++ Programming Guide, binary
compatibility).
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

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
