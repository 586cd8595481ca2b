"""The graphs of the memory table, and the files that commands read: edge lists, stores, certificates. Each graph is
there without weights, with weights of one byte, and with directions and weights of eight: a line of the edge list is an
arc then.

Everything is made once, by processes of their own, so that the one that measures stays small.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from .eight import EIGHT

_BATCH = 1 << 20
_COMPONENTS = "components"
# Parts of the commands: stores, diameters and proofs without weights and directions, and all others.
DIAMETERS, DISTANCES = "diameters", "distances"


@dataclass(frozen=True)
class Shape:
    """A graph. options : of `emdiam generate`, its class and --vertices first; none where no class has such
    graphs. parts : number of components of 3 to 5 vertices then, path, cycle and star by turns. small : whether a
    matrix of all its distances is. left_out : DIAMETERS or DISTANCES, where they are
    as with other graphs here."""

    name: str
    what: str
    options: tuple[str, ...] = ()
    parts: int = 0
    small: bool = False
    left_out: str = ""


SHAPES = (
    Shape("star", "star of 10^6 vertices", ("star", "--vertices", "1e6")),
    Shape("clique", "clique of 5,000 vertices", ("clique", "--vertices", "5000"), small=True),
    Shape("path", "path of 2^22 vertices", ("path", "--vertices", "2^22")),
    Shape("rmat", "R-MAT, 2^22 vertices, edge factor 16", ("rmat", "--vertices", "2^22"), left_out=DISTANCES),
    Shape("rmat-20", "R-MAT, 2^20 vertices, edge factor 16", ("rmat", "--vertices", "2^20"), left_out=DIAMETERS),
    Shape(_COMPONENTS, "2 million components of 3 to 5 vertices", parts=2_000_000, left_out=DISTANCES),
    Shape("regular", "random 3-regular, 2^17 vertices", ("regular", "--vertices", "2^17"), left_out=DISTANCES),
    Shape("erdos-renyi", "Erdos-Renyi, 2^18 vertices of degree 16 on average",
          ("erdos-renyi", "--vertices", "2^18", "--average-degree", "16"), left_out=DISTANCES),
    Shape("grid", "grid of 2^12 vertices", ("grid", "--vertices", "2^12"), small=True, left_out=DIAMETERS),
)
# The same shapes, small enough for a quick look at whether all of it works.
SMALL = (
    Shape("star", "star of 2,000 vertices", ("star", "--vertices", "2000"), small=True),
    Shape(_COMPONENTS, "300 components of 3 to 5 vertices", parts=300, small=True),
)
ENDS = ("--columns", "1,2")  # weights may have the values of ids
# Lines of an edge list whose first ends are chosen as origins and destinations.
_CHOSEN = 200
# The largest weight; those of eight bytes are halves of them.
_LARGEST_WEIGHT = 255


@dataclass(frozen=True)
class Files:
    """What commands read and write of one graph, in one folder. proof_seconds : that a proof may take; a graph whose
    takes longer has none to verify."""

    shape: Shape
    folder: Path
    proof_seconds: int = 60

    @property
    def edges(self) -> Path:
        """Text, a pair a line."""
        return self.folder / f"{self.shape.name}.txt"

    @property
    def weighted_edges(self) -> Path:
        """Text, a pair a line, a weight that is a whole number, and one that is not."""
        return self.folder / f"{self.shape.name}-weighted.txt"

    @property
    def store(self) -> Path:
        """In natural order."""
        return self.folder / f"{self.shape.name}.zarr"

    @property
    def weighted(self) -> Path:
        """The same with weights of one byte."""
        return self.folder / f"{self.shape.name}-weighted.zarr"

    @property
    def directed(self) -> Path:
        """With directions, and weights of eight bytes."""
        return self.folder / f"{self.shape.name}-directed.zarr"

    @property
    def by_degree(self) -> Path:
        """The same graph by degree: what `reorder --order natural` has to undo."""
        return self.folder / f"{self.shape.name}-degree.zarr"

    @property
    def certificate(self) -> Path:
        """Of the exact diameter, or of bounds where no proof ends soon."""
        return self.folder / f"{self.shape.name}.proof"

    @property
    def weighted_certificate(self) -> Path:
        """Of the exact diameter along weights; missing where its proof takes too long."""
        return self.folder / f"{self.shape.name}-weighted.proof"

    @property
    def eccentricities_certificate(self) -> Path:
        """Of all eccentricities; missing where its proof takes too long."""
        return self.folder / f"{self.shape.name}-eccentricities.proof"

    @property
    def directed_certificate(self) -> Path:
        """Of the largest distance along arcs with weights; missing where its proof takes too long."""
        return self.folder / f"{self.shape.name}-directed.proof"

    @property
    def mean_certificate(self) -> Path:
        """Of the mean distance."""
        return self.folder / f"{self.shape.name}-mean.proof"

    @property
    def chosen(self) -> Path:
        """Ids of vertices, one a line."""
        return self.folder / f"{self.shape.name}-chosen.txt"

    @property
    def target(self) -> Path:
        """Where commands write."""
        return self.folder / f"{self.shape.name}-target"

    @property
    def table(self) -> Path:
        """Where commands write a table of vertices."""
        return self.folder / f"{self.shape.name}-target.parquet"

    @property
    def written_certificate(self) -> Path:
        """Where commands write a certificate."""
        return self.folder / f"{self.shape.name}-target.proof"

    def remove_written(self) -> None:
        """Remove what a command has written."""
        for path in (self.target, Path(f"{self.target}-tradeoff")):
            shutil.rmtree(path, ignore_errors=True)
        for file in (self.table, self.written_certificate):
            file.unlink(missing_ok=True)

    def make(self, memory: str) -> None:
        """Make what is missing, with so much memory. Raises CalledProcessError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        quiet = ("--memory", memory, "--quiet")
        if not self.edges.exists():
            self._write(self.edges)
        if not self.store.exists():
            _run("-m", "emdiam", "convert", str(self.edges), str(self.store), *quiet)
        if self.shape.left_out != DIAMETERS:
            self._make_for_diameters(quiet)
        if self.shape.left_out != DISTANCES:
            self._make_for_distances(quiet)

    def _make_for_diameters(self, quiet: tuple[str, ...]) -> None:
        """What DIAMETERS read beside the store."""
        if not self.by_degree.exists():
            _run("-m", "emdiam", "reorder", str(self.store), str(self.by_degree), "--order", "degree", *quiet)
        if not self.certificate.exists():
            _run("-m", "emdiam", "exact", str(self.store), "--certificate", str(self.certificate), *quiet)

    def _make_for_distances(self, quiet: tuple[str, ...]) -> None:
        """What DISTANCES read beside the store."""
        if not self.weighted_edges.exists():
            self._write(self.weighted_edges)
        if not self.weighted.exists():
            _run("-m", "emdiam", "convert", str(self.weighted_edges), str(self.weighted), "--weights=3",
                 *ENDS, *quiet)
        if not self.directed.exists():
            _run("-m", "emdiam", "convert", str(self.weighted_edges), str(self.directed), "--weights=4", "--directed",
                 *ENDS, *quiet)
        self._prove(self.eccentricities_certificate, "ecc", str(self.store), *quiet)
        self._prove(self.weighted_certificate, "exact", str(self.weighted), "--weighted", *quiet)
        self._prove(self.directed_certificate, "exact", str(self.directed), "--directed", "--weighted", *quiet)
        self._prove(self.mean_certificate, "distances", str(self.store), *quiet)
        if not self.chosen.exists():
            with open(self.edges, encoding="ascii") as lines:
                self.chosen.write_text("".join(f"{line.split()[0]}\n" for line in islice(lines, _CHOSEN)))

    def _write(self, path: Path) -> None:
        """An edge list, by a process of its own."""
        weighted = "weighted" if path == self.weighted_edges else ""
        _run("-m", "bench.memory.graphs", weighted, str(self.shape.parts), str(path), *self.shape.options)

    def _prove(self, path: Path, *arguments: str) -> None:
        """A certificate, if it has not been tried before."""
        tried = path.with_name(path.name + ".tried")
        if not tried.exists():
            _run("-m", "emdiam", *arguments, "--certificate", str(path), "--time-limit",
                 f"{self.proof_seconds}s", codes=(0, 3))
            tried.touch()


