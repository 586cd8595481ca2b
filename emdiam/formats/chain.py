"""Several inputs as one source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .base import FileSource
from .source import EdgeBatch, SourceInfo


class ChainedSource:
    """One or more inputs, one behind the other; an EdgeSource.

    After a complete pass `info()` also knows what the inputs had beside the edges.
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
            raise source.error(f"its ids are {_kind(info)} but those of {self._sources[0].name} are {_kind(first)}",
                               remedy="convert them apart, or take all as names with --ids string")
        if info.n_vertices != first.n_vertices or (info.n_vertices is not None and info.first_id != first.first_id):
            raise source.error(f"it declares {_count(info)} but {self._sources[0].name} declares {_count(first)}",
                               remedy="inputs given together must be parts of one graph")

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource: the pairs of every input in turn."""
        info = self.info()
        dropped: Counter[str] = Counter()
        for source in self._sources:
            yield from source.batches(batch_bytes)
            dropped.update(source.dropped)
        self._info = replace(info, dropped={name: count for name, count in dropped.items() if count})

    def position_bytes(self) -> int:
        """Compressed bytes consumed so far, over all inputs."""
        return sum(source.position_bytes() for source in self._sources)


def _merged(infos: list[SourceInfo]) -> SourceInfo:
    entries = [info.n_entries for info in infos if info.n_entries is not None]
    sizes = [info.size_bytes for info in infos if info.size_bytes is not None]
    return replace(infos[0], n_entries=sum(entries) if len(entries) == len(infos) else None,
                   size_bytes=sum(sizes) if len(sizes) == len(infos) else None,
                   directed=any(info.directed for info in infos),
                   both_directions=all(info.both_directions for info in infos),
                   format="+".join(sorted({info.format for info in infos})))


def _kind(info: SourceInfo) -> str:
    return "integers" if info.id_kind == "int" else "names"


def _count(info: SourceInfo) -> str:
    return (
        "no number of vertices"
        if info.n_vertices is None
        else f"vertices {info.first_id}..{info.first_id + info.n_vertices - 1}"
    )
