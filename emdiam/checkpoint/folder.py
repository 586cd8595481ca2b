"""The folder of a checkpoint: whose it is, one run at a time, and gone when it is not needed any more.

manifest.json says which run it belongs to, with a digest of itself; it is written whole or not at all, and lasts
before anything else does. journal has the records; half-N what a traversal under way has reached.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ..checkpoints import check_own, lock_checkpoint
from ..durable import sync_path
from ..errors import InputError
from .frames import NOBODY, OWNER_BYTES

MANIFEST, JOURNAL, HALF = "manifest.json", "journal", "half-"
FORMAT = 2


def identity_digest(identity: dict[str, Any]) -> str:
    """Twelve hexadecimal digits that tell runs apart."""
    digest: str = _blake(identity, 6).hexdigest()
    return digest


def owner_of(identity: dict[str, Any]) -> bytes:
    """What the files of the run `identity` begin with, OWNER_BYTES."""
    return _blake(identity, OWNER_BYTES).digest()


def _blake(data: Any, size: int) -> Any:
    return hashlib.blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=size)


class Folder:
    """The folder at `path`, made if absent, and locked until `close`. Raises InputError, OSError.

    owner : what its journal and half-done traversals begin with; known from its manifest."""

    owner = NOBODY

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self._handle = lock_checkpoint(path)

    def manifest(self) -> dict[str, Any] | None:
        """What is there; None if nothing is. Raises InputError for files that are not ours."""
        file = self.path / MANIFEST
        if not file.exists():
            check_own(self.path, {MANIFEST + ".partial", JOURNAL}.__contains__)
            return None
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            if found["format"] != FORMAT:
                raise ValueError(f"format {found['format']!r:.40}")
            said = found.pop("digest")
            if _blake(found, 16).hexdigest() != said or not found.keys() >= {"identity", "facts"}:
                raise ValueError("it does not match its digest")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
            raise InputError(f"this is not a checkpoint that this version can read ({error})", path=file,
                             remedy="delete the folder and begin again") from None
        self.owner = owner_of(found["identity"])
        return dict(found)

    def begin(self, identity: dict[str, Any]) -> None:
        """Make it the checkpoint of the run `identity`, without records or facts."""
        (self.path / JOURNAL).unlink(missing_ok=True)
        self.owner = owner_of(identity)
        self.write_manifest(identity, {})

    def write_manifest(self, identity: dict[str, Any], facts: dict[str, Any]) -> None:
        """Say whose it is. facts : what its methods see of the memory plan."""
        partial = self.path / (MANIFEST + ".partial")
        with open(partial, "w", encoding="utf-8") as file:
            content = {"format": FORMAT, "identity": identity, "facts": facts}
            json.dump({**content, "digest": _blake(content, 16).hexdigest()}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, self.path / MANIFEST)
        sync_path(self.path)

    def halves(self) -> list[tuple[int, Path]]:
        """(number, file) of half-done traversals, newest first."""
        found = [(int(name[len(HALF):]), self.path / name) for name in os.listdir(self.path)
                 if name.startswith(HALF) and name[len(HALF):].isdecimal()]
        return sorted(found, reverse=True)

    def remove(self) -> None:
        """Remove what is ours, the manifest last; and the folder, if nothing else is in it."""
        for name in os.listdir(self.path):
            if name == JOURNAL or name.startswith(HALF) or name == MANIFEST + ".partial":
                (self.path / name).unlink()
        (self.path / MANIFEST).unlink(missing_ok=True)
        if not os.listdir(self.path):
            self.path.rmdir()

    def close(self) -> None:
        """Let go of it."""
        os.close(self._handle)


def remove_checkpoint(path: Path) -> None:
    """Remove the checkpoint of a run that has ended. Raises InputError if one is at work there."""
    folder = Folder(path)
    try:
        folder.remove()
    finally:
        folder.close()


def check_same(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raises InputError, with what differs, unless the checkpoint is of the run `wanted`."""
    names = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
    differing = [f"{name.replace('_', ' ')} {found.get(name)!r} instead of {wanted.get(name)!r}" for name in names]
    if differing:
        raise InputError("this checkpoint is of another run: " + ", ".join(differing), path=path,
                         remedy="give --checkpoint another folder, or delete this one")
