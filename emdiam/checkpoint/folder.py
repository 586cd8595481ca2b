"""The folder of a checkpoint, of whatever run: whose it is, one process at a time, what lasts in it, and when.

    manifest.json    which run it belongs to: version, inputs, options that must agree; with a digest of itself
    journal          of a method: what its verbs gave, a record each (journal/journal.py)
    state-N          what is under way, a record each: a traversal half done, or the phases of a conversion; N rises
    NNNNNN.scratch   scratch files of a conversion, to which its states refer (sorting/scratch.py)
    reordered/       the store in the order in which a method is solved, if that is another one (runs/reordering.py)

The manifest and each state are written under another name, last, and are renamed; the manifest first. The newest two
states stay, so that a damaged one costs the time since the one before and nothing else. Journal and states begin with
a digest of the run that they belong to.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..durable import lock_folder, sync_path, user_of, write_whole
from ..errors import BudgetError, InputError
from ..links import followed
from .options import CheckpointOptions
from .records import NOBODY, OWNER_BYTES, ForeignFileError, FrameFile, Record, RecordWriter, records, warm_up

MANIFEST, JOURNAL, SCRATCH = "manifest.json", "journal", re.compile(r"(\d{6,})\.scratch")
# Raised with every change of what a checkpoint holds.
FORMAT = 4
REORDERED, _REMOVING = "reordered", "reordered.removing"
_STATES = 2
_STATE = re.compile(r"state-(\d+)")
_LASTING = re.compile(rf"{JOURNAL}|{_STATE.pattern}")
_PASSING = re.compile(rf"{SCRATCH.pattern}|{MANIFEST}\.[0-9a-f]{{8}}\.partial|{_STATE.pattern}\.partial")
_EARLIER = re.compile(r"state\.\d+|half-\d+")
_SHOWN = 200
_BEGIN_AGAIN = "delete the folder to begin again"


class DamagedError(Exception):
    """A state that cannot be gone on from; the text says why."""


def make_folder(path: Path) -> None:
    """Make the folder unless it is there. Raises InputError if that cannot be, and for a link of another user."""
    try:
        followed(path)
        path.mkdir(parents=True, exist_ok=True)
        os.listdir(path)
    except OSError as error:
        raise InputError(f"the checkpoint cannot be kept here ({error.strerror})", path=path,
                         remedy="give --checkpoint another folder") from None


def check_owner(path: Path, what: str = "a checkpoint", option: str = "--checkpoint") -> None:
    """Raises InputError for a folder of another user, with a file of one, or in which any user may write, and where no
    file can be made. what : lies there and is believed. option : names another folder."""
    try:
        own = user_of(path)
        owners = {path: path.stat().st_uid, **{place: place.lstat().st_uid for place in path.iterdir()}}
    except OSError as error:
        raise InputError(f"{what} cannot be kept here ({error.strerror})", path=path,
                         remedy=f"give {option} another folder") from None
    for place, owner in owners.items():
        if owner != own:
            raise InputError(f"this belongs to another user, and what {what} says is believed", path=place,
                             remedy=f"give {option} a folder of your own")
    if path.stat().st_mode & stat.S_IWOTH:
        raise InputError(f"any user may write here, and what {what} says is believed", path=path,
                         remedy=f"take that right away (chmod o-w), or give {option} another folder")


def check_names(path: Path, belongs: Callable[[str], object]) -> None:
    """Raises InputError if something lies in the folder that does not belong to a checkpoint, by its name."""
    foreign = sorted(name for name in os.listdir(path) if not belongs(name))
    if foreign:
        raise InputError("this folder is not a checkpoint", path=path, text=foreign[0],
                         remedy="give --checkpoint an empty or a new one")


def identity_digest(identity: Mapping[str, Any]) -> str:
    """Twelve hexadecimal digits that tell runs apart."""
    digest: str = _blake(_whole(identity), 6).hexdigest()
    return digest


def _whole(identity: Mapping[str, Any]) -> dict[str, Any]:
    """With the version of the program, as JSON gives it back."""
    whole: dict[str, Any] = json.loads(json.dumps({"version": __version__, **identity}))
    return whole


def _blake(data: Any, size: int) -> Any:
    return hashlib.blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=size)


class Folder:
    """The folder at `path`, made if absent, and locked until `close`.

    Parameters
    ----------
    identity : names of what must be the same to go on, as a sentence calls them, and their values (for JSON); the
        version of the program is added. None: whatever run it belongs to.
    options : resume : whether what is there is to be gone on from. every : seconds between states.

    Attributes
    ----------
    facts : what the manifest says beside; None where there is none yet.
    owner : bytes with which journal and states begin.
    damage : clauses about what was damaged.

    Raises InputError if it cannot be made, is in use, is another user's, holds other files, or the checkpoint of
    another run or of another version, one that is damaged, or one that is not to be gone on from.
    """

    def __init__(
        self, path: Path, identity: Mapping[str, Any] | None = None, options: CheckpointOptions | None = None
    ) -> None:
        warm_up()
        self.path, self.options = Path(path), options or CheckpointOptions(resume=True)
        self.facts: dict[str, Any] | None = None
        self.damage: list[str] = []
        self._identity = None if identity is None else _whole(identity)
        self._saved_at = time.perf_counter()
        make_folder(self.path)
        self._handle: int | None = lock_folder(self.path, "another run keeps its checkpoint here now",
                                               "wait for it or give --checkpoint another folder")
        try:
            check_owner(self.path)
            self._read_manifest()
        except BaseException:
            self.close()
            raise

    # -- whose it is ----------------------------------------------------------------------------
    def _read_manifest(self) -> None:
        """Take over what is there, if it is of this run."""
        file = self.path / MANIFEST
        if file.exists():
            manifest = _manifest(file)
            if self._identity is not None:
                if not self.options.resume:
                    raise InputError("there is the checkpoint of a run here already", path=self.path,
                                     remedy=f"go on with --resume, or {_BEGIN_AGAIN}")
                self._check_same(manifest["identity"])
            self._identity, self.facts = manifest["identity"], manifest["facts"]
        elif self._identity is not None:
            self._check_empty()
        self.owner = NOBODY if self._identity is None else _blake(self._identity, OWNER_BYTES).digest()

    def _check_same(self, there: dict[str, Any]) -> None:
        """Raises InputError, with what differs, unless the checkpoint is of this run."""
        asked = self._identity or {}
        differing = []
        for name in dict.fromkeys((*asked, *there)):
            if asked.get(name) != there.get(name):
                values = f"{there.get(name)!r} instead of {asked.get(name)!r}"
                title = name.replace("_", " ")
                differing.append(f"{title} {values}" if len(values) <= _SHOWN else f"another {title}")
        if differing:
            raise InputError("this checkpoint is of another run: " + ", ".join(differing), path=self.path,
                             remedy="give the same inputs and options, or --checkpoint another folder, or delete this"
                                    " one")

    def _check_empty(self) -> None:
        """Raises InputError if there is more than what a run leaves before its manifest."""
        for name in sorted(os.listdir(self.path)):
            if _EARLIER.fullmatch(name):
                raise _unreadable(self.path, f"{name} is of an earlier one")
            if _LASTING.fullmatch(name):
                raise _unreadable(self.path, f"it has {name} and no {MANIFEST}")
        check_names(self.path, _PASSING.fullmatch)

    def begin(self, facts: dict[str, Any]) -> None:
        """Make it the checkpoint of this run, if it is not yet, and note the facts. Raises BudgetError."""
        if self.facts != facts:
            self.facts = facts
            content = {"format": FORMAT, "identity": self._identity, "facts": facts}
            with self.writing():
                write_whole(self.path / MANIFEST, json.dumps({**content, "digest": _blake(content, 16).hexdigest()},
                                                             indent=1))

    # -- states ---------------------------------------------------------------------------------
    @property
    def due(self) -> bool:
        """Whether the time between states has gone by."""
        return time.perf_counter() - self._saved_at >= self.options.every

    def saved(self) -> None:
        """All that was done until now lasts: the time until the next state begins anew."""
        self._saved_at = time.perf_counter()

    def states(self) -> list[int]:
        """Numbers of the states there, the newest first."""
        matches = (_STATE.fullmatch(name) for name in os.listdir(self.path))
        return sorted((int(match[1]) for match in matches if match), reverse=True)

    def save(self, head: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> int:
        """Make a state of values (for JSON) and arrays (1-D) the newest; its number. Raises BudgetError."""
        self.begin(self.facts or {})
        number = 1 + max(self.states(), default=0)
        partial = self.path / f"state-{number}.partial"
        with self.writing():
            try:
                partial.unlink(missing_ok=True)
                with FrameFile(partial, self.owner) as file:
                    writer = RecordWriter(file)
                    for name, values in arrays.items():
                        writer.add(name, values)
                    writer.commit(head)
                os.replace(partial, self.path / f"state-{number}")
                sync_path(self.path)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
        self.drop(self.states()[_STATES:])
        self.saved()
        return number

    @contextmanager
    def state(self, number: int) -> Iterator[Record]:
        """The state of this number, to be read inside the context. Raises DamagedError, OSError."""
        try:
            file = FrameFile(self.path / f"state-{number}", self.owner)
        except ForeignFileError:
            raise DamagedError(f"state-{number} is of another run") from None
        with file:
            record = next(records(file), None)
            if record is None:
                raise DamagedError(f"state-{number} is damaged")
            yield record

    def drop(self, numbers: list[int]) -> None:
        for number in numbers:
            (self.path / f"state-{number}").unlink(missing_ok=True)

    # -- its end --------------------------------------------------------------------------------
    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around what writes to files in it. Raises BudgetError where the disk is full, or the like."""
        try:
            yield
        except OSError as error:
            raise BudgetError(f"the checkpoint cannot be written ({error.strerror})", path=self.path,
                              remedy="make room there, or see to the disk, and go on with --resume") from None

    def drop_all(self) -> None:
        """Remove journal and states."""
        self.drop(self.states())
        (self.path / JOURNAL).unlink(missing_ok=True)

    def _remove_reordered(self) -> None:
        """Renamed first, so that no part of it is taken for a store."""
        import shutil

        gone = self.path / _REMOVING
        shutil.rmtree(gone, ignore_errors=True)
        if (self.path / REORDERED).is_dir():
            (self.path / REORDERED).rename(gone)
            shutil.rmtree(gone)

    def remove(self) -> None:
        """Remove what is ours, the manifest last; and the folder, if nothing else is in it."""
        self._remove_reordered()
        for name in os.listdir(self.path):
            if _LASTING.fullmatch(name) or _PASSING.fullmatch(name):
                (self.path / name).unlink()
        if (self.path / MANIFEST).exists():
            sync_path(self.path)  # else a power failure may leave the others without it, which nobody goes on from
            (self.path / MANIFEST).unlink()
        if not os.listdir(self.path):
            self.path.rmdir()

    def close(self) -> None:
        """Let go of it. May be called again."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def remove_checkpoint(path: Path) -> None:
    """Remove the checkpoint of a run that has ended. Raises InputError if one is at work there."""
    with closing(Folder(path)) as folder:
        folder.remove()


def _manifest(file: Path) -> dict[str, Any]:
    """The content of a manifest. Raises InputError unless this version has written it, and nobody has changed it."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']!r:.40}")
        digest = content.pop("digest")
        if _blake(content, 16).hexdigest() != digest or not content.keys() >= {"identity", "facts"}:
            raise ValueError("it does not match its digest")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise _unreadable(file, str(error)) from None
    return dict(content)


def _unreadable(path: Path, why: str) -> InputError:
    return InputError(f"this is not a checkpoint that this version can read ({why})", path=path, remedy=_BEGIN_AGAIN)
