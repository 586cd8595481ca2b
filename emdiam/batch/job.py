"""A job, and what can be wrong with one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..addresses import redacted


@dataclass(frozen=True)
class Problem:
    """Something wrong in a jobs file. text : a sentence without a full stop. line : 1-based, if known.
    job : the name of the job that cannot run; None if no job can."""

    text: str
    line: int | None = None
    job: str | None = None

    def sentence(self, path: str = "") -> str:
        """With the place: FILE, line N: JOB: text."""
        place = ", line ".join(part for part in (path, str(self.line) if self.line else "") if part)
        return ": ".join(part for part in (place, self.job and f"job {self.job}", self.text) if part)


@dataclass(frozen=True)
class Job:
    """One command to run.

    name : unique, and the name of a folder. command : e.g. "exact". arguments : of the command line,
    from the command on, without what a batch adds. method : of exact and approx; None: the default.
    options : by their long names without dashes, as texts (True: a flag). reads, writes : absolute paths
    (or URLs). needs : names of jobs that must be done before. memory : bytes of --memory, if the file says.
    time_limit : seconds, if the file says. line : of its table, if known.
    """

    name: str
    command: str
    arguments: tuple[str, ...]
    method: str | None = None
    options: Mapping[str, str | bool] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    memory: int | None = None
    time_limit: float | None = None
    line: int | None = None

    def digest(self, stamps: Mapping[str, Any], digests: Mapping[str, str]) -> str:
        """Of what the job computes: equal digests, equal answers.

        stamps : of the files it reads that no job makes, by path. digests : of the jobs it needs. Limits
        of memory and time are not in it: they decide whether there is an answer, not which.
        """
        text = json.dumps([[*map(redacted, self.arguments)], sorted(stamps.items()), sorted(digests.items())])
        return hashlib.sha256(text.encode()).hexdigest()[:16]
