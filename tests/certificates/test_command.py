"""`emdiam verify` as a user meets it: answers, refusals, exit codes, and the memory promise."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from emdiam.certificates.documents import Claims, VerifyReport, read_certificate
from emdiam.certificates.writing import write_certificate
from emdiam.engine.interface import max_degree_vertex
from emdiam.methods.result import ComponentProof, Proof
from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from tests.certificates.test_documents import seal
from tests.conftest import Run
from tests.helpers import prover
from tests.helpers.stores import odd_graphs, write_store

pytestmark = pytest.mark.thin(8, sampled=("arguments", "text"))

ODD = odd_graphs()
FIELDS = {*VerifyReport.__dataclass_fields__, "memory_limit_exceeded"}


def prepared(folder: Path, name: str) -> tuple[Path, Path]:
    """(certificate, store) of an odd graph."""
    store = write_store(folder / "g.zarr", ODD[name])
    return prover.write(folder / "c.json", store, *prover.exact_proof(ODD[name], pivots=3)), store


def test_a_proof(command: Run, tmp_path: Path) -> None:
    prepared(tmp_path, "grid")
    done = command("verify", "c.json", "g.zarr", "--memory", "4GiB", "--threads", "2", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    first, proof, time, memory = done.stdout.splitlines()
    assert first == "verified: diameter 21"
    assert re.fullmatch(r"proof: \d+ traversals?, 1 scan; [\d,]+ comparisons? for the pairs of [\d,]+ vert(ex|ices)"
                        r" that traversals leave open", proof)
    assert time.startswith("time: ") and memory.startswith("memory: peak ")


@pytest.mark.slow
def test_several_components_and_json(command: Run, tmp_path: Path) -> None:
    prepared(tmp_path, "clique-and-path")
    done = command("verify", "c.json", "g.zarr", "-q")
    assert "verified: largest diameter of any component 11 (2 components)\n" in done.stdout
    assert "verified: diameter of the largest component 1\n" in done.stdout
    report = json.loads(command("verify", "c.json", "g.zarr", "-q", "--json").stdout)
    assert set(report) == FIELDS
    assert report["verified"] and report["reason"] is None and report["diameter"] is None
    assert (report["lower"], report["upper"], report["diameter_largest_component"]) == (11, 11, 1)
    assert report["peak_rss_bytes"] <= report["memory_limit_bytes"]


def test_a_refusal_leaves_with_2_and_one_sentence(command: Run, tmp_path: Path) -> None:
    path, _ = prepared(tmp_path, "grid")
    document = json.loads(path.read_bytes())
    document["components"][0]["pivots"] = document["components"][0]["sources"] = [60]
    path.write_bytes(seal(document))
    read_certificate(path)
    done = command("verify", "c.json", "g.zarr", "-q")
    assert (done.returncode, done.stdout) == (2, "")
    why = r"emdiam: c.json: not proved: vertices \d+ and \d+ are not proved to be within 21\n"
    assert re.fullmatch(why, done.stderr)
    done = command("verify", "c.json", "g.zarr", "-q", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 2 and not report["verified"] and report["reason"] in done.stderr


@pytest.mark.parametrize("arguments, text", [
    (["none.json", "g.zarr"], "cannot be read"), (["c.json", "none.zarr"], "no such store"),
    (["cut.json", "g.zarr"], "not a certificate"), (["c.json", "other.zarr"], "it is about a graph"),
    (["c.json", "g.zarr", "--memory", "1MiB"], "too small"),
])
def test_what_is_at_fault_is_said(command: Run, tmp_path: Path, arguments: list[str], text: str) -> None:
    path, _ = prepared(tmp_path, "torus")
    (tmp_path / "cut.json").write_bytes(path.read_bytes()[:100])
    write_store(tmp_path / "other.zarr", ODD["cycle"])
    done = command("verify", *arguments, "-q")
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr and len(done.stderr.splitlines()) == 1


def test_progress_goes_to_stderr(emdiam: Run, tmp_path: Path) -> None:
    prepared(tmp_path, "grid")
    done = emdiam("verify", "c.json", "g.zarr")
    assert done.stdout.startswith("verified") and done.stderr


# -- memory ---------------------------------------------------------------------------------------
def random_certificate(store: Path, path: Path, columns: int) -> None:
    """Pivots and sources at random; the first pivot alone proves twice its eccentricity."""
    with open_store(store) as opened, open_engine(opened) as engine:
        hub = max_degree_vertex(engine)
        run = engine.bfs(hub)
        others = engine.components(hub)
        count = engine.facts.n_isolated + 1 + (0 if others is None else others.n_others)
        assert run.distances is not None
        reached = run.distances.select("<", run.distances.unreached)
        chosen = np.random.default_rng(0).choice(reached, columns, replace=False).tolist()
        part = ComponentProof(hub, run.n_reached, run.levels, 2 * run.levels, (hub, run.farthest),
                              [hub, *chosen[: columns // 2]], chosen[columns // 2 :])
        write_certificate(path, Proof([part]), Claims(run.levels, 2 * run.levels, None, count, count == 1), opened)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 40, 300])
@pytest.mark.parametrize("kind", [
    ["kronecker", "--vertices", "2^18", "--edge-factor", "16", "--seed", "1"], ["grid", "--sides", "500x500"]])
def test_peak_stays_below_the_smallest_budget(emdiam: Run, tmp_path: Path, kind: list[str], columns: int) -> None:
    emdiam("generate", kind[0], "g.zarr", *kind[1:], "-q")
    random_certificate(tmp_path / "g.zarr", tmp_path / "c.json", columns)
    refused = emdiam("verify", "c.json", "g.zarr", "--memory", "100MiB", "-q")
    (least,) = re.findall(r"give at least --memory (\d+MiB)", refused.stderr)
    for memory in (least, f"{int(least[:-3]) + 30}MiB", "1GiB"):
        done = checked(emdiam("verify", "c.json", "g.zarr", "--memory", memory, "-q", "--json"))
        assert done["verified"] and done["peak_rss_bytes"] <= done["memory_limit_bytes"]
        assert done["traversals"] >= columns


def checked(done: subprocess.CompletedProcess[str]) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
