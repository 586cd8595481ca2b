"""python -m tests.formats.writers [--count N] [--first K] [--only WORD] [--show] [--table FILE]: N files of each
writer, and what came of reading them: a line a writer, with --show the first file of each outcome but "equal".
--table : the same as a table of Markdown, with the remedies that were followed."""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from tests.formats.writers.reading import DIFFERENT, EQUAL, FAULT, LED, REFUSED, Trip, round_trip
from tests.formats.writers.table import WRITERS


def as_table(found: dict[str, list[Trip]], first: int) -> str:
    """The trips of each writer as a table of Markdown."""
    rows = [f"# Files of other programs, read back\n\n`python -m tests.formats.writers --first {first} --count"
            f" {len(next(iter(found.values())))}`\n",
            "| writer | files | equal | refused, and led to the graph | by the remedy | refused | different | fault |",
            "|---|---:|---:|---:|---|---:|---:|---:|"]
    for name, trips in {**found, "all": [trip for some in found.values() for trip in some]}.items():
        words = Counter(trip.word for trip in trips)
        ways = Counter(trip.way for trip in trips if trip.word == LED)
        led = ", ".join(f"`{way}`" + (f" ({count})" if count > 1 else "") for way, count in ways.most_common())
        rows.append(f"| {name} | {len(trips):,} | {words[EQUAL]:,} | {words[LED]} | {led} | {words[REFUSED]} |"
                    f" {words[DIFFERENT]} | {words[FAULT]} |")
    return "\n".join(rows) + "\n"


def main() -> int:
    """0 if every file was read equal, or refused with a remedy that leads to the graph."""
    parser = argparse.ArgumentParser(prog="python -m tests.formats.writers", description=__doc__)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    total: Counter[str] = Counter()
    table: dict[str, list[Trip]] = {}
    for name in [name for name in WRITERS if options.only in name]:
        found: dict[str, list[tuple[int, Trip, bytes]]] = {}
        for number in range(options.first, options.first + options.count):
            with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
                trip = round_trip(name, number, Path(folder))
                found.setdefault(trip.word, []).append((number, trip, trip.path.read_bytes()))
        counts = {word: len(trips) for word, trips in sorted(found.items())}
        total.update(counts)
        table[name] = [trip for trips in found.values() for _, trip, _ in trips]
        print(f"{name}\t{counts}", flush=True)
        for word, trips in found.items():
            number, trip, data = trips[0]
            if options.show and word != EQUAL:
                print(f"    {word}, --first {number}: {trip.path.name}: {trip.text[-900:]}\n    {data[:400]!r}")
    if options.table is not None:
        options.table.write_text(as_table(table, options.first))
    print(f"{len(WRITERS)} writers, {total.total():,} files: {dict(total)}")
    return 0 if total.keys() <= {EQUAL, LED} else 1


if __name__ == "__main__":
    sys.exit(main())
