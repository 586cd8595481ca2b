"""Plugin of pytest: counts calls of the functions of our backend that came to an end, while networkx's own tests run.

The counts are written to the file $EMDIAM_COUNTS as JSON when the run ends.
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


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, of which a call counts once it has returned."""

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        result = function(*args, **keywords)
        COUNTS[name] += 1
        return result

    return call


def pytest_configure() -> None:
    for name in FUNCTIONS:
        setattr(backend, name, counted(name, getattr(backend, name)))


def pytest_unconfigure() -> None:
    Path(os.environ["EMDIAM_COUNTS"]).write_text(json.dumps({name: COUNTS[name] for name in FUNCTIONS}))
