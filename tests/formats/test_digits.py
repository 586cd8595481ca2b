"""Weights with more digits than float64 keeps: exact in every text where they are whole numbers of 10^-9, and else
rounded and counted."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.cli.answer_lines import task_lines
from emdiam.conversion.convert import ConvertOptions, ConvertReport, convert, write_graph
from emdiam.conversion.writing import DONE
from emdiam.errors import InputError
from emdiam.formats.digits import float_or_decimal
from emdiam.formats.objects import as_source
from emdiam.formats.registry import open_source
from emdiam.formats.weights import WeightChoice
from emdiam.store.store import open_store
from emdiam.store.weights import ROUNDED
from tests.helpers.convert_twin import TINY
from tests.helpers.resume_attempts import Stop, stop_after
from tests.helpers.weighted_twin import arcs_of

LONG = ["123456789.123456789", "0.5", "9876543.000000001", "3", "1e-9", "12345678.1234567800"]
few, many = (settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
             for examples in (12, 300))


def lines(weights: list[str], separator: str = " ", before: str = "", names: str = "") -> str:
    """A line an edge, of a path."""
    return before + "".join(f"{names}{i}{separator}{names}{i + 1}{separator}{weight}\n"
                            for i, weight in enumerate(weights, 1))


def metis(weights: list[str]) -> str:
    n = len(weights) + 1
    rows = [" ".join(f"{other} {weights[min(v, other) - 1]}" for other in (v - 1, v + 1) if 1 <= other <= n)
            for v in range(1, n + 1)]
    return f"{n} {n - 1} 1\n" + "\n".join(rows) + "\n"


def graphml(weights: list[str]) -> str:
    edges = "".join(f'<edge source="{i}" target="{i + 1}"><data key="w">{weight}</data></edge>'
                    for i, weight in enumerate(weights, 1))
    return ('<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="w" for="edge" attr.name="weight"'
            f' attr.type="double"/><graph edgedefault="undirected">{edges}</graph></graphml>')


def node_link(weights: list[str]) -> str:
    edges = ", ".join(f'{{"source": {i}, "target": {i + 1}, "weight": {weight}}}'
                      for i, weight in enumerate(weights, 1))
    nodes = json.dumps([{"id": i} for i in range(1, len(weights) + 2)])
    return f'{{"directed": false, "multigraph": false, "graph": {{}}, "nodes": {nodes}, "links": [{edges}]}}'


def parquet(weights: list[str]) -> bytes:
    n, out = len(weights), io.BytesIO()
    values = pa.array(list(map(Decimal, weights)), pa.decimal128(38, 20))
    pq.write_table(pa.table({"src": np.arange(1, n + 1), "dst": np.arange(2, n + 2), "weight": values}), out)
    return out.getvalue()


def _real(weight: str) -> str:
    return f"{Decimal(weight):f}" if "e" in weight else weight  # of GML


TEXTS: dict[str, Callable[[list[str]], str | bytes]] = {
    "edges.txt": lines,
    "names.txt": lambda weights: lines(weights, names="v"),
    "table.csv": lambda weights: lines(weights, ",", "src,dst,weight\n"),
    "names.csv": lambda weights: lines(weights, ",", "src,dst,weight\n", "v"),
    "german.csv": lambda weights: lines([one.replace(".", ",") for one in weights], ";", "src;dst;weight\n"),
    "graph.graph": metis,
    "graph.mtx": lambda weights: lines(weights, before="%%MatrixMarket matrix coordinate real symmetric\n"
                                       f"{len(weights) + 1} {len(weights) + 1} {len(weights)}\n"),
    "graph.lgl": lambda weights: "".join(f"# v{i}\nv{i + 1} {weight}\n" for i, weight in enumerate(weights, 1)),
    "graph.net": lambda weights: f"*Vertices {len(weights) + 1}\n*Edges\n" + lines(weights),
    "graph.graphml": graphml,
    "graph.json": node_link,
    "graph.gml": lambda weights: "graph [ " + " ".join(f'node [ id {i} label "0.12345678901234567" ]' for i in range(
        1, len(weights) + 2)) + "\n" + "\n".join(f"edge [ source {i} target {i + 1} weight {_real(weight)} ]"
                                                 for i, weight in enumerate(weights, 1)) + " ]\n",
    "graph.dot": lambda weights: "graph { " + " ".join(
        f"{i} -- {i + 1} [weight=\"{weight}\"];" for i, weight in enumerate(weights, 1)) + " }",
    "table.parquet": parquet,
}


def weights_in(target: Path) -> list[Fraction]:
    """The weights of all edges, each as it is kept, ascending."""
    with open_store(str(target)) as store:
        return sorted(Fraction(weight) if not isinstance(weight, float) else Fraction(repr(weight))
                      for weight in arcs_of(store).values())[::2]


def converted(folder: Path, name: str, content: str | bytes, **options: Any) -> ConvertReport:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return convert([path], folder / "g.zarr", options=ConvertOptions(
        force=True, weights=WeightChoice("weight" if name.endswith(".dot") else ""), **options))


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_keeps_all_digits(tmp_path: Path, name: str):
    report = converted(tmp_path, name, TEXTS[name](LONG))
    record = report.record.weights
    assert record is not None and (record.dtype, record.decimals) == ("int64", 9)
    assert weights_in(tmp_path / "g.zarr") == sorted(map(Fraction, LONG))
    assert ROUNDED not in (report.record.values_dropped or {}) and "rounded" not in " ".join(report.notes)
    found = emdiam.exact(tmp_path / "g.zarr", weighted=True)
    assert found.exact and found.diameter is not None and Fraction(found.diameter) == sum(map(Fraction, LONG))


def places_of(exact: Decimal) -> int:
    return max(0, len(f"{exact:f}".partition(".")[2].rstrip("0")))


WEIGHTS = st.one_of(
    st.decimals(0, 2 * 10**9, places=9).map(str),
    st.decimals(0, 10**13, places=4).map(str),
    st.integers(0, 2**32 - 1).map(str),
    st.integers(10**15 - 3, 2**53 - 1).map(lambda units: f"{units // 10**9}.{units % 10**9:09}"),
    st.decimals(0, 1000, places=2).map(str),
    st.floats(0, 1e6).map(repr),
    st.sampled_from(["0.12345678901234567890", "1e-30", "98765432109876543.25", "9007199254740993.0"]),
)


SOME = ["edges.txt", "names.txt", "table.csv", "graph.lgl", "table.parquet"]


@pytest.mark.parametrize("name", SOME)
@few
@given(st.lists(WEIGHTS, min_size=1, max_size=12))
def test_beside_decimals(tmp_path: Path, name: str, weights: list[str]):
    check_beside_decimals(tmp_path, name, weights)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
@many
@given(st.lists(WEIGHTS, min_size=1, max_size=12))
def test_much_beside_decimals(tmp_path: Path, name: str, weights: list[str]):
    check_beside_decimals(tmp_path, name, weights)


def check_beside_decimals(tmp_path: Path, name: str, weights: list[str]):
    if name == "table.parquet":
        weights = [one for one in weights if places_of(Decimal(one)) <= 20 and Decimal(one) < 10**17]
        if not weights:
            return
    exact = [Decimal(one) for one in weights]
    near = [Decimal(repr(float(one))) for one in weights]
    if any("." in one or "e" in one for one in weights) or name == "table.parquet":
        report = converted(tmp_path, name, TEXTS[name](weights), plan=TINY)
    else:
        return
    differ = sum(one != other for one, other in zip(exact, near, strict=True))
    rounded = (report.record.values_dropped or {}).get(ROUNDED, 0)
    places = max(map(places_of, exact))
    fits = places <= 9 and max(exact) * 10**places * (len(weights) + 1) < 2**61
    found = weights_in(tmp_path / "g.zarr")
    if fits:
        assert not rounded and found == sorted(map(Fraction, exact))
    else:
        assert rounded == differ and found == sorted(map(Fraction, near))
    assert bool(rounded) == any("rounded to the nearest float64" in note for note in report.notes)


def test_the_least_of_several_weights_that_have_one_float(tmp_path: Path):
    text = "1 2 123456789.123456789\n2 1 123456789.123456788\n2 3 123456789.123456787\n"
    assert float("123456789.123456789") == float("123456789.123456788")
    report = converted(tmp_path, "a.txt", text)
    assert report.record.weights is not None and report.record.weights.edges_with_several == 1
    assert weights_in(tmp_path / "g.zarr") == [Fraction("123456789.123456787"), Fraction("123456789.123456788")]


def test_several_inputs_of_which_one_is_floats(tmp_path: Path):
    (tmp_path / "a.txt").write_text("1 2 123456789.123456789\n")
    pq.write_table(pa.table({"src": [2], "dst": [3], "weight": [0.25]}), tmp_path / "b.parquet")
    for files in (["a.txt", "b.parquet"], ["b.parquet", "a.txt"]):
        convert([tmp_path / file for file in files], tmp_path / "g.zarr", options=ConvertOptions(
            force=True, weights=WeightChoice()))
        assert weights_in(tmp_path / "g.zarr") == [Fraction("0.25"), Fraction("123456789.123456789")]


def test_weights_below_zero(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("1 2 -123456789.123456789\n2 3 123456789.123456789\n3 4 -0.0\n")
    convert([path], tmp_path / "g.zarr", options=ConvertOptions(weights=WeightChoice(negative=True), directed=True))
    with open_store(str(tmp_path / "g.zarr"), directed=True) as store:
        assert sorted(map(Fraction, arcs_of(store).values())) == [
            -Fraction("123456789.123456789"), 0, Fraction("123456789.123456789")]


def test_sums_that_do_not_fit_are_rounded_and_said(tmp_path: Path):
    weights = ["999999999.123456789"] * 4  # five vertices: more than 2^61 units of 10^-9
    report = converted(tmp_path, "a.txt", lines(weights))
    assert report.record.values_dropped == {ROUNDED: 4}
    found = emdiam.exact(tmp_path / "g.zarr", weighted=True)
    assert found.details["rounded_weights"] == 4
    assert "weights: 4 of the input were rounded to the nearest float64" in task_lines(found.to_dict())
    assert weights_in(tmp_path / "g.zarr") == [Fraction(repr(float(weights[0])))] * 4


def test_values_of_an_array_are_rounded_and_said(tmp_path: Path):
    text = "%%MatrixMarket matrix array real symmetric\n3 3\n0\n123456789.123456789\n0.5\n0\n0.25\n0\n"
    report = converted(tmp_path, "a.mtx", text)
    assert report.record.values_dropped is not None and report.record.values_dropped[ROUNDED] == 1
    assert weights_in(tmp_path / "g.zarr") == [Fraction("0.25"), Fraction("0.5"), Fraction(repr(123456789.123456789))]
    (tmp_path / "b.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n2 1 123456788.123456789\n")
    report = convert([tmp_path / "b.mtx", tmp_path / "a.mtx"], tmp_path / "g.zarr", options=ConvertOptions(
        force=True, weights=WeightChoice()))
    assert report.record.values_dropped is not None and report.record.values_dropped[ROUNDED] == 2


def test_a_pipe_cannot_be_read_again(tmp_path: Path):
    class Pipe:
        name, rewindable = "pipe", False

        def __init__(self, source: Any) -> None:
            self.info, self.batches, self.position_bytes = source.info, source.batches, source.position_bytes

    path = tmp_path / "a.txt"
    path.write_text(lines(LONG))
    choice = WeightChoice()
    with pytest.raises(InputError, match="more digits than float64 keeps") as raised:
        write_graph(Pipe(open_source([path], weights=choice)), tmp_path / "g.zarr",
                    options=ConvertOptions(weights=choice))
    assert "save it as a file" in str(raised.value) and not (tmp_path / "g.zarr").exists()


@pytest.mark.parametrize("first", [True, False])
def test_one_choice_serves_again(tmp_path: Path, first: bool):
    choice = WeightChoice()
    for name, text in [("a.txt", lines(LONG)), ("b.txt", lines(["0.25", "1"]))][:: 1 if first else -1]:
        (tmp_path / name).write_text(text)
        convert([tmp_path / name], tmp_path / "g.zarr", options=ConvertOptions(force=True, weights=choice))
        with open_store(str(tmp_path / "g.zarr")) as store:
            assert store.record.weights is not None and store.record.weights.decimals == (9 if name == "a.txt" else 2)


@pytest.mark.parametrize("names", ["", "v"])
def test_a_stop_after_every_state(tmp_path: Path, names: str, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.txt"
    weights = ["0.25"] * 9 + LONG[:1] + ["0.5"] * 6
    path.write_text(lines(weights, names=names))
    stop_after(monkeypatch, lambda state: DONE not in state)
    report, states = None, 0
    while report is None:
        options = ConvertOptions(plan=TINY, checkpoint=CheckpointOptions(tmp_path / "kept", every=0, resume=True),
                                 weights=WeightChoice())
        try:
            report = convert([path], tmp_path / "g.zarr", options=options)
        except Stop:
            states += 1
            assert states < 400
    assert states > 5 and weights_in(tmp_path / "g.zarr") == sorted(map(Fraction, weights))


def test_graphs_of_networkx(tmp_path: Path):
    graph = nx.path_graph(4)
    for (a, b), weight in zip(graph.edges, [Decimal("123456789.123456789"), 0.5, 9007199254740993], strict=True):
        graph[a][b]["weight"] = weight
    report = write_graph(as_source(graph, WeightChoice()), tmp_path / "g.zarr")
    assert report.record.weights is not None and report.record.weights.dtype == "float64"
    graph[2][3]["weight"] = 7
    found = emdiam.exact(graph, weighted=True)
    assert found.exact and found.diameter == Decimal("123456796.623456789")


@given(st.decimals(allow_nan=False, allow_infinity=False).map(str))
def test_a_number_of_a_text_loses_nothing(text: str):
    found = float_or_decimal(text)
    assert Decimal(text) == (found if isinstance(found, Decimal) else Decimal(repr(found))) or len(text) <= 15
    assert float(found) == float(text)


DIGITS = st.text("0123456789", max_size=24)
NUMBERS = st.one_of(
    st.builds("{}{}.{}{}".format, st.sampled_from(["", "+", "-"]), DIGITS, DIGITS,
              st.one_of(st.just(""), st.integers(-340, 280).map("e{}".format))),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map("{:.18e}".format),
    WEIGHTS,
).filter(lambda text: any(map(str.isdigit, text.lower().partition("e")[0])))


@many
@given(st.lists(NUMBERS, min_size=1, max_size=30))
def test_every_float_is_the_nearest(tmp_path: Path, weights: list[str]):
    path, choice = tmp_path / "a.txt", WeightChoice(negative=True)
    path.write_text(lines(weights))
    choice.digits.rounds = True
    found = np.concatenate([batch.weights for batch in open_source([path], weights=choice).batches(1 << 20)])
    assert found.tolist() == list(map(float, weights))
    assert choice.digits.rounded == sum(Decimal(one) != Decimal(repr(float(one))) for one in weights)


@many
@given(st.lists(st.integers(1 - 2**61, 2**61 - 1), min_size=1, max_size=30), st.integers(0, 9), st.booleans())
@example([2**53], 0, False)
def test_every_whole_number_is_the_decimal(tmp_path: Path, units: list[int], places: int, exponent: bool):
    path, choice = tmp_path / "a.txt", WeightChoice(negative=True)
    exact = [Decimal(one).scaleb(-places) for one in units]
    path.write_text(lines([f"{one:e}" if exponent and unit % 10 else f"{one:f}" if places else f"{one}."
                           for unit, one in zip(units, exact, strict=True)]))
    choice.digits.places = places
    found = np.concatenate([batch.weights for batch in open_source([path], weights=choice).batches(1 << 20)])
    assert found.tolist() == units


def test_a_weight_that_is_written_in_other_ways(tmp_path: Path):
    """Blanks are no part of a number; Python reads digits of other scripts and underscores, which are refused."""
    weights = [" 0.5 ", "9876543.000000001"]
    report = converted(tmp_path, "a.graphml", graphml(weights))
    assert report.record.weights is not None and report.record.weights.decimals == 9
    assert weights_in(tmp_path / "g.zarr") == [Fraction("0.5"), Fraction("9876543.000000001")]
    for weight in ("\u0661\u0662\u0663456789.123456789", "9_876_543.000000001"):
        with pytest.raises(InputError, match="not a number"):
            converted(tmp_path, "b.graphml", graphml([weight]))


@pytest.mark.parametrize("name", ["edges.txt", "table.csv", "table.parquet", "graph.lgl"])
def test_whole_numbers_of_sixteen_digits_among_floats(tmp_path: Path, name: str):
    weights = ["9999999999999999", "0.5"]
    report = converted(tmp_path, name, TEXTS[name](weights))
    assert weights_in(tmp_path / "g.zarr") == [Fraction("0.5"), Fraction(9999999999999999)]
    assert ROUNDED not in (report.record.values_dropped or {})
