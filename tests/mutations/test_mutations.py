"""The planted faults fit the code; the slow test plants each and has the quick tests catch it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.mutations.check import check_faults, table
from tests.mutations.fault import Fault
from tests.mutations.faults import FAULTS


def test_there_are_enough_faults_of_every_kind():
    assert len(FAULTS) >= 30 and len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.room for fault in FAULTS} >= {"traverse", "stream", "methods", "paths", "certificates", "store",
                                               "sorting", "checkpoint", "dask", "gpu"}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_passage_is_there_once_and_its_tests_exist(tmp_path: Path, fault: Fault):
    copy = tmp_path / fault.file
    copy.parent.mkdir(parents=True)
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    copy.write_text(text, encoding="utf-8")
    fault.plant(tmp_path)
    planted = copy.read_text(encoding="utf-8")
    assert planted != text
    if fault.file.endswith(".py"):
        compile(planted, fault.file, "exec")
    assert all((ROOT / name).is_file() for name in fault.tests)
    with pytest.raises(ValueError, match="0 times"):
        fault.plant(tmp_path)


@pytest.mark.slow
def test_the_quick_tests_catch_every_fault(tmp_path: Path):
    outcomes = check_faults(FAULTS, tmp_path, lambda outcome: None)
    assert [outcome.fault.name for outcome in outcomes if outcome.caught_by is None] == [], table(outcomes)
