"""What is made when it is first asked for: no engine is opened, and no graph read, where all cells are kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

T = TypeVar("T")


class Made:
    """make : gives the value."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._values: list[Any] = []

    def get(self) -> Any:
        """The value."""
        if not self._values:
            self._values.append(self._make())
        return self._values[0]

    def later(self, work: Callable[..., T], *args: Any, **options: Any) -> Callable[[], T]:
        """A call of `work` with the value, for later."""
        return lambda: work(self.get(), *args, **options)


class Lazy(Made):
    """A context that is entered when it is first asked for. make : gives it."""

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._stack = ExitStack()
        super().__init__(lambda: self._stack.enter_context(make()))

    def __enter__(self) -> Lazy:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)
