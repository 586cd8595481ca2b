"""The cells of the memory table: every command and method, what it is called with, and its least budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from emdiam.cli.options import ORDERS
from emdiam.runs.registry import APPROXIMATIONS, EXACT

from .graphs import Files, Shape
from .process import Ended, call

# Budgets: the least that the command names, and one that a user may well have.
LEAST, ROUND = "least", "512MiB"
BUDGETS = (LEAST, ROUND)
ROUND_BYTES = 512 << 20
# A budget that no command works with, so that it names the least that it does work with.
_NOTHING = "1MiB"
_PLENTY = "1TiB"
_NAMED = re.compile(r"give (?:at least )?--memory (\d+)MiB")
_MOST_QUESTIONS = 4
_MASTERS = "2^10"


@dataclass(frozen=True)
class Subject:
    """A command, with a method or an order where it has some."""

    command: str
    method: str = ""

    @property
    def name(self) -> str:
        """E.g. "exact pivots"."""
        return f"{self.command} {self.method}".rstrip()


# Of graphs smaller than those here.
OF_SMALL_GRAPHS = ("takafuji", "pennycuff-weninger")
SUBJECTS = (
    Subject("convert"), Subject("generate"),
    *(Subject("reorder", order) for order in ORDERS),
    *(Subject("exact", method) for method in EXACT if method not in OF_SMALL_GRAPHS),
    *(Subject("approx", method) for method in APPROXIMATIONS),
    Subject("tradeoff"), Subject("verify"), Subject("plan"),
)


class NoLeast(Exception):
    """A command did not say what memory it needs; args[0] is what it said."""


def possible(subject: Subject, shape: Shape) -> bool:
    """Whether there is such a cell: no class generates the small components."""
    return subject.command != "generate" or bool(shape.options)


def arguments(subject: Subject, files: Files, memory: int | str, seconds: float) -> list[str]:
    """The command line, without the program."""
    of = {
        "convert": lambda: ["convert", files.edges, files.target, "--force"],
        "generate": lambda: ["generate", files.shape.options[0], files.target, *files.shape.options[1:], "--force"],
        "reorder": lambda: ["reorder", files.by_degree if subject.method == "natural" else files.store, files.target,
                            "--force", "--order", subject.method],
        "exact": lambda: ["exact", files.store, "--method", subject.method, "--time-limit", f"{seconds:g}s"],
        "approx": lambda: ["approx", files.store, "--method", subject.method, "--time-limit", f"{seconds:g}s"],
        "ecc": lambda: ["ecc", files.store, "--time-limit", f"{seconds:g}s"],
        "tradeoff": lambda: ["tradeoff", files.store, "--out", f"{files.target}-tradeoff", "--masters", _MASTERS,
                             "--no-plots", "--time-limit", f"{seconds / 3:g}s", "--retry"],
        "verify": lambda: ["verify", files.certificate, files.store],
        "plan": lambda: ["plan", files.store],
    }
    return [*map(str, of[subject.command]()), "--memory", str(memory), "--json", "--quiet"]


def least_bytes(subject: Subject, files: Files, seconds: float) -> int:
    """The least budget that the command, or `emdiam plan` for a method, names. seconds : for every question. Raises
    NoLeast."""
    if subject.command in ("exact", "approx", "ecc"):
        return _planned(files, "--method", subject.method or "eccentricities")["minimum_bytes"]
    if subject.command == "tradeoff":  # every cell has the whole budget
        clusters = _planned(files, "--method", "clusters", "--masters", _MASTERS)
        others = [_planned(files, "--method", method) for method in APPROXIMATIONS if method != "clusters"]
        return max(plan["minimum_bytes"] for plan in (clusters, *others))
    if subject.command == "plan":
        return min(method["plan"]["minimum_bytes"] for method in _planned(files)["methods"])
    return _asked(lambda memory: call(arguments(subject, files, memory, seconds), seconds))


def _planned(files: Files, *more: str) -> Any:
    ended = call(["plan", str(files.store), "--no-probe", "--json", "--quiet", "--memory", _PLENTY, *more])
    if ended.code != 0:
        raise NoLeast(ended.said)
    return json.loads(ended.out)


def _asked(run: Callable[[str], Ended]) -> int:
    """What refusals name, until one budget is not refused."""
    memory = _NOTHING
    for _ in range(_MOST_QUESTIONS):
        named = named_bytes(run(memory).said)
        if named is None:
            break
        memory = f"{named >> 20}MiB"
    if memory == _NOTHING:
        raise NoLeast("a budget of 1 MiB was not refused")
    return int(memory.removesuffix("MiB")) << 20


def named_bytes(said: str) -> int | None:
    """The budget that a refusal for want of memory names, bytes; None for any other sentence."""
    named = _NAMED.search(said)
    return None if named is None else int(named[1]) << 20
