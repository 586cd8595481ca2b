"""Objects of a remote store: behind HTTP, in S3, or at another address of fsspec.

HTTP and S3 use obstore, whose requests take a third of the processor time of zarr's stores, and which reports the
version of each object; other addresses use zarr's store over fsspec. Every failure is a StoreError with the object and
one sentence. The texts of obstore contain the whole address, the server's answer and more, and an answer of S3 may
contain the signed text. So they are inspected but never shown; the shown texts are written here. obstore's exceptions
have only a type and that text, so that status and code of an answer can only be extracted from the text.

Timeouts, retries and credentials use the conventions of the ecosystem, and credentials are never written anywhere. For
HTTP: the user and password of the address, or those of the host in the netrc file. For S3: the AWS_ variables of the
environment, the profiles in ~/.aws, roles of containers and machines; see docs/remote.md.

RemoteArray reads a sharded array at an address with range requests, and checks and decodes the chunks. zarr's arrays
are not used, as zarr replaces missing chunks with the fill value. The indexes of all shards are read when the array is
first used, several at once, with the version of each shard: an answer from another version is an error, and so is a
store whose record has changed by then. After that a fetch is one range request.
"""

from __future__ import annotations

import base64
import netrc
import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from ..errors import InputError, StoreError, redacted
from .array_reader import ShardedArray
from .codec import CRC_BYTES, check_seals, end_bytes, parse_index, seal_of
from .metadata import MOST_BYTES, ArrayMeta

TIMEOUT = "EMDIAM_REMOTE_TIMEOUT"
# Seconds of silence after which a request is given up, the most seconds for a request, and for a connection.
SILENCE_SECONDS, REQUEST_SECONDS, CONNECT_SECONDS = 20.0, 300.0, 10.0
# Requests with a temporary failure (5xx, 429, silence, a lost connection) are repeated up to RETRIES times, with
# growing pauses, for at most RETRY_SECONDS.
RETRIES, RETRY_SECONDS = 4, 60.0
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
             "AWS_CONTAINER_CREDENTIALS_FULL_URI")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
NO_CREDENTIALS = ("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_SKIP_SIGNATURE=true for a"
                  " public bucket")
# (first, end) of the bytes wanted, or the number of last bytes, or None for all.
Wanted = tuple[int, int] | int | None
# Retries of an answer that breaks off. If it has an entity tag, obstore itself fetches the rest, up to 5 times.
_ATTEMPTS, _PAUSE_SECONDS = 3, 0.1
_SERVER = "check the server and the network, and run it again"
_COPY = "check the server's copy of the store"
# By the type of an obstore exception: the fault, and a remedy. {answer} : status and code of the answer, {tried} :
# number of attempts, each in brackets if known.
_BY_TYPE = {
    "NotFoundError": ("the object is missing{answer}", "check the address, and the server's copy of the store"),
    **dict.fromkeys(("PermissionDeniedError", "UnauthenticatedError"), (
        "the server refuses the request{answer}",
        "check the credentials and their rights (docs/remote.md says where emdiam looks for them)")),
    "NotSupportedError": ("the server does not answer range requests",
                          "serve the store with one that does, or copy it here"),
}
# The same by patterns in the text; the first match counts.
_BY_TEXT = (
    ("status code: 416", "the object ends before the bytes that were asked for", _COPY),
    ("status code: ", "the server answers with an error{answer}{tried}", _SERVER),
    ("Requested.*got", "the server sent other bytes than were asked for, or the object is too short", _COPY),
    ("response body", "the answer of the server breaks off before its end", _COPY),
    ("TimedOut|timed out", "the server does not answer in time{tried}", _SERVER),
    ("error sending request", "the server cannot be reached{tried}", _SERVER),
)


@dataclass(frozen=True)
class Version:
    """The version of an object: its size in bytes, its entity tag if the server names one, and the time of its last
    modification (seconds since 1970; 0: unknown)."""

    size: int
    tag: str | None
    modified: float

    def agrees(self, other: Version) -> bool:
        """Whether both may be the same version; if both have tags, only tags and sizes count."""
        if self.tag is not None and other.tag is not None:
            return (self.tag, self.size) == (other.tag, other.size)
        return (self.modified, self.size) == (other.modified, other.size)


