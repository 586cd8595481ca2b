"""python -m tests.fuzz KIND [--count N] [--seed S] [--first K] [--jobs J]: attacks of one kind, and what they did.

An attack is told by kind, seed and number, so that `--first NUMBER --count 1` does it again. KIND may be "all", with
the counts of the table below.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz import signals
from tests.fuzz.campaign import Tally, campaign
from tests.fuzz.kinds import KINDS

COUNTS = {"inputs": 200_000, "readers": 20_000, "bvgraphs": 200_000, "corruptions": 5_000, "stores": 3_000,
          "certificates": 10_000, "proofs": 10_000, "checkpoints": 2_000}
# Of another kind: whole commands, and moments instead of damage (signals.py).
SIGNALS, N_SIGNALS = "signals", 300
DEFAULTS = ", ".join(f"{count:,} {kind}" for kind, count in {**COUNTS, SIGNALS: N_SIGNALS}.items())


def main() -> int:
    """0 if no attack succeeded, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("kind", choices=[*KINDS, SIGNALS, "all"])
    parser.add_argument("--count", type=int, help=f"attacks; default: {DEFAULTS}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    bad = 0
    if options.kind in (SIGNALS, "all"):
        bad += signals.campaign(options.count or N_SIGNALS, options.seed, options.first, options.jobs)
    for kind in KINDS if options.kind == "all" else [one for one in KINDS if one == options.kind]:
        begin = time.monotonic()

        def tell(tally: Tally, kind: str = kind, begin: float = begin) -> None:
            counts = ", ".join(f"{count:,} {word}" for word, count in sorted(tally.counts.items()))
            print(f"{kind}: {tally.counts.total():,} attacks in {time.monotonic() - begin:,.0f} s: {counts}",
                  file=sys.stderr, flush=True)

        tally = campaign(kind, options.count or COUNTS[kind], seed=options.seed, first=options.first,
                         jobs=options.jobs, tell=tell)
        for number, outcome in tally.told:
            print(f"{kind} --seed {options.seed} --first {number} --count 1: {outcome.word}: {outcome.text}\n")
        counts = ", ".join(f"{count:,} {word}" for word, count in sorted(tally.counts.items()))
        print(f"{kind}: {tally.counts.total():,} attacks: {counts}")
        bad += tally.n_bad
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
