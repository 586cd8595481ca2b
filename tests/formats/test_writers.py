"""What other programs write is read back equal: random graphs of every kind, by every writer of tests/formats/writers.

A file that says two things is refused, and a remedy of the refusal leads to the graph; few are."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.formats.writers.reading import EQUAL, LED, Trip, round_trip
from tests.formats.writers.table import WRITERS
from tests.helpers.many_graphs import MANY

# Files of each writer among the quick tests; of all writers among the slow ones.
FEW, ALL = 3, 10 * MANY
_PARTS = 10
# Of the files of a writer, how many may say two things.
_MOST_LED = 0.1


def trips(name: str, numbers: range, folder: Path) -> list[Trip]:
    """The files of these numbers, each in a folder of its own that goes afterwards if it was read."""
    found = []
    for number in numbers:
        place = folder / str(number)
        place.mkdir()
        found.append(round_trip(name, number, place))
        if found[-1].word in (EQUAL, LED):
            shutil.rmtree(place)
    return found


def test_there_are_enough_writers():
    assert len(WRITERS) >= 90 and {writer.package for writer in WRITERS.values()} >= {
        "networkx", "igraph", "scipy", "numpy", "pandas", "pyarrow"}


@pytest.mark.parametrize("name", WRITERS)
def test_what_others_write_is_read(name: str, tmp_path: Path):
    wrong = [trip for trip in trips(name, range(FEW), tmp_path) if trip.word not in (EQUAL, LED)]
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS))
def test_much_of_what_others_write_is_read(part: int, tmp_path: Path):
    each = -(-ALL // len(WRITERS))
    numbers = range(FEW + each * part // _PARTS, FEW + each * (part + 1) // _PARTS)
    words: Counter[tuple[str, str]] = Counter()
    for name in WRITERS:
        (tmp_path / name.replace("/", " ")).mkdir()
        for trip in trips(name, numbers, tmp_path / name.replace("/", " ")):
            assert trip.word in (EQUAL, LED), (name, trip)
            words[name, trip.word] += 1
    led = {name: words[name, LED] for name in WRITERS if words[name, LED] > _MOST_LED * len(numbers) + 2}
    assert led == {} and words.total() == len(numbers) * len(WRITERS)