class NoRangesError(StoreError):
    """The server does not support range requests."""


class Objects(ABC):
    """The objects below an address. place : the address without secrets. store : the library's store for them."""

    def __init__(self, place: str, store: Any) -> None:
        self.place, self._store = place, store

    @abstractmethod
    def get(self, key: str, wanted: Wanted = None, most: int = MOST_BYTES) -> tuple[memoryview, Version | None]:
        """The bytes of an object, as received, and its version if known. most : the largest size of a whole object.
        Thread-safe. Raises StoreError, also for a missing object."""

    def too_large(self, key: str, most: int) -> StoreError:
        """The error for an object larger than allowed."""
        return StoreError(f"the object has more than the {most:,} bytes that one of its kind may have",
                          path=self.name(key), remedy="check the address")

    def name(self, key: str) -> str:
        """The object's name for errors."""
        return f"{self.place}/{key}"


class ServedObjects(Objects):
    """Objects behind HTTP or S3. store : an obstore store."""

    def get(self, key: str, wanted: Wanted = None, most: int = MOST_BYTES) -> tuple[memoryview, Version | None]:
        """See Objects.get. Temporary failures are retried a few times."""
        from obstore import get
        from obstore.exceptions import BaseError

        options: Any = {} if wanted is None else {"range": {"suffix": wanted} if isinstance(wanted, int) else wanted}
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = get(self._store, key, options=options)
                meta = answer.meta
                if wanted is None and meta["size"] > most:
                    raise self.too_large(key, most)
                data = memoryview(answer.bytes())
                return data, Version(meta["size"], meta["e_tag"], meta["last_modified"].timestamp())
            except (BaseError, OSError) as error:
                if attempt == _ATTEMPTS or not broke_off(error):
                    # Not chained: the texts of obstore contain the whole address.
                    raise failure(error, self.name(key)) from None
            time.sleep(_PAUSE_SECONDS * 2**attempt)
        raise AssertionError("the last attempt returns or raises")


    def stream(self, key: str, piece_bytes: int) -> tuple[Version, Iterator[bytes]]:
        """The version of an object, and all its bytes from one request, in pieces. Raises StoreError, also if the
        answer breaks off."""
        from obstore import get
        from obstore.exceptions import BaseError

        def pieces(answer: Any) -> Iterator[bytes]:
            try:
                for piece in answer.stream(min_chunk_size=piece_bytes):
                    yield bytes(piece)
            except (BaseError, OSError) as error:
                raise failure(error, self.name(key)) from None

        try:
            answer = get(self._store, key)
        except (BaseError, OSError) as error:
            raise failure(error, self.name(key)) from None
        meta = answer.meta
        return Version(meta["size"], meta["e_tag"], meta["last_modified"].timestamp()), pieces(answer)


def broke_off(error: Exception) -> bool:
    """Whether the answer began and then ended too early; obstore does not retry that."""
    text = str(error)
    return "response body" in text and "status code" not in text


def failure(error: Exception, place: str) -> StoreError:
    """The StoreError for an obstore exception about the object at `place`."""
    text = str(error)
    codes = (re.search(r"status code: (\d{3} ?[A-Za-z' -]*)", text), re.search(r"<Code>(\w+)</Code>", text))
    answer = ", ".join(match[1].strip() for match in codes if match)
    retries = re.search(r"after (\d+) retries", text)
    kind = "NotFoundError" if isinstance(error, FileNotFoundError) else type(error).__name__
    first = redacted(text.partition("\n")[0])[:200].replace("{", "{{").replace("}", "}}")
    what, remedy = _BY_TYPE.get(kind) or next(
        ((what, remedy) for pattern, what, remedy in _BY_TEXT if re.search(pattern, text, re.DOTALL)),
        (f"the request fails: {first}", _SERVER))
    made = NoRangesError if kind == "NotSupportedError" else StoreError
    return made(what.format(answer=answer and f" ({answer})",
                                  tried=f" (tried {int(retries[1]) + 1} times)" if retries else ""),
                path=place, remedy=remedy)


