"""Which cases of a parametrised test are quick: few, but together they meet every value of every parameter.

A function marked thin(k) has about one k-th of its cases among the quick tests. Taking every k-th of the list would
meet one value only of a parameter whose number of values divides k. Cases are therefore taken one after the other,
each time the one that meets the largest number of values that no quick case of its file meets yet; among equals the
one whose pairs of values, and then whose values, were met least often; then by a checksum of the case's name, which is
the same in every process. That is a Latin square where a function has two parameters, and another one for each function
with the same parameters. In the end further cases are taken until no value is left out, but for parameters named in
thin(k, sampled=...): those have so many values, or so slow ones, that a sample must do. Cases for a GPU are skipped
where there is none, so they take no part.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, combinations, groupby
from typing import NamedTuple

import pytest

Case = Mapping[str, Hashable]
"""The value of each parameter of a case."""
ON_GPU = repr("gpu")
_Rank = tuple[int, int, int, bytes]
_Ranked = tuple[_Rank, tuple[int, int]]
"""The rank of a case, which the smallest is taken of, and its function and number."""


@dataclass(frozen=True)
class Function:
    """A function marked thin(share): its cases in the order of the file; the parameters of which a sample will do;
    names of the cases that are unique and the same in every process, as texts of values need not be."""

    cases: Sequence[Case]
    share: int
    sampled: Collection[str] = ()
    names: Sequence[str] = ()


def select(functions: Sequence[Function], others: Iterable[Case] = ()) -> list[list[int]]:
    """For each function of a file the numbers of the cases that are quick, ascending; others are the file's quick
    cases beside them."""
    numbers: dict[Hashable, int] = {}  # one for every value of a parameter, and for every pair of two such numbers
    chosen: list[set[int]] = [set() for _ in functions]
    entries = [[_entry(function, i, numbers) for i in range(len(function.cases))] for function in functions]
    before = [_numbered(case, numbers) for case in others]
    met = [0] * len(numbers)
    times = met.__getitem__

    def missed(at: tuple[int, int]) -> int:
        """How many values a case has that no quick case meets yet."""
        return [met[item] for item in entries[at[0]][at[1]].needed].count(0)

    def rank(at: tuple[int, int]) -> _Rank:
        """Sorts the cases: the next one to be taken has the smallest rank."""
        entry = entries[at[0]][at[1]]
        return -missed(at), sum(map(times, entry.pairs)), sum(map(times, entry.items)), entry.digest

    def meet(items: Iterable[int], pairs: Iterable[int]) -> None:
        """Counts what a case meets."""
        for number in chain(items, pairs):
            met[number] += 1

    def take(waiting: list[_Ranked]) -> None:
        """Takes the best case of a heap."""
        _, (f, i) = heapq.heappop(waiting)
        chosen[f].add(i)
        meet(entries[f][i].items, entries[f][i].pairs)

    def best(waiting: list[_Ranked]) -> tuple[int, int]:
        """The best case of a heap, which is put on top. Ranks only grow with what is taken: the first case whose rank
        is still as it was is the best."""
        while (now := rank(waiting[0][1])) != waiting[0][0]:
            heapq.heapreplace(waiting, (now, waiting[0][1]))
        return waiting[0][1]

    for items, pairs in before:
        meet(items, pairs)
    heaps: list[list[_Ranked]] = [
        sorted((rank((f, i)), (f, i)) for i in range(len(function.cases))) for f, function in enumerate(functions)]
    for function, heap in zip(functions, heaps, strict=True):
        for _ in range(-(-len(function.cases) // function.share)):
            best(heap)
            take(heap)
    left = sorted(chain(*heaps))
    while left and missed(best(left)):
        take(left)
    return [sorted(indices) for indices in chosen]


class _Entry(NamedTuple):
    """What a case is ranked by: its values, those that a quick case has to meet, pairs, a checksum of its name."""

    items: list[int]
    needed: list[int]
    pairs: list[int]
    digest: bytes


def _entry(function: Function, i: int, numbers: dict[Hashable, int]) -> _Entry:
    case = function.cases[i]
    items, pairs = _numbered(case, numbers)
    needed = [item for item, name in zip(items, sorted(case), strict=True) if name not in function.sampled]
    text = function.names[i] if function.names else str(sorted(case.items(), key=_name))
    return _Entry(items, needed, pairs, _digest(text))


def _numbered(case: Case, numbers: dict[Hashable, int]) -> tuple[list[int], list[int]]:
    """The numbers of the values of a case, in the order of their names, and of their pairs; new ones are added."""
    items = [numbers.setdefault(item, len(numbers)) for item in sorted(case.items(), key=_name)]
    return items, [numbers.setdefault(pair, len(numbers)) for pair in combinations(items, 2)]


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()


def _name(item: tuple[str, Hashable]) -> str:
    return item[0]


def unselected(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """Of the tests, in the order of collection, those of functions marked thin that are not selected. Tests that are
    marked slow, and those on a GPU, take no part."""
    quick = [(item, case) for item in items if item.get_closest_marker("slow") is None
             and ON_GPU not in (case := parameters(item)).values()]
    for _, tests in groupby(quick, key=lambda pair: pair[0].path):
        functions: dict[str, list[tuple[pytest.Item, Case]]] = {}
        others = []
        for item, case in tests:
            if item.get_closest_marker("thin") is None:
                others.append(case)
            else:
                functions.setdefault(item.nodeid.partition("[")[0], []).append((item, case))
        thinned = list(functions.values())
        for cases, chosen in zip(thinned, select([_function(cases) for cases in thinned], others), strict=True):
            quick_ones = set(chosen)
            yield from (item for i, (item, _) in enumerate(cases) if i not in quick_ones)


def _function(cases: Sequence[tuple[pytest.Item, Case]]) -> Function:
    marker = cases[0][0].get_closest_marker("thin")
    assert marker is not None and not isinstance(marker.kwargs.get("sampled"), str)
    names = [item.nodeid for item, _ in cases]
    return Function([case for _, case in cases], *marker.args, **marker.kwargs, names=names)


def parameters(test: pytest.Item) -> Case:
    """The parameters of a test with their values as text, which need not be hashable themselves."""
    callspec = getattr(test, "callspec", None)
    return {} if callspec is None else {name: repr(value) for name, value in callspec.params.items()}
