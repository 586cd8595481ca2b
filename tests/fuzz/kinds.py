"""The kinds of attacks by name. Each module is loaded when its kind is used."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.outcome import Outcome

# attack(random numbers of this attack) -> outcome
Attack = Callable[[random.Random], Outcome]

KINDS = ("inputs", "corruptions", "stores", "certificates", "checkpoints")
# For the test of the campaign itself.
PLANTED = "planted"


def attacks_of(kind: str, folder: Path) -> Attack:
    """The attacks of a kind, or the planted ones, on files in `folder`."""
    make: Callable[[Path], Attack] = importlib.import_module(f"tests.fuzz.{kind}").attacks
    return make(folder)
