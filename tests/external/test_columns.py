"""Every verb of a column on disk equals the one in RAM, in any order, with pages that were never written among them."""

from __future__ import annotations

import gc
import random

import numpy as np
import pytest

from emdiam.external.columns import DiskColumn, WordFile
from emdiam.sorting.scratch import Scratch
from emdiam.traverse.columns import Column
from emdiam.traverse.ram_column import RamColumn

PAGE, LENGTH = 64, 300


def a_pair(scratch: Scratch, rng: random.Random) -> tuple[DiskColumn, RamColumn]:
    """The same values on disk and in RAM; some pages are never written."""
    on_disk = DiskColumn(scratch, LENGTH, np.uint8, page=PAGE)
    in_ram = RamColumn(np.full(LENGTH, 255, np.uint8))
    for _ in range(rng.randint(0, 3)):
        start = rng.randrange(LENGTH)
        values = np.array([rng.choice([255, rng.randint(0, 30)]) for _ in range(rng.randint(1, LENGTH - start))],
                          np.uint8)
        on_disk.set_part(start, values)
        in_ram.set_part(start, values)
    return on_disk, in_ram


def change(column: Column, other: Column, seed: int) -> object:
    """One verb that may change values; what it gives."""
    rng = random.Random(seed)
    start = rng.randint(0, LENGTH)
    stop, old = rng.randint(start, LENGTH), [rng.randint(0, 30), 255]
    words = np.array([rng.getrandbits(64) for _ in range(-(-LENGTH // 64))], np.uint64)
    verbs = [
        lambda: column.put([rng.randrange(LENGTH) for _ in range(rng.randint(0, 9))], rng.randint(0, 254)),
        lambda: column.recode(old, 7), lambda: column.recode(old, 8, words),
        lambda: column.recode_where_reached(other, old, 3), lambda: column.open_at(other, 5, start, stop),
        lambda: column.close(start, stop), lambda: column.close_at_most(9, start, stop),
        lambda: column.tighten_lower(other, 20, start, stop),
        lambda: column.close_known(other, 12, 18, start, stop), column.clear, lambda: column.copy_from(other),
    ]
    return rng.choice(verbs)()


def look(column: Column, seed: int) -> list[object]:
    """What all verbs that change nothing give."""
    rng = random.Random(seed)
    start = rng.randint(0, LENGTH)
    stop, value, most = rng.randint(start, LENGTH), rng.randint(0, 30), rng.randint(1, 40)
    labels = np.array([rng.randint(0, 2) for _ in range(LENGTH)])
    ids = [rng.randrange(LENGTH) for _ in range(rng.randint(0, 50))]
    return [
        column.part(start, stop).tolist(), column.gather(ids).tolist(), column.count(value),
        column.select("<=", value).tolist(), column.select("!=", value, most).tolist(),
        column.first([value, 4], start, stop), column.first([value, 4], labels=labels, label=1),
        column.argbest(True, start, stop), column.argbest(False, start, stop), column.largest(start, stop),
        column.open_list(start, stop).tolist(), column.open_bitmap().tolist(),
        column.ranked(lambda v: v % 5, None, most, start=start, stop=stop).tolist(),
    ]


def test_it_does_what_a_column_in_ram_does(scratch: Scratch) -> None:
    for seed in range(40):
        rng = random.Random(seed)
        on_disk, in_ram = a_pair(scratch, rng)
        other, twin = a_pair(scratch, rng)
        for step in range(12):
            assert change(on_disk, other, seed + 1000 * step) == change(in_ram, twin, seed + 1000 * step)
            assert on_disk.part(0, LENGTH).tolist() == in_ram.raw().tolist()
            assert look(on_disk, step) == look(in_ram, step)


def test_upper_bounds_are_tightened(scratch: Scratch) -> None:
    on_disk, in_ram = DiskColumn(scratch, LENGTH, np.uint8, 40, PAGE), RamColumn(np.full(LENGTH, 40, np.uint8))
    away = RamColumn(np.arange(LENGTH, dtype=np.uint8) % 50)
    for column in (on_disk, in_ram):
        column.tighten_upper(away, 11, 30, 250)
    assert on_disk.part(0, LENGTH).tolist() == in_ram.raw().tolist()


def test_a_column_that_nothing_was_written_to_takes_no_room(scratch: Scratch) -> None:
    column = DiskColumn(scratch, 1 << 40, np.uint32, 17, 1 << 30)
    assert column.take(np.array([5, (1 << 40) - 1])).tolist() == [17, 17]
    assert scratch.bytes_written == 0


def test_a_wider_value_does_not_fit(scratch: Scratch) -> None:
    with pytest.raises(OverflowError):
        DiskColumn(scratch, 3, np.uint8).copy_from(RamColumn(np.array([1, 255, 2], np.uint16)))
    with pytest.raises(TypeError):
        DiskColumn(scratch, 3, np.uint8).raw()


def test_the_file_goes_with_the_column(scratch: Scratch) -> None:
    column = DiskColumn(scratch, LENGTH, np.uint8, 40, PAGE)
    column.put([3], 1)
    written = scratch.peak_bytes
    del column
    gc.collect()
    again = DiskColumn(scratch, LENGTH, np.uint8, 40, PAGE)
    again.put([3], 1)
    assert scratch.peak_bytes == written > 0


def test_words_in_a_file(scratch: Scratch) -> None:
    words = WordFile(scratch, 200, page=PAGE)
    words[70:75] = np.arange(5, dtype=np.uint64)
    assert words[68:80].tolist() == [0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0] and len(words[190:]) == 10
    assert words.take(np.array([74, 0, 71])).tolist() == [4, 0, 1]
    with pytest.raises(IndexError):
        words[::2]
