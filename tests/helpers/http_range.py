"""An HTTP server on loopback that answers Range requests, as object stores do, and counts them."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class RangeServer(ThreadingHTTPServer):
    """Serves the files of `root`. requests : (path, Range header or None) of each GET so far.
    ranges : False to ignore Range headers, as plain file servers do."""

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        self.root, self.ranges = root, True
        self.requests: list[tuple[str, str | None]] = []
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """Address of `root`."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def get_request(self) -> tuple[socket.socket, object]:
        """Keeps each connection, to end it with the server."""
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket) -> None:
        """A connection has ended."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """End the server and what still hangs on it."""
        super().server_close()
        for connection in list(self._connections):
            with suppress(OSError):  # the other side was quicker
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: RangeServer

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        file = self.server.root / self.path.partition("?")[0].lstrip("/")
        if not file.is_file():
            self._answer(404, b"")
            return
        data = file.read_bytes()
        if wanted is None or not self.server.ranges:
            self._answer(200, data)
            return
        first, last = _RANGE.fullmatch(wanted).groups()
        start = int(first) if first else max(0, len(data) - int(last))
        stop = min(len(data), int(last) + 1) if first and last else len(data)
        if start >= len(data):
            self._answer(416, b"", f"bytes */{len(data)}")
        else:
            self._answer(206, data[start:stop], f"bytes {start}-{stop - 1}/{len(data)}")

    def _answer(self, status: int, body: bytes, content_range: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Accept-Ranges", "bytes")
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(root: Path) -> Iterator[RangeServer]:
    """A server of the files in `root` for the time of the context."""
    server = RangeServer(root)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
