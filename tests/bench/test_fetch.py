"""Fetching the papers' graphs: resumed, verified, compared with what came first; by a server in this process."""

from __future__ import annotations

import io
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bench.papers import fetch as fetching
from bench.papers.fetch import CHECKSUMS, checksums, chosen, digest, fetch, main
from bench.papers.sources import SOURCES, Source
from emdiam.errors import InputError

DATA = bytes(range(256)) * 40


class Files(ThreadingHTTPServer):
    """files : path -> bytes. cut : bytes after which each of the next answers ends. etag : validator. ranges : whether
    it takes ranges. asked : the Range of each request, None without one."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {"/g.txt": DATA}
        self.cut: list[int] = []
        self.etag, self.ranges = '"one"', True
        self.asked: list[str | None] = []

    def url(self, path: str = "/g.txt") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Files

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append(wanted)
        body = server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        begin = 0
        if wanted and server.ranges and self.headers.get("If-Range") == server.etag:
            begin = int(wanted.removeprefix("bytes=").rstrip("-"))
            if begin >= len(body):
                self.send_error(416)
                return
        self.send_response(206 if begin else 200)
        self.send_header("ETag", server.etag)
        self.send_header("Content-Length", str(len(body) - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        rest = body[begin:]
        self.wfile.write(rest[:server.cut.pop(0)] if server.cut else rest)
        self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def server() -> Iterator[Files]:
    with Files() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def source(server: Files, **more: str) -> Source:
    return Source("g", "002", "g.txt", server.url(), **more)


def no_sleep(_: float) -> None:
    """Attempts follow each other at once."""


def test_a_download_that_is_cut_goes_on_where_it_was(server: Files, tmp_path: Path) -> None:
    server.cut = [3000, 2000]
    told: list[str] = []
    assert "SHA-256 recorded" in fetch(source(server), tmp_path, told.append, no_sleep)
    assert (tmp_path / "g.txt").read_bytes() == DATA
    assert server.asked == [None, "bytes=3000-", "bytes=5000-"] and len(told) == 2
    assert checksums(tmp_path) == {"g.txt": digest(tmp_path / "g.txt")}
    assert sorted(path.name for path in tmp_path.iterdir()) == [CHECKSUMS, "g.txt"]
    assert "is here" in fetch(source(server), tmp_path, told.append, no_sleep)


def test_another_command_goes_on_too(server: Files, tmp_path: Path) -> None:
    server.cut = [100] * fetching._ATTEMPTS
    with pytest.raises(InputError, match="goes on"):
        fetch(source(server), tmp_path, sleep=no_sleep)
    server.cut, server.asked = [], []
    fetch(source(server), tmp_path, sleep=no_sleep)
    assert (tmp_path / "g.txt").read_bytes() == DATA and server.asked[0] is not None


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_that_has_changed_meanwhile_is_taken_anew(server: Files, tmp_path: Path, ranges: bool) -> None:
    server.cut, server.ranges = [3000], ranges

    def change(_: str) -> None:
        server.files["/g.txt"], server.etag = DATA[::-1], '"two"'

    fetch(source(server), tmp_path, change, no_sleep)
    assert (tmp_path / "g.txt").read_bytes() == DATA[::-1]


def test_what_came_first_is_trusted_and_everything_else_refused(server: Files, tmp_path: Path) -> None:
    fetch(source(server), tmp_path)
    (tmp_path / "g.txt").unlink()
    server.files["/g.txt"] = DATA + b"more"
    with pytest.raises(InputError, match="recorded in checksums.json"):
        fetch(source(server), tmp_path)
    assert not (tmp_path / "g.txt").exists()
    server.files["/g.txt"] = DATA
    assert "as recorded" in fetch(source(server), tmp_path)


def test_a_published_digest_counts(server: Files, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the one published"):
        fetch(source(server, sha256="0" * 64), tmp_path)
    right = digest_of(DATA, tmp_path)
    assert "as published" in fetch(source(server, sha256=right), tmp_path)


def digest_of(data: bytes, folder: Path) -> str:
    file = folder / "data"
    file.write_bytes(data)
    return digest(file)


def test_a_member_of_an_archive_is_kept(server: Files, tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        member = tarfile.TarInfo("g/g.mtx")
        member.size = len(DATA)
        archive.addfile(member, io.BytesIO(DATA))
    server.files["/g.tar.gz"] = made.getvalue()
    one = Source("g", "004", "g.mtx", server.url("/g.tar.gz"), "g/g.mtx")
    fetch(one, tmp_path)
    assert (tmp_path / "g.mtx").read_bytes() == DATA and set(checksums(tmp_path)) == {"g.mtx", "g.tar.gz"}
    (tmp_path / "g.mtx").unlink()
    with pytest.raises(InputError, match=r"has no g/other\.mtx"):
        fetch(Source("g", "004", "g.mtx", server.url("/g.tar.gz"), "g/other.mtx"), tmp_path)


def test_the_command(server: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                     capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fetching, "SOURCES", (source(server), Source("gone", "002", "h.txt", server.url("/h.txt"))))
    assert main(["g", "--to", str(tmp_path)]) == 0 and main(["--check", "--to", str(tmp_path)]) == 0
    (tmp_path / "g.txt").write_bytes(DATA[:-1])
    assert main(["--check", "--to", str(tmp_path)]) == 2
    assert main(["gone", "--to", str(tmp_path)]) == 2 and main(["other", "--to", str(tmp_path)]) == 2
    assert main(["--to", str(tmp_path)]) == 2 and main(["--list", "--to", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "NOT as recorded" in said.out and "404" in said.err and said.err.count("Error: ") == 3


def test_sources_have_names_of_their_own_in_a_paper() -> None:
    names = [(one.paper, one.name) for one in SOURCES]
    assert len(set(names)) == len(names) and all(one.url.startswith("https://") for one in SOURCES)
    assert len(chosen([], "002")) == 17 and len(chosen([], "001")) == 18
