"""Weights of generated edges: a function of the edge and the seed, whatever the order in which edges are listed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..formats.weights import FLOAT64, LARGEST_WHOLE, WHOLE
from ..sorting.runs import mix64

_UNIFORM = re.compile(r"uniform:([^,]+),([^,]+)")
_UNIT = 2.0**-53  # of what 53 random bits give, from 0 to 1


@dataclass(frozen=True)
class UniformWeights:
    """Weights from low to high, all equally likely: whole numbers, or floats if `kind` is "float64". Both directions of
    an edge have one weight. text : as they were asked for. key : of the hash of edges.

    Whole ones are the hash modulo their number, which is uniform but for 2^-32.
    """

    text: str
    low: float
    high: float
    kind: str
    key: np.uint64

    def of(self, src: npt.NDArray[Any], dst: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """The weights of pairs, float64[k]. src, dst : int64[k]."""
        low, high = (end(src, dst).astype(np.uint64) for end in (np.minimum, np.maximum))
        bits = mix64(mix64(low ^ self.key) ^ high)
        if self.kind == WHOLE:
            return (bits % np.uint64(self.high - self.low + 1)).astype(np.float64) + self.low
        return self.low + (self.high - self.low) * ((bits >> np.uint64(11)).astype(np.float64) * _UNIT)


def parse_weights(text: str, key: np.uint64) -> UniformWeights:
    """What "uniform:LOW,HIGH" asks for; whole numbers unless a bound has a point. Raises InputError."""
    ends = _UNIFORM.fullmatch(text.strip())
    try:
        low, high = map(float, ends.groups() if ends else ())
    except ValueError:
        raise InputError("no distribution of weights", text=text,
                         remedy="write it like uniform:1,100, or uniform:0.5,1.0 for floats") from None
    assert ends is not None
    whole = all(re.fullmatch(r"\s*\d+\s*", end) for end in ends.groups())
    if not (math.isfinite(high) and 0 <= low <= high) or (whole and high > LARGEST_WHOLE):
        raise InputError(f"weights are from 0 up, whole ones to {LARGEST_WHOLE}, the lower bound first", text=text)
    return UniformWeights(text.strip(), low, high, WHOLE if whole else FLOAT64, key)
