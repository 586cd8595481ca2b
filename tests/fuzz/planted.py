"""Attacks whose outcomes are known, for the test of the campaign itself."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from emdiam.errors import EmdiamError, InputError
from tests.fuzz.kinds import Attack
from tests.fuzz.outcome import RIGHT, WRONG, Outcome


def attacks(folder: Path) -> Attack:
    """Right, refused, wrong, two kinds of fault, a crash, or no end, as the first random number says."""

    def attack(rng: random.Random) -> Outcome:
        kind = rng.randrange(7)
        if kind == 1:
            raise InputError("a sentence")
        if kind == 3:
            raise ValueError("no sentence")
        if kind == 4:
            raise EmdiamError("a fault of the program")
        if kind == 5:
            os.abort()
        if kind == 6:
            time.sleep(3600)
        return Outcome(WRONG if kind == 2 else RIGHT)

    return attack
