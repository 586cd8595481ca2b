"""What a run is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from .result import EXACT, HYPERBALL, SAMPLE

# Sources of a sample, and the share of pairs within the effective diameter, where nothing is said.
USUAL_SAMPLE, USUAL_QUANTILE = 1024, 0.9
LEAST_REGISTERS, MOST_REGISTERS = 4, 16


@dataclass(frozen=True)
class DistanceOptions:
    """method : EXACT, SAMPLE or HYPERBALL. sample : sources, of a sample. log2_registers : of hyperball, of the
    registers of a vertex. quantile : share of the connected pairs that the effective diameter holds. seed : of the
    sample, or of the hash. out : Parquet file for centralities, None: none are counted.
    scratch : folder for what memory has no room for; None: $TMPDIR or /var/tmp. Raises InputError."""

    method: str = SAMPLE
    sample: int = USUAL_SAMPLE
    log2_registers: int = 0
    quantile: float = USUAL_QUANTILE
    seed: int = 0
    out: Path | None = None
    scratch: Path | None = None

    def __post_init__(self) -> None:
        if self.sample < 1:
            raise InputError("a sample has one source at least", text=str(self.sample))
        if not 0 < self.quantile < 1:
            raise InputError("--quantile is a share between 0 and 1", text=str(self.quantile))
        if not 0 <= self.seed < 1 << 64:
            raise InputError("a seed is from 0 to 2^64 - 1", text=str(self.seed))
        if self.method == HYPERBALL and not LEAST_REGISTERS <= self.log2_registers <= MOST_REGISTERS:
            raise InputError(f"--hyperball takes the logarithm of the registers of a vertex, {LEAST_REGISTERS} to"
                             f" {MOST_REGISTERS}", text=str(self.log2_registers))


def options_of(own: Mapping[str, Any]) -> DistanceOptions:
    """The options of those that were given by name: sample, exact, hyperball, quantile, seed, out,
    scratch. Raises InputError."""
    methods = [name for name in (SAMPLE, EXACT, HYPERBALL) if own.get(name)]
    if len(methods) > 1:
        raise InputError("one of --sample, --exact and --hyperball is enough", text=" ".join(methods))
    fields = {name: own[name] for name in ("quantile", "seed", "out", "sample", "scratch") if name in own}
    return DistanceOptions(methods[0] if methods else SAMPLE, log2_registers=own.get(HYPERBALL) or 0, **fields)
