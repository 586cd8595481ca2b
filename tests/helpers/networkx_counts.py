"""Plugin of pytest: counts how calls of the functions of our backend ended, while networkx's own tests run.

The counts are written to the file $EMDIAM_COUNTS as JSON when the run ends: of every function how many calls it
answered, and how many were left to networkx, by can_run or by a conversion that weights do not take.
"""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from emdiam.networkx import backend
from emdiam.networkx.info import FUNCTIONS

COUNTS: Counter[str] = Counter()
LEFT: Counter[str] = Counter()


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, of which a call counts once it has returned."""

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        result = function(*args, **keywords)
        COUNTS[name] += 1
        return result

    return call


def can_run(name: str, args: tuple[Any, ...], kwargs: Any, ask: Any = backend.can_run) -> Any:
    """As the backend, and counts what it leaves to networkx."""
    found = ask(name, args, kwargs)
    LEFT[name] += found is not True
    return found


def convert(graph: Any, *args: Any, make: Any = backend.convert_from_nx, name: str = "", **keywords: Any) -> Any:
    """As the backend, and counts what it leaves to networkx."""
    try:
        return make(graph, *args, name=name, **keywords)
    except NotImplementedError:
        LEFT[name] += 1
        raise


def pytest_configure() -> None:
    for name in FUNCTIONS:
        setattr(backend, name, counted(name, getattr(backend, name)))
    backend.can_run, backend.convert_from_nx = can_run, convert


def pytest_unconfigure() -> None:
    Path(os.environ["EMDIAM_COUNTS"]).write_text(json.dumps(
        {name: {"answered": COUNTS[name], "left": LEFT[name]} for name in FUNCTIONS}))
