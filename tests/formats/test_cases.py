"""Small inputs as people have them: each is read right, or refused in one sentence whose remedy leads to what is right;
in no case another graph. The project has its own of every kind, and there are more beside the repository."""

from __future__ import annotations

import json
import tarfile
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest

import emdiam
from emdiam.errors import EmdiamError
from tests.formats.kinds import TEXTS, Kind, checked
from tests.formats.named_kinds import NAMED
from tests.formats.odd_columns import COLUMN_KINDS
from tests.formats.odd_files import FILE_KINDS
from tests.formats.odd_kinds import ODD_KINDS
from tests.formats.odd_rows import ROW_KINDS
from tests.formats.published_kinds import PUBLISHED
from tests.helpers.cases import FOLDER, MISSTATED, Case, cases
from tests.helpers.handed_in import INTERFACES, Facts, one_sentence, typed

KINDS: dict[str, Kind] = {**TEXTS, **NAMED, **ODD_KINDS, **COLUMN_KINDS, **FILE_KINDS, **ROW_KINDS,
                          **PUBLISHED}

absent = pytest.mark.skipif(not FOLDER.is_dir(), reason="the folder of small inputs (../shared/cases) is absent")


# The kinds below are read by the command line among the quick tests, and are nearly the same.
@absent
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
@pytest.mark.parametrize("interface", [pytest.param("command", marks=pytest.mark.slow), "Python"])
def test_inputs_are_read_right_or_refused_with_a_way_out(case: Case, interface: str, tmp_path: Path):
    assert case.fault(INTERFACES[interface](case.handed, tmp_path)) is None


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.thin(2)
@pytest.mark.parametrize("interface", INTERFACES)
def test_kinds_of_inputs_are_read_right(name: str, interface: str, tmp_path: Path):
    checked(KINDS[name], interface, tmp_path)


@absent
def test_what_the_table_misstates():
    """Read line by line, as the formats have it."""
    rows = [line.split() for line in (FOLDER / "train.txt").read_text().splitlines()]
    fork = [line.split() for line in (FOLDER / "sif.sif").read_text().splitlines()]
    with tarfile.open(FOLDER / "suitesparse.tar.gz") as archive:
        [member] = [archive.extractfile(name) for name in archive.getnames() if name.endswith(".mtx")]
        assert member is not None
        matrix = [line.split() for line in member.read().decode().splitlines() if not line.startswith("%")]
    edges = {"train.txt": [(head, tail) for head, _, tail in rows],
             "sif.sif": [(source, target) for source, _, *targets in fork for target in targets],
             "suitesparse.tar.gz": [(row, column) for row, column, *_ in matrix[1:]]}
    for name, right in MISSTATED.items():
        graph = nx.Graph(edges[name])
        assert Facts(len(graph), graph.number_of_edges(), nx.diameter(graph)) == right


# Of the small inputs: the file, the column of the weights ("": the usual one), and the largest distance along them.
LENGTHS = [("f123.txt", "", "0.6"), ("uvk.csv", "", "231.361"), ("uvk2.csv", "", "231.75"),
           ("two_w.csv", "length", "5"), ("two_w.csv", "weight", "200")]


@absent
@pytest.mark.parametrize(("file", "column", "right"), LENGTHS)
def test_weights_are_those_of_the_column_and_decimals_are_exact(file: str, column: str, right: str, tmp_path: Path):
    code, _, complaints = typed("convert", FOLDER / file, tmp_path / "g.zarr", "--quiet",
                                f"--weights={column}" if column else "--weights")
    assert code == 0, complaints
    code, out, complaints = typed("exact", tmp_path / "g.zarr", "--weighted", "--json", "--quiet")
    answer = json.loads(out, parse_float=str)
    assert (code, str(answer["diameter"]), str(answer["lower"]), answer["exact"]) == (0, right, right, True)
    result = emdiam.exact(FOLDER / file, weight=column or None, weighted=True)
    assert (str(result.diameter), result.exact) == (right, True)


@absent
def test_sums_that_no_float_holds_are_errors(tmp_path: Path):
    """Two lengths of 1e308: no finite bound is proved, and no vertex is lost."""
    assert typed("convert", FOLDER / "ovf.txt", tmp_path / "g.zarr", "--weights", "--quiet")[0] == 0
    for command in (["exact"], ["ecc"], ["sssp", "--source", "0"]):
        code, out, complaints = typed(*command, tmp_path / "g.zarr", "--quiet",
                                      *(["--weighted"] if command != ["sssp", "--source", "0"] else []))
        assert code == 2 and not out and one_sentence(complaints)
    with pytest.raises(EmdiamError):
        emdiam.exact(FOLDER / "ovf.txt", weighted=True)


@absent
def test_a_denormal_number_beside_an_ordinary_one_is_an_interval(tmp_path: Path):
    assert typed("convert", FOLDER / "denorm.txt", tmp_path / "g.zarr", "--weights", "--quiet")[0] == 0
    code, out, complaints = typed("exact", tmp_path / "g.zarr", "--weighted", "--json", "--quiet")
    answer = json.loads(out)
    assert code == 0 and answer["connected"], complaints
    right = 1 + Fraction(5e-324)
    assert Fraction(answer["lower"]) <= right <= Fraction(answer["upper"]) < Fraction(1.000001)


@absent
def test_weights_below_0_are_asked_for(tmp_path: Path):
    command = "convert", FOLDER / "osm_negative_w.txt", tmp_path / "g.zarr", "--quiet", "--weights"
    code, _, complaints = typed(*command)
    assert code == 2 and "--allow-negative" in one_sentence(complaints)
    assert typed(*command, "--allow-negative")[0] == 0
