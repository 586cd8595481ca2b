"""What the registry says of one entry of a kernel file."""

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
