"""Another user of the machine: files and links of one, and processes that run as one. All of it takes root."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

OTHER, THIRD = 65534, 65533
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files that belong to another user")


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder like /tmp: any user may make files in it, and remove their own."""
    folder = Path(tempfile.mkdtemp(prefix="emdiam-shared-", dir="/tmp"))
    try:
        folder.chmod(0o1777)
        yield folder
    finally:
        shutil.rmtree(folder)


def planted(link: Path, victim: Path, user: int = OTHER) -> Path:
    """A link of another user to a file of this one."""
    link.symlink_to(victim)
    os.chown(link, user, user, follow_symlinks=False)
    return link


def as_other(function: Callable[[], object], user: int = OTHER) -> str:
    """What a function returns or raises, as text, in a child process that is of another user, who may not be able to
    read the interpreter: the child is a fork of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            try:
                said = str(function())
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            os.write(writing, said.encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        said = file.read()
    os.waitpid(child, 0)
    return said
