"""The classic methods as published, in plain Python, on a connected graph: which sources they take.

Each twin returns its sources in order and the diameter it ends with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.helpers import naive

# Methods that make one BFS a component, and then no traversal.
BY_MATRIX = ("takafuji", "pennycuff-weninger")
# rule(lower, upper, L, U) -> the candidate is dropped
Rule = Callable[[int, int, int, int], bool]


def as_published(low: int, up: int, most_low: int, most_up: int) -> bool:
    """Algorithm 2's condition."""
    return low == up or (up <= most_low and 2 * low >= most_up)


# Conditions that a slip would make of it. (low == up or up <= L) and 2 low >= U is not among them:
# it is the same, since low == up means up >= ecc of a source and U <= 2 ecc of every source.
MISREAD: dict[str, Rule] = {
    "all by or": lambda low, up, most_low, most_up: low == up or up <= most_low or 2 * low >= most_up,
    "no second half": lambda low, up, most_low, most_up: low == up or up <= most_low,
}


def bounding(
    graph: naive.Graph, high: bool, batch: int = 1, dropped: Rule = as_published
) -> tuple[list[int], int]:
    """Algorithms 1 and 2. high : the source after the first has the largest upper bound."""
    n = len(graph)
    low, up, candidates = [0] * n, [n - 1] * n, set(range(n))
    sources = [max(range(n), key=lambda v: (len(graph[v]), -v))]
    done: list[int] = []
    while sources and len(done) <= n:
        for source in sources:
            d = naive.distances(graph, source)
            ecc = max(d)
            for v in range(n):
                low[v], up[v] = max(low[v], d[v], ecc - d[v]), min(up[v], ecc + d[v])
        done += sources
        most_low, most_up = max(low), max(up)
        candidates = {v for v in candidates if not dropped(low[v], up[v], most_low, most_up)}
        sources = []
        if most_low != most_up:
            for _ in range(min(batch, len(candidates))):
                free = candidates - set(sources)
                best = min(free, key=lambda v: (-up[v] if high else low[v], -len(graph[v]), v))
                sources.append(best)
                high = not high
    return done, max(low)


def korf(graph: naive.Graph) -> tuple[list[tuple[int, int]], int]:
    """(source, largest distance to what remains) of the BFS after the first."""
    start = max(range(len(graph)), key=lambda v: (len(graph[v]), -v))
    away = naive.distances(graph, start)
    longest, remaining = max(away), set(range(len(graph))) - {start}
    done: list[tuple[int, int]] = []
    while remaining and min(2 * max(away[v] for v in remaining), len(graph) - 1) > longest:
        source = min(remaining, key=lambda v: (-away[v], -len(graph[v]), v))
        d = naive.distances(graph, source)
        reach = max(d[v] for v in remaining)
        done.append((source, reach))
        longest = max(longest, reach)
        remaining.remove(source)
    return done, longest


def _middle(graph: naive.Graph, end: int) -> tuple[int, int]:
    """(vertex halfway from the farthest vertex back to `end`, eccentricity of `end`)."""
    d = naive.distances(graph, end)
    ecc = max(d)
    v = d.index(ecc)
    for _ in range(ecc // 2):
        v = next(w for w in graph[v] if d[w] == d[v] - 1)
    return v, ecc


def ifub(graph: naive.Graph, start: int | None = None) -> tuple[list[int], int]:
    """4-SWEEP and iFUB. start : where the sweeps begin; None: at the smallest vertex of the largest degree."""
    r1 = max(range(len(graph)), key=lambda v: (len(graph[v]), -v)) if start is None else start
    a1 = _farthest(graph, r1)
    r2, ecc1 = _middle(graph, a1)
    a2 = _farthest(graph, r2)
    u, ecc2 = _middle(graph, a2)
    done = [r1, a1, r2, a2, u]
    away = naive.distances(graph, u)
    longest = max(ecc1, ecc2, max(away), max(naive.distances(graph, r1)), max(naive.distances(graph, r2)))
    for source in _fringes(away, set(done)):
        if longest >= 2 * away[source]:
            break
        done.append(source)
        longest = max(longest, *naive.distances(graph, source))
    return done, longest


def _farthest(graph: naive.Graph, source: int) -> int:
    d = naive.distances(graph, source)
    return d.index(max(d))


def _fringes(away: list[int], known: set[int]) -> Iterator[int]:
    yield from (v for v in sorted(range(len(away)), key=lambda v: (-away[v], v)) if v not in known)
