"""Asks the library, before the first job starts, whether a job can run on the store that is there.

The library is large, and a batch lives long beside its jobs: so a process of its own answers for all jobs
at once, and ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import EmdiamError
from ..units import parse_size
from .environment import library_environment
from .job import Job

_CHILD = "import sys; from emdiam.batch.forecast import answer; answer(sys.argv[1], sys.argv[2])"


@dataclass(frozen=True)
class Question:
    """Can `command` run on the store? memory, arena : bytes, if limited. masters : as users write them."""

    command: str
    store: str
    method: str | None
    memory: int | None
    arena: int | None
    threads: int
    batch: int | None
    masters: str | None
    euler: bool | None
    on_cpu: bool


def question_of(job: Job, memory: int | None) -> Question:
    """What to ask about a job whose options are valid; its last file that is read is its store."""
    given = job.options
    batch, arena = given.get("batch"), given.get("arena")
    return Question(
        command=job.command, store=job.reads[-1], method=job.method, memory=memory,
        arena=None if arena is None else parse_size(str(arena)),
        threads=int(str(given.get("threads", len(os.sched_getaffinity(0))))),
        batch=None if batch is None else int(str(batch)), masters=_text(given.get("masters")),
        euler=True if given.get("euler") else None, on_cpu=given.get("device", "cpu") == "cpu")


def _text(value: str | bool | None) -> str | None:
    return value if isinstance(value, str) else None


def ask(questions: Sequence[Question]) -> list[str | None]:
    """For each question a sentence that says why not, or None. Raises RuntimeError if the process fails."""
    if not questions:
        return []
    with tempfile.TemporaryDirectory(prefix="emdiam-batch-") as folder:
        asked, told = Path(folder) / "questions.json", Path(folder) / "answers.json"
        asked.write_text(json.dumps([asdict(question) for question in questions]), encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", _CHILD, str(asked), str(told)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env=library_environment())
        if done.returncode != 0:
            raise RuntimeError(f"the check of the budgets left with {done.returncode}: {done.stderr.strip()[-500:]}")
        answers: list[str | None] = json.loads(told.read_text(encoding="utf-8"))
        return answers


def answer(asked: str, told: str) -> None:
    """Read questions from a JSON file and write the answers to another: the body of the process of `ask`."""
    questions = [Question(**item) for item in json.loads(Path(asked).read_text(encoding="utf-8"))]
    Path(told).write_text(json.dumps([why_not(question) for question in questions]), encoding="utf-8")


def why_not(question: Question) -> str | None:
    """A sentence, if the store does not open or the memory cannot do for the method; else None."""
    try:
        _try(question)
    except (EmdiamError, OSError) as error:
        return str(error)
    return None


def _try(question: Question) -> None:
    """Open the store, and plan the run if it is one that can be planned. Raises InputError, OSError."""
    from ..api_approx import ApproxRun, plan_approx
    from ..api_exact import ExactRun, plan
    from ..methods.approx.masters import parse_masters
    from ..store.store import open_store

    if question.command not in ("exact", "approx") or not question.on_cpu:
        open_store(question.store).close()
        return
    switches: dict[str, Any] = {name: value for name, value in (("batch", question.batch), ("euler", question.euler))
                                if value is not None}
    common: dict[str, Any] = {"memory_bytes": question.memory, "arena_bytes": question.arena,
                              "threads": question.threads}
    if question.command == "exact":
        plan(question.store, ExactRun(method=question.method or "pivots", switches=switches, **common))
        return
    for item in parse_masters(question.masters) if question.masters else (None,):
        masters = {} if item is None else {"masters": item}
        plan_approx(question.store, ApproxRun(method=question.method or "clusters",
                                              switches={**switches, **masters}, **common))
