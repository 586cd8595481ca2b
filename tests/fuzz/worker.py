"""python -m tests.fuzz.worker KIND SEED FIRST COUNT FOLDER: attacks one after the other, each told on stdout.

A line before an attack has its number, a line after it a JSON object with the outcome: whoever started this process
knows which attack killed it or never ends.
"""

from __future__ import annotations

import json
import random
import resource
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

from tests.fuzz.kinds import attacks_of
from tests.fuzz.outcome import judged

# More than any attack needs, so that a number taken for a size fails here and not on the machine.
ADDRESS_SPACE = 16 << 30


def main() -> None:
    """Run attacks."""
    kind, seed, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    out, sys.stdout = sys.stdout, sys.stderr
    attack = attacks_of(kind, Path(sys.argv[5]))
    for number in range(first, first + count):
        print(number, file=out, flush=True)
        outcome = judged(partial(attack, random.Random(f"{kind} {seed} {number}")))
        print(json.dumps(asdict(outcome)), file=out, flush=True)


if __name__ == "__main__":
    main()
