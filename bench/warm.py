"""Runs that begin with an earlier proof beside fresh ones: traversals and seconds, on real graphs of which a share of
the edges has gone, or as many random ones have come, by `emdiam apply`; and on the commits of a repository, a year on.

`python -m bench.warm --data ../shared/data --git REPOSITORY -o TABLE.md [NAME ...]` writes a table. Seconds are of
solving alone, of one run each; traversals are BFS and the sources of batches.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import emdiam
from emdiam.store.array_reader import read_slice
from emdiam.store.store import open_store

GRAPHS = {
    "cnr-2000": "cnr-2000.parquet", "NY": "USA-road-d.NY.gr.gz", "wave": "wave.graph.bz2", "internet": "internet.egr",
    "facebook": "facebook_combined.txt", "travelmapping": "travelmapping-highways.parquet"}
SHARES = (0.001, 0.01, 0.1)
_YEAR = 365 * 24 * 3600


def edges_of(path: Path) -> tuple[int, np.ndarray, np.ndarray]:
    """Vertices, and both ends of every edge, int64[m]."""
    with open_store(path) as store:
        n = store.n_vertices
        ends = read_slice(store.indptr, 0, n + 1)
        heads = read_slice(store.indices, 0, store.n_arcs).astype(np.int64)
    tails = np.repeat(np.arange(n), np.diff(ends))
    return n, tails[tails < heads], heads[tails < heads]


def changes(n: int, one: np.ndarray, other: np.ndarray, share: float, removed: bool) -> dict[str, Any]:
    """What apply has to do: remove a share of the edges, or add as many between random vertices."""
    rng, count = np.random.default_rng(1), int(share * len(one))
    if removed:
        gone = rng.choice(len(one), count, replace=False)
        return {"remove": (one[gone], other[gone])}
    return {"add": tuple(rng.integers(0, n, (2, count)))}


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


def row_of(name: str, change: str, before: Any, folder: Path) -> str:
    """The row of the changed store in the folder. before : the result of the old one. Raises AssertionError where
    answers differ."""
    fresh = emdiam.exact(folder / "new.zarr", threads=1)
    warm = emdiam.exact(folder / "new.zarr", threads=1, from_proof=folder / "old.json")
    assert (fresh.lower, fresh.diameter_largest_component) == (warm.lower, warm.diameter_largest_component)
    row = (f"| {name} | {change} | {before.lower:,} | {fresh.lower:,} |"
           f" {traversals(fresh)} | {traversals(warm)} | {fresh.seconds['solve']:.2f} | {warm.seconds['solve']:.2f} |")
    print(row, flush=True)
    return row


def rows_of(name: str, file: Path, folder: Path) -> Iterator[str]:
    """The rows of one graph."""
    emdiam.convert(file, folder / "file.zarr", force=True)
    n, one, other = edges_of(folder / "file.zarr")
    emdiam.convert((one, other), folder / "old.zarr", force=True)
    old = emdiam.exact(folder / "old.zarr", certificate=folder / "old.json")
    for removed in (True, False):
        for share in SHARES:
            emdiam.apply(folder / "old.zarr", folder / "new.zarr", force=True, **changes(n, one, other, share, removed))
            yield row_of(name, f"{100 * share:g} % {'removed' if removed else 'added'}", old, folder)


def row_of_history(repository: Path, folder: Path) -> str:
    """The row of the commits of a repository, a year on."""
    first, add = history(repository, folder)
    emdiam.convert(first, folder / "old.zarr", force=True)
    old = emdiam.exact(folder / "old.zarr", certificate=folder / "old.json")
    emdiam.apply(folder / "old.zarr", folder / "new.zarr", add=add, force=True)
    return row_of("commits of git", "a year on", old, folder)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *GRAPHS])
    parser.add_argument("--data", type=Path, required=True, help="folder of the real graphs")
    parser.add_argument("--git", type=Path, help="a repository of git, whose history is a graph too")
    parser.add_argument("-o", "--out", type=Path, required=True, help="file for the table")
    given = parser.parse_args()
    lines = ["| graph | change | D before | D | traversals, fresh | warm | seconds, fresh | warm |",
             "|---|---|---|---|---|---|---|---|"]
    with TemporaryDirectory(prefix="emdiam-warm-") as folder:
        for name in given.names or GRAPHS:
            lines += rows_of(name, given.data / GRAPHS[name], Path(folder))
        if given.git is not None:
            lines.append(row_of_history(given.git, Path(folder)))
    given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
