"""Several inputs as one source, and what only a whole pass can tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..source import EdgeBatch, SourceInfo
from .base import FileSource

if TYPE_CHECKING:
    from .symmetry import Balance


class ChainedSource:
    """One or more inputs, one behind the other; an EdgeSource.

    After a complete pass over adjacency structures `info()` also knows whether every edge was listed
    in both directions: some formats do not say (DIMACS, .npz, general Matrix Market) or not bindingly
    (.egr), and without that the second direction would be taken for a duplicate.
    """

    def __init__(self, sources: Sequence[FileSource]) -> None:
        self._sources = list(sources)
        self.rewindable = all(source.rewindable for source in sources)
        more = len(sources) - 1
        self.name = sources[0].name + (f" and {more} more" if more else "")
        self._info: SourceInfo | None = None

    @property
    def paths(self) -> list[Path]:
        """The files of all inputs that are files, in order."""
        return [source.input.path for source in self._sources if source.input.path is not None]

    def info(self) -> SourceInfo:
        """Header facts of all inputs together. Raises InputError where they contradict."""
        if self._info is None:
            infos = [source.info() for source in self._sources]
            for source, info in zip(self._sources, infos, strict=True):
                self._check(source, info, infos[0])
            self._info = _merged(infos)
        return self._info

    def _check(self, source: FileSource, info: SourceInfo, first: SourceInfo) -> None:
        if info.n_vertices == 0:
            raise source.error("the header declares a graph without vertices", remedy="give a graph")
        if info.id_kind != first.id_kind:
            raise source.error(
                f"its ids are {_kind(info)} but those of {self._sources[0].name} are {_kind(first)}",
                remedy="convert them apart, or take all as names with --ids string",
            )
        if info.n_vertices != first.n_vertices or (
            info.n_vertices is not None and info.first_id != first.first_id
        ):
            raise source.error(
                f"it declares {_count(info)} but {self._sources[0].name} declares {_count(first)}",
                remedy="inputs given together must be parts of one graph",
            )

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource: the pairs of every input in turn."""
        info, balance = self.info(), self._balance()
        for source in self._sources:
            for batch in source.batches(batch_bytes):
                if balance is not None:
                    balance.add(batch.src, batch.dst)
                yield batch
        if balance is not None and balance.forward + balance.backward:
            directed = not balance.symmetric and (info.directed or info.both_directions)
            self._info = replace(info, both_directions=balance.symmetric, directed=directed)

    def _balance(self) -> Balance | None:
        """A fresh comparison of the two directions, if all inputs are adjacency structures. Loaded
        only then, because its kernel costs memory that tables of edges do not need."""
        if not all(source.lists_neighbours for source in self._sources):
            return None
        from .symmetry import Balance

        return Balance()

    def position_bytes(self) -> int:
        """Compressed bytes consumed so far, over all inputs."""
        return sum(source.position_bytes() for source in self._sources)


def _merged(infos: list[SourceInfo]) -> SourceInfo:
    entries = [info.n_entries for info in infos if info.n_entries is not None]
    sizes = [info.size_bytes for info in infos if info.size_bytes is not None]
    return replace(
        infos[0],
        n_entries=sum(entries) if len(entries) == len(infos) else None,
        size_bytes=sum(sizes) if len(sizes) == len(infos) else None,
        directed=any(info.directed for info in infos),
        both_directions=all(info.both_directions for info in infos),
        format="+".join(sorted({info.format for info in infos})),
    )


def _kind(info: SourceInfo) -> str:
    return "integers" if info.id_kind == "int" else "names"


def _count(info: SourceInfo) -> str:
    return (
        "no number of vertices"
        if info.n_vertices is None
        else f"vertices {info.first_id}..{info.first_id + info.n_vertices - 1}"
    )
