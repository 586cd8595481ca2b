"""Inputs that several cells share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class Lazy(Generic[Kept]):
    """Something that is made when it is first needed. If that fails, each cell that needs it gets the error."""

    def __init__(self, make: Callable[[], Kept]) -> None:
        self._make = make
        self._made: list[Kept] = []
        self._error: Exception | None = None

    def get(self) -> Kept:
        """The thing. Raises what making it has raised."""
        if self._error is not None:
            raise self._error
        if not self._made:
            try:
                self._made.append(self._make())
            except Exception as error:
                self._error = error
                raise
        return self._made[0]
