"""Servers that fail, refuse, hang or change what they serve: a sentence each, and no wrong answer."""

from __future__ import annotations

import base64
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from emdiam.errors import InputError, StoreError, is_url, redacted
from emdiam.store.store import open_store
from tests.helpers.damage import CHUNK, make_store, read_array, read_store, some_graph
from tests.helpers.http_faulty import Conduct, FaultyServer, faulty_serving
from tests.helpers.waiting import wait_until

pytest.importorskip("obstore")
GRAPH = some_graph()
SHARD, RECORD = "/g.zarr/indices/c/0", "/g.zarr/zarr.json"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyServer]:
    with faulty_serving(tmp_path_factory.mktemp("served")) as server:
        make_store(server.root / "g.zarr", GRAPH)
        yield server


@pytest.fixture
def server(serving: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> FaultyServer:
    """A server that serves as it should, so far."""
    serving.conduct = Conduct()
    monkeypatch.setenv("NETRC", "/nonexistent/netrc")
    return serving


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For servers that do not answer."""
    monkeypatch.setenv("EMDIAM_REMOTE_TIMEOUT", "0.5")


def url_of(server: FaultyServer, user: str = "", query: str = "") -> str:
    return f"http://{user}{server.host}/g.zarr{query}"


def refusal(url: str) -> str:
    """The sentence with which reading the store is refused."""
    with pytest.raises(StoreError) as error:
        read_store(url)
    assert error.value.exit_code == 2 and "\n" not in str(error.value) and "; " in str(error.value)
    assert error.value.__suppress_context__
    return str(error.value)


def is_right(url: str) -> bool:
    """Whether the arrays at the address are those of the graph."""
    found = read_store(url)
    with open_store(url) as store:
        assert store.n_vertices == len(GRAPH)
    return found["indices"].tolist() == [v for row in GRAPH for v in sorted(row)]


@pytest.mark.parametrize("fault", [500, 503, 429, "cut", "hang"])
@pytest.mark.parametrize("path", [SHARD, RECORD])
def test_what_passes_is_tried_again(
    server: FaultyServer, path: str, fault: int | str, request: pytest.FixtureRequest,
):
    if fault == "hang":
        request.getfixturevalue("impatient")
    server.conduct.faults = {path: [fault]}
    assert is_right(url_of(server))
    assert server.conduct.faults == {path: []}


@pytest.mark.parametrize(("fault", "sentence", "times"), [
    (404, "the object is missing (404 Not Found, Told)", 1),
    (403, "the server refuses the request (403 Forbidden, Told)", 1),
    (401, "the server refuses the request (401 Unauthorized, Told)", 1),
    (500, "the server answers with an error (500 Internal Server Error, Told) (tried 5 times)", 5),
    (400, "the server answers with an error (400 Bad Request, Told)", 1),
    (416, "the object ends before the bytes that were asked for", 1),
    ("cut", "the answer of the server breaks off before its end", 3),
    ("hang", "the server does not answer in time", None),
])
def test_what_stays_is_a_sentence(
    server: FaultyServer, fault: int | str, sentence: str, times: int | None, request: pytest.FixtureRequest,
):
    if fault == "hang":
        request.getfixturevalue("impatient")
    server.conduct = Conduct(faults={SHARD: [fault, "always"]}, tags=False)
    text = refusal(url_of(server))
    assert text.startswith(url_of(server) + "/indices/c/0: ") and sentence in text and "hidden" not in text
    n = server.conduct.seen.count(SHARD)
    assert n == times or (times is None and 2 <= n <= 5)


def test_a_server_that_hangs_does_not_hang_us(server: FaultyServer, impatient: None):
    server.conduct.faults = {RECORD: ["hang", "always"]}
    assert "the server does not answer in time" in refusal(url_of(server))


@pytest.mark.parametrize("tags", [True, False])
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_shard_that_is_replaced(server: FaultyServer, tags: bool, codec: str):
    """Without compression the chunks of the other shard lie where those of the first did. A server without tags
    and dates has nothing but sizes, so there the other one is longer."""
    server.conduct.tags = tags
    folders = [make_store(server.root / name, graph, codec=codec) for name, graph in (
        ("a.zarr", GRAPH), ("b.zarr", some_graph(seed=6) if tags else some_graph(n=330, edges=1500, seed=6)))]
    try:
        with open_store(f"http://{server.host}/a.zarr") as store:
            row = np.empty(CHUNK, np.uint32)
            store.indices.fetch(0, [row])
            os.replace(folders[1] / "indices/c/0", folders[0] / "indices/c/0")
            with pytest.raises(StoreError, match=r"a.zarr/indices/c/0: the object was replaced while"):
                store.indices.fetch(1, [row])
    finally:
        for folder in folders:
            shutil.rmtree(folder)


def test_a_store_that_is_replaced_before_its_shards_are_touched(server: FaultyServer):
    path = make_store(server.root / "a.zarr", GRAPH)
    try:
        with open_store(f"http://{server.host}/a.zarr") as store:
            make_store(path, some_graph(seed=7), force=True)
            with pytest.raises(StoreError, match=r"a.zarr: the store was replaced while"):
                read_array(store.indices)
    finally:
        shutil.rmtree(path)


def test_many_shards_are_pinned_at_once(server: FaultyServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("emdiam.store.layout.SHARD_BYTES", CHUNK * 4)
    path = make_store(server.root / "many.zarr", GRAPH)
    expected = read_store(path)
    with open_store(f"http://{server.host}/many.zarr") as store:
        n_shards = store.indices.n_shards
        assert n_shards > 20
        server.conduct = Conduct(gate=lambda: len(server.conduct.seen) >= 8)  # eight requests before the first answer
        store.indices.fetch(0, [np.empty(CHUNK, np.uint32)])
        assert len(server.conduct.seen) == n_shards + 2
        assert_array_equal(read_array(store.indices), expected["indices"])
        server.conduct.faults = {"/many.zarr/indptr/c/1": [404, "always"]}
        with pytest.raises(StoreError, match="indptr/c/1: the object is missing"):
            read_array(store.indptr)
    shutil.rmtree(path)


def test_values_come_in_few_requests(server: FaultyServer):
    with open_store(url_of(server)) as store:
        server.conduct.seen.clear()
        found = np.concatenate([piece.copy() for piece in store.values("indices")])
        assert store.indices.n_chunks > 5
    assert len(server.conduct.seen) == 3
    assert found.tolist() == [v for row in GRAPH for v in sorted(row)]


def requests(server: FaultyServer, most: int) -> int:
    """How many requests the server has seen; those made ahead may take a moment, of which `most` are waited for."""
    wait_until(lambda: len(server.conduct.seen) >= most)
    return len(server.conduct.seen)


def test_requests_ahead(server: FaultyServer):
    """A run that was announced is asked for once; one that cannot be had is an error when it is fetched; a new
    pass drops what is left of the last one."""
    rows = list(np.empty((2, CHUNK), np.uint32))
    expected = [v for row in GRAPH for v in sorted(row)]
    with open_store(url_of(server)) as store:
        store.indices.prefetch(0, 2)  # the index is not known: nothing happens
        store.indices.fetch(0, rows)
        server.conduct.seen.clear()
        for first in (2, 4, 6):
            store.indices.prefetch(first, 2)
        for first in (4, 2):
            store.indices.fetch(first, rows)
            assert np.concatenate(rows).tolist() == expected[first * CHUNK : (first + 2) * CHUNK]
        assert requests(server, 3) == 3
        store.indices.prefetch(0, 2)
        store.indices.fetch(6, rows)
        assert requests(server, 5) == 5
        server.conduct.faults = {SHARD: [404]}
        store.indices.prefetch(8, 2)
        with pytest.raises(StoreError, match="indices/c/0: the object is missing"):
            store.indices.fetch(8, rows)
        store.indices.fetch(8, rows)
        assert np.concatenate(rows).tolist() == expected[8 * CHUNK : 10 * CHUNK]


def test_requests_ahead_are_bounded(server: FaultyServer, monkeypatch: pytest.MonkeyPatch):
    with open_store(url_of(server)) as store:
        store.indices.fetch(0, [np.empty(CHUNK, np.uint32)])
        monkeypatch.setattr("emdiam.store.remote.AHEAD_BYTES", 600)
        assert store.ahead_bytes == 600
        answering = threading.Event()
        server.conduct = Conduct(gate=answering.is_set)
        for chunk in range(1, 12):
            store.indices.prefetch(chunk, 1)
        wait_until(lambda: len(server.conduct.seen) >= 2)
        time.sleep(0.1)
        assert 2 <= len(server.conduct.seen) <= 6
        answering.set()


def test_user_and_password(server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    server.conduct.authorization = "Basic " + base64.b64encode(b"ann:s3/cret").decode()
    assert is_right(url_of(server, user="ann:s3%2Fcret@"))
    assert "zarr.json: the server refuses the request (401 Unauthorized); check the cred" in refusal(url_of(server))
    text = refusal(url_of(server, user="ann:wrongword@"))
    assert text.startswith(url_of(server)) and "wrongword" not in text and "ann" not in text
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password s3/cret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert is_right(url_of(server))
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann passwrd s3/cret\n")
    with pytest.raises(InputError, match="netrc: the netrc file cannot be read") as error:
        open_store(url_of(server))
    assert "cret" not in str(error.value)


def test_a_signed_query(server: FaultyServer):
    server.conduct.query = "X-Sig=sesame&e=1"
    url = url_of(server, query="?X-Sig=sesame&e=1")
    assert is_right(url)
    with open_store(url) as store:
        assert store.path == url_of(server)
    text = refusal(url_of(server, query="?X-Sig=mustard"))
    assert "(403 Forbidden, SignatureDoesNotMatch)" in text and "mustard" not in text
    server.conduct.faults = {RECORD: [500, "always"]}
    assert "sesame" not in refusal(url)


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "1e9"])
def test_a_bad_timeout(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EMDIAM_REMOTE_TIMEOUT", text)
    with pytest.raises(InputError, match="EMDIAM_REMOTE_TIMEOUT is no number of seconds"):
        open_store("http://127.0.0.1:9/g.zarr")


SECRET = st.text(st.characters(exclude_characters="/?#'\"<> ", min_codepoint=33, max_codepoint=126), min_size=1)


@given(SECRET, SECRET)
def test_addresses_are_shown_without_secrets(user: str, query: str):
    whole = f"see https://{user}@host.org/a/g.zarr?{query} and s3://bucket/a; http://host:80/b"
    assert redacted(whole) == "see https://host.org/a/g.zarr and s3://bucket/a; http://host:80/b"
    assert redacted(redacted(whole)) == redacted(whole)


def test_what_is_no_address_stays():
    for text in ("", "g.zarr", "/a b/what?.txt", "user@host:/x", "a#b", "file:///a/g.zarr"):
        assert redacted(text) == text and not is_url(text)
    assert is_url("s3://b/g") and is_url("zip::file:///a.zip") and is_url("HTTP://x/y")
