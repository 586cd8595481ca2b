"""Every entry of every kernel file, with the macros it is built with and what it may use.

The compile test builds all of them for sm_90 and compares: an entry that is not listed, or listed and not
there, registers above the budget, and spills are failures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from .source import Define

IDS = ("u32", "u64")
DISTANCES = ("u8", "u16", "u32")


def variants(**choices: tuple[Define, ...]) -> tuple[Mapping[str, Define], ...]:
    """All combinations of values of macros: variants(VERTEX=("u32", "u64")) -> two sets of defines."""
    return tuple(dict(zip(choices, values, strict=True)) for values in product(*choices.values()))


@dataclass(frozen=True)
class Entry:
    """One function of a kernel file.

    file : in emdiam/gpu/kernels. entry : its name. block : threads of a block in launches, a multiple of 32
    and at most what __launch_bounds__ states. registers : most a thread may use. builds : sets of macros
    under which it is built; all entries of a file that share a set come from one compilation.
    cooperative : whether it needs a cooperative launch.
    """

    file: str
    entry: str
    block: int = 256
    registers: int = 32
    builds: tuple[Mapping[str, Define], ...] = ({},)
    cooperative: bool = False


ENTRIES: tuple[Entry, ...] = (
    Entry("bfs_levels.cu", "bfs_standard", builds=variants(VERTEX=IDS, DISTANCE=DISTANCES)),
)


def find_entry(file: str, entry: str) -> Entry:
    """The registered entry of that name. Raises KeyError if there is none."""
    for known in ENTRIES:
        if (known.file, known.entry) == (file, entry):
            return known
    raise KeyError(f"{entry} of {file} is not in the registry")
