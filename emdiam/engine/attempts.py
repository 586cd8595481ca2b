"""Runs that start again with another plan because the graph takes more memory than planned.

A plan cannot know how large distances are, nor how many components there are. If a run finds more than its plan has
room for, it stops, usually after its first BFS. It then starts again with a plan that knows this: with smaller pools
and buffers, or with vertex state on disk if that is allowed.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ..errors import BudgetError, MoreMemoryError, without_frames
from ..malloc import return_freed_memory
from ..stream.plan import Known, MemoryPlan

Result = TypeVar("Result")
# Limits on attempts: with vertex state in memory although it may be on disk, and in all. Distances may widen twice, and
# labels may be added.
IN_MEMORY, MOST = 4, 6


def learned(error: MoreMemoryError, known: Known | None, plan: MemoryPlan) -> MoreMemoryError:
    """Add knowledge for the next attempt to the error, and return it.

    Parameters
    ----------
    error : the error that ended an attempt.
    known : the knowledge of that attempt, if any.
    plan : its memory plan.
    """
    error.known = (Known() if known is None else known).after(error, plan)
    return error


class Attempts:
    """Attempts at one result. Each attempt has the knowledge of the earlier ones."""

    def __init__(self) -> None:
        self._known: Any = None
        self._refused: MoreMemoryError | None = None
        self._count = 0

    @contextmanager
    def another(self) -> Iterator[Any]:
        """Give the knowledge for the next attempt, None for the first. The context swallows a MoreMemoryError with
        `known` (see `learned`): the caller then makes another attempt.

        Raises
        ------
        BudgetError
            If the memory does not suffice; it names a budget that does.
        """
        try:
            yield self._known
        except MoreMemoryError as error:
            self._refused, self._count = without_frames(error), self._count + 1
            if error.known is None or self._count == MOST:
                raise
            self._known = error.known
            logging.getLogger("emdiam").info("%s: beginning again with another plan", error.what)
        except BudgetError as error:
            if self._refused is None:
                raise
            raise BudgetError(self._refused.what, remedy=error.remedy) from None
        else:
            return
        gc.collect()
        return_freed_memory()


def attempted(solve: Callable[[Any], Result]) -> Result:
    """Return the result of `solve`, which is called again whenever it has learned how much memory the graph takes.

    Parameters
    ----------
    solve : called with the knowledge so far, None at first; see Attempts.another.

    Raises
    ------
    BudgetError
        If the memory does not suffice; it names a budget that does.
    """
    attempts, results = Attempts(), list[Result]()
    while not results:
        with attempts.another() as known:
            results.append(solve(known))
    return results[0]
