"""How often intervals of harmonic centrality from a sample hold, on real graphs with directions and weights.

`python -m bench.coverage STORE... -o TABLE.md`: all distances to some random vertices are found once. Then samples of
sources are drawn again and again, and intervals are made of them by the code of `emdiam distances`: those of arcs in
RAM (Hall), and those of arcs on disk, which are conservative (Bernstein-Serfling).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from emdiam.distribution.weighted import NEAR, _Nearest, _Sums
from emdiam.methods.weighted.units import Units, units_of
from emdiam.paths.arcs import ArcsInRam
from emdiam.paths.paths import SearchOptions
from emdiam.paths.rows import WeightedRows, unreached
from emdiam.store.store import Store, open_store

HEAD = ("| graph | vertices | sample | intervals | held, % | median width / centrality |\n"
        "|---|---:|---:|---|---:|---:|\n")


def covered(store: Store, sizes: list[int], vertices: int, samples: int) -> list[str]:
    """Rows of a table. vertices : whose distances are found."""
    weights = store.record.weights
    assert weights is not None, "the graph has weights"
    rows, random = WeightedRows.from_store(store.reverse), np.random.default_rng(1)
    arcs, n = ArcsInRam(rows, SearchOptions(threads=1)), rows.n_vertices
    units, chosen = units_of(arcs, weights.decimals), random.choice(n, vertices, replace=False)
    lengths = np.stack([_lengths(arcs, units, v) for v in chosen.tolist()])
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    truth, found = inverse.sum(axis=1), list[str]()
    for count, name in ((NEAR, "Hall"), (0, "Bernstein-Serfling")):
        near = _Nearest(arcs, units, count)
        for size in sizes:
            held, wide = zip(*(_once(near, lengths, chosen, random.choice(n, size, replace=False), truth)
                               for _ in range(samples)), strict=True)
            found.append(f"| {Path(store.path).stem} | {n:,} | {size} | {name} | {100 * np.mean(held):.1f} |"
                         f" {np.mean(wide):.3f} |")
    return found


def _lengths(arcs: ArcsInRam, units: Units, vertex: int) -> np.ndarray:
    """Distances to a vertex, infinite without a path."""
    distances, _ = arcs.nearest(np.array([vertex]))
    there = distances != unreached(distances.dtype)
    counted = units.counted(distances)
    return np.where(there, units.lengths(np.where(there, counted, 0).astype(np.int64)), np.inf)


def _once(near: _Nearest, lengths: np.ndarray, chosen: np.ndarray, sources: np.ndarray,
          truth: np.ndarray) -> tuple[float, float]:
    """The share of intervals that hold, and the median width beside the centrality, from one sample."""
    sums, drawn = _Sums(near), np.isin(chosen, sources)
    for source in sources.tolist():
        reached = np.flatnonzero(np.isfinite(lengths[:, source]) & (chosen != source))
        sums.add(chosen[reached], lengths[reached, source])
    columns = sums.columns(chosen, drawn, len(sources), False, "")
    low, high = (np.asarray(columns[f"harmonic_{end}"]) for end in ("low", "high"))
    return float(((low <= truth) & (truth <= high)).mean()), float(np.median((high - low) / truth))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=__doc__)
    parser.add_argument("stores", nargs="+", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 400])
    parser.add_argument("--vertices", type=int, default=100)
    parser.add_argument("--samples", type=int, default=1000)
    options = parser.parse_args()
    table = HEAD
    for path in options.stores:
        with open_store(path, directed=True) as store:
            table += "".join(f"{row}\n" for row in covered(store, options.sizes, options.vertices, options.samples))
        options.out.write_text(table)


if __name__ == "__main__":
    main()
