"""The folder of a checkpoint, for any kind of run: its owner, its lock, its lasting files, and when to save.

    manifest.json    the run that it belongs to: version, inputs, options that must agree; with its own digest
    journal          of a method: a record for the result of each verb (journal/journal.py)
    state-N          work in progress, a record each: an unfinished traversal, or a conversion's phases; N rises
    NNNNNN.scratch   scratch files of a conversion, to which its states refer (sorting/scratch.py)
    reordered/       the store in the order in which a method runs, if that is another one (runs/reordering.py)

The manifest and each state are written under a temporary name and then renamed, the manifest first. The newest two
states are kept, so that a damaged one costs only the time since the one before. Journal and states begin with a digest
of the run that they belong to.
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
# Incremented with every change of the format.
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
    """A state that a run cannot resume from; the text gives the reason."""


def make_folder(path: Path) -> None:
    """Make the folder unless it exists. Raises InputError if that fails, and for a link of another user."""
    try:
        followed(path)
        path.mkdir(parents=True, exist_ok=True)
        os.listdir(path)
    except OSError as error:
        raise InputError(f"the checkpoint cannot be kept here ({error.strerror})", path=path,
                         remedy="give --checkpoint another folder") from None


def check_owner(path: Path, what: str = "a checkpoint", option: str = "--checkpoint") -> None:
    """Raise InputError for a folder of another user, with a file of another user, writable for any user, or in which no
    file can be made. what : the trusted content of the folder. option : chooses another folder."""
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
    """Raise InputError if the folder contains something whose name does not belong to a checkpoint."""
    foreign = sorted(name for name in os.listdir(path) if not belongs(name))
    if foreign:
        raise InputError("this folder is not a checkpoint", path=path, text=foreign[0],
                         remedy="give --checkpoint an empty or a new one")


def identity_digest(identity: Mapping[str, Any]) -> str:
    """Twelve hexadecimal digits that distinguish runs."""
    digest: str = _blake(_whole(identity), 6).hexdigest()
    return digest


def _whole(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The identity with the program's version, as it comes back from JSON."""
    whole: dict[str, Any] = json.loads(json.dumps({"version": __version__, **identity}))
    return whole


def _blake(data: Any, size: int) -> Any:
    return hashlib.blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=size)


class Folder:
    """The folder at `path`, made if absent, and locked until `close`.

    Parameters
    ----------
    identity : what must be the same to resume: names, as in a sentence, and values (for JSON); the program's version is
    added. None: of any run.
    options : resume : whether to resume from an existing checkpoint. every : seconds between states.

    Attributes
    ----------
    facts : the manifest's other content; None without a manifest.
    owner : bytes at the beginning of journal and states.
    damage : clauses about damage found.

    Raises InputError if the folder cannot be made, is in use, belongs to another user, or contains other files; and if
    its checkpoint is of another run or version, is damaged, or may not be resumed.
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

    # -- ownership ------------------------------------------------------------------------------
    def _read_manifest(self) -> None:
        """Read an existing manifest, which must be of this run."""
        file = self.path / MANIFEST
        if file.exists():
            manifest = _manifest(file)
            if self._identity is not None:
                if not self.options.resume:
                    raise InputError("this folder already has the checkpoint of a run", path=self.path,
                                     remedy=f"continue it with --resume, or {_BEGIN_AGAIN}")
                self._check_same(manifest["identity"])
            self._identity, self.facts = manifest["identity"], manifest["facts"]
        elif self._identity is not None:
            self._check_empty()
        self.owner = NOBODY if self._identity is None else _blake(self._identity, OWNER_BYTES).digest()

    def _check_same(self, there: dict[str, Any]) -> None:
        """Raise InputError, with the differences, unless the checkpoint is of this run."""
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
        """Raise InputError if the folder contains more than files that a run writes before its manifest."""
        for name in sorted(os.listdir(self.path)):
            if _EARLIER.fullmatch(name):
                raise _unreadable(self.path, f"{name} is of an earlier one")
            if _LASTING.fullmatch(name):
                raise _unreadable(self.path, f"it has {name} and no {MANIFEST}")
        check_names(self.path, _PASSING.fullmatch)

    def begin(self, facts: dict[str, Any]) -> None:
        """Make this the run's checkpoint, unless it is already, and store the facts. Raises BudgetError."""
        if self.facts != facts:
            self.facts = facts
            content = {"format": FORMAT, "identity": self._identity, "facts": facts}
            with self.writing():
                write_whole(self.path / MANIFEST, json.dumps({**content, "digest": _blake(content, 16).hexdigest()},
                                                             indent=1))

    # -- states ---------------------------------------------------------------------------------
    @property
    def due(self) -> bool:
        """Whether the time between states has passed."""
        return self.unsaved_seconds >= self.options.every

    @property
    def unsaved_seconds(self) -> float:
        """Seconds since the last state, or since the beginning."""
        return time.perf_counter() - self._saved_at

    def saved(self) -> None:
        """Note that all work so far is saved: the time until the next state starts again."""
        self._saved_at = time.perf_counter()

    def states(self) -> list[int]:
        """Numbers of the existing states, newest first."""
        matches = (_STATE.fullmatch(name) for name in os.listdir(self.path))
        return sorted((int(match[1]) for match in matches if match), reverse=True)

    def save(self, head: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> int:
        """Save values (for JSON) and arrays (1-D) as the newest state; returns its number. Raises BudgetError."""
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
        """The state with this number, to be read inside the context. Raises DamagedError, OSError."""
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
        """Context for writing files in the folder. Raises BudgetError for an OSError, such as a full disk."""
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
        """Remove the reordered store; it is renamed first, so that no part of it is taken for a store."""
        import shutil

        gone = self.path / _REMOVING
        shutil.rmtree(gone, ignore_errors=True)
        if (self.path / REORDERED).is_dir():
            (self.path / REORDERED).rename(gone)
            shutil.rmtree(gone)

    def remove(self) -> None:
        """Remove our files, the manifest last, and the folder if it is then empty."""
        self._remove_reordered()
        for name in os.listdir(self.path):
            if _LASTING.fullmatch(name) or _PASSING.fullmatch(name):
                (self.path / name).unlink()
        if (self.path / MANIFEST).exists():
            sync_path(self.path)  # otherwise a power failure may keep only the other files, which cannot be resumed
            (self.path / MANIFEST).unlink()
        if not os.listdir(self.path):
            self.path.rmdir()

    def close(self) -> None:
        """Release the lock. May be called again."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def remove_checkpoint(path: Path) -> None:
    """Remove the checkpoint of a finished run. Raises InputError if a run is using it."""
    with closing(Folder(path)) as folder:
        folder.remove()


def _manifest(file: Path) -> dict[str, Any]:
    """The content of a manifest. Raises InputError unless this version wrote it and it is unchanged."""
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
