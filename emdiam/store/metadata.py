"""The metadata of a store, which may come from anyone: JSON objects, and the record of a finished store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import StoreError
from .layout import FORMAT_VERSION, PARTIAL_SUFFIX, StoreRecord
from .shards import file_fault

CONVERT = "make one with: emdiam convert INPUT STORE"
_AGAIN = "convert again"
# Of one file of metadata; ours have a few KiB, and more with many source files.
_MOST_BYTES = 16 << 20


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in the file at `path`. Raises StoreError, FileNotFoundError."""
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise file_fault("the metadata cannot be read", error, path) from None
    return as_object(text, path)


def as_object(text: bytes, path: str | Path) -> dict[str, Any]:
    """The JSON object in `text`, which was read from `path`. Raises StoreError."""
    if len(text) > _MOST_BYTES:
        raise StoreError(f"the metadata is damaged (more than {_MOST_BYTES:,} bytes)", path=path, remedy=_AGAIN)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON, not UTF-8, too many digits, too deep
        raise StoreError(f"the metadata is damaged ({error})", path=path, remedy=_AGAIN) from None
    if not isinstance(data, dict):
        raise StoreError("the metadata is damaged (not an object)", path=path, remedy=_AGAIN)
    return data


def check_record(attributes: Any, place: str) -> StoreRecord:
    """The record in the group's attributes, if it is that of a finished store. Raises StoreError."""
    if place.rstrip("/").endswith(PARTIAL_SUFFIX):
        raise StoreError("an unfinished conversion", path=place, remedy="run the conversion again")
    data = attributes.get("emdiam") if isinstance(attributes, dict) else None
    if not isinstance(data, dict):
        raise StoreError("a zarr group, but not an emdiam store", path=place, remedy=CONVERT)
    version = data.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        raise StoreError(f"the store has format version {version}, this program reads up to {FORMAT_VERSION}",
                         path=place, remedy="upgrade emdiam")
    if type(version) is not int or version < 1:
        raise _damaged(f"format version {version!r:.80}", place)
    try:
        record = StoreRecord.from_dict(data)
    except (KeyError, TypeError) as error:
        raise _damaged(f"{error!s:.200}", place) from None
    if record.complete is not True:
        raise StoreError("an unfinished conversion", path=place, remedy="run the conversion again")
    if record.digest() != record.record_digest:
        raise StoreError("the store record does not match its digest", path=place, remedy=_AGAIN)
    fault = record.fault()
    if fault is not None:
        raise _damaged(fault, place)
    return record


def _damaged(what: str, place: str) -> StoreError:
    return StoreError(f"the store record is damaged ({what})", path=place, remedy=_AGAIN)
