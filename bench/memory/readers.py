"""python -m bench.memory.readers: does each reader keep to the least --memory that its refusal names?

A file of every format is written, and converted with exactly the budget that a conversion with 1 MiB is refused for, in
a process of its own: it must not be refused, and its peak must not pass the budget. Cells that are in --out already are
not run again.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.units import format_size

from ..machine import facts
from .cells import named_bytes
from .kept import Kept
from .process import call

_HERE = Path(__file__).resolve().parents[1]
_QUESTIONS = 4
_REFUSED = 2
_COLUMNS = ("format", "edges", "file", "least budget", "peak", "ratio")
WORKED, REFUSED, ABOVE, FAILED = "worked", "refused", "above", "failed"

Pairs = np.ndarray[Any, Any]


def _text(head: str, line: str, foot: str = "") -> Callable[[Path, Pairs, int], None]:
    """Writes a line an edge, with {0} and {1} for its ends, counted from 1, between a head and a foot. {n} : vertices,
    {m} : edges."""

    def write(path: Path, pairs: Pairs, n: int) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(head.replace("{n}", str(n)).replace("{m}", str(len(pairs))))
            for begin in range(0, len(pairs), 1 << 14):
                file.writelines(line.format(a, b) for a, b in pairs[begin : begin + (1 << 14)].tolist())
            file.write(foot)

    return write


def _json(path: Path, pairs: Pairs, n: int) -> None:
    path.write_text(json.dumps({"directed": False, "multigraph": False, "graph": {},
                                "nodes": [{"id": i} for i in range(1, n + 1)],
                                "links": [{"source": a, "target": b} for a, b in pairs.tolist()]}), encoding="utf-8")


def _graph6(path: Path, pairs: Pairs, n: int) -> None:
    import networkx as nx

    graph = nx.from_edgelist((pairs - 1).tolist())
    path.write_bytes(nx.to_graph6_bytes(nx.convert_node_labels_to_integers(graph)))


def _sparse(pairs: Pairs, n: int) -> Any:
    from scipy import sparse

    upper = sparse.coo_array((np.ones(len(pairs)), (pairs - 1).T), (n, n)).tocsr()
    return upper + upper.T


def _mat(path: Path, pairs: Pairs, n: int) -> None:
    import scipy.io

    scipy.io.savemat(path, {"A": _sparse(pairs, n).tocsc()})


def _h5ad(path: Path, pairs: Pairs, n: int) -> None:
    import h5py

    matrix = _sparse(pairs, n)
    with h5py.File(path, "w") as file:
        group = file.create_group("obsp/connectivities")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": matrix.shape})
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(matrix, name)


def _columns(suffix: str) -> Callable[[Path, Pairs, int], None]:
    """Writes a table of two columns."""

    def write(path: Path, pairs: Pairs, n: int) -> None:
        import pyarrow as pa
        from pyarrow import feather, parquet

        table = pa.table({"src": pairs[:, 0], "dst": pairs[:, 1]})
        if suffix == "parquet":
            parquet.write_table(table, path)
        elif suffix == "feather":
            feather.write_feather(table, str(path))
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)

    return write


def _dense(path: Path, pairs: Pairs, n: int) -> None:
    """A matrix of few vertices, as an array, as text, or as Matrix Market."""
    matrix = _sparse(pairs, n).toarray().astype(np.uint8)
    if path.suffix == ".npy":
        np.save(path, matrix)
    elif path.suffix == ".mtx":
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"%%MatrixMarket matrix array integer general\n{n} {n}\n")
            np.savetxt(file, matrix.reshape(-1, order="F"), "%d")
    elif path.suffix == ".dl":
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"dl n={n} format=fullmatrix\ndata:\n")
            np.savetxt(file, matrix, "%d")
    else:
        np.savetxt(path, matrix, "%d")


def _lists(colon: str) -> Callable[[Path, Pairs, int], None]:
    """Writes a line a vertex with its neighbours."""

    def lines(pairs: Pairs) -> Iterator[str]:
        order = pairs[np.argsort(pairs[:, 0], kind="stable")]
        starts = np.flatnonzero(np.diff(order[:, 0], prepend=-1))
        for first, others in zip(order[starts, 0].tolist(), np.split(order[:, 1], starts[1:]), strict=True):
            yield f"{first}{colon} {' '.join(map(str, others.tolist()))}\n"

    def write(path: Path, pairs: Pairs, n: int) -> None:
        path.write_text("".join(lines(pairs)), encoding="utf-8")

    return write


def _rows(path: Path, pairs: Pairs, n: int) -> None:
    """An adjacency graph, a graph of Galois or of GAP, or arrays of offsets and neighbours."""
    order = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))] - 1
    ends = np.cumsum(np.bincount(order[:, 0], minlength=n))
    neighbours = np.ascontiguousarray(order[:, 1])
    if path.suffix == ".adj":
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"AdjacencyGraph\n{n}\n{len(pairs)}\n0\n")
            for values in (ends[:-1], neighbours):
                np.savetxt(file, values, "%d")
    elif path.suffix == ".gr":
        head = np.array([2, 0, n, len(pairs)], "<u8")
        path.write_bytes(head.tobytes() + ends.astype("<u8").tobytes() + neighbours.astype("<u8").tobytes())
    elif path.suffix == ".sg":
        head = bytes([1]) + np.array([len(pairs), n], "<i8").tobytes()
        offsets = np.concatenate(([0], ends)).astype("<i8").tobytes()
        path.write_bytes(head + offsets + neighbours.astype("<i4").tobytes())
    else:
        path.mkdir()
        np.save(path / "indptr.npy", np.concatenate(([0], ends)))
        np.save(path / "indices.npy", neighbours)


def _parts(path: Path, pairs: Pairs, n: int) -> None:
    """A folder of files of Parquet, in partitions."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    table = pa.table({"src": pairs[:, 0], "dst": pairs[:, 1], "part": pairs[:, 0] % 4})
    ds.write_dataset(table, path, format="parquet", partitioning=["part"], partitioning_flavor="hive")


