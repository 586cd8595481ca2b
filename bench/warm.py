"""Runs that begin with an earlier proof beside fresh ones: traversals and seconds, on real graphs of which a share of
the edges has gone, or as many random ones have come.

`python -m bench.warm --data ../shared/data -o TABLE.md [NAME ...]` writes a table. Seconds are of solving alone, of one
run each; traversals are BFS and the sources of batches.
"""

from __future__ import annotations

import argparse
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


def edges_of(path: Path) -> tuple[int, np.ndarray, np.ndarray]:
    """Vertices, and both ends of every edge, int64[m]."""
    with open_store(path) as store:
        n = store.n_vertices
        ends = read_slice(store.indptr, 0, n + 1)
        heads = read_slice(store.indices, 0, store.n_arcs).astype(np.int64)
    tails = np.repeat(np.arange(n), np.diff(ends))
    return n, tails[tails < heads], heads[tails < heads]


def changed(n: int, one: np.ndarray, other: np.ndarray, share: float, removed: bool) -> tuple[np.ndarray, np.ndarray]:
    """The edges without a share of them, or with as many more between random vertices."""
    rng, count = np.random.default_rng(1), int(share * len(one))
    if removed:
        stays = np.delete(np.arange(len(one)), rng.choice(len(one), count, replace=False))
        return one[stays], other[stays]
    more = rng.integers(0, n, (2, count))
    return np.concatenate((one, more[0])), np.concatenate((other, more[1]))


def traversals(result: Any) -> int:
    """BFS, and sources of batches."""
    return int(result.traversals.bfs + result.traversals.multi_source_sources)


def rows_of(name: str, file: Path, folder: Path) -> list[str]:
    """The rows of one graph. Raises AssertionError where answers differ."""
    emdiam.convert(file, folder / "file.zarr", force=True)
    n, one, other = edges_of(folder / "file.zarr")
    emdiam.convert((one, other), folder / "old.zarr", force=True)
    old = emdiam.exact(folder / "old.zarr", certificate=folder / "old.json")
    rows = []
    for removed in (True, False):
        for share in SHARES:
            emdiam.convert(changed(n, one, other, share, removed), folder / "new.zarr", force=True)
            fresh = emdiam.exact(folder / "new.zarr")
            warm = emdiam.exact(folder / "new.zarr", from_proof=folder / "old.json")
            assert (fresh.lower, fresh.diameter_largest_component) == (warm.lower, warm.diameter_largest_component)
            rows.append(f"| {name} | {100 * share:g} % {'removed' if removed else 'added'} | {old.lower:,} |"
                        f" {fresh.lower:,} | {traversals(fresh)} | {traversals(warm)} |"
                        f" {fresh.seconds['solve']:.2f} | {warm.seconds['solve']:.2f} |")
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *GRAPHS])
    parser.add_argument("--data", type=Path, required=True, help="folder of the real graphs")
    parser.add_argument("-o", "--out", type=Path, required=True, help="file for the table")
    given = parser.parse_args()
    lines = ["| graph | change | D before | D | traversals, fresh | warm | seconds, fresh | warm |",
             "|---|---|---|---|---|---|---|---|"]
    with TemporaryDirectory(prefix="emdiam-warm-") as folder:
        for name in given.names or GRAPHS:
            lines += rows_of(name, given.data / GRAPHS[name], Path(folder))
    given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
