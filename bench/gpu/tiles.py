"""python -m bench.gpu.tiles GRAPH ...: what bit matrices on tensor cores could gain for batches, by bytes alone.

A product of bit matrices (BLEST; instructions mma and wgmma of b1) takes slices of 8, 16 or 64 rows. In its best form
a slice has each distinct column once: an id of 4 bytes, a bit a row, and it reads the column's mask of k sources once,
in sectors of 32 bytes. A pull of rows reads an id and a mask for each arc. The ratio of the two is what a level of a
batch could gain, however fast the product is: both wait for memory. Also counted: arcs in a tile of 8 rows and 128
columns that is not empty, whose 128 bytes the plain form reads. Nothing is measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from .counts import SECTOR, graph_named
from .host_engine import HostGraph
from .report_cells import Table, figure, table_text

SLICES, BATCHES, TILE = (8, 16, 64), (64, 512, 2048), (8, 128)
ID = 4


def distinct(graph: HostGraph, rows: int, columns: int) -> int:
    """Tiles of so many rows and columns that have an arc."""
    tails = np.repeat(np.arange(graph.n, dtype=np.int64), np.diff(graph.offsets)) // rows
    tails *= graph.n // columns + 1
    tails += graph.neighbours // columns
    tails.sort()
    return int(np.count_nonzero(np.diff(tails, prepend=-1)))


def gain(arcs: int, columns: int, rows: int, sources: int) -> float:
    """Bytes of a pull of rows over those of slices of `rows` rows with so many distinct columns."""
    mask = max(SECTOR, sources // 8)
    return arcs * (ID + mask) / (columns * (ID + rows / 8 + mask))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu.tiles", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="CLASS:SIZE or a store, as bench.gpu.counts")
    cells = []
    for graph in map(graph_named, parser.parse_args(arguments).graphs):
        arcs, columns = len(graph.neighbours), {rows: distinct(graph, rows, 1) for rows in SLICES}
        cells.append([graph.name, figure(graph.n), figure(arcs), figure(arcs / distinct(graph, *TILE)),
                      *(figure(arcs / columns[rows]) for rows in SLICES),
                      *(figure(max(gain(arcs, columns[rows], rows, k) for rows in SLICES)) for k in BATCHES)])
    header = ["graph", "n", "arcs", "arcs a tile of 8 x 128", *(f"arcs a column of {rows} rows" for rows in SLICES),
              *(f"gain at most, {k} sources" for k in BATCHES)]
    print("\n".join(table_text(Table("Bit matrices", header, cells))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
