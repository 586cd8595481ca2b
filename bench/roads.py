"""Diameter, centre and all eccentricities of road networks with directions and weights, beside igraph and mdiam.

`python -m bench.roads FILE_net.tntp... --mdiam PROGRAM -o TABLE.md`: files are those of
github.com/bstabler/TransportationNetworks. Of each the largest strong component is taken along `length` and along
`free_flow_time`, unless a third of the arcs have 0, in whole numbers of the last decimal. CPU seconds of solving: the
least of three runs, of mdiam as it says them, and of igraph `distances` from some vertices, times all / some. Raises
AssertionError where answers differ.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import igraph
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import emdiam

COLUMNS = {"length": 3, "time": 4}
HEAD = ("| network | vertices | arcs | searches | all, s | mdiam | igraph | diameter, s | mdiam | radius: mdiam |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
Arcs = tuple[np.ndarray, np.ndarray, np.ndarray]


def arcs_of(file: Path, column: int) -> Arcs | None:
    """Tails, heads and whole weights of the largest strong component; None where too many weights are 0."""
    found = dict[tuple[int, int], Decimal]()
    for line in file.read_text().split("<END OF METADATA>")[1].splitlines():
        fields = line.replace(";", " ").split()
        if fields and fields[0] != "~" and fields[0] != fields[1]:
            arc, weight = (int(fields[0]), int(fields[1])), Decimal(fields[column])
            found[arc] = min(weight, found.get(arc, weight))
    if 3 * sum(not weight for weight in found.values()) > len(found):
        return None
    decimals = -min(int(weight.normalize().as_tuple().exponent) for weight in found.values())
    ends = np.array(list(found))
    weights = np.array([int(weight.scaleb(max(0, decimals))) for weight in found.values()])
    matrix = csr_array((np.ones(len(ends)), ends.T), shape=(ends.max() + 1,) * 2)
    numbers = connected_components(matrix, connection="strong")[1]
    inside = (numbers[ends] == np.bincount(numbers).argmax()).all(axis=1)
    _, ids = np.unique(ends[inside], return_inverse=True)
    return *ids.reshape(-1, 2).T, weights[inside]


def least(work: Callable[[], Any]) -> tuple[Any, float]:
    """The answer, and the least CPU seconds of three runs."""
    seconds = list[float]()
    for _ in range(3):
        begin = time.process_time()
        found = work()
        seconds.append(time.process_time() - begin)
    return found, min(seconds)


def by_mdiam(program: Path, file: Path, what: str) -> tuple[str, float]:
    """What it prints, and the least seconds of three runs as it says them; nan where it fails, as for weights of more
    than 31 bits."""
    seconds = list[float]()
    for _ in range(3):
        done = subprocess.run([program, "-weighted", "-simple", f"-{what}", "-verbosity", "1", file],
                              capture_output=True, text=True, check=False)
        said = re.findall(r"^-- (?:all_ecc|diam|rad)\w* ([\d.e+-]+)s", done.stderr, re.MULTILINE)
        seconds.append(float(said[-1]) if said else float("nan"))
    return done.stdout, min(seconds)


def row_of(name: str, arcs: Arcs, program: Path, sources: int, folder: Path) -> str:
    """Of the table. Raises AssertionError where answers differ."""
    tails, heads, weights = arcs
    n, file, store = int(tails.max()) + 1, folder / f"{name}.txt", folder / f"{name}.zarr"
    np.savetxt(file, np.stack(arcs, axis=1), fmt="%d")
    subprocess.run([sys.executable, "-m", "emdiam", "convert", file, store, "--directed", "--weights"], check=True,
                   capture_output=True)
    options: dict[str, Any] = {"directed": "out", "weighted": True}
    every, own = least(lambda: emdiam.eccentricities(str(store), keep=True, **options))
    longest, own_longest = least(lambda: emdiam.exact(str(store), directed=True, weighted=True))
    values = np.asarray(every.upper_bounds)
    assert every.exact and longest.diameter == values.max() and every.radius == values.min()
    text, seconds = by_mdiam(program, file, "eccentricity-all")
    told = dict(map(int, line.split()) for line in text.splitlines() if re.fullmatch(r"\d+ \d+", line))
    assert not told or [told[vertex] for vertex in range(n)] == values.tolist(), "mdiam has other eccentricities"
    _, diameter_seconds = by_mdiam(program, file, "diameter")
    _, radius_seconds = by_mdiam(program, file, "radius")
    graph, some = igraph.Graph(n, list(zip(tails.tolist(), heads.tolist(), strict=True)), directed=True), np.arange(n)
    some = some if sources >= n or not sources else np.random.default_rng(1).permutation(n)[:sources]
    begin = time.process_time()
    for part in np.array_split(some, max(1, len(some) // 200)):
        found = np.array(graph.distances(part.tolist(), weights=weights.tolist(), mode="out")).max(axis=1)
        assert (found == values[part]).all(), "igraph has other eccentricities"
    other = (time.process_time() - begin) * n / len(some)
    counted = f"{every.traversals.bfs} + {every.traversals.partial} short"
    return (f"| {name} | {n:,} | {len(tails):,} | {counted} | {own:.2f} | {seconds:.2f} ({seconds / own:.1f} x) |"
            f" {other:,.0f}{'' if len(some) == n else f' of {len(some)}'} ({other / own:,.0f} x) | {own_longest:.3f} |"
            f" {diameter_seconds:.3f} ({diameter_seconds / own_longest:.1f} x) | {radius_seconds:.3f} |\n")


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.roads", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--mdiam", type=Path, required=True)
    parser.add_argument("--sources", type=int, default=0, help="of igraph; 0: all")
    parser.add_argument("-o", "--out", type=Path, required=True)
    options, table = parser.parse_args(), HEAD
    with tempfile.TemporaryDirectory() as folder:
        for file in options.files:
            for word, column in COLUMNS.items():
                arcs = arcs_of(file, column)
                if arcs is not None:
                    name = f"{file.stem.removesuffix('_net')}-{word}"
                    table += row_of(name, arcs, options.mdiam, options.sources, Path(folder))
                    options.out.write_text(table)


if __name__ == "__main__":
    main()
