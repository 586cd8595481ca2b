"""What an .npz archive holds beside matrices of SciPy in csr, csc and coo: an edge_index or a list of pairs, columns of
sources and targets, and SciPy's dia and bsr, whose zeros are no edges since they only fill rows and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import ArrayEdges, form_of_array
from .csr import ArrayStream, csr_batches
from .source import EdgeBatch, pairs_per_batch
from .weights import checked_weights, weight_column

if TYPE_CHECKING:
    import zipfile

    from .npz import NpzSource

_NAMES = ("edge_index", "edges", "edge_list", "adj", "adjacency", "A")
_COLUMNS = (("src", "dst"), ("source", "target"), ("row", "col"))
_REMEDY = "write it with scipy.sparse.save_npz, or edge_index of shape (2, E) with numpy.savez"


def find_array(source: NpzSource, archive: zipfile.ZipFile) -> str:
    """The name of the member that has the edges. Raises InputError where there is not one."""
    names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    shapes = {}
    for name in names:
        with source.member(archive, name) as member:
            shapes[name] = source.header(member, name)[0]
    flat = [name for name in names if len(shapes[name]) == 2]
    found = [name for name in _NAMES if name in flat] or flat
    if len(found) != 1 and not any(name in _NAMES for name in found):
        listed = ", ".join(f"{name}{list(shape)}" for name, shape in list(shapes.items())[:8])
        raise source.error("the archive has no member format, so no matrix of SciPy, and not one array of edges"
                           f" ({listed or 'no array'})", remedy="name two of its members, as in --columns"
                           f" {names[0]},{names[1]}" if len(names) > 1 and not flat else _REMEDY)
    return found[0]


def edges_of(source: NpzSource, archive: zipfile.ZipFile, stack: ExitStack) -> tuple[ArrayEdges, np.dtype[Any]]:
    """The edges in the array that has them."""
    name = find_array(source, archive)
    with source.member(archive, name) as member:
        shape, by_columns, dtype = source.whole_header(member, name)
    if dtype.kind not in "biuf" or any(not 0 < side < 2**40 for side in shape):
        raise source.error(f"its member {name} is {dtype}{list(shape)}, which has no edges", remedy=_REMEDY)

    def read(begin: int) -> Callable[[int], Any]:
        member = stack.enter_context(source.member(archive, name))
        source.header(member, name)
        _skip(lambda size: source.read(member, name, size), begin * dtype.itemsize)
        return ArrayStream(lambda size: source.read(member, name, size), dtype, int(np.prod(shape)) - begin,
                           lambda what, index, remedy=_REMEDY: source.error(
                               what, text=f"{name}, value {begin + index}", remedy=remedy)).items

    def small() -> Any:
        return read(0)(int(np.prod(shape))).reshape(shape, order="F" if by_columns else "C")

    form = form_of_array(shape, small, source.error, source.wishes, name)
    return ArrayEdges(form, shape, by_columns, read, source.weights, lambda what, place, text=None, remedy=_REMEDY:
                      source.error(f"{what} (value {place} of {name})", text=text, remedy=remedy)), dtype


def named_weights(source: NpzSource, archive: zipfile.ZipFile, columns: tuple[str, str]) -> str:
    """The name of the member that has the weights of edges in two others. Raises InputError where it is not clear."""
    assert source.weights is not None
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    others = [place for place, name in enumerate(names) if name not in columns]
    place = weight_column(names, others, source.weights.column)
    if place is None:
        what = f"no member {source.weights.column}" if source.weights.column else "not one member of weights"
        raise source.error(f"the archive has {what} beside the ids"
                           f" ({', '.join(names[i] for i in others) or 'there is no other member'})",
                           remedy="name one of them, as in --weights=length, or leave out --weights")
    return names[place]


def _skip(read: Callable[[int], bytes], size: int) -> None:
    while size > 0 and (piece := read(min(size, 1 << 20))):
        size -= len(piece)


def named_columns(source: NpzSource, archive: zipfile.ZipFile) -> tuple[str, str] | None:
    """The names of two members that the user names, or that are called like the ends of edges, or row and col; None
    where the edges are in one array. Raises InputError for members that there are not."""
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    wanted = source.wishes.columns
    if wanted is not None:
        if set(wanted) <= set(names):
            return wanted
        if all(map(str.isdecimal, wanted)):
            return None
        raise source.error("the archive has no such two columns", text=",".join(wanted),
                           remedy=f"name two of its members: {', '.join(names[:8])}")
    return next((pair for pair in _COLUMNS if set(pair) <= set(names)), None)


def diagonals(source: NpzSource, offsets: Any, data: ArrayStream, width: int, sides: tuple[int, int],
              batch_bytes: int) -> Iterator[EdgeBatch]:
    """The entries of SciPy's dia: row k of `data`, `width` values long, has column j of diagonal offsets[k] in place
    j."""
    step = pairs_per_batch(batch_bytes) // 2 or 1
    for offset in offsets.tolist():
        for begin in range(0, width, step):
            values = data.items(min(step, width - begin))
            columns = begin + np.flatnonzero(values)
            rows = columns - offset
            inside = (rows >= 0) & (rows < sides[0]) & (columns < sides[1])
            kept = values[values != 0][inside]
            if len(kept):
                yield EdgeBatch(rows[inside], columns[inside], _weighed(source, kept))


def blocks(source: NpzSource, streams: tuple[ArrayStream, ArrayStream, ArrayStream], block: tuple[int, int],
           n_columns: int, batch_bytes: int) -> Iterator[EdgeBatch]:
    """The entries of SciPy's bsr: blocks of this shape where csr has values. streams : indptr, indices and data."""
    offsets, indices, data = streams
    size = block[0] * block[1]
    for batch in csr_batches(offsets, indices, max(16, batch_bytes // size), n_columns):
        values = data.items(len(batch.src) * size).reshape(-1, *block)
        which, row, column = np.nonzero(values)
        if len(which):
            yield EdgeBatch(batch.src[which] * block[0] + row, batch.dst[which] * block[1] + column,
                            _weighed(source, values[which, row, column]))


def _weighed(source: NpzSource, values: Any) -> Any:
    if source.weights is None:
        return None
    return checked_weights(values, source.weights, lambda what, _place, **more: source.error(what, **more))
