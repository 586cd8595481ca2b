"""An HTTP server of files on loopback that asks for a password or a signature, answers late, and fails as told.

As a program (python -m tests.helpers.http_faulty FOLDER) it says its address and serves until standard input ends.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.helpers.waiting import wait_until

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


@dataclass
class Conduct:
    """What a server does. faults : by path, statuses to answer with, or "cut" (half of the body) or "hang", one a
    request, then as usual; "always" at the end repeats the one before it. authorization, query : what a request
    must have, or 401 and 403. tags : whether entity tags are sent. gate : answers wait until
    it is true. seen : the
    path of each request. sent : bytes of bodies."""

    faults: dict[str, list[int | str]] = field(default_factory=dict)
    authorization: str | None = None
    query: str | None = None
    tags: bool = True
    gate: Callable[[], bool] = lambda: True
    seen: list[str] = field(default_factory=list)
    sent: int = 0

    def fault(self, path: str) -> int | str | None:
        """The next fault of the path."""
        left = self.faults.get(path)
        if not left:
            return None
        return left[0] if left[1:] == ["always"] else left.pop(0)


class FaultyServer(ThreadingHTTPServer):
    """Serves the files of `root` by ranges. conduct : see Conduct."""

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        self.root, self.conduct, self.ended = root, Conduct(), threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def host(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """The other side has left; nothing to say."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FaultyServer

    def do_GET(self) -> None:
        conduct, (path, _, query) = self.server.conduct, self.path.partition("?")
        conduct.seen.append(path)
        wait_until(lambda: conduct.gate() or self.server.ended.is_set())
        fault = conduct.fault(path)
        file = self.server.root / path.lstrip("/")
        if fault == "hang":
            self.server.ended.wait()
            self.close_connection = True
        elif isinstance(fault, int):
            self._answer(fault, b"<Error><Code>Told</Code><StringToSign>hidden</StringToSign></Error>")
        elif conduct.authorization is not None and self.headers.get("Authorization") != conduct.authorization:
            self._answer(401, b"")
        elif conduct.query is not None and query != conduct.query:
            self._answer(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        elif not file.is_file():
            self._answer(404, b"")
        else:
            self._file(file, cut=fault == "cut")

    def _file(self, file: Path, cut: bool) -> None:
        data, status = file.read_bytes(), file.stat()
        headers = {"ETag": f'"{status.st_mtime_ns:x}-{status.st_ino:x}"'} if self.server.conduct.tags else {}
        wanted = self.headers.get("Range")
        if wanted is None:
            self._answer(200, data, headers, cut)
            return
        first, last = _RANGE.fullmatch(wanted).groups()
        start = int(first) if first else max(0, len(data) - int(last))
        stop = min(len(data), int(last) + 1) if first and last else len(data)
        if start >= len(data):
            self._answer(416, b"")
        else:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(data)}"
            self._answer(206, data[start:stop], headers, cut)

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.server.conduct.sent += len(body)
        self.close_connection = cut

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def faulty_serving(root: Path) -> Iterator[FaultyServer]:
    """A server of the files in `root` for the time of the context."""
    server = FaultyServer(root)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    with faulty_serving(Path(sys.argv[1])) as told:
        sys.stdout.write(f"http://{told.host}\n")
        sys.stdout.flush()
        sys.stdin.read()
