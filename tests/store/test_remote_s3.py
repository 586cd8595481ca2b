"""Stores in S3: a server on loopback that checks signatures, and credentials found as the ecosystem keeps them."""

from __future__ import annotations

import gzip
import json
import logging
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import emdiam
from emdiam.errors import InputError, StoreError
from emdiam.methods.exact.fdiam import fdiam
from emdiam.runs.opening import open_engine
from emdiam.store.check import check_store
from tests.helpers.damage import CHUNK, make_store, read_store, some_graph

boto3 = pytest.importorskip("boto3")
moto_server = pytest.importorskip("moto.server")
pytest.importorskip("obstore")
GRAPH = some_graph()
NAMES = [f"vertex {v:03}" for v in range(300)]
ROOT = "s3://graphs/some/g.zarr"
VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE",
             "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AWS_SKIP_SIGNATURE", "AWS_REGION",
             "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
             "AWS_CONTAINER_CREDENTIALS_FULL_URI")


@dataclass
class Bucket:
    """A server of S3 with the bucket `graphs`. url : its address. client : of boto3, with the keys of `user`, whom the
    server knows. folder : the store that is there."""

    url: str
    client: Any
    user: dict[str, str]
    folder: Path


def _user(url: str) -> dict[str, str]:
    """The keys of a new user who may do everything in S3."""
    free = {"aws_access_key_id": "first", "aws_secret_access_key": "first", "region_name": "us-east-1"}
    iam = boto3.client("iam", endpoint_url=url, **free)
    iam.create_user(UserName="reader")
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    iam.put_user_policy(UserName="reader", PolicyName="all", PolicyDocument=json.dumps(policy))
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    return {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}


def _demand_signatures(url: str, free_requests: str) -> None:
    """Let moto look at signatures after so many requests ("inf": never)."""
    request = urllib.request.Request(f"{url}/moto-api/reset-auth", free_requests.encode(),
                                     {"Content-Type": "application/octet-stream"})
    urllib.request.urlopen(request).close()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    user = _user(url)
    client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", **user)
    client.create_bucket(Bucket="graphs")
    _demand_signatures(url, "0")
    yield Bucket(url, client, user, make_store(tmp_path_factory.mktemp("s3") / "g.zarr", GRAPH, ids=NAMES))
    _demand_signatures(url, "inf")
    server.stop()


