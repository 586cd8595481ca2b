"""What a run is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..units import parse_count
from .result import EXACT, HYPERBALL, SAMPLE

# Sources of a sample, and the share of pairs within the effective diameter, where nothing is said.
USUAL_SAMPLE, USUAL_QUANTILE = 1024, 0.9
LEAST_REGISTERS, MOST_REGISTERS = 4, 16
NAMES = ("sample", "exact", "hyperball", "quantile", "seed", "out")


@dataclass(frozen=True)
class DistanceOptions:
    """method : EXACT, SAMPLE or HYPERBALL. sample : sources, of a sample. log2_registers : of hyperball, of the
    registers of a vertex. quantile : share of the connected pairs that the effective diameter holds. seed : of the
    sample, or of the hash. out : Parquet file for centralities, None: none are counted. Raises InputError."""

    method: str = SAMPLE
    sample: int = USUAL_SAMPLE
    log2_registers: int = 0
    quantile: float = USUAL_QUANTILE
    seed: int = 0
    out: Path | None = None

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


def options_of(given: Mapping[str, Any]) -> DistanceOptions:
    """The options by the names of the command line; None counts as not given. Raises InputError."""
    known = {name: value for name, value in given.items() if value is not None and name in NAMES}
    methods = [name for name in (SAMPLE, EXACT, HYPERBALL) if known.get(name)]
    if len(methods) > 1:
        raise InputError("one of --sample, --exact and --hyperball is enough", text=" ".join(methods))
    fields: dict[str, Any] = {name: known[name] for name in ("quantile", "seed") if name in known}
    if "out" in known:
        fields["out"] = Path(known["out"])
    method = methods[0] if methods else SAMPLE
    if known.get(SAMPLE) is not None:
        fields["sample"] = parse_count(known[SAMPLE]) if isinstance(known[SAMPLE], str) else known[SAMPLE]
    return DistanceOptions(method, log2_registers=known.get(HYPERBALL) or 0, **fields)