class FsspecObjects(Objects):
    """Objects at any other address of fsspec, through zarr's store. store : zarr.storage.FsspecStore."""

    def get(self, key: str, wanted: Wanted = None, most: int = MOST_BYTES) -> tuple[memoryview, Version | None]:
        """See Objects.get; versions are unknown."""
        from zarr.abc.store import RangeByteRequest, SuffixByteRequest
        from zarr.buffer import default_buffer_prototype

        from .private import wait_for

        request = SuffixByteRequest(wanted) if isinstance(wanted, int) else RangeByteRequest(*(wanted or (0, most + 1)))
        try:
            data = wait_for(self._store.get(key, default_buffer_prototype(), request))
        except Exception as error:  # fsspec's file systems raise many types; users need not distinguish them
            raise StoreError(f"the object cannot be read ({type(error).__name__}: {redacted(str(error))})",
                             path=self.name(key), remedy="check the address and the server") from None
        if data is None:
            raise StoreError("the object is missing", path=self.name(key), remedy="check the address")
        if wanted is None and len(data) > most:
            raise self.too_large(key, most)
        return memoryview(data.to_bytes()), None


def connection() -> dict[str, Any]:
    """client_options and retry_config of an obstore store. Raises InputError for a bad EMDIAM_REMOTE_TIMEOUT."""
    text = os.environ.get(TIMEOUT, str(SILENCE_SECONDS))
    try:
        silence = float(text)
    except ValueError:
        silence = 0.0
    if not 0 < silence <= 86_400:
        raise InputError(f"{TIMEOUT} is no number of seconds", text=text, remedy="set it to, say, 60")
    return {
        "client_options": {
            "connect_timeout": timedelta(seconds=min(CONNECT_SECONDS, silence)),
            "read_timeout": timedelta(seconds=silence), "timeout": timedelta(seconds=max(REQUEST_SECONDS, silence)),
        },
        "retry_config": {
            "max_retries": RETRIES, "retry_timeout": timedelta(seconds=min(RETRY_SECONDS, 3 * silence)),
            "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
        },
    }


def http_store(url: str) -> Any:
    """An obstore store of the objects below `url` (http or https); a query is sent with every request."""
    from obstore.store import HTTPStore

    parts = urlsplit(url)
    options = connection()
    if parts.scheme == "http":
        options["client_options"]["allow_http"] = True
    if parts.username is None:
        pair = _from_netrc(parts.hostname)
    else:
        pair = unquote(parts.username), unquote(parts.password or "")
    if pair is not None:  # RFC 7617
        header = "Basic " + base64.b64encode(":".join(pair).encode()).decode()
        options["client_options"]["default_headers"] = {"authorization": header}
    return HTTPStore.from_url(parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(), **options)


def _from_netrc(host: str | None) -> tuple[str, str] | None:
    """User and password of the host in the file named by NETRC, or in ~/.netrc. Raises InputError."""
    path = Path(os.environ.get("NETRC") or "~/.netrc").expanduser()
    if host is None or not path.is_file():
        return None
    try:
        entry = netrc.netrc(str(path)).authenticators(host)
    except (netrc.NetrcParseError, OSError, UnicodeDecodeError) as error:
        what = error.msg if isinstance(error, netrc.NetrcParseError) else type(error).__name__
        raise InputError(f"the netrc file cannot be read ({what})", path=path, remedy="fix it or move it") from None
    return None if entry is None else (entry[0], entry[2] or "")


def s3_store(url: str) -> Any:
    """An obstore store of the objects below `url`, s3://bucket/prefix. Raises StoreError."""
    from obstore.store import S3Store

    parts = url.removeprefix("s3://").rstrip("/")
    bucket, _, prefix = parts.partition("/")
    if not bucket or "@" in bucket or "?" in parts or "#" in parts:
        raise StoreError("the address of a store in S3 is s3://BUCKET/PATH and nothing else", path=redacted(url),
                         remedy="endpoint, region and credentials come from the AWS_ variables or a profile")
    options = connection()
    settings: Any = {}
    provider = None
    if not any(map(os.environ.get, _KEYS)) and os.environ.get("AWS_SKIP_SIGNATURE", "").lower() != "true":
        settings, provider = _from_boto3()
    endpoint = next(filter(None, map(os.environ.get, _ENDPOINTS)), None)
    if endpoint is not None:
        settings["endpoint"] = endpoint
    options["client_options"]["allow_http"] = settings.get("endpoint", "").startswith("http://")
    return S3Store(bucket, prefix=prefix or None, config=settings, credential_provider=provider, **options)


