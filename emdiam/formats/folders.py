"""Folders with one list of edges in several files: part-00000, part-00001, ... of Spark, Hive, Dask and others, in
folders KEY=VALUE if they are partitioned.

Files are read in the order of their paths. Files with names that begin with _ or a dot (_SUCCESS, .crc) belong to the
programs that wrote the folder, and are ignored. A file of another kind than the others is refused with its name. Parts
without a record are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ..errors import InputError
from .inputs import EmptyInputError
from .registry import compression_suffix, format_of_file, format_suffix, part_of
from .tables import PAIRS, certain_pair, named_pair

if TYPE_CHECKING:
    from .base import FileSource

ENDS = frozenset(name for pair in PAIRS for name in pair)
_STORE = "zarr.json"
_PART = "part-"
_LISTS = (".txt", ".tsv", ".tab", ".el", ".wel", ".edges", ".edgelist", ".links")
# Number of files that are checked to find whether a folder may have edges.
_LOOKED_AT = 64
_HANDED = "whose log says which of its files count"
# Folders that mark tables with a log of valid files, and their kind.
_TABLES = {"_delta_log": "a table of Delta Lake", ".hoodie": "a table of Hudi"}


def is_folder_of_edges(path: Path) -> bool:
    """Whether the path is a folder, not a store or a part of one, and one of its first files may have edges."""
    if not path.is_dir() or (path / _STORE).is_file():
        return False
    first = list(islice(_files(path), _LOOKED_AT))
    return any(map(_may_have_edges, first)) and all(file.name != _STORE for file in first)


def files_of_folder(folder: Path) -> list[str]:
    """The files in a folder and its subfolders, in the order of their paths, without empty ones.

    Raises InputError if it is no folder of edges: a store, a table with a log of valid files, files of several kinds,
    no files.
    """
    if (folder / _STORE).is_file():
        raise InputError("this is a store", path=folder, remedy="use it as it is, or give it to emdiam reorder")
    for name, what in _TABLES.items():
        if (folder / name).is_dir():
            raise InputError(f"this is {what}, {_HANDED}", path=folder,
                             remedy="write its edges to Parquet, or hand an Arrow stream of them to emdiam.convert")
    if any((folder / "metadata").glob("*.metadata.json")):
        raise InputError(f"this is a table of Iceberg, {_HANDED}", path=folder,
                         remedy="write its edges to Parquet, or hand an Arrow stream of them to emdiam.convert")
    files = list(_files(folder))
    foreign = next((file for file in files if not _may_have_edges(file)), None)
    if foreign is not None:
        raise InputError("a file in the folder is of no format of edges", path=foreign,
                         remedy=_by_glob(folder, next((file for file in files if _may_have_edges(file)), None)))
    other = next((file for file in files if format_suffix(file.name) != format_suffix(files[0].name)), None)
    if other is not None:
        raise InputError(f"a file in the folder is of another kind than {files[0]}", path=other,
                         remedy=_by_glob(folder, files[0]))
    full = [str(file) for file in files if file.stat().st_size]
    vertices, edges = (next((name for name in full if part_of(name) == part), None) for part in ("vertices", "edges"))
    if vertices and edges:
        raise InputError("the folder has a file of vertices beside one of edges", path=folder,
                         remedy=f"give {quote(edges)} alone, or with --vertices {quote(vertices)}")
    if not full:
        what = "all files in the folder are empty" if files else "there are no files in the folder"
        raise InputError(what, path=folder, remedy="name the folder that has the files with edges")
    return full


def _by_glob(folder: Path, file: Path | None = None) -> str:
    """The remedy for a folder with other files: a glob. file : a file that may have edges."""
    example = "" if file is None else f", as in {quote(str(folder / ('*' + format_suffix(file.name))))}"
    return f"name the files that have the edges by a glob{example}"


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder in the order of their paths, without those of programs. Raises InputError for an
    unreadable folder."""

    def refuse(error: OSError) -> None:
        raise InputError(f"cannot be read ({error.strerror or error})", path=error.filename) from error

    for base, folders, names in os.walk(folder, onerror=refuse):
        entries = sorted([*folders, *names])
        inner = set(folders)
        folders[:] = []
        for name in entries:
            if name.startswith(("_", ".")):
                continue
            if name in inner:
                yield from _files(Path(base) / name)
            else:
                yield Path(base) / name


