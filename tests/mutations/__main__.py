"""python -m tests.mutations [--only WORD] [--named] [--out FILE]: plant every fault and print what caught it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.mutations.check import Outcome, check_faults, table
from tests.mutations.faults import FAULTS


def main() -> int:
    """0 if every fault was caught, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="faults whose name, room or file has this in it")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there too")
    parser.add_argument("--named", action="store_true", help="run only the tests that a fault names")
    options = parser.parse_args()
    faults = [fault for fault in FAULTS if options.only in f"{fault.room} {fault.name} {fault.file}"]

    def report(outcome: Outcome) -> None:
        print(f"{outcome.fault.room}: {outcome.fault.name}: {outcome.caught_by or 'NOT CAUGHT'}"
              f" ({outcome.seconds:.0f} s)", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="emdiam-mutations-") as folder:
        outcomes = check_faults(faults, Path(folder), report, named_only=options.named)
    text = table(outcomes)
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n", encoding="utf-8")
    return 0 if outcomes and all(outcome.caught_by for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
