"""Small files that claim much, nest deep or unpack to much: refused in a sentence, or read, within the memory given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.formats.hostile_files import BOMBS, CLAIMS
from tests.helpers.waiting import PATIENCE

BUDGET = 768 << 20


def outcomes(folder: Path, names: list[str]) -> dict[str, dict[str, object]]:
    """What came of each file in a process of its own, which is to live to the end."""
    done = subprocess.run([sys.executable, "-m", "tests.formats.hostile_files", str(folder), str(BUDGET), *names],
                          cwd=ROOT, capture_output=True, text=True, timeout=10 * PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    return {outcome["name"]: outcome for outcome in map(json.loads, done.stdout.splitlines())}


def check(folder: Path, files: list[str]) -> None:
    found = outcomes(folder, files)
    assert list(found) == files
    wrong = [outcome for outcome in found.values()
             if outcome["word"] not in ("read", "refused") or int(str(outcome["peak"])) > BUDGET]
    assert wrong == []


def test_what_claims_much_is_no_harm(tmp_path: Path):
    check(tmp_path, list(CLAIMS))


@pytest.mark.slow
def test_what_unpacks_to_much_is_no_harm(tmp_path: Path):
    check(tmp_path, list(BOMBS))
