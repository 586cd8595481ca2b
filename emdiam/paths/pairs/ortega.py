"""Dijkstra's algorithm from every vertex with many vertices settled at once.

A vertex that waits with distance d is settled as soon as d <= D, where D is the least d(u) + o(u) of all vertices u
that wait, and o(u) the least weight out of u: no path that leaves a waiting vertex can be shorter than D. Each round
relaxes the arcs out of all that are settled at once, finds D, and settles the next; that is one kernel each, as
published. Where all weights are equal a round is a level of BFS. Weights must not be negative.
Work: m, and a look at all that wait in every round. Bytes a vertex and thread: 17; 4 or 8 a vertex for o.
Source: Ortega-Arranz, Torres, Llanos and Gonzalez-Escribano (2013), after Crauser, Mehlhorn, Meyer and Sanders (1998).
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ...traverse.atomics import atomic_add


@kernel
def search_crauser(offsets, heads, costs, first, part, infinity, turn):
    """part[i] = distances from vertex first + i. turn : int64[1], rows that were taken."""
    n = len(offsets) - 1
    least = np.empty(n, part.dtype)
    for v in range(n):
        least[v] = infinity
        for p in range(offsets[v], offsets[v + 1]):
            if costs[p] < least[v]:
                least[v] = costs[p]
    waits = np.zeros(n, np.bool_)
    waiting, settled = np.empty(n, np.int64), np.empty(n, np.int64)
    taken = atomic_add(turn, 0, 1)
    while taken < len(part):
        distance = part[taken]
        distance[first + taken] = 0
        settled[0] = first + taken
        n_settled, n_waiting = 1, 0
        while n_settled:
            for q in range(n_settled):
                v = settled[q]
                for p in range(offsets[v], offsets[v + 1]):
                    u = np.int64(heads[p])
                    new = distance[v] + costs[p]
                    if new < distance[u]:
                        distance[u] = new
                        if not waits[u]:
                            waits[u] = True
                            waiting[n_waiting] = u
                            n_waiting += 1
            bound = infinity
            for q in range(n_waiting):
                bound = min(bound, distance[waiting[q]] + least[waiting[q]])
            n_settled, rest = 0, 0
            for q in range(n_waiting):
                u = waiting[q]
                if distance[u] <= bound:
                    waits[u] = False
                    settled[n_settled] = u
                    n_settled += 1
                else:
                    waiting[rest] = u
                    rest += 1
            n_waiting = rest
        taken = atomic_add(turn, 0, 1)
