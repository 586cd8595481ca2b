"""Archives (tar, also compressed, and zip) with a graph, which is read as a stream, without unpacking.

The member is chosen by its name, ARCHIVE#MEMBER, or because only it can be the graph: KONECT's archives have out.NAME
beside a README, those of SuiteSparse NAME/NAME.mtx beside NAME_b.mtx and NAME_coord.mtx, those of Network Repository
one list of edges beside a page, others edges.csv beside nodes.csv.
"""

from __future__ import annotations

import errno
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from io import RawIOBase
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, cast

from ..errors import InputError
from .marks import TAR, ZIP
from .registry import compression_suffix, format_of_file, part_of
from .streams import ByteStream, RawStream, open_raw

MEMBER = "#"
"""Stands between the name of an archive and that of a member."""

_NO_GRAPH = re.compile(r"(?:.*/)?(?:\.|readme|meta|license|licence|copying|changes|notice|__macosx)", re.IGNORECASE)
_NO_GRAPH_SUFFIXES = (".md", ".html", ".htm", ".pdf", ".png", ".jpg", ".svg", ".bib", ".properties", ".json~", ".py",
                      ".m", ".yml", ".yaml", ".doc", ".docx", ".nfo", ".sha1", ".md5")
_ARCHIVES = (".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz")
_TABLES = ("csv", "json", "npy", "npz", "parquet", "arrow", "hdf5", "mat")  # which vertices may be written as, too
_MOST_NAMES, _MOST_MEMBERS = 8, 1 << 12
_ARRAYS = ".npy"
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, RuntimeError, LookupError)


@dataclass(frozen=True)
class Member:
    """One file in an archive. archive : path of the archive. name : its name in it. size : its unpacked bytes. kind :
    ZIP or TAR. compression : compression of the tar archive. note : how it was chosen, if there were others."""

    archive: Path
    name: str
    size: int
    kind: str
    compression: str | None = None
    note: str = ""

    def open(self) -> RawStream:
        """A stream of the member's bytes. Raises InputError."""
        label = f"{self.archive}{MEMBER}{self.name}"
        with _Said(label):
            if self.kind == ZIP:
                archive = zipfile.ZipFile(self.archive)
                file: Any = archive.open(self.name)
                return RawStream(cast(BinaryIO, _Forward(file, label, [file, archive])), label)
            stream = _tar_stream(self.archive, self.compression)
            import tarfile  # only for tar archives

            tar = tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|")
            for info in tar:
                if info.name == self.name and info.isfile():
                    return RawStream(cast(BinaryIO, _Forward(tar.extractfile(info), label, [stream])), label)
        raise InputError("the archive has changed while it was read", path=label, remedy="run it again")


class _Forward(RawIOBase):
    """A member as a file that is read once, in order; damage becomes an OSError."""

    def __init__(self, file: Any, label: str, owned: Sequence[Any]) -> None:
        super().__init__()
        self._file, self._label, self._owned = file, label, owned

    def read(self, size: int = -1) -> bytes:
        """See RawIOBase."""
        with _Said(self._label):
            return bytes(self._file.read(size))

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        for each in self._owned:
            each.close()
        super().close()


class _Said:
    """A context that turns damage of an archive into an InputError about `label`."""

    def __init__(self, label: str) -> None:
        self._label = label

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, _trace: Any) -> None:
        # A position outside the file means a damaged archive, not a disk error.
        outside = isinstance(error, OSError) and error.errno == errno.EINVAL
        damaged = isinstance(error, _DAMAGE) or type(error).__module__ == "tarfile"
        if (damaged or outside) and not isinstance(error, InputError):
            encrypted = "encrypted" in str(error) or "password" in str(error)
            raise InputError("it is encrypted" if encrypted else f"the archive is damaged ({error})", path=self._label,
                             remedy="extract it first" if encrypted else "fetch it again") from error


def is_archive_by_name(name: str) -> bool:
    """Whether the suffix of the file `name` is that of an archive."""
    return _plain(name).lower().endswith(_ARCHIVES)


def split_member(name: str) -> tuple[str, str] | None:
    """(archive, member) of a name ARCHIVE#MEMBER whose archive is a file; None for other names."""
    if MEMBER not in name or Path(name).exists():
        return None
    places = [place for place, letter in enumerate(name) if letter == MEMBER]
    return next(((name[:at], name[at + 1 :]) for at in places if Path(name[:at]).is_file()), None)


