"""A naive twin of the main loop of the published program for directed graphs: how many BFS along arcs it takes."""

from __future__ import annotations

from tests.helpers import naive
from tests.helpers.directed_twins import Arcs, heads_of, turned


def depth_first_numbers(heads: list[list[int]]) -> list[int]:
    """Numbers of strong components as a depth-first search from vertex 0, 1, ... completes them."""
    numbers, order, low, stack = [-1] * len(heads), [0] * len(heads), [0] * len(heads), list[int]()
    count = met = 0
    for root in range(len(heads)):
        calls = [(root, iter(heads[root]))] if not order[root] else []
        if calls:
            met += 1
            order[root] = low[root] = met
            stack.append(root)
        while calls:
            v, rest = calls[-1]
            for w in rest:
                if not order[w]:
                    met += 1
                    order[w] = low[w] = met
                    stack.append(w)
                    calls.append((w, iter(heads[w])))
                    break
                if numbers[w] < 0:
                    low[v] = min(low[v], order[w])
            else:
                calls.pop()
                if low[v] == order[v]:
                    while numbers[v] < 0:
                        numbers[stack.pop()] = count
                    count += 1
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[v])
    return numbers


def sources_of(n: int, arcs: Arcs, known: int) -> tuple[int, int]:
    """(BFS along arcs, the largest distance found), where a distance `known` was met before."""
    heads, tails = heads_of(n, arcs), heads_of(n, turned(arcs))
    numbers = depth_first_numbers(heads)

    def product(v: int) -> int:
        return sum(numbers[w] == numbers[v] for w in heads[v]) * sum(numbers[w] == numbers[v] for w in tails[v])

    bounds, longest, count = [n] * n, known, 0
    for u in sorted(range(n), key=lambda v: (numbers[v], -product(v), v)):
        if bounds[u] <= longest:
            continue
        by_component: dict[int, int] = {}
        for w in heads[u]:
            by_component[numbers[w]] = min(by_component.get(numbers[w], n), bounds[w] + 1)
        bound = max(by_component.values(), default=0)
        if bound <= longest:
            bounds[u] = bound
            continue
        count += 1
        bounds[u] = max(naive.distances(heads, u))
        longest = max(longest, bounds[u])
        within = [[w for w in row if numbers[w] == numbers[u]] for row in tails]
        for v, distance in enumerate(naive.distances(within, u)):
            if distance >= 0:
                bounds[v] = min(bounds[v], distance + bounds[u])
    return count, longest
