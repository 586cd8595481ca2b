"""The graphs of the memory table, and the files that commands read: edge lists, stores, certificates.

Everything is made once, by processes of their own, so that the one that measures stays small.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_BATCH = 1 << 20
_COMPONENTS = "components"


@dataclass(frozen=True)
class Shape:
    """A graph. options : of `emdiam generate`, its class and --vertices first; none where no class has such
    graphs. parts : number of components of 3 to 5 vertices then, path, cycle and star by turns."""

    name: str
    what: str
    options: tuple[str, ...] = ()
    parts: int = 0


SHAPES = (
    Shape("star", "star of 10^6 vertices", ("star", "--vertices", "1e6")),
    Shape("clique", "clique of 5,000 vertices", ("clique", "--vertices", "5000")),
    Shape("path", "path of 2^22 vertices", ("path", "--vertices", "2^22")),
    Shape("rmat", "R-MAT, 2^22 vertices, edge factor 16", ("rmat", "--vertices", "2^22")),
    Shape(_COMPONENTS, "2 million components of 3 to 5 vertices", parts=2_000_000),
    Shape("regular", "random 3-regular, 2^17 vertices", ("regular", "--vertices", "2^17")),
    Shape("erdos-renyi", "Erdos-Renyi, 2^18 vertices of degree 16 on average",
          ("erdos-renyi", "--vertices", "2^18", "--average-degree", "16")),
)
# The same shapes, small enough for a quick look at whether all of it works.
SMALL = (
    Shape("star", "star of 2,000 vertices", ("star", "--vertices", "2000")),
    Shape(_COMPONENTS, "300 components of 3 to 5 vertices", parts=300),
)


@dataclass(frozen=True)
class Files:
    """What commands read and write of one graph, in one folder."""

    shape: Shape
    folder: Path

    @property
    def edges(self) -> Path:
        """Text, a pair a line."""
        return self.folder / f"{self.shape.name}.txt"

    @property
    def store(self) -> Path:
        """In natural order."""
        return self.folder / f"{self.shape.name}.zarr"

    @property
    def by_degree(self) -> Path:
        """The same graph by degree: what `reorder --order natural` has to undo."""
        return self.folder / f"{self.shape.name}-degree.zarr"

    @property
    def certificate(self) -> Path:
        """Of the exact diameter, or of bounds where no proof ends soon."""
        return self.folder / f"{self.shape.name}.proof"

    @property
    def target(self) -> Path:
        """Where commands write."""
        return self.folder / "target"

    def make(self, memory: str) -> None:
        """Make what is missing, with so much memory. Raises CalledProcessError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        quiet = ("--memory", memory, "--quiet")
        if not self.edges.exists():
            _run("-m", "bench.memory.graphs", self.shape.name, str(self.shape.parts), str(self.edges),
                 *self.shape.options)
        if not self.store.exists():
            _run("-m", "emdiam", "convert", str(self.edges), str(self.store), *quiet)
        if not self.by_degree.exists():
            _run("-m", "emdiam", "reorder", str(self.store), str(self.by_degree), "--order", "degree", *quiet)
        if not self.certificate.exists():
            _run("-m", "emdiam", "exact", str(self.store), "--certificate", str(self.certificate), *quiet)


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def component_edges(parts: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Batches (from, to), int64, of components of 3, 4 and 5 vertices: paths, cycles and stars by turns."""
    for begin in range(0, parts, _BATCH):
        numbers = np.arange(begin, min(parts, begin + _BATCH))
        sizes = numbers % 3 + 3
        kinds = numbers // 3 % 3
        first = numbers // 3 * 12 + np.array([0, 3, 7])[numbers % 3]
        for step in range(1, 5):
            there = sizes > step
            back = np.where(kinds == 2, first, first + step - 1)
            yield back[there], (first + step)[there]
        closed = kinds == 1
        yield (first + sizes - 1)[closed], first[closed]


def generated_edges(options: tuple[str, ...]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Batches (from, to) of the pairs of a class; options : as for `emdiam generate`."""
    from emdiam.generators import make_source
    from emdiam.units import parse_count

    name, _, vertices, *rest = options
    more = dict(zip([option.removeprefix("--") for option in rest[::2]], rest[1::2], strict=True))
    for batch in make_source(name, vertices=parse_count(vertices), parameters=more).batches(_BATCH):
        yield batch.src, batch.dst


def write_edges(path: Path, batches: Iterator[tuple[np.ndarray, np.ndarray]]) -> None:
    """A line for every pair; the file is there only when it is whole."""
    import pyarrow as pa
    from pyarrow import csv

    partial = path.with_name(path.name + ".partial")
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    options = csv.WriteOptions(include_header=False, delimiter=" ")
    with csv.CSVWriter(partial, schema, write_options=options) as writer:
        for one, other in batches:
            writer.write_table(pa.table([one.astype(np.int64), other.astype(np.int64)], schema=schema))
    partial.rename(path)


if __name__ == "__main__":
    _, parts, path = sys.argv[1:4]
    write_edges(Path(path), component_edges(int(parts)) if int(parts) else generated_edges(tuple(sys.argv[4:])))
