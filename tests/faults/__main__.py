"""python -m tests.faults [FAULT ...] [--commands NAME,...] [--count N] [--seed S] [--first K] [--jobs J]

Faults under commands, and the table of what came of them: attacks, and how many of them were wrong answers, faults
(tracebacks, and what was left and does not go on), crashes and hangs. An attack is told by fault, command, seed and
number. Beside the faults of files there are those of whole machines, `places`: see places.py.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.faults.attacks import FAULTS, POWER
from tests.faults.commands import BATCH, COMMANDS
from tests.faults.layer import why_not
from tests.fuzz.campaign import campaign
from tests.fuzz.kinds import FAULTS as KIND
from tests.fuzz.outcome import BAD, HANG, REFUSED, RIGHT, WRONG

ALL = (*FAULTS, POWER)
COUNT, BATCH_COUNT = 200, 12
# Seconds without a word: commands in the background of a busy machine are to be told from those that hang.
PATIENCE = 600.0
# Commands that write nothing have no power to lose.
_READING = ("verify",)


def count_of(fault: str, command: str, count: int | None) -> int:
    """Attacks of a fault under a command; each of a batch starts processes."""
    if fault == POWER and (command in _READING or command == BATCH):
        return 0
    return count or (BATCH_COUNT if command == BATCH else COUNT)


def table(rows: dict[tuple[str, str], Counter[str]]) -> str:
    """As Markdown, a line for each fault and command."""
    lines = ["| fault | command | attacks | right | refused | wrong | faults and crashes | hangs |",
             "|---|---|---:|---:|---:|---:|---:|---:|"]
    for (fault, command), counts in rows.items():
        others = sum(counts[word] for word in BAD if word not in (WRONG, HANG))
        figures = (counts.total(), counts[RIGHT], counts[REFUSED], counts[WRONG], others, counts[HANG])
        lines.append(f"| {fault} | {command} | " + " | ".join(f"{figure:,}" for figure in figures) + " |")
    return "\n".join(lines)


def main() -> int:
    """0 if no attack succeeded, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("fault", nargs="*", help=f"default: all of {', '.join(ALL)}")
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--count", type=int, help=f"of each pair; default {COUNT}, of {BATCH} {BATCH_COUNT}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    reason = why_not()
    if reason is not None:
        parser.exit(2, f"no faults of files here: {reason}\n")
    rows: dict[tuple[str, str], Counter[str]] = {}
    for command in options.commands.split(","):
        for fault in options.fault or ALL:
            count = count_of(fault, command, options.count)
            if not count:
                continue
            tally = campaign(f"{KIND}/{fault}/{command}", count, seed=options.seed, first=options.first,
                             jobs=options.jobs, patience=PATIENCE)
            rows[fault, command] = tally.counts
            print(f"{fault} under {command}: {dict(tally.counts)}", file=sys.stderr, flush=True)
            for number, outcome in tally.told:
                print(f"{fault} --commands {command} --seed {options.seed} --first {number} --count 1: {outcome.word}:"
                      f" {outcome.text}\n", flush=True)
    print(table(rows))
    return int(any(counts[word] for counts in rows.values() for word in BAD))


if __name__ == "__main__":
    sys.exit(main())
