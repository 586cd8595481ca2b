"""Runs that begin again with another plan, where the graph takes more memory than was planned for.

A plan cannot know how wide distances are, nor how many components there are. Where a run finds more than its plan has
room for, it ends there, as a rule after its first BFS, and begins again with a plan that knows: with smaller pools and
buffers, or with vertex state on disk where that is allowed.
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
# Attempts with vertex state in memory where it may be on disk too, and all: distances may widen twice, and labels come.
IN_MEMORY, MOST = 4, 6


def learned(error: MoreMemoryError, known: Known | None, plan: MemoryPlan) -> MoreMemoryError:
    """The error, with what another attempt is to know.

    Parameters
    ----------
    error : that ended an attempt.
    known : what that attempt knew, if anything.
    plan : the plan of its memory.
    """
    error.known = (Known() if known is None else known).after(error, plan)
    return error


class Attempts:
    """Attempts at one result, each of which knows what those before have learned."""

    def __init__(self) -> None:
        self._known: Any = None
        self._refused: MoreMemoryError | None = None
        self._count = 0

    @contextmanager
    def another(self) -> Iterator[Any]:
        """What the next attempt is to know, None at first. The context ends without an error where another one is due:
        after MoreMemoryError with `known`, as `learned` makes it.

        Raises
        ------
        BudgetError
            Where memory cannot do, with a budget that can.
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
    """The result of `solve`, which is called again each time that it has learned what the graph takes.

    Parameters
    ----------
    solve : called with what is known, None at first; see Attempts.another.

    Raises
    ------
    BudgetError
        Where memory cannot do, with a budget that can.
    """
    attempts, results = Attempts(), list[Result]()
    while not results:
        with attempts.another() as known:
            results.append(solve(known))
    return results[0]
