"""The fuzzer of signals: what it would notice, and a round over all its commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from emdiam.cli.main import COMMANDS
from emdiam.generators import generate
from tests.conftest import ROOT
from tests.fuzz import signals
from tests.fuzz.signals import CASES, CERTIFICATE, PATH, STORE, Base, Case, judged, leftovers


def test_every_command_is_attacked():
    assert {case.words.split()[0] for case in CASES} == set(COMMANDS)


@pytest.fixture
def base(tmp_path: Path) -> Base:
    """As after a command that was asked to stop and has left nothing."""
    (tmp_path / "err").write_text("emdiam: stopped by the user\n")
    (tmp_path / "out").write_text("")
    return Base(tmp_path, (), frozenset({(5, 8)}), 3)


def faults(base: Base, code: int = 3, words: str = "exact g.zarr --json") -> str:
    """What the fuzzer says of the folder."""
    return "; ".join(judged(base, Case(words), base.folder, code))


@pytest.mark.parametrize("code", [0, 2, 3, -9, -15, 130])
def test_a_good_end_is_good(base: Base, code: int):
    generate("path", base.folder / STORE, vertices=5)
    (base.folder / PATH).write_text("1\n2\n3\n")
    assert faults(base, code) == "" and leftovers(base.folder) == []


def test_faults_are_noticed(base: Base):
    assert "it left with 1" in faults(base, 1)
    (base.folder / "err").write_text("Traceback (most recent call last):\n")
    assert "err has 'Traceback'" in faults(base)
    (base.folder / "err").write_text(f'Traceback:\n  File "<frozen runpy>"\n  File "{ROOT}/emdiam/__main__.py"\n')
    assert "err has 'Traceback'" in faults(base)
    (base.folder / "err").write_text('Traceback:\n  File "<frozen runpy>"\nKeyboardInterrupt\n')
    assert faults(base) == ""
    (base.folder / "err").write_text("")
    (base.folder / "out").write_text('{"lower": 3')
    assert "not JSON" in faults(base)
    (base.folder / "out").write_text("")
    (base.folder / PATH).write_text("1\n2\n")
    assert faults(base) == "the file of the path is cut"
    (base.folder / PATH).unlink()
    (base.folder / CERTIFICATE).write_text('{"format": "emdiam certificate", ')
    assert "certificate" in faults(base)


def test_unfinished_stores_are_noticed(base: Base):
    generate("path", base.folder / STORE, vertices=6)
    assert "opens with 6 vertices" in faults(base)
    next((base.folder / STORE / "indices").rglob("0")).write_bytes(b"")
    assert "there and damaged" in faults(base)
    (base.folder / STORE).rename(base.folder / f"{STORE}.partial")
    assert faults(base) == "" and leftovers(base.folder) == [f"{STORE}.partial is left"]


@pytest.mark.slow
def test_signals_at_random_moments():
    assert signals.campaign(2 * len(CASES), seed=5, first=0, jobs=2) == 0