@pytest.fixture
def bucket(serving: Bucket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bucket:
    """The store uploaded whole, and an environment that has nothing of AWS but the endpoint."""
    for file in serving.folder.rglob("*"):
        if file.is_file():
            key = f"some/g.zarr/{file.relative_to(serving.folder)}"
            serving.client.put_object(Bucket="graphs", Key=key, Body=file.read_bytes())
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", serving.url)
    monkeypatch.setenv("EMDIAM_REMOTE_TIMEOUT", "5")
    return serving


@pytest.fixture
def keys(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """The bucket, and its keys in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", bucket.user["aws_access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", bucket.user["aws_secret_access_key"])
    return bucket


def refusal(url: str = ROOT) -> str:
    """The sentence with which reading the store is refused."""
    with pytest.raises(StoreError) as error:
        read_store(url)
    assert error.value.exit_code == 2 and "\n" not in str(error.value) and "; " in str(error.value)
    return str(error.value)


def test_the_same_answer_as_from_files(keys: Bucket):
    expected = read_store(keys.folder)
    for name, values in read_store(ROOT).items():
        assert_array_equal(expected[name], values)
    answers = []
    for place in (keys.folder, ROOT):
        with emdiam.open(place) as store, open_engine(store, memory_bytes=2 << 30, arena_bytes=4 * CHUNK * 4) as engine:
            answers.append(fdiam(engine))
            check_store(store)
    assert answers[0].witness == answers[1].witness is not None
    assert answers[0].diameter_max_component == answers[1].diameter_max_component > 0
    with emdiam.open(ROOT + "/") as store:
        assert store.path == ROOT and store.to_dask().ids.compute().tolist() == NAMES


def test_keys_that_are_refused(keys: Bucket, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mustard")
    text = refusal()
    assert text.startswith(f"{ROOT}/zarr.json: the server refuses the request (403 Forbidden, SignatureDoesNotMatch)")
    assert "mustard" not in text and keys.user["aws_access_key_id"] not in text
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAUNKNOWN")
    assert "(403 Forbidden, InvalidAccessKeyId)" in refusal()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert "there are no credentials for S3; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in refusal()
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    assert "the server refuses the request" in refusal()


def test_a_profile(bucket: Bucket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    key, secret = bucket.user.values()
    (tmp_path / "credentials").write_text(
        f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n"
        "[other]\naws_access_key_id = AKIAUNKNOWN\naws_secret_access_key = mustard\n")
    assert_array_equal(read_store(ROOT)["indices"], read_store(bucket.folder)["indices"])
    monkeypatch.setenv("AWS_PROFILE", "other")
    assert "InvalidAccessKeyId" in refusal()
    monkeypatch.setenv("AWS_PROFILE", "absent")
    assert "the profile of AWS cannot be used (ProfileNotFound" in refusal()
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    (tmp_path / "config").write_text(f"[profile here]\nendpoint_url = {bucket.url}\nregion = us-east-1\n"
                                     f"aws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
    monkeypatch.setenv("AWS_PROFILE", "here")
    assert_array_equal(read_store(ROOT)["indices"], read_store(bucket.folder)["indices"])
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert "the credentials of a profile need the package boto3" in refusal()


def test_no_credentials(bucket: Bucket, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    text = refusal()
    assert "there are no credentials for S3" in text and "AWS_SKIP_SIGNATURE=true for a public bucket" in text


def test_what_is_missing_or_short(keys: Bucket):
    key = "some/g.zarr/indices/c/0"
    data = (keys.folder / "indices/c/0").read_bytes()
    with emdiam.open(ROOT) as store:
        row = np.empty(CHUNK, np.uint32)
        store.indices.fetch(0, [row])
        keys.client.put_object(Bucket="graphs", Key=key, Body=data[:-1] + b"?")
        with pytest.raises(StoreError, match="indices/c/0: the object was replaced"):
            store.indices.fetch(1, [row])
        keys.client.put_object(Bucket="graphs", Key=key, Body=data[:100])
        with pytest.raises(StoreError, match="indices/c/0: "):
            store.indices.fetch(2, [row])
        keys.client.delete_object(Bucket="graphs", Key=key)
        with pytest.raises(StoreError, match="indices/c/0: the object is missing .404 Not Found, NoSuchKey"):
            store.indices.fetch(3, [row])
    assert "NoSuchKey" in refusal()
    keys.client.put_object(Bucket="graphs", Key=key, Body=data[: len(data) // 2])
    assert "checksum mismatch in the shard index" in refusal() or "bytes came where" in refusal()
    assert "NoSuchBucket" in refusal("s3://absent/g.zarr")


@pytest.mark.parametrize("url", ["s3://", "s3:///g.zarr", "s3://key:mustard@graphs/g.zarr", "s3://graphs/g.zarr?sig=mustard"])
def test_addresses_that_are_none(bucket: Bucket, url: str):
    text = refusal(url)
    assert "s3://BUCKET/PATH and nothing else" in text and "mustard" not in text


def test_a_list_of_edges_in_a_bucket(keys: Bucket, tmp_path: Path) -> None:
    text = gzip.compress("".join(f"{v} {v + 1}\n" for v in range(999)).encode())
    keys.client.put_object(Bucket="graphs", Key="some/edges.txt.gz", Body=text)
    address = "s3://graphs/some/edges.txt.gz"
    report = emdiam.convert(address, tmp_path / "g.zarr", memory="2GiB")
    assert (report.record.n_edges, report.record.source) == (999, [address])
    with pytest.raises(InputError, match="missing") as caught:
        emdiam.convert("s3://graphs/some/none.txt", tmp_path / "h.zarr", memory="2GiB")
    assert caught.value.path == "s3://graphs/some/none.txt" and caught.value.exit_code == 2
