"""How like a real web the generated one is: degrees, distances of neighbours and depths of both, beside each other.

    python -m bench.web cnr-2000.zarr --plots FOLDER

The other one has as many vertices and about as many arcs. Both are read whole.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import scipy.sparse
import zarr
from scipy.sparse import csgraph

from emdiam.generators import generate

PANELS = {"degree": "share of the vertices with as many neighbours, or more",
          "apart": "share of the arcs whose ends are as far apart, to below twice that",
          "depth": "share of the vertices as far from the largest hub"}
Points = tuple[list[int], list[float]]


def distributions(store: Path) -> dict[str, Points]:
    """Of a store: by panel, values and shares."""
    group = zarr.open_group(store, mode="r")
    indptr, indices = group["indptr"][:], group["indices"][:].astype(np.int64)
    n, degrees = len(indptr) - 1, np.diff(indptr)
    apart = np.abs(indices - np.repeat(np.arange(n), degrees))
    matrix = scipy.sparse.csr_array((np.ones(len(indices), np.int8), indices, indptr), (n, n))
    depths = csgraph.shortest_path(matrix, unweighted=True, indices=int(degrees.argmax()))
    counts = np.bincount(depths[np.isfinite(depths)].astype(int)) / n
    powers = [1 << k for k in range(int(degrees.max()).bit_length())]
    shares = np.bincount(np.log2(apart).astype(int)) / len(apart)
    return {"degree": (powers, [float((degrees >= d).mean()) for d in powers]),
            "apart": ([1 << k for k in range(len(shares))], shares.tolist()),
            "depth": (list(range(len(counts))), counts.tolist())}


def like(store: Path, folder: Path, seed: int = 1) -> Path:
    """A generated web in the folder, as large as the graph of the store, with its share of vertices of degree 1."""
    degrees = np.diff(zarr.open_group(store, mode="r")["indptr"][:])
    generate("web", folder / "web.zarr", vertices=len(degrees), seed=seed, parameters={
        "arcs": int(degrees.sum()), "dangling": min(0.9, float((degrees == 1).mean()))})
    return folder / "web.zarr"


def table(both: Mapping[str, Mapping[str, Points]]) -> str:
    """Lines of both: value and shares, panel by panel."""
    lines = []
    for panel, meaning in PANELS.items():
        lines += [f"{panel}: {meaning}", " ".join([f"{'':>8}", *(f"{name:>10}" for name in both)])]
        shares = [dict(zip(*found[panel], strict=True)) for found in both.values()]
        lines += [" ".join([f"{value:8}", *(f"{one.get(value, 0.0):10.5f}" for one in shares)])
                  for value in sorted(set().union(*shares))]
    return "\n".join(lines)


def draw(both: Mapping[str, Mapping[str, Points]], folder: Path) -> Path:
    """A figure of three panels in the folder."""
    from .plots import plt

    figure, axes = plt.subplots(1, len(PANELS), figsize=(10.0, 3.2), layout="constrained")
    for axis, (panel, meaning) in zip(axes, PANELS.items(), strict=True):
        for name, found in both.items():
            axis.plot(*found[panel], marker=".", label=name)
        axis.set(xlabel=panel, title=meaning, yscale="log" if panel == "degree" else "linear",
                 xscale="linear" if panel == "depth" else "log")
        axis.title.set_fontsize(7)
        axis.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "web.svg", metadata={"Date": None})
    plt.close(figure)
    return folder / "web.svg"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.web", description=__doc__)
    parser.add_argument("store", type=Path, help="of a real web, in the order of its addresses")
    parser.add_argument("--plots", type=Path, default=Path("plots"), help="folder for web.svg")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        both = {given.store.stem: distributions(given.store),
                "generated": distributions(like(given.store, Path(folder)))}
    print(table(both))
    print(draw(both, given.plots))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
