"""What people try first: slips in names, folders and patterns in place of a file, and remedies that name what there
is."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

import emdiam
from emdiam.errors import InputError
from tests.conftest import Run


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A folder of two parts."""
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "part-0.csv").write_text("src,dst\na,b\n")
    (folder / "part-1.csv").write_text("src,dst\nb,c\n")
    return folder


def refused(command: Run, *words: str | Path) -> str:
    """The sentence of a command that is refused."""
    done = command(*words, "-q")
    assert done.returncode == 2 and done.stdout == ""
    return done.stderr


def test_a_pattern_is_a_graph(command: Run, parts: Path):
    assert command("exact", f"{parts}/*.csv", "-q").stdout.startswith("diameter: 2 (proved)\n")
    assert emdiam.diameter(str(parts / "part-?.csv")).diameter == 2
    assert "no such file; check the name" in refused(command, "exact", f"{parts}/*.tsv")


def test_another_file_among_parts_is_named_with_the_pattern_that_leaves_it_out(command: Run, parts: Path):
    (parts / "notes.md").write_text("to do\n")
    said = refused(command, "exact", parts)
    assert "notes.md: a file in the folder is of no format of edges" in said and f"as in '{parts}/*.csv'" in said
    store = parts / "inner"
    emdiam.convert([(1, 2)], store)
    (store / "zarr.json").unlink()
    assert "zarr.json is missing" in refused(command, "exact", store)


def test_names_with_a_slip_have_a_close_one(command: Run, parts: Path):
    emdiam.convert([(1, 2)], parts / "roads.zarr")
    assert f"no such file; did you mean {parts}/part-0.csv?" in refused(command, "exact", parts / "prt-0.csv")
    assert f"no such store; did you mean {parts}/roads.zarr?" in refused(command, "exact", parts / "road.zarr")
    assert "no such store; make one with: emdiam convert" in refused(command, "exact", parts / "quite-another.zarr")
    assert "no such file; check the name" in refused(command, "exact", parts / "no-folder" / "x.csv")


def test_several_files_are_for_convert(command: Run, parts: Path):
    assert "convert several files into a store" in refused(command, "exact", parts / "part-0.csv", parts / "part-1.csv")
    assert "convert several" not in refused(command, "warmup", "a")


@pytest.mark.parametrize("line", ["ecc", "distances --exact", "sssp --source a"])
@pytest.mark.parametrize("name", ["x.xlsx", "x.csv.gz", "x.TSV"])
def test_tables_are_not_written_under_the_name_of_another_format(command: Run, parts: Path, line: str, name: str):
    said = refused(command, *line.split(), parts / "part-0.csv", "--out", name)
    assert f"{name}: a table is written as Parquet or CSV" in said and not Path(name).exists()


def test_remedies_name_weights_that_there_are(command: Run, tmp_path: Path):
    file, graph = tmp_path / "t.csv", nx.Graph()
    file.write_text("from,to,length of road,minutes\na,b,1,2\n")
    assert "as in --weight=minutes" in refused(command, "exact", file, "--weight", "minuts")
    assert "as in --weight=3" in refused(command, "exact", file, "--weight", "length of raod")
    (tmp_path / "bare.csv").write_text("from,to\na,b\n")
    assert "leave out --weight" in refused(command, "exact", tmp_path / "bare.csv", "--weight", "km")
    graph.add_edge("a", "b", km=1, minutes=2)
    with pytest.raises(InputError, match="as in weight='minutes'"):
        emdiam.diameter(graph, weight="minute")


def test_vertices_that_there_are_not(command: Run, parts: Path):
    assert "no such vertex: 'z'; ids of this graph go from a to b" in refused(
        command, "sssp", parts / "part-0.csv", "--source", "z")
    emdiam.convert([("a", "b")], parts / "g.zarr")
    with emdiam.open(parts / "g.zarr") as store, pytest.raises(ValueError, match="number of a vertex, from 0 to 1"):
        store.neighbours("a")
    with pytest.raises(InputError, match="^None is not a kind of graph"):
        emdiam.diameter(None)


