"""Certificate files: what is written reads back, and nothing else is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.certificates.documents import (
    VERSION,
    Certificate,
    CertifiedComponent,
    Claims,
    GraphFacts,
    read_certificate,
)
from emdiam.certificates.writing import claims_of, write_certificate
from emdiam.errors import InputError
from emdiam.methods.exact.fdiam import fdiam
from emdiam.methods.result import ComponentProof, Proof, Result, Traversals
from emdiam.store.store import open_store
from tests.helpers import naive, prover
from tests.helpers.damage import make_store
from tests.helpers.stores import engine_on, odd_graphs, write_store

ODD = odd_graphs()
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The certificate of a small disconnected graph."""
    folder = tmp_path_factory.mktemp("small")
    graph = naive.graph_of(7, [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6)])
    return prover.write(folder / "c.json", write_store(folder / "g.zarr", graph),
                        *prover.exact_proof(graph, pivots=1)).read_bytes()


@pytest.fixture
def small(tmp_path: Path, written: bytes) -> Path:
    """A file with that certificate."""
    file = tmp_path / "c.json"
    file.write_bytes(written)
    return file


def seal(document: dict[str, Any]) -> bytes:
    """The canonical bytes, the digest made to match: what a forger would write."""
    def text(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    body = {key: value for key, value in document.items() if key != "digest"}
    digest = hashlib.blake2b(text(body).encode(), digest_size=16).hexdigest()
    return (text({**body, "digest": digest}) + "\n").encode()


def refused(path: Path, data: bytes, match: str | None = None) -> str:
    path.write_bytes(data)
    with pytest.raises(InputError, match=match) as error:
        read_certificate(path)
    text = str(error.value)
    assert text.startswith(str(path)) and "\n" not in text
    return text


# -- writing and reading --------------------------------------------------------------------------
def test_what_is_written_reads_back(tmp_path: Path) -> None:
    graph = ODD["path-and-star"]
    names = [f"é{v}" for v in range(len(graph))]
    for ids in (None, np.arange(5, 5 + len(graph)) * 7, names):
        store = make_store(tmp_path / "g.zarr", graph, ids=ids, force=True)
        proof, claims = prover.exact_proof(graph, pivots=2)
        with open_store(store) as opened:
            written = write_certificate(tmp_path / "c.json", proof, claims, opened)
        read = read_certificate(tmp_path / "c.json")
        assert read == written and read.claims == claims
        assert read.graph == GraphFacts(written.graph.digest, len(graph), sum(map(len, graph)) // 2)
        user = list(range(len(graph))) if ids is None else list(ids)
        for mine, part in zip(proof.components, read.components, strict=True):
            assert part.vertex == user[mine.vertex] and part.witness is not None
            assert part.pivots == [user[v] for v in mine.pivots]
            assert part.sources == [user[v] for v in mine.sources]
        assert (tmp_path / "c.json").read_bytes() == read.to_bytes()
        assert not list(tmp_path.glob("*.partial"))


def test_it_is_one_line_of_canonical_json(small: Path) -> None:
    data = small.read_bytes()
    assert data.count(b"\n") == 1 and data.endswith(b"}\n") and b" " not in data.replace(b"emdiam certificate", b"")
    document = json.loads(data)
    assert list(document) == ["format", "version", "graph", "claims", "components", "digest"]
    assert seal(document) == data


def test_the_claims_of_a_result(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD["two-paths"])) as engine:
        assert claims_of(fdiam(engine)) == Claims(29, 29, 29, 2, False)
    with pytest.raises(ValueError, match="components"):
        claims_of(Result("x", 2, 1, None, None, None, None, None, 0, 1, False, None, Traversals()))


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with open_store(write_store(tmp_path / "g.zarr", ODD["edge"])) as store:
        with pytest.raises(InputError, match="cannot be written"):
            write_certificate(tmp_path / "none" / "c.json", *prover.exact_proof(ODD["edge"]), store)
        with pytest.raises(ValueError, match="witness"):
            write_certificate(tmp_path / "c.json", Proof([ComponentProof(0, 2, 1, 1)]), Claims(1, 1, 1, 1, True), store)
    assert not (tmp_path / "c.json").exists()


# -- damage ---------------------------------------------------------------------------------------
def test_an_edited_byte_at_any_place(small: Path) -> None:
    data = small.read_bytes()
    for at in range(len(data)):
        for other in {data[at] ^ 1, data[at] ^ 32, ord(" "), ord("0"), ord("9"), 0, 255} - {data[at]}:
            refused(small, data[:at] + bytes([other]) + data[at + 1 :])


def test_a_byte_too_few_or_too_many_at_any_place(small: Path) -> None:
    data = small.read_bytes()
    for at in range(len(data) + 1):
        if at < len(data):
            refused(small, data[:at] + data[at + 1 :])
        for more in (b" ", b"\n", b"0", b"1", b'"'):
            refused(small, data[:at] + more + data[at:])


def test_a_file_cut_at_any_length(small: Path) -> None:
    data = small.read_bytes()
    for length in range(len(data)):
        refused(small, data[:length])


def test_the_place_is_named(small: Path) -> None:
    data = small.read_bytes()
    assert "byte 300" in refused(small, data[:300] + b"\xff" + data[301:])
    at = data.index(b":")
    assert f"byte {at + 1}" in refused(small, data[: at + 1] + b" " + data[at + 1 :], "edited")
    assert "byte" not in refused(small, data.replace(b'"size":4', b'"size":5'), "edited")
    assert f"byte {len(data) - 10}" not in refused(small, data[:-10] + b"0000000" + data[-3:], "edited")


@pytest.mark.parametrize("data", [
    b"", b"\n", b"{}", b"[]", b"null", b"7", b'"emdiam certificate"', b"\x00" * 100, b"[" * 100_000, b"0 1\n1 2\n",
    b'{"format":"another"}', b'{"format":["emdiam certificate"]}', b"9" * 10_000, b"\xef\xbb\xbf{}",
])
def test_foreign_files(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path / "c.json", data, "not a certificate")


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="cannot be read"):
            read_certificate(path)


