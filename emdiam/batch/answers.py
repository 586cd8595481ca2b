"""What a process has answered: from its exit code, its output and its log to a status and a sentence."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from typing import Any

from ..units import format_size
from .results import DONE, FAILED, STOPPED, TIME_LIMIT, USER

_STOPPED_EARLY = 3
_LOG_TAIL = 64 << 10


@dataclass(frozen=True)
class Outcome:
    """status, stopped_by, sentence, result as in results.Record."""

    status: str
    stopped_by: str | None
    sentence: str | None
    result: dict[str, Any] | None


def outcome(code: int, out: str, log: str, told: str | None, limit: float | None) -> Outcome:
    """How a job ended whose process left with `code`, having printed `out` and written `log`.

    told : who told it to stop, TIME_LIMIT or USER; None: nobody, but its own --time-limit may have. limit : its
    time limit, seconds.
    """
    result, readable = _result(out)
    if code == 0 and result is not None:
        return Outcome(DONE, None, None, result)
    if code in (0, _STOPPED_EARLY) and not readable:
        return Outcome(FAILED, None, "its answer is not JSON", None)
    reason = _reason(code, log)
    if told == TIME_LIMIT:
        by_force = ", and had to be killed" if code == -signal.SIGKILL else ""
        return Outcome(STOPPED, TIME_LIMIT, f"stopped at its time limit of {limit:g} s{by_force}", result)
    if told == USER:
        return Outcome(STOPPED, USER, "stopped with the batch", result)
    if code == _STOPPED_EARLY:
        return Outcome(STOPPED, TIME_LIMIT if limit is not None else None, reason, result)
    return Outcome(FAILED, None, reason, None)


def _result(out: str) -> tuple[dict[str, Any] | None, bool]:
    """(the JSON object, True); (None, True) for no output; (None, False) for something else."""
    if not out.strip():
        return None, True
    try:
        result = json.loads(out)
    except ValueError:
        return None, False
    return (result, True) if isinstance(result, dict) else (None, False)


def read_log(path: str, begin: int) -> str:
    """The end of a log, at most 64 KiB of what was written from byte `begin` on."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(begin, size - _LOG_TAIL))
        return file.read().decode("utf-8", "replace")


def _reason(code: int, log: str) -> str:
    """The last sentence of the process, or what its exit code says."""
    if code < 0:
        hint = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
        return f"ended by {signal.Signals(-code).name}{hint}"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith(("emdiam: ", "Error: "))]
    if own or lines:
        return (own or lines)[-1].removeprefix("emdiam: ").removeprefix("Error: ")
    return f"left with exit code {code} and no answer"


def answer_text(result: dict[str, Any] | None) -> str:
    """The answer of a job in a few words; "" if there is none."""
    if result is None:
        return ""
    if isinstance(result.get("runs"), list):
        return "; ".join(filter(None, map(answer_text, result["runs"])))
    if "verified" in result:
        return "proved" if result["verified"] else "not proved"
    if result.get("lower") is not None:
        return _bounds_text(result)
    if isinstance(result.get("record"), dict):
        return f"{result['record'].get('n_vertices', 0):,} vertices, {result['record'].get('n_edges', 0):,} edges"
    return f"{result['n_cells']:,} cells" if "n_cells" in result else ""


def _bounds_text(result: dict[str, Any]) -> str:
    lower, upper = result["lower"], result.get("upper")
    if upper is not None and lower == upper:
        text = f"D = {lower}"
    else:
        text = f"D >= {lower}" if upper is None else f"{lower} <= D <= {upper}"
    if result.get("connected") is False:
        text += f" ({result.get('n_components', 0):,} components"
        largest = result.get("diameter_largest_component")
        text += ")" if largest is None else f"; largest: {largest})"
    estimate = result.get("estimate")
    return text if estimate is None else f"{text}, paper's estimate {estimate}"


def size_text(size: int | None) -> str:
    """A size, or "" for none."""
    return "" if size is None else format_size(size)
