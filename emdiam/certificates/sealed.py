"""Documents that reveal edits: one line of JSON (ASCII, no spaces) that ends with a line feed.

The bytes are canonical: a file that differs from the canonical text of its own content is refused, so that every edited
byte is noticed. The digest over everything before it protects against accidents, not against a forger, who can compute
it too: the content of a document is only believed after it was proved again (run.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ..decimals import MOST_PLACES
from ..durable import read_at_most, write_whole
from ..errors import InputError, StoreError, is_url, redacted

REMEDY = "make a new one, or get an intact copy"
# Size limits of a file, and of a fetched file, whose memory is in no budget.
_MOST_BYTES, _MOST_FETCHED = 1 << 30, 1 << 26
# Allowed exponents of units of lengths, by base.
_EXPONENTS = {10: range(-MOST_PLACES, 0), 2: range(-1074, 1024)}
_SEAL = '"00000000000000000000000000000000"}\n'

Id = int | str


def write_sealed(path: str | Path, data: bytes) -> None:
    """Write a certificate as durable.whole_file does. Raises InputError if it cannot be written."""
    try:
        write_whole(path, data)
    except OSError as error:
        raise InputError(f"the certificate cannot be written ({error.strerror})", path=path) from None


def read_sealed(path: str | Path, keys: Mapping[str, tuple[str, ...]], version: int) -> dict[str, Any]:
    """The content of the certificate at `path`, a path or an address, without its digest.

    keys : the keys of each known format, in order. Raises InputError for a file that cannot be read, is cut or edited,
    is not a certificate, or has a version above `version`. The content has not been proved.
    """
    data, path = _bytes_of(path), redacted(str(path))
    document = _parsed(data, path)
    if not isinstance(document, dict) or document.get("format") not in list(keys):
        raise InputError("this is not a certificate of emdiam", path=path,
                         remedy="make one with: emdiam exact STORE --certificate FILE")
    written = document.get("version")
    if type(written) is int and written > version:
        raise InputError(f"the certificate has version {written}, this program reads up to {version}", path=path,
                         remedy="upgrade emdiam")
    if type(written) is not int or written != version or tuple(document) != keys[document["format"]]:
        raise InputError("the certificate does not have the parts of one", path=path, remedy=REMEDY)
    del document["digest"]
    with understood(path):
        whole = sealed(document)
        if data != whole:
            raise InputError("the certificate was edited or damaged", path=path,
                             byte=_first_difference(data, whole), remedy=REMEDY)
    return document


def _bytes_of(path: str | Path) -> bytes:
    """The bytes at a path or an address, of bounded size. Raises InputError."""
    if is_url(str(path)):
        from ..store.remote import read_object

        try:
            return read_object(str(path), _MOST_FETCHED)
        except StoreError as error:
            raise InputError(f"the certificate cannot be fetched: {error.what}", path=redacted(str(path)),
                             remedy="check the address, or fetch the file and name that") from None
    try:
        data = read_at_most(path, _MOST_BYTES)
    except OSError as error:
        remedy = "the certificate comes first: emdiam verify CERTIFICATE GRAPH" if Path(path).is_dir() else None
        raise InputError(f"the certificate cannot be read ({error.strerror})", path=path, remedy=remedy) from None
    if data is None:
        raise InputError(f"this has more than the {_MOST_BYTES:,} bytes of the largest certificate", path=path,
                         remedy=REMEDY)
    return data


@contextmanager
def understood(path: str | Path) -> Iterator[None]:
    """Turn KeyError, TypeError and ValueError, which invalid content raises, into InputError."""
    try:
        yield
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the certificate does not say what one says ({error})", path=path, remedy=REMEDY) from None


def sealed(body: dict[str, Any]) -> bytes:
    """The canonical bytes of a document, with its digest as the last entry."""
    digest = hashlib.blake2b(_canonical(body), digest_size=16).hexdigest()
    return _canonical({**body, "digest": digest}) + b"\n"


def _canonical(document: Any) -> bytes:
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=asdict)
    return text.encode("ascii")


def _first_difference(data: bytes, sealed: bytes) -> int | None:
    """The first position at which the bytes are not canonical; None if they differ only in the digest at the end, as
    then any byte may have been edited."""
    end = len(sealed) - len(_SEAL)
    at = next((i for i, (a, b) in enumerate(zip(data[:end], sealed, strict=False)) if a != b), end)
    return at if at < end else None


def _parsed(data: bytes, path: str | Path) -> Any:
    """The JSON value in `data`, without duplicate keys. Raises InputError with the position."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            raise ValueError("a name occurs twice in one object")
        return result

    byte: int | None = None
    try:
        return json.loads(data.decode("ascii"), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        why, byte = error.msg, error.pos
    except UnicodeDecodeError as error:
        why, byte = "a byte that is not ASCII", error.start
    except (ValueError, RecursionError) as error:
        why = str(error)
    raise InputError(f"this is not a certificate, or a cut or damaged one ({why})", path=path, byte=byte,
                     remedy=REMEDY)


# -- content, checked: each raises TypeError or ValueError for anything else ----------------------
def check_interval(part: dict[str, Any]) -> None:
    """Raise ValueError if the two bounds of an object are not an interval."""
    lower, upper = count(part["lower"]), count(part["upper"])
    if lower > upper:
        raise ValueError(f"the lower bound {lower} exceeds the upper bound {upper}")


def only(value: Any, kind: type) -> dict[str, Any]:
    """An object with exactly the fields of the dataclass `kind`, in their order."""
    names = [field.name for field in fields(kind)]
    if not isinstance(value, dict) or list(value) != names:
        raise TypeError(f"an object is not one of {', '.join(names)}")
    return value


def items(value: Any) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise TypeError("something is not a list")
    return value


def ids(value: Any) -> list[Id]:
    """A list of ids."""
    return [vertex_id(item) for item in items(value)]


def walks(value: Any) -> list[list[Id]]:
    """Lists of the ids of at least two vertices; at least one list."""
    found = [ids(item) for item in items(value)]
    if min(map(len, found), default=0) < 2:
        raise ValueError("a walk has no edge")
    return found


def pair(value: Any) -> tuple[Id, Id]:
    """Ids of two vertices."""
    first, second = ids(value)
    return first, second


def count(value: Any) -> int:
    """A number from 0 to 2^63 - 1."""
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise TypeError("something is not a count")
    return value


def total(value: Any) -> int:
    """A nonnegative integer of at most 192 bits."""
    if type(value) is not int or not 0 <= value < 1 << 192:
        raise TypeError("something is not a sum")
    return value


def optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same check, which None passes too."""
    return lambda value: None if value is None else check(value)


def flag(value: Any) -> bool:
    """A bool."""
    if type(value) is not bool:
        raise TypeError("connected is neither true nor false")
    return value


def histogram(value: Any) -> dict[str, int]:
    """Counts of vertices by eccentricity, which is a text."""
    if not isinstance(value, dict) or list(value) != [str(int(text(name))) for name in value]:
        raise TypeError("a histogram does not count eccentricities")
    return {name: count(vertices) for name, vertices in value.items()}


def unit(value: Any) -> tuple[int, int]:
    """A power of 10 or of 2 as (base, exponent)."""
    base, exponent = items(value)
    if type(exponent) is not int or base not in _EXPONENTS or exponent not in _EXPONENTS[base]:
        raise TypeError(f"{base!r:.40} to the power of {exponent!r:.40} is no unit")
    return base, exponent


def length(value: Any) -> int | float:
    """A sum of nonnegative weights."""
    if type(value) not in (int, float) or not 0 <= value < float("inf"):
        raise TypeError(f"{value!r:.40} is no length")
    found: int | float = value
    return found


def text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError("something is not a text")
    return value


def of_one_kind(names: Iterable[Id]) -> None:
    """Raise TypeError if some ids are numbers and some are strings."""
    if len(set(map(type, names))) > 1:
        raise TypeError("some ids are numbers and some are strings")


def vertex_id(value: Any) -> Id:
    """An id of a user."""
    if isinstance(value, str):
        value.encode()  # a lone surrogate raises ValueError
        return value
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise TypeError("something is not a vertex id")
    return value
