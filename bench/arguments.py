"""Types of arguments for argparse."""

from __future__ import annotations

import argparse

from emdiam.errors import InputError
from emdiam.units import parse_count


def count(text: str) -> int:
    """A count like 2^22."""
    try:
        return parse_count(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
