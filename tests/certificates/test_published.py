"""Certificates elsewhere: against the files of a graph in any format, from an address, and by the published schema."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import emdiam
from emdiam.certificates import sealed
from emdiam.certificates.documents import _FORMATS, read_certificate
from emdiam.errors import InputError
from tests.certificates.test_methods import TAILS
from tests.conftest import ROOT, Run
from tests.helpers.bvgraph import write_bvgraph
from tests.helpers.http_range import RangeServer, serving
from tests.helpers.json_schema import fits
from tests.helpers.stores import write_store

PUBLISHED = ROOT / "docs" / "certificates"
SCHEMA = json.loads((PUBLISHED / "schema.json").read_text())
N_VERTICES, DIAMETER = 40, 12


def ring() -> list[tuple[int, int]]:
    """Edges of a ring of 16, with an arm of 4 edges at 5 and a star at 3: every vertex has one."""
    return [*((v, (v + 1) % 16) for v in range(16)), *((v, v + 1) for v in range(16, 19)), (19, 5),
            *((3, v) for v in range(20, N_VERTICES))]


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of the ring, made of a store in another order with small chunks."""
    folder = tmp_path_factory.mktemp("proof")
    rng = np.random.default_rng(2)
    edges = rng.permutation(np.array(ring()))
    emdiam.convert(edges, folder / "g.zarr", order="degree", chunk=64, codec="none")
    emdiam.exact(folder / "g.zarr", certificate=folder / "proof.json")
    return folder / "proof.json"


def _text(path: Path) -> None:
    path.write_text("# from to\n" + "".join(f"{b} {a}\n" for a, b in reversed(ring())) + "3 3\n0 1\n")


def _parquet(path: Path) -> None:
    pd.DataFrame(ring(), columns=["source", "target"]).assign(weight=2.5).to_parquet(path)


def _rows() -> list[list[int]]:
    rows: list[set[int]] = [set() for _ in range(N_VERTICES)]
    for a, b in ring():
        rows[a].add(b)
        rows[b].add(a)
    return [sorted(row) for row in rows]


def _bvgraph(path: Path) -> None:
    write_bvgraph(path, _rows())


def _npz(path: Path) -> None:
    ends = np.array(ring()).T
    sparse.save_npz(path, sparse.coo_array((np.ones(len(ends[0])), tuple(ends)), (N_VERTICES, N_VERTICES)))


def _store(path: Path) -> None:
    emdiam.convert(np.array(ring()), path, order="bfs", codec="pcodec")


FILES: dict[str, Callable[[Path], None]] = {
    "edges.txt": _text, "table.parquet": _parquet, "web.graph": _bvgraph, "matrix.npz": _npz, "store.zarr": _store}


@pytest.mark.parametrize("name", FILES)
def test_a_certificate_is_proved_by_the_files_of_the_graph(proof: Path, name: str, tmp_path: Path) -> None:
    FILES[name](tmp_path / name)
    report = emdiam.verify(proof, tmp_path / name, memory="2GiB")
    assert report.verified and report.diameter == DIAMETER
    assert (report.converted is None) == (name == "store.zarr")


def test_files_of_another_graph_do_not_prove_it(proof: Path, tmp_path: Path) -> None:
    """The same edges by other ids, and one edge elsewhere."""
    names = ["".join(f"{a + 1} {b + 1}\n" for a, b in ring()), "".join(f"n{a} n{b}\n" for a, b in ring()),
             "".join(f"{a} {b}\n" for a, b in [*ring()[:-1], (4, N_VERTICES - 1)])]
    for text in names:
        (tmp_path / "other.txt").write_text(text)
        report = emdiam.verify(proof, tmp_path / "other.txt")
        assert not report.verified and report.reason == "it is about another graph: the digests of the edges differ"


def test_the_command_says_what_it_converted(command: Run, proof: Path, tmp_path: Path) -> None:
    _text(tmp_path / "edges.txt")
    (tmp_path / "scratch").mkdir()
    done = command("verify", str(proof), "edges.txt", "--scratch", "scratch", "--memory", "4GiB", "-q")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[:2]
    assert first == f"verified: diameter {DIAMETER}"
    assert second.startswith("input: edgelist (") and f", {len(ring()) + 2} pairs, converted into a temp" in second
    assert list((tmp_path / "scratch").iterdir()) == []
    report = json.loads(command("verify", str(proof), "edges.txt", "--json", "-q").stdout)
    assert report["converted"]["format"] == "edgelist" and report["converted"]["n_pairs"] == len(ring()) + 2


