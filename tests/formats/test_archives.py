"""Archives with a graph inside, and texts in other encodings."""

from __future__ import annotations

import bz2
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.helpers.formats_naive import fault_of, read_pairs

EDGES, PAIRS = b"1 2\n2 3\n", [(1, 2), (2, 3)]


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return path


def tarred(path: Path, mode: str, **members: bytes) -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name.replace("__", "/").replace("_", "."))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def made(folder: Path, kind: str, **members: bytes) -> Path:
    if kind == "zip":
        return zipped(folder / "g.zip", **members)
    return tarred(folder / f"g.{kind}", "w:" + kind.removeprefix("tar").lstrip("."), **members)


KINDS = ("zip", "tar", "tar.gz", "tar.bz2", "tar.xz")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "members",
    [
        {"any_dat": EDGES},
        {"x__README_x": b"by us", "x__meta_x": b"3 4", "x__out_x": b"% sym\n" + EDGES},
        {"bio_edges": EDGES, "readme_html": b"<html>"},
        {"A__A_mtx": b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n",
         "A__A_b_mtx": b"%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n"},
        {"edges_txt": EDGES, "nodes_txt": b"7 8\n"},
        {"g_edges": EDGES, "LICENSE": b"free", "__MACOSX__._g_edges": b"\0\5", "empty_txt": b""},
        {"inner_txt_bz2": bz2.compress(EDGES)},
        {"wide_txt": "1 2\n2 3\n".encode("utf-16")},
    ],
)
def test_the_only_graph_of_an_archive_is_read(tmp_path: Path, kind: str, members: dict[str, bytes]) -> None:
    path = made(tmp_path, kind, **members)
    assert read_pairs(path) == PAIRS
    assert read_pairs(path, batch_bytes=64) == PAIRS


@pytest.mark.parametrize("kind", KINDS)
def test_several_graphs_are_named_and_one_is_chosen(tmp_path: Path, kind: str) -> None:
    path = made(tmp_path, kind, a_txt=EDGES, b_txt=b"7 8\n", sub__c_txt=b"9 8\n")
    error = fault_of(path)
    assert "a.txt, b.txt, sub/c.txt" in error.what and f"{path.name}#a.txt" in error.remedy
    assert read_pairs(f"{path}#b.txt") == [(7, 8)] and read_pairs(f"{path}#c.txt") == [(9, 8)]
    assert read_pairs(f"{path}#a.txt", f"{path}#b.txt") == [*PAIRS, (7, 8)]
    assert "no member d.txt" in fault_of(f"{path}#d.txt").what


def test_a_name_with_a_hash_is_a_file_first(tmp_path: Path) -> None:
    (tmp_path / "a#b.txt").write_bytes(EDGES)
    assert read_pairs(tmp_path / "a#b.txt") == PAIRS
    (tmp_path / "c").write_bytes(EDGES)
    assert "no archive" in fault_of(f"{tmp_path}/c#b.txt").what
    assert "no such file" in fault_of(f"{tmp_path}/d#b.txt").what


@pytest.mark.parametrize("kind", KINDS)
def test_archives_that_are_damaged(tmp_path: Path, kind: str) -> None:
    path = made(tmp_path, kind, g_txt=b"".join(b"%d %d\n" % (i, i * i) for i in range(20_000)))
    data = path.read_bytes()
    for cut in (600, len(data) // 2, len(data) - 20):
        path.write_bytes(data[:cut])
        if not (kind == "tar" and cut == len(data) - 20):  # the end of a tar is padding
            error = fault_of(path)
            assert error.remedy and str(path) in str(error)
    torn = bytearray(data)
    torn[len(data) // 2] ^= 0xFF
    path.write_bytes(torn)
    if kind != "tar":
        assert fault_of(path).remedy


def test_documents_that_are_zip_archives(tmp_path: Path) -> None:
    path = tmp_path / "g.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<a/>")
        archive.writestr("xl/workbook.xml", "<a/>")
    assert "Office" in fault_of(path).what and "CSV" in fault_of(path).remedy
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", "x")
        archive.writestr("archive/data/0", "x")
    assert "PyTorch" in fault_of(path).what


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-8", "utf-8-sig"])
def test_texts_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    """Names with letters beyond ASCII, with LF and CR LF; the first bytes are looked at and then read again."""
    lines = [f"é{i} ü{i + 1}" for i in range(3000)]
    expected = [tuple(line.split()) for line in lines]
    for end in ("\n", "\r\n"):
        path = tmp_path / "g.txt"
        path.write_bytes((end.join(lines) + end).encode(encoding))
        named = {} if encoding in ("utf-16", "utf-8", "utf-8-sig") else {"encoding": encoding}
        assert read_pairs(path, **named) == expected
        assert read_pairs(path, batch_bytes=256, **named) == expected


def test_texts_that_are_not_in_the_encoding_named(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_bytes("é ü\n".encode("latin-1"))
    assert "no such encoding" in fault_of(tmp_path / "g.txt", encoding="nosuch").what
    assert "utf-16" in fault_of(tmp_path / "g.txt", encoding="utf-16").what
    (tmp_path / "h.txt").write_bytes("1 2\n3 4\n".encode("utf-16-le"))
    error = fault_of(tmp_path / "h.txt")
    assert "UTF-16" in error.what and "--encoding utf-16-le" in error.remedy
    assert read_pairs(tmp_path / "h.txt", encoding="utf-16-le") == [(1, 2), (3, 4)]
