"""Runs that begin with an earlier proof beside fresh ones: traversals and seconds of `exact` and `ecc`, on real graphs
of which a share of the edges has gone, or as many random ones have come, by `emdiam apply`; and on the commits of a
repository, a year on.

`python -m bench.warm --data ../shared/data --git REPOSITORY -o TABLE.md [NAME ...]` writes a table. Traversals are BFS
or searches, and the sources of batches. Where a run chooses by seconds, it has a clock that counts arcs and traversals,
so that both counts are the same in every run. Seconds are CPU seconds of one call each. Lengths of NY are its own,
other weights random whole numbers from 1 to 100.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import emdiam
from emdiam.engine.reporter import Reporter
from emdiam.store.array_reader import read_slice
from emdiam.store.store import open_store

GRAPHS = {
    "cnr-2000": "cnr-2000.parquet", "NY": "USA-road-d.NY.gr.gz", "wave": "wave.graph.bz2", "internet": "internet.egr",
    "facebook": "facebook_combined.txt", "travelmapping": "travelmapping-highways.parquet",
    "power": "USPowerGrid.txt", "wiki-Vote": "wiki-Vote.txt", "cit-HepPh": "cit-HepPh.csv.gz",
    "Gnutella": "p2p-Gnutella31.e"}
SHARES = (0.001, 0.01, 0.1)
_YEAR = 365 * 24 * 3600
_SECONDS_AN_ARC, _SECONDS_A_TRAVERSAL = 2e-9, 1e-5
_LARGEST_WEIGHT = 100


@dataclass(frozen=True)
class Runs:
    """A command on graphs of one kind. names : of the graphs."""

    command: str
    names: tuple[str, ...]
    directed: bool = False
    weighted: bool = False

    @property
    def title(self) -> str:
        """As it is typed."""
        return " ".join([self.command, *["--directed"] * self.directed, *["--weighted"] * self.weighted])

    def result(self, store: Path, **more: Any) -> Any:
        """Of one run with one thread."""
        if self.command == "exact":
            return emdiam.exact(store, threads=1, directed=self.directed, weighted=self.weighted, **more)
        return emdiam.eccentricities(store, threads=1, directed="out" if self.directed else None,
                                     weighted=self.weighted, **more)


TABLE = (
    Runs("exact", ("cnr-2000", "NY", "wave", "internet", "facebook", "travelmapping")),
    Runs("exact", ("NY", "internet", "facebook", "power"), weighted=True),
    Runs("exact", ("wiki-Vote", "cit-HepPh", "Gnutella"), directed=True),
    Runs("exact", ("wiki-Vote", "Gnutella", "power"), directed=True, weighted=True),
    Runs("ecc", ("cnr-2000", "internet", "facebook", "power")),
    Runs("ecc", ("facebook", "power"), weighted=True),
    Runs("ecc", ("wiki-Vote", "power"), directed=True, weighted=True))


def counting(reporter: Reporter) -> float:
    """The clock of all runs here."""
    stats = reporter.stats()
    return _SECONDS_AN_ARC * stats.edges_scanned + _SECONDS_A_TRAVERSAL * stats.traversals


def edges_of(path: Path, runs: Runs) -> tuple[int, list[np.ndarray]]:
    """Vertices, and both ends of every edge or arc, int64[m], with the weights where they count."""
    with open_store(path, directed=runs.directed) as store:
        n = store.n_vertices
        ends = read_slice(store.indptr, 0, n + 1)
        heads = read_slice(store.indices, 0, store.n_arcs).astype(np.int64)
        weights = None if store.weights is None else read_slice(store.weights, 0, store.n_arcs)
    tails = np.repeat(np.arange(n), np.diff(ends))
    once = np.ones(len(tails), np.bool_) if runs.directed else tails < heads
    columns = [tails[once], heads[once]]
    if runs.weighted:
        columns.append(_weights(len(columns[0]), 2) if weights is None else weights[once])
    return n, columns


def _weights(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, _LARGEST_WEIGHT + 1, count)


def changes(n: int, columns: list[np.ndarray], share: float, removed: bool) -> dict[str, Any]:
    """What apply has to do: remove a share of the edges, or add as many between random vertices."""
    rng, m = np.random.default_rng(1), len(columns[0])
    count = int(share * m)
    if removed:
        gone = rng.choice(m, count, replace=False)
        return {"remove": tuple(ends[gone] for ends in columns[:2])}
    return {"add": (*rng.integers(0, n, (2, count)), *[_weights(count, 3)] * (len(columns) - 2))}


def history(repository: Path, folder: Path) -> tuple[Path, Path]:
    """The arcs from commits to their parents up to a year before the last commit, and those that have come since."""
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True, text=True).stdout

    last = int(git("log", "-1", "--format=%ct"))
    files = folder / "old.txt", folder / "add.txt"
    lines: tuple[list[str], list[str]] = [], []
    for line in git("log", "--format=%ct %H %P").splitlines():
        when, commit, *parents = line.split()
        lines[int(when) > last - _YEAR].extend(f"{commit} {parent}\n" for parent in parents)
    for file, part in zip(files, lines, strict=True):
        file.write_text("".join(part))
    return files


def traversals(result: Any) -> int:
    """BFS, and sources of batches."""
    return int(result.traversals.bfs + result.traversals.multi_source_sources)


def measured(runs: Runs, store: Path, **more: Any) -> tuple[Any, str, str]:
    """The result of one run, its traversals and its CPU seconds."""
    begin = time.process_time()
    result = runs.result(store, **more)
    return result, f"{traversals(result):,}", f"{time.process_time() - begin:.2f}"


def cell_of(runs: Runs, folder: Path) -> str:
    """Fresh and warm, on the changed store in the folder. Raises AssertionError where answers differ."""
    more = {"keep": True} if runs.command == "ecc" else {}
    fresh, *of_fresh = measured(runs, folder / "new.zarr", **more)
    warm, *of_warm = measured(runs, folder / "new.zarr", from_proof=folder / "old.json", **more)
    assert (fresh.lower, fresh.upper) == (warm.lower, warm.upper)
    if runs.command == "ecc":
        assert np.array_equal(fresh.lower_bounds, warm.lower_bounds)
    return f"{of_fresh[0]} → {of_warm[0]} ({of_fresh[1]} → {of_warm[1]})"


def row_of(runs: Runs, name: str, file: Path, folder: Path) -> str:
    """The row of one graph."""
    own = runs.weighted and name == "NY"
    emdiam.convert(file, folder / "file.zarr", directed=runs.directed, weights=own, force=True)
    n, columns = edges_of(folder / "file.zarr", runs)
    emdiam.convert(tuple(columns), folder / "old.zarr", directed=runs.directed, weights=runs.weighted, force=True)
    (folder / "old.json").unlink(missing_ok=True)
    old = runs.result(folder / "old.zarr", certificate=folder / "old.json")
    cells = []
    for removed in (True, False):
        for share in SHARES:
            emdiam.apply(folder / "old.zarr", folder / "new.zarr", force=True, **changes(n, columns, share, removed))
            cells.append(cell_of(runs, folder))
            print(runs.title, name, cells[-1], flush=True)
    return f"| {runs.title} | {name} | {traversals(old):,} | {' | '.join(cells)} |"


def row_of_history(repository: Path, folder: Path) -> str:
    """The row of the commits of a repository, a year on."""
    runs, (first, add) = TABLE[0], history(repository, folder)
    emdiam.convert(first, folder / "old.zarr", force=True)
    (folder / "old.json").unlink(missing_ok=True)
    old = runs.result(folder / "old.zarr", certificate=folder / "old.json")
    emdiam.apply(folder / "old.zarr", folder / "new.zarr", add=add, force=True)
    return f"| {runs.title} | commits of git, a year on | {traversals(old):,} | {cell_of(runs, folder)} |" + 5 * " |"


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *GRAPHS])
    parser.add_argument("--data", type=Path, required=True, help="folder of the real graphs")
    parser.add_argument("--git", type=Path, help="a repository of git, whose history is a graph too")
    parser.add_argument("-o", "--out", type=Path, required=True, help="file for the table")
    given = parser.parse_args()
    Reporter.clock = counting  # type: ignore[method-assign]
    shares = [f"{100 * share:g} % {how}" for how in ("removed", "added") for share in SHARES]
    lines = [f"| command | graph | before | {' | '.join(shares)} |", "|---|---|---:|" + "---:|" * len(shares)]
    with TemporaryDirectory(prefix="emdiam-warm-") as folder:
        for runs in TABLE:
            for name in runs.names:
                if not given.names or name in given.names:
                    lines.append(row_of(runs, name, given.data / GRAPHS[name], Path(folder)))
        if given.git is not None:
            lines.append(row_of_history(given.git, Path(folder)))
    given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