def _hosts(path: Path, pairs: Pairs, n: int) -> None:
    """A list of edges, and one of vertices with names."""
    path.mkdir()
    np.savetxt(path / "edges.txt", pairs, "%d\t%d")
    with open(path / "vertices.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{v}\torg.example.host{v * 7919 % n}x{v}\n" for v in range(n + 1))


def _archive(path: Path, pairs: Pairs, n: int) -> None:
    text = io.BytesIO()
    np.savetxt(text, pairs, "%d")
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("graph.edges", text.getvalue())
        return
    with gzip.open(path, "wb") as out, tarfile.open(fileobj=out, mode="w|") as tar:
        info = tarfile.TarInfo("graph.edges")
        info.size = text.tell()
        text.seek(0)
        tar.addfile(info, text)


def _leda(path: Path, pairs: Pairs, n: int) -> None:
    head = "LEDA.GRAPH\nvoid\nvoid\n-2\n{n}\n" + "|{}|\n" * n + "{m}\n"
    _text(head, "{0} {1} 0 |{{}}|\n")(path, pairs, n)


def _gml(path: Path, pairs: Pairs, n: int) -> None:
    head = "graph [\n" + "".join(f"node [ id {i} ]\n" for i in range(1, n + 1))
    _text(head, "edge [ source {0} target {1} ]\n", "]\n")(path, pairs, n)


_GRAPHML = ('<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">\n',
            '<edge source="v{0}" target="v{1}"/>\n', "</graph></graphml>\n")
_GEXF = ('<gexf xmlns="http://gexf.net/1.3"><graph defaultedgetype="undirected"><edges>\n',
         '<edge id="0" source="{0}" target="{1}"/>\n', "</edges></graph></gexf>\n")
MANY, FEWER, FEW, DENSE = 1 << 20, 1 << 18, 1 << 15, 1 << 19
# By the name of a file: what writes it, and how many edges it has at most.
WRITERS: dict[str, tuple[Callable[[Path, Pairs, int], None], int]] = {
    "edges.graphml": (_text(*_GRAPHML), MANY), "edges.gexf": (_text(*_GEXF), MANY),
    "edges.net": (_text("*Vertices {n}\n*Edges\n", "{0} {1}\n"), MANY),
    "edges.dl": (_text("dl n={n} format=edgelist1\ndata:\n", "{0} {1}\n"), MANY), "matrix.dl": (_dense, DENSE),
    "triples.nt": (_text("", "<http://v.org/{0}> <http://v.org/p> <http://v.org/{1}> .\n"), MANY),
    "graph.gw": (_leda, MANY),
    "graph.gml": (_gml, FEWER),
    "graph.dot": (_text("graph {\n", "{0} -- {1};\n", "}\n"), FEW),
    "graph.json": (_json, FEWER), "graph.g6": (_graph6, DENSE),
    "pairs.npy": (lambda path, pairs, n: np.save(path, pairs), MANY),
    "edge_index.npz": (lambda path, pairs, n: np.savez(path, edge_index=pairs.T), MANY),
    "matrix.npy": (_dense, DENSE), "graph.mat": (_mat, MANY), "cells.h5ad": (_h5ad, MANY),
    "table.parquet": (_columns("parquet"), MANY), "table.arrow": (_columns("arrow"), MANY),
    "table.feather": (_columns("feather"), MANY), "array.mtx": (_dense, DENSE), "matrix.txt": (_dense, DENSE),
    "lists.txt": (_lists(":"), MANY), "lists.adjlist": (_lists(""), MANY),
    "relations.sif": (_text("", "v{0}\tpp\tv{1}\n"), MANY), "arrows.txt": (_text("", "{0} -> {1}\n"), MANY),
    "graph.zip": (_archive, MANY), "graph.tar.gz": (_archive, MANY),
    "graph.adj": (_rows, MANY), "graph.gr": (_rows, MANY), "graph.sg": (_rows, MANY), "arrays": (_rows, MANY),
    "parts": (_parts, MANY), "hosts": (_hosts, MANY),
}
# What the command is given of those that are a folder of several files.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "arrays": ("indptr.npy", "indices.npy"), "hosts": ("edges.txt", "--vertices", "vertices.txt")}