def test_a_graph_in_place_of_the_certificate(command: Run, tmp_path: Path):
    emdiam.convert([(1, 2)], tmp_path / "g.zarr")
    emdiam.exact(tmp_path / "g.zarr", certificate=tmp_path / "proof.json")
    assert "the certificate comes first" in refused(command, "verify", tmp_path / "g.zarr", tmp_path / "proof.json")
    done = command("verify", tmp_path / "proof.json", tmp_path / "g.zarr", "-q")
    assert "comparison" not in done.stdout and done.returncode == 0


def test_a_file_is_no_target(command: Run, parts: Path):
    """Nor with --force, which the remedy leaves out."""
    said = refused(command, "convert", parts / "part-0.csv", parts / "part-1.csv")
    assert "not a zarr store" in said and "name the store to write" in said and "--force" not in said


def test_a_line_with_one_vertex(command: Run, tmp_path: Path):
    file = tmp_path / "lone.txt"
    file.write_text("a b\nc\n")
    said = refused(command, "exact", file)
    assert "--vertices FILE" in said and said.endswith(f"with one of these options: emdiam convert {file} lone.zarr\n")
    (tmp_path / "all.txt").write_text("a\nb\nc\n")
    file.write_text("a b\n")
    assert command("convert", file, "g.zarr", "--vertices", tmp_path / "all.txt", "-q").stdout.startswith(
        "g.zarr: 3 vertices, 1 edge\n")


def test_an_output_is_no_standard_output(command: Run, tmp_path: Path):
    (tmp_path / "e.txt").write_text("1 2\n2 3\n")
    for words in (("exact", "e.txt", "--path", "-"), ("ecc", "e.txt", "--out", "-"), ("convert", "e.txt", "-")):
        assert "not standard output: '-'; give a name" in refused(command, *words)
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(("words", "why"), [
    (("convert", "e.txt"), "missing argument 'STORE'; see"), (("convert",), "missing argument 'INPUT...'; see"),
    (("exact", "e.txt", "--columns", "1,2"), "it is an option of emdiam convert; see"),
    (("exact", "e.txt", "--wieghted"), "'--weight', '--weighted'?); see"),
    (("convert", "e.txt", "g.zarr", "--colums", "1,2"), "no such option '--colums' (did you mean '--columns'?); see"),
    (("exact", "e.txt", "--components", "x"), "'x' is not a valid integer; see"),
    (("exact", "my", "e.txt"), "one graph is read: quote blanks, or"),
    (("e.txt",), "no such command 'e.txt'; for the diameter of a graph: emdiam exact e.txt; see"),
    (("center", "e.txt"), "(did you mean 'eccentricities'?); see")])
def test_a_slip_on_the_command_line(command: Run, tmp_path: Path, words: tuple[str, ...], why: str):
    (tmp_path / "e.txt").write_text("1 2\n2 3\n")
    assert why in refused(command, *words)


def test_names_with_commas(command: Run, tmp_path: Path):
    (tmp_path / "e.csv").write_text('"Smith, J","Doe, A"\n"Doe, A",Roe\n')
    assert '"Smith, J", "Doe, A", Roe' in command("sssp", "e.csv", "--source", "Smith, J", "--target", "Roe").stdout
    assert '"Doe, A"' in command("exact", "e.csv").stdout


def test_a_store_without_weights_names_the_option_that_was_given(command: Run, tmp_path: Path):
    (tmp_path / "e.txt").write_text("1 2\n2 3\n")
    assert command("convert", "e.txt", "g.zarr", "-q").returncode == 0
    for words in (("--weight", "km"), ("--weighted",)):
        assert f"no weights; leave {words[0]} out, or" in refused(command, "exact", "g.zarr", *words)
    assert "use it as it is, or give it to emdiam reorder" in refused(command, "convert", "g.zarr", "h.zarr")
