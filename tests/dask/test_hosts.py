"""Several hosts: workers in network namespaces of their own, talking over their own addresses."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import networkx as nx
import pytest

from tests.helpers import naive, namespaces
from tests.helpers.stores import write_store
from tests.helpers.workers import running

_REASON = namespaces.why_not()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(_REASON is not None, reason=str(_REASON))]

PORT = 8786


def test_workers_on_hosts_of_their_own(tmp_path: Path) -> None:
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 20))
    store = write_store(tmp_path / "grid.zarr", naive.graph_of(len(graph), graph.edges))
    dask = [sys.executable, "-m", "dask"]
    with namespaces.hosts(4) as found, ExitStack() as stack:
        (head, address), *others = found
        scheduler = f"tcp://{address}:{PORT}"
        stack.enter_context(running(
            namespaces.within(head, [*dask, "scheduler", "--host", address, "--port", str(PORT), "--no-dashboard"]),
            "Scheduler at"))
        for name, own in others[:2]:
            stack.enter_context(running(
                namespaces.within(name, [*dask, "worker", scheduler, "--host", own, "--nthreads", "1", "--no-dashboard",
                                         "--memory-limit", "0"]), "Registered to"))
        time.sleep(0.5)
        client = others[2][0]
        run = subprocess.run(
            namespaces.within(client, [sys.executable, "-m", "emdiam", "exact", str(store), "--scheduler", scheduler,
                                       "--worker-memory", "2GiB", "--json", "-q"]),
            capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["diameter"] == 48
    addresses = [worker["address"] for worker in result["details"]["workers"]]
    assert sorted(address.split("//")[1].split(":")[0] for address in addresses) == [own for _, own in others[:2]]
    assert all(worker["messages"] > 0 for worker in result["details"]["workers"])
