"""Floats as decimals: against the digits that Python prints, and what people see of sums of them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emdiam.decimal_kernels import MANY, most_places, read_texts, whole_numbers, widened
from emdiam.decimals import MOST_PLACES, agreed, in_units, number, numbers

DIGITS = st.builds(lambda whole, places: float(f"{whole}e-{places}"), st.integers(0, 10**18), st.integers(0, 11))
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | DIGITS | DIGITS.map(lambda value: -value)


def twin(value: float) -> tuple[int, int] | None:
    """(places, the whole number of 10^-places) of the digits that Python prints; None where they are too many."""
    digits = Decimal(repr(value)).normalize()
    places = max(0, -int(digits.as_tuple().exponent))
    if places > MOST_PLACES or abs(value) >= 2.0**53 or abs(digits.scaleb(places)) >= 2**62:
        return None
    return places, int(digits.scaleb(places))


@settings(deadline=None, max_examples=200)
@given(value=FLOATS, more=st.integers(0, MOST_PLACES))
@example(value=0.1, more=0)
@example(value=1e-9, more=0)
@example(value=123456789.12345679, more=1)
@example(value=1e15 + 0.1, more=2)
@example(value=1125899906842624.2, more=0)
@example(value=2.0**53, more=0)
@example(value=5e-324, more=0)
@example(value=-0.0, more=9)
def test_decimals_are_those_that_python_prints(value: float, more: int) -> None:
    want, array = twin(value), np.array([value])
    assert most_places(array, 0) == (-1 if want is None else want[0])
    if want is None:
        return
    places = min(MOST_PLACES, want[0] + more)
    if abs(want[1]) * 10 ** (places - want[0]) >= 2**62:
        places = want[0]
    out = np.empty(1, np.int64)
    whole_numbers(array, places, out)
    assert most_places(array, places) == places and out[0] == want[1] * 10 ** (places - want[0])


@settings(deadline=None, max_examples=100)
@given(st.lists(DIGITS, min_size=1, max_size=20))
def test_places_of_many_are_the_most_of_one(values: list[float]) -> None:
    found = [twin(value) for value in values]
    want = -1 if None in found else max(one[0] for one in found if one is not None)
    assert most_places(np.array(values), 0) == want


@settings(deadline=None, max_examples=150)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False) | st.builds(
    lambda whole, places: float(np.float32(whole / 10**places)), st.integers(0, 10**7), st.integers(0, 9)))
@example(float(np.float32(0.1)))
@example(74444304.0)
def test_narrow_floats_keep_their_own_decimals(value: float) -> None:
    """0.1 of float32 is 0.1; whole numbers are themselves, and what has too many places stays as it is."""
    narrow = np.float32(value)
    found = widened(np.array([narrow]))[0]
    digits = Decimal(str(narrow)).normalize()
    few = -int(digits.as_tuple().exponent) <= MOST_PLACES and value != round(value)
    assert found == (float(digits) if few else value) and np.float32(found) == narrow


def test_half_floats_keep_their_own_decimals() -> None:
    values = np.array([0.1, 2.5, 0.1, 1000, 6e-8], np.float16)
    assert widened(values).tolist() == [0.1, 2.5, 0.1, 1000.0, 6e-8]
    assert widened(np.array([0.1, 0.3])).tolist() == [0.1, 0.3]


@given(st.integers(-(2**61), 2**61), st.integers(0, MOST_PLACES))
def test_numbers_are_exact_with_all_their_digits(units: int, places: int) -> None:
    value = number(units, places)
    assert Fraction(repr(value) if isinstance(value, float) else value) == Fraction(units, 10**places)
    assert in_units(value, places) == units and isinstance(value, int if places == 0 else float | Decimal)
    assert numbers(np.array([units]), places)[0] == units / 10**places


def test_odd_numbers() -> None:
    assert [number(*one) for one in ((6, 1), (5, 0), (10, 1), (10**17 + 1, 1))] == [
        0.6, 5, 1.0, Decimal("10000000000000000.1")]
    assert str(number(12345678912345678901, 9)) == "12345678912.345678901"
    assert in_units(0.5, 0) is None and in_units(1e308, 0) == 10**308 and in_units(5e-324, 9) is None


@pytest.mark.parametrize(("ends", "text"), [
    ((1.0, 1.0000000000000009), "1.000000000000000..."), ((231.3611, 231.3612), "231.361..."), ((3, 5), ""),
    ((12345.25, 12345.5), "12,345..."), ((0.1, Decimal("0.123")), "0.1..."), ((1e-7, 1.5e-7), "0.0000001..."),
])
def test_digits_on_which_both_ends_agree(ends: tuple[float, float], text: str) -> None:
    assert agreed(*ends) == text


@settings(deadline=None, max_examples=100)
@given(st.lists(st.one_of(st.decimals(allow_nan=False, allow_infinity=False).map(str),
                          st.from_regex(r"\A[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?\Z",
                                        alphabet="0123456789.eE+-")), max_size=9))
def test_texts_are_as_few_digits_and_a_power(texts: list[str]):
    data = np.frombuffer("".join(texts).encode(), np.uint8)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    digits, powers = np.empty((2, len(texts)), np.int64)
    assert read_texts(data, offsets, digits, powers) == -1
    for text, found, power in zip(texts, digits.tolist(), powers.tolist(), strict=True):
        exact = Decimal(text).as_tuple().digits
        size = int("".join(map(str, exact)).strip("0") or 0)
        if size > MANY - 30:  # as of 19 digits and more
            assert abs(found) == MANY
        else:
            sign = -1 if Decimal(text) < 0 else 1
            assert found == sign * size and Fraction(found) * Fraction(10) ** power == Fraction(text)


def test_the_first_text_that_is_no_number_is_named():
    data = np.frombuffer(b"1.51_52x", np.uint8)
    digits, powers = np.zeros((2, 3), np.int64)
    assert read_texts(data, np.array([0, 3, 6, 8], np.int32), digits, powers) == 1
