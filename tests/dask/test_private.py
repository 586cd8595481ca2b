"""What another user of the machine can reach of a run over workers: nothing answers without the key of the run."""

from __future__ import annotations

import os
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from emdiam.errors import InputError
from emdiam.generators import generate
from emdiam.runs.opening import needs_of, open_engine
from emdiam.runs.task import execute, make_task, task_of
from emdiam.store.store import open_store
from tests.helpers.waiting import PATIENCE, wait_until
from tests.helpers.workers import MEMORY

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")

NOBODY = 65534
# A client of what listens at addresses: plain, then with a certificate of its own. It becomes another user once it has
# imported all that it needs, which that user may not be able to read, and prints for each try whether it was let in.
STRANGER = """
import asyncio, os, sys
from distributed import Security
from distributed.comm import connect
import distributed.comm.tcp

user, *addresses = sys.argv[1:]
own = Security.temporary().get_connection_args("client")
if user != "same":
    os.setgroups([]), os.setgid(int(user)), os.setuid(int(user))

async def call(scheme, more):
    comm = await connect(scheme, timeout=5, **more)
    await comm.write({"op": "identity", "reply": True})
    return await asyncio.wait_for(comm.read(), 5)

for address in addresses:
    for scheme, more in (("tcp://", {}), ("tls://", own)):
        try:
            asyncio.run(call(scheme + address, more))
            print("in")
        except Exception as error:
            print("refused:", type(error).__name__, error, file=sys.stderr)
            print("refused")
"""