def _run(*arguments: str, codes: tuple[int, ...] = (0,)) -> None:
    command = [sys.executable, *arguments]
    code = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
    if code not in codes:
        raise subprocess.CalledProcessError(code, command)


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
    """Batches (from, to) of the pairs of a class, or of one of EIGHT; options : as for `emdiam generate`."""
    from emdiam.generators import make_source
    from emdiam.units import parse_count

    name, _, vertices, *rest = options
    if name in EIGHT:
        yield from EIGHT[name](parse_count(vertices))
        return
    more = dict(zip([option.removeprefix("--") for option in rest[::2]], rest[1::2], strict=True))
    for batch in make_source(name, vertices=parse_count(vertices), parameters=more).batches(_BATCH):
        yield batch.src, batch.dst


def write_edges(path: Path, batches: Iterator[tuple[np.ndarray, np.ndarray]], weighted: bool = False) -> None:
    """A line for every pair, with two weights where they are asked for; the file is there only when it is whole."""
    import pyarrow as pa
    from pyarrow import csv

    partial = path.with_name(path.name + ".partial")
    fields = [("a", pa.int64()), ("b", pa.int64()), ("whole", pa.uint8()), ("half", pa.float64())]
    schema = pa.schema(fields if weighted else fields[:2])
    options = csv.WriteOptions(include_header=False, delimiter=" ")
    random = np.random.default_rng(1)
    with csv.CSVWriter(partial, schema, write_options=options) as writer:
        for one, other in batches:
            columns = [one.astype(np.int64), other.astype(np.int64)]
            if weighted:
                whole = random.integers(1, _LARGEST_WEIGHT + 1, len(one), np.uint8)
                columns += [whole, whole / 2]
            writer.write_table(pa.table(columns, schema=schema))
    partial.rename(path)


if __name__ == "__main__":
    weighted, parts, path = sys.argv[1:4]
    edges = component_edges(int(parts)) if int(parts) else generated_edges(tuple(sys.argv[4:]))
    write_edges(Path(path), edges, bool(weighted))
