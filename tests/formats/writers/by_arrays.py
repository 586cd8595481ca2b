"""Files of scipy, NumPy and AnnData: matrices, and arrays of edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sparse

from tests.formats.writers.drawn import BOTH_WEIGHTS, FROM_0, FROM_1, NUMBERS, Drawn, Traits
from tests.formats.writers.writer import Options, Writer


def matrix_of(graph: Drawn, dtype: Any = None) -> sparse.coo_array:
    """Entries for the edges, both ways where there are no directions."""
    rows = [(a, b, w) for (a, b), w in zip(graph.pairs, graph.values, strict=True)]
    if not graph.directed:
        rows += [(b, a, w) for a, b, w in rows if a != b]
    kind = dtype or (np.int64 if all(isinstance(w, int) for *_, w in rows) else np.float64)
    return sparse.coo_array((np.array([w for *_, w in rows], kind), ([a for a, *_ in rows], [b for _, b, _ in rows])),
                            shape=(graph.n, graph.n))


def _coordinate(graph: Drawn, path: Path, random: Random) -> Options | None:
    scipy.io.mmwrite(path, matrix_of(graph), comment=random.choice(("", "made by a test\nof two lines")))
    return None


def _general(graph: Drawn, path: Path, random: Random) -> Options | None:
    scipy.io.mmwrite(path, matrix_of(graph, np.float64), symmetry="general")
    return None


def _pattern(graph: Drawn, path: Path, random: Random) -> Options | None:
    scipy.io.mmwrite(path, matrix_of(graph, np.int8), field="pattern")
    return None


def _array(graph: Drawn, path: Path, random: Random) -> Options | None:
    scipy.io.mmwrite(path, matrix_of(graph).toarray(), symmetry=random.choice((None, "general")))
    return None


def _mat(dense: bool) -> Callable[[Drawn, Path, Random], Options | None]:
    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        matrix = matrix_of(graph, np.float64)
        scipy.io.savemat(path, {random.choice(("A", "G", "Problem")): matrix.toarray() if dense else matrix.tocsc()},
                         do_compression=random.random() < 0.5)
        return None

    return write


def _npz(form: str) -> Callable[[Drawn, Path, Random], Options | None]:
    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        sparse.save_npz(path, matrix_of(graph).asformat(form), compressed=random.random() < 0.5)
        return None

    return write


def _ends(graph: Drawn, random: Random) -> np.ndarray:
    return np.array(graph.edges, random.choice((np.int64, np.uint64)))


def _dense(graph: Drawn, path: Path, random: Random) -> Options | None:
    np.save(path, matrix_of(graph).toarray().astype(float if graph.weights else random.choice((np.int8, bool, float))))
    return None


def _pairs(graph: Drawn, path: Path, random: Random) -> Options | None:
    np.save(path, _ends(graph, random))
    return None


def _index(graph: Drawn, path: Path, random: Random) -> Options | None:
    np.save(path, _ends(graph, random).T)
    return None


def _index_npz(graph: Drawn, path: Path, random: Random) -> Options | None:
    save = random.choice((np.savez, np.savez_compressed))
    save(path, edge_index=_ends(graph, random).T)
    return None


def _text_pairs(graph: Drawn, path: Path, random: Random) -> Options | None:
    """As numbers with 18 places, or as whole ones."""
    ends = _ends(graph, random)
    if random.random() < 0.5:
        np.savetxt(path, ends, delimiter=random.choice((" ", ",", "\t")))
    else:
        np.savetxt(path, ends, fmt="%d", header=random.choice(("", "edges of a test")))
    return None


def _text_weights(graph: Drawn, path: Path, random: Random) -> Options | None:
    table = np.column_stack([np.array(graph.edges), graph.values])
    np.savetxt(path, table, fmt=random.choice(("%.18e", "%g", "%.3f")), delimiter=random.choice((" ", "\t", ",")))
    return None


def _text_matrix(graph: Drawn, path: Path, random: Random) -> Options | None:
    matrix = matrix_of(graph).toarray()
    np.savetxt(path, matrix, fmt="%d" if not graph.weights else "%.18e", delimiter=random.choice((" ", ",", "\t")))
    return None


def _h5ad(graph: Drawn, path: Path, random: Random) -> Options | None:
    import anndata

    table = anndata.AnnData(np.zeros((graph.n, 1), np.float32), obsp={"connectivities": matrix_of(graph).tocsr()})
    table.obs_names = [str(label) for label in graph.labels]
    table.write_h5ad(path, compression=random.choice((None, "gzip")))
    return None


_MATRIX = Traits(called=FROM_0, weights=BOTH_WEIGHTS, both=True)
_PLAIN = Traits(called=FROM_0, both=True)
_FROM_ONE = Traits(called=FROM_1, weights=BOTH_WEIGHTS, both=True)
# Rows have names beside their numbers.
_NAMED = Traits(labels=("names",), called=("{label}", *FROM_0), weights=BOTH_WEIGHTS, both=True)
# MATLAB counts from 1, and those who read its files in Python from 0.
_EITHER = replace(_FROM_ONE, called=(*FROM_0, *FROM_1))
_EDGES = Traits(labels=NUMBERS, alone=False, parallel=True)

WRITERS = (
    Writer("mmwrite, coordinate", (".mtx",), _FROM_ONE, _coordinate, "scipy"),
    Writer("mmwrite, general", (".mtx",), _FROM_ONE, _general, "scipy"),
    Writer("mmwrite, pattern", (".mtx",), Traits(called=FROM_1, both=True), _pattern, "scipy"),
    Writer("mmwrite, array", (".mtx",), _FROM_ONE, _array, "scipy"),
    Writer("savemat, sparse", (".mat",), _EITHER, _mat(False), "scipy"),
    Writer("savemat, dense", (".mat",), _EITHER, _mat(True), "scipy"),
    *(Writer(f"save_npz, {form}", (".npz",), _MATRIX, _npz(form), "scipy") for form in (
        "csr", "csc", "coo", "bsr")),
    Writer("save_npz, dia", (".npz",), _PLAIN, _npz("dia"), "scipy"),
    Writer("save, a matrix", (".npy",), replace(_MATRIX, least=5), _dense, "numpy"),
    Writer("save, pairs", (".npy",), _EDGES, _pairs, "numpy"),
    Writer("save, edge_index", (".npy",), replace(_EDGES, least=4), _index, "numpy"),
    Writer("savez, edge_index", (".npz",), _EDGES, _index_npz, "numpy"),
    Writer("savetxt, pairs", (".txt", ".csv", ".dat"), Traits(alone=False, parallel=True), _text_pairs, "numpy"),
    Writer("savetxt, weights", (".txt", ".csv"), Traits(alone=False, parallel=True, weights=BOTH_WEIGHTS),
           _text_weights, "numpy"),
    Writer("savetxt, a matrix", (".txt", ".csv"), replace(_MATRIX, least=5), _text_matrix, "numpy"),
    Writer("write_h5ad", (".h5ad",), _NAMED, _h5ad, "anndata"),
)