@contextmanager
def run_of_workers(store: Path, folder: Path, *options: str) -> Iterator[psutil.Process]:
    """`emdiam exact` on two workers, once all of its ranks are connected; it is ended at the end."""
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "emdiam", "exact", str(store), "--workers", "2", "--worker-memory", "1GiB", "--method",
         "apsp", "--json", *options], env={**os.environ, "TMPDIR": str(folder)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    try:
        found = psutil.Process(process.pid)
        wait_until(lambda: process.poll() is not None or len(listening(found)) >= 7)
        assert process.poll() is None, process.communicate()[1]
        yield found
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def listening(main: psutil.Process) -> list[tuple[str, int]]:
    """Where a process and its children listen: the scheduler, two nannies, two workers and two ranks."""
    places = []
    for process in (main, *main.children(recursive=True)):
        try:
            places += [tuple(one.laddr) for one in process.net_connections("inet") if one.status == psutil.CONN_LISTEN]
        except psutil.Error:  # it has ended meanwhile
            continue
    return places


def stranger(places: list[tuple[str, int]], user: int | None) -> list[str]:
    """What becomes of a plain client and one of TLS at each place, of another user or of this one without the key."""
    done = subprocess.run(
        [sys.executable, "-c", STRANGER, str(user or "same"), *(f"{host}:{port}" for host, port in places)],
        capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def answer_to_get(place: tuple[str, int]) -> bytes:
    """What comes back for a request of HTTP."""
    with socket.create_connection(place, timeout=PATIENCE) as connection:
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        answer = b""
        try:
            while more := connection.recv(1 << 12):
                answer += more
        except ConnectionError:
            pass
        return answer


def greeting(place: tuple[str, int]) -> bytes:
    """What one that takes any certificate and shows none is sent, once it has talked TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(place, timeout=PATIENCE) as plain, context.wrap_socket(plain) as secure:
            return secure.recv(1 << 12)
    except (ssl.SSLError, ConnectionError):
        return b""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A torus that all searches take a minute for."""
    path = tmp_path_factory.mktemp("private") / "torus.zarr"
    generate("torus", path, parameters={"sides": "100x100"})
    return path


def check_closed(places: list[tuple[str, int]]) -> None:
    """Nothing answers one without the key."""
    assert {host for host, _ in places} == {"127.0.0.1"}
    for place in places:
        assert b"HTTP" not in answer_to_get(place)
        assert greeting(place) == b""
    assert stranger(places, None) == ["refused"] * 2 * len(places)


def check_folder(temporary: Path) -> None:
    """What Dask writes is in one folder that only this user can enter."""
    (folder,) = temporary.iterdir()
    assert folder.name.startswith("emdiam-workers-") and stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_listens_without_the_key(store: Path, tmp_path: Path) -> None:
    import dask

    from emdiam.dask.opening import open_dask_engine
    from emdiam.dask.setting import OnCluster

    main = psutil.Process()
    before = {*listening(main)}
    with dask.config.set({"temporary-directory": str(tmp_path)}), open_store(store) as opened, open_dask_engine(
            opened, OnCluster(workers=1, worker_memory_bytes=1 << 30), needs_of(opened, make_task("pivots")),
            lambda: open_engine(opened, memory_bytes=MEMORY), threads=1, progress=None, options={}):
        places = sorted({*listening(main)} - before)
        assert len(places) == 4  # the scheduler, a nanny, its worker, a rank
        check_closed(places)
        check_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_nothing_of_a_command_listens_without_the_key(store: Path, tmp_path: Path) -> None:
    with run_of_workers(store, tmp_path / "tmp") as main:
        places = listening(main)
        assert len(places) == 7
        check_closed(places)
        check_folder(tmp_path / "tmp")
        words = [word for child in main.children(recursive=True) for word in child.cmdline()]
        assert not any("PRIVATE" in word for word in words)


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_another_user_is_refused_everywhere(store: Path, tmp_path: Path) -> None:
    with run_of_workers(store, tmp_path / "tmp") as main:
        assert stranger(listening(main), NOBODY) == ["refused"] * 14


def test_a_stranger_is_let_into_a_cluster_without_tls() -> None:
    """So that the tests above can fail."""
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, processes=True) as cluster:
        host, port = cluster.scheduler.address.removeprefix("tcp://").split(":")
        assert stranger([(host, int(port))], None) == ["in", "refused"]


# -- the dashboard --------------------------------------------------------------------------------
def test_the_dashboard_is_where_a_line_says(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("bokeh", reason="bokeh is not installed")
    from urllib.request import urlopen

    from emdiam.dask.opening import connected
    from emdiam.dask.setting import OnCluster

    with connected(OnCluster(workers=1, dashboard=True), 1):
        (said,) = [record.getMessage() for record in caplog.records if record.name == "emdiam"]
        address = next(word for word in said.split() if word.startswith("http://127.0.0.1:")).rstrip(";")
        assert "every user of this machine" in said
        with urlopen(address, timeout=PATIENCE) as page:
            assert page.status == 200


def test_a_dashboard_that_cannot_be_is_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="leave --dashboard out"):
        task_of("exact", {"scheduler": "tcp://127.0.0.1:8786", "dashboard": True})
    with pytest.raises(InputError, match="no workers"):
        task_of("exact", {"dashboard": True})
    monkeypatch.setitem(sys.modules, "distributed.dashboard.scheduler", None)
    with pytest.raises(InputError, match="pip install bokeh"):
        execute(store, task_of("exact", {"workers": 1, "dashboard": True}))


def test_without_what_tls_needs_there_are_no_workers(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(InputError, match=r"pip install 'emdiam\[dask\]'"):
        execute(store, task_of("exact", {"workers": 1}))


# -- schedulers of others -------------------------------------------------------------------------
@pytest.mark.parametrize("secure", [False, True])
def test_a_scheduler_without_tls_is_used_and_said(
    secure: bool, store: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import dask

    security = distributed.Security.temporary() if secure else None
    files: dict[str, Any] = {}
    if security is not None:
        for name, text in (("key", security.tls_client_key), ("cert", security.tls_client_cert)):
            (tmp_path / name).write_text(text)
            files[f"distributed.comm.tls.client.{name}"] = str(tmp_path / name)
        files["distributed.comm.tls.ca-file"] = str(tmp_path / "cert")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
                                  memory_limit=0, host="127.0.0.1", protocol="tls://" if secure else "tcp://",
                                  security=security) as cluster, dask.config.set(files):
        options = {"scheduler": cluster.scheduler.address, "worker_memory": "4GiB"}
        assert execute(store, task_of("exact", options)).diameter == 100
    said = [record.getMessage() for record in caplog.records if "without TLS" in record.getMessage()]
    assert len(said) == (0 if secure else 1)


@pytest.mark.parametrize("address", ["tls://127.0.0.1:1", "nosuch://127.0.0.1:1"])
def test_a_scheduler_that_dask_cannot_connect_to_is_refused(address: str, store: Path) -> None:
    """And what else computes by Dask in this process goes on where it did."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(InputError, match="Dask cannot connect to the scheduler"):
            execute(store, task_of("exact", {"scheduler": address}))
        assert dask.config.get("scheduler") == "synchronous"


def test_what_dask_refuses_before_it_starts_a_client_is_refused() -> None:
    from emdiam.dask.opening import client_of

    with pytest.raises(InputError, match="Dask cannot connect to the scheduler"), client_of(5):
        pass


# -- losses while workers start -------------------------------------------------------------------
def test_workers_that_end_while_they_start_are_replaced_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from emdiam.dask import internals
    from emdiam.dask.opening import connected
    from emdiam.dask.setting import OnCluster

    monkeypatch.setattr(internals, "START_SECONDS", PATIENCE)  # less than a test may take

    def processes() -> list[psutil.Process]:
        return [one for one in psutil.Process().children() if "spawn_main" in " ".join(one.cmdline())]

    with connected(OnCluster(workers=1), 1) as client:
        cluster = client.cluster
        cluster.mend()
        wait_until(processes)
        for process in processes():
            process.kill()
        assert len(internals.await_workers(client)) == 1

