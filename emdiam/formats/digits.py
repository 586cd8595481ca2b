"""Weights in text whose decimals float64 cannot represent: read as whole multiples of 10^-k, or rounded and counted.

A decimal of at most 15 digits is recovered from the nearest float64 (decimals.py), so weights are float64 until a
longer decimal occurs. The first such decimal stops the reading, and reading starts again with whole multiples of 10^-k
(int64) instead of floats; k is the largest number of decimal places so far. If not all weights are such multiples, for
example with more than MOST_PLACES places, reading starts again with floats, and the rounded ones are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..decimals import MOST_PLACES
from .source import EdgeBatch

SHORT = 15
"""Digits of a decimal that every float64 keeps."""
# The sum of two of these fits int64, as for the weights of a store.
_MOST_UNITS = 1 << 61
_POWERS = 10 ** np.arange(19)

Texts = Any
"""Texts of numbers: a pyarrow array of strings, or a list."""


class ReadAgainError(Exception):
    """Raised if weights need other digits than those in use; `digits` has the new setting, and reading must start
    again."""

    def __init__(self, digits: Digits) -> None:
        super().__init__("weights have more digits than float64 keeps")
        self.digits = digits


@dataclass
class Digits:
    """The setting for reading the weights of one conversion; shared by its readers.

    places : k if weights are whole multiples of 10^-k; None: they are float64. rounds : whether decimals that float64
    cannot represent are rounded. rounded : number of rounded weights.
    """

    places: int | None = None
    rounds: bool = False
    rounded: int = 0

    def reset(self) -> None:
        """Return to the state before a conversion."""
        self.places, self.rounds, self.rounded = None, False, 0

    def taken(self, floats: npt.NDArray[np.float64], at: Any, texts: Texts) -> npt.NDArray[Any]:
        """The weights in the current setting: float64[k] or int64[k].

        floats : the nearest floats, finite. at, texts : places and texts of weights whose decimals may differ from
        those of their floats. Raises ReadAgainError.
        """
        if self.places is None:
            if len(at):
                self._met(floats[at], texts)
            return floats
        if len(at):
            floats = floats.copy()
            floats[at] = 0
        units = self.in_units(floats)
        if len(at):
            units[at] = self._units(texts)
        return units

    def in_units(self, floats: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Floats as whole multiples of 10^-places, through their decimals. Raises ReadAgainError if one is none."""
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
        """Count the floats whose decimals differ from their texts, for a format that keeps only floats. Raises
        ReadAgainError if other weights are read as whole multiples of 10^-places."""
        long = [place for place, text in enumerate(texts) if len(text) > SHORT]
        if long and self.places is not None:
            raise self.to_floats()
        rounds, self.rounds = self.rounds, True
        if long:
            self._met(floats[long], [texts[place].decode() for place in long])
        self.rounds = rounds or self.rounded > 0

    def to_floats(self) -> ReadAgainError:
        """Switch to floats, because not all weights are whole multiples of 10^-k; returns the error to read again."""
        self.places, self.rounds = None, True
        return ReadAgainError(self)

    def batches(self, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
        """The batches of a source, read from its start; with `places`, floats are converted to whole multiples too.
        Raises ReadAgainError."""
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

    def _met(self, floats: npt.NDArray[np.float64], texts: Texts) -> None:
        """Count texts whose decimals differ from those of their floats. Raises ReadAgainError to read them exactly."""
        import pyarrow as pa

        exact, near = _Decimals.of(texts), _Decimals.of(pa.array(floats).cast(pa.string()))
        other = np.flatnonzero((exact.digits != near.digits) | (exact.powers != near.powers))
        if not len(other):
            return
        if not self.rounds and exact.whole[other[0]]:
            self.places = int(exact.places[other[0]])
            raise ReadAgainError(self)
        self.rounds = True
        self.rounded += len(other)

    def _units(self, texts: Texts) -> npt.NDArray[np.int64]:
        """Decimals as whole multiples of 10^-places. Raises ReadAgainError if one is none."""
        assert self.places is not None
        exact = _Decimals.of(texts)
        if not exact.whole.all():
            raise self.to_floats()
        self._refine(int(exact.places.max()))
        scale = _POWERS[self.places - exact.places]
        if (np.abs(exact.units) > (_MOST_UNITS - 1) // scale).any():
            raise self.to_floats()
        return exact.units * scale

    def _refine(self, places: int) -> None:
        """Raise ReadAgainError if `places` is larger than the current number."""
        assert self.places is not None
        if places > self.places:
            self.places = places
            raise ReadAgainError(self)


def float_or_decimal(text: str) -> float | Decimal:
    """The number in a text: the nearest float if its shortest decimal is the same number, or if Decimal cannot have the
    exponent; else a Decimal."""
    near = float(text)
    if len(text) <= SHORT or repr(near) == text:
        return near
    exact = _decimal(text)
    return near if exact is None or exact == Decimal(repr(near)) else exact


def are_long(texts: Any, floats: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The places of the texts, a pyarrow string array, whose decimals may differ from those of these floats."""
    import pyarrow as pa
    import pyarrow.compute as pc

    long = np.flatnonzero(pc.greater(pc.binary_length(texts), SHORT).to_numpy(zero_copy_only=False))
    if not len(long):
        return long
    other = pc.not_equal(texts.take(pa.array(long)), pa.array(floats[long]).cast(pa.string()))
    return long[other.to_numpy(zero_copy_only=False)]


def _decimal(text: str) -> Decimal | None:
    """The number in a text; None if Decimal cannot have the exponent."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


@dataclass
class _Decimals:
    """The numbers in texts as digits[i] * 10^powers[i], with the fewest digits; digits is MANY for a number with too
    many digits, which is no whole multiple of 10^-k."""

    digits: npt.NDArray[np.int64]
    powers: npt.NDArray[np.int64]

    @classmethod
    def of(cls, texts: Texts) -> _Decimals:
        """The numbers in these texts."""
        import pyarrow as pa

        from ..decimal_kernels import MANY, read_texts

        array = texts if isinstance(texts, pa.StringArray) else pa.array(texts, pa.string())
        _, offsets, data = array.buffers()
        found = cls(np.empty(len(array), np.int64), np.empty(len(array), np.int64))
        offsets = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
        bad = read_texts(np.frombuffer(data or b"", np.uint8), offsets, found.digits, found.powers)
        if bad < 0:
            return found
        # Python also reads blanks, underscores and digits of other scripts; write these numbers in plain digits.
        plain = [_decimal(text) for text in array.to_pylist()]
        return cls.of([f"{MANY}" if one is None else str(one) for one in plain])

    @cached_property
    def whole(self) -> npt.NDArray[np.bool_]:
        """Whether each number is a valid whole multiple of 10^-k, with k its own number of places: at most MOST_PLACES
        places, and not too large."""
        size = np.abs(self.digits)
        return ((self.powers >= -MOST_PLACES) & (self.powers < len(_POWERS))
                & (size <= (_MOST_UNITS - 1) // self._scale))

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """The number of decimal places of each number."""
        return np.maximum(-self.powers, 0)

    @property
    def units(self) -> npt.NDArray[np.int64]:
        """Each number in units of 10^-k, with k its own number of places; valid where `whole`."""
        return self.digits * self._scale

    @property
    def _scale(self) -> npt.NDArray[np.int64]:
        return _POWERS[np.clip(self.powers, 0, len(_POWERS) - 1)]