def test_a_bad_certificate_is_refused_before_anything_is_converted(proof: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_bytes(proof.read_bytes()[:50])
    (tmp_path / "edges.txt").write_text("no graph at all, and no one looks\n")
    with pytest.raises(InputError, match=r"cut.json.*not a certificate"):
        emdiam.verify(tmp_path / "cut.json", tmp_path / "edges.txt")


def test_weights_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("source,target,weight\n1,2,5\n2,3,7\n3,1,1\n")
    emdiam.exact(tmp_path / "w.csv", weighted=True, certificate=tmp_path / "w.json")
    assert emdiam.verify(tmp_path / "w.json", tmp_path / "w.csv").diameter == 6
    (tmp_path / "w.csv").write_text("source,target,weight\n1,2,5\n2,3,7\n3,1,2\n")
    assert not emdiam.verify(tmp_path / "w.json", tmp_path / "w.csv").verified


# -- from an address ------------------------------------------------------------------------------
@pytest.fixture
def server(proof: Path) -> Iterator[RangeServer]:
    pytest.importorskip("obstore")
    with serving(proof.parent) as found:
        yield found


def test_a_certificate_at_an_address(command: Run, server: RangeServer, tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the server has no ranges; one sentence where there is none, or where it is too large."""
    _text(tmp_path / "edges.txt")
    server.ranges = False
    done = command("verify", f"{server.url}/proof.json", "edges.txt", "-q")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"verified: diameter {DIAMETER}"), done.stderr
    assert [wanted for _, wanted in server.requests] == [None]
    for name, most, what in (("none.json", 1 << 26, "the object is missing"), ("proof.json", 99, "than the 99 bytes")):
        monkeypatch.setattr(sealed, "_MOST_FETCHED", most)
        done = command("verify", f"{server.url}/{name}?key=secret", "edges.txt", "-q")
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1) and "secret" not in done.stderr
        assert done.stderr.startswith(f"emdiam: {server.url}/{name}: the certificate cannot be fetched: ")
        assert what in done.stderr


def test_what_is_fetched_and_proves_nothing(command: Run, server: RangeServer, tmp_path: Path) -> None:
    """A file that is no certificate, and one of another graph: no secret of the address is shown."""
    (tmp_path / "edges.txt").write_text("0 1\n")
    (server.root / "edited.json").write_bytes((server.root / "proof.json").read_bytes().replace(b":40,", b":41,"))
    for name, what in (("edited.json", "was edited or damaged"), ("proof.json", "not proved: it is about a graph")):
        done = command("verify", f"{server.url}/{name}?key=secret", "edges.txt", "-q")
        assert done.returncode == 2 and done.stderr.startswith(f"emdiam: {server.url}/{name}: ")
        assert what in done.stderr and "secret" not in done.stderr


def test_an_address_that_nothing_answers(tmp_path: Path) -> None:
    pytest.importorskip("obstore")
    with pytest.raises(InputError, match="cannot be fetched: the address or its settings cannot be used"):
        emdiam.verify("https://[::/proof.json", tmp_path)


# -- the schema -----------------------------------------------------------------------------------
def documents(folder: Path) -> dict[str, dict[str, Any]]:
    """A certificate of every kind, by its format."""
    text = "source,target,weight\n" + "".join(f"{a},{b},{1 + (a + b) % 3}\n" for a, b in ring())
    (folder / "w.csv").write_text(text)
    (folder / "d.csv").write_text(text.replace(",1\n", ",0.1\n"))
    found = {}
    ways: list[tuple[Any, Any]] = [(emdiam.exact, False), (emdiam.eccentricities, None), (emdiam.exact, True),
                                   (emdiam.eccentricities, "in")]
    for run, directed in ways:
        for file, weighted in (("w.csv", False), ("w.csv", True), ("d.csv", True))[directed == "in" :]:
            run(folder / file, directed=directed, weighted=weighted, certificate=folder / "c.json")
            document = json.loads((folder / "c.json").read_text())
            found[document["format"]] = document
    for solve, graph in ((emdiam.distances, folder / "w.csv"), (emdiam.exact, write_store(folder / "t.zarr", TAILS))):
        solve(graph, certificate=folder / "c.json")
        document = json.loads((folder / "c.json").read_text())
        found[document["format"]] = document
    return found


def test_every_kind_of_certificate_has_the_form_of_the_schema(tmp_path: Path) -> None:
    found = documents(tmp_path)
    assert found.keys() == _FORMATS.keys()
    for document in found.values():
        assert accepted(document)
        for name in document:
            assert not accepted({key: value for key, value in document.items() if key != name})
            assert not accepted({**document, name: {"other": 1}}) and not accepted({**document, "more": 1})
        for name, value in document["claims"].items():
            changed = copy.deepcopy(document)
            changed["claims"][name] = [-1] if type(value) in (str, bool) else -1
            assert not accepted(changed), name
        assert not accepted({**document, "version": 2}) and not accepted({**document, "digest": "x" * 32})


def accepted(document: dict[str, Any]) -> bool:
    """By the schema; jsonschema agrees where it is installed."""
    right = fits(document, SCHEMA)
    try:
        import jsonschema
    except ImportError:
        return right
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(document) == right
    return right


def test_the_schema_has_the_parts_in_their_order() -> None:
    for one in SCHEMA["oneOf"]:
        kind, parts = _FORMATS[one["properties"]["format"]["const"]]
        assert tuple(one["properties"]) == ("format", "version", *parts, "digest")
        claims = get_type_hints(kind)["claims"]
        form = SCHEMA["$defs"][one["properties"]["claims"]["$ref"].rpartition("/")[2]]
        assert tuple(form["properties"]) == tuple(field.name for field in fields(claims)) == tuple(form["required"])
    assert len(SCHEMA["oneOf"]) == len(_FORMATS)


# -- the published one ----------------------------------------------------------------------------
CNR = PUBLISHED / "cnr-2000.json"


def test_the_published_certificate_is_one() -> None:
    assert accepted(json.loads(CNR.read_text()))
    claims: Any = read_certificate(CNR).claims
    assert (claims.lower, claims.upper, claims.connected) == (34, 34, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cnr-2000.graph", "cnr-2000.parquet"])
def test_the_published_files_prove_it(data_folder: Path, name: str) -> None:
    report = emdiam.verify(CNR, data_folder / name)
    assert report.verified and report.diameter == 34 and report.traversals == 4
