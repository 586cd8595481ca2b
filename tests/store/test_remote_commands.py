"""Every command that reads a store, on an address with a password and a signature: right, and nothing of them told."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.generators import generate
from tests.helpers.http_faulty import Conduct, FaultyServer, faulty_serving

pytest.importorskip("obstore")
SECRETS = ("sesame", "mustard")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyServer]:
    with faulty_serving(tmp_path_factory.mktemp("served")) as server:
        generate("grid", server.root / "g.zarr", parameters={"sides": "20x30"})
        server.conduct = Conduct(authorization="Basic " + base64.b64encode(b"ann:sesame").decode(), query="sig=mustard")
        yield server


@pytest.fixture
def url(serving: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a grid of 20 x 30; the folder is an empty one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMDIAM_REMOTE_TIMEOUT", "5")
    return f"http://ann:sesame@{serving.host}/g.zarr?sig=mustard"


Told = Callable[..., str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Told:
    """Run a command line that must leave with `code`; standard output, or where `code` is not 0 standard
    error. Neither, nor what is logged, may have a secret."""
    caplog.set_level(logging.DEBUG)

    def answer(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        left = run(group, list(arguments))
        out, err = capsys.readouterr()
        assert left == code, err
        for text in (out, err, caplog.text):
            assert not any(secret in text for secret in SECRETS), text
        return out if code == 0 else err

    return answer


def no_secret_below(folder: Path, spared: str = "") -> None:
    """No file below the folder has a secret in its name or content, but for the one whose name is spared."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != spared]
    assert files
    for path in files:
        assert not any(secret.encode() in path.read_bytes() or secret in str(path) for secret in SECRETS), path


def test_info_and_plan(url: str, told: Told, tmp_path: Path):
    assert "600" in told("info", url, "--check", "-q", "--events", "events.jsonl")
    assert json.loads(told("info", url, "--json"))["path"] == url.replace("ann:sesame@", "").partition("?")[0]
    assert json.loads(told("plan", url, "--method", "pivots", "--json", "-q", "--events", "events.jsonl"))
    no_secret_below(tmp_path)


def test_exact_verify_and_approx(url: str, told: Told, tmp_path: Path, serving: FaultyServer):
    result = json.loads(told("exact", url, "--json", "-q", "--certificate", "proof.json", "--events", "e.jsonl",
                             "--checkpoint", "kept", "--memory", "4GiB"))
    assert result["diameter"] == 48 and result["exact"]
    assert json.loads(told("verify", "proof.json", url, "--json", "-q", "--events", "e.jsonl"))["verified"]
    rough = json.loads(told("approx", url, "--method", "sweep", "--json", "-q", "--events", "e.jsonl"))
    assert rough["lower"] <= 48 <= rough["upper"]
    no_secret_below(tmp_path)


def test_reorder(url: str, told: Told, tmp_path: Path):
    told("reorder", url, "d.zarr", "--order", "degree", "-q", "--events", "e.jsonl", "--memory", "4GiB")
    assert json.loads(told("info", "d.zarr", "--json"))["ordering"] == "degree"
    no_secret_below(tmp_path)


@pytest.mark.parametrize("command", ["info", "exact", "approx", "plan"])
def test_refusals(url: str, told: Told, command: str):
    for address, what in ((url.replace("sesame", "wrong"), "(401 Unauthorized)"),
                          (url.replace("mustard", "wrong"), "(403 Forbidden, SignatureDoesNotMatch)"),
                          (url.replace("g.zarr", "h.zarr"), "the object is missing (404 Not Found)")):
        sentence = told(command, address, code=2).strip().splitlines()[-1]
        assert what in sentence and "; check " in sentence and sentence.startswith("emdiam: http://127.0.0.1:")


@pytest.mark.slow
def test_tradeoff_and_batch(url: str, told: Told, tmp_path: Path):
    told("tradeoff", url, "--out", "grid", "--methods", "sweep", "--seed", "1", "-q")
    (tmp_path / "jobs.toml").write_text(
        f'[[job]]\nname = "far"\ncommand = "exact"\nstore = "{url}"\noptions = {{ method = "fdiam" }}\n'
        f'[[job]]\nname = "none"\ncommand = "exact"\nstore = "{url.replace("g.zarr", "h.zarr")}"\n')
    assert "the object is missing" in told("batch", "jobs.toml", "--dry-run", code=2)
    told("batch", "jobs.toml", "--keep-going", code=2)
    told("report", "grid", "--out", "page.html")
    no_secret_below(tmp_path, spared="jobs.toml")
