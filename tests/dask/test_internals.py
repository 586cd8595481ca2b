"""What emdiam/dask/internals.py takes of distributed beyond what that documents; each test says what has changed where
a newer distributed has it otherwise."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pytest

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")


def test_a_worker_has_its_tls_settings_as_security() -> None:
    from distributed.security import Security

    parameters = inspect.signature(distributed.Worker.__init__).parameters
    assert "security" in parameters, "a worker is no longer given its TLS settings as `security`"
    for name in ("get_listen_args", "get_connection_args"):
        found = getattr(Security(), name)("worker")
        assert isinstance(found, dict), f"Security.{name} no longer gives the arguments of listen and connect"


def test_connections_are_opened_with_these_settings() -> None:
    from emdiam.dask.internals import listener_beside

    asked: list[str] = []
    security = SimpleNamespace(get_listen_args=lambda role: asked.append(role) or {})
    worker: Any = SimpleNamespace(address="tcp://127.0.0.1:8786", security=security)
    listener = listener_beside(worker, lambda comm: None)
    assert asked == ["worker"] and listener.prefix == "tcp://", "a listener of distributed.comm is made otherwise"


def test_the_errors_of_a_lost_actor_name_it() -> None:
    """Else RankGroup takes the loss of a worker for a fault of a verb."""
    from distributed import actor

    from emdiam.dask.internals import is_of_actor

    source = inspect.getsource(actor.Actor)
    raised = ("Worker holding Actor was lost", "Unable to contact Actor's worker")
    assert all(text in source for text in raised), "distributed says otherwise that the worker of an actor is gone"
    assert all(is_of_actor(RuntimeError(text)) for text in raised) and not is_of_actor(RuntimeError("no room"))


def test_scheduler_and_worker_start_their_http_server_by_a_method() -> None:
    for kind in (distributed.Scheduler, distributed.Worker):
        assert callable(getattr(kind, "start_http_server", None)), (
            f"{kind.__name__} no longer starts its HTTP server by start_http_server, so that one is open to others")


def test_processes_of_a_cluster_are_named_in_its_specification() -> None:
    """mend() looks at them, and starts others."""
    cluster = distributed.SpecCluster
    parameters = inspect.signature(cluster.__init__).parameters
    assert {"workers", "scheduler", "worker", "security", "silence_logs"} <= {*parameters}
    assert callable(getattr(cluster, "new_worker_spec", None)), "SpecCluster no longer names new workers itself"
    source = inspect.getsource(cluster)
    for name in ("self.worker_spec", "self.new_spec", "self.workers"):
        assert name in source, f"SpecCluster no longer has {name.removeprefix('self.')}"
    assert callable(getattr(distributed.Nanny, "is_alive", None)), "a nanny no longer says whether its process lives"
    for name in ("closing", "closed", "failed", "running"):
        assert hasattr(distributed.Status, name), f"a nanny is never {name} any more"


def test_settings_that_are_named_are_read() -> None:
    """Of distributed's own file of defaults, so that a misspelt or renamed one shows."""
    import dask

    from emdiam.dask.internals import _SETTINGS

    missing = object()
    for name in _SETTINGS:
        assert dask.config.get(name, missing) is not missing, f"distributed has no setting {name} any more"
