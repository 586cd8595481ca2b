"""The commands end to end, in this process: what they answer and how they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from emdiam.cli.main import group
from emdiam.cli.outcome import run

Answer = tuple[int, str, str]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
         capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run a command line in tmp_path; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def answer(*arguments: str | Path) -> Answer:
        capsys.readouterr()
        code = run(group, [str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return answer


@pytest.fixture
def store(call, two_components: Path) -> str:
    """A store of a path of 5 vertices and a triangle."""
    code, _, err = call("convert", two_components, "g.zarr", "--quiet")
    assert code == 0, err
    return "g.zarr"


def parsed(answer: Answer) -> dict[str, Any]:
    """The one JSON object on standard output of a command that answered."""
    code, out, err = answer
    assert code == 0, err
    assert out.count("\n") == 1
    return json.loads(out)


def test_convert_reports_what_it_did(call, two_components: Path):
    report = parsed(call("convert", two_components, "g.zarr", "--json", "--quiet", "--memory", "2GiB"))
    assert (report["record"]["n_vertices"], report["record"]["n_edges"]) == (8, 7)
    assert report["memory_limit_bytes"] == 2 << 30
    code, out, err = call("convert", two_components, "h.zarr", "--threads", "1", "--codec", "none")
    assert code == 0
    assert out.startswith("h.zarr: 8 vertices, 7 edges\n")
    assert "\nfirst pairs: 10 11, 11 12, 12 13, 13 14, 20 21\n" in out
    assert "step 1 of 4: reading edges" in err


def test_convert_takes_several_files_and_globs(call, tmp_path: Path):
    for name, text in (("a1.txt", "0 1\n"), ("a2.txt", "1 2\n"), ("b.txt", "2 3\n")):
        (tmp_path / name).write_text(text)
    assert parsed(call("convert", "a*.txt", "b.txt", "g.zarr", "--json"))["record"]["n_edges"] == 3


def test_convert_passes_its_options_on(call, two_components: Path):
    options = ("--codec", "pcodec", "--chunk", "2^10", "--format", "edgelist", "--ids", "string")
    record = parsed(call("convert", two_components, "g.zarr", "--json", *options))["record"]
    assert (record["codec"], record["chunk_ids"], record["id_kind"]) == ("pcodec", 1024, "string")


def test_an_existing_target_needs_force(call, store: str, two_components: Path):
    code, out, err = call("convert", two_components, store)
    assert (code, out) == (2, "")
    assert "--force" in err
    assert call("convert", two_components, store, "--force")[0] == 0


@pytest.mark.parametrize(("text", "place"), [("1 2\n3\n", "line 2"), ("1 2\n\n3 -4\n", "line 3"), ("", "empty")])
def test_bad_input_is_a_sentence_and_leaves_nothing(call, tmp_path: Path, text: str, place: str):
    (tmp_path / "bad.txt").write_text(text)
    code, out, err = call("convert", "bad.txt", "g.zarr", "--quiet")
    assert (code, out) == (2, "")
    assert "bad.txt" in err and place in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt"]


def test_a_missing_file_an_unknown_format_a_tiny_budget(call, two_components: Path, tmp_path: Path):
    for arguments, text in (
        (("absent.txt", "g.zarr"), "absent.txt"),
        ((two_components, "g.zarr", "--format", "excel"), "edgelist"),
        ((two_components, "g.zarr", "--memory", "1MiB"), "MiB"),
    ):
        code, out, err = call("convert", *arguments, "--quiet")
        assert (code, out) == (2, ""), err
        assert text in err
    assert sorted(path.name for path in tmp_path.iterdir()) == [two_components.name]


def test_exact_says_the_diameter_first(call, store: str):
    code, out, err = call("exact", store)
    assert code == 0
    assert out.splitlines()[:3] == [
        "diameter: infinite (2 components)",
        "largest diameter of any component: 4 (proved)",
        "diameter of the largest component: 4 (proved)",
    ]
    assert "step 2 of 3: " in err


def test_exact_json_is_the_contract(call, store: str):
    from emdiam.methods.result import Result

    result = parsed(call("exact", store, "--json", "--quiet", "--memory", "2GiB", "--threads", "1"))
    names = [field.name for field in fields(Result) if field.name not in ("proof", "history")]
    assert list(result) == [*names, "memory_limit_exceeded"] and result["memory_limit_exceeded"] is False
    assert (result["method"], result["n_vertices"], result["n_edges"]) == ("pivots", 8, 7)
    assert (result["connected"], result["n_components"], result["diameter"]) == (False, 2, None)
    assert (result["lower"], result["upper"], result["exact"]) == (4, 4, True)
    assert sorted(result["witness"]["path"]) == [10, 11, 12, 13, 14]
    assert result["traversals"]["bfs"] >= 2
    assert {"total", "compile", "load", "solve", "verify", "startup"} <= set(result["seconds"])
    assert 0 < result["seconds"]["load"] <= result["seconds"]["startup"] < result["seconds"]["total"]
    assert result["memory_limit_bytes"] == 2 << 30
    assert 0 < result["planned_rss_bytes"] <= 2 << 30
    assert result["peak_rss_bytes"] > 0
    assert result["bytes_read"] > 0
    assert result["store_digest"]
    assert (result["store_path"], result["store_name"]) == (str(store), Path(store).stem)


@pytest.mark.parametrize("switch", ["--no-winnow", "--no-eliminate", "--no-chains", "--start=first",
                                    "--evict-page-cache", "--arena=64MiB", "--method=pivots",
                                    "--method=pivots --seed=3 --no-batches"])
def test_switches_do_not_change_the_answer(call, switch: str):
    assert call("generate", "watts-strogatz", "g.zarr", "--vertices", "300", "--seed", "5", "--quiet")[0] == 0
    plain = parsed(call("exact", "g.zarr", "--json", "--quiet"))
    method = [] if "pivots" in switch else ["--method", "fdiam"]
    switched = parsed(call("exact", "g.zarr", "--json", "--quiet", *method, *switch.split()))
    assert switched["diameter"] == plain["diameter"]
    if switch == "--no-winnow":
        assert switched["details"]["removed"]["winnow"] == 0


def test_a_certificate_is_written_and_verified(call, store: str, tmp_path: Path):
    code, out, _ = call("exact", store, "--certificate", "proof.json", "--quiet")
    assert code == 0 and "certificate: in proof.json" in out
    code, out, _ = call("verify", "proof.json", store, "--quiet")
    assert code == 0 and "verified" in out
    (tmp_path / "proof.json").write_bytes((tmp_path / "proof.json").read_bytes()[:-1])
    assert call("verify", "proof.json", store, "--quiet")[0] == 2


def test_only_whole_proofs_make_certificates(call, store: str):
    for more in (["--method", "fdiam"], ["--gap", "1"], ["--bounds-only"]):
        code, _, err = call("exact", store, "--certificate", "proof.json", "--quiet", *more)
        assert code == 2 and "--method pivots" in err


def test_a_path_goes_to_its_file(call, store: str, tmp_path: Path):
    code, out, _ = call("exact", store, "--path", "p.txt", "--quiet")
    assert code == 0
    assert "path: in p.txt, one vertex a line" in out
    ids = (tmp_path / "p.txt").read_text().split()
    assert ids in (["10", "11", "12", "13", "14"], ["14", "13", "12", "11", "10"])
    assert parsed(call("exact", store, "--path", "p.txt", "--quiet", "--json"))["witness"]["path_file"] == "p.txt"
    code, out, err = call("exact", store, "--path", "absent/p.txt", "--quiet")
    assert (code, out) == (2, "")
    assert "absent/p.txt" in err


def test_a_long_path_is_only_written(call, tmp_path: Path):
    assert call("generate", "path", "g.zarr", "--vertices", "10_001".replace("_", ""), "--quiet")[0] == 0
    code, out, _ = call("exact", "g.zarr", "--quiet")
    assert "path: of 10,001 vertices, too long to show; write it with --path FILE" in out
    witness = parsed(call("exact", "g.zarr", "--json", "--quiet", "--path", "p.txt"))["witness"]
    assert (witness["path"], witness["path_file"], witness["length"]) == (None, "p.txt", 10_000)
    ids = [int(line) for line in (tmp_path / "p.txt").read_text().splitlines()]
    assert sorted(ids) == list(range(10_001))
    assert (ids[0], ids[-1]) == (witness["source"], witness["target"])


def test_plan_gives_numbers_and_refuses_with_them(call, store: str):
    plan = parsed(call("plan", store, "--json", "--memory", "2GiB", "--method", "pivots"))
    assert 0 < plan["planned_rss_bytes"] <= plan["memory_limit_bytes"] == 2 << 30
    assert 0 < plan["minimum_bytes"] <= 2 << 30
    code, out, _ = call("plan", store, "--method", "pivots", "--memory", "2GiB", "--threads", "1", "--arena", "64MiB")
    assert code == 0
    assert out.startswith("planned peak: ") and "\npredicted peak: " in out and "\nmemory limit: 2.0 GiB\n" in out
    for command in ("plan", "exact"):
        code, out, err = call(command, store, "--memory", "20MiB")
        assert (code, out) == (2, "")
        assert "20.0 MiB" in err and "MiB" in err.split("20.0 MiB", 1)[1]


@pytest.mark.parametrize("command", ["info", "plan", "exact", "verify certificate"])
def test_what_is_no_store_is_refused(call, command: str, tmp_path: Path):
    (tmp_path / "file.zarr").write_text("x")
    (tmp_path / "folder.zarr").mkdir()
    for name, text in (("absent.zarr", "no such store"), ("file.zarr", "not a store"),
                       ("folder.zarr", "not a zarr group")):
        code, out, err = call(*command.split(), name)
        assert (code, out) == (2, "")
        assert name in err and text in err


@pytest.mark.parametrize(("arguments", "vertices", "edges", "diameter"), [
    (("path", "--vertices", "2^5"), 32, 31, 31),
    (("torus", "--sides", "12x20"), 240, 480, 16),
    (("hypercube", "--dimension", "6"), 64, 192, 6),
    (("regular", "--vertices", "50", "--degree", "2", "--seed", "3"), 50, 50, 25),
])
def test_generated_graphs_have_their_formula(call, arguments: tuple[str, ...], vertices: int, edges: int,
                                             diameter: int):
    name, *parameters = arguments
    report = parsed(call("generate", name, "g.zarr", "--json", "--quiet", *parameters))
    assert (report["record"]["n_vertices"], report["record"]["n_edges"]) == (vertices, edges)
    assert report["known_diameter"] == diameter
    assert parsed(call("exact", "g.zarr", "--json", "--quiet"))["diameter"] == diameter
    code, out, _ = call("generate", name, "g.zarr", "--force", *parameters)
    assert code == 0
    assert f"diameter by formula: {diameter}" in out


def test_class_parameters_reach_the_generator(call):
    arguments = ("--vertices", "2^8", "--quiet", "--json", "--force", "--seed", "9")
    few = parsed(call("generate", "rmat", "g.zarr", *arguments, "--edge-factor", "2"))
    many = parsed(call("generate", "rmat", "g.zarr", *arguments, "--edge-factor", "8"))
    assert few["pairs_read"] == 512 and many["pairs_read"] == 2048
    assert "seed=9" in few["description"]
    code, _, err = call("generate", "rmat", "g.zarr", "--vertices", "2^8", "--a", "2", "--force")
    assert code == 2 and "a must be from 0 to 1" in err


def test_every_class_has_its_options(call):
    from emdiam.generators import CLASSES

    for name, graph_class in CLASSES.items():
        code, out, _ = call("generate", name, "--help")
        assert code == 0
        for parameter in graph_class.parameters:
            assert f"--{parameter.name.replace('_', '-')} " in out
