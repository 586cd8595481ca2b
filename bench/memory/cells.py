"""The cells of the memory table: every command, method and setting, what it is called with, and its least budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emdiam.paths.methods import AUTO
from emdiam.paths.methods import METHODS as PATHS
from emdiam.paths.pairs.methods import METHODS as PAIRS
from emdiam.paths.pairs.methods import TILES
from emdiam.runs.arcs import DIRECTED
from emdiam.runs.option import ORDERS
from emdiam.runs.registry import APPROXIMATIONS, EXACT
from emdiam.runs.weights import methods_of
from emdiam.stream.plan import BASE_JITTER

from .graphs import DIAMETERS, DISTANCES, ENDS, Files, Shape
from .process import Ended, call

# Budgets: the least that the command names, and one that a user may well have.
LEAST, ROUND = "least", "512MiB"
BUDGETS = (LEAST, ROUND)
ROUND_BYTES = 512 << 20
# A budget that no command works with, so that it names the least that it does work with.
_NOTHING = "1MiB"
PLENTY = "1TiB"
# Commands whose stages refuse for themselves, each time with more; how often they are asked, and seconds of a question.
_PLANNED_BY_STAGES, _MOST_QUESTIONS, _PATIENCE = ("convert", "generate", "reorder", "verify"), 4, 120.0
_NAMED = re.compile(r"give (?:at least )?--memory (\d+)MiB")
_MASTERS = "2^10"


@dataclass(frozen=True)
class Subject:
    """A command, with a method or an order where it has some, and options of a setting."""

    command: str
    method: str = ""
    setting: str = ""

    @property
    def name(self) -> str:
        """E.g. "exact pivots --weighted"."""
        return " ".join(filter(None, (self.command, self.method, self.setting)))

    @property
    def weighted(self) -> bool:
        """Whether it takes weights."""
        return WEIGHTED in self.setting

    @property
    def directed(self) -> bool:
        """Whether it takes directions."""
        return DIRECTIONS in self.setting


WEIGHTED, DIRECTIONS, OUT, FROM, IN_RAM = "--weighted", "--directed", "--out", "--from", "in RAM"
BOTH = f"{DIRECTIONS} {WEIGHTED}"
# Of graphs with few vertices.
OF_SMALL_GRAPHS = ("takafuji", "pennycuff-weninger")
# Methods whose least budget is of blocks of the matrix or of the graph; with all of it in memory they have another.
_IN_BLOCKS = {"sssp": ("delta-stepping",),
              "apsp": tuple(name for name, method in PAIRS.items() if method.kind == TILES)}
_HYPERBALL_REGISTERS = "6"
SUBJECTS = (
    Subject("convert"), Subject("convert", "", WEIGHTED), Subject("convert", "", BOTH),
    Subject("generate"),
    *(Subject("reorder", order) for order in ORDERS),
    *(Subject("exact", method) for method in EXACT),
    *(Subject("exact", method, WEIGHTED) for method in methods_of("exact")),
    Subject("exact", "bounding", f"{WEIGHTED} {IN_RAM}"),
    *(Subject("exact", method, DIRECTIONS) for method in DIRECTED),
    Subject("exact", "pivots", BOTH), Subject("exact", "pivots", FROM),
    *(Subject("approx", method) for method in APPROXIMATIONS),
    *(Subject("approx", method, WEIGHTED) for method in methods_of("approx")), Subject("approx", "sweep", DIRECTIONS),
    Subject("approx", "sweep", BOTH),
    *(Subject("ecc", "", setting) for setting in (
        "", OUT, FROM, WEIGHTED, f"{WEIGHTED} {OUT}", f"{WEIGHTED} {IN_RAM}",
        *(f"{DIRECTIONS}={way} {OUT}" for way in ("out", "in")), f"{DIRECTIONS}=out {WEIGHTED} {OUT}")),
    *(Subject("distances", method, setting) for method, setting in (
        ("sample", ""), ("sample", OUT), ("sample", DIRECTIONS), ("exact", ""), ("exact", OUT), ("exact", DIRECTIONS),
        ("hyperball", ""), ("hyperball", OUT), ("hyperball", DIRECTIONS), ("hyperball", f"{DIRECTIONS} {OUT}"),
        ("sample", f"{DIRECTIONS} {OUT}"), ("sample", WEIGHTED), ("sample", f"{WEIGHTED} {OUT}"), ("sample", BOTH),
        ("exact", WEIGHTED), ("certificate", ""), ("table", OUT))),
    Subject("sssp", AUTO), *(Subject("sssp", method, OUT) for method in (AUTO, *PATHS)),
    *(Subject("sssp", method, f"{OUT} {IN_RAM}") for method in _IN_BLOCKS["sssp"]),
    *(Subject("sssp", method, f"{DIRECTIONS} {OUT}") for method in (AUTO, "bellman-ford")),
    *(Subject("apsp", method) for method in (AUTO, *PAIRS)),
    *(Subject("apsp", method, IN_RAM) for method in _IN_BLOCKS["apsp"]),
    Subject("tradeoff"), *(Subject("verify", "", setting) for setting in ("", WEIGHTED, BOTH)),
    Subject("verify", "eccentricities"), Subject("verify", "mean"), Subject("plan"),
)


class NoLeast(Exception):
    """A command did not say what memory it needs; args[0] is what it said."""


def impossible(subject: Subject, shape: Shape) -> str:
    """Why there is no such cell; nothing if there is."""
    if subject.command == "generate" and not shape.options:
        return "no class generates it"
    if not shape.small and (subject.command == "apsp" or subject.method in OF_SMALL_GRAPHS):
        return "a matrix of it would be too large"
    others = (subject.weighted or subject.directed or subject.command in ("ecc", "distances", "sssp", "apsp")
              or subject.method in ("eccentricities", "mean"))
    if shape.left_out == (DISTANCES if others else DIAMETERS):
        return "as with other graphs here"
    return ""


def unproved(subject: Subject, files: Files) -> str:
    """Why there is no proof that the command could read; nothing if there is, or if it reads none."""
    reads = subject.command == "verify" or FROM in subject.setting
    return "its proof takes too long" if reads and not _certificate(subject, files).exists() else ""


def ends_itself(subject: Subject) -> bool:
    """Whether it has a time limit, or is soon done."""
    whole_batches = subject.command == "distances" and subject.setting == OUT and subject.method != "table"
    return subject.command not in ("verify", "sssp", "apsp") and not whole_batches


def arguments(subject: Subject, files: Files, memory: int | str, seconds: float) -> list[str]:
    """The command line, without the program."""
    store, method = _store(subject, files), ["--method", subject.method]
    limit, written = ["--time-limit", f"{seconds:g}s"], ["--out", files.table] if OUT in subject.setting else []
    setting = [word for word in (WEIGHTED, DIRECTIONS) if word in subject.setting]
    earlier = [FROM, _certificate(subject, files)] if FROM in subject.setting else []
    ways = [word for word in subject.setting.removesuffix(IN_RAM).split() if word not in (OUT, FROM)]
    of: dict[str, Callable[[], list[Any]]] = {
        "convert": lambda: [*_input(subject, files), files.target, "--force"],
        "generate": lambda: [files.shape.options[0], files.target, *files.shape.options[1:], "--force"],
        "reorder": lambda: [files.by_degree if subject.method == "natural" else store, files.target, "--force",
                            "--order", subject.method],
        "exact": lambda: [store, *method, *setting, *earlier, *limit],
        "approx": lambda: [store, *method, *setting, *limit],
        "ecc": lambda: [store, *ways, *earlier, *limit, *written],
        "distances": lambda: [store, *_counting(subject.method, files), *setting, *limit, *written],
        "sssp": lambda: [store, "--source", 0, *method, *written],
        "apsp": lambda: [store, *method, "--out", files.target, "--force"],
        "tradeoff": lambda: [store, "--out", f"{files.target}-tradeoff", "--masters", _MASTERS, "--no-plots",
                             "--time-limit", f"{seconds / 3:g}s", "--retry"],
        "verify": lambda: [_certificate(subject, files), store],
        "plan": lambda: [store],
    }
    return [subject.command, *map(str, of[subject.command]()), "--memory", str(memory), "--json", "--quiet"]


def _input(subject: Subject, files: Files) -> list[Any]:
    """What is converted, and how."""
    if not subject.weighted:
        return [files.edges]
    weights = "--weights=4" if subject.directed else "--weights=3"
    return [files.weighted_edges, weights, *ENDS, *([DIRECTIONS] * subject.directed)]


def _store(subject: Subject, files: Files) -> Path:
    """The store that a command reads."""
    if subject.directed:
        return files.directed
    return files.weighted if subject.weighted or subject.command in ("sssp", "apsp") else files.store


def _certificate(subject: Subject, files: Files) -> Path:
    if subject.weighted:
        return files.directed_certificate if subject.directed else files.weighted_certificate
    if subject.method == "mean":
        return files.mean_certificate
    of_all = subject.command == "ecc" or subject.method == "eccentricities"
    return files.eccentricities_certificate if of_all else files.certificate


def _counting(method: str, files: Files) -> list[Any]:
    """Options of `emdiam distances`."""
    return {"sample": [], "exact": ["--exact"], "hyperball": ["--hyperball", _HYPERBALL_REGISTERS],
            "certificate": ["--certificate", files.written_certificate],
            "table": ["--sources", files.chosen, "--targets", files.chosen]}[method]


def least_bytes(subject: Subject, files: Files, seconds: float) -> int:
    """The least budget that the command, or `emdiam plan` for a method, names. seconds : time limit of commands that
    have one. Raises NoLeast."""
    if IN_RAM in subject.setting:
        return _planned_in_ram(call(arguments(subject, files, PLENTY, seconds)))
    if subject.setting == "" and subject.command in ("exact", "approx", "ecc"):
        return _planned(files, "--method", subject.method or "eccentricities")["minimum_bytes"]
    if subject.command == "tradeoff":  # every cell has the whole budget
        clusters = _planned(files, "--method", "clusters", "--masters", _MASTERS)
        others = [_planned(files, "--method", method) for method in APPROXIMATIONS if method != "clusters"]
        return max(plan["minimum_bytes"] for plan in (clusters, *others))
    if subject.command == "plan":
        return min(method["plan"]["minimum_bytes"] for method in _planned(files)["methods"])
    return _asked(lambda memory: call(arguments(subject, files, memory, seconds), _PATIENCE),
                  _MOST_QUESTIONS if subject.command in _PLANNED_BY_STAGES else 1)


def _planned(files: Files, *more: str) -> Any:
    ended = call(["plan", str(files.store), "--no-probe", "--json", "--quiet", "--memory", PLENTY, *more])
    if ended.code != 0:
        raise NoLeast(ended.said)
    return json.loads(ended.out)


def _planned_in_ram(ended: Ended) -> int:
    """What a run in RAM has planned, with what a process may differ from another."""
    if not ended.out:
        raise NoLeast(ended.said)
    return int(json.loads(ended.out)["planned_rss_bytes"]) + BASE_JITTER


def _asked(run: Callable[[str], Ended], questions: int) -> int:
    """What refusals name, until one budget is not refused."""
    memory = _NOTHING
    for _ in range(questions):
        ended = run(memory)
        named = named_bytes(ended.said)
        if named is None:
            break
        memory = f"{named >> 20}MiB"
    if memory == _NOTHING:
        raise NoLeast(ended.said or "a budget of 1 MiB was not refused")
    return int(memory.removesuffix("MiB")) << 20


def named_bytes(said: str) -> int | None:
    """The budget that a refusal for want of memory names, bytes; None for any other sentence."""
    named = _NAMED.search(said)
    return None if named is None else int(named[1]) << 20