def write_input(name: str, folder: Path, edges: int) -> tuple[Path, int]:
    """(the file of this name, its number of edges), written if it is not there."""
    write, most = WRITERS[name]
    count = min(edges, most)
    n = isqrt(8 * count) if most == DENSE else max(2, count // 4)
    pairs = np.unique(np.random.default_rng(1).integers(1, n + 1, (count, 2)), axis=0)
    pairs = np.concatenate(([[1, 2], [n - 1, n]], pairs[pairs[:, 0] < pairs[:, 1]]))
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write(path, pairs, n)
    return path, len(pairs)


def words_of(name: str, path: Path) -> list[str]:
    """What convert is given of the input of this name at a path."""
    return [one if one.startswith("--") else str(path / one) for one in ARGUMENTS.get(name, ("",))]


def measured(name: str, folder: Path, edges: int) -> dict[str, Any]:
    """A cell: the least budget that conversions name, and the peak of one with it."""
    path, count = write_input(name, folder, edges)
    target, memory = folder / "target.zarr", 1 << 20
    given = words_of(name, path)
    size = sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())
    for _ in range(_QUESTIONS):
        ended = call(["convert", *given, str(target), "--force", "--memory", f"{memory >> 20}MiB", "--quiet"])
        shutil.rmtree(target, ignore_errors=True)
        more = named_bytes(ended.said) if ended.code == _REFUSED else None
        if more is None or more <= memory:
            break
        memory = more
    ratio = ended.peak_bytes / memory
    status = WORKED if ended.code == 0 and ratio <= 1 else ABOVE if ended.code == 0 else (
        REFUSED if more is not None else FAILED)
    return {"format": name, "edges": count, "file_bytes": size, "least_bytes": memory,
            "peak_bytes": ended.peak_bytes, "ratio": round(ratio, 4), "status": status,
            "said": ended.said if ended.code else ""}


def markdown(cells: Sequence[dict[str, Any]]) -> str:
    """A row a format."""
    rows = [f"| {cell['format']} | {cell['edges']:,} | {format_size(cell['file_bytes'])} |"
            f" {format_size(cell['least_bytes'])} | {format_size(cell['peak_bytes'])} | {cell['ratio']:.2f}"
            f"{'' if cell['status'] == WORKED else ' ' + cell['status']} |" for cell in cells]
    top = max((cell["ratio"] for cell in cells), default=0)
    return "\n".join(["# Peaks of readers at the least --memory that is named\n",
                      f"{len(cells)} inputs, {sum(cell['status'] == WORKED for cell in cells)} kept to it; highest"
                      f" ratio {top:.2f}.\n", f"| {' | '.join(_COLUMNS)} |",
                      "|---|" + "---:|" * (len(_COLUMNS) - 1), *rows, ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; 1 if a reader does not keep to its budget."""
    given = _parser().parse_args(arguments)
    kept = Kept.begun(given.out, machine=facts(), what=__doc__)
    cells = kept.cells
    for name in given.only or WRITERS:
        if name in {cell["format"] for cell in cells}:
            continue
        kept.add(measured(name, given.work, given.edges))
        print(cells[-1], file=sys.stderr, flush=True)
    kept.show(markdown(cells))
    return 0 if all(cell["status"] == WORKED for cell in cells) else 1


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench.memory.readers", description=__doc__)
    made.add_argument("--out", type=Path, metavar="FILE.json", required=True, help="where the figures are kept")
    made.add_argument("--work", type=Path, metavar="DIR", default=_HERE / ".cache" / "readers",
                      help="folder for inputs, and for what is converted (default: bench/.cache/readers)")
    made.add_argument("--only", action="append", choices=tuple(WRITERS), default=[], help="this alone (again for more)")
    made.add_argument("--edges", type=int, metavar="N", default=MANY,
                      help=f"edges of an input at most; slow readers have fewer (default: {MANY})")
    return made


if __name__ == "__main__":
    raise SystemExit(main())
