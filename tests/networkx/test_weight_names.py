"""One diameter along one attribute of three: by networkx itself, by its backend, and by emdiam.exact."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import networkx as nx
import pytest

import emdiam
from tests.helpers.many_graphs import campaign

KINDS = ("integers", "decimals", "both")


def roads(number: int) -> nx.Graph:
    """The connected graph of this number, of up to 40 vertices; its edges have `weight` and `length` beside `km`, whose
    answers are others."""
    rng = random.Random(number)
    n, kind = rng.randint(2, 40), KINDS[number % len(KINDS)]
    graph = nx.Graph()
    pairs = [(v, rng.randrange(v)) for v in range(1, n)]
    pairs += [(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randint(0, 2 * n))]
    for v, u in pairs:
        whole = rng.randint(1, 999)
        km = whole if kind == "integers" or (kind == "both" and rng.random() < 0.5) else whole / 10 ** rng.randint(0, 6)
        graph.add_edge(f"v{v}", f"v{u}", weight=1000 * n * 1000, length=0.125, km=km)
    return graph


def check(number: int) -> None:
    """The three are one number: integers equal, decimals but for the last bits that networkx rounds; exact has none."""
    graph = roads(number)
    theirs = nx.diameter(graph, weight="km", backend="networkx")
    dispatched = nx.diameter(graph, weight="km", backend="emdiam")
    found = emdiam.exact(graph, weight="km")
    assert dispatched == theirs and type(dispatched) is type(theirs)
    assert found.exact and found.diameter is not None
    if KINDS[number % len(KINDS)] == "integers":
        assert found.diameter == theirs and isinstance(found.diameter, int)
    assert float(found.diameter) == pytest.approx(theirs, rel=1e-12)
    path = found.witness.path if found.witness is not None else None
    assert path is not None
    along = [Fraction(repr(graph[v][u]["km"])) for v, u in itertools.pairwise(path)]
    assert sum(along) == Fraction(repr(found.diameter))


@pytest.mark.parametrize("number", range(30))
def test_some_graphs(number: int) -> None:
    check(number)


@pytest.mark.slow
@campaign(10)
def test_many_graphs(numbers: range) -> None:
    for number in numbers:
        check(number)
