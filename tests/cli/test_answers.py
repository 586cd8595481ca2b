"""What answers say of components, and what a report may replace."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest

import emdiam
from emdiam.durable import write_whole
from tests.cli.test_commands import call, parsed  # noqa: F401 - call is a fixture

PATH_AND_STAR = [(1, 2), (2, 3), (3, 4), (11, 12), (11, 13), (11, 14)]
SEVERAL = "diameter of the largest component (one of several of this size): "


@pytest.mark.parametrize(("edges", "several"), [
    (PATH_AND_STAR, True), ([*PATH_AND_STAR[3:], (11, 15), *PATH_AND_STAR[:3]], False),
    ([(21, 22), *PATH_AND_STAR], True), ([(1, 2), *PATH_AND_STAR[3:]], False), ([(1, 1), (2, 2)], True)])
@pytest.mark.parametrize("method", [[], ["--method", "fdiam"], ["--weighted"]])
def test_several_largest_components(call, edges: list[tuple[int, int]], several: bool,  # noqa: F811
                                    method: list[str]):
    emdiam.convert([(u, v, 1) for u, v in edges], "g.zarr", weights=True)
    details = parsed(call("exact", "g.zarr", *method, "--json", "--quiet"))["details"]
    assert details["several_largest_components"] is several
    assert (SEVERAL in call("exact", "g.zarr", *method, "--quiet")[1]) is several
    weighted = [one for one in method if one == "--weighted"]
    for command in ("approx", "ecc"):
        assert (SEVERAL in call(command, "g.zarr", *weighted, "--quiet")[1]) is several
    said = "radius, centre and periphery: those of the largest component" + (" (one of several" if several else "\n")
    assert said in call("ecc", "g.zarr", "--center", *weighted, "--quiet")[1]


def test_isolated_vertices_are_listed_components(call):  # noqa: F811
    graph = nx.Graph([("a", "b")])
    graph.add_nodes_from("cd")
    emdiam.convert(graph, "g.zarr")
    rows = parsed(call("exact", "g.zarr", "--components", "2", "--json", "--quiet"))["details"]["components"]
    assert rows == [{"vertex": "a", "vertices": 2, "lower": 1, "upper": 1},
                    {"vertex": "c", "vertices": 1, "lower": 0, "upper": 0}]
    assert "and 1 more component\n" in call("exact", "g.zarr", "--components", "2", "--quiet")[1]
    graph.remove_edge("a", "b")
    emdiam.convert(graph, "g.zarr", force=True)
    rows = parsed(call("exact", "g.zarr", "--components", "9", "--json", "--quiet"))["details"]["components"]
    assert [(row["vertex"], row["upper"]) for row in rows] == [(name, 0) for name in "abcd"]


def test_a_report_keeps_what_it_reads(call):  # noqa: F811
    emdiam.generate("path", "g.zarr", vertices=5)
    write_whole("jobs.toml", '[[job]]\nname = "a"\ncommand = "exact"\nstore = "g.zarr"\n')
    assert call("batch", "jobs.toml", "--out", "b", "--quiet")[0] == 0
    for source in ("b", "b/results.jsonl"):
        for place in ("b/results.jsonl", "b/state.json", "b/jobs/a/answer.json", "b/jobs/a/events.jsonl"):
            before = Path(place).read_bytes()
            code, _, said = call("report", source, "--out", place)
            assert code == 2 and f"{place}: --out would overwrite what this command reads" in said
            assert Path(place).read_bytes() == before
    for _ in range(2):
        assert call("report", "b", "--out", "b/report.md")[0] == 0


def test_kept_centralities_of_unlike_weights():
    with pytest.raises(emdiam.InputError, match="ask for no centralities, or leave out the edges") as fault:
        emdiam.distances([(0, 1, 0.9256904118468016), (1, 2, 749606.887290718), (2, 3, 2.0366773202525048e-10)],
                         weighted=True, exact=True, keep=True)
    assert "out=" not in str(fault.value)


@pytest.mark.parametrize("weights", [[0.1, 0.2, 0.3], [0, 4294967295, 1], [1e-9, 1e6, 0.7]])
def test_printed_means_are_those_of_the_weights(call, weights: list[float]):  # noqa: F811
    write_whole("e.csv", "source,target,km\n" + "".join(f"{i},{i + 1},{w}\n" for i, w in enumerate(weights)))
    result = parsed(call("distances", "e.csv", "--weight", "km", "--exact", "--json", "--quiet"))
    sums = [sum((Fraction(str(w)) for w in weights[i:j]), Fraction()) for i in range(4) for j in range(i + 1, 4)]
    mean = sum(sums, Fraction()) / len(sums)
    assert abs(Fraction(result["mean"]) - mean) <= mean / 10**15