def test_a_newer_version(small: Path) -> None:
    document = json.loads(small.read_bytes())
    document["version"] = VERSION + 1
    document["hints"] = {"unknown": [1.5]}
    assert "upgrade" in refused(small, seal(document), f"version {VERSION + 1}, this program reads up to {VERSION}")
    document["version"] = 0
    refused(small, seal(document), "parts")


def test_duplicate_names(small: Path) -> None:
    data = small.read_bytes()
    for at, name in ((1, b'"version":1'), (data.index(b'"claims":{') + 10, b'"lower":3')):
        refused(small, data[:at] + name + b"," + data[at:], "occurs twice")


# -- edits with a digest that matches -------------------------------------------------------------
def _put(*keys: Any, value: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value
    return change


def _drop(*keys: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        for key in keys[:-1]:
            document = document[key]
        del document[keys[-1]]
    return change


_PART = ("components", 0)


@pytest.mark.parametrize("change", [
    *(_put(*_PART, "pivots", value=value) for value in (
        [-1], [True], [None], [1.5], [[1]], ["a"], ["\ud800"], [2**64], 3, "3", None, {"a": 1})),
    *(_put(*_PART, "witness", value=value) for value in (None, [], [1], [1, 2, 3], "12", [1, "2"], {"1": 2, "2": 1})),
    *(_put(*_PART, "lower", value=value) for value in (-1, 3, 2.0, "2", None, False, 2**63)),
    _put(*_PART, "size", value=-4), _put(*_PART, "vertex", value=None), _put(*_PART, value={}),
    _put(*_PART, "more", value=1), _put("claims", "more", value=1), _put("more", value=1),
    _put("components", value={}), _put("components", value=None), _put("claims", value=[]),
    _put("claims", "connected", value=1), _put("claims", "n_components", value=None),
    _put("claims", "diameter_largest_component", value=-1), _put("claims", "lower", value=7),
    _put("graph", "digest", value=5), _put("graph", "n_edges", value="6"),
    _put("version", value=True), _put("version", value="1"), _put("format", value="emdiam"),
    _drop("claims"), _drop("components"), _drop("graph", "digest"), _drop("claims", "upper"),
    _drop(*_PART, "sources"), _drop(*_PART, "witness"),
    _put(*_PART, "pivots", value=json.loads("[" * 400 + "]" * 400)),
])
def test_what_no_certificate_says(small: Path, change: Change) -> None:
    document = json.loads(small.read_bytes())
    change(document)
    refused(small, seal(document))


def test_numbers_that_are_no_whole_numbers(small: Path) -> None:
    data = small.read_bytes()
    for number in (b"4e0", b"4.0", b"1e999", b"NaN", b"Infinity", b"04", b"+4", b"4" * 5000):
        refused(small, data.replace(b'"size":4', b'"size":' + number))


def test_the_order_of_names_is_fixed(small: Path) -> None:
    document = json.loads(small.read_bytes())
    document["claims"] = dict(reversed(document["claims"].items()))
    refused(small, seal(document))


def test_a_change_that_is_sealed_and_well_formed_reads(small: Path) -> None:
    """Reading proves nothing: only the verifier can tell that this is wrong."""
    document = json.loads(small.read_bytes())
    document["components"][0]["pivots"] = [12345]
    small.write_bytes(seal(document))
    assert read_certificate(small).components[0].pivots == [12345]


def test_ids_of_one_kind_over_all_components(tmp_path: Path) -> None:
    parts = [CertifiedComponent(1, 1, 0, 0, None, [], []), CertifiedComponent("1", 1, 0, 0, None, [], [])]
    facts, claims = GraphFacts("", 2, 0), Claims(0, 0, 0, 2, False)
    both = Certificate(graph=facts, claims=claims, components=parts)
    refused(tmp_path / "c.json", both.to_bytes(), "some are strings")
    (tmp_path / "c.json").write_bytes(Certificate(graph=facts, claims=claims, components=parts[1:]).to_bytes())
    assert read_certificate(tmp_path / "c.json").components == parts[1:]