def _from_boto3() -> tuple[Any, Any]:
    """(region and endpoint, provider of credentials) that boto3 finds in the profiles in ~/.aws and in the machine's
    role. boto3 takes a second to load, so it is used only if the environment has no keys. Raises StoreError."""
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        raise StoreError("the credentials of a profile need the package boto3",
                         remedy="pip install 'emdiam[remote]', or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                         ) from None
    try:
        session = boto3.Session()
        meta, credentials = session.client("s3").meta, session.get_credentials()
    except (BotoCoreError, ValueError) as error:
        raise StoreError(f"the profile of AWS cannot be used ({type(error).__name__}: {redacted(str(error))})",
                         remedy="check AWS_PROFILE and the files in ~/.aws") from None
    if credentials is None:
        raise StoreError("there are no credentials for S3", remedy=NO_CREDENTIALS)
    settings = {} if meta.region_name in (None, "aws-global") else {"region": meta.region_name}
    if ".amazonaws.com" not in meta.endpoint_url:
        settings["endpoint"] = meta.endpoint_url
    return settings, Boto3CredentialProvider(session)


def read_object(url: str, most: int) -> bytes:
    """The object at an address, of at most `most` bytes. Raises StoreError, InputError."""
    place, mark, query = url.partition("?")
    folder, _, name = place.rpartition("/")
    return bytes(open_objects(folder + mark + query).get(unquote(name), most=most)[0])


def open_objects(url: str) -> Objects:
    """The objects below `url`. Nothing is read yet. Raises StoreError, InputError."""
    place = redacted(url).rstrip("/")
    make = {"http": http_store, "https": http_store, "s3": s3_store}.get(url.partition("://")[0])
    try:
        if make is not None:
            return ServedObjects(place, make(url))
        from zarr.storage import FsspecStore

        return FsspecObjects(place, FsspecStore.from_url(url, read_only=True))
    except InputError:
        raise
    except ImportError as error:
        raise StoreError(f"reading it needs a package that is missing ({error.name or error})", path=place,
                         remedy="pip install 'emdiam[remote]'") from None
    except Exception as error:  # a bad address or setting: obstore and fsspec raise many types
        first = redacted(str(error).partition("\n")[0])[:200]
        raise StoreError(f"the address or its settings cannot be used ({type(error).__name__}: {first})", path=place,
                         remedy="check the address, and the variables that go with it") from None


_AT_ONCE, _ASKED = 16, 1 << 10
# Limit of encoded bytes that are requested in advance.
AHEAD_BYTES = 16 << 20
_SHORT = "check the server (it must answer range requests) and its copy of the store"
_REPLACED = "open the store again, and give a new store a new name rather than replace one that is read"


class RemoteArray(ShardedArray):
    """Reader of one array.

    Parameters
    ----------
    objects : of the store. name : of the array. meta, codec : see ShardedArray. seals : the shards' digest from the
    store record, or None.
    still_the_same : raises StoreError if the store's record has changed.
    """

    def __init__(
        self, objects: Objects, name: str, meta: ArrayMeta, codec: str, still_the_same: Callable[[], None],
        seals: str | None = None,
    ) -> None:
        super().__init__(meta, codec)
        self._objects, self._name, self._still_the_same, self._seals = objects, name, still_the_same, seals
        self._shards: list[tuple[np.ndarray, Version | None]] = []
        self._lock = threading.Lock()
        self._ahead = _Ahead(self._get)

    @property
    def ahead_bytes(self) -> int:
        return AHEAD_BYTES

    def _index_of(self, shard: int) -> np.ndarray:
        if not self._shards:
            with self._lock:
                if not self._shards:
                    self._shards = self._read_indexes()
        return self._shards[shard][0]

    def _read_indexes(self) -> list[tuple[np.ndarray, Version | None]]:
        """Index and version of every shard; the first error ends the reading. Raises StoreError if they do not match
        the store record."""
        ends: list[tuple[np.ndarray, bytes, Version | None]] = []
        with ThreadPoolExecutor(max(1, min(_AT_ONCE, self.n_shards)), thread_name_prefix="indexes") as pool:
            # In groups, since the metadata may name any number of shards.
            for begin in range(0, self.n_shards, _ASKED):
                pending = [pool.submit(self._read_index, shard)
                           for shard in range(begin, min(begin + _ASKED, self.n_shards))]
                try:
                    ends += [future.result() for future in pending]
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
        self._still_the_same()
        check_seals(b"".join(seal for _, seal, _ in ends), self._seals, self._objects.name(self._name))
        return [(index, version) for index, _, version in ends]

    def _read_index(self, shard: int) -> tuple[np.ndarray, bytes, Version | None]:
        size = end_bytes(self.shard_chunks)
        data, version = self._get(shard, size, size)
        index = parse_index(bytes(data[CRC_BYTES:]), self.shard_chunks, self.chunks_in(shard),
                            None if version is None else version.size, self.shard_name(shard))
        return index, seal_of(bytes(data)), version

    def _read(self, shard: int, offset: int, size: int) -> memoryview:
        known = self._shards[shard][1]
        waiting = self._ahead.take(shard, offset, size)
        data, version = self._get(shard, (offset, offset + size), size) if waiting is None else waiting.result()
        if known is not None and version is not None and not known.agrees(version):
            raise StoreError("the object was replaced while the store was read", path=self.shard_name(shard),
                             remedy=_REPLACED)
        return data

    def _get(self, shard: int, wanted: Wanted, size: int) -> tuple[memoryview, Version | None]:
        """The `size` bytes wanted. Raises StoreError if another number arrives."""
        data, version = self._objects.get(f"{self._name}/c/{shard}", wanted)
        if len(data) != size:
            raise StoreError(f"{len(data)} bytes came where {size} were asked for", path=self.shard_name(shard),
                             remedy=_SHORT)
        return data, version

    def shard_name(self, shard: int) -> str:
        return self._objects.name(f"{self._name}/c/{shard}")

    def prefetch(self, first: int, count: int) -> None:
        """Request these chunks now, if the index is known and there is room for them; the request proceeds while the
        fetching threads wait for others or compute."""
        if self._shards:
            shard, at = divmod(first, self.shard_chunks)
            places = self._shards[shard][0][at : at + count].tolist()
            self._ahead.ask(shard, places[0][0], places[-1][0] + places[-1][1] - places[0][0])

    def close(self) -> None:
        """End pending requests; connections end when they are no longer used."""
        self._ahead.close()


Answer = tuple[memoryview, Version | None]


class _Ahead:
    """Requests made in advance, in the order of asking.

    get : of RemoteArray. A request for a position before the last one starts anew: the remaining requests were in vain,
    as when a search stops early, and are dropped.
    """

    def __init__(self, get: Callable[[int, Wanted, int], Answer]) -> None:
        self._get, self._lock = get, threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: dict[tuple[int, int, int], Future[Answer]] = {}
        self._bytes, self._last = 0, (0, 0)

    def ask(self, shard: int, offset: int, size: int) -> None:
        """Start a request for `size` bytes of the shard from `offset`, if there is room."""
        with self._lock:
            if (shard, offset) <= self._last:
                self._drop()
            self._last = (shard, offset)
            if self._bytes + size > AHEAD_BYTES or (shard, offset, size) in self._waiting:
                return
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="ahead")
            self._waiting[shard, offset, size] = self._pool.submit(self._get, shard, (offset, offset + size), size)
            self._bytes += size

    def take(self, shard: int, offset: int, size: int) -> Future[Answer] | None:
        """Hand over the request for exactly these bytes, or None."""
        with self._lock:
            request = self._waiting.pop((shard, offset, size), None)
            if request is not None:
                self._bytes -= size
        return request

    def _drop(self) -> None:
        for future in self._waiting.values():
            future.cancel()
        self._waiting, self._bytes = {}, 0

    def close(self) -> None:
        """Drop waiting requests and end the threads."""
        with self._lock:
            self._drop()
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
