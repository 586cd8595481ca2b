"""python -m tests.formats.hostile_files FOLDER BUDGET NAME...: files that claim much, nest deep or unpack to much.

Each is converted within the budget of bytes; a line of JSON says what came of it, and the peak of memory meanwhile."""

from __future__ import annotations

import gzip
import io
import json
import resource
import struct
import sys
import tarfile
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import emdiam
from emdiam.errors import InputError
from emdiam.units import peak_rss_bytes

LARGE = 10**15
# What is taken in spite of the budget fails here and not on the machine.
ADDRESS_SPACE = 8 << 30
UNPACKED = 100 << 20


def _npy(shape: str, kind: str = "<i8") -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.ljust(117) + b"\n" + bytes(64)


def _entities() -> bytes:
    """Each entity is ten of the one before it."""
    lines = ["<!ENTITY e0 'eeeeeeeeee'>", *(f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>" for i in range(1, 12))]
    return (f"<?xml version='1.0'?><!DOCTYPE graphml [{''.join(lines)}]><graphml><graph edgedefault='directed'>"
            "<node id='&e11;'/></graph></graphml>").encode()


_OUTSIDE = (b"<?xml version='1.0'?><!DOCTYPE graphml [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><graphml><graph"
            b" edgedefault='directed'><node id='p'/><node id='q'/><edge source='p' target='q'><data key='d'>&e;</data>"
            b"</edge></graph></graphml>")


def _gzipped(begin: bytes, piece: bytes, end: bytes = b"") -> bytes:
    """One piece again and again, UNPACKED bytes of them."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as file:
        file.write(begin)
        block = piece * (1 + (1 << 20) // len(piece))
        for _ in range(UNPACKED // len(block)):
            file.write(block)
        file.write(end)
    return out.getvalue()


def _zip(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def _tar(*members: tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return out.getvalue()


def _link() -> bytes:
    """A link to a file outside is no graph."""
    member = tarfile.TarInfo("edges.txt")
    member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return _tar(member)


CLAIMS: dict[str, Callable[[], bytes]] = {
    "entities.graphml": _entities, "outside.graphml": lambda: _OUTSIDE,
    "vertices.net": lambda: b"*Vertices %d\n*Edges\n1 2\n" % LARGE,
    "matrix.net": lambda: b"*Vertices %d\n*Matrix\n0 1\n" % LARGE,
    "list.dl": lambda: b"dl n=%d format=edgelist1\ndata:\n1 2\n" % LARGE,
    "matrix.dl": lambda: b"dl n=%d format=fullmatrix\ndata:\n0 1\n1 0\n" % LARGE,
    "large.g6": lambda: b"~~~~~~~~~\n", "short.g6": lambda: b"~~?@????\n", "large.s6": lambda: b":~~~~~~~~~\n",
    "array.mtx": lambda: b"%%%%MatrixMarket matrix array real general\n%d %d\n1\n" % (LARGE, LARGE),
    "matrix.npy": lambda: _npy(f"{10**9}, {10**9}"), "pairs.npy": lambda: _npy(f"{LARGE}, 2"),
    "index.npz": lambda: _zip({"edge_index.npy": _npy(f"2, {LARGE}")}),
    "nested.json": lambda: b"[" * 100_000, "objects.json": lambda: b'{"nodes":' * 50_000,
    "nested.gml": lambda: b"graph [ " + b"node [ " * 50_000, "nested.dot": lambda: b"graph {" + b"subgraph {" * 50_000,
    "cycle.dot": lambda: b"graph { a -- {" + b"b c " * 100 + b"} -- {" + b"d e " * 100 + b"} }",
    "link.tar": _link, "numbers.gml": lambda: b"graph [ node [ id " + b"9" * 5000 + b" ] ]",
    "edgeslist.net": lambda: b"*Vertices 3\n*Edgeslist\n1 " + b"2 " * 100_000 + b"\n",
    "lists.adjlist": lambda: b"#x\n# GMT x\n#\n" + b"1 " * 100_000 + b"\n",
    "multiline.adjlist": lambda: b"#x\n# GMT x\n#\n1 %d\n2 {}\n" % LARGE,
    "large.adj": lambda: b"AdjacencyGraph\n%d\n1\n0\n0\n" % LARGE,
    "word.adj": lambda: b"AdjacencyGraph\n1\n1\n0\n" + b"7" * 100_000,
    "vertices.gr": lambda: struct.pack("<5Q", 1, 0, LARGE // 100, 1, 0),
    "edges.gr": lambda: struct.pack("<5Q", 2, 4, 1, LARGE, LARGE),
}
BOMBS: dict[str, Callable[[], bytes]] = {
    "zeros.txt.gz": lambda: _gzipped(b"", bytes(1 << 20)),
    "line.txt.gz": lambda: _gzipped(b"1 2\n", b"7" * 1000),
    "lists.adjlist.gz": lambda: _gzipped(b"#x\n# GMT x\n#\n1", b" 1" * 1000),
    "token.graphml.gz": lambda: _gzipped(b"<graphml><graph edgedefault='directed'><node id='", b"7" * 1000),
    "nodes.graphml.gz": lambda: _gzipped(b"<graphml><graph edgedefault='directed'>", b"<node id='p'/>"),
    "text.gexf.gz": lambda: _gzipped(b"<gexf><graph><nodes><node id='p' label='q'>", b"7 " * 1000),
    "nodes.gml.gz": lambda: _gzipped(b"graph [", b" node [ id 1 ]"),
    "nodes.json.gz": lambda: _gzipped(b'{"nodes": [{"id": 1}', b', {"id": 1}'),
    "nodes.dot.gz": lambda: _gzipped(b"graph {", b" a -- b;"),
    "list.net.gz": lambda: _gzipped(b"*Vertices 3\n*Edgeslist\n1", b" 2" * 1000),
    "one.g6.gz": lambda: _gzipped(b"~", b"~" * 1000),
    "array.npy.gz": lambda: _gzipped(_npy("20000000, 2"), bytes(1000)),
    "matrix.dl.gz": lambda: _gzipped(b"dl n=10000 format=fullmatrix\ndata:\n", b"0 1 " * 1000),
    "numbers.adj.gz": lambda: _gzipped(b"AdjacencyGraph\n20000000\n20000000\n", b"0\n" * 500),
    "word.adj.gz": lambda: _gzipped(b"AdjacencyGraph\n1\n1\n0\n", b"7" * 1000),
    "rows.gr.gz": lambda: _gzipped(struct.pack("<4Q", 2, 0, 10_000_000, 1), bytes(1000)),
    "edges.txt.zip": lambda: _zip({"edges.txt": bytes(UNPACKED)}),
    "nested.zip": lambda: _zip({"inner.zip": _zip({"edges.txt": b"1 2\n"})}),
}
FILES = {**CLAIMS, **BOMBS}


def outcomes(folder: Path, budget: int, names: list[str]) -> Iterator[dict[str, object]]:
    """What came of each: "refused", "read", or the fault; and the peak of memory meanwhile."""
    for name in names:
        path, target = folder / name, folder / "g.zarr"
        path.write_bytes(FILES[name]())
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        try:
            emdiam.convert(path, target, memory=budget, threads=1, scratch=folder, force=True)
            word = "read"
        except InputError as error:
            word = "refused" if str(error).isprintable() else f"no sentence: {error!r}"
        except BaseException:  # whatever it is, it is a fault
            word = traceback.format_exc()[-1500:]
        yield {"name": name, "word": word, "peak": peak_rss_bytes()}
        path.unlink()


def main() -> None:
    """Convert them all."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    small = Path(sys.argv[1]) / "small.txt"
    small.write_text("1 2\n2 3\n")
    emdiam.convert(small, small.with_suffix(".zarr"), threads=1, scratch=sys.argv[1])
    for outcome in outcomes(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]):
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
