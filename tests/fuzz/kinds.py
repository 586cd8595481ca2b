"""The kinds of attacks by name. Each module is loaded when its kind is used."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.outcome import Outcome

# attack(random numbers of this attack) -> outcome
Attack = Callable[[random.Random], Outcome]

KINDS = ("inputs", "readers", "bvgraphs", "corruptions", "stores", "certificates", "proofs", "checkpoints")
# For the test of the campaign itself.
PLANTED = "planted"


# Of faults (tests/faults) a kind is this, the fault and the command, with slashes between.
FAULTS = "faults"


def attacks_of(kind: str, folder: Path) -> Attack:
    """The attacks of a kind, the planted ones, or faults, on files in `folder`."""
    name, *details = kind.split("/")
    module = "tests.faults.attacks" if name == FAULTS else f"tests.fuzz.{name}"
    make: Callable[..., Attack] = importlib.import_module(module).attacks
    return make(folder, *details)


def environment_of(kind: str) -> dict[str, str]:
    """What the process of such attacks has in its environment beside."""
    if not kind.startswith(FAULTS):
        return {}
    from tests.faults.layer import preloaded

    return preloaded()
