"""Certificates of every kind but a diameter of hops (certificates.py), edited, with a digest that matches: whatever is
verified is true by brute force."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path

import emdiam
from emdiam.certificates.documents import read_certificate
from emdiam.certificates.run import verify
from emdiam.errors import EmdiamError
from tests.certificates.test_documents import seal
from tests.fuzz.kinds import Attack
from tests.fuzz.outcome import REFUSED, RIGHT, WRONG, Outcome

_MEMORY = 4 << 30
_TENTHS = 10  # weights are whole numbers of tenths
_GRAPHS = 2
# Function of the package, and its options; lengths are sums of weights where they have a weight.
_RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("eccentricities", {}), ("exact", {"weight": True}), ("eccentricities", {"weight": True}),
    ("exact", {"directed": True}), ("exact", {"directed": True, "weight": True}),
    ("eccentricities", {"directed": "out", "weight": True}), ("eccentricities", {"directed": "in", "weight": True}),
    ("distances", {}))


class Case:
    """A store and one certificate of it. apart : distances in tenths, or hops; inf without a path."""

    def __init__(self, folder: Path, number: int, run: int, whole: bool) -> None:
        name, options = _RUNS[run]
        self.directed, weighted = "directed" in options, "weight" in options
        table = _some_table(random.Random(f"{number} {run} {whole}"), whole)
        self.store = folder / f"{number}-{run}-{whole}.zarr"
        emdiam.convert(table, self.store, columns="a,b", weights="w", directed=self.directed)
        file = self.store.with_suffix(".json")
        getattr(emdiam, name)(self.store, certificate=file, memory=_MEMORY, threads=1, **{
            **options, **({"weight": "w"} if weighted else {})})
        self.document: dict[str, Any] = json.loads(file.read_bytes())
        self.ids = sorted({*table.a.tolist(), *table.b.tolist()})
        at = {one: i for i, one in enumerate(self.ids)}
        n = len(self.ids)
        lengths = np.full((n, n), np.inf)
        for a, b, w in zip(table.a.map(at), table.b.map(at), (table.w * _TENTHS).round().astype(int), strict=True):
            for x, y in ((a, b),) if self.directed else ((a, b), (b, a)):
                lengths[x, y] = min(lengths[x, y], w if weighted else 1)
        there = np.isfinite(lengths)
        rows, columns = np.nonzero(there)
        graph = coo_array((lengths[there], (rows, columns)), shape=(n, n)).tocsr()
        self.apart = shortest_path(graph, directed=True)
        self.n_components, self.parts = connected_components(graph, directed=False)
        self.n_strong = connected_components(graph, directed=True, connection="strong")[0]
        self.scale = Fraction(1, _TENTHS) if weighted else Fraction(1)


def _some_table(rng: random.Random, whole: bool) -> pd.DataFrame:
    """Edges of a random graph in one or several components, without loops and repeated edges."""
    n = rng.randint(3, 14)
    pairs = {tuple(rng.sample(range(n), 2)) for _ in range(rng.randint(2, 3 * n))}
    edges = sorted({(min(pair), max(pair)) if rng.random() < 0.8 else pair for pair in pairs})
    edges = [pair for pair in edges if pair[::-1] not in edges or pair[0] < pair[1]]
    weights = [rng.randint(1, 9) * (1 if whole else 0.1) for _ in edges]
    return pd.DataFrame({"a": [5 + a for a, _ in edges], "b": [5 + b for _, b in edges],
                         "w": [round(w, 1) for w in weights] if not whole else weights})


def attacks(folder: Path) -> Attack:
    """One edited certificate an attack."""
    cases = [Case(folder, number, run, whole)
             for number in range(_GRAPHS) for run in range(len(_RUNS)) for whole in (True, False)]
    file = folder / "edited.json"

    def attack(rng: random.Random) -> Outcome:
        case = rng.choice(cases)
        other = rng.choice([one for one in cases if one.document["format"] == case.document["format"]])
        document = json.loads(json.dumps(case.document))
        for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
            with suppress(TypeError, KeyError):  # of what an earlier edit has left
                rng.choice((_claim, _claim, _claim, _names, _names, _unit, _graph))(document, other, rng)
        file.write_bytes(seal(document))
        return judge(case, file)

    return attack


def judge(case: Case, file: Path) -> Outcome:
    """Whether whatever was verified is true."""
    try:
        report = verify(file, case.store, memory_bytes=_MEMORY, threads=1)
    except EmdiamError as error:
        return Outcome(REFUSED, str(error))
    if not report.verified:
        return Outcome(REFUSED, report.reason or "")
    wrong = _wrong(case, read_certificate(file))
    return Outcome(WRONG, f"{wrong}: {file.read_bytes()[:1500]!r}") if wrong else Outcome(RIGHT, "")


def _wrong(case: Case, content: Any) -> str:
    """The first claim that is not true, or nothing."""
    claims, unit = content.claims, getattr(content, "unit", None)
    size = Fraction(1) if unit is None else Fraction(unit[0]) ** unit[1]
    n = len(case.ids)

    def is_length(said: Any, tenths: float) -> bool:
        """Floats are rounded down to units of a power of two: a path has at most n - 1 of them."""
        if said is None:
            return False
        if unit is None:
            return round(float(said), 6) == round(float(Fraction(int(tenths)) * case.scale), 6)
        low, true = Fraction(said) * size, Fraction(int(tenths)) * case.scale
        return low <= true < low + n * size if unit[0] == 2 else low == true

    finite = np.where(np.isfinite(case.apart), case.apart, 0)
    if content.directed and getattr(claims, "direction", "") == "in":
        finite = finite.T
    far = finite.max(axis=1)
    exact = unit is None or unit[0] != 2
    found: dict[str, bool] = {}
    for name in vars(claims):
        said = getattr(claims, name)
        if name == "n_components":
            found[name] = said == case.n_components
        elif name == "n_strong_components":
            found[name] = said == case.n_strong
        elif name in ("length", "diameter_max_component"):
            found[name] = is_length(said, far.max())
        elif name == "witness":
            a, b = (case.ids.index(one) for one in said)
            found[name] = bool(np.isfinite(case.apart[a, b])) and is_length(claims.length, case.apart[a, b])
    if hasattr(claims, "n_pairs"):
        pairs = np.isfinite(case.apart) & ~np.eye(n, dtype=bool)
        total = int(case.apart[pairs].sum()) // 2
        found["n_pairs"] = claims.n_pairs == int(pairs.sum()) // 2
        found["sum"] = claims.sum_lower <= total <= claims.sum_upper
        found["longest"] = claims.longest >= max((far[case.ids.index(s)] for s in content.sources), default=0)
    if hasattr(claims, "largest"):
        found |= _of_largest(case, claims, far, is_length, exact)
    elif hasattr(claims, "diameter_largest_component"):
        counts = np.bincount(case.parts)
        found["largest"] = any(is_length(claims.diameter_largest_component, far[case.parts == part].max())
                               for part in np.flatnonzero(counts == counts.max()))
    if hasattr(claims, "histogram"):
        counted = {str(int(value)): int(count) for value, count in zip(*np.unique(far, return_counts=True),
                                                                       strict=True)}
        found["histogram"] = dict(claims.histogram) == counted
    if hasattr(claims, "direction"):
        strong = case.n_strong == 1
        found["radius"] = is_length(claims.radius, far.min()) if strong else claims.radius is None
        if exact:
            found["periphery"] = claims.periphery_size == int((far == far.max()).sum())
            found["center"] = claims.center_size == (int((far == far.min()).sum()) if strong else None)
    return next((name for name, right in found.items() if not right), "")


def _of_largest(case: Case, claims: Any, far: np.ndarray, is_length: Any, exact: bool) -> dict[str, bool]:
    """The claims of the component with the most vertices."""
    counts, part = np.bincount(case.parts), case.parts[case.ids.index(claims.largest)]
    inside = far[case.parts == part]
    found = {"largest": counts[part] == counts.max(), "radius": is_length(claims.radius, inside.min()),
             "diameter": is_length(claims.diameter_largest_component, inside.max())}
    if exact:
        found["center"] = claims.center_size == int((inside == inside.min()).sum())
        found["periphery"] = claims.periphery_size == int((inside == inside.max()).sum())
    return found


def _claim(document: dict[str, Any], other: Case, rng: random.Random) -> None:
    """One number more or less, or that of another graph."""
    claims = document["claims"]
    name = rng.choice(list(claims))
    value = claims[name]
    if name == "histogram":
        keys = list(value)
        value[rng.choice(keys)] += 1
        value[rng.choice(keys)] -= 1
    elif isinstance(value, list) or rng.random() < 0.3:
        claims[name] = json.loads(json.dumps(other.document["claims"][name]))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        claims[name] = value + rng.choice((-1, 1, -2, 2, -0.1, 0.1) if isinstance(value, float) else (-1, 1, -2, 2))


def _names(document: dict[str, Any], other: Case, rng: random.Random) -> None:
    """A source less, more or another; or in another place."""
    names = document[rng.choice([one for one in ("sources", "along", "against", "pairs") if one in document])]
    if names and rng.random() < 0.6:
        names.pop(rng.randrange(len(names)))
    if rng.random() < 0.4:
        names.insert(rng.randint(0, len(names)), rng.choice(other.ids))


def _unit(document: dict[str, Any], other: Case, rng: random.Random) -> None:
    """Another unit, or none."""
    name, parts = document["format"].removesuffix(" in units"), dict(document)
    if "weight" not in name:
        return
    unit = rng.choice((None, [10, -1], [10, -2], [2, -1], [2, -3], [2, 0], [2, 1]))
    document.clear()
    document |= {"format": name + " in units" * (unit is not None), "version": parts["version"],
                 "graph": parts["graph"], **({} if unit is None else {"unit": unit}),
                 **{key: value for key, value in parts.items() if key not in ("format", "version", "graph", "unit")}}


def _graph(document: dict[str, Any], other: Case, rng: random.Random) -> None:
    name = rng.choice(list(document["graph"]))
    document["graph"][name] = other.document["graph"][name]
