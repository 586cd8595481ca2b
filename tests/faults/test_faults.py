"""A few faults of files under every command that runs in one process, and power failures; the whole table is slow."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.faults import layer
from tests.faults.__main__ import ALL, count_of
from tests.faults.commands import COMMANDS, Commands
from tests.faults.power import Change, Disk, after_failure, changes
from tests.fuzz.campaign import campaign

pytestmark = pytest.mark.skipif(layer.why_not() is not None, reason=str(layer.why_not()))
_MET = """
import os, sys
from pathlib import Path
import numpy as np
from tests.faults.layer import CALLS, Layer
place, layer = Path(sys.argv[1]), Layer()
def said(do):
    try:
        return do()
    except OSError as error:
        return error.strerror
def two():
    with open(place / "a", "wb") as file:
        return file.write(b"some text")
def read():
    return (place / "a").read_bytes()
def synced():
    with open(place / "b", "wb") as file:
        os.fsync(file.fileno())
with layer.counts(place) as counts:
    two(), read(), np.fromfile(place / "a", np.uint8)
assert counts.by_call[1] == 1 and counts.by_call[3] >= 2 and counts.by_call[0] >= 2, counts.by_call
for kind, do, want in (
    ("eio-read", read, "Input/output error"), ("eio-write", two, "Input/output error"),
    ("full", two, "No space left on device"), ("eio-sync", synced, "Input/output error"),
    ("files", read, "Too many open files"), ("short-read", read, b"some"), ("eintr", read, b"some"),
    ("short-write", lambda: (two(), read())[1], b"some text"), ("slow", read, b"some"),
):
    with layer.plan(kind, place, span=3 if kind == "eintr" else 0):
        met = said(do)
    assert met == want or (type(want) is bytes and met in (b"some text", b"some")), (kind, met)
    with layer.plan(kind, place / "elsewhere"):
        assert said(two) == 9
print("met")
"""


def test_the_layer_does_what_it_says(tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", _MET, tmp_path], cwd=ROOT, text=True, capture_output=True,
                          env={**os.environ, **layer.preloaded(), "PYTHONPATH": str(ROOT)})
    assert done.stdout == "met\n", done.stderr


def test_every_command_is_among_them(tmp_path: Path):
    assert tuple(Commands(tmp_path).by_name) == COMMANDS


def test_a_few_faults_of_any_kind():
    tally = campaign("faults/any/any", 14, seed=3)
    assert tally.n_bad == 0, tally.told
    assert tally.counts["right"] > 3 and tally.counts["refused"] > 3


def _record(*parts: tuple[str, int, int, bytes, bytes, bytes]) -> bytes:
    return b"".join(struct.pack("<6Q", ord(op), a, b, len(one), len(two), len(data)) + one + two + data
                    for op, a, b, one, two, data in parts)


def test_what_was_not_synced_may_be_lost(tmp_path: Path):
    """Folder 1 holds folder 2; file 3 is made in that, synced, and renamed; its new name is not."""
    file = tmp_path / "record"
    file.write_bytes(_record(("D", 1, 2, b"inner", b"", b""), ("N", 2, 3, b"x", b"", b""),
                             ("W", 3, 0, b"", b"", b"y" * 600), ("S", 3, 0, b"", b"", b""),
                             ("S", 2, 0, b"", b"", b""), ("S", 1, 0, b"", b"", b""), ("R", 2, 2, b"x", b"z", b""),
                             ("W", 3, 600, b"", b"", b"more")))
    done = list(changes(file))
    assert done[0] == Change("D", 1, 2, "inner") and done[-1].data == b"more"
    found = set()
    for seed in range(60):
        disk = after_failure(Disk(folders={1: {}}), done, random.Random(seed))
        assert disk.folders[1] == {"inner": 2}
        ((name, number),) = disk.folders[2].items()
        found.add((name, bytes(disk.files[number][600:])))
        assert disk.files[number][:600] == b"y" * 600
    assert found >= {("x", b""), ("z", b""), ("x", b"more"), ("z", b"more")}
    unsynced = {len(after_failure(Disk(folders={1: {}}), done[:3], random.Random(seed)).folders[1])
                for seed in range(20)}
    assert unsynced == {0, 1}
    disk.write(1, tmp_path / "made")
    assert (tmp_path / "made" / "inner" / name).read_bytes()[:600] == b"y" * 600


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("fault", ALL)
def test_all_faults(fault: str, command: str):
    count = count_of(fault, command, None)
    tally = campaign(f"faults/{fault}/{command}", count, seed=4) if count else None
    assert tally is None or tally.n_bad == 0, tally.told