def find_member(path: Path, kind: str, compression: str | None, wanted: str | None) -> Member | None:
    """The member with the graph; None for a zip archive of NumPy arrays, which is a format itself.

    Parameters
    ----------
    path, kind, compression : the archive, ZIP or TAR, and its compression.
    wanted : the name of the member; None to choose it.

    Raises
    ------
    InputError
        For a damaged archive, for a missing member, and for several possible members, which the message lists.
    """
    with _Said(str(path)):
        members = _zip_members(path) if kind == ZIP else _tar_members(path, compression)
    if wanted is not None:
        found = next((member for member in members if wanted in (member.name, PurePosixPath(member.name).name)), None)
        if found is None:
            raise InputError(f"the archive has no member {wanted}; it has {_listed(members) or 'none'}", path=path,
                             remedy="name one that it has")
        return found
    if members and kind == ZIP and all(member.name.endswith(_ARRAYS) for member in members):
        return None
    return _chosen(path, members)


def _zip_members(path: Path) -> list[Member]:
    with zipfile.ZipFile(path) as archive:
        files = archive.infolist()
    if len(files) > _MOST_MEMBERS:
        raise _too_many(path)
    return [Member(path, info.filename, info.file_size, ZIP) for info in files if not info.is_dir()]


def _too_many(path: Path) -> InputError:
    return InputError(f"the archive has more than {_MOST_MEMBERS:,} files", path=path,
                      remedy="extract the one that is the graph first")


def _tar_members(path: Path, compression: str | None) -> list[Member]:
    import tarfile

    with closing(_tar_stream(path, compression)) as stream:
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|") as archive:
            members = []
            for count, info in enumerate(archive):
                if count == _MOST_MEMBERS:
                    raise _too_many(path)
                if info.isfile():
                    members.append(Member(path, info.name, info.size, TAR, compression))
        stream.skip()  # to the end of the compressed data, to detect damage there
        return members


def _tar_stream(path: Path, compression: str | None) -> ByteStream:
    return ByteStream(open_raw(path), compression)


def _chosen(path: Path, members: list[Member]) -> Member:
    """The only member that can be the graph: by its name that of the edges, or the only one whose name is not that of
    vertices; or the one after which all others are called; or the only one in a format of graphs."""
    _check_known(path, members)
    listed = members = [member for member in members if _may_be_graph(member)] or members
    members = [member for member in members if part_of(member.name) != "vertices"] or members
    rules: tuple[Callable[[Member], bool], ...] = (
        lambda member: True, lambda member: _base(member).startswith("out."),
        lambda member: part_of(member.name) == "edges",
        lambda member: _others_are_parts(member, members),
        lambda member: format_of_file(_plain(member.name)) not in (None, *_TABLES))
    for rule in rules:
        found = list(filter(rule, members))
        if len(found) == 1:
            others = [member for member in listed if member is not found[0]]
            return replace(found[0], note=f"the graph is {found[0].name}; not read: {_listed(others)}"
                           if others else "")
    if not members:
        raise InputError("the archive is empty", path=path, remedy="fetch it again")
    example = next((member for member in members if "edge" in member.name.lower()), members[0])
    raise InputError(f"the archive has {len(members):,} files that may be the graph ({_listed(members)})", path=path,
                     remedy=f"name one of them, as in {path.name}{MEMBER}{example.name}")


def _check_known(path: Path, members: list[Member]) -> None:
    """Raise InputError for zip archives that are documents."""
    names = {member.name for member in members}
    if "[Content_Types].xml" in names:
        raise InputError("this is a workbook or a document of Microsoft Office", path=path,
                         remedy="save the table of edges as CSV")
    if any(name.endswith("data.pkl") for name in names):
        raise InputError("this is a file of PyTorch, which holds a pickle that could run any program", path=path,
                         remedy="save the edge_index alone with numpy.save")


def _base(member: Member) -> str:
    return PurePosixPath(member.name).name


def _may_be_graph(member: Member) -> bool:
    return member.size > 0 and not _NO_GRAPH.match(member.name) and not _base(member).lower().endswith(
        _NO_GRAPH_SUFFIXES)


def _plain(name: str) -> str:
    """The name without folders and without a compression suffix."""
    base = PurePosixPath(name).name
    return base.rpartition(".")[0] if compression_suffix(base) else base


def _others_are_parts(member: Member, members: list[Member]) -> bool:
    """Whether all others are called after this one, as A_b.mtx and A_coord.mtx after A.mtx."""
    stem = _plain(member.name).rpartition(".")[0] or _plain(member.name)
    return all(other is member or _base(other).startswith((stem + "_", stem + ".")) for other in members)


def _listed(members: list[Member]) -> str:
    names = ", ".join(member.name for member in members[:_MOST_NAMES])
    return names + (f" and {len(members) - _MOST_NAMES:,} more" if len(members) > _MOST_NAMES else "")
