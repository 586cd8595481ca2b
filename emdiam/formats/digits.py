"""Weights in text whose decimals float64 has not: they are read as whole numbers of 10^-k, or are rounded and counted.

Up to 15 digits a decimal is that of the float64 next to it (decimals.py), so that weights are float64 as long as no
other one is met. The first that is another decimal ends the reading, which begins again with whole numbers of 10^-k
(int64) in place of floats, k being the most places so far. Where weights have no such numbers together, as of more than
MOST_PLACES places, reading begins again with floats, and those that are rounded are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt

from ..decimals import MOST_PLACES, in_units
from .source import EdgeBatch

SHORT = 15
"""Digits of a decimal that every float64 keeps."""
# Sums of two fit int64, as of the weights of a store.
_MOST_UNITS = 1 << 61


class ReadAgainError(Exception):
    """Weights have other digits than they are read with; `digits` says now with which, and reading has to begin
    again."""

    def __init__(self, digits: Digits) -> None:
        super().__init__("weights have more digits than float64 keeps")
        self.digits = digits


@dataclass
class Digits:
    """How the weights of one conversion are read; its readers share it.

    places : k, where they are whole numbers of 10^-k; None: they are float64. rounds : whether decimals that float64
    has not become the nearest one that it has. rounded : how many did.
    """

    places: int | None = None
    rounds: bool = False
    rounded: int = 0

    def reset(self) -> None:
        """As before a conversion."""
        self.places, self.rounds, self.rounded = None, False, 0

    def taken(self, floats: npt.NDArray[np.float64], at: Any, texts: Iterable[str]) -> npt.NDArray[Any]:
        """The weights as they are read: float64[k] or int64[k].

        floats : the nearest ones, finite. at, texts : places and texts of those that may be other decimals. Raises
        ReadAgainError.
        """
        if self.places is None:
            if len(at):
                self._met(floats[at].tolist(), texts)
            return floats
        if len(at):
            floats = floats.copy()
            floats[at] = 0
        units = self.in_units(floats)
        for place, text in zip(at, texts, strict=True):
            units[place] = self._units(_decimal(text))
        return units

    def in_units(self, floats: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Floats by their decimals, as whole numbers of 10^-places. Raises ReadAgainError where they are none."""
        from ..decimal_kernels import most_places, whole_numbers

        assert self.places is not None
        places = int(most_places(floats, self.places))
        if places < 0 or np.abs(floats).max(initial=0) >= float(_MOST_UNITS // 10**places):
            raise self.to_floats()
        self._refine(places)
        units = np.empty(len(floats), np.int64)
        whole_numbers(floats, places, units)
        return units

    def rounding(self, floats: npt.NDArray[np.float64], texts: Sequence[bytes]) -> None:
        """Count those of the floats that are other decimals than their texts, where a format keeps no others. Raises
        ReadAgainError where whole numbers of 10^-places came before."""
        long = [place for place, text in enumerate(texts) if len(text) > SHORT]
        if long and self.places is not None:
            raise self.to_floats()
        rounds, self.rounds = self.rounds, True
        if long:
            self._met(floats[long].tolist(), [texts[place].decode() for place in long])
        self.rounds = rounds or self.rounded > 0

    def to_floats(self) -> ReadAgainError:
        """Weights are no whole numbers of 10^-k together, so that they are to be read as floats."""
        self.places, self.rounds = None, True
        return ReadAgainError(self)

    def batches(self, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
        """The batches of a source that is read from its begin; floats among whole numbers as whole numbers too. Raises
        ReadAgainError."""
        self.rounded = 0
        try:
            for batch in batches:
                weights = batch.weights
                if self.places is not None and weights is not None and weights.dtype.kind == "f":
                    batch = replace(batch, weights=self.in_units(weights))
                yield batch
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()

    def _met(self, floats: list[float], texts: Iterable[str]) -> None:
        """Count texts that are other decimals than their floats. Raises ReadAgainError for those to be kept."""
        for near, text in zip(floats, texts, strict=True):
            exact = _decimal(text)
            if exact == Decimal(repr(near)):
                continue
            if not self.rounds and exact is not None and _whole(exact) is not None:
                self.places = _places(exact)
                raise ReadAgainError(self)
            self.rounds = True
            self.rounded += 1

    def _units(self, exact: Decimal | None) -> int:
        """A decimal as a whole number of 10^-places. Raises ReadAgainError where it is none."""
        if _whole(exact) is None:
            raise self.to_floats()
        assert exact is not None and self.places is not None
        self._refine(_places(exact))
        units = in_units(exact, self.places)
        if units is None or abs(units) >= _MOST_UNITS:
            raise self.to_floats()
        return units

    def _refine(self, places: int) -> None:
        """Raise ReadAgainError for more places than those so far."""
        assert self.places is not None
        if places > self.places:
            self.places = places
            raise ReadAgainError(self)


def float_or_decimal(text: str) -> float | Decimal:
    """The number in a text: a float where its decimal is that number, or its exponent none of a Decimal."""
    near = float(text)
    if len(text) <= SHORT or repr(near) == text:
        return near
    exact = _decimal(text)
    return near if exact is None or exact == Decimal(repr(near)) else exact


def are_long(texts: Any, floats: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Places of the texts, a pyarrow array of strings, that may be other decimals than these floats."""
    import pyarrow as pa
    import pyarrow.compute as pc

    long = np.flatnonzero(pc.greater(pc.binary_length(texts), SHORT + 1).to_numpy(zero_copy_only=False))
    if not len(long):
        return long
    other = pc.not_equal(texts.take(pa.array(long)), pa.array(floats[long]).cast(pa.string()))
    return long[other.to_numpy(zero_copy_only=False)]


def _decimal(text: str) -> Decimal | None:
    """The number in a text; None for an exponent that is none of a Decimal."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _places(exact: Decimal) -> int:
    """How many digits behind the point a finite decimal needs."""
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    return max(0, -(exponent + len(text) - len(text.rstrip("0")))) if any(digits) else 0


def _whole(exact: Decimal | None) -> int | None:
    """The whole number of 10^-k that it is, of its own places, k; None where these are too many, or it is too
    large."""
    if exact is None or exact.adjusted() > MOST_PLACES + SHORT or _places(exact) > MOST_PLACES:
        return None
    units = in_units(exact, _places(exact))
    return units if units is not None and abs(units) < _MOST_UNITS else None
