"""python -m tests.helpers.cases: what becomes of every small input beside the repository (../shared/cases), as a table.

Each has a row in EXPECTED.tsv: what is right, and whether it may be refused."""

from __future__ import annotations

import csv
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.handed_in import INTERFACES, Facts, Handed, Outcome

FOLDER = Path(__file__).resolve().parent.parent.parent.parent / "shared" / "cases"
# What the column of options of EXPECTED.tsv says, as options.
_OPTIONS = {
    "": (),
    "the columns of the two airports named by number": ("--columns", "3,5"),
    "columns 1 and 3 named": ("--columns", "1,3"),
}
# What only the owner of a file can know.
_CHOSEN = {
    "openflights.csv": {"columns": "3,5"}, "train.txt": {"columns": "1,3"},
    "latin1.txt": {"encoding": "latin-1"}, "latin1.csv": {"encoding": "latin-1"},
}
# What the table says of three files is not in them. Two triples in a row have three ends; a line of SIF with two
# targets is a fork, so that all is one step from geneB; the matrix of the archive has four rows and a path.
MISSTATED = {"train.txt": Facts(3, 2, 2), "sif.sif": Facts(4, 3, 2), "suitesparse.tar.gz": Facts(4, 3, 3)}
# Files that one row stands for.
_ALIKE = {"csr.npz": ("csc.npz", "coo.npz", "bsr.npz", "dia.npz", "i64.npz", "dup.npz")}
MUST = "must"


@dataclass(frozen=True)
class Case:
    """A row. right : None where there is no graph. refusable : "no", "yes" or "must"."""

    handed: Handed
    right: Facts | None
    refusable: str
    what: str

    @property
    def name(self) -> str:
        """Of the file and its options."""
        return " ".join([self.handed.path.name, *self.handed.options])

    def fault(self, outcome: Outcome) -> str | None:
        """What is wrong with this outcome, None if nothing."""
        if self.refusable == MUST or self.right is None:
            return None if outcome.facts is None else f"read as {outcome.facts}, though it is no graph"
        if outcome.facts is None and self.refusable == "no":
            return f"refused: {outcome.refusal}"
        if not outcome.leads_to(self.right):
            return (f"read as {outcome.facts}, not {self.right}" if outcome.facts is not None else
                    f"no remedy leads to {self.right}: {outcome.followed}: {outcome.refusal}")
        return None


def cases() -> list[Case]:
    """All rows, and the files that one stands for; none where the folder is absent."""
    table = FOLDER / "EXPECTED.tsv"
    if not table.is_file():
        return []
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [_case(row, name) for row in rows for name in (row["file"], *_ALIKE.get(row["file"], ()))]


def _case(row: dict[str, str], name: str) -> Case:
    numbers = [row[column] for column in ("vertices", "edges", "largest_diameter")]
    right = None if "-" in numbers else MISSTATED.get(name) or Facts(*map(int, numbers))
    return Case(Handed(FOLDER / name, _OPTIONS[row["options"]], _CHOSEN.get(name, {})), right, row["or_refused"],
                row["what it is"])


def main() -> int:
    """Print a line a case and interface that is refused or wrong; 0 if none is wrong."""
    wrong, only = 0, sys.argv[1:]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        for case in cases():
            if only and case.handed.path.name not in only:
                continue
            for name, judge in INTERFACES.items():
                try:
                    outcome = judge(case.handed, Path(folder))
                    fault = case.fault(outcome)
                except Exception as error:  # a table of faults is what this is for
                    outcome, fault = Outcome(None), f"{type(error).__name__}: {error}"
                if fault is not None:
                    wrong += 1
                    print(f"WRONG\t{name}\t{case.name}\t{fault}")
                elif outcome.facts is None:
                    led = [way for way, facts in outcome.followed if facts == case.right]
                    print(f"refused\t{name}\t{case.name}\t{led[:1]}\t{outcome.refusal}")
    print(f"{len(cases())} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
