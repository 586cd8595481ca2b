"""Files of the other writers, compressed or in an archive."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import zstandard

from tests.formats.writers.drawn import Drawn
from tests.formats.writers.writer import Options, Writer

Pack = Callable[[bytes, str], bytes]


def _tar(mode: str) -> Pack:
    def pack(data: bytes, name: str) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        return out.getvalue()

    return pack


def _zip(data: bytes, name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return out.getvalue()


PACKS: Mapping[str, Pack] = {
    ".gz": lambda data, _: gzip.compress(data), ".bz2": lambda data, _: bz2.compress(data),
    ".xz": lambda data, _: lzma.compress(data), ".zst": lambda data, _: zstandard.ZstdCompressor().compress(data),
    ".zip": _zip, ".tar": _tar("w"), ".tar.gz": _tar("w:gz"), ".tgz": _tar("w:gz"), ".tar.bz2": _tar("w:bz2"),
    ".tar.xz": _tar("w:xz"),
}
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def packed(writer: Writer, suffix: str) -> Writer:
    """`writer`, its files packed as `suffix` says. Archives have the file in a folder."""

    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        inner = path.with_name(path.name.removesuffix(suffix))
        options = writer.write(graph, inner, random)
        name = random.choice(("", "data/")) + inner.name
        path.write_bytes(PACKS[suffix](inner.read_bytes(), name))
        inner.unlink()
        return options

    return replace(writer, name=f"{writer.name}, as {suffix}", write=write,
                   suffixes=tuple(own + suffix for own in writer.suffixes))


def is_archive(suffix: str) -> bool:
    """Whether there may be several files in such a one."""
    return suffix in _ARCHIVES