def _may_have_edges(file: Path) -> bool:
    """Whether a file may have edges by its name: a known suffix, or a part without a suffix (in Hive and Athena these
    begin with a digit)."""
    suffix = format_suffix(file.name)
    return file.name != _STORE and (suffix in _LISTS or format_of_file(file.name) is not None or (
        file.name.startswith(_PART) and (suffix == "" or suffix[1:].isdigit())) or (
        not suffix and file.name[:1].isdigit()) or (not suffix and compression_suffix(file.name) is not None))


def partition_keys(folder: Path, files: Sequence[str]) -> tuple[str, ...]:
    """The names of the keys in folders KEY=VALUE between the folder and its files."""
    keys: dict[str, None] = {}
    for file in files:
        for part in Path(file).relative_to(folder).parts[:-1]:
            key, is_partition, _ = part.partition("=")
            if is_partition:
                keys[unquote(key)] = None
    return tuple(keys)


class FolderParts:
    """The files of one folder, and their readers. folder : its path. keys : keys of its partitions."""

    def __init__(self, folder: Path) -> None:
        self.files = files_of_folder(folder)
        self.folder, self.keys = folder, partition_keys(folder, self.files)
        self.n_empty = 0
        self._first: FileSource | None = None

    def check_wanted(self, columns: Sequence[str]) -> None:
        """Raise InputError for a column that is a key of partitions, because the files do not have it."""
        wanted = next((name for name in columns if name in self.keys), None)
        if wanted is not None:
            raise InputError(f"{wanted} is a key of the folder's partitions, and no column of its files",
                             path=self.folder, remedy="hand an Arrow stream of the table to emdiam.convert")

    def readers(self, opened: Callable[[str], FileSource]) -> Iterator[FileSource]:
        """The readers of all parts with records. Raises InputError if the format or the columns of a part differ from
        the first, or if no part has a record."""
        for file in self.files:
            try:
                source = opened(file)
                source.info()
            except EmptyInputError:
                self.n_empty += 1
                if self.n_empty == len(self.files):
                    raise
                continue
            except InputError:
                self._check_ends(source)
                raise
            self._check_alike(source)
            yield source

    def _check_ends(self, source: FileSource) -> None:
        """Raise InputError if a key of partitions is an end of the edges by its name, and the source's columns are no
        pair of such names themselves."""
        columns = source.column_names
        if source.wishes.columns is not None:
            return
        pair = named_pair([*self.keys, *columns]) or ()
        key = next((key for place, key in enumerate(self.keys) if key.strip().lower() in ENDS or place in pair), None)
        if key is not None and certain_pair(columns) is None:
            raise InputError(f"{key}, a key of the folder's partitions, may be an end of the edges", path=self.folder,
                             remedy="hand an Arrow stream of the table to emdiam.convert, or name two columns of its"
                             " files by --columns")

    def _check_alike(self, source: FileSource) -> None:
        self._check_ends(source)
        format_, columns = source.info().format, source.column_names
        first = self._first = self._first or source
        if format_ != first.info().format:
            raise source.error(f"this is {format_}, and {first.name} in the same folder is {first.info().format}",
                               remedy=_by_glob(self.folder))
        if columns and first.column_names and columns != first.column_names:
            raise source.error(f"its columns ({', '.join(columns)}) are not those of {first.name}"
                               f" ({', '.join(first.column_names)})", remedy=_by_glob(self.folder))
