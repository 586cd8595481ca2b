"""Runs that begin again with what they have learned of the graph."""

from __future__ import annotations

import numpy as np
import pytest

from emdiam.engine.attempts import MOST, attempted
from emdiam.errors import BudgetError, MoreMemoryError


def more(known: int | None) -> MoreMemoryError:
    error = MoreMemoryError("labels take more", 1 << 20)
    error.known = known
    return error


def test_each_attempt_knows_what_the_one_before_has_learned() -> None:
    seen: list[int | None] = []

    def solve(known: int | None) -> str:
        seen.append(known)
        if known != 2:
            raise more(1 if known is None else known + 1)
        return "done"

    assert attempted(solve) == "done" and seen == [None, 1, 2]


def test_a_refusal_after_an_attempt_says_why_and_names_what_works() -> None:
    def solve(known: int | None) -> str:
        if known is None:
            raise more(1)
        raise BudgetError("--memory 1 MiB is too small", remedy="give at least --memory 9MiB")

    with pytest.raises(BudgetError, match="^labels take more; give at least --memory 9MiB$"):
        attempted(solve)


def test_a_first_refusal_is_as_it_is() -> None:
    def solve(known: int | None) -> str:
        raise BudgetError("too small", remedy="give more")

    with pytest.raises(BudgetError, match="^too small; give more$"):
        attempted(solve)


@pytest.mark.parametrize(("known", "attempts"), [(None, 1), (1, MOST)])
def test_it_ends_where_nothing_was_learned_and_after_some_attempts(known: int | None, attempts: int) -> None:
    count = 0

    def solve(_: int | None) -> str:
        nonlocal count
        count += 1
        raise more(known)

    with pytest.raises(MoreMemoryError):
        attempted(solve)
    assert count == attempts


def test_what_an_attempt_held_is_let_go() -> None:
    held: list[int] = []

    class Large:
        def __init__(self) -> None:
            self.array = np.zeros(1000)

        def __del__(self) -> None:
            held.append(1)

    def solve(known: int | None) -> int:
        if known is None:
            large = Large()
            assert large.array is not None
            raise more(1)
        return len(held)

    assert attempted(solve) == 1
