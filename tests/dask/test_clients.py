"""What leads to a scheduler: a client, a cluster, an address, and the file that a scheduler writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import emdiam
from emdiam.dask.setting import OnCluster
from emdiam.errors import InputError
from tests.helpers.workers import client

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A grid of 30 x 40."""
    emdiam.generate("grid", tmp_path / "g.zarr", sides="30x40")
    return tmp_path / "g.zarr"


def test_whatever_leads_to_a_scheduler(store: Path, tmp_path: Path) -> None:
    """A client and a cluster stay open."""
    here = client(2, processes=False)
    # Client.write_scheduler_file fails once workers have told figures whose names are tuples.
    (tmp_path / "scheduler.json").write_text(json.dumps({"type": "Scheduler", "address": here.scheduler.address}))
    ways: dict[str, Any] = {"client": here, "cluster": here.cluster, "address": here.scheduler.address,
                            "file": str(tmp_path / "scheduler.json"), "path": tmp_path / "scheduler.json"}
    for name, way in ways.items():
        found = emdiam.exact(store, scheduler=way, worker_memory="4GiB")
        assert (name, found.diameter, len(found.details["workers"])) == (name, 68, 2)
        assert here.status == "running" and len(here.nthreads()) == 2


def test_what_leads_to_none(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="this is no scheduler: 'int'"):
        emdiam.exact(store, scheduler=8786)
    here = client(2, processes=False)
    monkeypatch.setattr(type(here), "asynchronous", True)
    with pytest.raises(InputError, match="an asynchronous client cannot be waited for"):
        emdiam.exact(store, scheduler=here)
    with pytest.raises(InputError, match="a dashboard is of workers that are started for the run"):
        OnCluster(here, dashboard=True)
