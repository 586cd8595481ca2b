"""A context that is entered when it is first asked for: no engine is opened where all cells are kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


class Lazy:
    """make : gives the context."""

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._entered: AbstractContextManager[Any] | None = None
        self._value: Any = None

    def __enter__(self) -> Lazy:
        return self

    def get(self) -> Any:
        """What the context gives."""
        if self._entered is None:
            entered = self._make()
            self._value = entered.__enter__()
            self._entered = entered
        return self._value

    def __exit__(self, *error: Any) -> None:
        if self._entered is not None:
            self._entered.__exit__(*error)
